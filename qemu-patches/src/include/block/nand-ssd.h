/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of a front end to a nand-ssd node through bdrv_co_ioctl().
 *
 * A request completes without yielding and takes no device time.
 */
#ifndef BLOCK_NAND_SSD_H
#define BLOCK_NAND_SSD_H

#include "qemu/notify.h"

#define NAND_SSD_DRIVER "nand-ssd"

/*
 * Close the current interval of the drive's statistics and begin the next.
 * -EINVAL: no such kind; -ENOSPC: the drive keeps no more marks.
 */
#define NAND_SSD_IOCTL_MARK 0x534c4d4b

#define NAND_SSD_LABEL_BYTES 16

typedef struct NandSsdMarkRequest {
    uint32_t kind;                      /* enum slate_mark_kind */
    char label[NAND_SSD_LABEL_BYTES];   /* NUL-padded, not terminated */
} NandSsdMarkRequest;

/*
 * A machine's guest may be the same in all runs up to a moment. The time series
 * of its processors then begin there, and no timer of a drive expires before.
 * Call the first function before the machine starts, and the second in a timer
 * of QEMU_CLOCK_VIRTUAL.
 */
#ifdef CONFIG_SLATE
void nand_ssd_await_work(void);
void nand_ssd_work_begins(void);
#else
static inline void nand_ssd_await_work(void)
{
}

static inline void nand_ssd_work_begins(void)
{
}
#endif

/*
 * Zones. The block layer's zoned operations, and writes to zones, end with
 * these errors. Those for limits of zones are the errors that Linux uses.
 */
#define NAND_SSD_EZONE_WP       EILSEQ          /* not at the write pointer */
#define NAND_SSD_EZONE_BOUNDARY ERANGE          /* beyond the capacity */
#define NAND_SSD_EZONE_FULL     EXFULL
#define NAND_SSD_EZONE_READONLY EUCLEAN
#define NAND_SSD_EZONE_OFFLINE  ESHUTDOWN
#define NAND_SSD_EZONE_STATE    EBADFD          /* invalid state transition */
#define NAND_SSD_EZONE_OPEN     ETOOMANYREFS    /* too many open zones */
#define NAND_SSD_EZONE_ACTIVE   EOVERFLOW       /* too many active zones */
#define NAND_SSD_EZONE_AREA     ENOBUFS         /* no random write area now */
#define NAND_SSD_EZONE_OP       EPROTOTYPE      /* append to such an area */

/*
 * Operations of bdrv_co_zone_mgmt() that only a nand-ssd has, on one zone: open
 * it, with a random write area; commit its area up to `len` bytes from `offset`
 * on, the zone's first byte.
 */
#define NAND_SSD_ZO_OPEN_AREA   ((BlockZoneOp)0x100)
#define NAND_SSD_ZO_COMMIT      ((BlockZoneOp)0x101)

typedef struct NandSsdAreas {           /* random write areas */
    uint64_t bytes;                     /* 0: the drive has none */
    uint64_t granule;                   /* of commits */
    uint32_t zones;                     /* that may have one */
} NandSsdAreas;

/*
 * Zones that the drive itself has made read-only, offline or full, and that the
 * host does not know of. The notifier is called when there are more, like that
 * of the power below.
 */
#ifdef CONFIG_SLATE
void nand_ssd_add_zones_notifier(BlockDriverState *bs, Notifier *notifier);
/*
 * Returns how many zones the drive has changed since the host was told; the
 * numbers of the first `max` go to zone[].
 */
unsigned int nand_ssd_changed_zones(BlockDriverState *bs, uint32_t *zone,
                                    unsigned int max);
/* Note that the host knows of these zones; zone NULL: of all zones. */
void nand_ssd_zones_told(BlockDriverState *bs, const uint32_t *zone,
                         unsigned int count);
/* Has a mount ended the zone at this offset? */
bool nand_ssd_zone_ended(BlockDriverState *bs, uint64_t offset);
bool nand_ssd_zone_has_area(BlockDriverState *bs, uint64_t offset);
void nand_ssd_get_areas(BlockDriverState *bs, NandSsdAreas *areas);
/* May a read go on in the next zone? */
bool nand_ssd_cross_reads(BlockDriverState *bs);
#else
static inline unsigned int nand_ssd_changed_zones(BlockDriverState *bs,
                                                  uint32_t *zone,
                                                  unsigned int max)
{
    return 0;
}
static inline void nand_ssd_zones_told(BlockDriverState *bs,
                                       const uint32_t *zone,
                                       unsigned int count)
{
}

static inline bool nand_ssd_zone_ended(BlockDriverState *bs, uint64_t offset)
{
    return false;
}

static inline bool nand_ssd_zone_has_area(BlockDriverState *bs, uint64_t offset)
{
    return false;
}

static inline void nand_ssd_get_areas(BlockDriverState *bs, NandSsdAreas *areas)
{
    *areas = (NandSsdAreas) { 0 };
}

static inline bool nand_ssd_cross_reads(BlockDriverState *bs)
{
    return false;
}
#endif

/*
 * Power. A front end that shares the drive's power is notified, with a bool,
 * when the drive loses its power and when the power is on again. All requests
 * that were in flight end with -EIO right after the loss. Both calls come from
 * the main loop or the vCPU thread, with the BQL held. Returns whether the
 * power is on now.
 */
bool nand_ssd_add_power_notifier(BlockDriverState *bs, Notifier *notifier);

typedef enum NandSsdCutWhen {           /* enum slate_cut_when */
    NAND_SSD_CUT_NEVER,                 /* cancels a plan */
    NAND_SSD_CUT_NOW,
    NAND_SSD_CUT_AFTER_COMMANDS,
    NAND_SSD_CUT_AT_NS,
    NAND_SSD_CUT_AFTER_MARK,
} NandSsdCutWhen;

typedef struct NandSsdCut {
    NandSsdCutWhen when;
    uint64_t value;                     /* commands, or ns of clock or mark */
    uint64_t seed;                      /* what torn cells hold */
    char mark[NAND_SSD_LABEL_BYTES];    /* NAND_SSD_CUT_AFTER_MARK: label */
} NandSsdCut;

/*
 * Plan a power cut. A cut that is planned for now also comes from a timer,
 * after this call. `then` is called at the cut, with no lock but the BQL held.
 * Returns -EINVAL with a message if the moment has passed or cannot come.
 */
typedef void NandSsdCutFunc(BlockDriverState *bs, void *opaque);
int nand_ssd_plan_cut(BlockDriverState *bs, const NandSsdCut *cut,
                      NandSsdCutFunc *then, void *opaque, Error **errp);
int nand_ssd_power_on(BlockDriverState *bs, Error **errp);

/*
 * Controls: logs and vendor commands (SPEC.md). Numbers pass through unchanged.
 * A status has NVMe's form, type << 8 | code; 0 means done. The caller holds
 * the BQL. No function yields or takes device time. A build without the driver
 * has no node for these functions.
 */
#define NAND_SSD_LOG_FIRST 0xd0
#define NAND_SSD_LOG_LAST 0xd7
#define NAND_SSD_SET_WORDS_MAX 128      /* data of Set, 32 bits each */

typedef enum NandSsdReader {            /* each has its own snapshots */
    NAND_SSD_GUEST,
    NAND_SSD_QMP,
    NAND_SSD_READERS,
} NandSsdReader;

typedef enum NandSsdOpcode {
    NAND_SSD_SET = 0xc1,
    NAND_SSD_CONTROL = 0xc4,
} NandSsdOpcode;

/* The machine executes these commands of CONTROL, and acts after a cut. */
#define NAND_SSD_POWER_CUT 5
#define NAND_SSD_CANCEL_CUT 6
#define NAND_SSD_THEN_LAST 2            /* vanish, reset, shutdown */
#define NAND_SSD_REFUSED 0x1c0          /* status */

typedef struct NandSsdCommand {
    NandSsdOpcode opcode;
    uint32_t command;                   /* CONTROL: enum slate_control */
    uint32_t arg[3];
    const char *text;                   /* SET */
} NandSsdCommand;

typedef struct NandSsdHealth {
    uint32_t used_percent;
    uint32_t spare_percent;
    bool read_only;
    uint64_t media_errors;
    uint64_t power_cycles;
    uint64_t unsafe_shutdowns;
} NandSsdHealth;

/* Counts of bytes begin when the drive is opened; orders do not reset them. */
typedef struct NandSsdMedia {
    uint32_t drives;                    /* for sums of drives */
    uint32_t free_percent;              /* of the blocks; 0: not known */
    uint64_t programmed_bytes, read_bytes, erased_bytes;
    uint64_t blocks, bad_blocks;
    uint64_t uncorrectable;             /* reads */
    uint64_t refreshed_blocks;          /* moved because of read errors */
    uint64_t unsafe_shutdowns;
    uint32_t erases_min, erases_max;    /* of a block that is not bad */
} NandSsdMedia;

typedef struct NandSsdSizes {           /* bytes */
    uint32_t write_granularity;
    uint32_t write_optimal;
    uint32_t trim_granularity;
    uint32_t atomic;
    uint32_t namespaces;                /* at most; 0: the drive has no table */
    uint32_t copy;                      /* the largest Copy */
    uint32_t lost;                      /* of writes of lost content; 0: none */
    uint32_t metadata;                  /* of 512 bytes, at most; 0: none */
    bool write_cache;                   /* writes may be lost until flushed */
} NandSsdSizes;

/*
 * Placement handles (ftl.placement_handles). A write names one, 0 to 127, in
 * its BdrvRequestFlags: the low three bits in bits 12 to 14, the others where
 * requests to a drive with several namespaces name theirs. Such a drive takes
 * the handle that the namespace's number gives, modulo the number of handles.
 * Handle h of reclaim group g is number g * handles + h.
 * Other nodes ignore it. The counts of bytes begin when the drive is opened.
 */
#define NAND_SSD_REQ_HANDLE_SHIFT 12
#define NAND_SSD_REQ_HANDLE (7 << NAND_SSD_REQ_HANDLE_SHIFT)
#define NAND_SSD_REQ_HANDLE_BITS 3

/*
 * BDRV_REQ_CROSSING_MASK says which part of a request crosses the drive's host
 * link (enum ftl_crossing). Other nodes drop the bits.
 *
 * bdrv_co_pwrite_zeroes() with BDRV_REQ_LOST makes the range lost: reads end
 * with -EIO until it is written. The range has whole units (NandSsdSizes).
 */
#define NAND_SSD_REQ_CROSSING_SHIFT 23
#define NAND_SSD_REQ_NO_DATA (1 << NAND_SSD_REQ_CROSSING_SHIFT)
#define NAND_SSD_REQ_INTERNAL (2 << NAND_SSD_REQ_CROSSING_SHIFT)

/*
 * The request's vector has metadata of its blocks behind the request's bytes:
 * behind iov->size, or else blk_aio_preadv() and blk_aio_pwritev() would take
 * them for data. They are stored in the spare area with the data; those of
 * sectors that were trimmed, or written without metadata, are FFh.
 */
#define NAND_SSD_REQ_METADATA BDRV_REQ_METADATA
#define NAND_SSD_METADATA_MAX 254       /* bytes of 512 */

typedef struct NandSsdPlacement {
    uint32_t handles;                   /* of each group; 0: no placement */
    uint32_t groups;                    /* reclaim groups */
    bool persistent;                    /* GC keeps them apart, too */
    uint64_t unit_bytes;                /* of a reclaim unit */
    uint64_t host_bytes;                /* written by the host */
    uint64_t media_bytes;               /* programmed */
    uint64_t erased_bytes;
} NandSsdPlacement;

/*
 * Submission queues (controller.arbitration other than fifo). A request names
 * its queue, 0 to 63, and the queue's priority in bits of its BdrvRequestFlags.
 * Queues of a drive without weights have no priorities. If the drive may have
 * several namespaces, a request names its own, 0 to 15, so that the drive tells
 * whom it waits for. Other nodes drop the bits.
 */
#define NAND_SSD_REQ_QUEUE_SHIFT 15
#define NAND_SSD_REQ_QUEUE (0x3f << NAND_SSD_REQ_QUEUE_SHIFT)
#define NAND_SSD_REQ_PRIORITY_SHIFT 21
#define NAND_SSD_REQ_PRIORITY (3 << NAND_SSD_REQ_PRIORITY_SHIFT)
#define NAND_SSD_REQ_NAMESPACE_SHIFT 26
#define NAND_SSD_REQ_NAMESPACE (0xf << NAND_SSD_REQ_NAMESPACE_SHIFT)
#define NAND_SSD_REQ_FROM (NAND_SSD_REQ_QUEUE | NAND_SSD_REQ_PRIORITY | \
                           NAND_SSD_REQ_NAMESPACE)

/*
 * Returns the flags of a write by a handle of a drive without a table of
 * namespaces.
 */
static inline uint32_t nand_ssd_handle_flags(uint32_t handle)
{
    return (handle << NAND_SSD_REQ_HANDLE_SHIFT & NAND_SSD_REQ_HANDLE) |
           handle >> NAND_SSD_REQ_HANDLE_BITS << NAND_SSD_REQ_NAMESPACE_SHIFT;
}

/* Priorities are NVMe's QPRIO: urgent, high, medium, low. */
#define NAND_SSD_HIGH 1

typedef struct NandSsdArbitration {
    bool queues;        /* commands are taken queue by queue, or else by age */
    bool weighted;      /* urgent queues first, others by class and weight */
    uint32_t burst;                     /* 1 to 65536 */
    uint32_t high, medium, low;         /* weights, 1 to 256 */
} NandSsdArbitration;

#ifdef CONFIG_SLATE
void nand_ssd_get_arbitration(BlockDriverState *bs, NandSsdArbitration *a);
/* Sets burst and weights. Returns false if the drive refuses (log 0xd6). */
bool nand_ssd_set_arbitration(BlockDriverState *bs,
                              const NandSsdArbitration *a);
#else
static inline void nand_ssd_get_arbitration(BlockDriverState *bs,
                                            NandSsdArbitration *a)
{
    *a = (NandSsdArbitration) { 0 };
}

static inline bool nand_ssd_set_arbitration(BlockDriverState *bs,
                                            const NandSsdArbitration *a)
{
    return false;
}
#endif

#ifdef CONFIG_SLATE
void nand_ssd_get_placement(BlockDriverState *bs, NandSsdPlacement *p);
/* Returns the bytes that fit into the handle's present reclaim unit. */
uint64_t nand_ssd_handle_left(BlockDriverState *bs, uint32_t handle);
/* Begin another reclaim unit. Returns the bytes left in the old one. */
uint64_t nand_ssd_renew_handle(BlockDriverState *bs, uint32_t handle);
#else
static inline void nand_ssd_get_placement(BlockDriverState *bs,
                                          NandSsdPlacement *p)
{
    *p = (NandSsdPlacement) { 0 };
}

static inline uint64_t nand_ssd_handle_left(BlockDriverState *bs,
                                            uint32_t handle)
{
    return 0;
}

static inline uint64_t nand_ssd_renew_handle(BlockDriverState *bs,
                                             uint32_t handle)
{
    return 0;
}
#endif

/*
 * Sanitize operations. While one is under way, requests end with
 * -NAND_SSD_ESANITIZE, which is no error of other block drivers. The notifier
 * is called when one has begun, and like that of the power when it has ended.
 */
#define NAND_SSD_ESANITIZE EALREADY

typedef enum NandSsdSanitizeState {     /* enum slate_sanitize_state */
    NAND_SSD_SANITIZE_NEVER,
    NAND_SSD_SANITIZE_RUNNING,
    NAND_SSD_SANITIZE_DONE,
    NAND_SSD_SANITIZE_FAILED,
} NandSsdSanitizeState;

typedef struct NandSsdSanitize {
    NandSsdSanitizeState state;         /* of the last operation */
    uint32_t tag;                       /* see nand_ssd_sanitize() */
    uint32_t row, rows;                 /* RUNNING: how far it is */
    uint32_t passes;                    /* ended ones, if it overwrites */
    bool blank;                         /* no host data (slate_sanitize.h) */
    uint64_t erase_ns;                  /* of a whole operation */
    uint64_t overwrite_ns;              /* of one with 16 passes */
} NandSsdSanitize;

#ifdef CONFIG_SLATE
bool nand_ssd_can_sanitize(BlockDriverState *bs);
/* Would nand_ssd_sanitize() begin one now? */
bool nand_ssd_sanitize_ready(BlockDriverState *bs);
/*
 * Begin an operation. The tag is Dword 10 of NVMe's command Sanitize, and the
 * pattern its Dword 11. Returns 0 or a negative errno.
 */
int nand_ssd_sanitize(BlockDriverState *bs, uint32_t tag, uint32_t pattern);
/*
 * The drive has namespaces: what its last mapping unit has after the operation
 * that begins next, NAND_SSD_RECORD_BYTES and zeroes, and reads of it meanwhile
 * find; NULL: zeroes.
 */
#define NAND_SSD_RECORD_BYTES 512
void nand_ssd_keep_record(BlockDriverState *bs, const void *record);
/* The host may have user data elsewhere: the drive is not blank. */
void nand_ssd_mark_written(BlockDriverState *bs);
void nand_ssd_set_sanitize_tag(BlockDriverState *bs, uint32_t tag);
void nand_ssd_get_sanitize(BlockDriverState *bs, NandSsdSanitize *out);
void nand_ssd_add_sanitize_notifier(BlockDriverState *bs, Notifier *notifier);
#else
static inline bool nand_ssd_can_sanitize(BlockDriverState *bs)
{
    return false;
}

static inline bool nand_ssd_sanitize_ready(BlockDriverState *bs)
{
    return false;
}

static inline int nand_ssd_sanitize(BlockDriverState *bs, uint32_t tag,
                                    uint32_t pattern)
{
    return -ENOTSUP;
}

static inline void nand_ssd_keep_record(BlockDriverState *bs,
                                        const void *record)
{
}

static inline void nand_ssd_mark_written(BlockDriverState *bs)
{
}

static inline void nand_ssd_set_sanitize_tag(BlockDriverState *bs, uint32_t tag)
{
}

static inline void nand_ssd_get_sanitize(BlockDriverState *bs,
                                         NandSsdSanitize *out)
{
    *out = (NandSsdSanitize) { 0 };
}
#endif

#ifdef CONFIG_SLATE
/*
 * Events that the drive keeps for good, the newest that fit (slate_events.h).
 * An unsafe shutdown is untold until its event is appended. A copy has the
 * newest first; g_free() it.
 */
void nand_ssd_append_event(BlockDriverState *bs, const void *event,
                           size_t bytes);
uint32_t nand_ssd_untold_shutdowns(BlockDriverState *bs);
void nand_ssd_append_shutdown(BlockDriverState *bs, const void *event,
                              size_t bytes);
void *nand_ssd_copy_events(BlockDriverState *bs, size_t *bytes,
                           uint32_t *count);

/*
 * Option guest-control: may a guest read logs and set marks, and may it give
 * orders? The front end asks; QMP has no such limits.
 */
bool nand_ssd_guest_sees(BlockDriverState *bs);
bool nand_ssd_guest_orders(BlockDriverState *bs);

/*
 * Read up to len bytes from offset on, of a new picture if offset is 0.
 * Returns how many; -ENOENT: there is no such log; -EINVAL: it ends before
 * offset.
 */
ssize_t nand_ssd_read_log(BlockDriverState *bs, NandSsdReader reader,
                          uint32_t id, uint64_t offset, void *buf, size_t len,
                          uint64_t *log_bytes);
/* Returns a new picture of a log, to be freed with free(). */
void *nand_ssd_copy_log(BlockDriverState *bs, uint32_t id, size_t *bytes);
uint32_t nand_ssd_command(BlockDriverState *bs, const NandSsdCommand *c,
                          uint32_t *result);
/* Note a refusal by the front end, which log 0xd6 reports. */
void nand_ssd_refuse(BlockDriverState *bs, NandSsdOpcode opcode,
                     uint32_t command, uint32_t status, const char *why);
void nand_ssd_get_health(BlockDriverState *bs, NandSsdHealth *health);
void nand_ssd_get_media(BlockDriverState *bs, NandSsdMedia *media);
void nand_ssd_get_sizes(BlockDriverState *bs, NandSsdSizes *sizes);
/* Tell the drive that the host shuts down. */
void nand_ssd_shut_down(BlockDriverState *bs);
#else
static inline void nand_ssd_append_event(BlockDriverState *bs,
                                         const void *event, size_t bytes)
{
}

static inline uint32_t nand_ssd_untold_shutdowns(BlockDriverState *bs)
{
    return 0;
}

static inline void nand_ssd_append_shutdown(BlockDriverState *bs,
                                            const void *event, size_t bytes)
{
}

static inline void *nand_ssd_copy_events(BlockDriverState *bs, size_t *bytes,
                                         uint32_t *count)
{
    *bytes = *count = 0;
    return NULL;
}

static inline bool nand_ssd_guest_sees(BlockDriverState *bs)
{
    return false;
}

static inline bool nand_ssd_guest_orders(BlockDriverState *bs)
{
    return false;
}

static inline ssize_t nand_ssd_read_log(BlockDriverState *bs,
                                        NandSsdReader reader, uint32_t id,
                                        uint64_t offset, void *buf, size_t len,
                                        uint64_t *log_bytes)
{
    return -ENOENT;
}

static inline void *nand_ssd_copy_log(BlockDriverState *bs, uint32_t id,
                                      size_t *bytes)
{
    *bytes = 0;
    return NULL;
}

static inline uint32_t nand_ssd_command(BlockDriverState *bs,
                                        const NandSsdCommand *c,
                                        uint32_t *result)
{
    return 1;
}

static inline void nand_ssd_refuse(BlockDriverState *bs, NandSsdOpcode opcode,
                                   uint32_t command, uint32_t status,
                                   const char *why)
{
}

static inline void nand_ssd_get_health(BlockDriverState *bs,
                                       NandSsdHealth *health)
{
}

static inline void nand_ssd_get_media(BlockDriverState *bs,
                                      NandSsdMedia *media)
{
    *media = (NandSsdMedia) { 0 };
}

static inline void nand_ssd_get_sizes(BlockDriverState *bs,
                                      NandSsdSizes *sizes)
{
}

static inline void nand_ssd_shut_down(BlockDriverState *bs)
{
}
#endif

/*
 * nand-ssd-machine.c: plan a cut and the machine's action after it (QAPI).
 */
int nand_ssd_machine_plan_cut(BlockDriverState *bs, const NandSsdCut *cut,
                              int then, Error **errp);

#endif
