/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dac_page.h - the bytes of a page that the DAC FTL programs. Little-endian.
 *
 * Spare area, DAC_OOB_BYTES:
 *    0  1  bits 0..1 enum dac_page_kind; bit 7: with this page the collection of the block named
 *          below is complete, and that block may be erased
 *    1  5  serial: the number of this program, counted from 1
 *    6  4  with bit 7: the block (pbn)
 *   10 16  a raw page: its entry
 * On arrays with parity pages (front.h) bytes of ones follow, in the place where a parity page has
 * the number of the block that it covers.
 *
 * Packed page: 2 bytes with the number of entries, then the entries. Contents are stored from the
 * end of the page downward: the first entry's content is the last in the page, and each further
 * content is before the previous one. So entries and contents grow towards each other.
 *
 * Entry: 4 LPN (all ones: this entry maps no unit), 5 sequence, 4 object (a link:
 * all ones), 1 enum dac_kind, 2 bytes of content; a delta or link has 9 more: 4 object
 * that it refers to, 5 the sequence of that object.
 */
#ifndef SLATE_DAC_PAGE_H
#define SLATE_DAC_PAGE_H

#include "err.h"
#include "oob.h"

#define DAC_NONE 0xffffffffu
#define DAC_OOB_BYTES 26u
#define DAC_OOB_UNITS 3u		/* front.h: a spare area for this number of units holds DAC_OOB_BYTES */
#define DAC_HEAD_BYTES 2u
#define DAC_ENTRY_BYTES 16u
#define DAC_REF_BYTES 9u
#define DAC_PAGE_BYTES_MAX 32768u

enum dac_page_kind { DAC_PACKED = 1, DAC_WHOLE = 2 };

enum dac_kind {
	DAC_RAW,	/* the only entry in its page */
	DAC_COMP,	/* compressed */
	DAC_DELTA,	/* XOR with a reference, compressed */
	DAC_LINK,	/* no content: the unit is mapped to the object `ref` */
	DAC_LOST,	/* the content could not be read */
	DAC_NKINDS
};

struct dac_entry {
	uint64_t seq, ref_seq;
	uint32_t lpn, obj, ref;
	uint16_t len;
	uint8_t kind;
};

static inline bool dac_refers(unsigned int kind)
{
	return kind == DAC_DELTA || kind == DAC_LINK;
}

static inline uint32_t dac_entry_bytes(unsigned int kind)
{
	return DAC_ENTRY_BYTES + (dac_refers(kind) ? DAC_REF_BYTES : 0);
}

/* Returns the bytes that an entry and its content take in a page. */
static inline uint32_t dac_cost(unsigned int kind, uint32_t len, uint32_t page_bytes)
{
	return kind == DAC_RAW ? page_bytes : dac_entry_bytes(kind) + len;
}

/* Returns the length of the longest content that fits into an otherwise empty page. */
static inline uint32_t dac_room(unsigned int kind, uint32_t page_bytes)
{
	return page_bytes - DAC_HEAD_BYTES - dac_entry_bytes(kind);
}

static inline uint32_t dac_get4(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void dac_put_entry(uint8_t *p, const struct dac_entry *e)
{
	SSD_ASSERT(e->seq <= OOB_SEQ_MAX && e->ref_seq <= OOB_SEQ_MAX);
	oob_put4(p, e->lpn);
	oob_put5(p + 4, e->seq);
	oob_put4(p + 9, e->obj);
	p[13] = e->kind;
	p[14] = (uint8_t)e->len;
	p[15] = (uint8_t)(e->len >> 8);
	if (dac_refers(e->kind)) {
		oob_put4(p + 16, e->ref);
		oob_put5(p + 20, e->ref_seq);
	}
}

/* Decode an entry; room is the number of bytes at p. Returns false if they cannot be an entry. */
static inline bool dac_get_entry(const uint8_t *p, size_t room, struct dac_entry *e)
{
	if (room < DAC_ENTRY_BYTES)
		return false;
	e->lpn = dac_get4(p);
	e->seq = oob_get5(p + 4);
	e->obj = dac_get4(p + 9);
	e->kind = p[13];
	e->len = (uint16_t)(p[14] | p[15] << 8);
	e->ref = DAC_NONE;
	e->ref_seq = 0;
	if (e->kind >= DAC_NKINDS || room < dac_entry_bytes(e->kind))
		return false;
	if (dac_refers(e->kind)) {
		e->ref = dac_get4(p + 16);
		e->ref_seq = oob_get5(p + 20);
	}
	return true;
}

/* A walk visits the entries of a packed page. */
struct dac_walk {
	const uint8_t *page;
	uint32_t bytes;		/* size of the page */
	uint32_t left;		/* entries not yet visited */
	uint32_t at;		/* offset of the next entry */
	uint32_t content;	/* offset of the last entry's content */
};

static inline void dac_walk_begin(struct dac_walk *w, const void *page, uint32_t bytes)
{
	w->page = page;
	w->bytes = w->content = bytes;
	w->left = (uint32_t)(w->page[0] | w->page[1] << 8);
	w->at = DAC_HEAD_BYTES;
}

/* Returns 1 with the next entry in *e and its content at page + w->content, 0 at the end, or an error. */
static inline int dac_walk_next(struct dac_walk *w, struct dac_entry *e)
{
	if (!w->left)
		return 0;
	if (!dac_get_entry(w->page + w->at, w->content - w->at, e) || e->kind == DAC_RAW)
		return SSD_E_CORRUPT;
	w->at += dac_entry_bytes(e->kind);
	if (e->len > w->content - w->at)
		return SSD_E_CORRUPT;
	w->content -= e->len;
	w->left--;
	return 1;
}

/* ---- a page being filled --------------------------------------------------- */

struct dac_fill {
	uint8_t *data;			/* one page of memory */
	struct dac_entry *entry;
	uint32_t count;
	uint32_t head;			/* bytes used in front, */
	uint32_t content;		/* offset of the last content */
	uint32_t bytes;			/* size of the page */
};

static inline void dac_fill_begin(struct dac_fill *f)
{
	f->count = 0;
	f->head = DAC_HEAD_BYTES;
	f->content = f->bytes;
}

static inline bool dac_fill_fits(const struct dac_fill *f, const struct dac_entry *e)
{
	return f->content - f->head >= dac_entry_bytes(e->kind) + e->len;
}

static inline void dac_fill_add(struct dac_fill *f, const struct dac_entry *e, const void *content)
{
	SSD_ASSERT(f->data && dac_fill_fits(f, e));
	f->content -= e->len;
	if (content)
		memcpy(f->data + f->content, content, e->len);
	dac_put_entry(f->data + f->head, e);
	f->head += dac_entry_bytes(e->kind);
	f->entry[f->count++] = *e;
}

/* Complete the page: zero the bytes between head and content. */
static inline void dac_fill_seal(struct dac_fill *f)
{
	memset(f->data + f->head, 0, f->content - f->head);
	f->data[0] = (uint8_t)f->count;
	f->data[1] = (uint8_t)(f->count >> 8);
}

/* Returns the largest number of entries that a page can have. */
static inline uint32_t dac_entries_max(uint32_t page_bytes)
{
	return (page_bytes - DAC_HEAD_BYTES) / DAC_ENTRY_BYTES;
}

/* ---- spare area -------------------------------------------------------------- */

struct dac_oob {
	enum dac_page_kind kind;
	uint64_t serial;
	uint32_t collected;		/* collected block, or DAC_NONE */
	struct dac_entry entry;		/* DAC_WHOLE */
};

static inline void dac_put_oob(uint8_t *p, const struct dac_oob *o)
{
	bool last = o->collected != DAC_NONE;

	SSD_ASSERT(o->serial <= OOB_SEQ_MAX);
	memset(p, 0xff, DAC_OOB_BYTES);
	p[0] = (uint8_t)(o->kind | (last ? 0x80u : 0u));
	oob_put5(p + 1, o->serial);
	oob_put4(p + 6, o->collected);
	if (o->kind == DAC_WHOLE)
		dac_put_entry(p + 10, &o->entry);
}

static inline bool dac_get_oob(const uint8_t *p, struct dac_oob *o)
{
	o->kind = (enum dac_page_kind)(p[0] & 0x7f);
	o->serial = oob_get5(p + 1);
	o->collected = p[0] & 0x80 ? dac_get4(p + 6) : DAC_NONE;
	if (o->kind == DAC_WHOLE)
		return dac_get_entry(p + 10, DAC_ENTRY_BYTES, &o->entry) && o->entry.kind == DAC_RAW;
	return o->kind == DAC_PACKED;
}

_Static_assert(DAC_OOB_BYTES <= OOB_BYTES(DAC_OOB_UNITS), "parity pages cover the spare area");

#endif
