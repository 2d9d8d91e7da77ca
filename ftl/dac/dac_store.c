// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac_store.c - the DAC FTL: objects and the references to them, the map, live entries of pages and
 * blocks, free blocks, the reference buffer. This file uses neither time nor commands.
 */
#include "dac_store.h"
#include "dac_pick.h"

/* ---- what is live ------------------------------------------------------------ */

void dac_live_add(struct dac *d, uint32_t ppn, uint32_t bytes)
{
	uint32_t block = dac_block_of(d, ppn);
	struct dac_live *l = &d->live[ppn];

	if (!l->entries++) {
		blk_valid_add(&d->bt, block);
		dac_die_of_page(d, ppn)->live_pages++;
	}
	l->bytes = (uint16_t)(l->bytes + bytes);
	d->block[block].live_bytes += bytes;
}

void dac_live_sub(struct dac *d, uint32_t ppn, uint32_t bytes)
{
	uint32_t block = dac_block_of(d, ppn);
	struct dac_die *x = dac_die_of_page(d, ppn);
	struct dac_live *l = &d->live[ppn];

	SSD_ASSERT(l->entries && l->bytes >= bytes && d->block[block].live_bytes >= bytes);
	if (!--l->entries) {
		blk_valid_sub(&d->bt, block);
		x->live_pages--;
	}
	l->bytes = (uint16_t)(l->bytes - bytes);
	d->block[block].live_bytes -= bytes;
	if (x->no_victim) {
		x->no_victim = false;
		dac_gc_wanted(d, x);
	}
	d->more_to_do = true;
}

/* ---- objects ------------------------------------------------------------------ */

uint32_t dac_obj_new(struct dac *d, uint64_t seq)
{
	uint32_t id = d->objs.free;

	SSD_ASSERT(id != DAC_NONE);
	d->objs.free = d->objs.obj[id].unit;
	d->objs.obj[id] = (struct dac_obj){ .seq = seq, .ppn = DAC_NONE, .ref = DAC_NONE, .refs = 1,
				       .unit = DAC_NONE, .cached = DAC_NONE };
	return id;
}

void dac_obj_hold(struct dac *d, uint32_t id)
{
	SSD_ASSERT(d->objs.obj[id].refs);
	d->objs.obj[id].refs++;
}

void dac_obj_put(struct dac *d, uint32_t id)
{
	struct dac_obj *o = &d->objs.obj[id];
	uint32_t ref = o->ref;

	SSD_ASSERT(o->refs);
	if (--o->refs)
		return;
	SSD_ASSERT(!o->shares);
	if (o->ppn != DAC_NONE)
		dac_live_sub(d, o->ppn, dac_object_cost(d, o));
	dac_no_candidate(d, id);
	dac_cache_drop(d, id);
	*o = (struct dac_obj){ .ppn = DAC_NONE, .ref = DAC_NONE, .unit = d->objs.free, .cached = DAC_NONE };
	d->objs.free = id;
	if (ref != DAC_NONE)
		dac_unshare(d, ref);
}

/* Is there space for one more object that refers to this one? */
bool dac_may_share(const struct dac *d, uint32_t id)
{
	return d->objs.obj[id].shares || d->objs.shared < d->objs.shared_max;
}

void dac_share(struct dac *d, uint32_t id)
{
	dac_obj_hold(d, id);
	if (!d->objs.obj[id].shares++)
		d->objs.shared++;
}

void dac_unshare(struct dac *d, uint32_t id)
{
	SSD_ASSERT(d->objs.obj[id].shares);
	if (!--d->objs.obj[id].shares)
		d->objs.shared--;
	dac_obj_put(d, id);
}

void dac_candidate(struct dac *d, uint32_t id, const struct fingerprint *fp)
{
	uint32_t evicted;

	if (fpstore_insert(d->refs.prints, id, fp, &evicted))
		d->objs.obj[evicted].candidate = false;
	d->objs.obj[id].candidate = true;
}

void dac_no_candidate(struct dac *d, uint32_t id)
{
	if (d->objs.obj[id].candidate)
		SSD_ASSERT(fpstore_remove(d->refs.prints, id));
	d->objs.obj[id].candidate = false;
}

/* ---- the map -------------------------------------------------------------------- */

void dac_map_set(struct dac *d, uint32_t lpn, uint32_t obj, uint32_t link_at, uint64_t seq)
{
	uint32_t old = d->maps.map[lpn], old_link = d->maps.link_at[lpn];

	SSD_ASSERT(seq > d->maps.unit_seq[lpn]);
	d->maps.map[lpn] = obj;
	d->maps.link_at[lpn] = link_at;
	d->maps.unit_seq[lpn] = seq;
	if (old_link != DAC_NONE) {
		dac_live_sub(d, old_link, dac_cost(DAC_LINK, 0, d->unit_bytes));
		dac_unshare(d, old);
	} else if (old != DAC_NONE) {
		dac_obj_put(d, old);
	}
}

/* ---- blocks ---------------------------------------------------------------------- */

static struct dac_die *die_of_block(const struct dac *d, uint32_t block)
{
	return &d->die[geo_die_of(d->g, (pbn_t){ block })];
}

void dac_put_free(struct dac *d, uint32_t block, bool needs_erase)
{
	front_void(&d->fr, block);
	d->block[block] = (struct dac_block){ 0 };
	blk_put_free(&d->bt, block, needs_erase);
}

/*
 * Compute how many pages may be live, and how many of them are left for shared objects. There may
 * already be more shared objects, after a block failed or at the mount; their number then only
 * decreases. The drive is worn out if the units do not fit.
 */
void dac_count_room(struct dac *d)
{
	uint64_t need = (uint64_t)d->units + d->pages.slots;

	d->objs.room = 0;
	for (uint32_t i = 0; i < d->dies; i++)
		d->objs.room += dac_die_room(d, &d->die[i]);
	d->objs.shared_max = d->objs.room > need ? (uint32_t)(d->objs.room - need) : 0;
	d->objs.shared_most = d->objs.shared > d->objs.shared_max ? d->objs.shared : d->objs.shared_max;
	if (d->objs.room < need)
		d->host.worn = true;
}

void dac_put_bad(struct dac *d, uint32_t block)
{
	SSD_ASSERT(!d->bt.blk[block].valid);
	host_put_bad(&d->host, block);
	front_void(&d->fr, block);
	d->bt.blk[block] = (struct blk){ .state = BLK_BAD };
	die_of_block(d, block)->good_count--;
	dac_count_room(d);
}

/* ---- the reference buffer: decompressed contents of references, LRU ----------------- */

static void lru_remove(struct dac *d, uint32_t i)
{
	struct dac_cached *k = &d->refs.cached[i];

	if (k->prev != DAC_NONE)
		d->refs.cached[k->prev].next = k->next;
	else
		d->refs.lru_first = k->next;
	if (k->next != DAC_NONE)
		d->refs.cached[k->next].prev = k->prev;
	else
		d->refs.lru_last = k->prev;
}

static void lru_first(struct dac *d, uint32_t i)
{
	struct dac_cached *k = &d->refs.cached[i];

	k->prev = DAC_NONE;
	k->next = d->refs.lru_first;
	if (d->refs.lru_first != DAC_NONE)
		d->refs.cached[d->refs.lru_first].prev = i;
	else
		d->refs.lru_last = i;
	d->refs.lru_first = i;
}

static void lru_put_last(struct dac *d, uint32_t i)
{
	struct dac_cached *k = &d->refs.cached[i];

	k->next = DAC_NONE;
	k->prev = d->refs.lru_last;
	if (d->refs.lru_last != DAC_NONE)
		d->refs.cached[d->refs.lru_last].next = i;
	else
		d->refs.lru_first = i;
	d->refs.lru_last = i;
}

const uint8_t *dac_cache_get(struct dac *d, uint32_t obj)
{
	uint32_t i = d->objs.obj[obj].cached;

	if (i == DAC_NONE)
		return NULL;
	lru_remove(d, i);
	lru_first(d, i);
	return d->refs.cached[i].data;
}

void dac_cache_put(struct dac *d, uint32_t obj, const uint8_t *data)
{
	uint32_t i = d->refs.lru_last;

	if (!d->refs.caches || d->objs.obj[obj].cached != DAC_NONE)
		return;
	if (d->refs.cached_used < d->refs.caches) {
		i = d->refs.cached_used++;
	} else {
		if (d->refs.cached[i].obj != DAC_NONE)
			d->objs.obj[d->refs.cached[i].obj].cached = DAC_NONE;
		lru_remove(d, i);
	}
	lru_first(d, i);
	d->refs.cached[i].obj = obj;
	d->objs.obj[obj].cached = i;
	memcpy(d->refs.cached[i].data, data, d->unit_bytes);
}

void dac_cache_drop(struct dac *d, uint32_t obj)
{
	uint32_t i = d->objs.obj[obj].cached;

	if (i == DAC_NONE)
		return;
	d->objs.obj[obj].cached = DAC_NONE;
	d->refs.cached[i].obj = DAC_NONE;	/* the place is the first to be reused */
	lru_remove(d, i);
	lru_put_last(d, i);
}
