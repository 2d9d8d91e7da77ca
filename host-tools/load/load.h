/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.h - what the parts of slate-load share.
 *
 *   main.c      opens the device and the trace; exit codes, notes
 *   options.c   the command line
 *   device.c    what kind of device it is, how large, how long a command may be
 *   engine.c    the loop: rows, slots, the ring, when to submit
 *   command.c   one request as entries of the ring: block layer or NVMe passthrough
 *   latlog.c    a record per request, and reading such a file back
 *   report.c    the summary, as text and JSON
 */
#ifndef SLATE_LOAD_H
#define SLATE_LOAD_H

#include <liburing.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "hist.h"
#include "trace.h"
#include "words.h"

#define LOAD_FAILED 1
#define LOAD_USAGE 2
#define LOAD_INTERRUPTED 130
#define LOAD_DEPTH_MAX 4096u
#define LOAD_RING_MAX 32768u		/* limit of the kernel */
#define LOAD_BAD_SHOWN 5u
#define LOAD_NOPS 4u			/* TRACE_READ .. TRACE_FLUSH */
#define LOAD_SECTOR 512u

struct load_options {
	const char *device, *trace, *show;	/* show: print a latency file; no device is used */
	const char *json, *log;		/* NULL: none; json "-": stdout */
	bool open, writes, passthrough;	/* open: use the trace's times; writes: writing is allowed; passthrough:
					 * bypass the block layer */
	uint32_t depth;			/* maximum of requests in flight */
	uint64_t speed;			/* speed, multiplied by TRACE_SPEED_ONE */
	uint64_t repeat, limit;		/* limit 0: no limit */
	uint64_t late_ns;		/* a request that is later than this counts as late */
	uint64_t late_permille;		/* permitted share of late requests */
	uint64_t max_bytes;		/* maximum size of a read or write */
	struct trace_choice rows;
};

struct load_device {
	int fd;
	int guard_fd;			/* passthrough: descriptor of the block device, kept open; or -1 */
	bool passthrough;
	uint32_t nsid;			/* passthrough: namespace */
	uint32_t block_bytes;		/* size of a logical block */
	uint32_t part_bytes;		/* passthrough: longest command; 0: no limit */
	uint64_t capacity;		/* capacity in bytes */
};

/* A slot holds a request in flight. It uses the registered buffer number `index`. */
struct slot {
	struct trace_row row;		/* the row after trace_place(); at_ns: its due time, by load->clock */
	uint64_t number;		/* number of the request, from 0 on */
	uint64_t submit_ns;
	uint32_t parts;			/* number of commands in flight */
	int status;			/* status of the first failed command: 0, -errno, or > 0: NVMe status */
	unsigned char *buffer;
	uint32_t index;
	struct slot *next;		/* free list */
};

struct load_account {
	struct hist hist[LOAD_NOPS];
	uint64_t bytes[LOAD_NOPS], errors[LOAD_NOPS];
	uint64_t late, worst_late_ns, late_sum_ns;	/* late: requests submitted more than late_ns after they
							 * were due */
	uint64_t last_due_ns;		/* due time of the last request */
	uint64_t last_submit_ns, end_ns;
	uint64_t shown;			/* number of errors printed */
	uint64_t fixed;			/* number of commands that used a registered buffer */
};

struct latlog;

struct load {
	struct load_options o;
	struct load_device dev;
	struct trace *trace;
	struct trace_place place;
	struct trace_placed placed;
	uint64_t extent;
	struct io_uring ring;
	bool ring_open;
	struct slot *slots, *free;
	unsigned char *buffers;
	size_t buffers_bytes, buffer_bytes;	/* size of all buffers, and of one */
	uint32_t inflight, deepest;
	uint64_t begin_ns;		/* CLOCK_MONOTONIC; all other times count from then on */
	uint64_t submitted, completed;
	uint64_t bad, backwards;
	struct load_account account;
	struct latlog *log;
};

extern volatile sig_atomic_t load_stopped;

/* Print "slate-load: ..." on stderr and return status. */
int load_fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
uint64_t load_now(const struct load *l);
/* Returns the operation's name: "read", "write", "trim" or "flush". */
const char *load_op_name(unsigned int op);

/* The functions below return 0 or an exit code; in the latter case they have printed the error. */
int load_options_parse(struct load_options *o, int argc, char **argv);

int device_open(struct load *l);
void device_close(struct load *l);

int engine_open(struct load *l);
int engine_run(struct load *l);
void engine_close(struct load *l);

/* Returns the number of ring entries that a request takes. */
uint32_t command_parts(const struct load *l, const struct trace_row *row);
/* Fill in the request's ring entries. The ring has room for them. Their user_data is the slot. */
void command_prepare(struct load *l, struct slot *s);
/* Returns 0, -errno or an NVMe status of a completion. */
int command_status(const struct load *l, const struct slot *s, const struct io_uring_cqe *cqe);
/* Returns words such as "Input/output error" or "NVMe status 0x4281 ...". */
const char *command_error(int status, char *buf, size_t room);

/*
 * The latency file: LATLOG_HEAD bytes of head, then a record of LATLOG_RECORD bytes for
 * each request in the order of completion; little-endian. latlog.c has the table.
 */
#define LATLOG_HEAD 64u
#define LATLOG_RECORD 32u
int latlog_open(struct load *l);
void latlog_add(struct load *l, const struct slot *s, uint64_t latency_ns);
int latlog_close(struct load *l, bool keep);
/* Print a latency file as CSV. */
int latlog_show(const char *path);

/* Were more requests late than the options permit? */
bool report_fell_short(const struct load *l);
int report(struct load *l);

#endif
