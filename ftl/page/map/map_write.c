// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map_write.c - the cached map: programs map pages on an idle die, and handles the ends of these programs. It calls
 * ckpt.c for pages of checkpoints. map.c has the frames.
 */
#include "dies.h"
#include "frontier.h"
#include "map.h"
#include "map_own.h"
#include "page_state.h"

static void program(struct page_ftl *f, uint64_t now_ns, uint32_t plane, uint32_t slot, uint32_t i)
{
	struct page_cache *k = &f->cache;
	struct map_frame *fr = &k->frame[i];
	struct oob_head h = { .order = f->bt.issued, .mark = f->bt.stable, .kind = OOB_MAP };
	uint32_t die = geo_die_of_plane(f->g, plane);
	struct die *d = &f->die[die];
	struct nand_cmd c;

	nand_fill_program(&c, NAND_SRC_MAP, frontier_take(f, plane, slot, FRONT_MAP), f->oob);
	f->bt.blk[fxp_quotient(f->shape.by_block_pages, c.ppn.v)].last_order = f->bt.issued;
	oob_put_head(f->oob, &h);
	k->seq++;
	for (uint32_t u = 0; u < f->shape.upp; u++)
		oob_put_unit(f->oob, u, map_lpn_of(f, fr->page) + u, k->seq);
	fr->seq = k->seq;
	if (f->handles.count)
		handles_took_hidden(f->shape.upp, f->oob);
	metadata_blank(f, f->oob);
	c.data = &k->entry[(size_t)i * k->per];
	if (k->store)
		memcpy(k->store + (size_t)fr->page * f->g->page_bytes, c.data, f->g->page_bytes);
	die_command(f->host.n, now_ns, &c, 1);
	frame_unlist(k, i);
	fr->state = FRAME_WRITING;
	fr->again = false;
	d->turn.reads_in_row = 0;
	d->plane = plane;
	d->status[0] = (uint8_t)c.status;
	d->page[0] = c.ppn.v;
	d->page[1] = i;
	f->host.stats.map_writes++;
	f->host.stats.meta_units += f->shape.upp;
	fr->mark = h.mark;
	die_start(f, die, DIE_MAP, &c);
}

bool map_write(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	struct page_cache *k = &f->cache;
	uint32_t before;

	for (uint32_t i = k->list[ON_WRITE].oldest; i != MAP_NONE; i = before) {
		struct map_frame *fr = &k->frame[i];
		uint32_t plane = map_plane_of(f, fr->page), slot;

		before = fr->prev;
		if (!frame_may_write(f, fr)) {
			frame_settle(k, i);
			continue;
		}
		if (geo_die_of_plane(f->g, plane) != die)
			continue;
		if (map_needs_room_cached(f, plane)) {
			k->above->lacks_room(f, plane);
			frame_settle(k, i);
			continue;
		}
		if (frontier_room(f, now_ns, plane, FRONT_MAP, &slot) == ROOM_READY)
			program(f, now_ns, plane, slot, i);
		return f->die[die].op != DIE_IDLE;
	}
	return k->ckpt.state == CKPT_WRITE && ckpt_write(f, now_ns, die);
}

bool map_written(struct page_ftl *f, const struct die *d, uint64_t *mark)
{
	struct page_cache *k = &f->cache;
	struct map_frame *fr = &k->frame[d->page[1] == MAP_NONE ? 0 : d->page[1]];
	bool written = d->status[0] == NAND_OK;

	if (d->page[1] == MAP_NONE) {
		ckpt_written(f, d);
		return false;
	}
	*mark = fr->mark;
	k->writes--;
	fr->state = FRAME_READY;
	f->turn.kick = true;
	if (written) {
		for (uint32_t u = 0; u < f->shape.upp; u++)
			unit_map(f, map_lpn_of(f, fr->page) + u, d->page[0] * f->shape.upp + u, 0);
		fr->dirty = fr->again;
		k->found[fr->page].seq = fr->seq;
		ckpt_frame_written(f, fr);
	}
	frame_settle(k, d->page[1]);
	return written;
}

void map_pump_cached(struct page_ftl *f, uint64_t now_ns)
{
	bool held = map_holds_host(f);

	map_pump_frames(f, now_ns);
	ckpt_pump(f);
	if (held && !map_holds_host(f))	/* go on with the host's pages now: perhaps no event comes that would */
		map_pump_frames(f, now_ns);
}
