// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rescue.c - the part of a mount that uses parity pages (front.h): it rebuilds the LSB pages that torn
 * MSB programs destroyed, writes them again, and puts their blocks back to use.
 *
 * Effect of a power cut. A die executes one program at a time, so in each plane at most one word
 * line is affected: the last one programmed in one block. If the torn page is an MSB page, its LSB
 * page may be lost; but the parity page of its group was programmed earlier, on a word line of
 * another block, and no program was under way on this plane that could have destroyed it. If the
 * torn page is a parity page, no MSB page was torn. All pages that it covers, and those that the
 * parity page of its word line covers, can be read, and get new parity pages.
 *
 * So an LSB page and its parity page are not lost together. It takes four more facts:
 *
 *   1  An LSB page of the group that was lost earlier is not in the parity page. A mount that finds one missing
 *      rewrites it, covers the rest again, and only then continues the block. The number of pages that a parity page
 *      leaves out also identifies an older parity page of the group.
 *   2  In fixed order a torn parity page may damage an older one, in two-phase order not: it uses only LSB pages of
 *      backup blocks.
 *   3  A parity page is void when the last MSB page of its group is taken. Its backup block is erased, or marked bad,
 *      by a later command of the same die. With backup_ahead another die erases; there the parity page is void when
 *      the plane takes its next page (front_plane.spent), and by then the program that needed it has ended.
 *   4  A backup block is erased only without a valid parity page. Such a page is valid again at a later mount if the
 *      younger one, which leaves a rewritten page out, was erased first. The page is then rebuilt once more, but no
 *      unit of it is mapped. So a mount continues a backup block only if it has a parity page of a block that is not
 *      held, or of a held block whose rebuilt page has a mapped unit. Any other may be half erased.
 *
 * With backup_ahead a plane waits for its last LSB page and the parity page (P4), so no MSB page is torn while a torn
 * parity page may damage an older one. The parity page may be complete and the last LSB page torn, so a mount reads
 * complete groups, and does not trust the parity page's count.
 *
 *   rebuild    after the survey. If the last page of a block is a torn MSB page and the LSB page of
 *              that word line is lost, the LSB page is rebuilt: the XOR of the rest of its group
 *              and the parity page. Until it has been written again, mount_read() returns the
 *              rebuilt content. The block is held: no page of it is programmed, and in the block of
 *              its parity page no page whose program could destroy the parity page
 *   frontiers  the other open blocks go to their slots. A complete group gets a parity page if it
 *              has none; for an incomplete group the XOR is computed again
 *   (then mount.c writes the dead list; if it cannot be written, no other page is)
 *   rewrite    the units of rebuilt pages are written to the log again, as if the host had written
 *              them; if a rebuilt page has a higher mark than all readable pages, a new page
 *              carries that mark. When these are durable, the block's group gets a new parity page,
 *              which leaves out the lost page, and the block is written further
 *
 * A parity page has the block's erase count, so that a parity page from before the last erase is
 * ignored; of several valid ones the last counts. It also says how many LSB pages of the group were
 * unreadable when it was made: it is needed if exactly one more is unreadable now.
 *
 * If there is no page for the rewrite, the drive becomes read-only (mount.c). The rebuilt pages
 * then stay in memory for reads, and the next mount rebuilds them again.
 *
 * Pages that an earlier mount declared dead stay dead: rescue_keep_dead().
 *
 * A second power cut during the rescue finds the same state: the old parity page stays valid until
 * the new one is programmed, and that happens after the new copy. Pages that the second cut tears
 * are in other blocks.
 */
#include "mount_pages.h"
#include "mount_state.h"
#include "rescue.h"

static uint8_t *lost_page(const struct page_ftl *f, uint32_t i)
{
	return f->lost.data + (size_t)i * (f->g->page_bytes + f->oob_len);
}

static void xor_into(uint8_t *to, const uint8_t *from, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		to[i] ^= from[i];
}

static uint32_t lsb_page(const struct page_ftl *f, uint32_t b, uint32_t word_line)
{
	return geo_ppn(f->g, (pbn_t){ b }, 2 * word_line).v;
}

void rescue_note_parity(struct page_mount *s, uint32_t ppn, const uint8_t *oob)
{
	s->contradiction |= !front_note_parity(&s->f->fr, ppn, oob);
}

/* ---- rebuild ---------------------------------------------------------------- */

bool rescue_holds(const struct page_ftl *f, uint32_t b)
{
	for (uint32_t i = 0; i < f->lost.count; i++)
		if (f->lost.page[i].ppn / f->g->pages_per_block == b)
			return true;
	return false;
}

/*
 * Add the block's parity page to the XOR, if it covers the group and all but one of the unreadable
 * pages.
 */
static bool add_parity(struct page_mount *s, uint32_t b, uint32_t first, uint32_t unreadable,
		       uint8_t *page, uint8_t *oob)
{
	struct page_ftl *f = s->f;
	const uint8_t *content;
	struct front_parity p;

	if (!f->bt.blk[b].parity ||
	    !survey_readable(mount_read(s, f->bt.blk[b].parity - 1, &content, f->oob)))
		return false;
	p = front_get_parity(&f->fr, f->oob);
	if (p.first != first || unreadable != p.lost + 1)
		return false;
	if (content)
		xor_into(page, content, f->g->page_bytes);
	front_xor_kept(&f->fr, oob, f->oob);
	return true;
}

/* Rebuild the LSB page of word line w, whose MSB page is torn. */
static int rebuild(struct page_mount *s, uint32_t b, uint32_t w)
{
	struct page_ftl *f = s->f;
	uint32_t first = front_group_of(&f->fr, w), end = front_group_end(&f->fr, w);
	uint32_t unreadable = 0;
	bool lost = false;
	uint8_t *page, *oob;

	if (survey_readable(mount_read(s, lsb_page(f, b, w), NULL, f->oob)))
		return SSD_OK;
	if (f->lost.count == f->lost.max)
		return SSD_E_CORRUPT;
	page = lost_page(f, f->lost.count);
	oob = page + f->g->page_bytes;
	memset(page, 0, f->g->page_bytes + f->oob_len);
	for (uint32_t i = first; i < end; i++) {
		const uint8_t *content;

		if (!survey_readable(mount_read(s, lsb_page(f, b, i), &content, f->oob))) {
			unreadable++;
			lost |= i == w;
			continue;
		}
		if (content)
			xor_into(page, content, f->g->page_bytes);
		xor_into(oob, f->oob, OOB_BYTES(f->shape.upp));
	}
	if (!lost || !add_parity(s, b, first, unreadable, page, oob))
		return SSD_OK;
	f->lost.page[f->lost.count++] = (struct lost_page){ .ppn = lsb_page(f, b, w),
						       .mark = oob_get_head(oob).order > s->mark };
	return SSD_OK;
}

int rescue_rebuild(struct page_mount *s)
{
	struct page_ftl *f = s->f;

	for (uint32_t b = 0; b < geo_blocks(f->g); b++) {
		const struct blk *k = &f->bt.blk[b];
		uint32_t page = k->next_page ? front_page(&f->fr, k->next_page - 1) : 0;
		int err;

		if (!k->torn || k->backup || !(page & 1))
			continue;
		err = rebuild(s, b, page / 2);
		if (err)
			return err;
	}
	return SSD_OK;
}

/* ---- the dead among the lost ---------------------------------------------------- */

/*
 * Returns the order of the first readable page from the block's k-th on, or else of the last
 * readable page before it.
 */
static uint64_t order_near(struct page_mount *s, uint32_t b, uint32_t k, bool up)
{
	struct page_ftl *f = s->f;

	while (k < f->bt.blk[b].next_page) {	/* the loop also ends after k = 0, because k - 1 wraps */
		uint32_t ppn = geo_ppn(f->g, (pbn_t){ b }, front_page(&f->fr, k)).v;

		if (survey_readable(mount_read(s, ppn, NULL, f->oob)))
			return oob_get_head(f->oob).order;
		k += up ? 1 : ~0u;
	}
	return up ? OOB_SEQ_MAX : 0;
}

/* The LSB page at place k of the block is lost: record the range of its possible order. */
static void keep_ranges(struct page_mount *s, uint32_t b, uint32_t k)
{
	struct page_ftl *f = s->f;
	uint64_t low = order_near(s, b, k - 1, false), high = order_near(s, b, k + 1, true);

	for (uint32_t i = 0; i < f->log.dead_count; i++)
		if (f->log.dead[i].after < high && f->log.dead[i].before > low) {
			f->log.dead[i].pages++;
			f->bt.blk[b].dead = true;
		}
}

/*
 * Keep the ranges of the dead list that may contain the order of a rebuilt dead page, until its
 * block is erased. Otherwise a later mount could rebuild the page again, and map it: an old parity
 * page that covers it may outlive the newer one that does not. Within a block orders ascend.
 */
void rescue_keep_dead(struct page_mount *s)
{
	struct page_ftl *f = s->f;

	for (uint32_t b = 0; b < geo_blocks(f->g); b++) {
		const struct blk *blk = &f->bt.blk[b];

		for (uint32_t k = 0; blk->hurt && !blk->backup && f->log.dead_count && k < blk->next_page; k++) {
			uint32_t ppn = geo_ppn(f->g, (pbn_t){ b }, front_page(&f->fr, k)).v;

			if (!(ppn & 1) && !survey_readable(mount_read(s, ppn, NULL, f->oob)) &&
			    !survey_readable(mount_read(s, ppn + 1, NULL, f->oob)))
				keep_ranges(s, b, k);
		}
	}
}

/* ---- parity pages that are missing --------------------------------------------- */

/* XOR LSB pages [from, to) into a parity in hand. Returns the number of unreadable pages. */
static uint32_t cover(struct page_mount *s, uint32_t b, uint32_t slot, uint32_t from, uint32_t to)
{
	struct page_ftl *f = s->f;
	uint32_t plane = geo_plane_of(f->g, (pbn_t){ b }), lost = 0;

	front_forget(&f->fr, plane, slot);
	for (uint32_t w = from; w < to; w++) {
		const uint8_t *content;

		if (survey_readable(mount_read(s, lsb_page(f, b, w), &content, f->oob)))
			front_xor(&f->fr, plane, slot, content, f->oob);
		else
			lost++;
	}
	return lost;
}

/* Find an open backup block in the plane. Returns false if no free block can be used. */
static bool backup_block(struct page_mount *s, uint32_t plane)
{
	struct page_ftl *f = s->f;

	while (f->fr.plane[plane].backup == BLK_NONE) {
		uint32_t b = f->bt.plane[plane].free_head;
		struct nand_cmd c = { .op = NAND_ERASE, .source = NAND_SRC_META, .pb = NAND_WHOLE_BLOCK };

		if (b == BLK_NONE)
			return false;
		if (f->bt.blk[b].needs_erase) {
			c.ppn = geo_ppn(f->g, (pbn_t){ b }, 0);
			survey_command(&f->host.survey, &c);
			frontier_erased(f, plane, c.status);
			continue;
		}
		front_open_backup(&f->fr, plane);
	}
	return true;
}

/* Program the parity page of a group of the block. Returns false if there is no free block for it. */
static bool back_up(struct page_mount *s, uint32_t b, uint32_t first, uint32_t end)
{
	struct page_ftl *f = s->f;
	uint32_t plane = geo_plane_of(f->g, (pbn_t){ b }), hand = f->fr.covers;
	struct front_parity what = { .block = b, .first = first };
	struct nand_cmd c;

	what.lost = cover(s, b, hand, first, end);
	for (;;) {
		if (!backup_block(s, front_backup_plane(&f->fr, plane)))
			return false;
		nand_fill_program(&c, NAND_SRC_BACKUP, 0, f->oob);
		c.data = front_backup(&f->fr, plane, hand, &what, &c.ppn.v, f->oob);
		survey_command(&f->host.survey, &c);
		f->host.stats.backup_pages++;
		if (c.status == NAND_OK)
			break;
		front_backup_failed(&f->fr, c.ppn.v);
	}
	front_backed_up(&f->fr, plane, b, c.ppn.v);
	return true;
}

/* Set [*first, *end) to the group of the block's next MSB page. Returns true if the group is complete. */
static bool next_group(const struct page_ftl *f, uint32_t b, uint32_t *first, uint32_t *end)
{
	uint32_t k = f->bt.blk[b].next_page, fast = front_fast_taken(&f->fr, k), w = k - fast;

	*first = front_group_of(&f->fr, w);
	*end = front_group_end(&f->fr, w);
	return w < fast && *end <= fast;
}

/* Read the LSB pages of an incomplete group again to restore the parity in hand. */
static void cover_anew(struct page_mount *s, uint32_t b, uint32_t slot)
{
	struct page_ftl *f = s->f;
	uint32_t fast = front_fast_taken(&f->fr, f->bt.blk[b].next_page);

	f->bt.blk[b].lost = 0;
	if (slot < f->fr.covers && fast < f->fr.word_lines)
		f->bt.blk[b].lost = (uint16_t)cover(s, b, slot, front_group_of(&f->fr, fast), fast);
}

/*
 * Does the parity page that the survey found cover the group in its present state? It may have been
 * written before an LSB page of the group was lost, if its successor was destroyed by a torn parity
 * page on the same word line. So if MSB pages of the group have been programmed, the LSB pages are
 * read (as in the paper, which reads the active slow blocks). A parity page that another die
 * programmed may have been complete before the last LSB page was: these groups are always read.
 */
static bool covers_group(struct page_mount *s, uint32_t b, uint32_t first, uint32_t end)
{
	struct page_ftl *f = s->f;
	uint32_t k = f->bt.blk[b].next_page, msb = k - front_fast_taken(&f->fr, k), lost = 0;
	bool look = msb > first || f->fr.c.backup_ahead;
	struct front_parity p;

	if (!f->bt.blk[b].parity ||
	    !survey_readable(mount_read(s, f->bt.blk[b].parity - 1, NULL, f->oob)))
		return false;
	p = front_get_parity(&f->fr, f->oob);
	for (uint32_t w = first; w < end && look; w++)
		lost += !survey_readable(mount_read(s, lsb_page(f, b, w), NULL, f->oob));
	return p.first == first && (!look || lost == p.lost);
}

/* ---- frontiers ------------------------------------------------------------------- */

/*
 * Count the parity pages of blocks that are held or may be written further. Whether a block will be
 * written further is not known yet; if it is not, the next mount may decide otherwise.
 */
static void count_parities(struct page_mount *s)
{
	struct page_ftl *f = s->f;

	for (uint32_t b = 0; b < geo_blocks(f->g); b++) {
		struct blk *k = &f->bt.blk[b];
		bool held = rescue_holds(f, b);
		uint32_t first, end;

		if (!k->parity)
			continue;
		if (k->state != BLK_BAD && !k->backup && (held || k->valid) &&
		    (held || (next_group(f, b, &first, &end) && covers_group(s, b, first, end))))
			f->bt.blk[(k->parity - 1) / f->g->pages_per_block].live++;
		else
			k->parity = 0;
	}
}

/* Does the map need a unit of the rebuilt page? If not, an earlier mount may have written it again. */
static bool is_mapped(const struct page_ftl *f, const struct lost_page *p)
{
	for (uint32_t u = 0; u < f->shape.upp; u++)
		if (bit_get(f->map.valid, p->ppn * f->shape.upp + u))
			return true;
	return false;
}

/*
 * May a backup block be written further? Some parity page in it must still count, and no mount may
 * have replaced it; otherwise the block may be half erased. An interrupted program in it must not
 * destroy the parity page of a held block.
 */
static bool backup_goes_on(const struct page_ftl *f, uint32_t bb)
{
	uint32_t next = f->bt.blk[bb].next_page, msb = next - front_fast_taken(&f->fr, next);
	uint32_t count = f->bt.blk[bb].live;

	for (uint32_t i = 0; i < f->lost.count; i++) {
		const struct lost_page *p = &f->lost.page[i];
		uint32_t parity = f->bt.blk[p->ppn / f->g->pages_per_block].parity - 1;
		uint32_t page = parity % f->g->pages_per_block;

		if (parity / f->g->pages_per_block != bb)
			continue;
		if (f->fr.sequence != SEQ_TWO_PHASE && !(page & 1) && page / 2 >= msb)
			return false;
		count -= !is_mapped(f, p);
	}
	return count;
}

static void sort_backups(struct page_ftl *f)
{
	uint32_t room = f->fr.sequence == SEQ_TWO_PHASE ? f->fr.word_lines : f->g->pages_per_block;

	for (uint32_t b = 0; b < geo_blocks(f->g); b++) {
		struct blk *k = &f->bt.blk[b];
		uint32_t *open = &f->fr.plane[geo_plane_of(f->g, (pbn_t){ b })].backup;

		if (!k->backup || k->state == BLK_BAD)
			continue;
		if (*open == BLK_NONE && k->next_page < room && backup_goes_on(f, b)) {
			*open = b;
			k->state = BLK_OPEN;
			k->backup = BLK_BACKUP_OPEN;
		} else if (k->live) {
			k->state = BLK_OPEN;
		} else {
			blk_put_free(&f->bt, b, true);
		}
	}
}

/* Returns the slot for a block that is written further, or FRONT_NONE. */
static uint32_t slot_of(const struct page_ftl *f, uint32_t b)
{
	const struct front_plane *p = &f->fr.plane[geo_plane_of(f->g, (pbn_t){ b })];
	bool copies = f->fr.c.own && f->bt.blk[b].copies;

	if (copies && p->open[f->fr.copies] == BLK_NONE)
		return f->fr.copies;
	if (f->fr.sequence == SEQ_TWO_PHASE) {
		if (f->bt.blk[b].next_page >= f->fr.word_lines)
			return FRONT_SLOW;
		return p->open[FRONT_FAST] == BLK_NONE ? FRONT_FAST : FRONT_NONE;
	}
	for (uint32_t i = 0; !copies && i < f->fr.host_slots; i++)
		if (p->open[i] == BLK_NONE)
			return i;
	for (uint32_t i = f->fr.slots; i < f->fr.slots + FRONT_SPARES; i++)
		if (p->open[i] == BLK_NONE)
			return i;
	return FRONT_NONE;
}

/*
 * Put a block back into a slot, with the parity that it needs. If there is no slot, or no free
 * block for parity pages, close the block; its content can still be read.
 */
static void write_on(struct page_mount *s, uint32_t b)
{
	struct page_ftl *f = s->f;
	uint32_t slot = mount_goes_on(s, b) ? slot_of(f, b) : FRONT_NONE, first, end;

	if (slot != FRONT_NONE && next_group(f, b, &first, &end) && !f->bt.blk[b].parity &&
	    !back_up(s, b, first, end))
		slot = FRONT_NONE;
	if (slot == FRONT_NONE) {
		blk_close(&f->bt, b);
		return;
	}
	front_put(&f->fr, geo_plane_of(f->g, (pbn_t){ b }), slot, b);
	cover_anew(s, b, slot);
}

/*
 * Does block a get a slot before b? Slow blocks are ordered by the time at which they became slow; of other blocks the
 * last written comes first.
 */
static bool comes_before(const struct page_ftl *f, const struct blk *a, const struct blk *b)
{
	uint32_t w = f->fr.word_lines;

	if (f->fr.sequence != SEQ_TWO_PHASE || a->next_page < w || b->next_page < w)
		return a->last_order > b->last_order;
	if ((a->next_page > w) != (b->next_page > w))
		return a->next_page > w;
	return a->parity_seq < b->parity_seq;
}

/* Returns the next block of the plane that is written further and has no slot yet, or BLK_NONE. */
static uint32_t next_open(const struct page_ftl *f, uint32_t plane)
{
	uint32_t first = plane * f->g->blocks_per_plane, best = BLK_NONE;

	for (uint32_t b = first; b < first + f->g->blocks_per_plane; b++) {
		const struct blk *k = &f->bt.blk[b];

		if (k->state != BLK_VICTIM || k->backup || rescue_holds(f, b))
			continue;
		if (best == BLK_NONE || comes_before(f, k, &f->bt.blk[best]))
			best = b;
	}
	return best;
}

void rescue_frontiers(struct page_mount *s)
{
	struct page_ftl *f = s->f;

	count_parities(s);
	sort_backups(f);
	for (uint32_t p = 0; p < f->shape.planes; p++)
		for (uint32_t b = next_open(f, p); b != BLK_NONE; b = next_open(f, p))
			write_on(s, b);
}

/* ---- rewrite ------------------------------------------------------------------------ */

static void fill(struct page_ftl *f, uint32_t slot, uint32_t lpn, const uint8_t *unit)
{
	if (lpn == f->shape.dead_lpn)
		mount_fill_dead_list(f, slot_data(f, slot));
	else if (lpn >= f->shape.lpns)	/* the present trim bits: the new bitmap is later than every unit */
		wbuf_trim_bits(f, lpn - f->shape.lpns, slot_data(f, slot));
	else {
		SSD_ASSERT(unit);	/* only the dead list has no unit */
		memcpy(slot_data(f, slot), unit, f->host.c.unit_bytes);
	}
}

static int again(struct page_mount *s, uint32_t tag, const uint8_t *unit)
{
	struct page_ftl *f = s->f;
	uint32_t lpn = tag & ~OOB_LOST, slot = wbuf_hidden_slot(f, lpn);

	if (slot == NONE) {
		int err = mount_settle(s);

		if (err)
			return err;
		slot = wbuf_hidden_slot(f, lpn);
		SSD_ASSERT(slot != NONE);
	}
	f->buf.slot[slot].lost = false;
	if (tag & OOB_LOST)
		lost_slot(f, slot, lost_bits(f, unit));
	fill(f, slot, lpn, unit);
	lost_decode(f, slot);
	return SSD_OK;
}

static int rewrite_page(struct page_mount *s, uint32_t i)
{
	struct page_ftl *f = s->f;
	const uint8_t *page = lost_page(f, i), *oob = page + f->g->page_bytes;
	bool any = false;

	for (uint32_t u = 0; u < f->shape.upp; u++) {
		uint32_t tag = oob_get_lpn(oob, u), lpn = tag & ~OOB_LOST;
		int err;

		if (tag == OOB_NO_LPN || lpn >= f->shape.all_lpns || f->map.l2p[lpn] == NONE ||
		    (f->map.l2p[lpn] & ~OOB_LOST) != f->lost.page[i].ppn * f->shape.upp + u)
			continue;
		any = true;
		err = again(s, tag, page + (size_t)u * f->host.c.unit_bytes);
		if (err)
			return err;
	}
	return any || !f->lost.page[i].mark ? SSD_OK : again(s, f->shape.dead_lpn, NULL);
}

/*
 * Write a new parity page for the rest of the group, so that its block can be written further and
 * no later mount rebuilds this page again.
 */
static bool cover_without(struct page_mount *s, uint32_t ppn)
{
	struct page_ftl *f = s->f;
	uint32_t b = ppn / f->g->pages_per_block, w = ppn % f->g->pages_per_block / 2, first, end;
	bool done = back_up(s, b, front_group_of(&f->fr, w), front_group_end(&f->fr, w));

	if (done && !(next_group(f, b, &first, &end) && first == front_group_of(&f->fr, w)))
		parity_void(f, b);
	return done;
}

int rescue_rewrite(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	uint32_t count = f->lost.count;
	int err = SSD_OK;

	if (!count)
		return err;
	for (uint32_t i = 0; i < count && !err; i++)
		err = rewrite_page(s, i);
	if (!err)
		err = mount_settle(s);
	f->lost.count = 0;
	for (uint32_t i = 0; i < count && !err; i++) {
		uint32_t b = f->lost.page[i].ppn / f->g->pages_per_block;

		if (cover_without(s, f->lost.page[i].ppn))
			write_on(s, b);
		else
			blk_close(&f->bt, b);
	}
	return err;
}
