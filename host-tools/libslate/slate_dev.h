/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slate_dev.h - a drive from within: what the files of libslate share.
 *
 * slate.c        memory, opening and closing, requests
 * slate_hooks.c  what the array calls
 * slate_power.c  power cuts, and mounting again
 * slate_room.c   room for what the host writes
 * slate_sanitize.c  sanitize operations
 * slate_stats.c  statistics, marks
 * slate_log.c, slate_control.c  logs and orders
 * slate_latency.c  histograms of latencies, of the whole time and by mark
 * slate_series.c counters by interval
 */
#ifndef SLATE_DEV_H
#define SLATE_DEV_H

#include "array.h"
#include "drive_file.h"
#include "fault_plan.h"
#include "hist.h"
#include "profile.h"
#include "slate.h"
#include "slate_control.h"
#include "slate_power.h"
#include "slate_wire.h"

struct slate_bucket {			/* I/Os of similar latency, and the parts of their time */
	uint64_t ios;
	struct ftl_breakdown where;
};

/* It is allocated by calloc(), so that its memory pages without I/Os take no memory. */
struct slate_causes {
	struct slate_bucket bucket[FTL_NOPS][HIST_BUCKETS];
	uint64_t marked[FTL_NOPS][HIST_BUCKETS];	/* I/Os of each bucket at the last mark */
	uint32_t begin[FTL_NOPS], end[FTL_NOPS];	/* all buckets outside have no I/O */
};

struct slate_hist_bucket {		/* bucket of a mark's interval */
	uint64_t ios;
	uint32_t op, bucket;
};

struct slate_series;

struct mark {
	struct slate_mark mark;
	struct slate_stats interval;
	struct slate_hist_bucket *hist;	/* by op, then bucket; NULL: no I/O, or not kept */
	uint32_t buckets;
	uint32_t open;			/* BEGIN: begins of this label that have no end yet */
};

struct region {
	void *at;
	size_t bytes;
};

struct memory_room {		/* slate_room.c */
	uint8_t *held;		/* one bit per smallest PB: set when it has memory; NULL: the drive is not watched */
	uint64_t payload_at, pb_bytes;
	uint64_t holes;		/* bytes of the PBs without memory */
	uint64_t grown;		/* bytes of the PBs that got memory since the last look */
	uint64_t margin;	/* bytes that accepted writes may need */
	bool tight;		/* there was too little at the last look */
	bool said;
	uint64_t (*wanted)(void *opaque, bool exact);	/* slate_options.memory_wanted */
	void *opaque;
};

enum slate_note {		/* numbers in the head of the image (SPEC.md) */
	SLATE_NOTE_IN_USE,	/* 1: written to or trimmed since power-on or the last shutdown */
	SLATE_NOTE_UNSAFE,	/* power losses while it was in use */
	SLATE_NOTE_MEDIA_ERRORS,
	SLATE_NOTE_SAVED,	/* power losses while it was in use after which capacitors saved the whole buffer */
	SLATE_NOTE_UNSAVED,	/* such losses after which they did not */
	SLATE_NOTE_SANITIZE, SLATE_NOTE_SANITIZE_ROW,	/* slate_sanitize.c */
};

#define SLATE_WRITTEN 0x200u	/* in SLATE_NOTE_SANITIZE: a write was accepted since the last operation began */

/* KEEPS: none is under way; the last one could not write its record to flash, so the image's head still has it. */
enum slate_sanitizing { SLATE_NOT_SANITIZING, SLATE_SANITIZE_WAITS, SLATE_SANITIZE_ERASES, SLATE_SANITIZE_KEEPS };

typedef void (*slate_command_hook)(void *d, uint64_t now_ns, const struct nand_cmd *cmds,
				   unsigned int count);

struct slate_dev {
	struct profile profile;
	struct region running, image, ftl_mem;	/* image: unused if there is a file */
	struct drive_file file;
	struct memory_room memory;
	uint64_t refused;		/* requests for which the host's disk or memory had no room */
	char *path;			/* path of the drive file; NULL: none */
	bool was_there;
	bool broken;			/* set by slate_guarded() after a failed assertion */
	struct nand *nand;
	struct ftl *ftl;		/* NULL: the mount failed, or the drive is being sanitized; profile.ops says
					 * which FTL it is */
	struct ftl_host host;
	uint64_t skipped_ns;
	char *settings;
	struct record *record;		/* NULL: none */
	struct record_content *content;	/* NULL: none */
	slate_command_hook on_commands;	/* libslate's own; NULL: none */
	slate_watch_fn *watch;		/* the shell's; NULL: none */
	void *watch_opaque;
	bool machine_stands;		/* while the machine is stopped, its flushes are not recorded */
	struct slate_media media_before;	/* counts before the last reset of the counters */
	uint64_t record_before[NAND_NOPS][NAND_NSOURCES];	/* NAND commands that were counted before a reset of
								 * the counters */

	struct ftl_io *own_io;		/* request of the preconditioner */
	bool own_done;
	uint64_t own_version;
	bool own_zeroes;
	bool own_ends;			/* only the ends of own content are made (form.h) */
	uint8_t *own_first, *own_last;	/* lowest and highest place of the write buffer with such ends; NULL: none */
	const uint8_t *own_record;	/* content of own_io: SLATE_RECORD_BYTES, then zeroes; NULL: as above */
	bool (*progress)(void *opaque, uint64_t done_bytes, uint64_t all_bytes);
	void *progress_opaque;

	struct slate_stats before;
	uint64_t *busy_before;		/* busy time of each die, then of each channel, by source, up to the last
					 * mark */
	struct mark *marks;
	uint32_t mark_count;

	/* slate_log.c, slate_control.c */
	struct slate_causes *causes;	/* NULL: not kept */
	struct slate_series *series;	/* NULL: not kept */
	uint64_t series_ns;		/* end of the series' current interval; UINT64_MAX: not kept */
	uint32_t processors;		/* processors of the host; 0: unknown */
	void (*processors_busy_ns)(void *opaque, uint64_t *ns);
	void *processors_opaque;
	uint64_t since_ns;		/* time at which an order reset the counters */
	uint64_t *note;			/* numbers about the drive's life, in the image: enum slate_note */
	struct fault_plan faults;
	struct {			/* the last refused command */
		uint32_t opcode, command, status, count;
		char text[SLATE_WIRE_TEXT_BYTES];
	} refusal;

	/* slate_power.c; times use the shell's clock */
	struct slate_power power;
	uint64_t cut_ns;		/* planned time of the cut; UINT64_MAX: none, or not known yet */
	uint64_t cut_seed;
	enum slate_cut_what cut_what;
	uint64_t commands_left;		/* commands left until the time of the cut is known; 0: not counting */
	uint64_t after_mark_ns;		/* the cut is so long after the mark cut_label; UINT64_MAX: not planned so */
	char cut_label[SLATE_LABEL_BYTES];
	uint64_t ready_ns;		/* time at which the mount ended; earlier times are not passed to the core */
	struct ftl_stats *gone;		/* counters since the last mark of FTLs that lost power, and of requests that
					 * no FTL got because there was no room; or NULL */

	/* slate_sanitize.c */
	enum slate_sanitizing sanitizing;
	uint32_t sanitize_actions;	/* ERASES: the actions of the next row that have been submitted */
	uint64_t sanitize_next_ns;	/* ERASES: time of the next step; the core's clock */
	struct ftl_zones zones_before;	/* zns: what zones() returned when the operation began */
};

/* Is a sanitize operation under way? */
static inline bool slate_sanitize_runs(const struct slate_dev *d)
{
	return d->sanitizing == SLATE_SANITIZE_WAITS || d->sanitizing == SLATE_SANITIZE_ERASES;
}

static inline void slate_note_causes(struct slate_causes *c, const struct ftl_io *io)
{
	uint32_t at = hist_bucket(io->done_ns - io->submit_ns);
	struct slate_bucket *b = &c->bucket[io->op][at];

	if (at < c->begin[io->op])
		c->begin[io->op] = at;
	if (at >= c->end[io->op])
		c->end[io->op] = at + 1;
	b->ios++;
	ftl_breakdown_add(&b->where, &io->where);
}

/*
 * slate.c. Call the core on a drive from a file, which another program may have written. If an
 * assertion fails, the program continues: the function returns false, and the FTL must not be
 * called again.
 */
bool slate_guarded(void (*call)(void *), void *arg);
/* Do the same as slate_guarded() for a drive from a file; after a failed assertion it loses its power permanently. */
bool slate_endures(struct slate_dev *d, uint64_t now_ns, void (*call)(void *), void *arg);
/* Make an FTL and mount it; its memory must be zeroed. Times are the core's. d->ftl is NULL on failure. */
int slate_start_ftl(struct slate_dev *d, uint64_t now_ns, uint64_t *ready_ns) SSD_MUST_CHECK;
const char *slate_mount_fault(const struct slate_dev *d, int result);
#define SLATE_OWN_BYTES 4096u	/* of a unit of own content whose ends alone are made */
/* slate_fill.c. Make the content of whole units for preconditioning: a form (nand-emu/content.c) by place, version. */
void slate_own_content(struct slate_dev *d, uint64_t offset, uint8_t *buf, size_t len);
/* Run an I/O of the drive's own; returns its status. */
int slate_own_write(struct slate_dev *d, uint64_t *now_ns, struct ftl_io io);
/*
 * slate_hooks.c. slate_hooks() returns the functions that the drive's array calls; slate_set_hooks() gives them to the
 * array. done: a function of libslate that the array calls after commands; NULL: none.
 */
struct nand_hooks slate_hooks(struct slate_dev *d);
void slate_set_hooks(struct slate_dev *d, slate_command_hook done);
/* slate_stats.c */
size_t slate_busy_bytes(const struct slate_dev *d);	/* Returns the size of busy_before. */
void slate_forget_statistics(struct slate_dev *d);
void slate_add_ftl_stats(struct ftl_stats *to, const struct ftl_stats *from);
void slate_no_ftl_stats(struct ftl_stats *s);
/* slate.c. Convert to the core's time. Returns false if the drive has no power. */
bool slate_core_time(struct slate_dev *d, uint64_t *now_ns);
/* slate_control.c: sets the fault plan as hooks of the array, or NULL if it has no entries. */
void slate_fault_hooks(const struct slate_dev *d, struct nand_hooks *h);
/*
 * slate_series.c. End the rows that are over at now_ns. Each call into the drive does this first when series_ns has
 * passed.
 */
void slate_series_passed(struct slate_dev *d, uint64_t now_ns) SSD_SELDOM;
void slate_series_note(struct slate_series *s, const struct ftl_io *io);
void slate_series_restart(struct slate_dev *d, uint64_t now_ns);
void slate_series_free(struct slate_dev *d);
void *slate_log_series(const struct slate_dev *d, uint64_t now_ns, size_t *bytes);
/* slate_latency.c. A mark was set: keep what the buckets have counted since the mark before it. */
void slate_causes_mark(struct slate_causes *c, struct mark *m);
void slate_causes_restart(struct slate_dev *d);
void slate_forget_marks(struct slate_dev *d);
void *slate_log_latency(const struct slate_dev *d, uint64_t now_ns, size_t *bytes);
/* slate_log.c. Make an empty log of `bytes` bytes. */
void *slate_new_log(const struct slate_dev *d, uint64_t now_ns, uint32_t id, size_t bytes);
/*
 * slate_power.c. slate_power_fails() cuts the power at the planned moment; slate_mount() calls
 * slate_start_ftl() and counts its commands.
 */
void slate_power_fails(struct slate_dev *d) SSD_SELDOM;
void slate_note_power_loss(struct slate_dev *d);
void slate_save_at_close(struct slate_dev *d);
int slate_mount(struct slate_dev *d, uint64_t now_ns, uint64_t *ready_ns) SSD_MUST_CHECK;
void slate_power_mounted(struct slate_dev *d);	/* A planned cut within the mount is moved to its end. */
void slate_note_mount(struct slate_dev *d, uint64_t on_ns, uint64_t took_ns);
int slate_keep_counts(struct slate_dev *d) SSD_MUST_CHECK;
void slate_count_refused(struct slate_dev *d, enum ftl_op op);	/* count a request that no FTL gets */

/*
 * slate_room.c: watch the drive's memory if need_bytes, all that it may take, do not fit. Returns SSD_OK or
 * SSD_E_NOMEM.
 */
int slate_watch_memory(struct slate_dev *d, const struct slate_options *o, uint64_t need_bytes) SSD_MUST_CHECK;
void slate_hold_memory(struct slate_dev *d, uint64_t offset);	/* a page is about to be stored there in the image */
void slate_give_memory(struct slate_dev *d, uint64_t offset, uint64_t bytes);	/* these PBs are no longer used */
bool slate_has_room(struct slate_dev *d, const struct ftl_io *io);

static inline void *slate_image(const struct slate_dev *d)
{
	return d->path ? drive_file_image(&d->file) : d->image.at;
}
void slate_breaks(struct slate_dev *d, uint64_t now_ns);	/* The drive loses its power for good. */
void slate_begin_events(struct slate_dev *d); /* slate_events.c: drops events that contradict themselves */
/*
 * slate_sanitize.c. slate_sanitize_goes_on() is called when the array has power again. It returns true if a sanitize
 * operation was interrupted and now goes on; then the caller must not mount the FTL. slate_sanitize_to_end() runs the
 * rest of the operation at once. slate_sanitize_step() stands in for slate_step() while the drive is sanitized.
 */
bool slate_sanitize_goes_on(struct slate_dev *d);
int slate_sanitize_to_end(struct slate_dev *d, uint64_t *ready_ns) SSD_MUST_CHECK;
uint64_t slate_sanitize_step(struct slate_dev *d, uint64_t now_ns) SSD_SELDOM;
/* Copy bytes of own_record. */
void slate_record_content(const struct slate_dev *d, uint64_t at, void *buf, size_t len);
/*
 * These functions are called while d->sanitizing is not SLATE_NOT_SANITIZING. The first one: does the I/O end at once,
 * without the FTL? If so, its status is set, and what it reads is copied. The second one: the FTL has ended an I/O.
 */
bool slate_sanitize_answers(struct slate_dev *d, struct ftl_io *io) SSD_SELDOM;
void slate_sanitize_wrote(struct slate_dev *d, const struct ftl_io *io) SSD_SELDOM;
/* Does the drive have power, is it mounted at now_ns, and is no cut due? */
static inline bool slate_undisturbed(const struct slate_dev *d, uint64_t now_ns)
{
	return now_ns < d->cut_ns && now_ns >= d->ready_ns && d->power.on;
}

#endif
