/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations shared by the files of the nand-ssd block driver.
 *
 * nand-ssd.c          the driver: time, requests, opening and closing
 * nand-ssd-stats.c    converts the drive's statistics to QAPI
 * nand-ssd-thread.c   the drive in a thread of its own, in real time
 * nand-ssd-power.c    power cuts, and mounting again
 * nand-ssd-control.c  logs and vendor commands
 * nand-ssd-zones.c    zones
 * nand-ssd-processors.c  marks, and how busy the guest's processors are
 */
#ifndef BLOCK_NAND_SSD_INT_H
#define BLOCK_NAND_SSD_INT_H

#include "qapi/qapi-types-block-core.h"
#include "qemu/iov.h"
#include "qemu/queue.h"
#include "qemu/thread.h"
#include "qemu/timer.h"
#include "block/block_int.h"
#include "block/nand-ssd.h"
#include "system/runstate.h"

#include "slate_control.h"
#include "slate_power.h"
#include "slate_events.h"
#include "slate_sanitize.h"
#include "host_memory.h"

typedef struct NandSsdRequest {
    struct ftl_io io;
    uint64_t id;
    QEMUIOVector *qiov;
    size_t qiov_offset;
    Coroutine *co;
    uint64_t handed_ns;             /* when it was handed to the thread */
    bool at_once;                   /* ended without delay, during a stop */
    QTAILQ_ENTRY(NandSsdRequest) next;
} NandSsdRequest;

typedef QTAILQ_HEAD(, NandSsdRequest) NandSsdRequests;

typedef struct NandSsdPicture {         /* the last snapshot of a log */
    void *data;                         /* NULL: no snapshot yet */
    size_t bytes;
} NandSsdPicture;

#define NAND_SSD_LOGS (NAND_SSD_LOG_LAST - NAND_SSD_LOG_FIRST + 1)

typedef struct NandSsdThread NandSsdThread;

typedef struct BDRVNandSsdState {
    BlockDriverState *bs;
    QemuMutex lock;                 /* protects all below, and the drive */
    struct slate_dev *dev;
    NandSsdRequests done;           /* finished by the drive, but not yet due */
    uint64_t next_id;

    uint64_t now_ns;                /* the drive's clock at its last reading */
    uint64_t worked_ns;             /* a request ended while the VM ran */
    QEMUClockType clock;
    int64_t skew_ns;                /* drive's clock - clock */
    QEMUTimer *timer;               /* main loop's list */
    QEMUTimer *guard;               /* main AioContext's list */
    QEMUTimer *row_timer;           /* fires when a row of the series ends */
    int64_t row_at_ns;              /* row_timer's time on clock; 0: idle */
    uint32_t processors;            /* of the guest; 0: unknown */
    uint64_t *mark_busy_ns;         /* busy times: [mark * processors + i] */
    QEMUBH *bh;                     /* delivers requests finished at once */
    NandSsdThread *thread;          /* real time: replaces timers and bh */

    NandSsdRequests submitted;      /* requests that the drive has */
    bool off;                       /* power is off; its requests are lost */
    bool off_news;                  /* `power` is still to be notified */
    uint32_t lost;                  /* requests of the last cut */
    NotifierList power;
    bool sanitizing;                /* was one under way at the last check? */
    bool sanitize_news;             /* `sanitized` is still to be notified */
    NotifierList sanitized;
    NandSsdCutFunc *cut_then;
    void *cut_opaque;
    bool on_at_reset;

    NandSsdPicture picture[NAND_SSD_READERS][NAND_SSD_LOGS];

    bool zoned;
    struct ftl_zones zones;         /* valid if zoned */
    uint64_t zone_capacity;         /* bytes of a zone; valid if zoned */
    NotifierList zones_changed;     /* initialised if zoned */

    NandSsdGuestControl guest_control;
    bool read_only_file;            /* ephemeral because opened read-only */
    VMChangeStateEntry *vm_state;   /* NULL outside a VM */
    bool vm_stopped;
    unsigned drained;
    Error *migration_blocker;
} BDRVNandSsdState;

/* nand-ssd-power.c */
int nand_ssd_errno(enum ssd_err err);

/*
 * nand-ssd-machine.c: returns the bytes that the machine's RAM will still take
 * (exact), or an upper bound. NULL: QEMU's tools, which have no machine.
 */
extern uint64_t (*nand_ssd_memory_wanted)(void *opaque, bool exact);
/* nand-ssd.c: the caller holds the lock. */
void nand_ssd_update_now(BDRVNandSsdState *s);
void nand_ssd_arm(BDRVNandSsdState *s, uint64_t deadline_ns);
void nand_ssd_run(BDRVNandSsdState *s, bool skip);      /* takes the lock */
void nand_ssd_queue_done(BDRVNandSsdState *s, NandSsdRequest *req);
bool nand_ssd_time_stands(BDRVNandSsdState *s);
BDRVNandSsdState *nand_ssd_state(BlockDriverState *bs);

/* nand-ssd.c: hand a request with op, zone, fua, range and qiov to the drive */
int coroutine_fn nand_ssd_co_run(BDRVNandSsdState *s, NandSsdRequest *req);

/* Fields of a request's flags */
static inline uint8_t nand_ssd_queue_of(BdrvRequestFlags flags)
{
    return (flags & NAND_SSD_REQ_QUEUE) >> NAND_SSD_REQ_QUEUE_SHIFT;
}

static inline uint8_t nand_ssd_priority_of(BdrvRequestFlags flags)
{
    return (flags & NAND_SSD_REQ_PRIORITY) >> NAND_SSD_REQ_PRIORITY_SHIFT;
}

static inline uint8_t nand_ssd_namespace_of(BDRVNandSsdState *s,
                                            BdrvRequestFlags flags)
{
    return slate_namespaces(s->dev) > 1 ?
           (flags & NAND_SSD_REQ_NAMESPACE) >> NAND_SSD_REQ_NAMESPACE_SHIFT : 0;
}

static inline uint8_t nand_ssd_handle_of(BDRVNandSsdState *s,
                                         BdrvRequestFlags flags)
{
    uint32_t handles = slate_handles(s->dev);
    uint32_t low = (flags & NAND_SSD_REQ_HANDLE) >> NAND_SSD_REQ_HANDLE_SHIFT;
    uint32_t high = (flags & NAND_SSD_REQ_NAMESPACE) >>
                    NAND_SSD_REQ_NAMESPACE_SHIFT;

    if (!handles) {
        return 0;
    }
    return slate_namespaces(s->dev) > 1 ? high % handles :
           low | high << NAND_SSD_REQ_HANDLE_BITS;
}

static inline uint8_t nand_ssd_crossing_of(BdrvRequestFlags flags)
{
    return (flags & BDRV_REQ_CROSSING_MASK) >> NAND_SSD_REQ_CROSSING_SHIFT;
}

/*
 * Bytes of metadata of each sector, which are in the vector behind the data;
 * NAND_SSD_METADATA_WRONG if they are too many, or no whole number
 */
#define NAND_SSD_METADATA_WRONG (NAND_SSD_METADATA_MAX + 1)
static inline uint8_t nand_ssd_metadata_of(BdrvRequestFlags flags,
                                           const QEMUIOVector *qiov,
                                           size_t offset, uint64_t bytes)
{
    uint64_t all;

    if (!(flags & NAND_SSD_REQ_METADATA) || !bytes) {
        return 0;
    }
    all = (iov_size(qiov->iov, qiov->niov) - offset - bytes) * FTL_SECTOR_BYTES;
    return all % bytes || all / bytes > NAND_SSD_METADATA_MAX ?
           NAND_SSD_METADATA_WRONG : all / bytes;
}

/* nand-ssd-zones.c */
const char *nand_ssd_zone_op_name(enum ftl_zone_op op);
/*
 * Called with the lock held: are there changed zones that were not notified
 * yet? With _news() they count as notified from then on.
 */
bool nand_ssd_zones_pending(BDRVNandSsdState *s);
bool nand_ssd_zones_news(BDRVNandSsdState *s);
int nand_ssd_zones_open(BlockDriverState *bs, Error **errp);
void nand_ssd_zones_close(BlockDriverState *bs);
void nand_ssd_zones_limits(BlockDriverState *bs);
int coroutine_fn nand_ssd_co_zone_report(BlockDriverState *bs, int64_t offset,
                                         unsigned int *nr_zones,
                                         BlockZoneDescriptor *zones);
int coroutine_fn nand_ssd_co_zone_mgmt(BlockDriverState *bs, BlockZoneOp op,
                                       int64_t offset, int64_t len);
int coroutine_fn nand_ssd_co_zone_append(BlockDriverState *bs, int64_t *offset,
                                         QEMUIOVector *qiov,
                                         BdrvRequestFlags flags);
int coroutine_fn nand_ssd_co_zone_zeroes(BlockDriverState *bs, int64_t offset,
                                         int64_t bytes,
                                         BdrvRequestFlags flags);

/* nand-ssd-power.c: the caller of nand_ssd_check_power() holds the lock. */
void nand_ssd_check_power(BDRVNandSsdState *s);
void nand_ssd_mark_power(BDRVNandSsdState *s, const char *label);
void nand_ssd_tell_news(BDRVNandSsdState *s);
void nand_ssd_forget_followers(BDRVNandSsdState *s);
void nand_ssd_get_power(BlockDriverState *bs, struct slate_power *power,
                        uint32_t *lost);

/* nand-ssd-control.c: sets the flags of requests that the drive supports. */
void nand_ssd_set_flags(BlockDriverState *bs);
void nand_ssd_forget_pictures(BDRVNandSsdState *s);

/* nand-ssd-processors.c */
extern bool nand_ssd_work_awaited;
void nand_ssd_find_processors(BDRVNandSsdState *s);
void nand_ssd_arm_row(BDRVNandSsdState *s);
int coroutine_fn nand_ssd_co_ioctl(BlockDriverState *bs,
                                   unsigned long int request, void *buf);

/* nand-ssd.c: the thread calls these with s->lock held. */
bool nand_ssd_busy(BDRVNandSsdState *s);
uint64_t nand_ssd_finish_all(BDRVNandSsdState *s);
uint64_t nand_ssd_next_ns(BDRVNandSsdState *s, uint64_t deadline_ns);
void nand_ssd_take_due(BDRVNandSsdState *s, NandSsdRequests *due);
void nand_ssd_trace_submit(BDRVNandSsdState *s, NandSsdRequest *req,
                           uint64_t now_ns);

/* nand-ssd-stats.c */
BlockStatsSpecific *nand_ssd_get_specific_stats(BlockDriverState *bs);

/* nand-ssd-thread.c */
bool nand_ssd_thread_wanted(const BlockdevOptionsNandSsd *opts, bool *wanted,
                            Error **errp);
int nand_ssd_thread_start(BDRVNandSsdState *s,
                          const BlockdevOptionsNandSsd *opts, Error **errp);
void nand_ssd_thread_stop(BDRVNandSsdState *s);
int coroutine_fn nand_ssd_thread_io(NandSsdThread *t, NandSsdRequest *req);
void nand_ssd_thread_catch_up(NandSsdThread *t);
void nand_ssd_thread_arm(NandSsdThread *t, uint64_t deadline_ns);
void nand_ssd_thread_set_stands(NandSsdThread *t, bool stands);
NandSsdRealTime *nand_ssd_thread_stats(NandSsdThread *t);
void nand_ssd_thread_mark(NandSsdThread *t, uint32_t mark);
NandSsdRealTime *nand_ssd_thread_mark_stats(NandSsdThread *t, uint32_t mark);

#endif
