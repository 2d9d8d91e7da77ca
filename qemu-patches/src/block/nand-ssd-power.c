/*
 * Block driver for an emulated NAND SSD (Slate): power cuts
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The drive loses its power in a step or a submission (slate_power.h). This
 * file ends the driver's requests then, and notifies those that share the
 * drive's power.
 *
 *   on    requests are in s->submitted or in s->done
 *   cut   nand_ssd_check_power(), in the same critical section: requests that
 *         the drive had not finished by the cut are lost. They move to s->done
 *         with -EIO and are due now; so do requests that are submitted from now
 *         on.
 *   told  nand_ssd_tell_news(), in the main loop, before any request is
 *         woken (a thread posts none until then). So a controller that shares
 *         the drive's power has no power when the errors arrive, and its guest
 *         never sees them
 *   on    nand_ssd_power_on()
 *
 * No function here waits, so a drain cannot hang: a lost request ends at once,
 * even while time stands still.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "block/block-io.h"
#include "block/nand-ssd.h"

#include "nand-ssd-int.h"

QEMU_BUILD_BUG_ON(NAND_SSD_CUT_NEVER != (int)SLATE_CUT_NEVER);

/* Returns the errno by which the block layer reports the error. */
int nand_ssd_errno(enum ssd_err err)
{
    switch (err) {
    case SSD_OK:
        return 0;
    case SSD_E_INVAL:
        return -EINVAL;
    case SSD_E_NOMEM:
        return -ENOMEM;
    case SSD_E_NOSPC:
        return -ENOSPC;
    case SSD_E_WORNOUT:
        return -EROFS;
    case SSD_E_ZONE_WP:
        return -NAND_SSD_EZONE_WP;
    case SSD_E_ZONE_BOUNDARY:
        return -NAND_SSD_EZONE_BOUNDARY;
    case SSD_E_ZONE_FULL:
        return -NAND_SSD_EZONE_FULL;
    case SSD_E_ZONE_READONLY:
        return -NAND_SSD_EZONE_READONLY;
    case SSD_E_ZONE_OFFLINE:
        return -NAND_SSD_EZONE_OFFLINE;
    case SSD_E_ZONE_STATE:
        return -NAND_SSD_EZONE_STATE;
    case SSD_E_ZONE_OPEN:
        return -NAND_SSD_EZONE_OPEN;
    case SSD_E_ZONE_ACTIVE:
        return -NAND_SSD_EZONE_ACTIVE;
    case SSD_E_ZONE_WINDOW:
        return -NAND_SSD_EZONE_AREA;
    case SSD_E_ZONE_OP:
        return -NAND_SSD_EZONE_OP;
    case SSD_E_BUSY:
        return -NAND_SSD_ESANITIZE;
    case SSD_E_UNCORR:
    case SSD_E_CORRUPT:
    case SSD_E_NOFORMAT:
    case SSD_E_POWER:
        return -EIO;
    }
    g_assert_not_reached();
}
QEMU_BUILD_BUG_ON(NAND_SSD_CUT_NOW != (int)SLATE_CUT_NOW);
QEMU_BUILD_BUG_ON(NAND_SSD_CUT_AFTER_COMMANDS != (int)SLATE_CUT_AFTER_COMMANDS);
QEMU_BUILD_BUG_ON(NAND_SSD_CUT_AT_NS != (int)SLATE_CUT_AT_NS);
QEMU_BUILD_BUG_ON(NAND_SSD_CUT_AFTER_MARK != (int)SLATE_CUT_AFTER_MARK);

static void nand_ssd_lose(BDRVNandSsdState *s, NandSsdRequest *req)
{
    req->io.status = SSD_E_POWER;
    req->io.submit_ns = s->now_ns;
    req->io.done_ns = s->now_ns;
    memset(&req->io.where, 0, sizeof(req->io.where));
    nand_ssd_queue_done(s, req);
}

/*
 * Notice the end of a sanitize operation. The FTL was mounted anew then, so
 * counts of zones begin there.
 */
static void nand_ssd_check_sanitize(BDRVNandSsdState *s)
{
    bool sanitizing = slate_is_sanitizing(s->dev);

    if (s->sanitizing && !sanitizing && slate_powered(s->dev)) {
        s->sanitize_news = true;
        s->zones.changes = 0;
    }
    s->sanitizing = sanitizing;
}

/*
 * Notice a loss of power. The driver calls this after each call into the drive.
 */
void nand_ssd_check_power(BDRVNandSsdState *s)
{
    NandSsdRequest *req, *next;
    NandSsdRequests lost = QTAILQ_HEAD_INITIALIZER(lost);
    struct slate_power power;
    bool cut = !s->off;

    nand_ssd_check_sanitize(s);
    if (slate_powered(s->dev)) {
        return;
    }
    if (cut) {
        slate_get_power(s->dev, &power);
        s->off = s->off_news = true;
        s->lost = 0;
        QTAILQ_FOREACH_SAFE(req, &s->done, next, next) {
            if (req->io.done_ns > power.cut_ns) {
                QTAILQ_REMOVE(&s->done, req, next);
                QTAILQ_INSERT_TAIL(&lost, req, next);
            }
        }
    }
    while ((req = QTAILQ_FIRST(&s->submitted))) {
        QTAILQ_REMOVE(&s->submitted, req, next);
        QTAILQ_INSERT_TAIL(&lost, req, next);
    }
    while ((req = QTAILQ_FIRST(&lost))) {
        QTAILQ_REMOVE(&lost, req, next);
        nand_ssd_lose(s, req);
        s->lost += cut;
    }
}

void nand_ssd_tell_news(BDRVNandSsdState *s)
{
    bool on = false, news, zones, sanitized;

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        news = s->off_news;
        s->off_news = false;
        zones = nand_ssd_zones_news(s);
        sanitized = s->sanitize_news;
        s->sanitize_news = false;
    }
    if (sanitized) {
        notifier_list_notify(&s->sanitized, NULL);
    }
    if (zones) {
        notifier_list_notify(&s->zones_changed, NULL);
    }
    if (news) {
        notifier_list_notify(&s->power, &on);
        if (s->cut_then) {
            s->cut_then(s->bs, s->cut_opaque);
        }
    }
}

/* Look at a plan that has been made, or has got its time: it may be due now. */
static void nand_ssd_heed_plan(BDRVNandSsdState *s)
{
    uint64_t deadline_ns = slate_step(s->dev, s->now_ns);

    nand_ssd_check_power(s);
    nand_ssd_arm(s, s->off ? s->now_ns : deadline_ns);
    if (!s->thread && nand_ssd_time_stands(s) && s->off) {
        qemu_bh_schedule(s->bh);
    }
}

/*
 * Look whether a planned cut counts from this mark. The driver calls this after
 * each mark.
 */
void nand_ssd_mark_power(BDRVNandSsdState *s, const char *label)
{
    if (slate_power_mark(s->dev, s->now_ns, label)) {
        nand_ssd_heed_plan(s);
    }
}

int nand_ssd_plan_cut(BlockDriverState *bs, const NandSsdCut *cut,
                      NandSsdCutFunc *then, void *opaque, Error **errp)
{
    struct slate_cut_plan plan = {
        .when = (enum slate_cut_when)cut->when,
        .value = cut->value,
        .seed = cut->seed,
    };
    BDRVNandSsdState *s = nand_ssd_state(bs);
    char why[SLATE_ERR_BYTES] = "";

    if (!s) {
        error_setg(errp, "Node '%s' is not a drive of " NAND_SSD_DRIVER,
                   bdrv_get_node_name(bs));
        return -EINVAL;
    }

    memcpy(plan.label, cut->mark, sizeof(plan.label));

    QEMU_LOCK_GUARD(&s->lock);
    nand_ssd_update_now(s);
    if (slate_power_cut(s->dev, s->now_ns, &plan, why)) {
        error_setg(errp, "Drive '%s': %s", bdrv_get_node_name(bs), why);
        return -EINVAL;
    }
    if (cut->when != NAND_SSD_CUT_NEVER) {
        /*
         * A plan that is cancelled does not affect a cut that is to be
         * reported.
         */
        s->cut_then = then;
        s->cut_opaque = opaque;
    }
    nand_ssd_heed_plan(s);
    return 0;
}

int nand_ssd_power_on(BlockDriverState *bs, Error **errp)
{
    BDRVNandSsdState *s = nand_ssd_state(bs);
    char why[SLATE_ERR_BYTES] = "";
    bool on = true;

    if (!s) {
        error_setg(errp, "Node '%s' is not a drive of " NAND_SSD_DRIVER,
                   bdrv_get_node_name(bs));
        return -EINVAL;
    }

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        if (!s->off || s->off_news) {
            error_setg(errp, "Drive '%s' has power already",
                       bdrv_get_node_name(bs));
            return -EINVAL;
        }
        nand_ssd_update_now(s);
        if (slate_power_on(s->dev, s->now_ns, why)) {
            error_setg(errp, "%s", why);
            return -EIO;
        }
        s->off = false;
        s->sanitizing = slate_is_sanitizing(s->dev);
        s->zones.changes = 0;           /* they count from the mount */
        nand_ssd_arm(s, slate_step(s->dev, s->now_ns));
    }
    notifier_list_notify(&s->power, &on);
    nand_ssd_tell_news(s);
    return 0;
}

bool nand_ssd_add_power_notifier(BlockDriverState *bs, Notifier *notifier)
{
    BDRVNandSsdState *s = nand_ssd_state(bs);

    notifier_list_add(&s->power, notifier);

    QEMU_LOCK_GUARD(&s->lock);
    return !s->off;
}

void nand_ssd_forget_followers(BDRVNandSsdState *s)
{
    NotifierList *lists[] = { &s->power, &s->sanitized };
    Notifier *notifier;

    for (unsigned i = 0; i < ARRAY_SIZE(lists); i++) {
        while ((notifier = QLIST_FIRST(&lists[i]->notifiers))) {
            QLIST_SAFE_REMOVE(notifier, node);
        }
    }
}

void nand_ssd_get_power(BlockDriverState *bs, struct slate_power *power,
                        uint32_t *lost)
{
    BDRVNandSsdState *s = nand_ssd_state(bs);

    QEMU_LOCK_GUARD(&s->lock);
    slate_get_power(s->dev, power);
    *lost = s->lost;
}
