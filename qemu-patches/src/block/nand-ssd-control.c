/*
 * Block driver for an emulated NAND SSD (Slate): logs and vendor commands
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A guest (over NVMe) and the host (over QMP) read the same logs and give the
 * same orders. slate_wire.h defines the formats, and libslate executes the
 * orders. This file keeps the snapshot of a log that is read in several parts,
 * and steps the drive after an order.
 *
 * The functions are called with the BQL held, outside coroutines, from the main
 * loop or from a vCPU that wrote a doorbell. They complete before they return,
 * so an answer has the virtual time of its request.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qapi-commands-block.h"
#include "qemu/cutils.h"
#include "qemu/lockable.h"
#include "qemu/main-loop.h"
#include "qemu/units.h"
#include "block/block-io.h"
#include "block/nand-ssd.h"

#include "nand-ssd-int.h"

QEMU_BUILD_BUG_ON(NAND_SSD_LOG_FIRST != (int)SLATE_LOG_IDENTITY);
QEMU_BUILD_BUG_ON(NAND_SSD_LOG_LAST != (int)SLATE_LOG_END - 1);
QEMU_BUILD_BUG_ON(NAND_SSD_SET_WORDS_MAX * 4 != SLATE_WIRE_TEXT_BYTES);
QEMU_BUILD_BUG_ON((int)NAND_SSD_SET != SLATE_ADM_SET);
QEMU_BUILD_BUG_ON((int)NAND_SSD_CONTROL != SLATE_ADM_CONTROL);
QEMU_BUILD_BUG_ON(NAND_SSD_POWER_CUT != (int)SLATE_POWER_CUT);
QEMU_BUILD_BUG_ON(NAND_SSD_CANCEL_CUT != (int)SLATE_POWER_CUT_CANCEL);
QEMU_BUILD_BUG_ON(NAND_SSD_THEN_LAST != (int)SLATE_WIRE_SHUTDOWN);
QEMU_BUILD_BUG_ON(NAND_SSD_REFUSED != (int)SLATE_REFUSED);

#define QMP_LOG_BYTES_MAX (16 * MiB)

/* Option guest-control */

bool nand_ssd_guest_sees(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    return s->guest_control != NAND_SSD_GUEST_CONTROL_OFF;
}

bool nand_ssd_guest_orders(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    return s->guest_control == NAND_SSD_GUEST_CONTROL_ON;
}

/* Logs */

void nand_ssd_forget_pictures(BDRVNandSsdState *s)
{
    for (int reader = 0; reader < NAND_SSD_READERS; reader++) {
        for (int log = 0; log < NAND_SSD_LOGS; log++) {
            free(s->picture[reader][log].data);
            s->picture[reader][log].data = NULL;
        }
    }
}

static void nand_ssd_take_picture(BDRVNandSsdState *s, NandSsdPicture *p,
                                  uint32_t id)
{
    QEMU_LOCK_GUARD(&s->lock);
    nand_ssd_update_now(s);
    free(p->data);
    p->data = slate_log(s->dev, s->now_ns, id, &p->bytes);
}

ssize_t nand_ssd_read_log(BlockDriverState *bs, NandSsdReader reader,
                          uint32_t id, uint64_t offset, void *buf, size_t len,
                          uint64_t *log_bytes)
{
    BDRVNandSsdState *s = bs->opaque;
    NandSsdPicture *p;

    *log_bytes = 0;
    if (id < NAND_SSD_LOG_FIRST || id > NAND_SSD_LOG_LAST ||
        (reader == NAND_SSD_GUEST && !nand_ssd_guest_sees(bs))) {
        return -ENOENT;
    }
    p = &s->picture[reader][id - NAND_SSD_LOG_FIRST];
    if (!offset || !p->data) {
        nand_ssd_take_picture(s, p, id);
    }
    *log_bytes = p->bytes;
    if (offset >= p->bytes) {
        return -EINVAL;
    }
    len = MIN(len, p->bytes - offset);
    memcpy(buf, (char *)p->data + offset, len);
    return len;
}

void *nand_ssd_copy_log(BlockDriverState *bs, uint32_t id, size_t *bytes)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    nand_ssd_update_now(s);
    return slate_log(s->dev, s->now_ns, id, bytes);
}

/* Commands */

/*
 * An order may have made work for the drive, or ended its power: step it.
 * Called with the lock held.
 */
static void nand_ssd_run_order(BDRVNandSsdState *s)
{
    uint64_t deadline_ns = slate_step(s->dev, s->now_ns);

    nand_ssd_check_power(s);
    if (!s->thread && nand_ssd_time_stands(s)) {
        qemu_bh_schedule(s->bh);
    } else {
        nand_ssd_arm(s, s->off ? s->now_ns : deadline_ns);
    }
}

uint32_t nand_ssd_command(BlockDriverState *bs, const NandSsdCommand *c,
                          uint32_t *result)
{
    BDRVNandSsdState *s = bs->opaque;
    const struct slate_order order = {
        .command = c->command, .arg = { c->arg[0], c->arg[1], c->arg[2] },
    };
    uint32_t status;

    *result = 0;
    QEMU_LOCK_GUARD(&s->lock);
    nand_ssd_update_now(s);
    if (c->opcode == NAND_SSD_SET) {
        status = slate_set(s->dev, s->now_ns, c->text);
    } else {
        status = slate_control(s->dev, s->now_ns, &order, result);
    }
    if (slate_powered(s->dev) ? status == SLATE_DONE : !s->off) {
        nand_ssd_run_order(s);
    }
    return status;
}

void nand_ssd_refuse(BlockDriverState *bs, NandSsdOpcode opcode,
                     uint32_t command, uint32_t status, const char *why)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    slate_refuse(s->dev, opcode, command, status, why);
}

/* For Identify and the SMART log */

void nand_ssd_shut_down(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    slate_shut_down(s->dev);
}

void nand_ssd_get_health(BlockDriverState *bs, NandSsdHealth *health)
{
    BDRVNandSsdState *s = bs->opaque;
    struct slate_health h;

    QEMU_LOCK_GUARD(&s->lock);
    slate_get_health(s->dev, &h);
    health->used_percent = h.used_percent;
    health->spare_percent = h.spare_percent;
    health->read_only = h.read_only;
    health->media_errors = h.media_errors;
    health->power_cycles = h.power_cycles;
    health->unsafe_shutdowns = h.unsafe_shutdowns;
}

void nand_ssd_get_media(BlockDriverState *bs, NandSsdMedia *media)
{
    BDRVNandSsdState *s = bs->opaque;
    struct slate_media m;
    struct slate_health h;

    QEMU_LOCK_GUARD(&s->lock);
    slate_get_media(s->dev, &m);
    slate_get_health(s->dev, &h);
    *media = (NandSsdMedia) {
        .drives = 1,
        .free_percent = m.free_percent,
        .programmed_bytes = m.programmed_bytes,
        .read_bytes = m.read_bytes,
        .erased_bytes = m.erased_bytes,
        .blocks = m.blocks,
        .bad_blocks = m.bad_blocks,
        .uncorrectable = m.uncorrectable,
        .refreshed_blocks = m.refreshed_blocks,
        .unsafe_shutdowns = h.unsafe_shutdowns,
        .erases_min = m.erases_min,
        .erases_max = m.erases_max,
    };
}

void nand_ssd_get_sizes(BlockDriverState *bs, NandSsdSizes *sizes)
{
    BDRVNandSsdState *s = bs->opaque;
    struct slate_sizes z;

    slate_get_sizes(s->dev, &z);
    sizes->write_granularity = z.write_granularity;
    sizes->write_optimal = z.write_optimal;
    sizes->trim_granularity = z.trim_granularity;
    sizes->atomic = z.atomic;
    sizes->namespaces = slate_namespaces(s->dev);
    sizes->copy = z.copy;
    sizes->lost = z.lost;
    sizes->metadata = MIN(z.metadata, NAND_SSD_METADATA_MAX);
    sizes->write_cache = slate_has_write_cache(s->dev);
}

/* Sanitize operations */

QEMU_BUILD_BUG_ON(NAND_SSD_SANITIZE_FAILED != (int)SLATE_SANITIZE_FAILED);

bool nand_ssd_can_sanitize(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    return slate_sanitizes(s->dev);
}

bool nand_ssd_sanitize_ready(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    nand_ssd_update_now(s);
    if (slate_powered(s->dev)) {
        nand_ssd_run_order(s);          /* a cut may be due */
    }
    return slate_sanitizes(s->dev) && slate_powered(s->dev) &&
           !slate_is_sanitizing(s->dev);
}

int nand_ssd_sanitize(BlockDriverState *bs, uint32_t tag, uint32_t pattern)
{
    BDRVNandSsdState *s = bs->opaque;
    int result;

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        nand_ssd_update_now(s);
        result = slate_sanitize(s->dev, s->now_ns, tag, pattern);
        if (slate_powered(s->dev) || !s->off) {
            nand_ssd_run_order(s);
        }
    }
    if (!result) {
        notifier_list_notify(&s->sanitized, NULL);
    }
    return nand_ssd_errno(result);
}

QEMU_BUILD_BUG_ON(NAND_SSD_RECORD_BYTES != SLATE_RECORD_BYTES);

void nand_ssd_keep_record(BlockDriverState *bs, const void *record)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    slate_keep_record(s->dev, record);
}

void nand_ssd_mark_written(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    slate_mark_written(s->dev);
}

void nand_ssd_set_sanitize_tag(BlockDriverState *bs, uint32_t tag)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    slate_set_sanitize_dw10(s->dev, tag);
}

void nand_ssd_get_sanitize(BlockDriverState *bs, NandSsdSanitize *out)
{
    BDRVNandSsdState *s = bs->opaque;
    struct slate_sanitize_status now;

    QEMU_LOCK_GUARD(&s->lock);
    slate_sanitize_status(s->dev, &now);
    *out = (NandSsdSanitize) {
        .state = (NandSsdSanitizeState)now.state,
        .tag = now.dw10,
        .row = now.row,
        .rows = now.rows,
        .passes = now.passes,
        .blank = now.blank,
        .erase_ns = now.erase_ns,
        .overwrite_ns = now.overwrite_ns,
    };
}

void nand_ssd_add_sanitize_notifier(BlockDriverState *bs, Notifier *notifier)
{
    BDRVNandSsdState *s = bs->opaque;

    notifier_list_add(&s->sanitized, notifier);
}

/* Events */

void nand_ssd_append_event(BlockDriverState *bs, const void *event,
                           size_t bytes)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    slate_append_event(s->dev, event, bytes);
}

uint32_t nand_ssd_untold_shutdowns(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    return slate_untold_shutdowns(s->dev);
}

void nand_ssd_append_shutdown(BlockDriverState *bs, const void *event,
                              size_t bytes)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    slate_append_shutdown(s->dev, event, bytes);
}

void *nand_ssd_copy_events(BlockDriverState *bs, size_t *bytes,
                           uint32_t *count)
{
    BDRVNandSsdState *s = bs->opaque;
    void *all;

    QEMU_LOCK_GUARD(&s->lock);
    *bytes = slate_events_bytes(s->dev, count);
    all = g_malloc(*bytes);
    slate_get_events(s->dev, all);
    return all;
}

/* Arbitration */

QEMU_BUILD_BUG_ON((NAND_SSD_REQ_QUEUE >> NAND_SSD_REQ_QUEUE_SHIFT) + 1 !=
                  FTL_QUEUES);
QEMU_BUILD_BUG_ON((NAND_SSD_REQ_NAMESPACE >> NAND_SSD_REQ_NAMESPACE_SHIFT) +
                  1 != FTL_NAMESPACES);
QEMU_BUILD_BUG_ON(FTL_NAMESPACES << NAND_SSD_REQ_HANDLE_BITS !=
                  FTL_HANDLES_MAX);
QEMU_BUILD_BUG_ON((int)NAND_SSD_REQ_FROM != (int)BDRV_REQ_QUEUE_MASK);

void nand_ssd_get_arbitration(BlockDriverState *bs, NandSsdArbitration *a)
{
    BDRVNandSsdState *s = bs->opaque;
    struct slate_arbitration now;

    QEMU_LOCK_GUARD(&s->lock);
    now = slate_arbitration(s->dev);
    a->queues = now.kind != FTL_ARBITRATION_FIFO;
    a->weighted = now.kind == FTL_ARBITRATION_WEIGHTED;
    a->burst = now.burst;
    a->high = now.high;
    a->medium = now.medium;
    a->low = now.low;
}

static bool nand_ssd_set_number(BDRVNandSsdState *s, const char *key,
                                uint32_t was, uint32_t number)
{
    g_autofree char *text = g_strdup_printf("controller.%s=%u", key, number);

    return number == was || slate_set(s->dev, s->now_ns, text) == SLATE_DONE;
}

bool nand_ssd_set_arbitration(BlockDriverState *bs, const NandSsdArbitration *a)
{
    BDRVNandSsdState *s = bs->opaque;
    struct slate_arbitration was;
    bool done;

    QEMU_LOCK_GUARD(&s->lock);
    nand_ssd_update_now(s);
    was = slate_arbitration(s->dev);
    done = nand_ssd_set_number(s, "arbitration_burst", was.burst, a->burst);
    if (was.kind == FTL_ARBITRATION_WEIGHTED) {
        done = nand_ssd_set_number(s, "weight_high", was.high, a->high) && done;
        done = nand_ssd_set_number(s, "weight_medium", was.medium,
                                   a->medium) && done;
        done = nand_ssd_set_number(s, "weight_low", was.low, a->low) && done;
    }
    return done;
}

/* Flags of requests (nand-ssd.h) */

QEMU_BUILD_BUG_ON(NAND_SSD_REQ_NO_DATA !=
                  FTL_CROSS_COMMAND << NAND_SSD_REQ_CROSSING_SHIFT);
QEMU_BUILD_BUG_ON(NAND_SSD_REQ_INTERNAL !=
                  FTL_CROSS_NOTHING << NAND_SSD_REQ_CROSSING_SHIFT);

void nand_ssd_set_flags(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    bs->supported_read_flags = BDRV_REQ_CROSSING_MASK | BDRV_REQ_METADATA;
    bs->supported_write_flags = BDRV_REQ_FUA | BDRV_REQ_CROSSING_MASK |
                                BDRV_REQ_METADATA;
    if (slate_handles(s->dev)) {
        bs->supported_write_flags |= NAND_SSD_REQ_HANDLE |
                                     NAND_SSD_REQ_NAMESPACE;
    }
    bs->supported_zero_flags |= BDRV_REQ_MAY_UNMAP | BDRV_REQ_LOST;
    if (slate_arbitration(s->dev).kind != FTL_ARBITRATION_FIFO ||
        slate_namespaces(s->dev) > 1) {
        bs->supported_read_flags |= NAND_SSD_REQ_FROM;
        bs->supported_write_flags |= NAND_SSD_REQ_FROM;
        bs->supported_zero_flags |= NAND_SSD_REQ_FROM;
    }
}

/* Placement handles */

void nand_ssd_get_placement(BlockDriverState *bs, NandSsdPlacement *p)
{
    BDRVNandSsdState *s = bs->opaque;
    const struct nand_geometry *g = slate_geometry(s->dev);
    struct slate_media m;

    *p = (NandSsdPlacement) { .groups = slate_groups(s->dev) };
    p->handles = slate_handles(s->dev) / p->groups;
    if (!p->handles) {
        return;
    }
    QEMU_LOCK_GUARD(&s->lock);
    slate_get_media(s->dev, &m);
    p->persistent = slate_handles_persist(s->dev);
    p->unit_bytes = (uint64_t)g->channels * g->chips_per_channel *
                    g->dies_per_chip * g->planes_per_die *
                    g->pages_per_block * slate_page_bytes(s->dev) / p->groups;
    p->host_bytes = m.host_bytes;
    p->media_bytes = m.programmed_bytes;
    p->erased_bytes = m.erased_bytes;
}

uint64_t nand_ssd_handle_left(BlockDriverState *bs, uint32_t handle)
{
    BDRVNandSsdState *s = bs->opaque;

    QEMU_LOCK_GUARD(&s->lock);
    return slate_handle(s->dev, handle).left_bytes;
}

uint64_t nand_ssd_renew_handle(BlockDriverState *bs, uint32_t handle)
{
    BDRVNandSsdState *s = bs->opaque;
    uint64_t left;

    QEMU_LOCK_GUARD(&s->lock);
    nand_ssd_update_now(s);
    left = slate_renew_handle(s->dev, s->now_ns, handle);
    if (slate_powered(s->dev) || !s->off) {
        nand_ssd_run_order(s);
    }
    return left;
}

/* QMP */

static BlockDriverState *nand_ssd_by_name(const char *node_name, Error **errp)
{
    BlockDriverState *bs = bdrv_find_node(node_name);

    if (!bs) {
        error_setg(errp, "There is no node '%s': query-named-block-nodes lists "
                   "them", node_name);
    } else if (!nand_ssd_state(bs)) {
        error_setg(errp, "Node '%s' is a %s: name the " NAND_SSD_DRIVER " node "
                   "below it", node_name, bdrv_get_format_name(bs));
        bs = NULL;
    }
    return bs;
}

NandSsdLog *qmp_x_nand_ssd_log(const char *node_name, uint32_t id,
                               bool has_offset, uint64_t offset,
                               bool has_length, uint64_t length, Error **errp)
{
    BlockDriverState *bs = nand_ssd_by_name(node_name, errp);
    g_autofree void *buf = NULL;
    uint64_t bytes = 0;
    NandSsdLog *log;
    ssize_t got;

    if (!bs) {
        return NULL;
    }
    length = has_length ? MIN(length, QMP_LOG_BYTES_MAX) : QMP_LOG_BYTES_MAX;
    buf = g_malloc(length);
    got = nand_ssd_read_log(bs, NAND_SSD_QMP, id, has_offset ? offset : 0,
                            buf, length, &bytes);
    if (got == -ENOENT) {
        error_setg(errp, "There is no log %" PRIu32 ": they are %d to %d", id,
                   NAND_SSD_LOG_FIRST, NAND_SSD_LOG_LAST);
        return NULL;
    }
    if (got < 0) {
        error_setg(errp, "Log %" PRIu32 " has %" PRIu64 " bytes: "
                   "give a smaller "
                   "offset", id, bytes);
        return NULL;
    }
    log = g_new0(NandSsdLog, 1);
    log->data = g_base64_encode(buf, got);
    log->bytes = bytes;
    return log;
}

static bool nand_ssd_qmp_arguments(uint32List *list, NandSsdCommand *c,
                                   Error **errp)
{
    int i = 0;

    for (; list; list = list->next) {
        if (i == ARRAY_SIZE(c->arg)) {
            error_setg(errp, "A command has at most %d arguments",
                       (int)ARRAY_SIZE(c->arg));
            return false;
        }
        c->arg[i++] = list->value;
    }
    return true;
}

NandSsdResult *qmp_x_nand_ssd_control(const char *node_name, bool has_command,
                                      uint32_t command, bool has_arguments,
                                      uint32List *arguments, const char *set,
                                      Error **errp)
{
    BlockDriverState *bs = nand_ssd_by_name(node_name, errp);
    NandSsdCommand c = {
        .opcode = set ? NAND_SSD_SET : NAND_SSD_CONTROL,
        .command = command,
        .text = set,
    };
    NandSsdResult *answer;
    uint32_t result;

    if (!bs || !nand_ssd_qmp_arguments(has_arguments ? arguments : NULL, &c,
                                       errp)) {
        return NULL;
    }
    if (has_command == !!set || (set && has_arguments)) {
        error_setg(errp, "Give a command, with arguments if it has any, or a "
                   "setting to set");
        return NULL;
    }
    if (nand_ssd_command(bs, &c, &result)) {
        BDRVNandSsdState *s = bs->opaque;

        QEMU_LOCK_GUARD(&s->lock);
        error_setg(errp, "%s", slate_why(s->dev));
        return NULL;
    }
    answer = g_new0(NandSsdResult, 1);
    answer->result = result;
    return answer;
}
