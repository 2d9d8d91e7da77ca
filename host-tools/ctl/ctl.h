/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl.h - what the parts of slatectl share.
 *
 *   main.c    the command line, the table of commands
 *   order.c   commands that change something
 *   link.c    whole logs over a link, checked
 *   nvme.c    a link through the NVMe driver, by libnvme (in a guest)
 *   qmp.c     a link through QEMU's monitor (on the host)
 *   logs.c    from a log's bytes to C's numbers
 *   text.c    tables for people;  json.c  the same for programs
 *   watch.c   counters at intervals
 *
 * The bytes are those of slate_wire.h on both links. The program knows nothing else of the drive.
 */
#ifndef SLATE_CTL_H
#define SLATE_CTL_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slate_wire.h"

#define CTL_FAILED 1		/* the drive refused the command, or could not be reached */
#define CTL_USAGE 2
#define CTL_INTERRUPTED 130

struct ctl;

/* Every function returns 0 or an exit code; in the latter case it has printed the error. */
struct ctl_link_ops {
	int (*open)(struct ctl *c);
	/* Read the bytes [at, at + len) of a log; *got may be less at its end. */
	int (*read_log)(struct ctl *c, uint32_t id, uint64_t at, void *buf, size_t len, size_t *got);
	int (*control)(struct ctl *c, uint32_t command, const uint32_t args[3], uint32_t *result);
	int (*set)(struct ctl *c, const char *text);	/* "ftl.key=value" */
	void (*close)(struct ctl *c);
};
extern const struct ctl_link_ops ctl_nvme, ctl_qmp;

struct ctl {
	const char *device;	/* NVMe: device file of a namespace */
	const char *socket;	/* QMP: socket; NULL: none */
	const char *node;
	bool json;
	const struct ctl_link_ops *ops;
	int fd;
	uint32_t nsid;
	void *state;		/* state of the link */
};

extern volatile sig_atomic_t ctl_stopped;

/* Print "slatectl: ..." on stderr and return status. */
int ctl_fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Parse a decimal number from low to high. If text is NULL, report that `what` is missing. */
int ctl_number(const char *what, const char *text, uint64_t low, uint64_t high, uint64_t *out);

/* ---- logs ------------------------------------------------------------------------- */

struct ctl_log {
	unsigned char *bytes;
	size_t len;
	uint64_t at_ns, since_ns;
};

int ctl_fetch(struct ctl *c, uint32_t id, struct ctl_log *out);
void ctl_free(struct ctl_log *log);

static inline uint64_t ctl_get(const unsigned char *at, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | at[bytes];
	return v;
}

struct ctl_identity {
	uint64_t capacity_bytes, map_bytes, pages, unsafe_shutdowns, saved, unsaved;
	uint32_t unit_bytes, page_bytes, oob_bytes, pages_per_block, blocks_per_plane, planes_per_die,
		 dies_per_chip, chips_per_channel, channels, bits_per_cell, pb_levels, ecc_word_bytes,
		 flags, endurance, buffer_units;
	char profile[65], ftl[17];
	const char *settings, *knobs;	/* within the log; not terminated */
	uint32_t settings_bytes, knobs_bytes;
};

/* Counters that only a newer drive has are not shown; counters that an older drive lacks are 0. */
struct ctl_counters {
	uint64_t op[SLATE_WIRE_OPS][SLATE_OP_WORDS];
	uint64_t ftl[SLATE_FTL_WORDS];
	uint64_t source[SLATE_WIRE_SOURCES][SLATE_SOURCE_WORDS];
	uint64_t rule[SLATE_WIRE_RULES];
	uint64_t nand[SLATE_NAND_WORDS];
	uint64_t at_ns, since_ns;
};

/* These entries follow a log's head. */
struct ctl_entries {
	const unsigned char *at;
	uint32_t count, bytes;		/* number of entries, and bytes of each */
	uint32_t word; /* word after the count: causes, units_per_block, blocks_per_plane or room */
};

int ctl_identity(struct ctl *c, struct ctl_log *log, struct ctl_identity *out);
int ctl_counters(struct ctl *c, struct ctl_counters *out);
/* Returns a log of entries, or NULL after an error message. need: bytes of an entry that this program reads. */
int ctl_entries(struct ctl *c, uint32_t id, uint32_t need, struct ctl_log *log, struct ctl_entries *out);

extern const char *const ctl_op_names[SLATE_WIRE_OPS];
extern const char *const ctl_source_names[SLATE_WIRE_SOURCES];
extern const char *const ctl_cause_names[SLATE_WIRE_CAUSES];
extern const char *const ctl_state_names[SLATE_BLOCK_STATES];
extern const char *const ctl_op_words[SLATE_OP_WORDS], *const ctl_ftl_words[SLATE_FTL_WORDS],
		  *const ctl_source_words[SLATE_SOURCE_WORDS], *const ctl_nand_words[SLATE_NAND_WORDS];

struct ctl_derived {		/* A value is -1 if it is not defined (nothing written, nothing read). */
	double waf, raf;
	double waf_host, waf_gc, waf_wl, waf_pad, waf_meta;
	double aep, vep;	/* erases of a page: mean, variance */
	uint64_t erases, violations;
};
void ctl_derive(const struct ctl_identity *id, const struct ctl_counters *n, struct ctl_derived *out);

/* ---- commands ----------------------------------------------------------------------- */

/* Execute a command. words: those after its name, NULL-terminated. */
typedef int ctl_command(struct ctl *c, char **words);

ctl_command text_info, text_counters, text_latency, text_blocks, text_wear, text_faults;
ctl_command json_info, json_counters, json_latency, json_blocks, json_wear, json_faults;
ctl_command order_reset, order_gc, order_set, order_fault, order_cut;
ctl_command watch_run;

json_t *json_of_counters(const struct ctl_identity *id, const struct ctl_counters *n);
int json_print(json_t *o);	/* Print and release o. */

#endif
