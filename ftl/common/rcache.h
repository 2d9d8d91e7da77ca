/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rcache.h - the controller's read cache and read-ahead, in front of any FTL.
 *
 * The cache holds whole mapping units. A read that misses fills it with the whole units that it
 * covers; a write or trim removes the units that it touches. A read is a hit if each of its units is
 * present; it then costs read_hit_ns (0: buffer_ns) and its transfer over the link. If each of its
 * units is present or on its way from flash, it waits, and is looked up again when entries have been
 * completed or removed. In all other cases the FTL reads all of it. The unit that was used least
 * recently gives way to a new one.
 *
 * Read-ahead. The cache knows the ends of the last RCACHE_STREAMS sequences of reads. From a
 * sequence's second read on, the FTL also reads what follows it (and the unit in which it ends, if
 * that is not read whole), in pieces that end at multiples of a page's units (units that were
 * written in order share a page), until ahead_units are read beyond the host's last byte. A piece is
 * read only if the cache takes at least one of its units. It reads as much metadata as the sequence's
 * last read did (ftl_io.metadata); a read with another ftl_io.metadata than a unit's entry is a miss, and its
 * entry replaces the other. These reads are I/Os of the cache: they neither cross the link nor count as
 * I/Os of the host.
 *
 * Order. A unit's entry is made when the FTL gets the read that fills it, and is removed when the
 * FTL gets a write to the unit, even if the content has not arrived yet. Until the time at which the
 * write has ended, also if the FTL reports it before (ftl.h), a read may still find the content from
 * before it, so no entry is made for the units of its buckets. Thus an entry always holds what the
 * FTL would answer.
 *
 * Invariants:
 *   RC1  each entry is in exactly one place: free, in the list by age (its content is complete), or
 *        awaited (`by` is the read in the FTL that fills it);
 *   RC2  the hash finds each entry that is not free, and no unit twice;
 *   RC3  between calls, each unit of a waiting read is present or awaited, and one is awaited;
 *   RC4  each read of the pool is either free or in the FTL (in_flight).
 *
 * Cost: O(units of the I/O), of a write or trim at most O(units of the cache); while reads wait,
 * O(their units) for each call in which entries change.
 */
#ifndef SLATE_RCACHE_H
#define SLATE_RCACHE_H

#include "host.h"

#define RCACHE_STREAMS 8u
#define RCACHE_NONE 0xffffffffu

struct rcache_entry {
	uint64_t ready_ns;	/* when the content is in memory, perhaps in the future */
	const struct ftl_io *by;	/* the read that fills the entry, or NULL */
	uint32_t unit, have;	/* number of the unit; bytes that have arrived */
	uint8_t metadata;	/* bytes of metadata of each sector, behind the unit's data */
	uint32_t hash_next;
	uint32_t older, newer;	/* links of the list by age; of a free entry: older is the next free one */
};

struct rcache_stream {
	uint64_t next;		/* byte after the last read */
	uint64_t ahead;		/* unit up to which has been read ahead */
	uint64_t used;		/* number of the read that came last */
	uint8_t metadata, owner;	/* of that read, as in struct ftl_io */
	bool twice;		/* at least two reads came one after the other */
};

struct rcache_bucket {
	uint32_t first;		/* first entry */
	uint32_t writes;	/* writes to units of the bucket that have not ended */
};

struct rcache {
	uint32_t units;			/* 0: there is no cache */
	uint32_t ahead_units;		/* 0: there is no read-ahead */
	uint32_t unit_bytes, entry_bytes, page_units, drive_units, hash_mask, aheads;
	bool payload;
	struct rcache_entry *entry;
	struct rcache_bucket *bucket;	/* hash by unit; hash_mask + 1 of them */
	uint8_t *data;			/* content of each entry; NULL without payload */
	struct ftl_io *ahead;		/* pool of reads */
	struct ftl_io *ahead_free;
	uint32_t free, oldest, newest;
	uint32_t in_flight;		/* reads ahead in the FTL */
	bool changed;			/* an entry was completed or removed after `waiting` was looked up last */
	uint64_t reads;
	struct rcache_stream stream[RCACHE_STREAMS];
	struct io_list waiting;
	uint64_t hits, ahead_read;	/* counters: reads answered, units read ahead */
};

/* Lay out the cache's memory; if m->base is NULL, only measure it. Does nothing if f has no read cache. */
void rcache_lay_out(struct rcache *c, struct ssd_arena *m, const struct ftl_config *f, uint32_t page_bytes);
/* Forget everything, also reads that have not ended: the power was lost. */
void rcache_empty(struct rcache *c);

enum rcache_found { RCACHE_MISS, RCACHE_WAIT, RCACHE_HIT };
/* Look a read up in the cache. With RCACHE_HIT *ready_ns is the time from which all of it is in memory. */
enum rcache_found rcache_find(const struct rcache *c, const struct ftl_io *io, uint64_t *ready_ns);
/* The read is a hit: copy its content to the host. */
void rcache_give(struct rcache *c, struct ftl_io *io, const struct ftl_host *shell);
/* The FTL gets the read next. Make the entries that it will fill; returns their number. */
uint32_t rcache_claim(struct rcache *c, const struct ftl_io *io);
/* Call these before the FTL gets a write or trim, and at the time when it ends. */
void rcache_write_begins(struct rcache *c, const struct ftl_io *io);
void rcache_write_ends(struct rcache *c, const struct ftl_io *io);
/* Store bytes that a read in the FTL delivers. buf: as in struct ftl_host. */
void rcache_take(struct rcache *c, const struct ftl_io *io, uint64_t at, const void *buf, size_t len);
/* A read in the FTL has ended: complete its entries, or drop them after an error. */
void rcache_ended(struct rcache *c, struct ftl_io *io);
/* Follow the host's sequences of reads. After that rcache_ahead() returns claimed reads for the FTL, until NULL. */
struct rcache_stream *rcache_follow(struct rcache *c, const struct ftl_io *io);
struct ftl_io *rcache_ahead(struct rcache *c, struct rcache_stream *s);

void rcache_check(const struct rcache *c);

#endif
