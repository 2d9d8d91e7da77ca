/*
 * Block driver for an emulated NAND SSD (Slate): zones
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The block layer's zoned operations, on a drive whose FTL has zones (ftl.h).
 * The drive has their states and write pointers; this file stores nothing of
 * them, so they survive whatever the drive survives.
 *
 * Every operation is a request to the drive and ends in the drive's time, even
 * one that is refused here: that one is preceded by a report. An operation that
 * ended without a request would complete from a bottom half, at a time that
 * depends on the host.
 *
 * An operation on several zones at once is a report, and then one request for
 * each zone in a state that the operation is for (as NVMe's Select All), all
 * submitted at the same time.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/coroutine.h"
#include "qemu/iov.h"
#include "qemu/units.h"
#include "block/block-io.h"
#include "block/block_int.h"
#include "block/nand-ssd.h"

#include "nand-ssd-int.h"

#define ZEROES_BYTES (64 * KiB)

static const BlockZoneState block_state[FTL_NZONE_STATES] = {
    [FTL_ZONE_EMPTY] = BLK_ZS_EMPTY,
    [FTL_ZONE_IMPLICIT] = BLK_ZS_IOPEN,
    [FTL_ZONE_EXPLICIT] = BLK_ZS_EOPEN,
    [FTL_ZONE_CLOSED] = BLK_ZS_CLOSED,
    [FTL_ZONE_FULL] = BLK_ZS_FULL,
    [FTL_ZONE_READONLY] = BLK_ZS_RDONLY,
    [FTL_ZONE_OFFLINE] = BLK_ZS_OFFLINE,
};

static const struct {
    enum ftl_zone_op op;
    uint32_t all;               /* states of the zones that Select All means */
} zone_op[] = {
    [BLK_ZO_OPEN] = { FTL_ZONE_OPEN, 1 << FTL_ZONE_CLOSED },
    [BLK_ZO_CLOSE] = { FTL_ZONE_CLOSE, 1 << FTL_ZONE_IMPLICIT |
                                       1 << FTL_ZONE_EXPLICIT },
    [BLK_ZO_FINISH] = { FTL_ZONE_FINISH, 1 << FTL_ZONE_IMPLICIT |
                                         1 << FTL_ZONE_EXPLICIT |
                                         1 << FTL_ZONE_CLOSED },
    [BLK_ZO_RESET] = { FTL_ZONE_RESET, 1 << FTL_ZONE_IMPLICIT |
                                       1 << FTL_ZONE_EXPLICIT |
                                       1 << FTL_ZONE_CLOSED |
                                       1 << FTL_ZONE_FULL },
    [BLK_ZO_OFFLINE] = { FTL_ZONE_RETIRE, 1 << FTL_ZONE_READONLY },
};

const char *nand_ssd_zone_op_name(enum ftl_zone_op op)
{
    static const char *const name[] = {
        [FTL_ZONE_APPEND] = "append", [FTL_ZONE_OPEN] = "open",
        [FTL_ZONE_CLOSE] = "close", [FTL_ZONE_FINISH] = "finish",
        [FTL_ZONE_RESET] = "reset", [FTL_ZONE_REPORT] = "report",
        [FTL_ZONE_RETIRE] = "offline",
        [FTL_ZONE_OPEN_WINDOW] = "open", [FTL_ZONE_COMMIT] = "commit",
    };

    return name[op];
}

/* Opening and closing */

/* Find the drive's zones. After an error this has closed the drive. */
int nand_ssd_zones_open(BlockDriverState *bs, Error **errp)
{
    BDRVNandSsdState *s = bs->opaque;

    s->zoned = slate_zones(s->dev, &s->zones);
    if (!s->zoned) {
        return 0;
    }
    if (s->zones.size_bytes > UINT32_MAX) {
        error_setg(errp, "a zone of %" PRIu64 " bytes is too large for the "
                   "block layer, which counts them in 32 bits: lower "
                   "ftl.zone_dies or ftl.zone_blocks", s->zones.size_bytes);
        slate_close(s->dev);
        s->dev = NULL;
        return -EINVAL;
    }
    s->zone_capacity = slate_zone(s->dev, 0).capacity;
    s->zones.changes = 0;       /* so what the mount has changed is notified */
    notifier_list_init(&s->zones_changed);
    /* virtio-blk looks for conventional zones here, and finds none. */
    bs->wps = g_malloc0(sizeof(*bs->wps) +
                        sizeof(bs->wps->wp[0]) * s->zones.count);
    qemu_co_mutex_init(&bs->wps->colock);
    bs->supported_zero_flags = BDRV_REQ_FUA;
    return 0;
}

void nand_ssd_zones_close(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;
    Notifier *notifier;

    while (s->zoned &&
           (notifier = QLIST_FIRST(&s->zones_changed.notifiers))) {
        QLIST_SAFE_REMOVE(notifier, node);
    }
    g_free(bs->wps);
    bs->wps = NULL;
}

void nand_ssd_zones_limits(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;

    if (!s->zoned) {
        return;
    }
    bs->bl.zoned = BLK_Z_HM;
    bs->bl.zone_size = s->zones.size_bytes;
    bs->bl.nr_zones = s->zones.count;
    bs->bl.max_open_zones = s->zones.open_max;
    bs->bl.max_active_zones = s->zones.active_max;
    bs->bl.max_append_sectors = MIN(s->zone_capacity, BDRV_REQUEST_MAX_BYTES) >>
                                BDRV_SECTOR_BITS;
    bs->bl.write_granularity = FTL_SECTOR_BYTES;
    /* Zeroes are written like other data, at the write pointer. */
    bs->bl.pwrite_zeroes_alignment = FTL_SECTOR_BYTES;
}

/* Zones whose state the drive itself has changed */

void nand_ssd_add_zones_notifier(BlockDriverState *bs, Notifier *notifier)
{
    notifier_list_add(&nand_ssd_state(bs)->zones_changed, notifier);
}

bool nand_ssd_zones_pending(BDRVNandSsdState *s)
{
    struct ftl_zones now;

    if (!s->zoned || !slate_powered(s->dev)) {
        return false;
    }
    slate_zones(s->dev, &now);
    return now.changes != s->zones.changes;
}

bool nand_ssd_zones_news(BDRVNandSsdState *s)
{
    bool news = nand_ssd_zones_pending(s);

    if (news) {
        slate_zones(s->dev, &s->zones);
    }
    return news;
}

unsigned int nand_ssd_changed_zones(BlockDriverState *bs, uint32_t *zone,
                                    unsigned int max)
{
    BDRVNandSsdState *s = nand_ssd_state(bs);
    unsigned int found = 0;

    QEMU_LOCK_GUARD(&s->lock);
    for (uint32_t i = 0; i < s->zones.count; i++) {
        if (!slate_zone(s->dev, i).changed) {
            continue;
        }
        if (found < max) {
            zone[found] = i;
        }
        found++;
    }
    return found;
}

void nand_ssd_zones_told(BlockDriverState *bs, const uint32_t *zone,
                         unsigned int count)
{
    BDRVNandSsdState *s = nand_ssd_state(bs);

    QEMU_LOCK_GUARD(&s->lock);
    for (uint32_t i = 0; i < (zone ? count : s->zones.count); i++) {
        slate_zone_told(s->dev, zone ? zone[i] : i);
    }
}

bool nand_ssd_zone_ended(BlockDriverState *bs, uint64_t offset)
{
    BDRVNandSsdState *s = nand_ssd_state(bs);

    QEMU_LOCK_GUARD(&s->lock);
    return slate_zone(s->dev, offset / s->zones.size_bytes).ended;
}

/* Random write areas */

bool nand_ssd_zone_has_area(BlockDriverState *bs, uint64_t offset)
{
    BDRVNandSsdState *s = nand_ssd_state(bs);

    QEMU_LOCK_GUARD(&s->lock);
    return slate_zone(s->dev, offset / s->zones.size_bytes).window;
}

void nand_ssd_get_areas(BlockDriverState *bs, NandSsdAreas *areas)
{
    const struct ftl_zones *zones = &nand_ssd_state(bs)->zones;

    *areas = (NandSsdAreas) { 0 };
    if (zones->window_max) {
        areas->bytes = zones->window_bytes;
        areas->granule = zones->window_step;
        areas->zones = zones->window_max;
    }
}

bool nand_ssd_cross_reads(BlockDriverState *bs)
{
    return nand_ssd_state(bs)->zones.cross_reads;
}

/* Requests */

static int coroutine_fn run_on(BDRVNandSsdState *s, enum ftl_zone_op op,
                               uint64_t offset, uint64_t bytes)
{
    NandSsdRequest req = {
        .io = {
            .op = FTL_TRIM, .zone = op, .offset = offset, .bytes = bytes,
        },
    };

    return nand_ssd_co_run(s, &req);
}

static int coroutine_fn run(BDRVNandSsdState *s, enum ftl_zone_op op,
                            uint64_t offset)
{
    return run_on(s, op, offset, 0);
}

int coroutine_fn nand_ssd_co_zone_report(BlockDriverState *bs, int64_t offset,
                                         unsigned int *nr_zones,
                                         BlockZoneDescriptor *zones)
{
    BDRVNandSsdState *s = bs->opaque;
    uint64_t first = offset / s->zones.size_bytes;
    int ret;

    if (offset < 0 || first >= s->zones.count) {
        return -EINVAL;
    }
    ret = run(s, FTL_ZONE_REPORT, offset - offset % s->zones.size_bytes);
    if (ret < 0) {
        return ret;
    }
    *nr_zones = MIN(*nr_zones, s->zones.count - first);

    QEMU_LOCK_GUARD(&s->lock);
    for (unsigned int i = 0; i < *nr_zones; i++) {
        const struct ftl_zone zone = slate_zone(s->dev, first + i);

        zones[i] = (BlockZoneDescriptor) {
            .start = zone.start,
            .length = s->zones.size_bytes,
            .cap = zone.capacity,
            .wp = zone.wp,
            .type = BLK_ZT_SWR,
            .state = block_state[zone.state],
        };
    }
    return 0;
}

typedef struct Several {
    BDRVNandSsdState *s;
    enum ftl_zone_op op;
    uint64_t offset;            /* of the next zone */
    Coroutine *waits;
    unsigned int left;
    int ret;                    /* the first error */
} Several;

static void coroutine_fn one_of_several(void *opaque)
{
    Several *all = opaque;
    int ret = run(all->s, all->op, all->offset);

    if (ret < 0 && !all->ret) {
        all->ret = ret;
    }
    if (!--all->left && all->waits) {
        aio_co_wake(all->waits);
    }
}

/* Returns the offsets of the zones that are in one of the states. */
static GArray *zones_in(BDRVNandSsdState *s, uint64_t offset, uint64_t bytes,
                        uint32_t states)
{
    GArray *found = g_array_new(false, false, sizeof(uint64_t));

    QEMU_LOCK_GUARD(&s->lock);
    for (uint64_t at = offset; at < offset + bytes; at += s->zones.size_bytes) {
        if (states >> slate_zone(s->dev, at / s->zones.size_bytes).state & 1) {
            g_array_append_val(found, at);
        }
    }
    return found;
}

/* Can all these closed zones be opened? If not, none is (NVMe). */
static bool can_open(BDRVNandSsdState *s, unsigned int closed)
{
    g_autoptr(GArray) open = NULL;

    open = zones_in(s, 0, s->zones.count * s->zones.size_bytes,
                    1 << FTL_ZONE_IMPLICIT | 1 << FTL_ZONE_EXPLICIT);
    return open->len + closed <= s->zones.open_max;
}

static int coroutine_fn run_several(BDRVNandSsdState *s, BlockZoneOp op,
                                    uint64_t offset, uint64_t bytes)
{
    Several all = { .s = s, .op = zone_op[op].op };
    g_autoptr(GArray) found = NULL;
    int ret = run(s, FTL_ZONE_REPORT, offset);

    if (ret < 0) {
        return ret;
    }
    found = zones_in(s, offset, bytes, zone_op[op].all);
    if (op == BLK_ZO_OPEN && !can_open(s, found->len)) {
        return nand_ssd_errno(SSD_E_ZONE_OPEN);
    }
    all.left = found->len;
    for (unsigned int i = 0; i < found->len; i++) {
        /* The coroutine has read the offset when it waits for its request. */
        all.offset = g_array_index(found, uint64_t, i);
        qemu_coroutine_enter(qemu_coroutine_create(one_of_several, &all));
    }
    if (all.left) {
        all.waits = qemu_coroutine_self();
        qemu_coroutine_yield();
    }
    return all.ret;
}

int coroutine_fn nand_ssd_co_zone_mgmt(BlockDriverState *bs, BlockZoneOp op,
                                       int64_t offset, int64_t len)
{
    BDRVNandSsdState *s = bs->opaque;
    uint64_t size = s->zones.size_bytes;

    if (bdrv_is_read_only(bs)) {
        return -EPERM;
    }
    if (!len || offset % size) {
        return -EINVAL;
    }
    if (op == NAND_SSD_ZO_COMMIT && len % FTL_SECTOR_BYTES == 0) {
        return run_on(s, FTL_ZONE_COMMIT, offset, len);
    }
    if (op == NAND_SSD_ZO_OPEN_AREA && len == size) {
        return run(s, FTL_ZONE_OPEN_WINDOW, offset);
    }
    if (len % size || op >= ARRAY_SIZE(zone_op)) {
        return -EINVAL;
    }
    if (len > size) {
        return run_several(s, op, offset, len);
    }
    return run(s, zone_op[op].op, offset);
}

int coroutine_fn nand_ssd_co_zone_append(BlockDriverState *bs, int64_t *offset,
                                         QEMUIOVector *qiov,
                                         BdrvRequestFlags flags)
{
    BDRVNandSsdState *s = bs->opaque;
    NandSsdRequest req = {
        .io = {
            .op = FTL_WRITE,
            .zone = FTL_ZONE_APPEND,
            .fua = flags & BDRV_REQ_FUA,
            .queue = nand_ssd_queue_of(flags),
            .priority = nand_ssd_priority_of(flags),
            .offset = *offset,
            .bytes = qiov->size,
        },
        .qiov = qiov,
    };
    int ret;

    if (bdrv_is_read_only(bs)) {
        return -EPERM;
    }
    if (*offset < 0 || *offset >= slate_capacity(s->dev) ||
        *offset % s->zones.size_bytes || qiov->size % FTL_SECTOR_BYTES) {
        return -EINVAL;
    }
    if (qiov->size > slate_capacity(s->dev) - *offset) {
        /* The drive takes no request beyond its end, so report the zone. */
        ret = run(s, FTL_ZONE_REPORT, *offset);
        return ret < 0 ? ret : nand_ssd_errno(SSD_E_ZONE_BOUNDARY);
    }
    ret = nand_ssd_co_run(s, &req);
    *offset = req.io.placed;
    return ret;
}

/* Write zeroes in one request, so that no other write divides them. */
int coroutine_fn nand_ssd_co_zone_zeroes(BlockDriverState *bs, int64_t offset,
                                         int64_t bytes,
                                         BdrvRequestFlags flags)
{
    BDRVNandSsdState *s = bs->opaque;
    g_autofree void *zeroes = g_malloc0(ZEROES_BYTES);
    QEMUIOVector qiov;
    NandSsdRequest req = {
        .io = {
            .op = FTL_WRITE,
            .fua = flags & BDRV_REQ_FUA,
            .queue = nand_ssd_queue_of(flags),
            .priority = nand_ssd_priority_of(flags),
            .offset = offset,
            .bytes = bytes,
        },
        .qiov = &qiov,
    };
    int ret;

    qemu_iovec_init(&qiov, DIV_ROUND_UP(bytes, ZEROES_BYTES));
    for (int64_t at = 0; at < bytes; at += ZEROES_BYTES) {
        qemu_iovec_add(&qiov, zeroes, MIN(bytes - at, ZEROES_BYTES));
    }
    ret = nand_ssd_co_run(s, &req);
    qemu_iovec_destroy(&qiov);
    return ret;
}
