/*
 * The statistics of an emulated NAND SSD, for query-blockstats
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Converts libslate's counters to QAPI's BlockStatsSpecificNandSsd. It copies
 * them and keeps no state.
 */

#include "qemu/osdep.h"
#include "qapi/qapi-types-block-core.h"
#include "qemu/lockable.h"
#include "system/cpu-timers.h"

#include "nand-ssd-int.h"

static void nand_ssd_add_bucket(void *opaque, uint64_t floor_ns, uint64_t ios)
{
    NandSsdBucketList ***tail = opaque;
    NandSsdBucket *bucket = g_new0(NandSsdBucket, 1);

    bucket->floor_ns = floor_ns;
    bucket->count = ios;
    QAPI_LIST_APPEND(*tail, bucket);
}

/* These copy a row of libslate's tables of counters. */
#define NAND_SSD_COPY(name, ...) to->name = from->name;
#define NAND_SSD_COPY_CAUSE(name, says) to->name = from->where.name;
#define NAND_SSD_COPY_BY_OP(name, field, says) to->name = from->field[source];
#define NAND_SSD_COPY_SOURCE(name, says) to->name = from->name[source];

/* These copy a row of libslate's table of sources. */
#define NAND_SSD_SOURCE_STATS(ID, name, ...) \
    sources->name = nand_ssd_source_stats(from, NAND_SRC_##ID);
#define NAND_SSD_SOURCE_BUSY(ID, name, ...) \
    to->name = busy_ns(dev, i, NAND_SRC_##ID);

static NandSsdOpStats *nand_ssd_op_stats(const struct slate_dev *dev,
                                         const struct slate_stats *stats,
                                         uint32_t mark, enum ftl_op op)
{
    const struct ftl_op_stats *from = &stats->ftl.op[op];
    NandSsdOpStats *to = g_new0(NandSsdOpStats, 1);
    NandSsdBucketList **tail = &to->histogram;

    FTL_OP_COUNTERS(NAND_SSD_COPY)
    FTL_CAUSES(NAND_SSD_COPY_CAUSE)
    if (!from->ios) {
        to->latency_min_ns = 0;
    }

    to->sub_buckets = SLATE_BUCKETS_AN_OCTAVE;
    slate_each_bucket(dev, mark, op, nand_ssd_add_bucket, &tail);
    return to;
}

static NandSsdFtlStats *nand_ssd_ftl_stats(const struct ftl_stats *from)
{
    NandSsdFtlStats *to = g_new0(NandSsdFtlStats, 1);

    FTL_COUNTERS(NAND_SSD_COPY)
    return to;
}

static NandSsdSourceStats *nand_ssd_source_stats(const struct nand_stats *from,
                                                 enum nand_source source)
{
    NandSsdSourceStats *to = g_new0(NandSsdSourceStats, 1);

    NAND_COMMAND_COUNTERS(NAND_SSD_COPY_BY_OP)
    NAND_SOURCE_COUNTERS(NAND_SSD_COPY_SOURCE)
    return to;
}

static NandSsdNandStats *nand_ssd_nand_stats(const struct nand_stats *from)
{
    NandSsdNandStats *to = g_new0(NandSsdNandStats, 1);
    NandSsdSources *sources = g_new0(NandSsdSources, 1);
    uint64List **tail = &to->violations;

    NAND_SOURCES(NAND_SSD_SOURCE_STATS)
    to->by_source = sources;

    for (int rule = 0; rule < NAND_NRULES; rule++) {
        QAPI_LIST_APPEND(tail, from->violations[rule]);
    }
    NAND_COUNTERS(NAND_SSD_COPY)
    return to;
}

typedef uint64_t NandSsdBusyFn(const struct slate_dev *dev, uint32_t i,
                               enum nand_source source);

static NandSsdBusyList *nand_ssd_busy_list(const struct slate_dev *dev,
                                           uint32_t count,
                                           NandSsdBusyFn *busy_ns)
{
    NandSsdBusyList *list = NULL;
    NandSsdBusyList **tail = &list;

    for (uint32_t i = 0; i < count; i++) {
        NandSsdBusy *to = g_new0(NandSsdBusy, 1);

        NAND_SOURCES(NAND_SSD_SOURCE_BUSY)
        QAPI_LIST_APPEND(tail, to);
    }
    return list;
}

/* mark: the mark at the interval's end, or SLATE_NO_MARK. */
static NandSsdAccount *nand_ssd_account(const struct slate_dev *dev,
                                        const struct slate_stats *from,
                                        uint32_t mark)
{
    NandSsdAccount *to = g_new0(NandSsdAccount, 1);

    to->read = nand_ssd_op_stats(dev, from, mark, FTL_READ);
    to->write = nand_ssd_op_stats(dev, from, mark, FTL_WRITE);
    to->trim = nand_ssd_op_stats(dev, from, mark, FTL_TRIM);
    to->flush = nand_ssd_op_stats(dev, from, mark, FTL_FLUSH);
    to->ftl = nand_ssd_ftl_stats(&from->ftl);
    to->nand = nand_ssd_nand_stats(&from->nand);
    return to;
}

static uint64List *nand_ssd_uint64_list(const uint64_t *from, uint32_t count)
{
    uint64List *list = NULL;
    uint64List **tail = &list;

    for (uint32_t i = 0; i < count; i++) {
        QAPI_LIST_APPEND(tail, from[i]);
    }
    return list;
}

static NandSsdMark *nand_ssd_mark(const BDRVNandSsdState *s, uint32_t i)
{
    const struct slate_dev *dev = s->dev;
    g_autofree struct slate_stats *stats = g_new(struct slate_stats, 1);
    NandSsdMark *to = g_new0(NandSsdMark, 1);
    struct slate_mark mark;

    QEMU_BUILD_BUG_ON((int)NAND_SSD_MARK_KIND_POINT != SLATE_MARK_POINT);
    QEMU_BUILD_BUG_ON((int)NAND_SSD_MARK_KIND_BEGIN != SLATE_MARK_BEGIN);
    QEMU_BUILD_BUG_ON((int)NAND_SSD_MARK_KIND_END != SLATE_MARK_END);

    slate_get_mark(dev, i, &mark, stats);
    to->kind = (NandSsdMarkKind)mark.kind;
    to->label = g_strdup(mark.label);
    to->at_ns = mark.at_ns;
    to->account = nand_ssd_account(dev, stats, i);
    if (s->thread) {
        to->real_time = nand_ssd_thread_mark_stats(s->thread, i);
    }
    if (s->processors) {
        to->has_processors = true;
        to->processors = nand_ssd_uint64_list(s->mark_busy_ns +
                                              (size_t)s->processors * i,
                                              s->processors);
    }
    return to;
}

static strList *nand_ssd_lines(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    strList *list = NULL;
    strList **tail = &list;

    for (char **line = lines; *line; line++) {
        if (**line) {
            QAPI_LIST_APPEND(tail, g_strdup(*line));
        }
    }
    return list;
}

BlockStatsSpecific *nand_ssd_get_specific_stats(BlockDriverState *bs)
{
    BDRVNandSsdState *s = bs->opaque;
    BlockStatsSpecific *specific = g_new0(BlockStatsSpecific, 1);
    BlockStatsSpecificNandSsd *to = &specific->u.nand_ssd;
    g_autofree struct slate_stats *stats = g_new(struct slate_stats, 1);
    NandSsdMarkList **tail = &to->marks;

    specific->driver = BLOCKDEV_DRIVER_NAND_SSD;

    QEMU_LOCK_GUARD(&s->lock);
    slate_get_stats(s->dev, stats);
    to->profile = g_strdup(slate_profile_name(s->dev));
    to->settings = nand_ssd_lines(slate_settings(s->dev));
    to->capacity = slate_capacity(s->dev);
    to->total = nand_ssd_account(s->dev, stats, SLATE_NO_MARK);
    /* now_ns depends on the host, which flushes when a machine stops. */
    to->at_ns = s->worked_ns;
    to->dies = nand_ssd_busy_list(s->dev, slate_dies(s->dev),
                                  slate_die_busy_ns);
    to->channels = nand_ssd_busy_list(s->dev, slate_channels(s->dev),
                                      slate_bus_busy_ns);
    if (s->processors) {
        g_autofree uint64_t *busy_ns = g_new0(uint64_t, s->processors);

        icount_busy(busy_ns, s->processors);
        to->has_processors = true;
        to->processors = nand_ssd_uint64_list(busy_ns, s->processors);
    }
    for (uint32_t i = 0; i < slate_mark_count(s->dev); i++) {
        QAPI_LIST_APPEND(tail, nand_ssd_mark(s, i));
    }
    if (s->thread) {
        to->real_time = nand_ssd_thread_stats(s->thread);
    }
    return specific;
}
