// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main.c - slatectl: inspects and controls a Slate drive, in a guest through the NVMe driver, on
 * the host through QEMU's monitor.  Exit status: 0; 1 the drive refused or could not be reached; 2
 * bad input; 130 interrupted.
 */
#define _GNU_SOURCE
#include "closest.h"
#include "ctl.h"

#include <assert.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile sig_atomic_t ctl_stopped;

static const char help[] =
"usage: slatectl [option ...] COMMAND [argument ...]\n"
"\n"
"Read the logs of a Slate drive, and control it: in a guest through the NVMe driver, on the host\n"
"through QEMU's monitor.\n"
"\n"
"options\n"
"  --device FILE          the drive's namespace (default: /dev/nvme0n1)\n"
"  --qmp SOCKET           on the host: the socket that 'slate run --qmp SOCKET' made\n"
"  --node NAME            ... the block node of the drive (default: ssd0)\n"
"  --json                 JSON instead of tables\n"
"  --help                 this text\n"
"logs\n"
"  info                   the drive, its settings, and the settings that 'set' changes\n"
"  counters               I/Os, WAF, RAF, GC, wear, energy, media errors, broken rules\n"
"  latency                histograms by operation, with the time spent by cause\n"
"  blocks                 block states and erases, summed by plane\n"
"  wear                   erases, valid units and state of every block\n"
"  faults                 the planned faults\n"
"  watch [--interval MS] [--count N]\n"
"                         counters of each interval (default: 1000 ms, without end)\n"
"commands\n"
"  reset                  set counters, histograms and marks to 0\n"
"  gc [FREE]              collect one block in each plane, or until FREE blocks are free in\n"
"                         each; it goes on in device time\n"
"  set NAME=VALUE         change a setting until the drive is closed\n"
"  fault program N [--die D]\n"
"                         the N-th program from now fails\n"
"  fault erase N [--die D]\n"
"                         the N-th erase from now fails\n"
"  fault flip PAGE BITS   so many bits of each ECC word of a page are wrong, until it is erased\n"
"  fault clear            remove all planned faults\n"
"  cut now|after N|at NS [--then vanish|reset|shutdown]\n"
"                         cut the drive's power: now, after N NAND commands, or at NS of drive\n"
"                         time; then the drive vanishes (default), the machine is reset, or shut down\n"
"  cut cancel             cancel a planned cut\n"
"Exit status: 0; 1 the drive refused or cannot be reached; 2 bad input; 130 interrupted.\n";

static const struct {
	const char *name;
	ctl_command *text, *json;
	bool words;		/* the command takes arguments */
} commands[] = {
	{ "info", text_info, json_info, false },
	{ "counters", text_counters, json_counters, false },
	{ "latency", text_latency, json_latency, false },
	{ "blocks", text_blocks, json_blocks, false },
	{ "wear", text_wear, json_wear, false },
	{ "faults", text_faults, json_faults, false },
	{ "watch", watch_run, watch_run, true },
	{ "reset", order_reset, order_reset, true },
	{ "gc", order_gc, order_gc, true },
	{ "set", order_set, order_set, true },
	{ "fault", order_fault, order_fault, true },
	{ "cut", order_cut, order_cut, true },
};
#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

int ctl_fail(int status, const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("slatectl: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return status;
}

int ctl_number(const char *what, const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
	char *end;

	if (!text)
		return ctl_fail(CTL_USAGE, "%s: a number is missing: give one, %" PRIu64 " .. %" PRIu64, what,
				low, high);
	*out = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && strlen(text) <= 19 && *out >= low && *out <= high)
		return 0;
	return ctl_fail(CTL_USAGE, "%s %s: not a whole number from %" PRIu64 " to %" PRIu64, what, text, low, high);
}

static void on_signal(int number)
{
	(void)number;
	ctl_stopped = 1;
}

static void catch_signals(void)
{
	const struct sigaction stop = { .sa_handler = on_signal };
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

static int parse(struct ctl *c, int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' }, { "qmp", required_argument, NULL, 'q' },
		{ "node", required_argument, NULL, 'n' }, { "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
	};
	bool device = false, node = false;
	const char *word;
	char why[192];
	int o;

	opterr = 0;
	word = closest_abbreviation(options, argc, argv, true);
	if (word)
		return ctl_fail(CTL_USAGE, "%s", closest_complaint(options, word, why));
	while ((o = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (o) {
		case 'd':
			c->device = optarg;
			device = true;
			break;
		case 'q':
			c->socket = optarg;
			break;
		case 'n':
			c->node = optarg;
			node = true;
			break;
		case 'j':
			c->json = true;
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		default:
			return ctl_fail(CTL_USAGE, "%s", closest_complaint(options, argv[optind - 1], why));
		}
	}
	if (device && c->socket)
		return ctl_fail(CTL_USAGE, "--device is for a guest and --qmp for the host: give one of them");
	if (node && !c->socket)
		return ctl_fail(CTL_USAGE, "--node is for --qmp: give that too");
	c->ops = c->socket ? &ctl_qmp : &ctl_nvme;
	return 0;
}

static int no_command(const char *word)
{
	struct closest c = { .word = word };

	for (size_t i = 0; i < NCOMMANDS; i++)
		closest_see(&c, commands[i].name);
	return c.best ? ctl_fail(CTL_USAGE, "%s: there is no such command; did you mean %s?", word, c.best) :
			ctl_fail(CTL_USAGE, "%s: there is no such command: see --help", word);
}

static int run(struct ctl *c, char **words)
{
	size_t i;
	int result;

	assert(c->ops);		/* parse() has set them */
	if (!words[0])
		return ctl_fail(CTL_USAGE, "no COMMAND: give one, or see --help");
	for (i = 0; i < NCOMMANDS && strcmp(words[0], commands[i].name); i++)
		;
	if (i == NCOMMANDS)
		return no_command(words[0]);
	for (size_t w = 1; words[w] && !commands[i].words; w++)
		if (!strncmp(words[w], "--", 2))
			return ctl_fail(CTL_USAGE, "%s: unexpected argument '%s': options stand before the command, "
					"as in 'slatectl %s %s'", words[0], words[w], words[w], words[0]);
	if (words[1] && !commands[i].words)
		return ctl_fail(CTL_USAGE, "%s: unexpected argument '%s': leave it out", words[0], words[1]);
	result = c->ops->open(c);
	if (!result)
		result = (c->json ? commands[i].json : commands[i].text)(c, words + 1);
	c->ops->close(c);
	return result;
}

int main(int argc, char **argv)
{
	struct ctl c = { .device = "/dev/nvme0n1", .node = "ssd0", .fd = -1 };
	int result = parse(&c, argc, argv);

	catch_signals();
	return result ? result : run(&c, argv + optind);
}
