// SPDX-License-Identifier: GPL-2.0-or-later
/* handles.c - see handles.h */
#include "dies.h"
#include "handles.h"
#include "page_state.h"
#include "queue.h"
#include "wbuf.h"

/* ---- configuration ------------------------------------------------------ */

uint32_t handles_streams(const struct ftl_config *c)
{
	if (c->hot_cold)
		return 2;
	return c->placement_handles ? c->placement_handles : 1;
}

uint32_t handles_copy_streams(const struct ftl_config *c)
{
	return c->hot_cold || c->placement_isolation == FTL_ISOLATED_PERSISTENTLY ? handles_streams(c) : 1;
}

const char *handles_fault(const struct front_policy *policy, const struct ftl_config *c,
			  const struct nand_geometry *g)
{
	uint64_t pages = c->buffer_units / (g->page_bytes / c->unit_bytes);

	if (!c->placement_handles)
		return c->placement_groups > 1 ? "placement_groups must be 1 without placement_handles: a write names "
						 "its group with a handle" : NULL;
	if (c->placement_handles > FTL_HANDLES_MAX)
		return "placement_handles must be at most 128";
	if (ftl_handles(c) > FTL_HANDLES_MAX)
		return "placement_groups is too much: with placement_handles in each group there must be at most 128";
	if (geo_dies(g) % ftl_groups(c))
		return "placement_groups must divide the number of dies: all groups have as many";
	if (ftl_groups(c) > 1 && c->namespaces)
		return "placement_groups must be 1 with drive.namespaces: a namespace's writes all have one handle";
	if (policy != &front_page_policy || g->order == NAND_ORDER_FPS || g->order == NAND_ORDER_RPS)
		return "placement_handles must be 0: the FTL chooses open blocks by their LSB and MSB pages; set "
		       "type = page and order = ascending or none";
	if (c->gc_frontier == FTL_GC_SHARED)
		return "gc_frontier must be own with placement_handles: copies would go to the blocks of a handle";
	if (c->hot_cold)
		return "hot_cold must be off with placement_handles: the host says which pages are kept apart";
	if (c->slc_cache != FTL_SLC_NONE)
		return "slc_cache must be none with placement_handles: the cache takes pages of all handles alike";
	if (pages < ftl_handles(c) + 2)
		return "buffer_units is too small: it must hold a NAND page for each of placement_handles and two "
		       "more, in all placement_groups; raise buffer_units or lower placement_handles";
	return NULL;
}

void handles_lay_out(struct page_ftl *f, struct ssd_arena *m, const struct ftl_config *c)
{
	f->handles.handle = ssd_carve(m, ftl_handles(c), sizeof(*f->handles.handle));
	f->handles.round = ssd_carve(m, (size_t)c->placement_handles * f->shape.planes, sizeof(*f->handles.round));
	f->handles.written = ssd_carve(m, c->placement_handles ? f->buf.pages : 0, sizeof(*f->handles.written));
	if (ftl_groups(c) > 1)
		f->handles.to = ssd_carve(m, ftl_groups(c), sizeof(*f->handles.to));
}

void handles_init(struct page_ftl *f, const struct handles_space *space)
{
	struct page_handles *h = &f->handles;

	h->space = *space;
	h->count = ftl_handles(&f->host.c);
	h->streams = f->host.c.placement_handles;
	h->groups = ftl_groups(&f->host.c);
	h->planes = f->shape.planes / h->groups;
	h->count_every = geo_blocks(f->g) / 8 > f->g->pages_per_block ? geo_blocks(f->g) / 8 : f->g->pages_per_block;
	h->counted = h->anywhere = 0;
	h->apart = h->count && handles_copy_streams(&f->host.c) > 1;
	h->unit_bytes = (uint64_t)h->planes * f->g->pages_per_block * f->g->page_bytes;
	for (uint32_t i = 0; i < h->count; i++)
		h->handle[i] = (struct handle){ .open = NONE, .last = NONE, .round = 1 };
	for (uint32_t i = 0; i < h->streams * f->shape.planes; i++)
		h->round[i] = 0;
	for (uint32_t i = 0; handles_has_groups(h) && i < h->groups; i++)
		h->to[i] = i;
}

static inline uint32_t open_block(const struct page_ftl *f, uint32_t plane, uint32_t stream)
{
	return f->fr.plane[plane].open[FRONT_HOST + stream];
}

static inline uint32_t *round_of(const struct page_ftl *f, uint32_t plane, uint32_t stream)
{
	return &f->handles.round[plane * f->handles.streams + stream];
}

static inline uint32_t group_of_plane(const struct page_ftl *f, uint32_t plane)
{
	return handles_has_groups(&f->handles) ? plane / f->handles.planes : 0;
}

/* Returns the handle of a stream's blocks in the plane. */
static inline struct handle *handle_in(const struct page_ftl *f, uint32_t plane, uint32_t stream)
{
	return &f->handles.handle[group_of_plane(f, plane) * f->handles.streams + stream];
}

/* Planes of a handle's group, and its stream */
struct part {
	uint32_t from, to;
	uint32_t stream;
};

static struct part part_of(const struct page_ftl *f, uint32_t handle)
{
	uint32_t group = handle / f->handles.streams, from = group * f->handles.planes;

	return (struct part){ from, from + f->handles.planes, handle - group * f->handles.streams };
}

static uint32_t plane_of(const struct page_ftl *f, uint32_t b)
{
	return geo_plane_of(f->g, (pbn_t){ b });
}

/* ---- groups --------------------------------------------------------------- */

/* Returns how many valid units the group should have at most (handles.h, below W8). */
static uint64_t limit_of(const struct page_ftl *f, uint64_t good_blocks)
{
	const struct handles_space *s = &f->handles.space;
	uint64_t kept = (uint64_t)f->handles.planes * s->kept_blocks, share = s->units / f->handles.groups;
	uint64_t holds = good_blocks > kept ? (good_blocks - kept) * s->block_units : 0;

	return holds > share ? (share + holds) / 2 : holds;
}

/* Returns how many more valid units the group may have. */
static uint64_t room_of(const struct page_ftl *f, uint32_t group)
{
	uint32_t of_group = f->handles.planes * f->g->blocks_per_plane, from = group * of_group;
	uint64_t valid = 0, good = 0, limit;

	for (uint32_t b = from; b < from + of_group; b++) {
		good += f->bt.blk[b].state != BLK_BAD;
		valid += f->bt.blk[b].valid;
	}
	limit = limit_of(f, good);
	return limit > valid ? limit - valid : 0;
}

/* Count the groups' valid units. A full group's pages go to the group with the most room, of equal ones the first. */
static SSD_APART void count_groups(struct page_ftl *f)
{
	struct page_handles *h = &f->handles;
	uint32_t roomiest = 0;
	uint64_t most = 0;

	for (uint32_t i = 0; i < h->groups; i++) {
		uint64_t room = room_of(f, i);

		h->to[i] = room ? i : h->groups;
		if (room > most) {
			most = room;
			roomiest = i;
		}
	}
	for (uint32_t i = 0; i < h->groups; i++)
		if (h->to[i] == h->groups)
			h->to[i] = most ? roomiest : i;
	h->counted = f->bt.issued;
}

bool handles_takes(const struct page_ftl *f, uint32_t plane)
{
	const struct page_handles *h = &f->handles;
	uint32_t w = f->buf.first;

	return w == NONE || f->gc.hold || f->buf.page[w].seq == h->anywhere ||
	       h->to[f->buf.page[w].handle / h->streams] == group_of_plane(f, plane);
}

/*
 * Find which planes have opened their blocks of the handles' rounds. A full block belongs to the round if pages of it
 * were written after the first page of a block that is still open.
 */
void handles_mounted(struct page_ftl *f)
{
	const struct page_handles *h = &f->handles;

	for (uint32_t i = 0; i < h->count; i++) {
		struct part p = part_of(f, i);

		h->handle[i].first_seq = UINT64_MAX;
		for (uint32_t plane = p.from; plane < p.to; plane++) {
			uint32_t b = open_block(f, plane, p.stream);

			if (b != BLK_NONE && f->bt.blk[b].parity_seq < h->handle[i].first_seq)
				h->handle[i].first_seq = f->bt.blk[b].parity_seq;
		}
	}
	for (uint32_t b = 0; h->count && b < geo_blocks(f->g); b++) {
		const struct blk *k = &f->bt.blk[b];

		if ((k->state == BLK_OPEN || k->state == BLK_FULL) && !k->copies && !k->map &&
		    k->last_order >= handle_in(f, plane_of(f, b), k->stream)->first_seq)
			*round_of(f, plane_of(f, b), k->stream) = handle_in(f, plane_of(f, b), k->stream)->round;
	}
	if (handles_has_groups(h))
		count_groups(f);
}

/* ---- the write buffer --------------------------------------------------- */

void handles_select(struct page_ftl *f, uint32_t handle)
{
	struct page_handles *h = &f->handles;

	SSD_ASSERT(handle < h->count);
	h->handle[h->current].open = f->buf.open;
	h->current = handle;
	f->buf.open = h->handle[handle].open;
	h->handle[handle].open = NONE;
}

void handles_began(struct page_ftl *f, uint32_t w)
{
	f->buf.page[w].handle = (uint8_t)f->handles.current & 0x7f;
	f->handles.handle[f->handles.current].last = w;
}

static void next_unit(struct page_ftl *f, struct handle *h)
{
	h->units++;
	f->host.stats.reclaim_units++;
}

void handles_wrote(struct page_ftl *f, const struct ftl_io *io, uint32_t bytes)
{
	struct handle *h = &f->handles.handle[f->handles.current];

	if (io->lost)
		return;
	h->written += bytes;
	if (h->written < f->handles.unit_bytes)
		return;
	h->written -= f->handles.unit_bytes;
	next_unit(f, h);
}

static void close_page(struct page_ftl *f, uint32_t w)
{
	f->handles.handle[f->buf.page[w].handle].open = NONE;
	f->buf.page[w].state = W_QUEUED;
	queue_append(f, w);
}

void handles_close_others(struct page_ftl *f)
{
	for (uint32_t i = 0; i < f->handles.count; i++) {
		uint32_t w = f->handles.handle[i].open;

		if (w == NONE)
			continue;
		f->host.stats.flush_pad_units += f->shape.upp - f->buf.page[w].used;
		close_page(f, w);
	}
}

/* Close the slot's page if it is another handle's open one. */
static void close_page_of(struct page_ftl *f, uint32_t slot)
{
	uint32_t w = slot == NONE ? NONE : slot / f->shape.upp;

	if (w != NONE && w != f->buf.open && f->buf.page[w].state == W_OPEN)
		close_page(f, w);
}

void handles_close_older(struct page_ftl *f, uint32_t lpn, uint32_t old)
{
	close_page_of(f, old);
	if (is_trimmed(f, lpn))
		close_page_of(f, wbuf_find(f, f->shape.lpns + lpn / lpns_per_map(f)));
}

void handles_close_region(struct page_ftl *f, uint32_t map)
{
	for (uint32_t i = 0; i < f->handles.count; i++) {
		uint32_t w = f->handles.handle[i].open;
		bool in = false;

		for (uint32_t s = 0; w != NONE && s < f->buf.page[w].used; s++)
			in |= f->buf.slot[w * f->shape.upp + s].lpn / lpns_per_map(f) == map;
		if (in)
			close_page(f, w);
	}
}

/* ---- blocks --------------------------------------------------------------- */

uint32_t handles_stream(const struct page_ftl *f, uint32_t plane, enum frontier which)
{
	uint32_t victim = gc_block(&f->plane[plane].gc), w = f->buf.first;

	if (which == FRONT_GC)
		return f->handles.apart && victim != BLK_NONE ? f->bt.blk[victim].stream : 0;
	if (w == NONE)
		return 0;
	return handles_has_groups(&f->handles) ? f->buf.page[w].handle % f->handles.streams : f->buf.page[w].handle;
}

bool handles_in_turn(const struct page_ftl *f, uint32_t plane, uint32_t stream)
{
	uint32_t from, round;

	if (open_block(f, plane, stream) != BLK_NONE)
		return true;
	from = group_of_plane(f, plane) * f->handles.planes;
	round = handle_in(f, plane, stream)->round;
	if (*round_of(f, plane, stream) != round)
		return true;
	for (uint32_t p = from; p < from + f->handles.planes; p++)
		if (open_block(f, p, stream) != BLK_NONE || (*round_of(f, p, stream) != round &&
							     f->bt.plane[p].free_count > f->gc.urgent_blocks))
			return false;
	return true;
}

/* Is the plane's block of the stream the only open one of its handle? */
static bool only_open(const struct page_ftl *f, uint32_t plane, uint32_t stream)
{
	uint32_t from = group_of_plane(f, plane) * f->handles.planes;

	for (uint32_t p = from; p < from + f->handles.planes; p++)
		if (p != plane && open_block(f, p, stream) != BLK_NONE)
			return false;
	return true;
}

void handles_opened(struct page_ftl *f, uint32_t b, uint32_t slot)
{
	uint32_t stream = slot == front_map_slot(&f->fr) ? 0 : front_stream(&f->fr, slot);
	uint32_t plane = plane_of(f, b);
	struct handle *h = handle_in(f, plane, stream);

	f->bt.blk[b].stream = (uint8_t)stream;
	if (slot >= f->fr.copies)
		return;
	h->round += *round_of(f, plane, stream) == h->round && only_open(f, plane, stream);
	*round_of(f, plane, stream) = h->round;
}

void handles_end_unit(struct page_ftl *f, uint32_t handle)
{
	struct part p = part_of(f, handle);

	for (uint32_t plane = p.from; plane < p.to; plane++) {
		uint32_t b = open_block(f, plane, p.stream);

		if (b == BLK_NONE)
			continue;
		front_drop(&f->fr, b);
		blk_close(&f->bt, b);
		plane_changed(f, plane);
	}
	f->handles.handle[handle].round++;
}

/* A page of the stream goes to block b: set its spare area, and count a page outside its stream's blocks. */
static void took(struct page_ftl *f, uint32_t b, uint32_t stream, uint8_t *oob)
{
	uint8_t *p = oob + OOB_BYTES(f->shape.upp);

	f->host.stats.stray_pages += f->bt.blk[b].stream != stream;
	memset(p, 0, HANDLES_OOB_BYTES);
	p[0] = f->bt.blk[b].stream;
}

void handles_copied(struct page_ftl *f, uint32_t plane, uint32_t b, uint8_t *oob)
{
	if (f->handles.count)
		took(f, b, handles_stream(f, plane, FRONT_GC), oob);
}

static void note_page(struct page_ftl *f, uint32_t handle, uint64_t seq, uint64_t written)
{
	struct handle *h = &f->handles.handle[handle];

	if (seq < h->page_seq)
		return;
	h->page_seq = seq;
	h->page_written = written;
}

void handles_placed(struct page_ftl *f, uint32_t b, uint32_t w, uint8_t *oob)
{
	struct page_handles *h = &f->handles;
	uint32_t handle = f->buf.page[w].handle;
	uint32_t group = handles_has_groups(h) ? handle / h->streams : 0, stream = handle - group * h->streams;

	took(f, b, stream, oob);
	oob[OOB_BYTES(f->shape.upp) + 1] = (uint8_t)handle;
	oob_put5(oob + OOB_BYTES(f->shape.upp) + 2, h->written[w] / FTL_SECTOR_BYTES);
	note_page(f, handle, f->buf.page[w].seq, h->written[w]);
	if (!handles_has_groups(h))
		return;
	f->host.stats.stray_pages += f->bt.blk[b].stream == stream && group_of_plane(f, plane_of(f, b)) != group;
	if (f->bt.issued - h->counted >= h->count_every)
		count_groups(f);
}

/* A mount has found a page of the handle. The drive may have been written with larger units. */
static void found_page(struct page_ftl *f, uint32_t handle, uint64_t seq, uint64_t sectors)
{
	if (handle >= f->handles.count)
		return;
	note_page(f, handle, seq, sectors * FTL_SECTOR_BYTES % f->handles.unit_bytes);
	f->handles.handle[handle].written = f->handles.handle[handle].page_written;
}

/*
 * Note the stream and the handle of a page that a mount has found. A drive may have been written with more handles;
 * blocks of those count as the first one's.
 */
void handles_found(struct page_ftl *f, uint32_t ppn, const uint8_t *oob)
{
	struct oob_head h = oob_get_head(oob);
	struct blk *k = &f->bt.blk[ppn / f->g->pages_per_block];
	const uint8_t *p = oob + OOB_BYTES(f->shape.upp);

	k->stream = p[0] < f->handles.streams ? p[0] : 0;
	if (h.kind != OOB_HOST)
		return;
	found_page(f, p[1], h.order, oob_get5(p + 2));
	if (!(ppn % f->g->pages_per_block))
		k->parity_seq = h.order & OOB_SEQ_LAST;
}

void handles_save(const struct page_ftl *f, uint8_t *to)
{
	for (uint32_t i = 0; i < f->handles.count; i++, to += HANDLES_SAVED) {
		oob_put5(to, f->handles.handle[i].page_seq);
		oob_put5(to + 5, f->handles.handle[i].page_written / FTL_SECTOR_BYTES);
	}
}

void handles_restore(struct page_ftl *f, const uint8_t *from)
{
	for (uint32_t i = 0; i < f->handles.count; i++, from += HANDLES_SAVED)
		found_page(f, i, oob_get5(from), oob_get5(from + 5));
}

/* ---- renewal ------------------------------------------------------------- */

/* Close the handle's open buffer page. */
static void close_page_now(struct page_ftl *f, uint32_t handle)
{
	if (handle == f->handles.current)
		wbuf_seal(f);
	else if (f->handles.handle[handle].open != NONE)
		close_page(f, f->handles.handle[handle].open);
}

/* Does the buffer page wait to be placed, for the first time, as a page of the handle? */
static bool is_to_be_placed(const struct page_ftl *f, uint32_t w, uint32_t handle)
{
	return w != NONE && f->buf.page[w].state == W_QUEUED && f->buf.page[w].handle == handle &&
	       f->buf.page[w].seq > f->bt.issued;
}

void handles_renew(struct page_ftl *f, uint32_t handle)
{
	struct handle *h = &f->handles.handle[handle];

	close_page_now(f, handle);
	if (is_to_be_placed(f, h->last, handle))
		f->buf.page[h->last].ends = 1;
	else
		handles_end_unit(f, handle);
	if (h->written)
		next_unit(f, h);
	h->written = 0;
}

void handles_check(const struct page_ftl *f)
{
	const struct page_handles *h = &f->handles;
	uint32_t open = 0;

	for (uint32_t w = 0; h->count && w < f->buf.pages; w++)
		open += f->buf.page[w].state == W_OPEN;
	open -= h->count && f->buf.open != NONE;
	SSD_ASSERT(!h->count || h->handle[h->current].open == NONE);		/* W6 */
	for (uint32_t i = 0; i < h->count; i++) {
		uint32_t w = i == h->current ? f->buf.open : h->handle[i].open;

		open -= h->handle[i].open != NONE;
		SSD_ASSERT(h->handle[i].written < h->unit_bytes);
		if (w == NONE)
			continue;
		SSD_ASSERT(f->buf.page[w].state == W_OPEN && f->buf.page[w].handle == i &&
			   f->buf.page[w].used < f->shape.upp);			/* W5 */
	}
	SSD_ASSERT(!open);							/* W5 */
}
