/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slate.h - a whole drive for a shell: profile file, memory, array and FTL.  QEMU, qemu-io, the
 * replayer and the tests use this interface only. It allocates memory, reads files and makes error
 * messages; the core does not. Not thread-safe: one caller at a time per drive.
 */
#ifndef SLATE_H
#define SLATE_H

#include "ftl.h"
#include "nand.h"

#define SLATE_ERR_BYTES 512	/* room for one error message */
#define SLATE_MARKS_MAX 1024
#define SLATE_MARKS_FULL "(marks are full)"	/* a label */
#define SLATE_LABEL_BYTES 16	/* NUL-padded; not always terminated */

struct slate_dev;

enum slate_mark_kind { SLATE_MARK_POINT, SLATE_MARK_BEGIN, SLATE_MARK_END };

/* The guest sets a mark at a time. Statistics are kept for each interval between marks. */
struct slate_mark {
	enum slate_mark_kind kind;
	char label[SLATE_LABEL_BYTES + 1];
	uint64_t at_ns;
};

/*
 * What to open. profile: path of an INI file; NULL: the settings kept in the
 * drive file. overrides: NULL-terminated list of "section.key=value", or NULL.
 * backing: path of the drive file, made if there is none; NULL: the drive lives
 * in memory. ephemeral: start from the drive file and leave it untouched.
 * zeroes: preconditioning writes zeroes, which take no room, instead of bytes
 * that all differ. progress: called now and then while it goes on; false stops it
 * (slate_open() says SSD_E_POWER, and a new drive file is removed). record: path
 * of a file that gets every call into the drive from here on, see docs/replay.md;
 * NULL: none. record_content: path of a file that gets every request and what is
 * written, up to the drive's first power cut, see docs/content-trace.md; NULL: none.
 * profile and backing NULL: the overrides say everything. memory_wanted: returns the bytes of
 * memory that the shell will still take (exact), or an upper bound that is cheaper to get (not exact). A drive that is
 * watched (slate_room.c) keeps so much free. NULL: none.
 */
struct slate_options {
	const char *profile;
	const char *const *overrides;
	const char *backing;
	bool ephemeral;
	bool zeroes;
	const char *record;
	const char *record_content;
	bool (*progress)(void *opaque, uint64_t done_bytes, uint64_t all_bytes);
	uint64_t (*memory_wanted)(void *opaque, bool exact);
	void *opaque;
};

/*
 * Open a drive. Returns 0, or a negative ssd_err with one sentence in err that names the file, the key, the value, the
 * range and the fix. A drive that was there before is mounted as after a power cut, and not preconditioned again.
 */
int slate_open(const struct slate_options *o, const struct ftl_host *host,
	       struct slate_dev **out, char err[SLATE_ERR_BYTES]) SSD_MUST_CHECK;
/*
 * End the recordings; keep: keep the files. Returns false, after a message on stderr, if one could
 * not be written.
 */
bool slate_end_record(struct slate_dev *d, bool keep);
/*
 * Tell the drive that the host's machine is stopped or runs. While it is stopped, a content trace
 * omits flushes, because they come from the shell and have no virtual time.
 */
void slate_machine_stands(struct slate_dev *d, bool stands);
/* Close the drive. Recordings that have not ended are kept. */
void slate_close(struct slate_dev *d);

/* Returns how many requests were refused because the disk or the memory of the host had no room. */
uint64_t slate_refused(const struct slate_dev *d);
uint64_t slate_capacity(const struct slate_dev *d);		/* bytes */
uint32_t slate_unit_bytes(const struct slate_dev *d);		/* mapping unit */
uint32_t slate_page_bytes(const struct slate_dev *d);		/* NAND page */
uint32_t slate_cores(const struct slate_dev *d);		/* cores of its controller; 0: unlimited */

struct slate_arbitration {
	enum ftl_arbitration kind;
	uint32_t burst;			/* 1 .. 65536 */
	uint32_t high, medium, low;	/* weights, 1 .. 256 */
};

/* Returns the controller's arbitration of submission queues (arbiter.h). slate_set() changes its numbers. */
struct slate_arbitration slate_arbitration(const struct slate_dev *d);
/* Can a completed write be lost until it is flushed? */
bool slate_has_write_cache(const struct slate_dev *d);
bool slate_ignores_flush(const struct slate_dev *d);		/* drive.ignore_flush: what was flushed may be lost */
bool slate_trims(const struct slate_dev *d);			/* trimmed units read as zeroes */
const char *slate_profile_name(const struct slate_dev *d);
/* Was the drive in its file before, so that it was mounted and not made? */
bool slate_was_there(const struct slate_dev *d);
const struct nand_geometry *slate_geometry(const struct slate_dev *d);
const char *slate_ftl_name(const struct slate_dev *d);
/* Returns the name of ftl.gc_policy, or NULL if the FTL does not use it. */
const char *slate_gc_policy(const struct slate_dev *d);
/* Returns the bytes of the FTL's mapping tables; 0: the FTL does not report them. */
uint64_t slate_map_bytes(const struct slate_dev *d);
/* Returns canonical "section.key=value" lines of every setting, for run.json. */
const char *slate_settings(const struct slate_dev *d);

/* Zones (ftl.h). slate_zones() returns false if the drive has none; without power slate_zone() returns zeroes. */
bool slate_zones(const struct slate_dev *d, struct ftl_zones *out);
struct ftl_zone slate_zone(const struct slate_dev *d, uint32_t zone);
void slate_zone_told(struct slate_dev *d, uint32_t zone);	/* with power */

/*
 * Returns how many namespaces a host may create (drive.namespaces), at most 16; 0: it has one over the whole
 * capacity. The shell keeps them, and writes their table to the last mapping unit.
 */
uint32_t slate_namespaces(const struct slate_dev *d);

/*
 * slate_handles() returns the number of placement handles of all reclaim groups (ftl_handles()), or 0 if the drive has
 * none; slate_groups() returns the number of groups, which have equally many handles. `handle` must be below
 * slate_handles(). Without power, all fields of a handle are 0, and renewing it does nothing.
 */
uint32_t slate_handles(const struct slate_dev *d);
uint32_t slate_groups(const struct slate_dev *d);
bool slate_handles_persist(const struct slate_dev *d);	/* do copies stay apart, too? */
struct ftl_handle slate_handle(const struct slate_dev *d, uint32_t handle);
uint64_t slate_renew_handle(struct slate_dev *d, uint64_t now_ns, uint32_t handle);

/* Give the drive a request at now_ns, which never decreases. See ftl.h. */
void slate_submit(struct slate_dev *d, uint64_t now_ns, struct ftl_io *io);
uint64_t slate_step(struct slate_dev *d, uint64_t now_ns);
uint32_t slate_inflight(const struct slate_dev *d);
/*
 * Call `fn` after each call of the array with commands (nand.h), from now on; NULL: no more. Times in `cmds` are
 * ahead_ns later than those of the shell's clock; not so in a mount, so end the watch before slate_power_on().
 */
typedef void slate_watch_fn(void *opaque, const struct nand_cmd *cmds, unsigned int count, uint64_t ahead_ns);
void slate_watch(struct slate_dev *d, slate_watch_fn *fn, void *opaque);
/* Assert every invariant of the FTL: ends the program if one is broken. O(pages). */
void slate_check(const struct slate_dev *d);

/*
 * Precondition, instantly: fill writes the first fill_permille of the capacity
 * in order; age then overwrites age_permille of the capacity (1000 = once) in
 * random 4 KiB units of the filled part. Takes no device time: afterwards every
 * die is idle, time begins at 0 again and the statistics are clear. Call
 * before the first submit. Also done by slate_open() when the profile or an
 * override sets precondition.fill_permille / precondition.age_permille.
 */
int slate_precondition(struct slate_dev *d, uint32_t fill_permille, uint32_t age_permille,
		       uint64_t seed) SSD_MUST_CHECK;

/* Statistics. The functions return copies and may be called at any time. */
struct slate_stats {
	struct ftl_stats ftl;
	struct nand_stats nand;
};
void slate_get_stats(const struct slate_dev *d, struct slate_stats *out);
/* Restart all statistics and busy times at 0. Levels stay; marks are removed. */
void slate_reset_stats(struct slate_dev *d);
uint32_t slate_dies(const struct slate_dev *d);
uint32_t slate_channels(const struct slate_dev *d);
/* Return the time that a die (channel) was busy for a source since the drive was opened. */
uint64_t slate_die_busy_ns(const struct slate_dev *d, uint32_t die, enum nand_source s);
uint64_t slate_bus_busy_ns(const struct slate_dev *d, uint32_t channel, enum nand_source s);
/*
 * Set a mark. A begin while a begin with the same label is open (its end has not come) is counted, and the
 * end that closes the last of them is the mark: the clones of a job share one pair. Returns SSD_E_NOSPC when
 * there are SLATE_MARKS_MAX marks; the last of them is then a point SLATE_MARKS_FULL, so the statistics tell
 * from when on marks are missing.
 */
int slate_mark(struct slate_dev *d, uint64_t now_ns, enum slate_mark_kind kind,
	       const char label[SLATE_LABEL_BYTES]);
uint32_t slate_mark_count(const struct slate_dev *d);
/* Get mark i. interval: statistics from the previous mark (or the start) to it. */
void slate_get_mark(const struct slate_dev *d, uint32_t i, struct slate_mark *mark,
		    struct slate_stats *interval);

/*
 * The histogram of an operation's latencies, if slate_keep_causes() was called: each bucket that
 * has I/Os, in ascending order. mark: the mark at which the interval ends, or SLATE_NO_MARK for all
 * I/Os since the counters were reset. Values below 2 * SLATE_BUCKETS_AN_OCTAVE have a bucket each.
 */
#define SLATE_NO_MARK UINT32_MAX
#define SLATE_BUCKETS_AN_OCTAVE 1024u
typedef void slate_bucket_fn(void *opaque, uint64_t floor_ns, uint64_t ios);
void slate_each_bucket(const struct slate_dev *d, uint32_t mark, enum ftl_op op, slate_bucket_fn *fn,
		       void *opaque);

#endif
