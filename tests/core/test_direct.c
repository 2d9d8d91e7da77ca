// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test FTLs that write through (FTL_WRITE_THROUGH), and the DAC FTL (FTL_FLUSHED), each on small
 * drives of several shapes, sized so that merges and GC never stop:
 *
 *   model   random I/O; each read is checked, and check() is called around every call;
 *   cuts    power cuts before, inside and after every NAND command of a random workload,
 *           and for each a second one within the mount or the work that follows it;
 *   faults  programs and erases that fail, with cuts at random commands, until the drive
 *           is read-only;
 *   hasty   DAC: one cut soon after another on a full drive;
 *   saves   DAC with power-loss protection: the power fails before, inside and after every NAND command; what the
 *           capacitors program must be all that was completed, also when a program or an erase fails meanwhile;
 *   odd     the same with shapes and knobs drawn at random, and with sound media, too.
 *
 *   test_direct              every shape
 *   test_direct FTL          every shape of one FTL, and odd drives
 *   test_direct NAME         one shape
 *   test_direct ID           one case again; ID is what a failing run prints:
 *                            model:shape:seed:ops  cuts:shape:seed:ops[:command:when[:command:when]]
 *                            saves:shape:seed:ops[:command:when]
 *                            faults:shape:seed:lives  hasty:shape:seed:lives  odd:FTL:seed:lives (FTL 1: dac)
 */
#include "controller.h"
#include "credit_watch.h"
#include "direct_rig.h"
#include "save.h"

#define WHENS 3
#define MODEL_OPS 3000
#define SWEPT 40	/* operations in a sweep; 80 take more than twice as long */
#define ODD_DRIVES 150
#define SPARE_BLOCKS 8	/* blocks of a plane reserved for faults */

static const struct rig_shape shapes[] = {
	/* channels chips dies planes blocks pages page_bytes oob kept ecc pb erase bits order */
	{ "nftl", "nftl", { 1, 1, 1, 1, 8, 8, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_NONE },
	  .start = 2, .urgent = 1, .tolerance = 255 },
	{ "nftl ascending", "nftl", { 1, 1, 1, 1, 8, 8, 1024, 64, 0, 1024, 0, 1, 1 },
	  .start = 2, .urgent = 1, .tolerance = 255, .hot = 9, .search = FTL_SEARCH_YES },
	{ "nftl planes", "nftl", { 2, 1, 1, 2, 7, 6, 1024, 64, 0, 1024, 0, 2, 1, NAND_ORDER_NONE },
	  .start = 2, .urgent = 1, .tolerance = 255, .parallel_erase = true, .search = FTL_SEARCH_YES },
	{ "nftl sliced", "nftl", { 1, 2, 1, 2, 8, 6, 2048, 64, 0, 2048, 0, 1, 1, NAND_ORDER_NONE },
	  .start = 3, .urgent = 1, .mode = FTL_GC_SLICED, .tolerance = 255, .search = FTL_SEARCH_YES },
	{ "nftl copyback", "nftl",
	  { 1, 1, 1, 1, 8, 9, 1024, 64, 0, 1024, 0, 1, 3, NAND_ORDER_NONE, .copyback = true },
	  .start = 2, .urgent = 1, .tolerance = 255, .copyback = true },
	{ "nftl, a block of a plane after another", "nftl",
	  { 2, 1, 1, 2, 7, 6, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_NONE },
	  .start = 2, .urgent = 1, .tolerance = 255, .stripe = 6, .hot = 20 },
	{ "gftl", "nftl", { 1, 1, 1, 1, 10, 8, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_NONE },
	  .start = 3, .urgent = 2, .mode = FTL_GC_SLICED, .tolerance = 255, .wbuf = 2 },
	{ "gftl ascending, planes", "nftl", { 1, 2, 1, 2, 9, 6, 1024, 64, 0, 1024, 0, 2, 1 },
	  .start = 2, .urgent = 1, .mode = FTL_GC_SLICED, .tolerance = 255, .wbuf = 2, .hot = 40,
	  .parallel_erase = true, .search = FTL_SEARCH_YES },
	{ "gftl, much room", "nftl", { 1, 1, 1, 1, 13, 8, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_NONE },
	  .units = 40, .start = 3, .urgent = 2, .mode = FTL_GC_SLICED, .tolerance = 255, .wbuf = 5,
	  .hot = 20, .stripe = 8 },
	{ "gftl and partial blocks", "nftl",
	  { 1, 1, 1, 1, 10, 8, 1024, 64, 0, 1024, 2, 1, 1, NAND_ORDER_NONE, .copyback = true },
	  .start = 2, .urgent = 1, .mode = FTL_GC_SLICED, .tolerance = 1, .wbuf = 3, .copyback = true },
	{ "pen, half a block of a plane after another", "nftl",
	  { 1, 2, 1, 1, 7, 16, 1024, 64, 0, 1024, 2, 1, 1, NAND_ORDER_NONE },
	  .start = 2, .urgent = 1, .tolerance = 1, .pen = true, .stripe = 8 },
	{ "pen", "nftl", { 1, 1, 1, 1, 8, 16, 1024, 64, 0, 1024, 3, 1, 1, NAND_ORDER_NONE },
	  .start = 2, .urgent = 1, .tolerance = 1, .pen = true, .hot = 20 },
	{ "pen ascending", "nftl", { 1, 1, 1, 1, 7, 16, 1024, 64, 0, 1024, 2, 1, 1 },
	  .start = 2, .urgent = 1, .tolerance = 1, .pen = true, .hot = 12 },
	{ "pen tolerates none", "nftl", { 1, 1, 1, 1, 7, 16, 1024, 64, 0, 1024, 3, 1, 1, NAND_ORDER_NONE },
	  .start = 2, .urgent = 1, .tolerance = 0, .pen = true, .hot = 12 },
	{ "pen sliced, parallel", "nftl",
	  { 1, 1, 1, 2, 7, 16, 1024, 64, 0, 1024, 3, 2, 1, NAND_ORDER_NONE },
	  .start = 2, .urgent = 1, .mode = FTL_GC_SLICED, .tolerance = 2, .pen = true,
	  .parallel_erase = true, .hot = 24, .search = FTL_SEARCH_YES },
	{ "pen copyback", "nftl",
	  { 1, 1, 1, 1, 7, 16, 1024, 64, 0, 1024, 4, 2, 1, NAND_ORDER_NONE, .copyback = true },
	  .start = 2, .urgent = 1, .tolerance = 1, .pen = true, .copyback = true,
	  .parallel_erase = true, .hot = 18, .merges_max = 3 },
	{ "superblock 2:3", "superblock", { 1, 1, 1, 1, 10, 8, 1024, 64, 0, 1024, 0, 1, 1 },
	  .units = 48, .start = 3, .urgent = 2, .tolerance = 255, .m = 2, .n = 3 },
	{ "superblock 2:4 sliced, parallel", "superblock",
	  { 1, 2, 1, 2, 9, 6, 2048, 64, 0, 2048, 0, 2, 1, NAND_ORDER_NONE },
	  .start = 3, .urgent = 2, .mode = FTL_GC_SLICED, .tolerance = 255, .m = 1, .n = 3,
	  .parallel_erase = true, .second = 3 },
	{ "superblock copyback", "superblock",
	  { 1, 1, 1, 1, 11, 9, 1024, 64, 0, 1024, 0, 1, 3, NAND_ORDER_NONE, .copyback = true },
	  .start = 4, .urgent = 2, .tolerance = 255, .m = 2, .n = 3, .copyback = true, .hot = 20 },
	{ "superblock pen", "superblock", { 1, 1, 1, 1, 10, 16, 1024, 64, 0, 1024, 3, 1, 1, NAND_ORDER_NONE },
	  .start = 4, .urgent = 2, .tolerance = 1, .m = 2, .n = 4, .pen = true, .hot = 20 },
	{ "superblock pen ascending, parallel", "superblock",
	  { 1, 1, 1, 1, 11, 16, 1024, 64, 0, 1024, 2, 2, 1 },
	  .start = 5, .urgent = 2, .tolerance = 1, .m = 3, .n = 4, .pen = true, .hot = 12,
	  .parallel_erase = true },
	{ "superblock pen tolerates two", "superblock",
	  { 1, 1, 1, 1, 10, 16, 1024, 64, 0, 1024, 4, 1, 1, NAND_ORDER_NONE },
	  .start = 4, .urgent = 2, .tolerance = 2, .m = 2, .n = 4, .pen = true, .hot = 20,
	  .merges_max = 3 },
	{ "superblock, a block of a plane after another", "superblock",
	  { 1, 1, 1, 2, 10, 8, 1024, 64, 0, 1024, 0, 1, 1 },
	  .start = 3, .urgent = 2, .tolerance = 255, .m = 2, .n = 3, .stripe = 8 },
	{ "page map", "superblock", { 1, 1, 1, 2, 9, 8, 1024, 64, 0, 1024, 0, 1, 1 },
	  .start = 3, .urgent = 2, .tolerance = 255 },
	{ "page map parallel, sliced", "superblock",
	  { 1, 2, 1, 1, 10, 8, 1024, 64, 0, 1024, 0, 2, 1, NAND_ORDER_NONE },
	  .start = 3, .urgent = 2, .tolerance = 255, .parallel_erase = true, .mode = FTL_GC_SLICED,
	  .hot = 20, .second = 4 },
	{ "page map pen", "superblock", { 1, 1, 1, 1, 10, 16, 1024, 64, 0, 1024, 3, 1, 1, NAND_ORDER_NONE },
	  .start = 3, .urgent = 2, .tolerance = 1, .pen = true, .hot = 30 },
	{ "dac none", "dac", { 1, 1, 1, 1, 10, 8, 1024, 64, 0, 1024, 0, 1, 1 },
	  .start = 2, .urgent = 1, .tolerance = 255, .pool = 5, .buffer = 6 },
	{ "dac dedup", "dac", { 2, 1, 1, 1, 9, 8, 1024, 64, 0, 1024, 0, 1, 1 },
	  .start = 2, .urgent = 1, .tolerance = 255, .pool = 6, .buffer = 7, .units = 48,
	  .reduction = FTL_REDUCE_DEDUP, .references = 2048 },
	{ "dac comp", "dac", { 1, 2, 1, 1, 8, 6, 2048, 64, 0, 2048, 0, 1, 1, NAND_ORDER_NONE },
	  .start = 3, .urgent = 1, .mode = FTL_GC_SLICED, .tolerance = 255, .pool = 7, .buffer = 5,
	  .reduction = FTL_REDUCE_COMP, .compress_ns = 700, .decompress_ns = 300 },
	{ "dac dedup+comp", "dac", { 1, 1, 1, 1, 11, 8, 2048, 64, 0, 2048, 0, 1, 1 },
	  .start = 2, .urgent = 1, .mode = FTL_GC_SLICED, .tolerance = 255, .pool = 9, .buffer = 12,
	  .units = 40, .reduction = FTL_REDUCE_DEDUP_COMP, .prints = 100, .hash_ns = 400 },
	{ "dac", "dac", { 1, 1, 1, 1, 11, 8, 2048, 64, 0, 2048, 0, 1, 1 },
	  .start = 2, .urgent = 1, .mode = FTL_GC_SLICED, .tolerance = 255, .pool = 9, .buffer = 12,
	  .units = 40, .reduction = FTL_REDUCE_DAC, .references = 8192, .hash_ns = 400,
	  .compress_ns = 900, .decompress_ns = 600 },
	{ "dac compressed buffer", "dac", { 1, 2, 1, 1, 8, 8, 1024, 64, 0, 1024, 0, 1, 1 },
	  .start = 2, .urgent = 1, .mode = FTL_GC_SLICED, .tolerance = 255, .pool = 9, .units = 40,
	  .reduction = FTL_REDUCE_DAC, .references = 4096, .hash_ns = 400, .compress_ns = 900, .decompress_ns = 600 },
	{ "dac dies", "dac", { 2, 2, 1, 2, 5, 4, 1024, 64, 0, 1024, 0, 1, 1 },
	  .start = 2, .urgent = 1, .tolerance = 255, .pool = 4, .buffer = 20, .units = 80,
	  .reduction = FTL_REDUCE_DAC },
	{ "dac, few fingerprints", "dac", { 2, 1, 1, 1, 8, 8, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_NONE },
	  .start = 2, .urgent = 1, .mode = FTL_GC_SLICED, .tolerance = 255, .pool = 8, .buffer = 1,
	  .reduction = FTL_REDUCE_DAC, .prints = 60, .references = 1024, .hot = 20, .hash_ns = 5000 },
	{ "dac flex", "dac",
	  { 1, 1, 1, 1, 17, 8, 1024, 64, 0, 1024, 0, 1, 2, NAND_ORDER_RPS, .paired_loss = true },
	  .start = 2, .urgent = 1, .mode = FTL_GC_SLICED, .tolerance = 255, .pool = 6, .buffer = 10,
	  .units = 68, .reduction = FTL_REDUCE_DAC, .references = 4096, .frontiers = FTL_FRONTIERS_FLEX },
	{ "dac flex links, dies", "dac",
	  { 2, 1, 1, 2, 6, 8, 1024, 64, 0, 1024, 0, 1, 2, NAND_ORDER_RPS, .paired_loss = true },
	  .start = 2, .urgent = 1, .tolerance = 255, .pool = 7, .buffer = 14, .units = 64,
	  .reduction = FTL_REDUCE_DEDUP_COMP, .frontiers = FTL_FRONTIERS_FLEX, .quota = 200 },
	{ "dac flex raw", "dac",
	  { 1, 1, 1, 1, 13, 12, 1024, 64, 0, 1024, 0, 1, 2, NAND_ORDER_RPS, .paired_loss = true },
	  .start = 3, .urgent = 1, .tolerance = 255, .pool = 9, .buffer = 5,
	  .reduction = FTL_REDUCE_NONE, .frontiers = FTL_FRONTIERS_FLEX, .hot = 20 },
	{ "dac parity", "dac",
	  { 1, 1, 1, 1, 17, 8, 1024, 64, 0, 1024, 0, 1, 2, NAND_ORDER_FPS, .paired_loss = true },
	  .start = 2, .urgent = 1, .mode = FTL_GC_SLICED, .tolerance = 255, .pool = 6, .buffer = 10,
	  .units = 68, .reduction = FTL_REDUCE_DAC, .references = 4096, .frontiers = FTL_FRONTIERS_PARITY },
	{ "dac rtf", "dac",
	  { 1, 1, 1, 1, 19, 8, 1024, 64, 0, 1024, 0, 1, 2, NAND_ORDER_FPS, .paired_loss = true },
	  .start = 2, .urgent = 1, .tolerance = 255, .pool = 6, .buffer = 10,
	  .reduction = FTL_REDUCE_DAC, .frontiers = FTL_FRONTIERS_RTF, .active = 4 },
	{ "dac page, fixed order", "dac",
	  { 1, 1, 1, 1, 11, 8, 1024, 64, 0, 1024, 0, 1, 2, NAND_ORDER_FPS },
	  .start = 2, .urgent = 1, .tolerance = 255, .pool = 6, .buffer = 10,
	  .reduction = FTL_REDUCE_DAC },
	{ "page map pen ascending, sliced, copyback", "superblock",
	  { 1, 1, 1, 1, 10, 16, 1024, 64, 0, 1024, 4, 1, 1, .copyback = true },
	  .start = 3, .urgent = 2, .tolerance = 2, .pen = true, .hot = 24, .mode = FTL_GC_SLICED,
	  .copyback = true, .merges_max = 5 },
	{ "nftl, read cache", "nftl", { 2, 1, 1, 1, 7, 6, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_NONE },
	  .start = 2, .urgent = 1, .tolerance = 255, .hot = 9, .cache = 10 },
	{ "page map, read cache", "superblock", { 1, 1, 1, 2, 9, 8, 1024, 64, 0, 1024, 0, 1, 1 },
	  .start = 3, .urgent = 2, .tolerance = 255, .hot = 9, .mode = FTL_GC_SLICED, .cache = 10 },
	{ "superblock cold", "superblock", { 1, 1, 1, 1, 12, 8, 1024, 64, 0, 1024, 0, 1, 1 },
	  .units = 48, .start = 3, .urgent = 2, .tolerance = 255, .m = 2, .n = 4, .cold = true, .hot = 20,
	  .parts = 1 },
	{ "superblock cold 1:3 sliced, parallel", "superblock",
	  { 1, 2, 1, 2, 9, 6, 2048, 64, 0, 2048, 0, 2, 1, NAND_ORDER_NONE },
	  .start = 3, .urgent = 2, .mode = FTL_GC_SLICED, .tolerance = 255, .m = 1, .n = 3, .cold = true,
	  .parallel_erase = true, .second = 3, .parts = 3 },
	{ "superblock cold copyback", "superblock",
	  { 1, 1, 1, 1, 11, 9, 1024, 64, 0, 1024, 0, 1, 3, NAND_ORDER_NONE, .copyback = true },
	  .start = 4, .urgent = 2, .tolerance = 255, .m = 2, .n = 3, .cold = true, .copyback = true, .hot = 20 },
	{ "superblock cold pen", "superblock",
	  { 1, 1, 1, 1, 10, 16, 1024, 64, 0, 1024, 3, 1, 1, NAND_ORDER_NONE },
	  .start = 4, .urgent = 2, .tolerance = 1, .m = 2, .n = 4, .cold = true, .pen = true, .hot = 20,
	  .parts = 2 },
	{ "superblock cold pen ascending, parallel", "superblock",
	  { 1, 1, 1, 1, 11, 16, 1024, 64, 0, 1024, 2, 2, 1 },
	  .start = 5, .urgent = 2, .tolerance = 1, .m = 3, .n = 4, .cold = true, .pen = true, .hot = 12,
	  .parallel_erase = true },
	{ "dac, read cache", "dac", { 1, 1, 1, 1, 11, 8, 2048, 64, 0, 2048, 0, 1, 1 },
	  .start = 2, .urgent = 1, .tolerance = 255, .pool = 9, .buffer = 6, .units = 40, .hot = 9,
	  .reduction = FTL_REDUCE_DAC, .references = 8192, .decompress_ns = 600, .cache = 10 },
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static struct rig first, second, third;
static uint64_t cuts, sum_program_fails, sum_erase_fails, sum_refused, sum_merges, sum_mmerges;
static struct { bool on; uint64_t command, command2; int when, when2; } only;

/* ---- model ----------------------------------------------------------------- */

static void account(const struct rig *r, const char *what, uint64_t n)
{
	const struct ftl_stats *s = r->f->ops->stats(r->f);

	printf("# %" PRIu64 " %s, %" PRIu64 " merges, %" PRIu64 " M-Merges, %" PRIu64 " pages moved\n", n,
	       what, s->merges, s->mmerges, s->gc_units);
	if (s->raw_units + s->comp_units + s->delta_units + s->link_units)
		printf("#  %" PRIu64 " raw, %" PRIu64 " compressed, %" PRIu64 " against a reference, %" PRIu64
		       " links, %" PRIu64 " references refused; %" PRIu64 " collections\n", s->raw_units,
		       s->comp_units, s->delta_units, s->link_units, s->refused_references, s->gc_runs);
}

static void model(uint32_t shape, uint64_t seed, uint32_t ops)
{
	struct nand_stats ns;

	snprintf(rig_id, sizeof(rig_id), "model:%u:%" PRIu64 ":%u", shape, seed, ops);
	rig_make(&first, &shapes[shape]);
	first.rng = seed * 0x9e3779b97f4a7c15u + 1;
	SSD_ASSERT(rig_mount(&first) == SSD_OK);
	rig_work(&first, ops);
	rig_drain(&first);
	rig_powered(&first);
	rig_read_all(&first);
	rig_verify(&first, &first);
	first.ta.n->ops->get_stats(first.ta.n, &ns);
	SSD_ASSERT(!ns.uncorrectable);
	account(&first, "sectors read right", first.reads_checked);
	if (ops >= MODEL_OPS) {		/* with so many operations the event must have occurred */
		SSD_ASSERT(first.f->ops->stats(first.f)->gc_runs > 0);
		SSD_ASSERT(!shapes[shape].pen || !shapes[shape].tolerance ||	/* 0: every plan is the block */
			   first.f->ops->stats(first.f)->mmerges > 0);
	}
	rig_free(&first);
}

/* ---- cuts ------------------------------------------------------------------ */

struct cutter {
	uint64_t command;
	uint64_t stop_at;
	int stop_when;
	uint64_t cut_ns;
	jmp_buf out;
};

static struct cutter outer, inner;

static void stop_hook(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque;
	if (inner.command++ != inner.stop_at)
		return;
	inner.cut_ns = test_cut_time(now_ns, &c[count - 1], inner.stop_when);
	longjmp(inner.out, 1);
}

static void set_hook(struct rig *r, void (*done)(void *, uint64_t, const struct nand_cmd *, unsigned int))
{
	struct nand_hooks hooks = { .done = done };

	nand_array_set_hooks(r->ta.a, &hooks);
}

static void mount_and_verify(struct rig *r, const struct rig *host)
{
	SSD_ASSERT(rig_mount(r) == SSD_OK);
	rig_read_all(r);
	rig_verify(r, host);
	cuts++;
}

/* Make a second cut, at command m of the mount and the following work. */
static void cut_again(uint64_t m, int when, uint64_t seed)
{
	static struct rig *volatile oracle;

	inner = (struct cutter){ .stop_at = m, .stop_when = when };
	oracle = &first;
	set_hook(&second, stop_hook);
	if (!setjmp(inner.out)) {
		mount_and_verify(&second, &first);
		rig_begin_history(&second);
		second.tag = first.tag + 1000;
		second.rng = seed | 1;
		oracle = &second;
		rig_work(&second, 40);
		return;
	}
	set_hook(&second, NULL);
	test_lose_power(&third.ta, &second.ta, inner.cut_ns, seed);
	mount_and_verify(&third, oracle);
}

static void cut_here(uint64_t at_ns, uint64_t seed)
{
	size_t len = strlen(rig_id);

	for (uint64_t i = 0; i < 2; i++) {
		uint64_t s = seed + i, m = rnd(&s) % (i ? 700 : 330);
		int when = (int)(rnd(&s) % WHENS);

		if (only.on && only.command2 != ~(uint64_t)0 && (m != only.command2 || when != only.when2))
			continue;
		snprintf(rig_id + len, sizeof(rig_id) - len, ":%" PRIu64 ":%d", m, when);
		test_lose_power(&second.ta, &first.ta, at_ns, seed);
		cut_again(m, when, s);
		rig_id[len] = 0;
	}
}

static void every_cut(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	uint64_t command = outer.command++;
	(void)opaque;

	for (int when = 0; when < WHENS; when++) {
		uint64_t at = test_cut_time(now_ns, &c[count - 1], when);
		uint64_t seed = command * 0x9e3779b97f4a7c15u + (uint64_t)when;
		size_t len = strlen(rig_id);

		if ((c[0].op == NAND_READ && when) ||
		    (only.on && (command != only.command || when != only.when)))
			continue;
		snprintf(rig_id + len, sizeof(rig_id) - len, ":%" PRIu64 ":%d", command, when);
		set_hook(&second, NULL);
		test_lose_power(&second.ta, &first.ta, at, seed);
		mount_and_verify(&second, &first);
		cut_here(at, seed);
		rig_id[len] = 0;
	}
}

static void sweep(uint32_t shape, uint64_t seed, uint32_t ops)
{
	uint64_t before = cuts;

	snprintf(rig_id, sizeof(rig_id), "cuts:%u:%" PRIu64 ":%u", shape, seed, ops);
	rig_make(&first, &shapes[shape]);
	rig_make(&second, &shapes[shape]);
	rig_make(&third, &shapes[shape]);
	outer = (struct cutter){ 0 };
	first.rng = seed * 0x9e3779b97f4a7c15u + 1;
	SSD_ASSERT(rig_mount(&first) == SSD_OK);
	rig_work(&first, 400);		/* run until merges occur */
	set_hook(&first, every_cut);
	rig_work(&first, ops);
	account(&first, "cuts", cuts - before);
	rig_free(&first);
	rig_free(&second);
	rig_free(&third);
}

/* ---- saves ------------------------------------------------------------------- */

#define DUE_MAX 1024u

static struct {
	struct { uint64_t at_ns, command; int when; } due[DUE_MAX];
	uint32_t count;
	uint64_t commands, failed;
	uint64_t programs, erases;	/* in the save under way, until one fails; 0: none fails */
	struct rig kept;
} saving;

static void note_moments(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	uint64_t command = saving.commands++;
	(void)opaque;

	for (int when = 0; when < WHENS; when++) {
		uint64_t at_ns = test_cut_time(now_ns, &c[count - 1], when);
		uint32_t i = saving.count;

		if ((c[0].op == NAND_READ && when) || (only.on && (command != only.command || when != only.when)))
			continue;
		SSD_ASSERT(saving.count++ < DUE_MAX);
		for (; i && saving.due[i - 1].at_ns > at_ns; i--)
			saving.due[i] = saving.due[i - 1];
		saving.due[i].at_ns = at_ns;
		saving.due[i].command = command;
		saving.due[i].when = when;
	}
}

static enum nand_status fail_in_save(void *opaque, const struct nand_cmd *c)
{
	uint64_t *left = c->op == NAND_PROGRAM ? &saving.programs : c->op == NAND_ERASE ? &saving.erases : NULL;
	(void)opaque;

	if (!left || !*left || --*left)
		return NAND_OK;
	saving.failed++;
	return c->op == NAND_PROGRAM ? NAND_PROG_FAIL : NAND_ERASE_FAIL;
}

/* Lose the power of `first` now, check what is saved, and put the drive back as it was. */
static void save_here(uint64_t command, int when)
{
	struct nand_hooks hooks = { .fault = fail_in_save };
	uint64_t seed = (command * WHENS + (uint64_t)when) * 0x9e3779b97f4a7c15u | 1, end_ns;
	struct nand_in_flight torn;

	memcpy(saving.kept.mem, first.mem, first.len);
	for (uint32_t i = 0; i < RIG_IOS; i++)		/* the FTL's fields of I/Os under way */
		saving.kept.io[i].io = first.io[i].io;
	nand_array_copy(saving.kept.ta.a, first.ta.a);
	saving.programs = command % 2 ? 0 : 1 + rnd(&seed) % 3;
	saving.erases = command % 4 == 1;
	nand_array_set_hooks(first.ta.a, &hooks);
	SSD_ASSERT(!ftl_save(first.f, first.ta.n, 0, first.now_ns, &end_ns));
	nand_array_in_flight(first.ta.a, end_ns, &torn);
	for (unsigned int op = 0; op < NAND_NOPS; op++)
		SSD_ASSERT(!torn.begun[op] && !torn.waiting[op]);
	set_hook(&second, NULL);
	test_lose_power(&second.ta, &first.ta, end_ns, seed);
	mount_and_verify(&second, &first);
	memcpy(first.mem, saving.kept.mem, first.len);
	for (uint32_t i = 0; i < RIG_IOS; i++)
		first.io[i].io = saving.kept.io[i].io;
	nand_array_copy(first.ta.a, saving.kept.ta.a);
	set_hook(&first, note_moments);
}

static bool save_next(struct rig *r, uint64_t until_ns)
{
	uint64_t command = saving.due[0].command;
	int when = saving.due[0].when;
	size_t len = strlen(rig_id);

	if (!saving.count || saving.due[0].at_ns > until_ns)
		return false;
	rig_pass(r, saving.due[0].at_ns);
	memmove(saving.due, saving.due + 1, --saving.count * sizeof(*saving.due));
	snprintf(rig_id + len, sizeof(rig_id) - len, ":%" PRIu64 ":%d", command, when);
	save_here(command, when);
	rig_id[len] = 0;
	return true;
}

static void saves(uint32_t shape, uint64_t seed, uint32_t ops)
{
	uint64_t before = cuts;
	struct rig_shape s = shapes[shape];

	s.units = rig_largest(&s);
	s.g.blocks_per_plane += SPARE_BLOCKS;
	snprintf(rig_id, sizeof(rig_id), "saves:%u:%" PRIu64 ":%u", shape, seed, ops);
	memset(&saving, 0, sizeof(saving));
	rig_protect = true;
	rig_make(&first, &s);
	rig_make(&second, &s);
	rig_make(&saving.kept, &s);
	first.rng = seed * 0x9e3779b97f4a7c15u + 1;
	SSD_ASSERT(rig_mount(&first) == SSD_OK);
	rig_work(&first, 400);
	set_hook(&first, note_moments);
	first.moment = save_next;
	rig_work(&first, ops);
	rig_protect = false;
	account(&first, "saves", cuts - before);
	printf("#  %" PRIu64 " programs and erases failed in them\n", saving.failed);
	rig_free(&first);
	rig_free(&second);
	rig_free(&saving.kept);
}

/* ---- faults ------------------------------------------------------------------ */

static struct {
	uint64_t rng, commands, cut_at, cut_ns, program_fails, erase_fails;
	uint32_t permille;
	bool hasty;		/* the next cut comes soon; reads do not count */
	bool armed;
	jmp_buf off;
} medium;

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	if (c->op == NAND_READ || rnd(&medium.rng) % 1000 >= medium.permille)
		return NAND_OK;
	if (c->op == NAND_ERASE) {
		medium.erase_fails++;
		return NAND_ERASE_FAIL;
	}
	medium.program_fails++;
	return NAND_PROG_FAIL;
}

static struct credit_watch watch;

static void on_commands(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque;
	for (unsigned int i = 0; i < count; i++)
		SSD_ASSERT(c[i].status != NAND_VIOLATION);
	credit_watch(&watch, controller_behind(first.f), c);
	if (!medium.armed || (medium.hasty && c->op == NAND_READ) || medium.commands++ < medium.cut_at)
		return;
	medium.cut_ns = test_cut_time(now_ns, &c[count - 1], (int)(rnd(&medium.rng) % WHENS));
	longjmp(medium.off, 1);
}

/* Run from one cut to the next. */
static void live(struct rig *r)
{
	medium.commands = 0;
	medium.cut_at = rnd(&medium.rng) % (medium.hasty ? 40 : 900);
	medium.armed = true;
	if (setjmp(medium.off))
		return;
	credit_watch_begin(&watch);
	mount_and_verify(r, r);
	rig_begin_history(r);
	rig_work(r, 1 + (uint32_t)(rnd(&r->rng) % 100));
	medium.cut_ns = r->now_ns;
}

/* permille: share of programs and erases that fail. */
static void lives_of(const struct rig_shape *s, uint64_t seed, uint32_t lives, uint32_t permille)
{
	struct nand_hooks hooks = { .fault = on_fault, .done = on_commands };
	uint64_t retired = 0;

	rig_make(&first, s);
	medium.rng = first.rng = seed * 0x9e3779b97f4a7c15u + 1;
	medium.permille = permille;
	nand_array_set_hooks(first.ta.a, &hooks);
	first.may_fail = permille > 0;
	for (uint32_t i = 0; i < lives; i++) {
		live(&first);
		medium.armed = false;
		retired += first.f->ops->stats(first.f)->retired_blocks;
		sum_merges += first.f->ops->stats(first.f)->merges;
		sum_mmerges += first.f->ops->stats(first.f)->mmerges;
		nand_array_power_cut(first.ta.a, medium.cut_ns, rnd(&medium.rng));
		nand_array_power_on(first.ta.a);
	}
	mount_and_verify(&first, &first);
	sum_program_fails += medium.program_fails;
	sum_erase_fails += medium.erase_fails;
	sum_refused += first.refused;
	printf("# %u lives, %" PRIu64 " failed programs, %" PRIu64 " failed erases, %" PRIu64
	       " blocks retired, %" PRIu64 " writes refused\n", lives, medium.program_fails,
	       medium.erase_fails, retired, first.refused);
	rig_free(&first);
}

static void faults(uint32_t shape, uint64_t seed, uint32_t lives)
{
	struct rig_shape roomy = shapes[shape];

	snprintf(rig_id, sizeof(rig_id), "faults:%u:%" PRIu64 ":%u", shape, seed, lives);
	roomy.units = rig_largest(&roomy);	/* as many as fit without the spare blocks */
	roomy.g.blocks_per_plane += SPARE_BLOCKS;
	memset(&medium, 0, sizeof(medium));
	lives_of(&roomy, seed, lives, 1 + (uint32_t)(seed * 3 % 8));
}

/*
 * Cut the power again and again on a full drive, before it has done much work: no cut may reduce
 * its room for good. A refused write is an error here, because no command fails.
 */
static void hasty(uint32_t shape, uint64_t seed, uint32_t lives)
{
	struct rig_shape full = shapes[shape];

	snprintf(rig_id, sizeof(rig_id), "hasty:%u:%" PRIu64 ":%u", shape, seed, lives);
	full.units = 0;
	memset(&medium, 0, sizeof(medium));
	medium.hasty = true;
	lives_of(&full, seed, lives, 0);
}

/* ---- odd drives -------------------------------------------------------------------- */

static uint32_t roll(uint32_t n)
{
	return (uint32_t)(rnd(&medium.rng) % n);
}

static void draw_geometry(struct nand_geometry *g)
{
	*g = (struct nand_geometry){ .dies_per_chip = 1, .oob_bytes = 64 };
	g->channels = 1 + roll(2);
	g->chips_per_channel = 1 + roll(2);
	g->planes_per_die = 1 + roll(3);
	g->blocks_per_plane = 5 + roll(9);
	g->page_bytes = g->ecc_word_bytes = 512u << roll(4);
	g->pb_levels = roll(2) ? 1 + roll(4) : 0;
	g->bits_per_cell = roll(3) ? 1 : 1 + roll(3);
	g->pages_per_block = (1 + roll(6)) * g->bits_per_cell << g->pb_levels;
	g->erase_group_max = 1 + roll(2);
	g->order = roll(3) ? NAND_ORDER_NONE : NAND_ORDER_ASCENDING;
	g->copyback = roll(3) == 0;
}

static bool draw(struct rig_shape *s, const char *ftl)
{
	static const uint32_t tolerances[] = { 255, 0, 1, 1, 1, 2, 3 };
	uint32_t most;

	*s = (struct rig_shape){ .name = "drive", .ftl = ftl };
	s->start = 2 + roll(3);
	draw_geometry(&s->g);
	s->urgent = 1 + roll(s->start - 1);
	s->mode = roll(2) ? FTL_GC_SLICED : FTL_GC_BLOCKING;
	s->tolerance = tolerances[roll(7)];
	s->pen = s->g.pb_levels && roll(4);
	s->parallel_erase = s->g.erase_group_max > 1 && roll(2);
	s->copyback = s->g.copyback && roll(2);
	s->search = roll(3);
	s->victim = roll(3);
	s->in_order = roll(2);
	s->merges_max = roll(2) ? 16 : 1 + roll(4);
	if (geo_pages(&s->g) > 4 * RIG_UNITS)
		return false;
	most = rig_largest(s);
	s->units = roll(2) ? most : 1 + roll(most ? most : 1);
	s->hot = roll(2) ? s->units / 4 : 0;
	s->wbuf = s->mode == FTL_GC_SLICED && !s->pen ? roll(4) : 0;
	if (s->wbuf) {
		most = rig_largest(s);
		s->units = s->units < most ? s->units : most;
	}
	return most && most <= RIG_UNITS;
}

/*
 * Draw word lines, and the policy that places pages on them. If the FTL refuses the drive, another
 * one is drawn.
 */
static void draw_frontiers(struct rig_shape *s)
{
	s->g.bits_per_cell = 2;
	s->g.pb_levels = 0;
	s->g.pages_per_block = 4 * (1 + roll(4));
	s->g.blocks_per_plane += 2 + roll(12);
	s->g.order = roll(3) ? NAND_ORDER_RPS : NAND_ORDER_FPS;
	s->g.paired_loss = roll(4) > 0;
	s->frontiers = (enum ftl_frontiers)roll(FTL_NFRONTIERS);
	s->active = 1 + roll(5);
	s->quota = 1 + roll(300);
	s->idle_permille = roll(2) * roll(1000);
	s->idle_ns = 1 + roll(200000);
}

/* Draw the additional settings of the DAC FTL. */
static void draw_dac(struct rig_shape *s)
{
	if (roll(2))
		draw_frontiers(s);
	s->pen = s->parallel_erase = s->copyback = false;
	s->g.page_bytes = s->g.ecc_word_bytes = 512u << roll(4);
	s->reduction = (enum ftl_reduction)roll(FTL_NREDUCTIONS);
	s->pool = 1 + roll(12);
	s->buffer = 1 + roll(roll(2) ? 3 : 40);
	s->prints = roll(2) ? 1000 : 1 + roll(300);
	s->references = roll(3) * roll(4) * s->g.page_bytes;
	s->hash_ns = roll(2) * roll(9000);
	s->compress_ns = roll(2) * roll(9000);
	s->decompress_ns = roll(2) * roll(9000);
	s->units = rig_largest(s);
	if (s->units > 2)
		s->units -= roll(2) * roll(s->units / 2);
}

static void odd(bool dac, uint64_t seed, uint32_t lives)
{
	struct rig_shape s;

	snprintf(rig_id, sizeof(rig_id), "odd:%d:%" PRIu64 ":%u", dac, seed, lives);
	memset(&medium, 0, sizeof(medium));
	medium.rng = (seed + 1) * 0x9e3779b97f4a7c15u;
	do {
		while (!draw(&s, "nftl"))
			;
		if (dac) {
			s.ftl = "dac";
			draw_dac(&s);
		}
	} while (!s.units || s.units > RIG_UNITS || geo_pages(&s.g) > 4 * RIG_UNITS);
	if (dac && seed % 3 == 2)
		s.buffer = 0;
	s.cache = seed % 4 == 1 ? 2 + (uint32_t)(seed / 4 % 30) : 0;
	lives_of(&s, seed, lives, roll(2) ? 0 : 1 + roll(8));
}

/* ---- the table ------------------------------------------------------------------ */

static bool run_id(const char *text)
{
	uint32_t shape, ops;
	uint64_t seed;
	char kind[8];
	int n;

	only.command2 = ~(uint64_t)0;
	n = sscanf(text, "%7[a-z]:%u:%" SCNu64 ":%u:%" SCNu64 ":%d:%" SCNu64 ":%d", kind, &shape, &seed, &ops,
		   &only.command, &only.when, &only.command2, &only.when2);
	if (n < 4 || shape >= SHAPES)
		return false;
	only.on = n >= 6;
	if (!strcmp(kind, "model"))
		model(shape, seed, ops);
	else if (!strcmp(kind, "cuts"))
		sweep(shape, seed, ops);
	else if (!strcmp(kind, "faults"))
		faults(shape, seed, ops);
	else if (!strcmp(kind, "saves"))
		saves(shape, seed, ops);
	else if (!strcmp(kind, "hasty"))
		hasty(shape, seed, ops);
	else if (!strcmp(kind, "odd"))
		odd(shape == 1, seed, ops);
	else
		return false;
	return true;
}

static bool named_ftl(const char *name)
{
	bool ftl = false;

	for (uint32_t s = 0; s < SHAPES; s++)
		ftl |= !strcmp(name, shapes[s].ftl);
	return ftl;
}

static const char *name_of(const char *what, const char *shape, uint64_t seed)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s %s %" PRIu64, what, shape, seed);
	return name;
}

static void shape_cases(uint32_t s)
{
	const char *name = shapes[s].name;

	for (uint64_t seed = 1; seed <= test_times(2); seed++)
		RUN_AS(name_of("model", name, seed), model(s, seed, test_times(MODEL_OPS)));
	if (test_times(SWEPT) == SWEPT)		/* smaller numbers cost nearly as much */
		RUN_AS(name_of("cuts", name, 1), sweep(s, 1, SWEPT));
	for (uint64_t seed = 1; seed <= test_times(2); seed++)
		RUN_AS(name_of("faults", name, seed), faults(s, seed, test_times(40)));
	if (strcmp(shapes[s].ftl, "dac"))
		return;
	RUN_AS(name_of("saves", name, 1), saves(s, 1, SWEPT));
	RUN_AS(name_of("hasty", name, 1), hasty(s, 1, test_times(150)));
}

static void odd_drives(bool dac)
{
	for (uint64_t seed = 1; seed <= test_times(ODD_DRIVES); seed++)
		odd(dac, seed, 12);
}

static void odd_nftl_drives(void)
{
	odd_drives(false);
}

static void odd_dac_drives(void)
{
	odd_drives(true);
}

static void everything_was_reached(void)
{
	printf("# %" PRIu64 " cuts; between failures %" PRIu64 " merges, %" PRIu64 " M-Merges\n", cuts,
	       sum_merges, sum_mmerges);
	if (test_times(SWEPT) < SWEPT)
		return;			/* the run was too short */
	EXPECT(sum_merges && sum_mmerges);
	EXPECT(sum_program_fails && sum_erase_fails && sum_refused);
	EXPECT(watch.charged);
}

int main(int argc, char **argv)
{
	rig_replay_hint("test_direct");
	if (argc == 2 && strchr(argv[1], ':')) {
		if (run_id(argv[1]))
			return 0;
		fprintf(stderr, "%s: not an ID, which a failing run prints\n", argv[1]);
		return 2;
	}
	for (uint32_t s = 0; s < SHAPES; s++)
		if (argc != 2 || !strcmp(argv[1], shapes[s].ftl) || !strcmp(argv[1], shapes[s].name))
			shape_cases(s);
	if (argc == 2 && !named_ftl(argv[1]))
		return test_result();
	RUN(odd_nftl_drives);
	RUN(odd_dac_drives);
	RUN(everything_was_reached);
	return test_result();
}
