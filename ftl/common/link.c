// SPDX-License-Identifier: GPL-2.0-or-later
/* link.c - see link.h */
#include "link.h"

static void forget(struct link_way *w, uint64_t now_ns)
{
	uint32_t ended = 0;

	while (ended < w->count && w->span[ended].end_ns <= now_ns)
		ended++;
	w->count -= ended;
	memmove(w->span, w->span + ended, w->count * sizeof(*w->span));
}

/* Insert [start, end) before span i, and join it with spans that it touches (LINK1). */
static void insert(struct link_way *w, uint32_t i, uint64_t start_ns, uint64_t end_ns)
{
	bool before = i && w->span[i - 1].end_ns == start_ns;
	bool after = i < w->count && w->span[i].start_ns == end_ns;

	if (before && after) {
		w->span[i - 1].end_ns = w->span[i].end_ns;
		w->count--;
		memmove(w->span + i, w->span + i + 1, (w->count - i) * sizeof(*w->span));
	} else if (before) {
		w->span[i - 1].end_ns = end_ns;
	} else if (after) {
		w->span[i].start_ns = start_ns;
	} else {
		memmove(w->span + i + 1, w->span + i, (w->count - i) * sizeof(*w->span));
		w->span[i] = (struct link_span){ start_ns, end_ns };
		w->count++;
	}
}

uint64_t link_hold(struct link_way *w, uint64_t now_ns, uint64_t earliest_ns, uint64_t len)
{
	uint64_t at = earliest_ns;
	uint32_t i;

	if (!len)
		return earliest_ns;
	forget(w, now_ns);
	if (w->count == LINK_SPANS && at < w->span[w->count - 1].end_ns)
		at = w->span[w->count - 1].end_ns;	/* LINK2 */
	for (i = 0; i < w->count; i++) {
		if (w->span[i].end_ns < at)
			continue;
		if (w->span[i].start_ns >= at + len)
			break;
		if (w->span[i].end_ns > at)
			at = w->span[i].end_ns;
	}
	if (w->count == LINK_SPANS && w->span[w->count - 1].end_ns < at) {	/* LINK2: no room for a gap */
		w->span[w->count - 1].end_ns = at + len;
		return at + len;
	}
	insert(w, i, at, at + len);
	return at + len;
}

uint64_t link_move(struct link_way *w, uint64_t now_ns, uint64_t earliest_ns, uint64_t bytes,
		   uint32_t ps_per_byte)
{
	return link_hold(w, now_ns, earliest_ns, link_transfer_ns(bytes, ps_per_byte));
}
