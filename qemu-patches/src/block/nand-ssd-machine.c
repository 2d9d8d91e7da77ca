/*
 * Block driver for an emulated NAND SSD (Slate): the machine around it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * QMP commands for a drive's power, the action of the machine at a power cut,
 * the moment when the guest's work begins, and the bytes of the machine's RAM
 * that are not in memory yet. This file is not part of QEMU's tools, which have
 * no machine.
 *
 * A machine that is reset or shut down at a power cut executes no instruction
 * after it: the vCPUs are stopped here, where virtual time is that of the cut,
 * before the main loop runs. With -icount rate= virtual time stands still while
 * they are stopped.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qapi-commands-block.h"
#include "qapi/qapi-events-block.h"
#include "qemu/error-report.h"
#include "qemu/lockable.h"
#include "block/block-global-state.h"
#include "block/block-io.h"
#include "block/nand-ssd.h"
#include "exec/cpu-common.h"
#include "hw/core/cpu.h"
#include "system/reset.h"
#include "system/runstate.h"

#include "nand-ssd-int.h"

static NandSsdPower *nand_ssd_power_info(BlockDriverState *bs)
{
    NandSsdPower *info = g_new0(NandSsdPower, 1);
    struct slate_power p;
    uint32_t lost;

    nand_ssd_get_power(bs, &p, &lost);
    info->on = p.on;
    info->planned = p.planned;
    info->has_planned_ns = p.planned && p.planned_ns != FTL_IDLE;
    info->planned_ns = p.planned_ns;
    info->cuts = p.cuts;
    info->has_cut_ns = info->has_lost_requests = info->has_torn_programs =
        info->has_torn_erases = info->has_undone = info->has_saved_ns =
        info->has_saved_programs = info->has_unsaved_pages = p.cuts > 0;
    info->cut_ns = p.cut_ns;
    info->lost_requests = lost;
    info->torn_programs = p.torn[NAND_PROGRAM] + p.torn[NAND_COPYBACK];
    info->torn_erases = p.torn[NAND_ERASE];
    for (int op = 0; op < NAND_NOPS; op++) {
        info->undone += p.undone[op];
    }
    info->saved_ns = p.save.ns;
    info->saved_programs =
        p.save.ops[NAND_PROGRAM] + p.save.ops[NAND_COPYBACK];
    info->unsaved_pages = p.save.left_pages;
    info->mounts = p.mounts;
    info->has_on_ns = info->has_ready_ns = info->has_mount_reads =
        info->has_mount_programs = info->has_mount_erases = p.mounts > 0;
    info->on_ns = p.on_ns;
    info->ready_ns = p.ready_ns;
    info->mount_reads = p.mount_ops[NAND_READ];
    info->mount_programs = p.mount_ops[NAND_PROGRAM];
    info->mount_erases = p.mount_ops[NAND_ERASE];
    return info;
}

/* Power on each drive whose cut reset the machine. */
static void nand_ssd_at_reset(void *opaque)
{
    BlockDriverState *bs = NULL;

    while ((bs = bdrv_next_node(bs))) {
        BDRVNandSsdState *s = nand_ssd_state(bs);
        Error *err = NULL;

        if (s && s->on_at_reset) {
            s->on_at_reset = false;
            if (nand_ssd_power_on(bs, &err) < 0) {
                error_report_err(err);
            }
        }
    }
}

static void nand_ssd_stop_vcpus(void)
{
    CPUState *cpu;

    CPU_FOREACH(cpu) {
        cpu->stop = true;
        qemu_cpu_kick(cpu);
    }
}

static void nand_ssd_cut_happened(BlockDriverState *bs, void *opaque)
{
    NandSsdCutThen then = GPOINTER_TO_INT(opaque);
    g_autoptr(NandSsdPower) info = nand_ssd_power_info(bs);

    qapi_event_send_nand_ssd_power_cut(bdrv_get_node_name(bs), then, info);
    switch (then) {
    case NAND_SSD_CUT_THEN_RESET:
        nand_ssd_state(bs)->on_at_reset = true;
        qemu_system_reset_request(SHUTDOWN_CAUSE_HOST_QMP_SYSTEM_RESET);
        nand_ssd_stop_vcpus();
        break;
    case NAND_SSD_CUT_THEN_SHUTDOWN:
        qemu_system_shutdown_request(SHUTDOWN_CAUSE_HOST_ERROR);
        nand_ssd_stop_vcpus();
        break;
    case NAND_SSD_CUT_THEN_VANISH:
    default:
        break;
    }
}

int nand_ssd_machine_plan_cut(BlockDriverState *bs, const NandSsdCut *cut,
                              int then, Error **errp)
{
    static bool registered;

    if (then == NAND_SSD_CUT_THEN_RESET && !registered) {
        qemu_register_reset(nand_ssd_at_reset, NULL);
        registered = true;
    }
    return nand_ssd_plan_cut(bs, cut, nand_ssd_cut_happened,
                             GINT_TO_POINTER(then), errp);
}

/* QMP */

static BlockDriverState *nand_ssd_find(const char *node_name, Error **errp)
{
    BlockDriverState *bs = bdrv_find_node(node_name);

    if (!bs) {
        error_setg(errp, "Cannot find node '%s'", node_name);
    } else if (!nand_ssd_state(bs)) {
        error_setg(errp, "Node '%s' is not a drive of " NAND_SSD_DRIVER,
                   node_name);
        bs = NULL;
    }
    return bs;
}

void qmp_x_nand_ssd_power_cut(const char *node_name, bool has_at_ns,
                              uint64_t at_ns, const char *mark,
                              bool has_after_commands, uint64_t after_commands,
                              bool has_never, bool never, bool has_seed,
                              uint64_t seed, bool has_then,
                              NandSsdCutThen then, Error **errp)
{
    BlockDriverState *bs = nand_ssd_find(node_name, errp);
    NandSsdCut cut = { .when = NAND_SSD_CUT_NOW, .seed = has_seed ? seed : 0 };

    if (!bs) {
        return;
    }
    if (has_at_ns + has_after_commands + (has_never && never) > 1) {
        error_setg(errp, "'at-ns', 'after-commands' and 'never' exclude each "
                   "other: give one of them, or none to cut the power now");
        return;
    }
    if (mark && (!has_at_ns || strlen(mark) > sizeof(cut.mark))) {
        error_setg(errp, "'mark' is a label of at most %zu bytes, with 'at-ns' "
                   "as the time after it", sizeof(cut.mark));
        return;
    }
    if (has_at_ns) {
        cut.when = mark ? NAND_SSD_CUT_AFTER_MARK : NAND_SSD_CUT_AT_NS;
        memcpy(cut.mark, mark ?: "", mark ? strlen(mark) : 0);
        cut.value = at_ns;
    } else if (has_after_commands) {
        cut.when = NAND_SSD_CUT_AFTER_COMMANDS;
        cut.value = after_commands;
    } else if (has_never && never) {
        cut.when = NAND_SSD_CUT_NEVER;
    }
    nand_ssd_machine_plan_cut(bs, &cut,
                              has_then ? then : NAND_SSD_CUT_THEN_VANISH, errp);
}

void qmp_x_nand_ssd_power_on(const char *node_name, Error **errp)
{
    BlockDriverState *bs = nand_ssd_find(node_name, errp);

    if (bs) {
        nand_ssd_power_on(bs, errp);
    }
}

NandSsdPower *qmp_x_query_nand_ssd_power(const char *node_name, Error **errp)
{
    BlockDriverState *bs = nand_ssd_find(node_name, errp);

    return bs ? nand_ssd_power_info(bs) : NULL;
}

void nand_ssd_await_work(void)
{
    nand_ssd_work_awaited = true;
}

void nand_ssd_work_begins(void)
{
    BlockDriverState *bs = NULL;

    nand_ssd_work_awaited = false;
    while ((bs = bdrv_next_node(bs))) {
        BDRVNandSsdState *s = nand_ssd_state(bs);

        if (s) {
            QEMU_LOCK_GUARD(&s->lock);
            nand_ssd_find_processors(s);
        }
    }
}

typedef struct NandSsdWanted {
    bool exact;
    uint64_t bytes;
} NandSsdWanted;

static int nand_ssd_add_wanted(RAMBlock *block, void *opaque)
{
    uint64_t bytes = qemu_ram_get_used_length(block);
    NandSsdWanted *wanted = opaque;

    wanted->bytes += wanted->exact ?
        host_memory_untouched(qemu_ram_get_host_addr(block), bytes) : bytes;
    return 0;
}

/* Returns the bytes of the machine's RAM not in memory yet (exact), or all. */
static uint64_t nand_ssd_machine_wants(void *opaque, bool exact)
{
    NandSsdWanted wanted = { .exact = exact };

    qemu_ram_foreach_block(nand_ssd_add_wanted, &wanted);
    return wanted.bytes;
}

static void nand_ssd_machine_init(void)
{
    nand_ssd_memory_wanted = nand_ssd_machine_wants;
}

block_init(nand_ssd_machine_init);
