/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slate_control.h - a drive's controls for a shell: it returns logs and takes orders in the formats
 * of slate_wire.h, which the shell passes on unchanged.
 *
 * The work that an order starts takes device time, so the shell must then call slate_step().
 * Recordings of calls (slate_options.record) do not contain orders, so orders that change the
 * drive's behaviour are refused during a recording.
 */
#ifndef SLATE_CONTROL_H
#define SLATE_CONTROL_H

#include "slate.h"
#include "slate_wire.h"

/* Keep latencies by cause from now on. Otherwise SLATE_LOG_LATENCY has no entries. */
int slate_keep_causes(struct slate_dev *d) SSD_MUST_CHECK;

/*
 * Keep a time series from now on. Otherwise SLATE_LOG_SERIES has no rows. A row ends at the first call
 * at or after its end, so that a series depends only on the times of calls.
 */
int slate_keep_series(struct slate_dev *d, uint64_t now_ns) SSD_MUST_CHECK;
/* Returns the end of the current row; UINT64_MAX: no series is kept. */
uint64_t slate_series_end_ns(const struct slate_dev *d);

/*
 * Begin the series anew, with a column for each of the host's processors. At a row's end
 * busy_ns(opaque, ns) stores in ns[0 .. count - 1] how long each was busy since a fixed moment,
 * in ns. It is called from slate_submit(), slate_step() and slate_log(); for exact rows, call
 * slate_step() at slate_series_end_ns(). Returns SSD_OK or SSD_E_NOMEM (no series is kept then).
 */
int slate_set_processors(struct slate_dev *d, uint64_t now_ns, uint32_t count,
			 void (*busy_ns)(void *opaque, uint64_t *ns), void *opaque) SSD_MUST_CHECK;

/* Returns a log of the present state, to be freed with free(), or NULL if there is no such log. */
void *slate_log(const struct slate_dev *d, uint64_t now_ns, uint32_t id, size_t *bytes) SSD_MUST_CHECK;

struct slate_order {
	uint32_t command;		/* enum slate_control */
	uint32_t arg[3];		/* CDW13 to CDW15 */
};

/* Returns SLATE_DONE, or a status, whose reason slate_why() and SLATE_LOG_ERROR give. */
#define SLATE_DONE 0u

/* Execute an order. Power cuts are not orders, because the shell makes them itself. */
uint32_t slate_control(struct slate_dev *d, uint64_t now_ns, const struct slate_order *o,
		       uint32_t *result) SSD_MUST_CHECK;
/* Set a knob; text is "ftl.key=value". */
uint32_t slate_set(struct slate_dev *d, uint64_t now_ns, const char *text) SSD_MUST_CHECK;
/* The shell refuses a command: record the reason for SLATE_LOG_ERROR. Returns status. */
uint32_t slate_refuse(struct slate_dev *d, uint32_t opcode, uint32_t command, uint32_t status,
		      const char *why);
const char *slate_why(const struct slate_dev *d);	/* "": no command was refused yet */

/* The host interface makes its own health report from these data. */
struct slate_health {
	uint32_t used_percent; /* mean erases of a page in percent of the endurance, at most 255; 0 without
					 * endurance */
	uint32_t spare_percent;		/* good blocks beyond the capacity, in percent */
	bool read_only;			/* writes fail with SSD_E_WORNOUT */
	/* Counts over the drive's life. The end of a killed shell counts as a loss of power. */
	uint64_t media_errors;		/* I/Os that ended with SSD_E_UNCORR */
	uint64_t power_cycles;
	uint64_t unsafe_shutdowns;	/* power lost after a write or trim without slate_shut_down() */
	/* Of these, with ftl.power_protected: the capacitors saved the write buffer, or not all of it. */
	uint64_t saved, unsaved;
};
void slate_get_health(const struct slate_dev *d, struct slate_health *out);

/* What the flash has done since the drive was opened, whatever orders reset; and the state of its blocks. */
struct slate_media {
	uint64_t host_bytes;		/* written by the host */
	uint64_t programmed_bytes, read_bytes;
	uint64_t erased_bytes;		/* of whole blocks */
	uint64_t uncorrectable;		/* reads that returned NAND_UNCORR */
	uint64_t refreshed_blocks;	/* blocks collected because a read was corrected */
	uint64_t blocks, bad_blocks;
	uint32_t erases_min, erases_max;	/* of a block that is not bad */
	uint32_t free_percent;		/* blocks that are free; 0 if the FTL does not report blocks */
};
void slate_get_media(const struct slate_dev *d, struct slate_media *out);

#define SLATE_COPY_MAX (1u << 30)

/*
 * These sizes, in bytes, suit the drive best, or are not torn by a power cut; see also
 * slate_has_write_cache().
 */
struct slate_sizes {
	uint32_t write_granularity;	/* smaller writes also need a read */
	uint32_t write_optimal;		/* size of one full program */
	uint32_t trim_granularity;
	uint32_t atomic;		/* a write within one such unit is stored wholly or not at all */
	uint32_t copy; /* largest Copy: its data are in the write buffer, without one in a page of each
					 * plane, between their read and their write */
	uint32_t metadata;		/* bytes of metadata of a 512-byte sector in the spare area; 0: none */
	uint32_t lost;			/* a write of lost content has whole such units; 0: the FTL takes none */
};
void slate_get_sizes(const struct slate_dev *d, struct slate_sizes *out);

#endif
