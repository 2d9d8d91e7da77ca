// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * content.c - the content of pages and their checksums. It knows neither time nor rules.
 *
 * Content that a formula made is not stored. A page is kept in units of a->unit_bytes (4096, or the
 * largest power of two that divides a page of other sizes). The *form* of a unit, a number in the table
 * form[], says where its bytes come from:
 *
 *   0             they are stored, at their physical place in the payload;
 *   1 .. 256      each byte is form - 1;
 *   257 and more  they are 64-bit little-endian words: the first is the form, and each of the others is
 *                 FORM_STEP more than the word before it (form.h).
 *
 * A drive's own content (libslate's preconditioning) has the third form, blank areas have the second. The
 * form is recognised when a page is programmed, so it does not matter who wrote the bytes; a read expands
 * it into the page register. A page whose units all have a formula is FORM and takes no payload, else it
 * is GOOD. A page becomes LOST by bit flips, which no formula has: all its units are stored then.
 *
 * The shell may say (nand_array_ends_suffice()) that units of the third form come with their first two words and
 * their last one alone, as those of preconditioning do: to make and to recognise all bytes would take most of its time.
 *
 * Cost: 8 bytes a unit; a program reads its data once more, unless its first two words refuse a formula.
 */
#include "array_impl.h"
#include "form.h"

#define FORM_STORED 0u
#define FORM_ZEROES 1u
#define FORM_BYTES_MAX 256u
#define EACH_BYTE 0x0101010101010101u

static uint64_t *forms_of(const struct nand_array *a, uint32_t ppn)
{
	return a->form + (size_t)ppn * a->units;
}

static uint8_t *stored_unit(const struct nand_array *a, uint32_t ppn, uint32_t unit)
{
	return page_payload(a, ppn) + (size_t)unit * a->unit_bytes;
}

/* Ask the shell for disk space before a page's content is stored. */
static void reserve(const struct nand_array *a, uint32_t ppn)
{
	if (SSD_UNLIKELY(a->hooks.reserve != NULL))
		a->hooks.reserve(a->hooks.opaque, (uint64_t)(page_payload(a, ppn) - (uint8_t *)a->head));
}

/* ---- forms -------------------------------------------------------------------- */

static uint64_t form_of(const uint8_t *data, uint32_t bytes, bool ends)
{
	uint64_t first, step;

	memcpy(&first, data, 8);
	memcpy(&step, data + 8, 8);
	step -= first;
	if (step ? step != FORM_STEP || first <= FORM_BYTES_MAX : first != (first & 255) * EACH_BYTE)
		return FORM_STORED;
	if (ends && step ? !form_ends_are(data, bytes, first, step) : !form_is(data, bytes, first, step))
		return FORM_STORED;
	return step ? first : FORM_ZEROES + (first & 255);
}

static void expand(uint64_t form, uint8_t *to, uint32_t bytes)
{
	if (form <= FORM_BYTES_MAX) {
		memset(to, (int)(form - FORM_ZEROES), bytes);
		return;
	}
	form_make(to, bytes, form, FORM_STEP);
}

static bool any_form(const struct nand_array *a, uint32_t ppn)
{
	const uint64_t *form = forms_of(a, ppn);
	uint64_t any = 0;

	for (uint32_t u = 0; u < a->units; u++)
		any |= form[u];
	return any;
}

/* ---- checksums ---------------------------------------------------------------- */

/*
 * A page has two checksums, one of its content and one of its OOB, because a mount reads the OOB of
 * all pages and the content of none. A page that is LOST reads as an error anyway, and an ERASED one
 * holds no data, so their checksums are not used. Bit flips and raw errors of cells are modelled
 * separately and change no checksum.
 */

/* Returns what is XORed into a page's checksums for its place, so that the content of another page is detected. */
static uint32_t sum_place(uint32_t ppn)
{
	return ppn * 0x9e3779b1u;
}

static uint32_t sum_of_oob(const struct nand_array *a, uint32_t ppn)
{
	uint32_t kept = a->base.geo.oob_kept;

	return ssd_crc32c(0, a->oob + (size_t)ppn * kept, kept) ^ sum_place(ppn);
}

/*
 * Returns the checksum of a page's content: of the units that are stored and then, if a unit is not, of the page's
 * forms.
 */
static uint32_t sum_of_content(const struct nand_array *a, uint32_t ppn)
{
	const uint64_t *form = forms_of(a, ppn);
	uint32_t crc = 0;

	if (!any_form(a, ppn))
		return ssd_crc32c(0, page_payload(a, ppn), a->base.geo.page_bytes) ^ sum_place(ppn);
	for (uint32_t u = 0; u < a->units; u++)
		if (form[u] == FORM_STORED)
			crc = ssd_crc32c(crc, stored_unit(a, ppn, u), a->unit_bytes);
	return ssd_crc32c(crc, form, a->units * 8) ^ sum_place(ppn);
}

void page_seal(struct nand_array *a, uint32_t ppn)
{
	a->sum[ppn].oob = sum_of_oob(a, ppn);
	a->sum[ppn].content = sum_of_content(a, ppn);
}

bool page_matches(const struct nand_array *a, uint32_t ppn, bool content)
{
	return a->sum[ppn].oob == sum_of_oob(a, ppn) &&
	       (!content || a->sum[ppn].content == sum_of_content(a, ppn));
}

/*
 * Move the checksums instead of computing them again, so that a copy of damaged data stays invalid.
 */
static void move_sums(struct nand_array *a, uint32_t to, uint32_t from, bool oob_too)
{
	uint32_t move = sum_place(to) ^ sum_place(from);

	a->sum[to].oob = oob_too ? a->sum[from].oob ^ move : sum_of_oob(a, to);
	a->sum[to].content = a->sum[from].content ^ move;
}

void page_upgrade(struct nand_array *a, uint32_t ppn)
{
	const uint8_t *fill = a->old_fill + ppn;
	bool right = a->sum && a->sum[ppn].content == (ssd_crc32c(0, fill, 1) ^ sum_place(ppn));

	for (uint32_t u = 0; u < a->units; u++)
		forms_of(a, ppn)[u] = FORM_ZEROES + *fill;
	if (right)
		a->sum[ppn].content = sum_of_content(a, ppn);
}

void nand_array_ends_suffice(struct nand_array *a, bool suffice)
{
	a->ends_suffice = suffice;
}

/* ---- pages -------------------------------------------------------------------- */

/* Store the content first, then the state that makes it valid. */
void page_store(struct nand_array *a, uint32_t ppn, const void *data)
{
	uint64_t *form = forms_of(a, ppn);
	enum cell to = CELL_FORM;

	for (uint32_t u = 0; u < a->units; u++) {
		const uint8_t *unit = data ? (const uint8_t *)data + (size_t)u * a->unit_bytes : NULL;

		form[u] = unit ? form_of(unit, a->unit_bytes, a->ends_suffice) : FORM_ZEROES;
		if (form[u] != FORM_STORED)
			continue;
		if (to == CELL_FORM)
			reserve(a, ppn);
		to = CELL_GOOD;
		memcpy(stored_unit(a, ppn, u), unit, a->unit_bytes);
	}
	if (a->sum)
		page_seal(a, ppn);
	image_order();
	page_mark(a, ppn, to);
}

void page_copy_content(struct nand_array *dst, uint32_t to, const struct nand_array *src, uint32_t from)
{
	uint64_t *form = forms_of(dst, to);
	const uint64_t *was = forms_of(src, from);

	for (uint32_t u = 0; u < src->units; u++) {
		form[u] = was[u];
		if (form[u] == FORM_STORED)
			memcpy(stored_unit(dst, to, u), stored_unit(src, from, u), src->unit_bytes);
	}
}

void page_copy(struct nand_array *a, uint32_t to, uint32_t from, bool oob_too)
{
	enum cell was = cell_get(a, from);

	if (a->payload) {
		if (was != CELL_FORM)
			reserve(a, to);
		page_copy_content(a, to, a, from);
		if (a->sum)
			move_sums(a, to, from, oob_too);
		image_order();
	}
	page_mark(a, to, was);
}

const void *page_content(struct nand_array *a, const struct place *p)
{
	const uint64_t *form;
	uint64_t *held;
	uint8_t *reg;

	if (!a->payload)
		return NULL;
	if (!any_form(a, p->ppn))
		return page_payload(a, p->ppn);
	form = forms_of(a, p->ppn);
	held = a->reg_form + (size_t)p->plane * a->units;
	reg = a->reg + (size_t)p->plane * a->base.geo.page_bytes;
	for (uint32_t u = 0; u < a->units; u++, reg += a->unit_bytes) {
		if (form[u] == FORM_STORED)
			memcpy(reg, stored_unit(a, p->ppn, u), a->unit_bytes);
		else if (held[u] != form[u])
			expand(form[u], reg, a->unit_bytes);
		held[u] = form[u];
	}
	return reg - a->base.geo.page_bytes;
}

/* Flip more bits than ECC corrects, at random places of the page. */
static void flip_bits(struct nand_array *a, uint32_t ppn)
{
	uint64_t *form = forms_of(a, ppn);
	uint8_t *data = page_payload(a, ppn);
	uint32_t bits = a->base.geo.page_bytes * 8, flips = 8 + a->c.physics.ecc_bits;

	reserve(a, ppn);
	for (uint32_t u = 0; u < a->units; u++) {
		if (form[u] != FORM_STORED)
			expand(form[u], stored_unit(a, ppn, u), a->unit_bytes);
		form[u] = FORM_STORED;
	}
	for (uint32_t i = 0; i < flips; i++) {
		uint32_t bit = (uint32_t)(fxp_hash(a->c.physics.seed + ppn, i) % bits);

		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

/* Destroy the page's data. The state is stored first, so that the flipped bits never read as good data. */
void page_lose(struct nand_array *a, uint32_t ppn)
{
	enum cell was = cell_get(a, ppn);

	cell_set(a, ppn, CELL_LOST);
	image_order();
	if (a->payload && was != CELL_LOST)
		flip_bits(a, ppn);
}
