// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profile.c - see profile.h. The INI syntax is libinih's, with three differences: lines longer than
 * its buffer are refused instead of cut; an indented line is an ordinary line and does not continue
 * the value before it; and every complaint names its line.
 */
#include "profile_keys.h"

#include <errno.h>
#include <ini.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "closest.h"
#include "nand_geom.h"
#include "oob.h"
#include "save.h"

#define PACKED_FROM_BYTES (256u << 20)	/* of spare areas that are not packed, in all */
#define PACKED_BLOCK_BYTES 4096u	/* and of a block, which takes 644 bytes or more if they are packed */

#define VALUE_BYTES 128		/* a value's text: nine numbers of ten digits and commas */

const char *const profile_no_ftl[] = { "none", NULL };

enum { FROM_DEFAULT, FROM_OVERRIDE = -1 };	/* other numbers are lines of the file */

struct given {
	int from;
	unsigned int count;		/* number of values given, for a list */
};

struct parse {
	struct profile *p;
	const char *path;
	bool kept;			/* the settings of a drive file, which names every key */
	int line;			/* number of the last line read */
	struct given *key;		/* by a key's index */
	char *err;
	int result;
	int bad_line;			/* line number of the first error reported */
};

__attribute__((format(printf, 2, 0)))
static void vcomplain(struct parse *s, const char *fmt, va_list ap)
{
	if (s->result)
		return;		/* only the first complaint is reported */
	s->result = SSD_E_INVAL;
	s->bad_line = s->line;
	vsnprintf(s->err, SLATE_ERR_BYTES, fmt, ap);
}

__attribute__((format(printf, 2, 3)))
static void complain(struct parse *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vcomplain(s, fmt, ap);
	va_end(ap);
}

/* Returns the origin as text: "file:line", "override", or for a default only the file. */
static const char *where(const struct parse *s, int from, char out[256])
{
	if (from == FROM_OVERRIDE)
		return "override";
	snprintf(out, 256, from == FROM_DEFAULT ? "%.200s" : "%.200s:%d", s->path, from);
	return out;
}

/* Complain about the value of a key, with its origin and the value. */
__attribute__((format(printf, 3, 4)))
static void complain_of(struct parse *s, const struct profile_key *k, const char *fmt, ...)
{
	size_t i = k->index;
	char value[VALUE_BYTES], place[256], text[SLATE_ERR_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	profile_key_print(k, s->p, s->key[i].count, value, sizeof(value));
	complain(s, "%s: %s.%s = %s: %s", where(s, s->key[i].from, place), k->section, k->knob->name, value,
		 text);
}

static void no_such_section(struct parse *s, const char *place, const char *section, const char *name)
{
	char known[160] = "", elsewhere[160];
	const char *last = "";
	size_t used = 0;

	for (size_t i = 0; i < profile_key_count(); i++) {
		const char *one = profile_key_at(i)->section;

		if (strcmp(one, last) && !strstr(known, one) && used < sizeof(known) - 32)
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "", one);
		last = one;
	}
	complain(s, "%s: no such section: [%s] (key %s); there are %s%s", place, section, name, known,
		 profile_key_meant(name, elsewhere, sizeof(elsewhere)));
}

static void unknown_key(struct parse *s, int from, const char *section, const char *name)
{
	char known[320] = "", place[256], meant[96] = "";
	struct closest near = { .word = name };
	const char *more = "";
	size_t used = 0;

	for (size_t i = 0; i < profile_key_count(); i++) {
		if (strcmp(profile_key_at(i)->section, section))
			continue;
		closest_see(&near, profile_key_at(i)->knob->name);
		if (used < sizeof(known) - 32)
			used += (size_t)snprintf(known + used, sizeof(known) - used, " %s",
						 profile_key_at(i)->knob->name);
		else
			more = " ... (all: slate profiles keys)";
	}
	if (near.best)
		snprintf(meant, sizeof(meant), "did you mean %s.%s? ", section, near.best);
	if (*known)
		complain(s, "%s: no such key: %s.%s; %s[%s] has:%s%s", where(s, from, place), section,
			 name, meant, section, known, more);
	else
		no_such_section(s, where(s, from, place), section, name);
}

static void set_key(struct parse *s, int from, const char *section, const char *name,
		    const char *value)
{
	const struct profile_key *k = profile_key_find(section, name);
	char why[SLATE_ERR_BYTES / 2], place[256];
	size_t i;

	if (!k) {
		unknown_key(s, from, section, name);
		return;
	}
	i = k->index;
	if (from > 0 && s->key[i].from) {
		complain(s, "%s: %s.%s is given twice; keep one", where(s, from, place), section, name);
		return;
	}
	s->key[i].from = from;
	s->key[i].count = profile_key_set(k, s->p, value, why, sizeof(why));
	if (!s->key[i].count)
		complain(s, "%s: %s.%s = '%.80s': must be %s", where(s, from, place), section, name,
			 value, why);
}

/* ---- the file ----------------------------------------------------------- */

static int on_key(void *opaque, const char *section, const char *name, const char *value)
{
	struct parse *s = opaque;

	set_key(s, s->line, section, name, value);
	return s->result == 0;
}

struct source {
	FILE *in;
	struct parse *s;
};

/*
 * libinih's reader: like fgets, but it refuses lines that are too long and removes indentation. A line has room for
 * its newline, because newer versions of libinih take a full buffer without one for the begin of a longer line.
 */
static char *next_line(char *out, int room, void *opaque)
{
	struct source *src = opaque;
	char place[256];
	size_t len;
	int next;

	if (src->s->result || !fgets(out, room, src->in))
		return NULL;
	src->s->line++;
	len = strlen(out);
	next = len && out[len - 1] == '\n' ? '\n' : getc(src->in);
	if ((next != '\n' && next != EOF) || (len == (size_t)room - 1 && out[len - 1] != '\n')) {
		complain(src->s, "%s: longer than %d characters, or not text: shorten it, or move its "
			 "comment to a line of its own", where(src->s, src->s->line, place), room - 2);
		return NULL;
	}
	len = strspn(out, " \t");
	memmove(out, out + len, strlen(out + len) + 1);
	return out;
}

static void read_file(struct parse *s)
{
	struct source src = { fopen(s->path, "r"), s };
	char place[256];
	struct stat st;
	int line;

	if (!src.in) {
		complain(s, "profile %s: %s; give the path of a drive's .ini file", s->path,
			 strerror(errno));
		return;
	}
	if (!fstat(fileno(src.in), &st) && S_ISDIR(st.st_mode)) {
		complain(s, "profile %s: is a directory; give the path of a drive's .ini file", s->path);
		fclose(src.in);
		return;
	}
	line = ini_parse_stream(next_line, &src, on_key, s);
	if (ferror(src.in))
		complain(s, "profile %s: cannot be read; give the path of a drive's .ini file", s->path);
	fclose(src.in);
	if (line > 0 && (!s->result || line < s->bad_line)) {	/* not a complaint of on_key() */
		s->result = 0;
		complain(s, "%s: not an INI line; expected [section], key = value or ; comment",
			 where(s, line, place));
	}
	s->line = 0;
}

static void read_override(struct parse *s, const char *text)
{
	char section[64], name[64];
	const char *eq = strchr(text, '='), *dot = strchr(text, '.');
	char meant[160];

	if (eq && eq > text && eq - text < 64 && (!dot || dot > eq)) {
		snprintf(name, sizeof(name), "%.*s", (int)(eq - text), text);
		complain(s, "override '%.200s': has no section; write it as section.key=value%s", text,
			 profile_key_meant(name, meant, sizeof(meant)));
		return;
	}
	if (!eq || !dot || dot > eq || dot == text || dot - text >= 64 || eq - dot > 64) {
		complain(s, "override '%.200s': write it as section.key=value, "
			 "for instance ftl.gc_mode=blocking", text);
		return;
	}
	snprintf(section, sizeof(section), "%.*s", (int)(dot - text), text);
	snprintf(name, sizeof(name), "%.*s", (int)(eq - dot - 1), dot + 1);
	set_key(s, FROM_OVERRIDE, section, name, eq + 1);
}

static void defaults(struct parse *s)
{
	char range[SLATE_ERR_BYTES / 2];

	for (size_t i = 0; i < profile_key_count(); i++) {
		const struct profile_key *k = profile_key_at(i);

		if (s->key[i].from)
			continue;
		if (!k->knob->fallback) {
			profile_key_range(k, range, sizeof(range));
			complain(s, "%s: %s.%s is missing; add it to [%s], %s", s->path, k->section,
				 k->knob->name, k->section, range);
			return;
		}
		s->key[i].count = profile_key_set(k, s->p, k->knob->fallback, range, sizeof(range));
		SSD_ASSERT(s->key[i].count);
	}
}

static void name_after_file(struct profile *p, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t len = strcspn(base, ".");

	if (!*p->name)
		snprintf(p->name, sizeof(p->name), "%.*s",
			 (int)(len < PROFILE_NAME_BYTES ? len : PROFILE_NAME_BYTES - 1), base);
	if (!profile_plain(p->name))	/* settings are stored as lines of text */
		strcpy(p->name, "unnamed");
}

/* ---- what follows from the keys together -------------------------------- */

/* Returns how many values a list must have, once the other keys are known. */
static unsigned int list_length(const struct profile *p, const struct profile_key *k)
{
	const struct nand_geometry *g = &p->array.geo;

	if (k->knob->type == KNOB_BY_LEVEL)
		return g->pb_levels + 1;
	/* A word line that is programmed at once has only one time. */
	if (g->one_shot && k->at == offsetof(struct profile, array.timing.program_ns))
		return 1;
	return g->bits_per_cell;
}

static void wrong_length(struct parse *s, const struct profile_key *k, unsigned int want)
{
	unsigned int has = s->key[k->index].count;

	if (want == 1)
		complain_of(s, k, "has %u values; give one: there is one %s", has,
			    k->knob->type == KNOB_BY_LEVEL ? "size to erase, the block (geometry.pb_levels = 0)" :
			    s->p->array.geo.one_shot ? "time for a word line (geometry.one_shot = yes)" :
			    "type of page (geometry.bits_per_cell = 1)");
	else
		complain_of(s, k, "has %u values; give one for all, or %u: %s", has, want,
			    k->knob->type == KNOB_BY_LEVEL ? "geometry.pb_levels + 1, the block first" :
			    "geometry.bits_per_cell, the LSB page first");
}

static void spread_lists(struct parse *s)
{
	for (size_t i = 0; i < profile_key_count(); i++) {
		const struct profile_key *k = profile_key_at(i);
		uint32_t *values = (uint32_t *)(void *)((char *)s->p + k->at);
		unsigned int want = list_length(s->p, k);

		if (!profile_key_is_list(k))
			continue;
		if (s->key[i].count != 1 && s->key[i].count != want) {
			wrong_length(s, k, want);
			return;
		}
		for (unsigned int v = 1; v < want && s->key[i].count == 1; v++)
			values[v] = values[0];
		s->key[i].count = want;
	}
}

static void check_ecc(struct parse *s)
{
	const struct nand_physics *f = &s->p->array.physics;

	if (f->relocate_bits > f->ecc_bits)
		complain_of(s, profile_key_find("reliability", "relocate_bits"),
			    "must be at most reliability.ecc_bits, %u: what has more errors is lost",
			    f->ecc_bits);
}

static int32_t q16(double v)
{
	return (int32_t)lround(v * 65536);
}

/* Returns log2 of a coefficient in Q16. A coefficient of 0 becomes 2^-1000, which is 0 in the arithmetic. */
static int32_t q16_log2(double c)
{
	return q16(c > 0 ? log2(c) : -1000);
}

static void derive_errors(struct parse *s)
{
	static const char *const keys[] = { "eps", "alpha", "k", "beta", "m", "n", "gamma", "p", "q" };
	const struct profile_key *rber = profile_key_find("reliability", "rber");
	struct nand_physics *f = &s->p->array.physics;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct profile_key *k = profile_key_find("reliability", keys[i]);

		if (s->key[k->index].from && !s->key[rber->index].from)
			complain_of(s, k, "means nothing without reliability.rber; say rber = powerlaw, "
				    "or rber = off to keep the key for later");
		if (!s->key[k->index].from && f->rber_on)
			complain_of(s, rber, "needs reliability.%s as well; eps, alpha, k, beta, m, n, "
				    "gamma, p and q make the model", keys[i]);
	}
	if (!f->rber_on)
		return;
	if (!f->ecc_bits)
		complain_of(s, rber, "needs reliability.ecc_bits, the errors that an ECC word may have; "
			    "0 would lose every page");
	f->eps_log2 = q16_log2(s->p->rber.eps);
	f->alpha_log2 = q16_log2(s->p->rber.alpha);
	f->k = q16(s->p->rber.k);
	f->beta_log2 = q16_log2(s->p->rber.beta);
	f->m = q16(s->p->rber.m);
	f->n = q16(s->p->rber.n);
	f->gamma_log2 = q16_log2(s->p->rber.gamma);
	f->p = q16(s->p->rber.p);
	f->q = q16(s->p->rber.q);
}

/*
 * Report a fault that the core found. The core's messages begin with the name of the field, so that
 * the origin of the key's value can be added. `note` (may be empty) ends the message.
 */
static void blame(struct parse *s, const char *section, const char *why, const char *note)
{
	const struct profile_key *k = NULL;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strspn(why, "abcdefghijklmnopqrstuvwxyz_0123456789"),
		 why);
	for (size_t i = 0; i < profile_key_count() && !k; i++)
		if (!strcmp(profile_key_at(i)->knob->name, name) && strcmp(profile_key_at(i)->section, "precondition"))
			k = profile_key_at(i);
	if (k)
		complain_of(s, k, "%s%s", why, note);
	else
		complain(s, "%s: [%s] %s%s", s->path, section, why, note);
}

/* Returns the pages of the array, or 0 with a complaint if there are too many. */
static uint64_t count_pages(struct parse *s)
{
	const struct nand_geometry *g = &s->p->array.geo;
	const uint32_t parts[] = { g->channels, g->chips_per_channel, g->dies_per_chip,
				   g->planes_per_die, g->blocks_per_plane, g->pages_per_block };
	uint64_t pages = 1;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		pages *= parts[i];
		if (pages >= 1ull << 31) {
			complain(s, "%s: [geometry]: the array may have at most 2^31 pages; use fewer "
				 "or larger pages", s->path);
			return 0;
		}
	}
	return pages;
}

/*
 * Choose the exported size, given by capacity_mib or by op_permille. If a file has one and an override the other, the
 * override counts. Both in one place are a contradiction, unless op_permille is the default, as in a drive's printed
 * settings. A drive file keeps both.
 */
static void choose_capacity(struct parse *s)
{
	const struct profile_key *op = profile_key_find("ftl", "op_permille");
	const struct profile_key *size = profile_key_find("ftl", "capacity_mib");
	int from_op = s->key[op->index].from, from_size = s->key[size->index].from;
	bool is_default = s->p->op_permille == strtoull(op->knob->fallback, NULL, 10);

	if (s->kept || !s->p->capacity_mib || from_op == FROM_DEFAULT)
		return;
	if (from_op == FROM_OVERRIDE && from_size > 0)
		s->p->capacity_mib = 0;
	else if (!is_default && (from_size > 0) == (from_op > 0))
		complain_of(s, op, "ftl.capacity_mib = %llu gives the exported size already: leave one of the two "
			    "out", (unsigned long long)s->p->capacity_mib);
}

/*
 * Reset the keys that belong to a profile's own FTL to their defaults, if an override of ftl.type chooses another FTL.
 */
static void drop_foreign(struct parse *s)
{
	if (s->key[profile_key_find("ftl", "type")->index].from != FROM_OVERRIDE)
		return;
	for (size_t i = 0; i < profile_key_count(); i++)
		if (s->key[i].from > 0 && profile_key_is_foreign(profile_key_at(i), s->p->ops))
			s->key[i].from = FROM_DEFAULT;
}

/* Does the key's value differ from its default? */
static bool is_changed(const struct parse *s, const struct profile_key *k)
{
	char value[VALUE_BYTES];

	profile_key_print(k, s->p, s->key[k->index].count, value, sizeof(value));
	return !k->knob->fallback || strcmp(value, k->knob->fallback);
}

/*
 * Refuse a key that the FTL would ignore, unless it has its default value: a drive's printed settings name every key.
 */
static void refuse_foreign(struct parse *s)
{
	char owners[160];

	for (size_t i = 0; i < profile_key_count(); i++) {
		const struct profile_key *k = profile_key_at(i);

		if (s->key[i].from == FROM_DEFAULT || !profile_key_is_foreign(k, s->p->ops) || !is_changed(s, k))
			continue;
		profile_key_owners(k, owners, sizeof(owners));
		complain_of(s, k, "is not a key of ftl.type = %s, but of: %s; leave it out", s->p->ftl_type,
			    *owners ? owners : "no FTL of this program");
		return;
	}
}

/* Rank where a key's value comes from: 0 its default, 1 the profile's file, 2 an override (--set). */
static int nearness(const struct parse *s, const struct profile_key *k)
{
	int from = s->key[k->index].from;

	return from == FROM_DEFAULT ? 0 : from == FROM_OVERRIDE ? 2 : 1;
}

/*
 * Refuse a key of a mode that is off. A mode that was switched off where the key was given, or nearer to the user,
 * keeps the key for later.
 */
static void refuse_unread(struct parse *s)
{
	const struct profile_mode *m;
	char value[VALUE_BYTES], values[96];

	for (size_t i = 0; (m = profile_mode_at(i)); i++) {
		const struct profile_key *k = profile_key_named(m->key), *owner = profile_key_named(m->owner);

		if (!k || !owner)	/* no FTL of this build has it */
			continue;
		if (nearness(s, k) <= nearness(s, owner) || profile_mode_is_on(m, s->p) || !is_changed(s, k))
			continue;
		profile_key_print(owner, s->p, 1, value, sizeof(value));
		profile_mode_print(m, values, sizeof(values));
		complain_of(s, k, "means nothing with %s = %s; say %s there, or leave %s out", m->owner, value, values,
			    k->knob->name);
		return;
	}
}

/* Refuse a drive that lies about flushes, and that has nothing to lose by it. */
static void check_lie(struct parse *s)
{
	const struct ftl_config *c = &s->p->ftl;
	const struct ftl_ops *ops = s->p->ops;
	const struct profile_key *lie = profile_key_find("drive", "ignore_flush");

	if (!s->p->ignore_flush || !ops)
		return;
	if (c->power_protected)
		complain_of(s, lie, "must be no with ftl.power_protected = yes: the drive loses nothing that it has "
			    "completed, flushed or not");
	else if (ops->durability == FTL_WRITE_THROUGH && c->accounting != FTL_ACCOUNT_SSDSIM)
		complain_of(s, lie, "must be no with ftl.type = %s: what it has completed is on flash", ops->name);
}

/* Write which hold_up_ns would suffice, or that no value of the key does. */
static void say_needed(const struct profile *p, char *note, size_t room)
{
	unsigned long long needed = save_needed_ns(p->ops, &p->ftl, &p->array.geo);

	snprintf(note, room, needed > KNOB_NS_MAX ? ", since raising it cannot help: %llu ns would be needed" :
		 ", or raise it to %llu or more", needed);
}

static void derive_capacity(struct parse *s, uint64_t raw)
{
	struct profile *p = s->p;
	char note[96] = "";
	const char *why;

	if (p->capacity_mib) {
		p->ftl.capacity_bytes = p->capacity_mib << 20;
	} else {
		p->ftl.capacity_bytes = raw * 1000 / (1000 + p->op_permille);
		p->ftl.capacity_bytes -= p->ftl.capacity_bytes % p->ftl.unit_bytes;
	}
	if (p->ops && ftl_validate(p->ops, &p->ftl, &p->array.geo, &why)) {
		if (!strncmp(why, "oob_bytes ", 10))
			snprintf(note, sizeof(note), " to %u", ftl_oob_bytes(p->ops, &p->ftl, &p->array.geo));
		else if (strstr(why, "units per page"))
			snprintf(note, sizeof(note), " (%u planes, %u units per page)", geo_planes(&p->array.geo),
				 p->array.geo.page_bytes / p->ftl.unit_bytes);
		else if (strstr(why, "capacity"))
			snprintf(note, sizeof(note), " (exported %llu MiB of %llu MiB raw)",
				 (unsigned long long)(p->ftl.capacity_bytes >> 20), (unsigned long long)(raw >> 20));
		else if (!strncmp(why, "hold_up_ns is too short", 23))
			say_needed(p, note, sizeof(note));
		blame(s, "ftl", why, note);
	} else if (!p->ops && p->ftl.capacity_bytes > raw) {
		complain_of(s, profile_key_find("ftl", "capacity_mib"),
			    "is more than the array holds, %llu MiB: lower it",
			    (unsigned long long)(raw >> 20));
	}
}

/*
 * Derive the link's rate. Each generation carries these Mbit/s of data per lane: 2.5 and 5 GT/s carry 8 bits in 10, 8,
 * 16 and 32 GT/s 128 in 130, 64 GT/s (flits) 236 bytes in 256. Of these, data_permille are payload (PCI Express Base
 * Specification: 256-byte packets with 26 bytes of framing, sequence number, header and CRC leave 907).
 */
static void derive_link(struct parse *s)
{
	static const uint32_t mbit_s[] = { 0, 2000, 4000, 7877, 15754, 31508, 59000 };
	struct profile *p = s->p;
	uint64_t kbyte_s = (uint64_t)mbit_s[p->link.generation] * 125 * p->link.lanes *
			   p->link.data_permille / 1000;

	if (p->link.lanes & (p->link.lanes - 1))
		complain_of(s, profile_key_find("link", "lanes"), "must be 1, 2, 4, 8 or 16");
	p->ftl.link_ps_per_byte = kbyte_s ? (uint32_t)((1000000000ull + kbyte_s / 2) / kbyte_s) : 0;
}

static void check_read_cache(struct parse *s)
{
	const struct ftl_config *c = &s->p->ftl;
	uint32_t page_units = s->p->array.geo.page_bytes / c->unit_bytes, half = c->read_cache_units / 2;

	if (c->read_cache_units && !c->cores)
		complain_of(s, profile_key_find("controller", "read_cache_units"),
			    "must be 0 unless controller.cores says how many cores look units up in the cache: "
			    "set cores");
	else if (c->read_cache_units && s->p->ops && s->p->ops->zones)
		complain_of(s, profile_key_find("controller", "read_cache_units"),
			    "must be 0, because ftl.type = zns has no read cache");
	if (c->read_hit_ns && !c->read_cache_units)
		complain_of(s, profile_key_find("controller", "read_hit_ns"),
			    "must be 0 without a read cache: set controller.read_cache_units");
	if (c->read_ahead_units && half < page_units)
		complain_of(s, profile_key_find("controller", "read_ahead_units"),
			    "needs a read cache of at least %lu units (two pages): raise controller.read_cache_units, "
			    "or set read_ahead_units to 0", (unsigned long)page_units * 2);
	else if (c->read_ahead_units && (c->read_ahead_units > half || c->read_ahead_units < page_units))
		complain_of(s, profile_key_find("controller", "read_ahead_units"),
			    "must be %lu (the units of a page) .. %lu (half of controller.read_cache_units), or 0",
			    (unsigned long)page_units, (unsigned long)half);
}

static void check_controller(struct parse *s)
{
	if (s->p->ftl.completion_ns && !s->p->ftl.cores)
		complain_of(s, profile_key_find("controller", "completion_ns"),
			    "must be 0 unless controller.cores says how many cores spend it: set cores, or add the "
			    "time to ftl.overhead_ns");
	if (s->p->ftl.dram_mb_s && !s->p->ftl.cores)
		complain_of(s, profile_key_find("controller", "dram_mb_s"),
			    "must be 0 unless controller.cores says how many cores the memory serves: set cores");
	if (s->p->ftl.arbitration != FTL_ARBITRATION_FIFO && !s->p->ftl.cores)
		complain_of(s, profile_key_find("controller", "arbitration"),
			    "must be fifo unless controller.cores says how many cores the commands wait for: set "
			    "cores");
}

/*
 * Check that the drive can have a table of namespaces. An ordinary write stores it, so the drive must keep content, and
 * take writes anywhere.
 */
static void check_namespaces(struct parse *s)
{
	const struct profile *p = s->p;
	const char *why = NULL;

	if (p->ops && p->ops->zones)
		why = "must be 0, because ftl.type = zns has zones, and their drive is one namespace";
	else if (!p->ftl.payload)
		why = "must be 0 with ftl.payload = no, because flash keeps the namespaces' table as data";
	if (p->ftl.namespaces && why)
		complain_of(s, profile_key_find("drive", "namespaces"), "%s", why);
}

static void derive(struct parse *s)
{
	struct profile *p = s->p;
	struct nand_geometry *g = &p->array.geo;
	uint64_t pages = count_pages(s);
	const char *why;

	if (!g->ecc_word_bytes)
		g->ecc_word_bytes = g->page_bytes;
	spread_lists(s);
	check_ecc(s);
	derive_errors(s);
	derive_link(s);
	check_controller(s);
	check_namespaces(s);
	if (s->result)
		return;
	check_read_cache(s);
	p->array.timing.gc_holds_bus = p->ftl.accounting == FTL_ACCOUNT_SSDSIM;
	p->ftl.timing = p->array.timing;
	derive_capacity(s, pages * g->page_bytes);
	if (!s->result && !s->kept) {
		refuse_foreign(s);
		if (p->ops)
			refuse_unread(s);
		check_lie(s);
	}
	if (p->ftl.unit_bytes > g->page_bytes)
		g->oob_kept = 0;
	else if (p->ops)
		g->oob_kept = ftl_oob_bytes(p->ops, &p->ftl, g);
	else
		g->oob_kept = OOB_BYTES(g->page_bytes / p->ftl.unit_bytes);
	if (!p->ops && g->oob_kept > g->oob_bytes)
		g->oob_kept = g->oob_bytes;	/* the FTL decides how much of it is kept */
	p->ftl.disturb_tolerance = p->array.physics.disturb_tolerance;
	p->array.payload = p->ftl.payload;
	p->array.owners = p->ftl.namespaces > 1;
	if (!s->result && nand_array_validate(&p->array, &why))
		blame(s, "geometry", why, "");
}

void profile_set_image(struct profile *p, bool in_file)
{
	const struct nand_geometry *g = &p->array.geo;
	bool in_order = !p->ftl.map_cache_pages && !p->ftl.placement_handles && !p->ftl.metadata_bytes;

	p->array.sums = in_file && p->array.payload;
	if (!in_file && in_order && p->ftl.unit_bytes && nand_array_packs(&p->array) &&
	    g->pages_per_block * g->oob_kept >= PACKED_BLOCK_BYTES &&
	    (uint64_t)geo_pages(g) * g->oob_kept >= PACKED_FROM_BYTES)
		p->array.packed_addresses = (uint32_t)(p->ftl.capacity_bytes / p->ftl.unit_bytes);
}

int profile_load(struct profile *p, const char *path, const char *const *overrides,
		 char err[SLATE_ERR_BYTES])
{
	struct parse s = { .p = p, .path = path ? path : "drive file", .kept = !path, .err = err };

	s.key = calloc(profile_key_count(), sizeof(*s.key));
	SSD_ASSERT(s.key);
	memset(p, 0, sizeof(*p));
	*err = 0;
	if (path)
		read_file(&s);
	for (size_t i = 0; overrides && overrides[i] && !s.result; i++)
		read_override(&s, overrides[i]);
	if (!s.result) {
		drop_foreign(&s);
		defaults(&s);
	}
	if (!s.result) {
		name_after_file(p, s.path);
		choose_capacity(&s);
	}
	if (!s.result)
		derive(&s);
	free(s.key);
	return s.result;
}

size_t profile_print(const struct profile *p, char *out, size_t room)
{
	size_t used = 0;

	for (size_t i = 0; i < profile_key_count(); i++) {
		const struct profile_key *k = profile_key_at(i);
		char value[VALUE_BYTES];

		profile_key_print(k, p, list_length(p, k), value, sizeof(value));
		used += (size_t)snprintf(out && used < room ? out + used : NULL,
					 out && used < room ? room - used : 0, "%s.%s=%s\n",
					 k->section, k->knob->name, value);
	}
	return used;
}
