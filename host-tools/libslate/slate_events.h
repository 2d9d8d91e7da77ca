/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slate_events.h - the newest events of the drive's life, which the shell records: NVMe's persistent event log.
 *
 * The image's head has the events, as it has the numbers for SMART. So they outlive power cuts and the process, and
 * take no device time. A power cut, or the end of the process at any instruction, leaves each event whole or absent.
 * When a new event needs room, the oldest ones are dropped. An event takes 4 bytes, and its bytes up to the last one
 * that is not 0. The lengths of all events, zeroes included, add up to at most SLATE_EVENTS_BYTES_MAX bytes.
 *
 * libslate reads only the lengths of an event: byte 2 (bytes after it in the event's head) and bytes 22 and 23 (bytes
 * after the head).
 */
#ifndef SLATE_EVENTS_H
#define SLATE_EVENTS_H

#include "slate.h"

#define SLATE_EVENT_BYTES_MAX 1024u
#define SLATE_EVENTS_BYTES_MAX (64u * 1024 - 512)	/* and 512 of the log's head: 64 KiB, as Identify's PELS says */

/* Record an event. bytes: 24 .. SLATE_EVENT_BYTES_MAX, and as the event itself says. */
void slate_append_event(struct slate_dev *d, const void *event, size_t bytes);
/*
 * slate_untold_shutdowns() returns the number of unsafe shutdowns (SMART's number) without an event yet, since the
 * power is on again after them, or since the drive was opened after a shell that was killed: at most as many as the
 * ring has room for. slate_append_shutdown() appends the event of one of them, and counts it.
 */
uint32_t slate_untold_shutdowns(const struct slate_dev *d);
void slate_append_shutdown(struct slate_dev *d, const void *event, size_t bytes);
/*
 * Bytes of the ring that the drive uses for itself during a sanitize operation, at the cost of the oldest events, and
 * which outlive power cuts and the process as well. slate_events_lent() returns NULL if none are lent.
 */
#define SLATE_LENT_BYTES 512u
void *slate_events_lend(struct slate_dev *d);
const void *slate_events_lent(const struct slate_dev *d);
void slate_events_give_back(struct slate_dev *d);
/* Copy all events, the newest first, one after the other; slate_events_bytes() returns their length. */
size_t slate_events_bytes(const struct slate_dev *d, uint32_t *count);
void slate_get_events(const struct slate_dev *d, void *all);

#endif
