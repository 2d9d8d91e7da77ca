/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks, and the busy times of the guest's processors at each mark and in each
 * row of the drive's time series.
 *
 * With -icount rate=R each vCPU counts the nanoseconds that it was
 * busy. The time series of the drive asks for them when a row ends. A timer
 * ends a row at its nanosecond, because the next request may come much later.
 * The timer has the attribute "external", so it does not end a vCPU's idle
 * time. In other modes there are no such counts, no timer and no columns.
 *
 * Everything here is called with the drive's lock held, except the timer and
 * nand_ssd_co_ioctl(), which take it.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/lockable.h"
#include "system/cpu-timers.h"

#include "nand-ssd-int.h"

/*
 * Set the timer to the end of the row. If that time has passed, the drive's
 * next step ends the row: while the drive is off or the machine is stopped
 * there is no step, and a timer in the past would expire again and again.
 */
void nand_ssd_arm_row(BDRVNandSsdState *s)
{
    uint64_t end_ns = slate_series_end_ns(s->dev);
    int64_t at_ns = (int64_t)end_ns - s->skew_ns;

    if (s->row_timer && end_ns != UINT64_MAX && end_ns > s->now_ns &&
        at_ns != s->row_at_ns) {
        s->row_at_ns = at_ns;
        timer_mod_ns(s->row_timer, at_ns);
    }
}

/*
 * The timer of a row has expired. The row's end or the clock may have moved, so
 * the drive looks again.
 */
static void nand_ssd_row_timer_cb(void *opaque)
{
    BDRVNandSsdState *s = opaque;

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        s->row_at_ns = 0;
    }
    nand_ssd_run(s, false);
}

static void nand_ssd_processors_busy(void *opaque, uint64_t *busy_ns)
{
    BDRVNandSsdState *s = opaque;

    icount_busy(busy_ns, s->processors);
}

bool nand_ssd_work_awaited;

/*
 * Find the vCPUs when the machine starts, because a drive is opened before
 * them, or later when the guest's work begins.
 */
void nand_ssd_find_processors(BDRVNandSsdState *s)
{
    uint32_t count = icount_busy(NULL, 0);

    if (!count || s->processors || s->thread || nand_ssd_work_awaited) {
        return;
    }
    s->processors = count;
    s->mark_busy_ns = g_new0(uint64_t, (size_t)count * SLATE_MARKS_MAX);
    nand_ssd_update_now(s);
    if (slate_set_processors(s->dev, s->now_ns, count,
                             nand_ssd_processors_busy, s) != SSD_OK) {
        warn_report("no memory for a time series of the drive");
    }
    s->row_timer = timer_new_full(NULL, s->clock, SCALE_NS,
                                  QEMU_TIMER_ATTR_EXTERNAL,
                                  nand_ssd_row_timer_cb, s);
    nand_ssd_arm_row(s);
}

/* Store the busy times with the newest mark. */
static void nand_ssd_mark_processors(BDRVNandSsdState *s)
{
    if (s->processors) {
        icount_busy(s->mark_busy_ns + (size_t)s->processors *
                    (slate_mark_count(s->dev) - 1), s->processors);
    }
}

/* Set a mark: a labelled moment that the guest chooses. */
int coroutine_fn
nand_ssd_co_ioctl(BlockDriverState *bs, unsigned long int request, void *buf)
{
    BDRVNandSsdState *s = bs->opaque;
    const NandSsdMarkRequest *mark = buf;
    uint32_t marks;
    int ret;

    if (request != NAND_SSD_IOCTL_MARK || !nand_ssd_guest_sees(bs)) {
        return -ENOTSUP;
    }
    if (mark->kind > SLATE_MARK_END) {
        return -EINVAL;
    }

    QEMU_LOCK_GUARD(&s->lock);
    nand_ssd_update_now(s);
    marks = slate_mark_count(s->dev);
    ret = nand_ssd_errno(slate_mark(s->dev, s->now_ns, mark->kind,
                                    mark->label));
    nand_ssd_mark_power(s, mark->label);
    if (slate_mark_count(s->dev) == marks) {
        return ret;     /* the marks of a job's clones are one */
    }
    if (s->thread) {
        nand_ssd_thread_mark(s->thread, marks);
    }
    nand_ssd_mark_processors(s);
    return ret;
}
