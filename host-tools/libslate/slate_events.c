// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate_events.c - keeps the newest events of the drive in a ring of bytes in the image (slate_events.h).
 *
 * The word `place` has in bits 0 to 13 the offset of the oldest event in the ring, in bit 15 whether the ring is
 * initialized, in bits 16 to 31 the bytes in use, and in bits 32 to 63 the number of unsafe shutdowns that have their
 * event, modulo 2^32. `place` is stored by one instruction: after the bytes of a new event have been written, and
 * before the bytes of an event that is dropped are overwritten. So `place` always describes whole events. While bit 14
 * is set, the last SLATE_LENT_BYTES bytes are lent to a sanitize operation, and the ring ends before them. In the ring
 * an event has a head of 4 bytes (struct head): the event's length, and the number of its bytes that follow, 16 bits
 * each. The rest of the event are zeroes, which the ring leaves out.
 *
 * slate_begin_events() checks the ring once, since other programs may have written the file. All events must fit, each
 * must have the length that it states, and all together must not be too long, or all are dropped. A ring that is
 * initialized now, also in a drive of an earlier build, gets no events of earlier unsafe shutdowns.
 */
#include "slate_events.h"

#include <string.h>

#include "array.h"
#include "slate_dev.h"

#define HEAD 4u
#define RING_BYTES (NAND_OWN_BYTES - 8u)
#define BEGUN 0x8000u
#define LENT 0x4000u
#define EVENT_HEAD 24u
#define SHUTDOWNS_MAX (RING_BYTES / (HEAD + EVENT_HEAD))

struct ring {
	uint64_t place;
	uint8_t byte[RING_BYTES];
};

_Static_assert(sizeof(struct ring) == NAND_OWN_BYTES, "the ring fills what the head leaves");
_Static_assert(HEAD + SLATE_EVENT_BYTES_MAX <= RING_BYTES, "each event fits");

static struct ring *ring_of(const struct slate_dev *d)
{
	return nand_array_own(nand_array_of(d->nand));
}

static uint32_t begin_of(const struct ring *r)
{
	return (uint32_t)r->place & (LENT - 1);
}

static uint32_t used_of(const struct ring *r)
{
	return (uint32_t)r->place >> 16;
}

static uint32_t bytes_of(const struct ring *r)
{
	return r->place & LENT ? RING_BYTES - SLATE_LENT_BYTES : RING_BYTES;
}

static uint32_t told_of(const struct ring *r)
{
	return (uint32_t)(r->place >> 32);
}

static void set_place(struct ring *r, uint32_t begin, uint32_t used, uint32_t told)
{
	uint64_t place = (uint64_t)told << 32 | used << 16 | BEGUN | (r->place & LENT) | begin % bytes_of(r);

	__atomic_store_n(&r->place, place, __ATOMIC_SEQ_CST);
}

static void get(const struct ring *r, uint32_t at, void *to, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		((uint8_t *)to)[i] = r->byte[(at + i) % bytes_of(r)];
}

static void put(struct ring *r, uint32_t at, const void *from, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		r->byte[(at + i) % bytes_of(r)] = ((const uint8_t *)from)[i];
}

struct head {
	uint16_t bytes, kept;
};

static struct head head_at(const struct ring *r, uint32_t at)
{
	struct head h;

	get(r, at, &h, sizeof(h));
	return h;
}

/* Returns an event's length as its first bytes state it: 3 bytes, those after byte 2, and those after the head. */
static uint32_t own_length(const uint8_t event[EVENT_HEAD])
{
	return 3u + event[2] + event[22] + 256u * event[23];
}

static bool is_whole(const struct ring *r, uint32_t at)
{
	struct head h = head_at(r, at);
	uint8_t event[EVENT_HEAD] = { 0 };

	if (h.bytes < EVENT_HEAD || h.bytes > SLATE_EVENT_BYTES_MAX || h.kept > h.bytes)
		return false;
	get(r, at + HEAD, event, h.kept < EVENT_HEAD ? h.kept : EVENT_HEAD);
	return own_length(event) == h.bytes;
}

/* Returns the length of all events together, with the zeroes that the ring leaves out. *count: number of events. */
static uint32_t length_of_all(const struct ring *r, uint32_t *count)
{
	uint32_t bytes = 0;

	*count = 0;
	for (uint32_t at = 0; at < used_of(r); at += HEAD + head_at(r, begin_of(r) + at).kept) {
		bytes += head_at(r, begin_of(r) + at).bytes;
		*count += 1;
	}
	return bytes;
}

static bool is_sound(const struct ring *r)
{
	uint32_t at = 0, count;

	if (!(r->place & BEGUN) || begin_of(r) >= bytes_of(r) || used_of(r) > bytes_of(r))
		return false;
	while (at + HEAD <= used_of(r)) {
		if (!is_whole(r, begin_of(r) + at))
			return false;
		at += HEAD + head_at(r, begin_of(r) + at).kept;
	}
	return at == used_of(r) && length_of_all(r, &count) <= SLATE_EVENTS_BYTES_MAX;
}

void slate_begin_events(struct slate_dev *d)
{
	struct ring *r = ring_of(d);
	uint32_t unsafe = (uint32_t)d->note[SLATE_NOTE_UNSAFE];

	if (!(r->place & BEGUN))
		r->place = 0;
	if (!is_sound(r) || told_of(r) > unsafe)
		set_place(r, 0, 0, unsafe);
}

static void drop_oldest(struct ring *r)
{
	uint32_t bytes = HEAD + head_at(r, begin_of(r)).kept;

	set_place(r, begin_of(r) + bytes, used_of(r) - bytes, told_of(r));
}

static void append(struct ring *r, const uint8_t *event, size_t bytes, uint32_t told)
{
	struct head h = { .bytes = (uint16_t)bytes, .kept = (uint16_t)bytes };
	uint32_t end, count;

	SSD_ASSERT(bytes >= EVENT_HEAD && bytes <= SLATE_EVENT_BYTES_MAX && own_length(event) == bytes);
	while (!event[h.kept - 1])
		h.kept--;
	while (bytes_of(r) - used_of(r) < HEAD + h.kept || length_of_all(r, &count) + bytes > SLATE_EVENTS_BYTES_MAX)
		drop_oldest(r);
	end = begin_of(r) + used_of(r);
	put(r, end, &h, sizeof(h));
	put(r, end + HEAD, event, h.kept);
	set_place(r, begin_of(r), used_of(r) + HEAD + h.kept, told);
}

void slate_append_event(struct slate_dev *d, const void *event, size_t bytes)
{
	append(ring_of(d), event, bytes, told_of(ring_of(d)));
}

/* Move the events to the front of the ring, and lend a part or not. If the process ends meanwhile, they are lost. */
static void move_to_front(struct ring *r, uint64_t lent)
{
	uint8_t all[RING_BYTES];
	uint32_t used = used_of(r);

	get(r, begin_of(r), all, used);
	__atomic_store_n(&r->place, (uint64_t)told_of(r) << 32 | BEGUN | lent, __ATOMIC_SEQ_CST);
	put(r, 0, all, used);
	set_place(r, 0, used, told_of(r));
}

void *slate_events_lend(struct slate_dev *d)
{
	struct ring *r = ring_of(d);

	while (used_of(r) > RING_BYTES - SLATE_LENT_BYTES)
		drop_oldest(r);
	if (!(r->place & LENT))
		move_to_front(r, LENT);
	return r->byte + RING_BYTES - SLATE_LENT_BYTES;
}

const void *slate_events_lent(const struct slate_dev *d)
{
	const struct ring *r = ring_of(d);

	return r->place & LENT ? r->byte + RING_BYTES - SLATE_LENT_BYTES : NULL;
}

void slate_events_give_back(struct slate_dev *d)
{
	struct ring *r = ring_of(d);

	if (r->place & LENT)
		move_to_front(r, 0);
}

uint32_t slate_untold_shutdowns(const struct slate_dev *d)
{
	uint32_t untold = (uint32_t)d->note[SLATE_NOTE_UNSAFE] - told_of(ring_of(d));

	return untold < SHUTDOWNS_MAX ? untold : SHUTDOWNS_MAX;
}

void slate_append_shutdown(struct slate_dev *d, const void *event, size_t bytes)
{
	uint32_t untold = slate_untold_shutdowns(d);

	SSD_ASSERT(untold);
	append(ring_of(d), event, bytes, (uint32_t)d->note[SLATE_NOTE_UNSAFE] - (untold - 1));
}

size_t slate_events_bytes(const struct slate_dev *d, uint32_t *count)
{
	return length_of_all(ring_of(d), count);
}

void slate_get_events(const struct slate_dev *d, void *all)
{
	const struct ring *r = ring_of(d);
	uint32_t count;
	size_t bytes = slate_events_bytes(d, &count);
	uint8_t *to = (uint8_t *)all + bytes;

	memset(all, 0, bytes);
	for (uint32_t at = 0; at < used_of(r); at += HEAD + head_at(r, begin_of(r) + at).kept) {
		struct head h = head_at(r, begin_of(r) + at);

		to -= h.bytes;
		get(r, begin_of(r) + at + HEAD, to, h.kept);
	}
}
