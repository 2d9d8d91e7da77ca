// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options.c - slate-replay's command line. It checks every value, and the combination of options
 * (table `rules`). A message names the option and the valid values.
 */
#define _GNU_SOURCE
#include "replay.h"

#include "closest.h"
#include "profile_keys.h"
#include "slate_power.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
"usage: slate-replay --profile FILE [option ...] TRACE ...\n"
"\n"
"Replay traces on an emulated SSD in virtual time. TRACE is a file (plain, .gz or .zst;\n"
"formats: docs/traces.md), - for standard input, or a generator:\n"
"gen:rand4k,foot=3400MiB,n=3000000[,seed=1][,read=PERMILLE][,fill=128KiB][,gap=NS]\n"
"[,hot=20:80][,content=zero|random|text|similar], gen:seq128k,foot=1GiB, or a skewed one:\n"
"gen:zipf4k:3+64k:1,theta=0.99,foot=1GiB,n=1000000 (docs/replay.md). Several traces are several streams.\n"
"\n"
"the drive\n"
"  --profile FILE         an .ini file, or (slate replay) a name; default: the profile in --drive\n"
"  --set SECTION.KEY=V    override a value of the profile; repeatable\n"
"  --drive FILE           a drive file; with --profile made if it does not exist\n"
"  --ephemeral            start from the drive file, but write nothing to it\n"
"  --fill PCT             first write so many per cent of it in order, in no device time\n"
"  --age X                then overwrite X times its capacity in random units (0 .. 100)\n"
"how\n"
"  --closed QD            up to QD requests of each stream in flight (default: 1)\n"
"  --think                ... keep the gaps between the trace's times as think times\n"
"  --open                 submit at the trace's times\n"
"  --speed X              ... (or those gaps) X times as fast (0.001 .. 1000000)\n"
"  --common-clock         streams do not each begin at 0\n"
"  --no-flush             leave out flushes, and the FUA of writes\n"
"  --repeat N             replay each trace N times\n"
"  --limit N              stop after N requests\n"
"  --warmup N             begin the statistics when request N completes\n"
"  --recorded             TRACE is a recording of 'slate run --record' or --record: make the\n"
"                         same calls at the same times, and compare every completion\n"
"  --cut-at NS            with --open and --drive: the drive loses its power at this ns of its own\n"
"                         clock, which is the trace's; the file is left as the cut leaves it\n"
"  --cut-seed N           seed of the content of torn cells (default 0)\n"
"  --cut-what WHAT        power (default), or controller: it alone loses its memory, also with\n"
"                         capacitors, and no page is torn\n"
"  --unflushed            the JSON lists the writes and trims that the cut may take\n"
"  --survivors            ... and mounts the drive, and counts their sectors that are there\n"
"  --cuts FILE            with --open, --drive and --ephemeral, for each line NS SEED IMAGE: cut a\n"
"                         copy of the replay then, mount the drive, write what it has to IMAGE,\n"
"                         and the JSON's power and gc to IMAGE.json. The times must not fall\n"
"  --cuts-run PROGRAM     ... and execute PROGRAM IMAGE before the replay goes on; it must succeed\n"
"  --until NS             leave out requests later than this, and flush the drive at the end\n"
"  --lose FILE            leave out the requests in FILE: a line NUMBER for each, from 0 on; or\n"
"                         NUMBER FROM TO: of that write only these bytes happen\n"
"the trace\n"
"  --format NAME          of the traces (default: detected from the first 256 KiB): native, msr,\n"
"                         ssdsim, disksim, alibaba, tencent, systor, k5cloud, fiu, spc,\n"
"                         cloudphysics, blkparse, fio, ftrace, blktrace, vscsi, content,\n"
"                         parquet, arrow, oracleGeneral:unit=512[,op=write]; or the columns of yours:\n"
"                         csv:time=5us,op=2:r/w,offset=3*512,bytes=4[,volume=1][,sep=blank][,skip=N],\n"
"                         parquet:time=issued,op=kind:r/w,offset=sector*512,bytes=size[,volume=disk]\n"
"  --device N | MAJ,MIN   only rows of this device\n"
"  --blk-action C         blkparse, blktrace (default Q), ftrace (default D): events of this action\n"
"  --max-bad PERMILLE     bad rows that are allowed (default 0)\n"
"  --fold                 addresses beyond the drive: modulo its capacity\n"
"  --scale[=SIZE]         scale all addresses, and the lengths of trims: the trace's extent or\n"
"                         SIZE becomes the capacity\n"
"  --align sector|unit    widen requests to whole sectors (default) or mapping units\n"
"  --handles WHICH        placement handles of writes: trace (default), as its rows name them;\n"
"                         stream, the trace's number from 0 on; none, all 0\n"
"what comes out\n"
"  --json FILE|-          all results (docs/replay.md)\n"
"  --csv FILE|-           a line for each request\n"
"  --commands FILE        a line for each NAND command that changes cells\n"
"  --interval MS          a time series in the JSON\n"
"  --timeline             what 'slate report --html' draws over time, in the JSON\n"
"  --check[=N]            verify content, and the FTL's invariants every N requests\n"
"                         (default 100000); sets ftl.payload=yes\n"
"  --read-back            with --check: at the end read all written sectors again,\n"
"                         outside all figures\n"
"  --record FILE          record the calls, for --recorded\n"
"  --record-content FILE  record the requests and what is written (docs/content-trace.md)\n"
"  --wall                 also the host's times in the JSON\n"
"Without --check no data are kept (ftl.payload=no), unless --set says otherwise, the\n"
"drive is a file, or a trace says what is written (content, gen: with content=).\n";

enum {
	OPT_PROFILE = 256, OPT_SET, OPT_DRIVE, OPT_EPHEMERAL, OPT_FILL, OPT_AGE, OPT_CLOSED, OPT_THINK, OPT_OPEN,
	OPT_SPEED, OPT_COMMON_CLOCK, OPT_REPEAT, OPT_LIMIT, OPT_WARMUP, OPT_RECORDED, OPT_ALIGN, OPT_JSON, OPT_CSV,
	OPT_INTERVAL, OPT_CHECK, OPT_RECORD, OPT_RECORD_CONTENT, OPT_READ_BACK, OPT_WALL, OPT_NO_FLUSH, OPT_TIMELINE,
	OPT_CUT_AT, OPT_CUT_SEED, OPT_CUT_WHAT, OPT_UNFLUSHED, OPT_SURVIVORS, OPT_UNTIL, OPT_LOSE, OPT_CUTS,
	OPT_CUTS_RUN, OPT_HANDLES, OPT_COMMANDS, OPT_HELP
};

static const struct option long_options[] = {
	{ "profile", required_argument, NULL, OPT_PROFILE },
	{ "set", required_argument, NULL, OPT_SET },
	{ "drive", required_argument, NULL, OPT_DRIVE },
	{ "ephemeral", no_argument, NULL, OPT_EPHEMERAL },
	{ "fill", required_argument, NULL, OPT_FILL },
	{ "age", required_argument, NULL, OPT_AGE },
	{ "closed", required_argument, NULL, OPT_CLOSED },
	{ "open", no_argument, NULL, OPT_OPEN },
	{ "think", no_argument, NULL, OPT_THINK },
	{ "speed", required_argument, NULL, OPT_SPEED },
	{ "common-clock", no_argument, NULL, OPT_COMMON_CLOCK },
	{ "no-flush", no_argument, NULL, OPT_NO_FLUSH },
	{ "repeat", required_argument, NULL, OPT_REPEAT },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "recorded", no_argument, NULL, OPT_RECORDED },
	{ "cut-at", required_argument, NULL, OPT_CUT_AT },
	{ "cut-seed", required_argument, NULL, OPT_CUT_SEED },
	{ "cut-what", required_argument, NULL, OPT_CUT_WHAT },
	{ "unflushed", no_argument, NULL, OPT_UNFLUSHED },
	{ "survivors", no_argument, NULL, OPT_SURVIVORS },
	{ "until", required_argument, NULL, OPT_UNTIL },
	{ "cuts", required_argument, NULL, OPT_CUTS },
	{ "cuts-run", required_argument, NULL, OPT_CUTS_RUN },
	{ "lose", required_argument, NULL, OPT_LOSE },
	TRACE_LONG_OPTIONS,
	{ "align", required_argument, NULL, OPT_ALIGN },
	{ "handles", required_argument, NULL, OPT_HANDLES },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "csv", required_argument, NULL, OPT_CSV },
	{ "commands", required_argument, NULL, OPT_COMMANDS },
	{ "interval", required_argument, NULL, OPT_INTERVAL },
	{ "timeline", no_argument, NULL, OPT_TIMELINE },
	{ "check", optional_argument, NULL, OPT_CHECK },
	{ "record", required_argument, NULL, OPT_RECORD },
	{ "record-content", required_argument, NULL, OPT_RECORD_CONTENT },
	{ "read-back", no_argument, NULL, OPT_READ_BACK },
	{ "wall", no_argument, NULL, OPT_WALL },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 }
};

static int get_number(int c, const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
	char err[TRACE_ERR_BYTES];

	if (!trace_take_number(option_name(long_options, c), text, low, high, out, err))
		return replay_fail(REPLAY_USAGE, "%s", err);
	return 0;
}

static int get_speed(int c, const char *text, uint64_t *out)
{
	char err[TRACE_ERR_BYTES];

	if (!trace_take_speed(option_name(long_options, c), text, out, err))
		return replay_fail(REPLAY_USAGE, "%s", err);
	return 0;
}

static int add_set(struct replay_options *o, const char *text)
{
	const char *equals = strchr(text, '=');
	char name[64], meant[160];

	if (!equals || !memchr(text, '.', (size_t)(equals - text))) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
		return replay_fail(REPLAY_USAGE, "--set %s: is not SECTION.KEY=VALUE%s", text,
				   profile_key_meant(name, meant, sizeof(meant)));
	}
	if (o->sets == REPLAY_SETS_MAX)
		return replay_fail(REPLAY_USAGE, "--set: more than %u of them: write a profile",
				   REPLAY_SETS_MAX);
	o->user_payload = o->user_payload || !strncmp(text, "ftl.payload=", 12);
	o->set[o->sets++] = text;
	return 0;
}

/*
 * --fill is in per cent and --age in multiples of the capacity; the profile's keys are in permille.
 */
static int add_precondition(struct replay_options *o, int c, const char *text, unsigned int places)
{
	char err[TRACE_ERR_BYTES];
	uint64_t v;
	char *set;

	if (!trace_take_share(option_name(long_options, c), text, places, 100, &v, err))
		return replay_fail(REPLAY_USAGE, "%s", err);
	if (asprintf(&set, "precondition.%s_permille=%" PRIu64, option_name(long_options, c), v) < 0)
		return replay_fail(REPLAY_FAILED, "no memory");
	return add_set(o, set);
}

/* Returns where an option without a value is stored; NULL for another option. */
static bool *flag_at(struct replay_options *o, int c)
{
	switch (c) {
	case OPT_EPHEMERAL:
		return &o->ephemeral;
	case OPT_THINK:
		return &o->think;
	case OPT_COMMON_CLOCK:
		return &o->common_clock;
	case OPT_NO_FLUSH:
		return &o->no_flush;
	case OPT_READ_BACK:
		return &o->read_back;
	case OPT_TIMELINE:
		return &o->timeline;
	case OPT_WALL:
		return &o->wall;
	case OPT_UNFLUSHED:
		return &o->unflushed;
	case OPT_SURVIVORS:
		o->unflushed = true;
		return &o->survivors;
	}
	return NULL;
}

/* Returns where an option with a file name is stored; NULL for another option. */
static const char **file_at(struct replay_options *o, int c)
{
	switch (c) {
	case OPT_PROFILE:
		return &o->profile;
	case OPT_DRIVE:
		return &o->drive;
	case OPT_JSON:
		return &o->json;
	case OPT_CSV:
		return &o->csv;
	case OPT_COMMANDS:
		return &o->commands;
	case OPT_RECORD:
		return &o->record;
	case OPT_RECORD_CONTENT:
		return &o->record_content;
	case OPT_LOSE:
		return &o->lose;
	case OPT_CUTS:
		return &o->cuts;
	case OPT_CUTS_RUN:
		return &o->cuts_run;
	}
	return NULL;
}

static int take_trace_option(struct replay_options *o, int c, const char *text)
{
	char err[TRACE_ERR_BYTES];

	return trace_take_option(&o->rows, (enum trace_option)c, text, err) ? 0 : replay_fail(REPLAY_USAGE, "%s", err);
}

/* Handle an option that says how requests are issued. */
static int take_loop(struct replay_options *o, int c, const char *text)
{
	uint64_t qd;

	o->loop = c == OPT_OPEN ? REPLAY_OPEN : c == OPT_RECORDED ? REPLAY_RECORDED : REPLAY_CLOSED;
	if (c != OPT_CLOSED)
		return 0;
	if (get_number(c, text, 1, 65536, &qd))
		return REPLAY_USAGE;
	o->qd = (uint32_t)qd;
	return 0;
}

static int take_interval(struct replay_options *o, const char *text)
{
	uint64_t ms;

	if (get_number(OPT_INTERVAL, text, 1, 1000000000, &ms))
		return REPLAY_USAGE;
	o->interval_ns = ms * 1000000;
	return 0;
}

static int take_align(struct replay_options *o, const char *text)
{
	o->align_units = !strcmp(text, "unit");
	return o->align_units || !strcmp(text, "sector") ? 0 :
	       replay_fail(REPLAY_USAGE, "--align %s: is neither sector nor unit: give one", text);
}

static int take_handles(struct replay_options *o, const char *text)
{
	static const char *const names[] = { "trace", "stream", "none" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i])) {
			o->handles = (enum replay_handles)i;
			return 0;
		}
	return replay_fail(REPLAY_USAGE, "--handles %s: is not trace, stream or none: give one", text);
}

static int take_value(struct replay_options *o, int c, const char *text)
{
	switch (c) {
	case OPT_SET:
		return add_set(o, text);
	case OPT_FILL:
		return add_precondition(o, c, text, 1);
	case OPT_AGE:
		return add_precondition(o, c, text, 3);
	case OPT_CLOSED:
	case OPT_OPEN:
	case OPT_RECORDED:
		return take_loop(o, c, text);
	case OPT_SPEED:
		return get_speed(c, text, &o->speed);
	case OPT_REPEAT:
		return get_number(c, text, 1, 1000000000, &o->repeat);
	case OPT_LIMIT:
		return get_number(c, text, 1, UINT64_MAX, &o->limit);
	case OPT_WARMUP:
		return get_number(c, text, 1, UINT64_MAX, &o->warmup);
	case OPT_INTERVAL:
		return take_interval(o, text);
	case OPT_CUT_AT:
		o->cut = true;
		return get_number(c, text, 0, SLATE_CUT_NS_MAX, &o->cut_ns);
	case OPT_CUT_SEED:
		return get_number(c, text, 0, UINT64_MAX, &o->cut_seed);
	case OPT_CUT_WHAT:
		o->cut_controller = !strcmp(text, "controller");
		return o->cut_controller || !strcmp(text, "power") ? 0 :
		       replay_fail(REPLAY_USAGE, "--cut-what %s: is neither power nor controller: give one", text);
	case OPT_UNTIL:
		o->until = true;
		return get_number(c, text, 0, SLATE_CUT_NS_MAX, &o->until_ns);
	case OPT_ALIGN:
		return take_align(o, text);
	case OPT_HANDLES:
		return take_handles(o, text);
	case OPT_CHECK:
		o->check = true;
		return text ? get_number(c, text, 1, UINT64_MAX, &o->check_every) : 0;
	}
	return take_trace_option(o, c, text);
}

static int take_option(struct replay_options *o, int c, const char *text)
{
	const char **file = file_at(o, c);
	bool *flag = flag_at(o, c);

	if (file)
		*file = text;
	else if (flag)
		*flag = true;
	else
		return take_value(o, c, text);
	return 0;
}

/* The rules below test these properties of the command line. */
enum {
	SAYS_TRACE = 1u << 0,
	SAYS_OPEN = 1u << 1,
	SAYS_CLOSED = 1u << 2, /* also set by default */
	SAYS_RECORDED = 1u << 3,
	SAYS_TWO_LOOPS = 1u << 4,
	SAYS_THINK = 1u << 5,
	SAYS_SPEED = 1u << 6,
	SAYS_COMMON_CLOCK = 1u << 7,
	SAYS_PROFILE = 1u << 8,
	SAYS_DRIVE = 1u << 9,
	SAYS_EPHEMERAL = 1u << 10,
	SAYS_CUT = 1u << 11,
	SAYS_CUT_SEED = 1u << 12,
	SAYS_SEVERAL = 1u << 13, /* several traces, or one trace several times */
	SAYS_PART = 1u << 14,	 /* not all requests, or requests that are changed */
	SAYS_CHECK = 1u << 15,
	SAYS_READ_BACK = 1u << 16,
	SAYS_STDIN_TWICE = 1u << 17,
	SAYS_CSV_IS_JSON = 1u << 18,
	SAYS_RECORD_IS_OUTPUT = 1u << 19,
	SAYS_CONTENT_IS_OUTPUT = 1u << 20,
	SAYS_UNFLUSHED = 1u << 21,
	SAYS_SURVIVORS = 1u << 22,
	SAYS_CHOICE = 1u << 23,	/* --until or --lose */
	SAYS_CUTS = 1u << 24,
	SAYS_CUTS_RUN = 1u << 25,
	SAYS_COMMANDS_IS_OUTPUT = 1u << 26
};

static uint32_t fact(bool holds, uint32_t what)
{
	return holds ? what : 0;
}

static bool same_file(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static bool stdin_is_named_twice(const struct replay_options *o)
{
	unsigned int seen = 0;

	for (unsigned int i = 0; i < o->names; i++)
		seen += !strcmp(o->name[i], "-");
	return seen > 1;
}

static uint32_t files_said(const struct replay_options *o)
{
	bool record = same_file(o->record, o->csv) || same_file(o->record, o->json);
	bool content = same_file(o->record_content, o->csv) || same_file(o->record_content, o->json) ||
		       same_file(o->record_content, o->record);
	bool commands = same_file(o->commands, o->csv) || same_file(o->commands, o->json) ||
			same_file(o->commands, o->record) || same_file(o->commands, o->record_content);

	return fact(o->profile, SAYS_PROFILE) | fact(o->drive, SAYS_DRIVE) | fact(o->ephemeral, SAYS_EPHEMERAL) |
	       fact(stdin_is_named_twice(o), SAYS_STDIN_TWICE) | fact(same_file(o->csv, o->json), SAYS_CSV_IS_JSON) |
	       fact(record, SAYS_RECORD_IS_OUTPUT) | fact(content, SAYS_CONTENT_IS_OUTPUT) |
	       fact(commands, SAYS_COMMANDS_IS_OUTPUT);
}

static uint32_t options_said(const struct replay_options *o, unsigned int loops, bool speed)
{
	bool part = o->limit || o->warmup || o->rows.beyond != TRACE_BEYOND_ERROR || o->align_units || o->no_flush ||
		    o->handles != REPLAY_HANDLES_TRACE;

	return fact(o->names, SAYS_TRACE) | fact(o->loop == REPLAY_OPEN, SAYS_OPEN) |
	       fact(o->loop == REPLAY_CLOSED, SAYS_CLOSED) | fact(o->loop == REPLAY_RECORDED, SAYS_RECORDED) |
	       fact(loops > 1, SAYS_TWO_LOOPS) | fact(o->think, SAYS_THINK) | fact(speed, SAYS_SPEED) |
	       fact(o->common_clock, SAYS_COMMON_CLOCK) | fact(o->cut, SAYS_CUT) |
	       fact(o->cut_seed || (o->cut_controller && !o->cuts), SAYS_CUT_SEED) |
	       fact(o->unflushed, SAYS_UNFLUSHED) | fact(o->survivors, SAYS_SURVIVORS) |
	       fact(o->until || o->lose, SAYS_CHOICE) | fact(o->cuts, SAYS_CUTS) | fact(o->cuts_run, SAYS_CUTS_RUN) |
	       fact(o->names > 1 || o->repeat != 1, SAYS_SEVERAL) |
	       fact(part, SAYS_PART) | fact(o->check, SAYS_CHECK) | fact(o->read_back, SAYS_READ_BACK);
}

/*
 * A command line with all properties of `when` must have all of `all`, one of `any` (if that is not
 * 0), and must have no property of `none`.
 */
static const struct rule {
	uint32_t when, all, any, none;
	const char *why; /* the message, with the remedy */
} rules[] = {
	{ .none = SAYS_STDIN_TWICE, .why = "standard input is named twice: it can be read only once" },
	{ .all = SAYS_TRACE, .why = "no TRACE: name one, or see --help" },
	{ .none = SAYS_TWO_LOOPS,
	  .why = "--open, --closed and --recorded exclude each other: give one of them" },
	{ .when = SAYS_THINK, .all = SAYS_CLOSED,
	  .why = "--think is for --closed: leave --open and --recorded out" },
	{ .when = SAYS_SPEED, .any = SAYS_OPEN | SAYS_THINK,
	  .why = "--speed is for --open, or --closed with --think: give one of them" },
	{ .when = SAYS_COMMON_CLOCK, .all = SAYS_OPEN, .why = "--common-clock is for --open: give that too" },
	{ .any = SAYS_PROFILE | SAYS_DRIVE | SAYS_RECORDED,
	  .why = "neither --profile nor --drive: say which drive" },
	{ .when = SAYS_CUT, .all = SAYS_OPEN | SAYS_DRIVE, .none = SAYS_SEVERAL | SAYS_COMMON_CLOCK | SAYS_CHECK,
	  .why = "--cut-at goes with --open, --drive and one trace: give these, and leave --repeat, --common-clock and "
		 "--check out" },
	{ .when = SAYS_CUT | SAYS_EPHEMERAL, .all = SAYS_SURVIVORS,
	  .why = "--cut-at with --ephemeral: nothing of the cut would be left: leave --ephemeral out, or give "
		 "--survivors" },
	{ .when = SAYS_CUTS, .all = SAYS_OPEN | SAYS_DRIVE | SAYS_EPHEMERAL,
	  .none = SAYS_CUT | SAYS_SEVERAL | SAYS_COMMON_CLOCK | SAYS_CHECK | SAYS_CHOICE,
	  .why = "--cuts goes with --open, --drive, --ephemeral and one trace: give these, and leave --cut-at, "
		 "--repeat, --common-clock, --check, --until and --lose out" },
	{ .when = SAYS_CUTS_RUN, .all = SAYS_CUTS, .why = "--cuts-run without --cuts: say when to cut" },
	{ .when = SAYS_CUT_SEED, .all = SAYS_CUT, .why = "--cut-seed and --cut-what are for --cut-at: give that too" },
	{ .when = SAYS_UNFLUSHED, .all = SAYS_CUT,
	  .why = "--unflushed and --survivors are for --cut-at: give that too" },
	{ .when = SAYS_CHOICE, .none = SAYS_CUT | SAYS_SEVERAL | SAYS_PART | SAYS_RECORDED | SAYS_CHECK,
	  .why = "--until and --lose choose requests of one trace: leave --cut-at, --repeat, --limit, --warmup, "
		 "--no-flush, --fold, --scale, --align, --handles, --recorded and --check out" },
	{ .when = SAYS_EPHEMERAL, .all = SAYS_DRIVE, .why = "--ephemeral without --drive: name the drive file" },
	{ .when = SAYS_RECORDED, .none = SAYS_SEVERAL | SAYS_PART,
	  .why = "--recorded takes one trace as it is, and compares all of it: leave --repeat, --limit, "
		 "--warmup, --no-flush, --fold, --scale, --align and --handles out" },
	{ .when = SAYS_RECORDED, .none = SAYS_PROFILE,
	  .why = "--recorded: the recording has the drive's settings: leave --profile out" },
	{ .when = SAYS_READ_BACK, .all = SAYS_CHECK, .none = SAYS_RECORDED,
	  .why = "--read-back is for --check, and not for --recorded: give the one, leave the other out" },
	{ .none = SAYS_CSV_IS_JSON, .why = "--csv and --json name one file: name two" },
	{ .none = SAYS_RECORD_IS_OUTPUT, .why = "--record names the file of --csv or --json: name another" },
	{ .none = SAYS_CONTENT_IS_OUTPUT,
	  .why = "--record-content names the file of --csv, --json or --record: name another" },
	{ .none = SAYS_COMMANDS_IS_OUTPUT,
	  .why = "--commands names the file of --csv, --json, --record or --record-content: name another" }
};

static bool breaks_rule(uint32_t said, const struct rule *r)
{
	if ((said & r->when) != r->when)
		return false;
	return (said & r->all) != r->all || (r->any && !(said & r->any)) || (said & r->none);
}

/* Check which options exclude or need each other, and report the first broken rule. */
static int check_options(const struct replay_options *o, unsigned int loops, bool speed)
{
	uint32_t said = options_said(o, loops, speed) | files_said(o);

	for (unsigned int i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (breaks_rule(said, &rules[i]))
			return replay_fail(REPLAY_USAGE, "%s", rules[i].why);
	return 0;
}

int replay_options_parse(struct replay_options *o, int argc, char **argv)
{
	unsigned int loops = 0;
	char why[192];
	const char *word;
	bool speed = false;
	int c, result = 0;

	opterr = 0;
	word = closest_abbreviation(long_options, argc, argv, false);
	if (word)
		return replay_fail(REPLAY_USAGE, "%s", closest_complaint(long_options, word, why));
	while (!result && (c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (c == OPT_HELP) {
			fputs(help, stdout);
			exit(0);
		}
		if (c == '?')
			return replay_fail(REPLAY_USAGE, "%s",
					   closest_complaint(long_options, argv[optind - 1], why));
		loops += c == OPT_OPEN || c == OPT_CLOSED || c == OPT_RECORDED;
		speed = speed || c == OPT_SPEED;
		result = take_option(o, c, optarg);
	}
	for (; !result && optind < argc; optind++) {
		if (o->names == REPLAY_STREAMS_MAX)
			return replay_fail(REPLAY_USAGE, "more than %u traces: give fewer", REPLAY_STREAMS_MAX);
		o->name[o->names++] = argv[optind];
	}
	return result ? result : check_options(o, loops, speed);
}
