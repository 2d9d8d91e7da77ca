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

static NandSsdOpStats *nand_ssd_op_stats(const struct slate_dev *dev,
                                         const struct slate_stats *stats,
                                         uint32_t mark, enum ftl_op op)
{
    const struct ftl_op_stats *from = &stats->ftl.op[op];
    NandSsdOpStats *to = g_new0(NandSsdOpStats, 1);
    NandSsdBucketList **tail = &to->histogram;

    to->ios = from->ios;
    to->bytes = from->bytes;
    to->errors = from->errors;
    to->latency_sum_ns = from->lat_sum_ns;
    to->latency_min_ns = from->ios ? from->lat_min_ns : 0;
    to->latency_max_ns = from->lat_max_ns;
    to->cell_ns = from->where.cell_ns;
    to->bus_ns = from->where.bus_ns;
    to->host_queue_ns = from->where.host_queue_ns;
    to->gc_queue_ns = from->where.gc_queue_ns;
    to->buffer_ns = from->where.buffer_ns;
    to->map_ns = from->where.map_ns;
    to->other_ns = from->where.other_ns;
    to->link_ns = from->where.link_ns;
    to->controller_ns = from->where.controller_ns;

    to->sub_buckets = SLATE_BUCKETS_AN_OCTAVE;
    slate_each_bucket(dev, mark, op, nand_ssd_add_bucket, &tail);
    return to;
}

static NandSsdFtlStats *nand_ssd_ftl_stats(const struct ftl_stats *from)
{
    NandSsdFtlStats *to = g_new0(NandSsdFtlStats, 1);

    to->fua_writes = from->fua_writes;
    to->unwritten_reads = from->unwritten_reads;
    to->unwritten_units = from->unwritten_units;
    to->buffer_hit_units = from->buffer_hit_units;
    to->coalesced_units = from->coalesced_units;
    to->merge_reads = from->merge_reads;
    to->merge_read_bytes = from->merge_read_bytes;
    to->trimmed_units = from->trimmed_units;
    to->host_units = from->host_units;
    to->meta_units = from->meta_units;
    to->pad_units = from->pad_units;
    to->gc_runs = from->gc_runs;
    to->gc_units = from->gc_units;
    to->gc_ns = from->gc_ns;
    to->gc_blocks = from->gc_blocks;
    to->wl_runs = from->wl_runs;
    to->relocations = from->relocations;
    to->wl_units = from->wl_units;
    to->merges = from->merges;
    to->mmerges = from->mmerges;
    to->second_victims = from->second_victims;
    to->search_reads = from->search_reads;
    to->backup_pages = from->backup_pages;
    to->fast_pages = from->fast_pages;
    to->slow_pages = from->slow_pages;
    to->host_pages = from->host_pages;
    to->gc_pages = from->gc_pages;
    to->raw_units = from->raw_units;
    to->comp_units = from->comp_units;
    to->delta_units = from->delta_units;
    to->link_units = from->link_units;
    to->comp_bytes = from->comp_bytes;
    to->delta_bytes = from->delta_bytes;
    to->plain_bytes = from->plain_bytes;
    to->reference_hits = from->reference_hits;
    to->reference_reads = from->reference_reads;
    to->refused_references = from->refused_references;
    to->retired_blocks = from->retired_blocks;
    to->mounts = from->mounts;
    to->link_to_host_busy_ns = from->link_busy_ns[0];
    to->link_to_drive_busy_ns = from->link_busy_ns[1];
    to->core_busy_ns = from->core_busy_ns;
    to->map_hits = from->map_hits;
    to->map_misses = from->map_misses;
    to->map_reads = from->map_reads;
    to->map_writes = from->map_writes;
    to->map_copies = from->map_copies;
    return to;
}

static NandSsdSourceStats *nand_ssd_source_stats(const struct nand_stats *from,
                                                 enum nand_source source)
{
    NandSsdSourceStats *to = g_new0(NandSsdSourceStats, 1);

    to->reads = from->ops[NAND_READ][source];
    to->programs = from->ops[NAND_PROGRAM][source];
    to->erases = from->ops[NAND_ERASE][source];
    to->copybacks = from->ops[NAND_COPYBACK][source];
    to->read_nj = from->energy_nj[NAND_READ][source];
    to->program_nj = from->energy_nj[NAND_PROGRAM][source];
    to->erase_nj = from->energy_nj[NAND_ERASE][source];
    to->copyback_nj = from->energy_nj[NAND_COPYBACK][source];
    to->die_busy_ns = from->die_busy_ns[source];
    to->bus_busy_ns = from->bus_busy_ns[source];
    to->user_read_bytes = from->user_read_bytes[source];
    return to;
}

static NandSsdNandStats *nand_ssd_nand_stats(const struct nand_stats *from)
{
    NandSsdNandStats *to = g_new0(NandSsdNandStats, 1);
    NandSsdSources *sources = g_new0(NandSsdSources, 1);
    uint64List **tail = &to->violations;

    QEMU_BUILD_BUG_ON(NAND_NSOURCES != 6);
    sources->host = nand_ssd_source_stats(from, NAND_SRC_HOST);
    sources->gc = nand_ssd_source_stats(from, NAND_SRC_GC);
    sources->wl = nand_ssd_source_stats(from, NAND_SRC_WL);
    sources->meta = nand_ssd_source_stats(from, NAND_SRC_META);
    sources->backup = nand_ssd_source_stats(from, NAND_SRC_BACKUP);
    sources->map = nand_ssd_source_stats(from, NAND_SRC_MAP);
    to->by_source = sources;

    for (int rule = 0; rule < NAND_NRULES; rule++) {
        QAPI_LIST_APPEND(tail, from->violations[rule]);
    }
    to->uncorrectable = from->uncorrectable;
    to->corrected = from->corrected;
    to->retries = from->retries;
    to->program_fails = from->program_fails;
    to->erase_fails = from->erase_fails;
    to->partial_erases = from->partial_erases;
    to->parallel_erases = from->parallel_erases;
    to->subpage_reads = from->subpage_reads;
    to->read_bytes = from->read_bytes;
    to->lower_reads = from->lower_reads;
    to->suspends = from->suspends;
    to->disturbs = from->disturbs;
    to->disturb_lost = from->disturb_lost;
    to->paired_lost = from->paired_lost;
    to->programmed_pages = from->programmed_pages;
    to->erase_count_max = from->erase_count_max;
    to->erase_count_sum = from->erase_count_sum;
    to->page_erases = from->page_erases;
    to->page_erases_sq = from->page_erases_sq;
    to->damaged = from->damaged;
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

        to->host = busy_ns(dev, i, NAND_SRC_HOST);
        to->gc = busy_ns(dev, i, NAND_SRC_GC);
        to->wl = busy_ns(dev, i, NAND_SRC_WL);
        to->meta = busy_ns(dev, i, NAND_SRC_META);
        to->backup = busy_ns(dev, i, NAND_SRC_BACKUP);
        to->map = busy_ns(dev, i, NAND_SRC_MAP);
        QAPI_LIST_APPEND(tail, to);
    }
    return list;
}

/* mark: the one that ends the interval, or SLATE_NO_MARK. */
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
