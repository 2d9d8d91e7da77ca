// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image.c - the layout of an array's state in memory, validation of configurations, and copying.
 * The layout is part of the file format (SPEC.md). image_check.c checks an image that came from
 * outside.
 */
#include "array_impl.h"

#define PART_BYTES 4096u		/* alignment of the image's parts */
#define QUEUE_MAX_NS ((uint64_t)43200 * 1000000000)	/* limit that keeps every command below a day (nand.h) */

static bool within(uint32_t v, uint32_t low, uint32_t high)
{
	return v >= low && v <= high;
}

static const char *shape_fault(const struct nand_geometry *g)
{
	if (!within(g->channels, 1, 64))
		return "channels must be 1 .. 64";
	if (!within(g->chips_per_channel, 1, 64))
		return "chips_per_channel must be 1 .. 64";
	if (!within(g->dies_per_chip, 1, 16))
		return "dies_per_chip must be 1 .. 16";
	if (!within(g->planes_per_die, 1, NAND_PLANES_MAX))
		return "planes_per_die must be 1 .. 8";
	if (!within(g->blocks_per_plane, 4, 1u << 20))
		return "blocks_per_plane must be 4 .. 1048576";
	if (!within(g->pages_per_block, 2, 65536))
		return "pages_per_block must be 2 .. 65536";
	if (!within(g->page_bytes, 512, 65536) || g->page_bytes % 512)
		return "page_bytes must be a multiple of 512, 512 .. 65536";
	if (!within(g->oob_bytes, 1, 65536) || g->oob_kept > g->oob_bytes)
		return "oob_bytes must hold what the FTL keeps there; raise oob_bytes";
	if (geo_pages(g) >= 1ull << 31)
		return "the array must have fewer than 2^31 pages; use fewer or larger pages";
	return NULL;
}

static const char *ability_fault(const struct nand_geometry *g)
{
	if (!g->ecc_word_bytes || g->page_bytes % g->ecc_word_bytes ||
	    g->page_bytes / g->ecc_word_bytes > 32)
		return "ecc_word_bytes must divide page_bytes into 1 .. 32 words";
	if (g->pb_levels > NAND_PB_LEVELS_MAX || g->pages_per_block % (1u << g->pb_levels))
		return "pb_levels must be 0 .. 8, and 2^pb_levels divide pages_per_block";
	if (!within(g->erase_group_max, 1, NAND_ERASE_GROUP_MAX))
		return "erase_group_max must be 1 .. 4";
	if (!within(g->bits_per_cell, 1, NAND_TYPES_MAX) ||
	    (g->pages_per_block >> g->pb_levels) % g->bits_per_cell)
		return "bits_per_cell must be 1 .. 4 and divide the pages of a (partial) block";
	if ((unsigned int)g->order >= NAND_NORDERS || (unsigned int)g->subpage >= NAND_NSUBPAGES)
		return "order or subpage is unknown";
	if ((g->order == NAND_ORDER_FPS || g->order == NAND_ORDER_RPS) &&
	    (g->bits_per_cell < 2 || g->pb_levels))
		return "orders fps and rps need bits_per_cell of 2 and more, and pb_levels = 0";
	if (g->one_shot && (g->order != NAND_ORDER_ASCENDING || g->bits_per_cell < 2 || g->copyback))
		return "one_shot needs order ascending, bits_per_cell of 2 and more, no copyback";
	return NULL;
}

static uint32_t group_max(const struct nand_geometry *g)
{
	uint32_t each = g->erase_group_max;

	if (g->one_shot && g->bits_per_cell > each)
		each = g->bits_per_cell;
	return g->planes_per_die * each;
}

/*
 * Returns the longest time for which a channel can be busy if each of its dies has been given a group
 * of commands.
 */
static uint64_t longest_queue_ns(const struct nand_array_config *c)
{
	const struct nand_timing *t = &c->timing;
	uint64_t bytes = (uint64_t)c->geo.page_bytes + (t->oob_off_bus ? 0 : c->geo.oob_bytes), cell = 0;
	uint64_t page_ns = t->cmd_ns + (bytes * t->bus_ps_per_byte + 999) / 1000;

	for (uint32_t i = 0; t->gc_holds_bus && i < c->geo.bits_per_cell; i++)
		cell += t->read_ns[i] + (uint64_t)t->program_ns[i] + (uint64_t)i * t->lower_read_ns +
			(uint64_t)c->physics.retries_max * t->retry_ns;
	if (t->gc_holds_bus)
		cell += (uint64_t)t->slc_read_ns + t->slc_program_ns;
	return geo_dies_per_channel(&c->geo) * (group_max(&c->geo) * page_ns + cell);
}

static const char *time_fault(const struct nand_array_config *c)
{
	const struct nand_timing *t = &c->timing;

	for (uint32_t i = 0; i < c->geo.bits_per_cell; i++)
		if (!t->read_ns[i] || (!t->program_ns[i] && !(i && c->geo.one_shot)))
			return "read and program times must be at least 1 ns for each page type";
	for (uint32_t i = 0; i <= c->geo.pb_levels; i++)
		if (!t->erase_ns[i])
			return "erase times must be at least 1 ns for each PB level";
	if (c->geo.subpage == NAND_SUBPAGE_SPREAD && !t->subread_base_ns && !t->subread_ns_per_kib)
		return "subpage = spread needs subread_base_ns or subread_ns_per_kib";
	if (t->suspend_ns && !t->suspends_max)
		return "suspend_ns without suspends_max: say how often a group may be suspended";
	if ((uint64_t)t->suspends_max * t->resume_ns > QUEUE_MAX_NS)
		return "suspends_max * resume_ns must be at most half a day: a command would take a day; lower "
		       "one of them";
	if (t->slc_program_ns && (c->geo.bits_per_cell < 2 || c->geo.one_shot || c->geo.pb_levels))
		return "slc_program_ns must be 0 (no SLC mode) with bits_per_cell = 1, one_shot or pb_levels: "
		       "SLC mode is for blocks of cells with several bits, whose pages are programmed singly and "
		       "erased together";
	if ((t->slc_read_ns || t->slc_erase_ns) && !t->slc_program_ns)
		return "slc_read_ns and slc_erase_ns must be 0 unless slc_program_ns says that there is an SLC mode";
	if (t->suspend_ns && t->gc_holds_bus)
		return "suspend_ns must be 0 if GC holds the bus (ftl.accounting = ssdsim)";
	if (t->plane_reads && c->geo.planes_per_die < 2)
		return "plane_reads must be no: a die has one plane; or set geometry.planes_per_die = 2 or more";
	if (longest_queue_ns(c) > QUEUE_MAX_NS)
		return "bus_ps_per_byte is too much: the dies of a channel would wait half a day for each "
		       "other; use a faster bus, fewer dies a channel or smaller pages";
	return NULL;
}

static const char *physics_fault(const struct nand_array_config *c)
{
	const struct nand_physics *f = &c->physics;

	if (f->rber_on && c->geo.copyback && f->ecc_bits > 254)
		return "ecc_bits must be 0 .. 254 with copyback: errors that travel are counted in a byte";
	if (f->disturb_tolerance > 255)
		return "disturb_tolerance must be 0 .. 254, or off";
	if (f->retry_permille > 1000)
		return "retry_permille must be 0 .. 1000";
	if (f->endurance && !within(f->wear_shape, 1, 64))
		return "wear_shape must be 1 .. 64";
	return NULL;
}

int nand_array_validate(const struct nand_array_config *c, const char **why)
{
	*why = shape_fault(&c->geo);
	if (!*why)
		*why = ability_fault(&c->geo);
	if (!*why)
		*why = time_fault(c);
	if (!*why)
		*why = physics_fault(c);
	return *why ? SSD_E_INVAL : SSD_OK;
}

/* ---- layout --------------------------------------------------------------- */

static size_t cell_bytes(const struct nand_geometry *g)
{
	return (geo_pages(g) + 31) / 32 * 8;	/* rounded to whole words, so that it can be wiped by words */
}

static void *part(struct ssd_arena *m, uint64_t count, size_t size)
{
	m->used = (m->used + PART_BYTES - 1) / PART_BYTES * PART_BYTES;
	return ssd_carve(m, count, size);
}

/* Returns the size of a unit of content: 4096 bytes, or the largest power of two that divides a page. */
static uint32_t unit_bytes(const struct nand_geometry *g)
{
	uint32_t power = g->page_bytes & -g->page_bytes;

	return power < 4096 ? power : 4096;
}

bool nand_array_packs(const struct nand_array_config *c)
{
	const struct nand_geometry *g = &c->geo;

	return g->order == NAND_ORDER_ASCENDING && !g->pb_levels && !c->sums &&
	       g->oob_kept > SPARE_HEAD_BYTES && !((g->oob_kept - SPARE_HEAD_BYTES) % SPARE_UNIT_BYTES) &&
	       g->oob_kept <= SPARE_BYTES(SPARE_UNITS_MAX);
}

static void lay_out_spares(struct nand_array *a, struct ssd_arena *m, const struct nand_array_config *c)
{
	const struct nand_geometry *g = &c->geo;
	uint32_t units = (g->oob_kept - SPARE_HEAD_BYTES) / SPARE_UNIT_BYTES;
	struct spares *k = &a->spares;

	a->oob = part(m, c->packed_addresses ? 0 : geo_pages(g), g->oob_kept);
	if (!c->packed_addresses)
		return;
	SSD_ASSERT(nand_array_packs(c));
	a->oob = NULL;
	spares_begin(k, geo_blocks(g), g->pages_per_block, units, c->packed_addresses);
	k->pool = part(m, 1, sizeof(*k->pool));
	k->stream = part(m, geo_blocks(g), sizeof(*k->stream));
	k->link = part(m, k->cells, sizeof(*k->link));
	k->cell = part(m, k->cells, SPARE_CELL_BYTES);
}

/* Lay out the image's tables before the payload; if m->base is NULL, only measure them. */
static void lay_out_tables(struct nand_array *a, struct ssd_arena *m,
			   const struct nand_array_config *c)
{
	const struct nand_geometry *g = &c->geo;
	uint64_t pbs = geo_blocks(g) << g->pb_levels;
	bool errors = c->physics.rber_on;

	a->head = part(m, 1, sizeof(*a->head));
	a->die = part(m, geo_dies(g), sizeof(*a->die));
	a->flight = part(m, (uint64_t)geo_dies(g) * group_max(g), sizeof(*a->flight));
	a->block = part(m, geo_blocks(g), sizeof(*a->block));
	a->pb = part(m, pbs, sizeof(*a->pb));
	a->age = part(m, errors ? pbs : 0, sizeof(*a->age));
	a->carried = part(m, errors && g->copyback ? geo_pages(g) : 0, 1);
	a->cells = part(m, cell_bytes(g), 1);
	lay_out_spares(a, m, c);
	a->old_fill = part(m, c->payload ? geo_pages(g) : 0, 1);
	a->sum = part(m, c->payload && c->sums ? geo_pages(g) : 0, sizeof(*a->sum));
	part(m, 0, 1);
}

/* Lay out the payload and the table behind it. */
static void lay_out_content(struct nand_array *a, struct ssd_arena *m, const struct nand_array_config *c)
{
	uint64_t pages = c->payload ? geo_pages(&c->geo) : 0;

	a->payload = part(m, pages, c->geo.page_bytes);
	a->form = part(m, pages * (c->geo.page_bytes / unit_bytes(&c->geo)), sizeof(*a->form));
	part(m, 0, 1);
	if (!c->payload)
		a->payload = NULL;
}

size_t nand_array_table_bytes(const struct nand_array_config *c)
{
	struct ssd_arena m = { NULL, 0 };
	struct nand_array a;

	lay_out_tables(&a, &m, c);
	return m.used;
}

size_t nand_array_image_bytes(const struct nand_array_config *c)
{
	struct ssd_arena m = { NULL, 0 };
	struct nand_array a;

	lay_out_tables(&a, &m, c);
	lay_out_content(&a, &m, c);
	return m.used;
}

size_t nand_array_form_bytes(const struct nand_array_config *c)
{
	size_t end = nand_array_table_bytes(c) + (c->payload ? (size_t)geo_pages(&c->geo) * c->geo.page_bytes : 0);

	return nand_array_image_bytes(c) - (end + PART_BYTES - 1) / PART_BYTES * PART_BYTES;
}

static void lay_out_memory(struct nand_array *a, struct ssd_arena *m,
			   const struct nand_array_config *c)
{
	const struct nand_geometry *g = &c->geo;
	uint32_t per_channel = 2 * geo_dies_per_channel(g) * group_max(g);
	struct bus_booking *book;

	a->bus = ssd_carve(m, g->channels, sizeof(*a->bus));
	a->bus_busy = ssd_carve(m, g->channels, sizeof(*a->bus_busy));
	a->die_busy = ssd_carve(m, geo_dies(g), sizeof(*a->die_busy));
	a->plane_read_ns = ssd_carve(m, c->timing.plane_reads ? geo_planes(g) : 0, sizeof(*a->plane_read_ns));
	a->suspended_ns = ssd_carve(m, c->timing.plane_reads ? geo_dies(g) : 0, sizeof(*a->suspended_ns));
	/* a register for each plane, and one for peek */
	a->reg_form = ssd_carve(m, c->payload ? (geo_planes(g) + 1) * (g->page_bytes / unit_bytes(g)) : 0,
				sizeof(*a->reg_form));
	a->reg = ssd_carve(m, c->payload ? geo_planes(g) + 1 : 0, g->page_bytes);
	book = ssd_carve(m, (size_t)g->channels * BUS_ROOM(per_channel) + BUS_SPARE, sizeof(*book));
	if (!m->base)
		return;
	for (uint32_t i = 0; i < g->channels; i++) {
		a->bus[i].room = book + (size_t)i * BUS_ROOM(per_channel);
		bus_clear(&a->bus[i]);
		a->bus[i].max = per_channel;
	}
}

size_t nand_array_footprint(const struct nand_array_config *c)
{
	struct ssd_arena m = { NULL, sizeof(struct nand_array) };
	struct nand_array a;

	lay_out_memory(&a, &m, c);
	return m.used;
}

static bool energy_counts(const struct nand_energy *e)
{
	static const struct nand_energy none;

	return memcmp(e, &none, sizeof(none)) != 0;
}

static void derive(struct nand_array *a, const struct nand_geometry *g)
{
	a->pages = (uint32_t)geo_pages(g);
	a->pbs = 1u << g->pb_levels;
	a->pb_pages = g->pages_per_block >> g->pb_levels;
	a->unit_bytes = unit_bytes(g);
	a->units = g->page_bytes / a->unit_bytes;
	a->ecc_words = g->page_bytes / g->ecc_word_bytes;
	a->all_words = a->ecc_words == 32 ? 0xffffffffu : (1u << a->ecc_words) - 1;
	a->energy = energy_counts(&a->c.energy);
	a->group_max = group_max(g);
	a->page_bus_bytes = (uint64_t)g->page_bytes +
			    (a->c.timing.oob_off_bus ? 0 : g->oob_bytes);
	a->page_bus_ns = (a->page_bus_bytes * a->c.timing.bus_ps_per_byte + 999) / 1000;
	a->spare_bus_bytes = a->page_bus_bytes - g->page_bytes;
	a->spare_bus_ns = (a->spare_bus_bytes * a->c.timing.bus_ps_per_byte + 999) / 1000;
	a->by_block_pages = fxp_div_by(g->pages_per_block);
	a->by_plane_blocks = fxp_div_by(g->blocks_per_plane);
	a->by_planes = fxp_div_by(g->planes_per_die);
	a->by_channel_dies = fxp_div_by(geo_dies_per_channel(g));
	a->by_types = fxp_div_by(g->bits_per_cell);
	a->by_pb_pages = fxp_div_by(a->pb_pages);
	a->by_die_pages = fxp_div_by(g->pages_per_block * g->blocks_per_plane * g->planes_per_die);
	a->by_channel_pages = fxp_div_by(a->by_die_pages.d * geo_dies_per_channel(g));
}

void image_look(struct nand_array *a, const struct nand_array_config *c, const void *image)
{
	struct ssd_arena m = { (char *)(uintptr_t)image, 0 };

	memset(a, 0, sizeof(*a));
	a->c = *c;
	a->base.geo = c->geo;
	a->slcs = true;		/* look at the blocks */
	derive(a, &c->geo);
	lay_out_tables(a, &m, c);
	lay_out_content(a, &m, c);
}

void nand_array_upgrade(const struct nand_array_config *c, void *image)
{
	struct nand_array a;

	image_look(&a, c, image);
	if (!c->payload || !c->sums)
		a.sum = NULL;
	for (uint32_t p = 0; c->payload && p < a.pages; p++)
		if (cell_get(&a, p) == CELL_FORM)
			page_upgrade(&a, p);
}

void image_attach(struct nand_array *a, void *mem, void *image)
{
	const struct nand_array_config *c = &a->c;
	struct ssd_arena m = { mem, sizeof(*a) }, i = { image, 0 };

	derive(a, &c->geo);
	a->slcs = c->timing.slc_program_ns;
	lay_out_memory(a, &m, c);
	lay_out_tables(a, &i, c);
	lay_out_content(a, &i, c);
	if (!c->physics.rber_on)
		a->age = NULL;
	if (!c->physics.rber_on || !c->geo.copyback)
		a->carried = NULL;
	if (!c->payload || !c->sums)
		a->sum = NULL;
}

void image_count(struct nand_array *a)
{
	uint64_t pbs = geo_blocks(&a->base.geo) * a->pbs;
	const uint64_t even = 0x5555555555555555u;

	for (uint64_t s = 0; s < pbs; s++) {
		uint64_t e = a->pb[s].erases;

		if (e > a->stats.erase_count_max)
			a->stats.erase_count_max = e;
		a->stats.page_erases += e * a->pb_pages;
		a->stats.page_erases_sq += e * e * a->pb_pages;
	}
	for (size_t i = 0; i < cell_bytes(&a->base.geo); i += 8) {
		uint64_t word;

		memcpy(&word, a->cells + i, 8);
		word = (word | word >> 1) & even;
		a->stats.programmed_pages += bits_set((uint32_t)word) + bits_set((uint32_t)(word >> 32));
	}
	a->stats.erase_count_sum = a->head->erase_commands;
	a->bads = false;
	for (uint64_t b = 0; b < geo_blocks(&a->base.geo); b++) {
		a->bads |= a->block[b] & BLOCK_BAD;
		a->slcs |= a->block[b] & BLOCK_SLC;
	}
}

/* Copy the tables without the gaps between them. */
static void copy_tables(struct nand_array *dst, const struct nand_array *src)
{
	const struct nand_geometry *g = &src->base.geo;
	size_t dies = geo_dies(g), pages = src->pages, pbs = geo_blocks(g) * src->pbs;

	*dst->head = *src->head;
	memcpy(dst->die, src->die, dies * sizeof(*dst->die));
	memcpy(dst->flight, src->flight, dies * src->group_max * sizeof(*dst->flight));
	memcpy(dst->block, src->block, geo_blocks(g) * sizeof(*dst->block));
	memcpy(dst->pb, src->pb, pbs * sizeof(*dst->pb));
	if (src->age)
		memcpy(dst->age, src->age, pbs * sizeof(*dst->age));
	if (src->carried)
		memcpy(dst->carried, src->carried, pages);
	memcpy(dst->cells, src->cells, cell_bytes(g));
	if (src->oob)
		memcpy(dst->oob, src->oob, pages * g->oob_kept);
	else
		spares_copy(&dst->spares, &src->spares, geo_blocks(g));
	if (src->sum)
		memcpy(dst->sum, src->sum, pages * sizeof(*dst->sum));
}

void nand_array_copy(struct nand_array *dst, const struct nand_array *src)
{
	const struct nand_geometry *g = &src->base.geo;
	size_t planes = src->payload ? geo_planes(g) : 0;

	SSD_ASSERT(dst->pages == src->pages && nand_array_image_bytes(&dst->c) ==
		   nand_array_image_bytes(&src->c));
	dst->stats = src->stats;
	dst->powered = src->powered;
	dst->bads = src->bads;
	dst->slcs = src->slcs;
	dst->plain = plain_possible(dst);
	copy_tables(dst, src);
	memcpy(dst->bus_busy, src->bus_busy, g->channels * sizeof(*dst->bus_busy));
	memcpy(dst->die_busy, src->die_busy, geo_dies(g) * sizeof(*dst->die_busy));
	if (src->c.timing.plane_reads) {
		memcpy(dst->plane_read_ns, src->plane_read_ns, geo_planes(g) * sizeof(*dst->plane_read_ns));
		memcpy(dst->suspended_ns, src->suspended_ns, geo_dies(g) * sizeof(*dst->suspended_ns));
	}
	for (uint32_t i = 0; i < g->channels; i++) {
		dst->bus[i].count = src->bus[i].count;
		dst->bus[i].last_ns = src->bus[i].last_ns;
		dst->bus[i].book = dst->bus[i].room;
		memcpy(dst->bus[i].book, src->bus[i].book,
		       src->bus[i].count * sizeof(*src->bus[i].book));
	}
	if (!src->payload)
		return;
	memcpy(dst->reg_form, src->reg_form, planes * src->units * sizeof(*dst->reg_form));
	memcpy(dst->reg, src->reg, planes * g->page_bytes);
	for (uint32_t p = 0; p < src->pages; p++)
		if (cell_get(src, p) != CELL_ERASED)
			page_copy_content(dst, p, src, p);
}

uint64_t nand_array_now_ns(const struct nand_array *a)
{
	return a->head->now_ns;
}

void *nand_array_own(struct nand_array *a)
{
	return a->head->own;
}
