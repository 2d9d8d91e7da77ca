// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options.c - slate-load's command line. It checks every value. A message names the option and the
 * valid values.
 */
#define _GNU_SOURCE
#include "closest.h"
#include "load.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
"usage: slate-load [option ...] DEVICE TRACE\n"
"       slate-load --show FILE\n"
"\n"
"Replay a trace on a block device with io_uring (fixed buffers, a registered file), and\n"
"measure the latency of every request. DEVICE is a block device, or the character device of\n"
"an NVMe namespace (/dev/ng0n1): then each request is one or more NVMe passthrough commands. TRACE\n"
"is a file (plain, .gz or .zst; formats: docs/traces.md), - for\n"
"standard input, or a generator: gen:rand4k,foot=1GiB,n=100000[,seed=1][,read=PERMILLE]\n"
"[,fill=128KiB][,gap=NS][,hot=20:80][,content=zero|random|text|similar],\n"
"gen:seq128k,foot=1GiB, gen:zipf4k:3+64k:1,theta=0.99,foot=1GiB,n=100000 (docs/replay.md).\n"
"\n"
"how\n"
"  --passthrough          use the character device of block device DEVICE\n"
"  --closed QD            requests in flight (default: 1)\n"
"  --open                 submit at the trace's times; status 1 if too many requests are late\n"
"  --speed X              ... X times as fast (0.001 .. 1000000)\n"
"  --depth N              ... at most N requests in flight (default: 128)\n"
"  --late US              ... a request submitted later than this after its due time is late\n"
"                         (default: 1000)\n"
"  --max-late PERMILLE    ... requests that may be late (default: 10)\n"
"  --repeat N             replay the trace N times\n"
"  --limit N              stop after N requests\n"
"  --write                allow writes and trims, which destroy the data on DEVICE\n"
"  --max-request SIZE     longest read or write; each request in flight has a buffer of\n"
"                         so much (default: 1MiB)\n"
"the trace\n"
"  --format NAME          of the trace (default: detected from the first 256 KiB)\n"
"  --device N | MAJ,MIN   only rows of this device\n"
"  --blk-action C         blkparse, blktrace (default Q), ftrace (default D): events of this action\n"
"  --max-bad PERMILLE     bad rows that are allowed (default 0)\n"
"  --fold                 addresses beyond the device: modulo its capacity\n"
"  --scale[=SIZE]         scale all addresses, and the lengths of trims: the trace's extent or\n"
"                         SIZE becomes the capacity\n"
"what comes out\n"
"  --log FILE             a record of 32 bytes for each request\n"
"  --show FILE            only print such a file as CSV\n"
"  --json FILE|-          the summary\n"
"  --help                 this text\n"
"Exit status: 0; 1 requests failed or too many were late; 2 bad input; 130 interrupted.\n";

enum {
	OPT_PASSTHROUGH = 256, OPT_CLOSED, OPT_OPEN, OPT_SPEED, OPT_DEPTH, OPT_LATE, OPT_MAX_LATE, OPT_REPEAT,
	OPT_LIMIT, OPT_WRITE, OPT_MAX_REQUEST, OPT_LOG, OPT_SHOW, OPT_JSON, OPT_HELP
};

static const struct option long_options[] = {
	{ "passthrough", no_argument, NULL, OPT_PASSTHROUGH },
	{ "closed", required_argument, NULL, OPT_CLOSED },
	{ "open", no_argument, NULL, OPT_OPEN },
	{ "speed", required_argument, NULL, OPT_SPEED },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "late", required_argument, NULL, OPT_LATE },
	{ "max-late", required_argument, NULL, OPT_MAX_LATE },
	{ "repeat", required_argument, NULL, OPT_REPEAT },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "write", no_argument, NULL, OPT_WRITE },
	{ "max-request", required_argument, NULL, OPT_MAX_REQUEST },
	TRACE_LONG_OPTIONS,
	{ "log", required_argument, NULL, OPT_LOG },
	{ "show", required_argument, NULL, OPT_SHOW },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 }
};

static bool take_option(struct load_options *o, int c, const char *text, char err[TRACE_ERR_BYTES])
{
	const char *name = option_name(long_options, c);
	uint64_t depth = 0;
	bool good;

	switch (c) {
	case OPT_CLOSED:
	case OPT_DEPTH:
		good = trace_take_number(name, text, 1, LOAD_DEPTH_MAX, &depth, err);
		o->depth = (uint32_t)depth;
		return good;
	case OPT_PASSTHROUGH:
		o->passthrough = true;
		return true;
	case OPT_OPEN:
		o->open = true;
		return true;
	case OPT_WRITE:
		o->writes = true;
		return true;
	case OPT_SPEED:
		return trace_take_speed(name, text, &o->speed, err);
	case OPT_LATE:
		good = trace_take_number(name, text, 1, 1000000000, &o->late_ns, err);
		o->late_ns *= 1000;
		return good;
	case OPT_MAX_LATE:
		return trace_take_number(name, text, 0, 1000, &o->late_permille, err);
	case OPT_REPEAT:
		return trace_take_number(name, text, 1, 1000000000, &o->repeat, err);
	case OPT_LIMIT:
		return trace_take_number(name, text, 1, UINT64_MAX, &o->limit, err);
	case OPT_MAX_REQUEST:
		return trace_take_size(name, text, LOAD_SECTOR, (uint64_t)1 << 30, &o->max_bytes, err);
	case OPT_LOG:
		o->log = text;
		return true;
	case OPT_SHOW:
		o->show = text;
		return true;
	case OPT_JSON:
		o->json = text;
		return true;
	}
	return trace_take_option(&o->rows, (enum trace_option)c, text, err);
}

static int check_options(const struct load_options *o, const bool *seen)
{
	const char *why = NULL;

	if (o->show)
		why = o->device ? "--show prints a file: leave DEVICE and TRACE out" : NULL;
	else if (!o->device || !o->trace)
		why = "name a DEVICE and a TRACE, or see --help";
	else if (o->open && seen[OPT_CLOSED - 256])
		why = "--open and --closed exclude each other: give one of them (--depth limits --open)";
	else if (!o->open && seen[OPT_DEPTH - 256])
		why = "--depth is for --open: give that too, or --closed";
	else if (!o->open && (seen[OPT_SPEED - 256] || seen[OPT_LATE - 256] || seen[OPT_MAX_LATE - 256]))
		why = "--speed, --late and --max-late are for --open: give that too";
	else if (o->repeat > 1 && !strcmp(o->trace, "-"))
		why = "--repeat: standard input can be read only once: name a file";
	else if (o->log && o->json && !strcmp(o->log, o->json))
		why = "--log and --json name one file: name two";
	return why ? load_fail(LOAD_USAGE, "%s", why) : 0;
}

int load_options_parse(struct load_options *o, int argc, char **argv)
{
	bool seen[OPT_HELP - 256 + 1] = { false };
	const char *word;
	char err[TRACE_ERR_BYTES], why[192];
	int c;

	opterr = 0;
	word = closest_abbreviation(long_options, argc, argv, false);
	if (word)
		return load_fail(LOAD_USAGE, "%s", closest_complaint(long_options, word, why));
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (c == OPT_HELP) {
			fputs(help, stdout);
			exit(0);
		}
		if (c == '?')
			return load_fail(LOAD_USAGE, "%s", closest_complaint(long_options, argv[optind - 1], why));
		if (c >= 256 && c < OPT_HELP)
			seen[c - 256] = true;
		if (!take_option(o, c, optarg, err))
			return load_fail(LOAD_USAGE, "%s", err);
	}
	if (argc - optind > 2)
		return load_fail(LOAD_USAGE, "%s: one DEVICE and one TRACE: leave it out", argv[optind + 2]);
	if (!o->depth)
		o->depth = o->open ? 128 : 1;
	o->device = argc > optind ? argv[optind] : NULL;
	o->trace = argc > optind + 1 ? argv[optind + 1] : NULL;
	return check_options(o, seen);
}
