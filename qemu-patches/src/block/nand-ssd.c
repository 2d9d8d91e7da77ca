/*
 * Block driver for an emulated NAND SSD (Slate)
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The glue between QEMU's block layer and a drive that lives in libslate: an
 * array of NAND cells under a flash translation layer. The drive is a pure
 * state machine; it is told the time and answers when each request will have
 * finished. This file owns the clock and the coroutines, and nothing else: it
 * knows no geometry, no mapping and no timing.
 *
 * The following is about a drive without its own thread: in virtual time, and
 * with thread=off. nand-ssd-thread.c describes a drive with a thread
 * (s->thread, in real time), which uses no timers and no bottom half here.
 *
 * Time. The drive's clock is QEMU_CLOCK_VIRTUAL plus s->skew_ns. It begins at 0
 * when the node is opened and never goes back. A request completes when that
 * clock reaches its done_ns, from a timer on the main loop's own list, never
 * inside its submission. (Timers of an AioContext are rounded up to whole
 * milliseconds when the main loop sleeps, and the time at which a bottom half
 * runs depends on the host. With either, equal runs would have different
 * results.)
 *
 * Requests whose time cannot come are finished at once: the drive's clock is
 * set forward to their end, and the skew stores by how much. This is done
 *  - while the node is drained: a thread waits for it with the BQL held, so
 *    virtual time stands still;
 *  - while the VM is stopped, or has not started yet;
 *  - while a thread waits in AIO_WAIT_WHILE() for another reason, for instance
 *    a synchronous flush: s->guard detects this within GUARD_MS of host time.
 * The data are moved as usual, only the delay is skipped. Outside a VM
 * (qemu-io, qemu-img, qemu-nbd, qemu-storage-daemon) QEMU_CLOCK_VIRTUAL is
 * disabled. The clock is then QEMU_CLOCK_REALTIME, so that the delays are real.
 * Nested event loops do not run the main loop's timers, but they run s->guard,
 * which therefore has the same deadline there.
 *
 * States of a request, and who moves it:
 *   submitted  nand_ssd_co_io(); in the drive, or (done callback) in s->done,
 *              ordered by done_ns, then by id
 *   due        nand_ssd_run(): its time has come; on a list of that call's own
 *   finished   woken by nand_ssd_run(), in the context of its coroutine
 *
 * A drive may be a file ('drive-file'; not 'backing', which the block layer's
 * reopen would take for a node). libslate maps and locks it. The effects of a
 * request are in the page cache before the request completes. So if QEMU is
 * killed, at any instruction, the file has the state of a drive that lost its
 * power at that moment. Opened read-only, the file is used as with
 * ephemeral=on: mounting a drive may have to write to its flash.
 *
 * Power may be cut at a nanosecond (nand-ssd-power.c): libslate then asks to be
 * called at that moment like at any other.
 *
 * Invariants: (1) the drive is called with s->lock held, and from one thread
 * at a time; (2) its done callback only queues, so that it is never re-entered;
 * (3) coroutines are woken without s->lock; (4) s->now_ns never decreases.
 *
 * Threads. Requests may come from any AioContext. Completions come from timers
 * of the main loop's list: with -icount rate= the vCPU thread runs them, else
 * the main loop. A request of an iothread is woken there, at a time that
 * depends on the host: for exact time leave the node in the main context.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qapi-types-block-core.h"
#include "qapi/qapi-visit-block-core.h"
#include "qapi/qobject-input-visitor.h"
#include "qobject/qdict.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/timer.h"
#include "block/aio-wait.h"
#include "block/block-io.h"
#include "block/block_int.h"
#include "block/nand-ssd.h"
#include "block/qdict.h"
#include "migration/blocker.h"
#include "system/cpu-timers.h"
#include "system/runstate.h"
#include "trace.h"

#include "nand-ssd-int.h"

#define GUARD_MS 5

QEMU_BUILD_BUG_ON(NAND_SSD_LABEL_BYTES != SLATE_LABEL_BYTES);
QEMU_BUILD_BUG_ON(FTL_SECTOR_BYTES != BDRV_SECTOR_SIZE);

static const char *const nand_ssd_op_name[FTL_NOPS] = {
    [FTL_READ] = "read", [FTL_WRITE] = "write",
    [FTL_TRIM] = "trim", [FTL_FLUSH] = "flush",
};

/* The drive calls this from submit and step, with the lock held. */

void nand_ssd_queue_done(BDRVNandSsdState *s, NandSsdRequest *req)
{
    NandSsdRequest *at;

    /* Search from the end, because the place is nearly always there. */
    QTAILQ_FOREACH_REVERSE(at, &s->done, next) {
        if (at->io.done_ns < req->io.done_ns ||
            (at->io.done_ns == req->io.done_ns && at->id < req->id)) {
            QTAILQ_INSERT_AFTER(&s->done, at, req, next);
            return;
        }
    }
    QTAILQ_INSERT_HEAD(&s->done, req, next);
}

static void nand_ssd_done_cb(void *opaque, struct ftl_io *io)
{
    BDRVNandSsdState *s = opaque;
    NandSsdRequest *req = io->host;

    QTAILQ_REMOVE(&s->submitted, req, next);
    nand_ssd_queue_done(s, req);
}

static void nand_ssd_copy_cb(void *opaque, struct ftl_io *io, uint64_t at,
                             void *buf, size_t len)
{
    NandSsdRequest *req = io->host;
    size_t offset = req->qiov_offset + at;

    if (io->op == FTL_WRITE) {
        qemu_iovec_to_buf(req->qiov, offset, buf, len);
    } else if (buf) {
        qemu_iovec_from_buf(req->qiov, offset, buf, len);
    } else {
        qemu_iovec_memset(req->qiov, offset, 0, len);
    }
}

/* Time. All functions are called with the lock held. */

void nand_ssd_update_now(BDRVNandSsdState *s)
{
    int64_t clock_ns;

    if (s->thread) {
        nand_ssd_thread_catch_up(s->thread);
        return;
    }
    clock_ns = qemu_clock_get_ns(s->clock);
    /*
     * Without rate= the clock may go back, for instance when a debugger steps
     * the guest back; the skew then makes up for it. A monitor command cannot
     * change the skew: under icount the main loop may miss instructions that a
     * vCPU has executed since it last read the clock, but every call into the
     * drive was at such a reading or before.
     */
    if (icount_enabled() == ICOUNT_RATE) {
        /*
         * The clock of a vCPU that resets a controller can be a quantum ahead
         * of the timers that run next.
         */
        s->now_ns = MAX((int64_t)s->now_ns, clock_ns + s->skew_ns);
        return;
    }
    if (clock_ns + s->skew_ns < (int64_t)s->now_ns) {
        s->skew_ns = (int64_t)s->now_ns - clock_ns;
    }
    s->now_ns = clock_ns + s->skew_ns;
}

bool nand_ssd_time_stands(BDRVNandSsdState *s)
{
    return s->drained || s->vm_stopped;
}

bool nand_ssd_busy(BDRVNandSsdState *s)
{
    return !QTAILQ_EMPTY(&s->done) || slate_inflight(s->dev);
}

/* Set the drive's clock forward until every request is finished. */
uint64_t nand_ssd_finish_all(BDRVNandSsdState *s)
{
    NandSsdRequest *last;
    uint64_t deadline_ns = slate_step(s->dev, s->now_ns);

    while (slate_inflight(s->dev)) {
        g_assert(deadline_ns != FTL_IDLE && deadline_ns > s->now_ns);
        s->now_ns = deadline_ns;
        deadline_ns = slate_step(s->dev, s->now_ns);
    }
    nand_ssd_check_power(s);
    last = QTAILQ_LAST(&s->done);
    if (last && last->io.done_ns > s->now_ns) {
        s->now_ns = last->io.done_ns;
        deadline_ns = slate_step(s->dev, s->now_ns);
        nand_ssd_check_power(s);
    }
    return deadline_ns;
}

static uint64_t nand_ssd_skip_time(BDRVNandSsdState *s)
{
    uint64_t deadline_ns = nand_ssd_finish_all(s);

    s->skew_ns = (int64_t)s->now_ns - qemu_clock_get_ns(s->clock);
    return deadline_ns;
}

/* Returns when the next event of the drive, or the next completion, is due. */
uint64_t nand_ssd_next_ns(BDRVNandSsdState *s, uint64_t deadline_ns)
{
    NandSsdRequest *first = QTAILQ_FIRST(&s->done);

    return first ? MIN(deadline_ns, first->io.done_ns) : deadline_ns;
}

/*
 * Start the guard. It is not cancelled when the drive is idle: that costs more.
 */
static void nand_ssd_arm_guard(BDRVNandSsdState *s)
{
    if (nand_ssd_busy(s) && !timer_pending(s->guard)) {
        timer_mod_ns(s->guard, qemu_clock_get_ns(QEMU_CLOCK_REALTIME) +
                               GUARD_MS * SCALE_MS);
    }
}

void nand_ssd_arm(BDRVNandSsdState *s, uint64_t deadline_ns)
{
    if (s->thread) {
        nand_ssd_thread_arm(s->thread, deadline_ns);
        return;
    }
    nand_ssd_arm_row(s);
    deadline_ns = nand_ssd_next_ns(s, deadline_ns);
    if (deadline_ns == FTL_IDLE) {
        timer_del(s->timer);
    } else {
        timer_mod_ns(s->timer, (int64_t)deadline_ns - s->skew_ns);
    }

    if (s->vm_state) {
        nand_ssd_arm_guard(s);
    } else if (nand_ssd_busy(s)) {
        timer_mod_ns(s->guard, (int64_t)deadline_ns - s->skew_ns);
    } else {
        timer_del(s->guard);
    }
}

static void nand_ssd_trace_done(BDRVNandSsdState *s, NandSsdRequest *req)
{
    const struct ftl_breakdown *w = &req->io.where;

    trace_nand_ssd_done(bdrv_get_node_name(s->bs), req->id, req->io.done_ns,
                        req->io.done_ns - req->io.submit_ns, req->io.status,
                        w->controller_ns, w->namespace_queue_ns);
    trace_nand_ssd_where(bdrv_get_node_name(s->bs), req->id, w->cell_ns,
                         w->bus_ns, w->host_queue_ns, w->gc_queue_ns,
                         w->buffer_ns, w->map_ns, w->other_ns, w->link_ns);
}

/* Move the requests whose end has come from s->done to `due`. */
void nand_ssd_take_due(BDRVNandSsdState *s, NandSsdRequests *due)
{
    NandSsdRequest *req;

    while ((req = QTAILQ_FIRST(&s->done)) && req->io.done_ns <= s->now_ns) {
        QTAILQ_REMOVE(&s->done, req, next);
        QTAILQ_INSERT_TAIL(due, req, next);
        if (!s->vm_stopped) {
            s->worked_ns = req->io.done_ns;
        }
        nand_ssd_trace_done(s, req);
    }
}

/*
 * Do what is due now, or everything when skip is set, and wake the requests
 * whose time has come. A woken request may submit the next one, and may be the
 * last reference to the node: s is not touched once the first one is awake.
 */
void nand_ssd_run(BDRVNandSsdState *s, bool skip)
{
    NandSsdRequests due = QTAILQ_HEAD_INITIALIZER(due);
    NandSsdRequest *req;
    uint64_t deadline_ns;

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        nand_ssd_update_now(s);
        if (skip || nand_ssd_time_stands(s)) {
            deadline_ns = nand_ssd_skip_time(s);
        } else {
            deadline_ns = slate_step(s->dev, s->now_ns);
            nand_ssd_check_power(s);
        }
        trace_nand_ssd_step(bdrv_get_node_name(s->bs), s->now_ns, deadline_ns);

        nand_ssd_take_due(s, &due);
        nand_ssd_arm(s, deadline_ns);
    }

    nand_ssd_tell_news(s);
    while ((req = QTAILQ_FIRST(&due))) {
        QTAILQ_REMOVE(&due, req, next);
        aio_co_wake(req->co);
    }
}

static void nand_ssd_timer_cb(void *opaque)
{
    nand_ssd_run(opaque, false);
}

/*
 * The guard has expired. In a VM it does so at a time that depends on the host,
 * and virtual time as seen from here lags behind a running vCPU: if no thread
 * waits, do nothing.
 */
static void nand_ssd_guard_cb(void *opaque)
{
    BDRVNandSsdState *s = opaque;

    if (!s->vm_state) {
        nand_ssd_run(s, false);
    } else if (qatomic_read(&global_aio_wait.num_waiters) > 0) {
        nand_ssd_run(s, true);
    } else {
        QEMU_LOCK_GUARD(&s->lock);
        nand_ssd_arm_guard(s);
    }
}

/*
 * Finish all requests soon, by a bottom half: the event loop runs it, and so
 * does a nested loop that waits for requests.
 */
static void nand_ssd_finish_soon(BDRVNandSsdState *s)
{
    if (!s->thread && nand_ssd_time_stands(s) && nand_ssd_busy(s)) {
        qemu_bh_schedule(s->bh);
    }
}

static void nand_ssd_vm_state_cb(void *opaque, bool running, RunState state)
{
    BDRVNandSsdState *s = opaque;

    QEMU_LOCK_GUARD(&s->lock);
    if (running) {
        nand_ssd_find_processors(s);
    }
    s->vm_stopped = !running;
    if (s->thread) {
        nand_ssd_thread_set_stands(s->thread, s->vm_stopped);
    }
    slate_machine_stands(s->dev, s->vm_stopped);
    nand_ssd_finish_soon(s);
    if (running) {
        nand_ssd_arm_row(s);
    }
}

static void nand_ssd_drain_begin(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    s->drained++;
    nand_ssd_finish_soon(s);
}

static void nand_ssd_drain_end(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    g_assert(s->drained > 0);
    s->drained--;
}

/* Requests */

void nand_ssd_trace_submit(BDRVNandSsdState *s, NandSsdRequest *req,
                           uint64_t now_ns)
{
    trace_nand_ssd_submit(bdrv_get_node_name(s->bs), req->id,
                          req->io.zone ? nand_ssd_zone_op_name(req->io.zone) :
                                         nand_ssd_op_name[req->io.op],
                          req->io.offset, req->io.bytes, req->io.fua, now_ns);
}

int coroutine_fn nand_ssd_co_run(BDRVNandSsdState *s, NandSsdRequest *req)
{
    req->io.host = req;
    req->co = qemu_coroutine_self();

    if (s->thread) {
        return nand_ssd_errno(nand_ssd_thread_io(s->thread, req));
    }

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        nand_ssd_update_now(s);
        req->id = s->next_id++;
        nand_ssd_trace_submit(s, req, s->now_ns);
        QTAILQ_INSERT_TAIL(&s->submitted, req, next);
        slate_submit(s->dev, s->now_ns, &req->io);
        nand_ssd_check_power(s);
        if (nand_ssd_time_stands(s)) {
            qemu_bh_schedule(s->bh);
        } else {
            nand_ssd_arm(s, slate_step(s->dev, s->now_ns));
        }
    }
    qemu_coroutine_yield();

    return nand_ssd_errno(req->io.status);
}

static int coroutine_fn nand_ssd_co_io(BlockDriverState *bs, enum ftl_op op,
                                       uint64_t offset, uint64_t bytes,
                                       BdrvRequestFlags flags,
                                       QEMUIOVector *qiov, size_t qiov_offset)
{
    NandSsdRequest req = {
        .io = {
            .op = op,
            .fua = flags & BDRV_REQ_FUA,
            .handle = nand_ssd_handle_of(bs->opaque, flags),
            .queue = nand_ssd_queue_of(flags),
            .priority = nand_ssd_priority_of(flags),
            .crossing = nand_ssd_crossing_of(flags),
            .owner = nand_ssd_namespace_of(bs->opaque, flags),
            .metadata = nand_ssd_metadata_of(flags, qiov, qiov_offset, bytes),
            .lost = op == FTL_WRITE && (flags & BDRV_REQ_LOST),
            .offset = offset,
            .bytes = bytes,
        },
        .qiov = qiov,
        .qiov_offset = qiov_offset,
    };

    return req.io.metadata == NAND_SSD_METADATA_WRONG ?
           -EINVAL : nand_ssd_co_run(bs->opaque, &req);
}

static int coroutine_fn GRAPH_RDLOCK
nand_ssd_co_preadv_part(BlockDriverState *bs, int64_t offset, int64_t bytes,
                        QEMUIOVector *qiov, size_t qiov_offset,
                        BdrvRequestFlags flags)
{
    return nand_ssd_co_io(bs, FTL_READ, offset, bytes, flags, qiov,
                          qiov_offset);
}

static int coroutine_fn GRAPH_RDLOCK
nand_ssd_co_pwritev_part(BlockDriverState *bs, int64_t offset, int64_t bytes,
                         QEMUIOVector *qiov, size_t qiov_offset,
                         BdrvRequestFlags flags)
{
    return nand_ssd_co_io(bs, FTL_WRITE, offset, bytes, flags, qiov,
                          qiov_offset);
}

/* Not bdrv_co_flush_to_disk: a flush of an idle drive takes time, too. */
static int coroutine_fn GRAPH_RDLOCK nand_ssd_co_flush(BlockDriverState *bs)
{
    return nand_ssd_co_io(bs, FTL_FLUSH, 0, 0, 0, NULL, 0);
}

static int coroutine_fn GRAPH_RDLOCK
nand_ssd_co_pdiscard(BlockDriverState *bs, int64_t offset, int64_t bytes)
{
    return nand_ssd_co_io(bs, FTL_TRIM, offset, bytes, 0, NULL, 0);
}

/*
 * Write zeroes, or trim, since a trimmed unit reads as zeroes. It is a write
 * without leave to unmap, or on a drive whose trims change nothing.
 */
static int coroutine_fn GRAPH_RDLOCK
nand_ssd_co_pwrite_zeroes(BlockDriverState *bs, int64_t offset, int64_t bytes,
                          BdrvRequestFlags flags)
{
    BDRVNandSsdState *s = bs->opaque;

    if (flags & BDRV_REQ_LOST) {
        return nand_ssd_co_io(bs, FTL_WRITE, offset, bytes,
                              flags | NAND_SSD_REQ_NO_DATA, NULL, 0);
    }
    if (s->zoned) {
        return nand_ssd_co_zone_zeroes(bs, offset, bytes, flags);
    }
    if (!(flags & BDRV_REQ_MAY_UNMAP) || !slate_trims(s->dev) ||
        !QEMU_IS_ALIGNED(offset | bytes, bs->bl.pwrite_zeroes_alignment)) {
        return -ENOTSUP;
    }
    return nand_ssd_co_io(bs, FTL_TRIM, offset, bytes,
                          flags & NAND_SSD_REQ_FROM, NULL, 0);
}

/* Opening and closing */

static void nand_ssd_parse_filename(const char *filename, QDict *options,
                                    Error **errp)
{
    const char *profile;

    if (strstart(filename, NAND_SSD_DRIVER ":", &profile) && *profile) {
        qdict_put_str(options, "profile", profile);
    } else {
        error_setg(errp, "'%s' should read '" NAND_SSD_DRIVER ":PROFILE'",
                   filename);
    }
}

static BlockdevOptionsNandSsd *nand_ssd_parse_options(QDict *options,
                                                      Error **errp)
{
    BlockdevOptionsNandSsd *opts = NULL;
    const QDictEntry *e;
    Visitor *v;

    qdict_del(options, "filename");
    v = qobject_input_visitor_new_flat_confused(options, errp);
    if (!v) {
        return NULL;
    }
    visit_type_BlockdevOptionsNandSsd(v, NULL, &opts, errp);
    visit_free(v);
    if (opts) {
        /* Options that the visitor left are unknown. */
        while ((e = qdict_first(options))) {
            qdict_del(options, e->key);
        }
    }
    return opts;
}

uint64_t (*nand_ssd_memory_wanted)(void *opaque, bool exact);

static struct slate_dev *nand_ssd_new_drive(BDRVNandSsdState *s,
                                            const BlockdevOptionsNandSsd *opts,
                                            int *ret, Error **errp)
{
    const struct ftl_host host = {
        .done = nand_ssd_done_cb,
        .copy = nand_ssd_copy_cb,
        .opaque = s,
    };
    g_autoptr(GPtrArray) overrides = g_ptr_array_new();
    struct slate_options options = { 0 };
    struct slate_dev *dev = NULL;
    char why[SLATE_ERR_BYTES] = "";

    for (strList *set = opts->set; set; set = set->next) {
        g_ptr_array_add(overrides, set->value);
    }
    g_ptr_array_add(overrides, NULL);

    options.profile = opts->profile;
    options.overrides = (const char *const *)overrides->pdata;
    options.backing = opts->drive_file;
    options.ephemeral = opts->ephemeral || s->read_only_file;
    options.record = opts->record;
    options.record_content = opts->record_content;
    options.memory_wanted = nand_ssd_memory_wanted;
    *ret = nand_ssd_errno(slate_open(&options, &host, &dev, why));
    if (*ret < 0) {
        error_setg(errp, "%s", why);
        return NULL;
    }
    *ret = nand_ssd_errno(slate_keep_causes(dev));
    if (*ret == 0) {
        *ret = nand_ssd_errno(slate_keep_series(dev, 0));
    }
    if (*ret < 0) {
        error_setg(errp, "no memory for latencies by cause and time");
        slate_close(dev);
        return NULL;
    }
    return dev;
}

/* Let the block layer pass on trims, which it ignores by default. */
static void nand_ssd_enable_trim(BlockDriverState *bs)
{
    bs->open_flags |= BDRV_O_UNMAP;
}

/* Make the main loop's timers that advance a drive without a thread. */
static void nand_ssd_start_timers(BDRVNandSsdState *s)
{
    s->clock = s->vm_state ? QEMU_CLOCK_VIRTUAL : QEMU_CLOCK_REALTIME;
    s->skew_ns = -qemu_clock_get_ns(s->clock);
    s->timer = timer_new_ns(s->clock, nand_ssd_timer_cb, s);
    s->guard = aio_timer_new(qemu_get_aio_context(), QEMU_CLOCK_REALTIME,
                             SCALE_NS, nand_ssd_guard_cb, s);
    s->bh = aio_bh_new(qemu_get_aio_context(), nand_ssd_timer_cb, s);
}

static void nand_ssd_stop_timers(BDRVNandSsdState *s)
{
    timer_free(s->row_timer);
    timer_free(s->guard);
    timer_free(s->timer);
    qemu_bh_delete(s->bh);
}

/* Close the drive, at whatever stage opening failed or ended. */
static void nand_ssd_end(BDRVNandSsdState *s)
{
    if (s->vm_state) {
        qemu_del_vm_change_state_handler(s->vm_state);
    }
    slate_close(s->dev);
    g_free(s->mark_busy_ns);
    nand_ssd_forget_pictures(s);
    qemu_mutex_destroy(&s->lock);
    migrate_del_blocker(&s->migration_blocker);
}

static int GRAPH_UNLOCKED nand_ssd_open(BlockDriverState *bs, QDict *options,
                                        int flags, Error **errp)
{
    BDRVNandSsdState *s = bs->opaque;
    g_autoptr(BlockdevOptionsNandSsd) opts = NULL;
    bool thread;
    int ret;

    opts = nand_ssd_parse_options(options, errp);
    if (!opts || !nand_ssd_thread_wanted(opts, &thread, errp)) {
        return -EINVAL;
    }

    error_setg(&s->migration_blocker, "The drive '%s' lives in this process "
               "and can not be migrated", bdrv_get_device_or_node_name(bs));
    ret = migrate_add_blocker(&s->migration_blocker, errp);
    if (ret < 0) {
        return ret;
    }

    s->bs = bs;
    s->guest_control = opts->has_guest_control ? opts->guest_control :
                       NAND_SSD_GUEST_CONTROL_LOGS;
    s->read_only_file = opts->drive_file && !opts->ephemeral &&
                        !(flags & BDRV_O_RDWR);
    QTAILQ_INIT(&s->done);
    QTAILQ_INIT(&s->submitted);
    notifier_list_init(&s->power);
    notifier_list_init(&s->sanitized);
    s->dev = nand_ssd_new_drive(s, opts, &ret, errp);
    if (s->dev) {
        ret = nand_ssd_zones_open(bs, errp);
    }
    if (!s->dev) {
        migrate_del_blocker(&s->migration_blocker);
        return ret;
    }

    qemu_mutex_init(&s->lock);
    s->vm_state = qemu_add_vm_change_state_handler(nand_ssd_vm_state_cb, s);
    s->vm_stopped = s->vm_state && !runstate_check(RUN_STATE_RUNNING);
    slate_machine_stands(s->dev, s->vm_stopped);
    if (!thread) {
        nand_ssd_start_timers(s);
    } else {
        ret = nand_ssd_thread_start(s, opts, errp);
        if (ret < 0) {
            nand_ssd_zones_close(bs);
            nand_ssd_end(s);
            return ret;
        }
    }

    nand_ssd_set_flags(bs);
    nand_ssd_enable_trim(bs);
    return 0;
}

/* Close the drive, whose node has been drained: nothing is in flight. */
static void nand_ssd_close(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    if (s->thread) {
        nand_ssd_thread_stop(s);
    } else {
        nand_ssd_stop_timers(s);
    }
    g_assert(QTAILQ_EMPTY(&s->done) && !slate_inflight(s->dev));
    nand_ssd_forget_followers(s);
    nand_ssd_zones_close(bs);
    nand_ssd_end(s);
}

static int GRAPH_UNLOCKED nand_ssd_reopen_prepare(BDRVReopenState *state,
                                                  BlockReopenQueue *queue,
                                                  Error **errp)
{
    BDRVNandSsdState *s = state->bs->opaque;

    if (s->read_only_file && (state->flags & BDRV_O_RDWR)) {
        error_setg(errp, "The drive was opened read-only: what is written "
                   "now would not reach its file; close it and open it "
                   "again for writing");
        return -EROFS;
    }
    return 0;
}

static void GRAPH_UNLOCKED nand_ssd_reopen_commit_post(BDRVReopenState *state)
{
    nand_ssd_enable_trim(state->bs);
}

static void GRAPH_RDLOCK nand_ssd_refresh_limits(BlockDriverState *bs,
                                                 Error **errp)
{
    BDRVNandSsdState *s = bs->opaque;
    uint32_t unit = slate_unit_bytes(s->dev);

    bs->bl.request_alignment = FTL_SECTOR_BYTES;
    bs->bl.pdiscard_alignment = unit;
    bs->bl.pwrite_zeroes_alignment = unit;
    bs->bl.opt_transfer = slate_page_bytes(s->dev);
    nand_ssd_zones_limits(bs);
}

static int64_t coroutine_fn GRAPH_RDLOCK
nand_ssd_co_getlength(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    return slate_capacity(s->dev);
}

static int coroutine_fn GRAPH_RDLOCK
nand_ssd_co_get_info(BlockDriverState *bs, BlockDriverInfo *bdi)
{
    BDRVNandSsdState *s = bs->opaque;

    bdi->cluster_size = slate_unit_bytes(s->dev);
    return 0;
}

static const char *const nand_ssd_strong_runtime_opts[] = {
    "profile",
    "set.",
    "drive-file",
    "ephemeral",
    "record",
    "record-content",
    "thread",
    "spin-ns",
    "guest-control",
    NULL
};

static BlockDriver bdrv_nand_ssd = {
    .format_name                = NAND_SSD_DRIVER,
    .protocol_name              = NAND_SSD_DRIVER,
    .instance_size              = sizeof(BDRVNandSsdState),

    .bdrv_parse_filename        = nand_ssd_parse_filename,
    .bdrv_open                  = nand_ssd_open,
    .bdrv_close                 = nand_ssd_close,
    .bdrv_reopen_prepare        = nand_ssd_reopen_prepare,
    .bdrv_reopen_commit_post    = nand_ssd_reopen_commit_post,
    .bdrv_refresh_limits        = nand_ssd_refresh_limits,
    .bdrv_co_getlength          = nand_ssd_co_getlength,
    .bdrv_co_get_info           = nand_ssd_co_get_info,
    .strong_runtime_opts        = nand_ssd_strong_runtime_opts,

    .bdrv_co_preadv_part        = nand_ssd_co_preadv_part,
    .bdrv_co_pwritev_part       = nand_ssd_co_pwritev_part,
    .bdrv_co_pwrite_zeroes      = nand_ssd_co_pwrite_zeroes,
    .bdrv_co_pdiscard           = nand_ssd_co_pdiscard,
    .bdrv_co_flush              = nand_ssd_co_flush,
    .bdrv_co_ioctl              = nand_ssd_co_ioctl,
    .bdrv_co_zone_report        = nand_ssd_co_zone_report,
    .bdrv_co_zone_mgmt          = nand_ssd_co_zone_mgmt,
    .bdrv_co_zone_append        = nand_ssd_co_zone_append,

    .bdrv_drain_begin           = nand_ssd_drain_begin,
    .bdrv_drain_end             = nand_ssd_drain_end,

    .bdrv_get_specific_stats    = nand_ssd_get_specific_stats,
};

BDRVNandSsdState *nand_ssd_state(BlockDriverState *bs)
{
    return bs->drv == &bdrv_nand_ssd ? bs->opaque : NULL;
}

static void bdrv_nand_ssd_init(void)
{
    bdrv_register(&bdrv_nand_ssd);
}

block_init(bdrv_nand_ssd_init);
