// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate-trace.c - tells what is in a trace ('info'), or writes it in Slate's native form or as a table ('convert').
 *
 * The footprint is counted in units of 4 KiB at multiples of 4 KiB. A bit tells that a unit of a volume was read or
 * written before; bits are kept in pieces of 16 MiB of addresses (1 KiB of memory each), in a hash table. A request of
 * more than 1 GiB is left out of the footprint, and counted, because a damaged row may name any size.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "closest.h"
#include "hist.h"
#include "plural.h"
#include "table.h"
#include "words.h"

#define OPS 4u
#define UNIT 4096u
#define PIECE_UNITS 4096u
#define LARGE ((uint64_t)1 << 30)
#define SIZES 16u			/* up to 512 bytes, 1 KiB ... */
#define VOLUME_SLOTS 16384u
#define VOLUMES (VOLUME_SLOTS / 2)
#define BAD_SHOWN 5u

static const char help[] =
"usage: slate-trace info [option ...] TRACE\n"
"       slate-trace convert [option ...] TRACE OUT\n"
"\n"
"info: requests, sizes, footprint, rewrites, sequential requests, gaps and volumes of a trace.\n"
"convert: write it in Slate's native form, with times from its first row on, to the new file OUT\n"
"or (-) to standard output; as a table if OUT ends in .parquet, .arrow or .feather. TRACE is a file\n"
"(plain, .gz or .zst; formats: docs/traces.md), or - for standard input.\n"
"\n"
"  --format NAME          of the trace (default: detected from the first 256 KiB)\n"
"  --device N | MAJ,MIN   only rows of this device\n"
"  --blk-action C         blkparse, blktrace (default Q), ftrace (default D): events of this action\n"
"  --max-bad PERMILLE     bad rows that are allowed (default 0)\n";

static const char *const op_names[OPS] = { "read", "write", "trim", "flush" };

struct piece {
	uint64_t device, number;
	uint64_t seen[PIECE_UNITS / 64], written[PIECE_UNITS / 64];
};

struct slot {
	struct piece *piece;		/* NULL: free */
};

struct volume {
	uint64_t device;
	uint64_t requests;		/* 0: the slot is free */
	uint64_t end[OPS];		/* end of the last request of each operation */
};

struct info {
	uint64_t requests[OPS], bytes[OPS], sequential[OPS], sizes[OPS][SIZES];
	uint64_t first_ns, newest_ns, backwards, rows;
	uint64_t first_byte, end_byte;
	uint64_t units, units_written, writes_of_units, rewrites, large;
	struct slot *slot;		/* a hash table */
	size_t pieces, room;		/* room: its slots, a power of two */
	struct volume volume[VOLUME_SLOTS];	/* a hash table */
	unsigned int volumes;
	uint64_t other_volumes;		/* requests of volumes for which there is no room */
	struct hist gaps;
};

static int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int fail(const char *fmt, ...)
{
	va_list ap;

	fputs("slate-trace: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 2;
}

static void on_bad(void *opaque, const char *name, uint64_t line, const char *why)
{
	uint64_t *bad = opaque;

	if ((*bad)++ < BAD_SHOWN)
		fprintf(stderr, "slate-trace: %s:%" PRIu64 ": bad row: %s\n", name, line, why);
}

/* ---- footprint ------------------------------------------------------------------ */

static size_t slot_of(const struct info *f, uint64_t device, uint64_t number)
{
	uint64_t at = (number * 0x9e3779b97f4a7c15u) ^ (device * 0xc2b2ae3d27d4eb4fu);

	for (at ^= at >> 32;; at++) {
		const struct piece *p = f->slot[at & (f->room - 1)].piece;

		if (!p || (p->device == device && p->number == number))
			return at & (f->room - 1);
	}
}

static bool grow(struct info *f)
{
	struct slot *old = f->slot;
	size_t room = f->room;

	f->room = room ? 2 * room : 1024;
	f->slot = calloc(f->room, sizeof(*f->slot));
	if (!f->slot)
		return false;
	for (size_t i = 0; i < room; i++)
		if (old[i].piece)
			f->slot[slot_of(f, old[i].piece->device, old[i].piece->number)] = old[i];
	free(old);
	return true;
}

static struct piece *piece_of(struct info *f, uint64_t device, uint64_t number)
{
	struct slot *slot;
	struct piece *piece;

	if (2 * f->pieces >= f->room && !grow(f))
		return NULL;
	slot = &f->slot[slot_of(f, device, number)];
	if (slot->piece)
		return slot->piece;
	piece = calloc(1, sizeof(*piece));
	if (!piece)
		return NULL;
	piece->device = device;
	piece->number = number;
	f->pieces++;
	return slot->piece = piece;
}

static void touch_unit(struct info *f, struct piece *p, uint64_t unit, bool write)
{
	uint64_t bit = (uint64_t)1 << unit % 64, *seen = &p->seen[unit % PIECE_UNITS / 64];
	uint64_t *written = &p->written[unit % PIECE_UNITS / 64];

	f->units += !(*seen & bit);
	*seen |= bit;
	if (!write)
		return;
	f->writes_of_units++;
	f->rewrites += (*written & bit) != 0;
	f->units_written += !(*written & bit);
	*written |= bit;
}

static int touch(struct info *f, const struct trace_row *row)
{
	struct piece *p = NULL;
	uint64_t unit = row->offset / UNIT, end = (row->offset + row->bytes + UNIT - 1) / UNIT;

	if (row->bytes > LARGE) {
		f->large++;
		return 0;
	}
	for (; unit < end; unit++) {
		if (!p || p->number != unit / PIECE_UNITS)
			p = piece_of(f, row->device, unit / PIECE_UNITS);
		if (!p)
			return fail("no memory for the footprint: take one volume by --device");
		touch_unit(f, p, unit, row->op == TRACE_WRITE);
	}
	return 0;
}

/* ---- info ----------------------------------------------------------------------- */

static struct volume *volume_of(struct info *f, uint64_t device)
{
	uint64_t at = device * 0x9e3779b97f4a7c15u >> 32;
	struct volume *v = &f->volume[at % VOLUME_SLOTS];

	while (v->requests && v->device != device)
		v = &f->volume[++at % VOLUME_SLOTS];
	if (v->requests)
		return v;
	if (f->volumes == VOLUMES)
		return NULL;
	f->volumes++;
	*v = (struct volume){ .device = device, .end = { UINT64_MAX, UINT64_MAX, UINT64_MAX } };
	return v;
}

/* Add a time of the trace. If it is before the newest one, it counts as that one. */
static void add_time(struct info *f, uint64_t at_ns)
{
	if (!f->rows++) {
		f->first_ns = f->newest_ns = at_ns;
		return;
	}
	f->backwards += at_ns < f->newest_ns;
	at_ns = at_ns < f->newest_ns ? f->newest_ns : at_ns;
	hist_add(&f->gaps, at_ns - f->newest_ns);
	f->newest_ns = at_ns;
}

static unsigned int size_class(uint64_t bytes)
{
	unsigned int i = 0;

	while (i < SIZES - 1 && bytes > (uint64_t)512 << i)
		i++;
	return i;
}

static int add_row(struct info *f, const struct trace_row *row)
{
	struct volume *v = volume_of(f, row->device);

	add_time(f, row->at_ns);
	f->requests[row->op]++;
	f->bytes[row->op] += row->bytes;
	if (v)
		v->requests++;
	else
		f->other_volumes++;
	if (row->op == TRACE_FLUSH)
		return 0;
	f->sizes[row->op][size_class(row->bytes)]++;
	f->sequential[row->op] += v && v->end[row->op] == row->offset;
	if (v)
		v->end[row->op] = row->offset + row->bytes;
	f->first_byte = row->offset < f->first_byte ? row->offset : f->first_byte;
	f->end_byte = row->offset + row->bytes > f->end_byte ? row->offset + row->bytes : f->end_byte;
	return row->op == TRACE_TRIM ? 0 : touch(f, row);
}

/* Print a / b in per cent with one decimal. */
static void print_share(const char *name, uint64_t a, uint64_t b)
{
	printf("  %-22s %5.1f %%\n", name, b ? 100.0 * (double)a / (double)b : 0.0);
}

static void print_ops(const struct info *f)
{
	for (unsigned int op = 0; op < OPS; op++)
		if (f->requests[op])
			printf("  %-6s %12" PRIu64 " requests %16" PRIu64 " bytes, mean %" PRIu64
			       ", %.1f %% sequential\n", op_names[op], f->requests[op], f->bytes[op],
			       f->bytes[op] / f->requests[op],
			       100.0 * (double)f->sequential[op] / (double)f->requests[op]);
}

static void print_sizes(const struct info *f)
{
	printf("  sizes, %% of reads and of writes\n");
	for (unsigned int i = 0; i < SIZES; i++) {
		uint64_t reads = f->sizes[TRACE_READ][i], writes = f->sizes[TRACE_WRITE][i];

		if (reads || writes)
			printf("    %s %9" PRIu64 " bytes %6.1f %6.1f\n", i < SIZES - 1 ? "up to    " : "more than",
			       (uint64_t)512 << (i < SIZES - 1 ? i : i - 1),
			       reads ? 100.0 * (double)reads / (double)f->requests[TRACE_READ] : 0.0,
			       writes ? 100.0 * (double)writes / (double)f->requests[TRACE_WRITE] : 0.0);
	}
}

static void print_gaps(const struct info *f)
{
	if (!f->gaps.count)
		return;
	printf("  time   %.9f s; gaps in us: mean %.3f, p50 %.3f, p99 %.3f, max %.3f\n",
	       (double)(f->newest_ns - f->first_ns) / 1e9, (double)f->gaps.sum_ns / (double)f->gaps.count / 1e3,
	       (double)hist_percentile(&f->gaps, 500000) / 1e3, (double)hist_percentile(&f->gaps, 990000) / 1e3,
	       (double)f->gaps.max_ns / 1e3);
	if (f->backwards)
		printf("  %" PRIu64 " row%s earlier than a row before\n", f->backwards,
		       f->backwards == 1 ? " is" : "s are");
}

static int by_requests(const void *a, const void *b)
{
	const struct volume *x = a, *y = b;

	if (x->requests != y->requests)
		return x->requests < y->requests ? 1 : -1;
	return x->device < y->device ? -1 : x->device > y->device;
}

static void print_volumes(struct info *f)
{
	qsort(f->volume, VOLUME_SLOTS, sizeof(f->volume[0]), by_requests);
	printf("  volumes %s%u\n", f->other_volumes ? "more than " : "", f->volumes);
	for (unsigned int i = 0; f->volumes > 1 && i < f->volumes && i < 10; i++)
		printf("    --device %-12" PRIu64 " %12" PRIu64 " request%s\n", f->volume[i].device,
		       f->volume[i].requests, plural(f->volume[i].requests));
}

static void print_info(struct info *f, const struct trace *t)
{
	struct trace_counts c;

	trace_get_counts(t, &c);
	printf("%s: %s, %" PRIu64 " request%s, %" PRIu64 " bad row%s, %" PRIu64 " passed over\n", trace_name(t),
	       trace_format_names[trace_format(t)], f->rows, plural(f->rows), c.bad, plural(c.bad), c.passed);
	print_ops(f);
	print_share("share of reads", f->requests[TRACE_READ], f->requests[TRACE_READ] + f->requests[TRACE_WRITE]);
	if (f->end_byte)
		printf("  addresses %" PRIu64 " .. %" PRIu64 "; footprint %" PRIu64 " bytes, of these written %" PRIu64
		       "\n", f->first_byte, f->end_byte, f->units * UNIT, f->units_written * UNIT);
	print_share("rewrites of 4 KiB", f->rewrites, f->writes_of_units);
	if (f->large)
		printf("  %" PRIu64 " request%s of more than 1 GiB not in the footprint\n", f->large, plural(f->large));
	print_sizes(f);
	print_gaps(f);
	print_volumes(f);
}

/* ---- convert ---------------------------------------------------------------------- */

static void write_row(FILE *out, const struct trace_row *row, uint64_t at_ns)
{
	static const char *const crossings[] = { "", " cross=command", " cross=nothing" };

	fprintf(out, "%" PRIu64 " %" PRIu64 " %s", at_ns, row->device, op_names[row->op]);
	if (row->op != TRACE_FLUSH)
		fprintf(out, " %" PRIu64 " %" PRIu64, row->offset, row->bytes);
	fputs(row->fua ? " fua" : "", out);
	if (row->handle)
		fprintf(out, " handle=%u", row->handle);
	fputs(crossings[row->crossing], out);
	fputs(row->lost ? " lost" : "", out);
	if (row->priority)
		fprintf(out, " priority=%u", row->priority);
	fputc('\n', out);
}

/* Write a line of a table's columns (slate_lib/tables.py). Empty: none. */
static void write_cells(FILE *out, const struct trace_row *row, uint64_t at_ns)
{
	static const char *const crossings[] = { "", "command", "nothing" };

	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%s,", at_ns, row->device, op_names[row->op]);
	if (row->op != TRACE_FLUSH)
		fprintf(out, "%" PRIu64 ",%" PRIu64, row->offset, row->bytes);
	else
		fputc(',', out);
	fprintf(out, ",%d,%u,%s,%d,%u\n", row->fua, row->handle, crossings[row->crossing], row->lost, row->priority);
}

/* The new file, which has another name until it is complete. A program that gets lines writes a table (table.h). */
struct made {
	const char *name, *kind;	/* kind: of a table; NULL: the native form */
	char *part;			/* NULL: standard output */
	bool has_part;			/* this program made it */
	FILE *lines;
	struct table_program program;	/* of a table; its fd is that of `lines` */
};

/* ---- both ------------------------------------------------------------------------- */

/* Check that there are rows of the device that was asked for, and not too many bad ones. */
static int check_rows(const struct trace *t, uint64_t allowed_permille)
{
	struct trace_counts c;

	trace_get_counts(t, &c);
	if (!c.rows && c.other_devices) {
		fail("trace %s: none of its %" PRIu64 " requests is of that --device: 'info' without it lists those "
		     "that there are", trace_name(t), c.other_devices);
		return 1;
	}
	if (c.bad * 1000 <= allowed_permille * (c.bad + c.rows))
		return 0;
	fail("trace %s, read as %s: %" PRIu64 " of %" PRIu64 " rows are bad (the first are above): repair them, name "
	     "the right --format, or allow more by --max-bad", trace_name(t), trace_format_names[trace_format(t)],
	     c.bad, c.bad + c.rows);
	return 1;
}

/* Read the trace; each request goes to `info`, or to `out` if that is set. */
static int read_all(struct trace *t, struct info *info, const struct made *out)
{
	struct trace_row row;
	bool begun = false;
	uint64_t first = 0;
	int result;

	while ((result = trace_next(t, &row)) > 0) {
		if (row.op >= OPS)
			continue;
		if (!out && add_row(info, &row))
			return 2;
		if (!out)
			continue;
		first = begun ? first : row.at_ns;
		begun = true;
		(out->kind ? write_cells : write_row)(out->lines, &row, row.at_ns > first ? row.at_ns - first : 0);
	}
	return result ? fail("%s", trace_error(t)) : 0;
}

static int tell(struct trace *t, uint64_t max_bad)
{
	struct info *f = calloc(1, sizeof(*f));
	int result;

	if (!f)
		return fail("no memory");
	f->first_byte = UINT64_MAX;
	hist_clear(&f->gaps);
	result = read_all(t, f, NULL);
	if (!result)
		result = check_rows(t, max_bad);
	if (!result)
		print_info(f, t);
	for (size_t i = 0; i < f->room && f->slot; i++)
		free(f->slot[i].piece);
	free(f->slot);
	free(f);
	return result;
}

static bool is_same_file(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* ---- the file that convert makes -------------------------------------------------- */

/* Returns "parquet" or "arrow" if the file's name ends so, else NULL. */
static const char *table_kind(const char *name)
{
	static const struct { const char *end, *kind; } kinds[] = {
		{ ".parquet", "parquet" }, { ".arrow", "arrow" }, { ".feather", "arrow" },
	};
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t end = strlen(kinds[i].end);

		if (len > end && !strcmp(name + len - end, kinds[i].end))
			return kinds[i].kind;
	}
	return NULL;
}

/* Create the new file OUT.part, and for a table start the program that writes it. */
static int make_part(struct made *m)
{
	char **words;

	if (asprintf(&m->part, "%s.part", m->name) < 0) {
		m->part = NULL;
		return fail("no memory");
	}
	m->lines = fopen(m->part, "wx");
	if (!m->lines)
		return errno == EEXIST ?
		       fail("%s: is there already, where %s would grow: move it away, or name another OUT", m->part,
			    m->name) :
		       fail("%s: cannot be written there: name a file in a folder that can be written to", m->name);
	m->has_part = true;
	if (!m->kind)
		return 0;
	fclose(m->lines);
	m->lines = NULL;
	words = table_words(m->kind, m->part, NULL, true);
	if (!words)
		return fail("%s: is a table, which this program writes only if it is started by 'slate': write 'slate "
			    "trace convert', or leave out the ending", m->name);
	if (table_start(&m->program, words, true))
		m->lines = fdopen(m->program.fd, "w");
	free(words);
	return m->lines ? 0 : fail("%s: python3, which writes tables, cannot be started: install it", m->name);
}

/* Close the lines. Returns 0 if all was written. */
static int close_lines(struct made *m)
{
	char why[256] = "free some space";
	bool good = !fflush(m->lines) && !ferror(m->lines);

	if (m->lines != stdout)
		good = !fclose(m->lines) && good;
	m->lines = NULL;
	m->program.fd = -1;
	if (m->kind)
		good = table_end(&m->program, why, sizeof(why)) && good;
	return good ? 0 : fail("%s: cannot be written: %s", m->name, why);
}

/* Write all rows, and give the file its name. */
static int fill(struct trace *t, struct made *m, uint64_t max_bad)
{
	int result;

	fputs(m->kind ? "" : "# slate-trace 1\n", m->lines);
	result = read_all(t, NULL, m);
	if (!result)
		result = check_rows(t, max_bad);
	if (!result)
		result = close_lines(m);
	if (!result && m->part && rename(m->part, m->name))
		result = fail("%s: cannot be renamed to it: name a file", m->name);
	return result;
}

static int convert(struct trace *t, uint64_t max_bad, const char *name)
{
	struct made m = { .name = name, .kind = table_kind(name), .program = { .fd = -1, .said = -1 } };
	bool to_stdout = !strcmp(name, "-");
	int result;

	if (trace_has_content(t))
		return fail("%s: has the data of writes, which the native form can not hold: replay it as it is",
			    trace_name(t));
	if (is_same_file(trace_name(t), name))
		return fail("%s: is the trace itself: name another file for OUT", name);
	if (!to_stdout && !access(name, F_OK))
		return fail("%s: is there already: name a new file for OUT, or - and send it there", name);
	if (m.kind)			/* a program that ends early is an error of a write */
		signal(SIGPIPE, SIG_IGN);
	if (to_stdout)
		m.lines = stdout;
	result = to_stdout ? 0 : make_part(&m);
	if (!result)
		result = fill(t, &m, max_bad);
	if (m.lines && !to_stdout)
		fclose(m.lines);
	m.program.fd = -1;
	table_stop(&m.program);
	if (result && m.has_part)
		unlink(m.part);
	free(m.part);
	return result;
}

static int take_options(struct trace_choice *choice, int argc, char **argv)
{
	static const struct option options[] = {
		TRACE_LONG_OPTIONS, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
	};
	char why[192], err[TRACE_ERR_BYTES];
	const char *word;
	int c;

	opterr = 0;
	word = closest_abbreviation(options, argc, argv, false);
	if (word)
		return fail("%s", closest_complaint(options, word, why));
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			exit(0);
		}
		if (c == '?')
			return fail("%s", closest_complaint(options, argv[optind - 1], why));
		if (c == TRACE_OPT_FOLD || c == TRACE_OPT_SCALE)
			return fail("--%s: is for replays: leave it out", option_name(options, c));
		if (!trace_take_option(choice, (enum trace_option)c, optarg, err))
			return fail("%s", err);
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t bad = 0;
	struct trace_choice choice = {
		.options = { .device = TRACE_ANY_DEVICE, .untimed = false, .bad = on_bad, .opaque = &bad },
	};
	char err[TRACE_ERR_BYTES];
	struct trace *t;
	bool converts;
	int result = take_options(&choice, argc, argv);

	if (result)
		return result;
	converts = optind < argc && !strcmp(argv[optind], "convert");
	if (optind == argc || (!converts && strcmp(argv[optind], "info") != 0))
		return fail("%s: expected info or convert, see --help", optind < argc ? argv[optind] : "no command");
	if (argc - optind != (converts ? 3 : 2))
		return fail("%s: expected %s, see --help", argv[optind], converts ? "TRACE and OUT" : "one TRACE");
	if (trace_open(&t, argv[optind + 1], &choice.options, err))
		return fail("%s", err);
	result = converts ? convert(t, choice.max_bad_permille, argv[optind + 2]) : tell(t, choice.max_bad_permille);
	trace_close(t);
	if (!result && (fflush(stdout) || ferror(stdout)))
		result = fail("standard output cannot be written to: free some space, or send it elsewhere");
	return result;
}
