/*
 * The thread of an emulated NAND SSD, for real time
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * In real time the drive runs in its own thread, so that its time does not
 * depend on the main loop and the BQL. This file reads the host's clock, hands
 * requests to the thread and completions back, and counts how late these were.
 * nand-ssd.c handles the requests themselves.
 *
 * Time. The drive's clock is the host's monotonic clock plus skew_ns; it
 * begins at 0 when the node is opened, and stands while the machine does. It is
 * not QEMU_CLOCK_VIRTUAL, which runs at the same rate but stops at the
 * beginning of a stop, when vCPUs may still wait, with the BQL held, for
 * requests to end.
 *
 * The drive itself is a simulation behind this clock. Each event is simulated
 * at its own time: a submission at the time it was handed over, a deadline when
 * it is due. So a late thread does not change the drive's latencies and order
 * of work, which are those of virtual time. Only the delivery of a completion
 * can be late; it is never early.
 *
 * States of a request, and who moves it:
 *   handed over  nand_ssd_thread_io(): in inbox, with its time
 *   in the drive thread, or nand_ssd_thread_catch_up(): then in s->done
 *   posted       thread: its time has come, its coroutine is scheduled; after a
 *                power cut only when the main loop has sent the notification
 *   delivered    nand_ssd_thread_io() goes on, in the submitter's event loop
 *
 * While the machine is stopped, all requests are finished at once, as in
 * nand-ssd.c, and their lateness is not counted. In a drained section requests
 * just end in their time, because the clock runs and the thread needs no other
 * thread.
 *
 * The thread sleeps until spin_ns before the next event is due, then polls the
 * clock and the inbox. It does so only while a request is in flight.
 *
 * Locks. t->lock is held briefly: a thread that submits a request never waits
 * for the drive. s->lock is for the drive, and is taken first where both are.
 *
 * Invariants: (1) times in the inbox do not decrease, and none is earlier than
 * the drive's: the clock is read, and the inbox emptied, in one critical
 * section; (2) s->now_ns <= clock, unless the machine is stopped; (3) a request
 * is posted when done_ns <= clock, in order of done_ns, then of id; (4) the
 * thread takes no lock of QEMU's while it holds one of these, and never the
 * BQL; (5) code that adds work sets `wanted`, and wakes the thread if it
 * sleeps.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qapi-types-block-core.h"
#include "qemu/config-file.h"
#include "qemu/event_notifier.h"
#include "qemu/lockable.h"
#include "qemu/option.h"
#include "qemu/processor.h"
#include "qemu/rcu.h"
#include "block/block-io.h"
#include "block/block_int.h"
#include "system/cpu-timers.h"
#include "system/qtest.h"
#include "trace.h"

#include "nand-ssd-int.h"

#define SPIN_NS 20000
#define SLEEP_MAX_NS (INT64_C(3600) * NANOSECONDS_PER_SECOND)

typedef struct Lateness {
    uint64_t requests;
    uint64_t late[3];               /* by more than late_ns[] */
    uint64_t sum_ns;
    uint64_t max_ns;
} Lateness;

static const uint64_t late_ns[] = { 1000, 10000, 100000 };

typedef struct RealTime {
    Lateness posted;
    Lateness delivered;
} RealTime;

struct NandSsdThread {
    BDRVNandSsdState *s;
    QemuThread thread;
    EventNotifier kick;
    QEMUBH *news;                   /* of power, zones; in main loop */
    int64_t spin_ns;
    uint64_t deadline_ns;           /* the drive's next; under s->lock */

    QemuMutex lock;                 /* protects all below */
    NandSsdRequests inbox;
    bool wanted;                    /* atomic: read without the lock, too */
    bool asleep;
    bool quit;
    bool stands;                    /* the machine and the clock are stopped */
    uint64_t stood_ns;              /* clock while the machine is stopped */
    int64_t skew_ns;                /* drive's clock - host's, while it runs */
    RealTime now;                   /* since the last mark */
    RealTime before;                /* up to the last mark */
    RealTime at_mark[SLATE_MARKS_MAX];
};

/* Lateness: the caller holds t->lock. */

static void lateness_count(Lateness *l, uint64_t ns)
{
    l->requests++;
    for (unsigned i = 0; i < ARRAY_SIZE(late_ns); i++) {
        l->late[i] += ns > late_ns[i];
    }
    l->sum_ns += ns;
    l->max_ns = MAX(l->max_ns, ns);
}

static void lateness_add(Lateness *to, const Lateness *from)
{
    to->requests += from->requests;
    for (unsigned i = 0; i < ARRAY_SIZE(late_ns); i++) {
        to->late[i] += from->late[i];
    }
    to->sum_ns += from->sum_ns;
    to->max_ns = MAX(to->max_ns, from->max_ns);
}

static void real_time_add(RealTime *to, const RealTime *from)
{
    lateness_add(&to->posted, &from->posted);
    lateness_add(&to->delivered, &from->delivered);
}

static NandSsdLateness *lateness_qapi(const Lateness *from)
{
    NandSsdLateness *to = g_new0(NandSsdLateness, 1);

    to->requests = from->requests;
    to->late_1us = from->late[0];
    to->late_10us = from->late[1];
    to->late_100us = from->late[2];
    to->sum_ns = from->sum_ns;
    to->max_ns = from->max_ns;
    return to;
}

static NandSsdRealTime *real_time_qapi(const RealTime *from)
{
    NandSsdRealTime *to = g_new0(NandSsdRealTime, 1);

    to->posted = lateness_qapi(&from->posted);
    to->delivered = lateness_qapi(&from->delivered);
    return to;
}

NandSsdRealTime *nand_ssd_thread_stats(NandSsdThread *t)
{
    RealTime total;

    QEMU_LOCK_GUARD(&t->lock);
    total = t->before;
    real_time_add(&total, &t->now);
    return real_time_qapi(&total);
}

void nand_ssd_thread_mark(NandSsdThread *t, uint32_t mark)
{
    QEMU_LOCK_GUARD(&t->lock);
    t->at_mark[mark] = t->now;
    real_time_add(&t->before, &t->now);
    t->now = (RealTime){ 0 };
}

NandSsdRealTime *nand_ssd_thread_mark_stats(NandSsdThread *t, uint32_t mark)
{
    QEMU_LOCK_GUARD(&t->lock);
    return real_time_qapi(&t->at_mark[mark]);
}

/* The clock: the caller holds t->lock. */

static uint64_t clock_ns(const NandSsdThread *t)
{
    return t->stands ? t->stood_ns : get_clock() + t->skew_ns;
}

/*
 * Returns true if the caller has to set t->kick, preferably without the lock.
 */
static bool wake_wanted(NandSsdThread *t)
{
    bool wake = t->asleep;

    qatomic_set(&t->wanted, true);
    t->asleep = false;
    return wake;
}

/* The drive: the caller holds s->lock. */

static void pass_time(NandSsdThread *t, uint64_t until_ns)
{
    BDRVNandSsdState *s = t->s;

    while (t->deadline_ns <= until_ns) {
        s->now_ns = MAX(s->now_ns, t->deadline_ns);
        t->deadline_ns = slate_step(s->dev, s->now_ns);
        nand_ssd_check_power(s);
        trace_nand_ssd_step(bdrv_get_node_name(s->bs), s->now_ns,
                            t->deadline_ns);
    }
    s->now_ns = MAX(s->now_ns, until_ns);
}

/* Submit the requests of the inbox and step the drive, in order of time. */
static void advance(NandSsdThread *t)
{
    NandSsdRequests taken = QTAILQ_HEAD_INITIALIZER(taken);
    BDRVNandSsdState *s = t->s;
    NandSsdRequest *req;
    uint64_t now_ns;
    bool stands;

    WITH_QEMU_LOCK_GUARD(&t->lock) {
        now_ns = clock_ns(t);
        stands = t->stands;
        while ((req = QTAILQ_FIRST(&t->inbox))) {
            QTAILQ_REMOVE(&t->inbox, req, next);
            QTAILQ_INSERT_TAIL(&taken, req, next);
        }
        qatomic_set(&t->wanted, false);
    }

    while ((req = QTAILQ_FIRST(&taken))) {
        QTAILQ_REMOVE(&taken, req, next);
        pass_time(t, req->handed_ns);
        QTAILQ_INSERT_TAIL(&s->submitted, req, next);
        slate_submit(s->dev, s->now_ns, &req->io);
        t->deadline_ns = slate_step(s->dev, s->now_ns);
        nand_ssd_check_power(s);
    }
    pass_time(t, now_ns);
    if (stands) {
        t->deadline_ns = nand_ssd_finish_all(s);
    }
}

/* The thread */

/*
 * Post the requests that are due. From then on the coroutine owns the request.
 */
static void post(NandSsdThread *t, NandSsdRequests *due)
{
    NandSsdRequest *req;

    if (QTAILQ_EMPTY(due)) {
        return;
    }
    WITH_QEMU_LOCK_GUARD(&t->lock) {
        uint64_t now_ns = clock_ns(t);

        QTAILQ_FOREACH(req, due, next) {
            req->at_once |= t->stands;
            if (!req->at_once) {
                g_assert(now_ns >= req->io.done_ns);
                lateness_count(&t->now.posted, now_ns - req->io.done_ns);
            }
        }
    }
    while ((req = QTAILQ_FIRST(due))) {
        QTAILQ_REMOVE(due, req, next);
        aio_co_wake(req->co);
    }
}

static void spin(NandSsdThread *t, int64_t until_host_ns)
{
    while (get_clock() < until_host_ns && !qatomic_read(&t->wanted)) {
        cpu_relax();
    }
}

static void sleep_for(NandSsdThread *t, int64_t ns)
{
    GPollFD fd = {
        .fd = event_notifier_get_fd(&t->kick),
        .events = G_IO_IN,
    };

    qemu_poll_ns(&fd, 1, MIN(ns, SLEEP_MAX_NS));
    event_notifier_test_and_clear(&t->kick);
}

/*
 * Sleep until next_ns or until woken. Returns false when the thread is to end.
 */
static bool wait_until(NandSsdThread *t, uint64_t next_ns, int64_t spin_ns)
{
    for (;;) {
        int64_t left_ns = INT64_MAX;
        int64_t host_ns = get_clock();

        WITH_QEMU_LOCK_GUARD(&t->lock) {
            t->asleep = false;
            if (t->quit) {
                return false;
            }
            if (!t->stands && next_ns != FTL_IDLE) {
                left_ns = (int64_t)next_ns - t->skew_ns - host_ns;
            }
            if (t->wanted || left_ns <= 0) {
                return true;
            }
            t->asleep = left_ns > spin_ns;
        }
        if (left_ns <= spin_ns) {
            spin(t, host_ns + left_ns);
            return true;
        }
        sleep_for(t, left_ns - spin_ns);
    }
}

static void *thread_main(void *opaque)
{
    NandSsdThread *t = opaque;
    BDRVNandSsdState *s = t->s;
    uint64_t next_ns;
    int64_t spin_ns;

    rcu_register_thread();
    do {
        NandSsdRequests due = QTAILQ_HEAD_INITIALIZER(due);

        WITH_QEMU_LOCK_GUARD(&s->lock) {
            advance(t);
            if (s->off_news || s->sanitize_news || nand_ssd_zones_pending(s)) {
                qemu_bh_schedule(t->news);
            }
            if (s->off_news) {
                next_ns = FTL_IDLE;
                spin_ns = 0;
            } else {
                nand_ssd_take_due(s, &due);
                next_ns = nand_ssd_next_ns(s, t->deadline_ns);
                spin_ns = nand_ssd_busy(s) ? t->spin_ns : 0;
            }
        }
        post(t, &due);
    } while (wait_until(t, next_ns, spin_ns));
    rcu_unregister_thread();
    return NULL;
}

/* From outside the thread */

int coroutine_fn nand_ssd_thread_io(NandSsdThread *t, NandSsdRequest *req)
{
    BDRVNandSsdState *s = t->s;
    bool wake;

    WITH_QEMU_LOCK_GUARD(&t->lock) {
        req->id = s->next_id++;
        req->handed_ns = clock_ns(t);
        nand_ssd_trace_submit(s, req, req->handed_ns);
        QTAILQ_INSERT_TAIL(&t->inbox, req, next);
        wake = wake_wanted(t);
    }
    if (wake) {
        event_notifier_set(&t->kick);
    }
    qemu_coroutine_yield();

    WITH_QEMU_LOCK_GUARD(&t->lock) {
        if (!req->at_once) {
            uint64_t now_ns = clock_ns(t);
            uint64_t late = now_ns - req->io.done_ns;

            g_assert(now_ns >= req->io.done_ns);
            lateness_count(&t->now.delivered, late);
            trace_nand_ssd_deliver(bdrv_get_node_name(s->bs), req->id, now_ns,
                                   late);
        }
    }
    return req->io.status;
}

static void wake_if_due(NandSsdThread *t)
{
    bool wake;

    WITH_QEMU_LOCK_GUARD(&t->lock) {
        wake = wake_wanted(t);
    }
    if (wake) {
        event_notifier_set(&t->kick);
    }
}

/*
 * In the main loop: notify those that share the drive's power, then end
 * requests.
 */
static void news_cb(void *opaque)
{
    NandSsdThread *t = opaque;

    nand_ssd_tell_news(t->s);
    wake_if_due(t);
}

/* Advance the drive to now_ns. Called with s->lock held. */
void nand_ssd_thread_catch_up(NandSsdThread *t)
{
    advance(t);
    wake_if_due(t);                       /* the next deadline may differ */
}

/*
 * Another caller has stepped the drive: set its next deadline. Called with
 * s->lock held.
 */
void nand_ssd_thread_arm(NandSsdThread *t, uint64_t deadline_ns)
{
    t->deadline_ns = deadline_ns;
    wake_if_due(t);
}

/* Stop or continue the clock with the machine. Called with s->lock held. */
void nand_ssd_thread_set_stands(NandSsdThread *t, bool stands)
{
    bool wake;

    advance(t);
    WITH_QEMU_LOCK_GUARD(&t->lock) {
        if (stands) {
            t->stood_ns = clock_ns(t);
        } else if (t->stands) {
            t->skew_ns = (int64_t)MAX(t->s->now_ns, t->stood_ns) - get_clock();
        }
        t->stands = stands;
        wake = wake_wanted(t);
    }
    if (wake) {
        event_notifier_set(&t->kick);
    }
}

static int is_qtest(void *opaque, QemuOpts *opts, Error **errp)
{
    return !g_strcmp0(qemu_opt_get(opts, "accel"), "qtest");
}

/*
 * Is -icount the clock? Accelerators are created after the drives of the
 * command line, so this reads the options. A tool has no accelerator.
 */
static bool clock_is_icount(void)
{
    QemuOptsList *icount = qemu_find_opts_err("icount", NULL);

    return icount_enabled() || (icount && qemu_opts_find(icount, NULL));
}

static bool clock_is_qtest(void)
{
    QemuOptsList *accel = qemu_find_opts_err("accel", NULL);

    return qtest_enabled() ||
           (accel && qemu_opts_foreach(accel, is_qtest, NULL, NULL));
}

bool nand_ssd_thread_wanted(const BlockdevOptionsNandSsd *opts, bool *wanted,
                            Error **errp)
{
    OnOffAuto how = opts->has_thread ? opts->thread : ON_OFF_AUTO_AUTO;

    if (how == ON_OFF_AUTO_ON && clock_is_icount()) {
        error_setg(errp, "thread=on: a thread goes by the host's clock, and "
                   "with -icount time is counted in instructions: leave one "
                   "of them out");
        return false;
    }
    *wanted = how == ON_OFF_AUTO_ON ||
              (how == ON_OFF_AUTO_AUTO && !clock_is_icount() &&
               !clock_is_qtest());
    if (opts->has_spin_ns && !*wanted) {
        error_setg(errp, "spin-ns=%" PRIu32 ": this drive has no thread that "
                   "could spin: leave spin-ns out", opts->spin_ns);
        return false;
    }
    return true;
}

int nand_ssd_thread_start(BDRVNandSsdState *s,
                          const BlockdevOptionsNandSsd *opts, Error **errp)
{
    NandSsdThread *t = g_new0(NandSsdThread, 1);
    int ret = event_notifier_init(&t->kick, 0);

    if (ret < 0) {
        error_setg_errno(errp, -ret, "no event descriptor for the drive's "
                         "thread");
        g_free(t);
        return ret;
    }
    t->s = s;
    t->spin_ns = opts->has_spin_ns ? opts->spin_ns : SPIN_NS;
    t->deadline_ns = FTL_IDLE;      /* until the first request */
    t->stands = s->vm_stopped;
    t->skew_ns = -get_clock();
    t->news = aio_bh_new(qemu_get_aio_context(), news_cb, t);
    QTAILQ_INIT(&t->inbox);
    qemu_mutex_init(&t->lock);
    s->thread = t;
    qemu_thread_create(&t->thread, "nand-ssd", thread_main, t,
                       QEMU_THREAD_JOINABLE);
    return 0;
}

/* Stop the thread. No request is in flight. */
void nand_ssd_thread_stop(BDRVNandSsdState *s)
{
    NandSsdThread *t = s->thread;
    bool wake;

    WITH_QEMU_LOCK_GUARD(&t->lock) {
        t->quit = true;
        wake = wake_wanted(t);
    }
    if (wake) {
        event_notifier_set(&t->kick);
    }
    qemu_thread_join(&t->thread);
    g_assert(QTAILQ_EMPTY(&t->inbox));
    qemu_bh_delete(t->news);
    event_notifier_cleanup(&t->kick);
    qemu_mutex_destroy(&t->lock);
    s->thread = NULL;
    g_free(t);
}
