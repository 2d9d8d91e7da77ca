// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test profiles: every key accepts exactly its range, and the message for each kind of bad file or value
 * names the fix.
 */
#include "profile_load.h"

#include <unistd.h>

#include "controller.h"

static void overrides_win(void)
{
	EXPECT_EQ(load("nand-emu/profiles/small.ini", "ftl.gc_mode=blocking"), 0);
	EXPECT_EQ(p.ftl.gc_mode, FTL_GC_BLOCKING);
}

static void expect_error(const char *path, const char *o, const char *says)
{
	int result = load(path, o);

	EXPECT(result < 0);
	if (!strstr(err, says)) {
		printf("'%s' does not say '%s'\n", err, says);
		failures++;
	}
}

static void bad_overrides_are_named(void)
{
	const char *small = "nand-emu/profiles/small.ini";

	expect_error(small, "ftl.gc_mode=often", "ftl.gc_mode = 'often': must be blocking or sliced");
	expect_error(small, "ftl.nothing=1", "no such key: ftl.nothing; [ftl] has: type unit_bytes");
	expect_error(small, "ftl.opp=1", "no such key: ftl.opp; did you mean ftl.op_permille? [ftl] has: type");
	expect_error(small, "ftl.nothing=1", " ... (all: slate profiles keys)");
	expect_error(small, "link.nothing=1", "no such key: link.nothing; [link] has: ");
	EXPECT(!strstr(err, " ..."));
	expect_error(small, "ftl.bufer_units=1", "did you mean ftl.buffer_units? ");
	expect_error(small, "nothing.ftl=1", "no such section: [nothing]");
	expect_error(small, "page.buffer_units=1", "memory; did you mean ftl.buffer_units?");
	expect_error(small, "buffer_units=1",
		     "'buffer_units=1': has no section; write it as section.key=value; did you mean ftl.buffer_units?");
	expect_error(small, "bufer_units=1", "; did you mean ftl.buffer_units?");
	expect_error(small, "seed=1", "; did you mean reliability.seed or precondition.seed?");
	expect_error(small, "nothing=1", "has no section; write it as section.key=value");
	expect_error(small, "gc_mode", "write it as section.key=value");
	expect_error(small, "timing.read_ns=0", "timing.read_ns = '0': must be a whole number, 1 ..");
	expect_error(small, "timing.read_ns=-5", "timing.read_ns = '-5'");
	expect_error(small, "timing.read_ns=99us", "timing.read_ns = '99us'");
	expect_error(small, "ftl.capacity_mib=310", "cannot hold the exported capacity");
	expect_error(small, "ftl.capacity_mib=310", "(exported 310 MiB of 320 MiB raw)");
	expect_error(small, "ftl.unit_bytes=5000", "unit_bytes must be");
	expect_error(small, "geometry.oob_bytes=16", "oob_bytes is too small for this FTL: raise it to 43");
	expect_error(small, "ftl.gc_urgent_blocks=5", "gc_urgent_blocks must be");
	expect_error(small, "ftl.buffer_units=7", "buffer_units must be 0 or hold");
	expect_error("nand-emu/profiles/none.ini", NULL, "none.ini: No such file or directory");
}

/* small.ini has 320 MiB raw and capacity_mib = 256. The later of the two keys counts. */
static void over_provisioning_beats_a_files_capacity(void)
{
	static const char *const both[] = { "ftl.capacity_mib=200", "ftl.op_permille=600", NULL };
	const char *small = "nand-emu/profiles/small.ini";

	EXPECT_EQ(load(small, "ftl.op_permille=600"), SSD_OK);
	EXPECT_EQ(p.ftl.capacity_bytes, 200u << 20);
	EXPECT_EQ(p.capacity_mib, 0);
	EXPECT_EQ(load(small, "ftl.capacity_mib=200"), SSD_OK);
	EXPECT_EQ(p.ftl.capacity_bytes, 200u << 20);
	EXPECT_EQ(load("nand-emu/profiles/default.ini", "ftl.capacity_mib=200"), SSD_OK);
	EXPECT_EQ(p.ftl.capacity_bytes, 200u << 20);
	EXPECT_EQ(profile_load(&p, small, both, err), SSD_E_INVAL);
	EXPECT(strstr(err, "override: ftl.op_permille = 600: ftl.capacity_mib = 200 gives the exported size already"));
}

static void expect_file_error(const char *text, const char *says)
{
	char path[] = "/tmp/slate-profile-XXXXXX";
	int fd = mkstemp(path);

	EXPECT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	expect_error(path, NULL, says);
	unlink(path);
}

static void bad_files_are_named(void)
{
	expect_file_error("[geometry]\nchannels = x\n", ":2: geometry.channels = 'x': must be");
	expect_file_error("[geometry]\nchannel = 2\n", ":2: no such key: geometry.channel;");
	expect_file_error("[geometry]\nchannels = 2\nchannels = 2\n", ":3: geometry.channels is given twice");
	expect_file_error("hello\n", ":1: not an INI line");
	expect_file_error("[geometry]\nchannels = 2\n", "geometry.chips_per_channel is missing");
	expect_file_error("", "geometry.channels is missing; add it to [geometry], a whole number, 1 .. 64");
}

/* ---- every key of the array --------------------------------------------- */

/* Load small.ini with overrides, which are separated by blanks (a comma has none after it). */
static int load_words(const char *words)
{
	static char text[1024];
	const char *list[24];
	size_t n = 0;

	snprintf(text, sizeof(text), "%s", words);
	for (char *w = strtok(text, " "); w && n < 23; w = strtok(NULL, " "))
		list[n++] = w;
	list[n] = NULL;
	return profile_load(&p, "nand-emu/profiles/small.ini", list, err);
}

static void accepted(const char *words)
{
	if (load_words(words)) {
		printf("'%s' is refused: %s\n", words, err);
		failures++;
	}
}

static void refused(const char *words, const char *says)
{
	if (!load_words(words)) {
		printf("'%s' is accepted\n", words);
		failures++;
	} else if (strcmp(err, says)) {
		printf("'%s':\n     says '%s'\n  not '%s'\n", words, err, says);
		failures++;
	}
}

#define TLC "geometry.bits_per_cell=3 geometry.pages_per_block=96 "
#define MLC "geometry.bits_per_cell=2 "
#define NONE "ftl.type=none "
#define SLOW_BUS NONE "geometry.chips_per_channel=64 geometry.dies_per_chip=16 geometry.page_bytes=65536 " \
	"geometry.planes_per_die=1 geometry.oob_bytes=13312 ftl.payload=no "

/* The keys of GC set what the papers require of the array, and the array's settings. */
static void gc_keys(void)
{
	accepted("geometry.erase_group_max=2 ftl.parallel_erase=yes ftl.second_victim_pages=0");
	EXPECT(p.ftl.parallel_erase);
	EXPECT_EQ(p.ftl.second_victim_pages, 0);
	refused("ftl.parallel_erase=yes", "override: ftl.parallel_erase = yes: parallel_erase must be "
		"no: the array erases one block of a plane at a time; or set erase_group_max = 2");

	accepted("geometry.subpage=dma ftl.gc_subpage_reads=yes");
	EXPECT(p.ftl.gc_subpage_reads);
	refused("ftl.gc_subpage_reads=yes", "override: ftl.gc_subpage_reads = yes: gc_subpage_reads must "
		"be no: the array reads whole pages; or set subpage = dma or spread");

	accepted("geometry.copyback=yes ftl.gc_copyback=yes");
	EXPECT(p.ftl.gc_copyback);
	refused("ftl.gc_copyback=yes", "override: ftl.gc_copyback = yes: gc_copyback must be no: the "
		"array has no copyback; or set copyback = yes");

	refused("ftl.gc_frontier=own ftl.map_cache_pages=1",
		"override: ftl.map_cache_pages = 1: map_cache_pages is too small: it must be 0, or at least "
		"(planes + 1) * units per page + 1 (4 planes, 4 units per page)");

	accepted("ftl.suspend=all timing.suspend_ns=5000 timing.suspends_max=4");
	EXPECT_EQ(p.ftl.suspend, FTL_SUSPEND_ALL);
	refused("ftl.suspend=erase", "override: ftl.suspend = erase: suspend must be off: the array suspends no "
		"commands; or set timing.suspend_ns, resume_ns and suspends_max");

	accepted("timing.plane_reads=yes");
	EXPECT(p.array.timing.plane_reads && p.ftl.timing.plane_reads);
	accepted(NONE "timing.plane_reads=yes");
	refused("timing.plane_reads=yes geometry.planes_per_die=1 ftl.capacity_mib=100",
		"override: timing.plane_reads = yes: plane_reads must be no: a die has one plane; or set "
		"geometry.planes_per_die = 2 or more");
	refused("timing.plane_reads=yes ftl.type=dac", "override: timing.plane_reads = yes: plane_reads must be no: "
		"this FTL reads a die by one command at a time; set type = page");

	accepted("ftl.accounting=device");
	EXPECT(!p.array.timing.gc_holds_bus);
	accepted("ftl.accounting=ssdsim");
	EXPECT(p.array.timing.gc_holds_bus && p.ftl.timing.gc_holds_bus);
	refused("ftl.accounting=ssdsim timing.suspend_ns=5 timing.suspends_max=1",
		"override: timing.suspend_ns = 5: suspend_ns must be 0 if GC holds the bus "
		"(ftl.accounting = ssdsim)");
}

/* The keys of the controller need cores, or a read cache. */
static void controller_keys(void)
{
	accepted("controller.cores=2 controller.completion_ns=300");
	refused("ftl.hold_up_ns=5", "override: ftl.hold_up_ns = 5: hold_up_ns must be 0: the drive has no capacitors; "
		"or set power_protected = yes");
	refused("ftl.buffer_units=0 ftl.power_protected=yes", "override: ftl.power_protected = yes: power_protected "
		"must be no with buffer_units = 0: what is completed is on flash; or set buffer_units");
	refused("controller.completion_ns=300", "override: controller.completion_ns = 300: must be 0 unless "
		"controller.cores says how many cores spend it: set cores, or add the time to ftl.overhead_ns");

	accepted("controller.cores=2 controller.arbitration=weighted controller.weight_high=8");
	EXPECT_EQ(p.ftl.arbitration, FTL_ARBITRATION_WEIGHTED);
	EXPECT_EQ(p.ftl.weight_high, 8);
	EXPECT_EQ(p.ftl.arbitration_burst, 1);
	refused("controller.arbitration=round-robin", "override: controller.arbitration = round-robin: must be fifo "
		"unless controller.cores says how many cores the commands wait for: set cores");

	accepted("controller.cores=2 controller.read_cache_units=64 controller.read_ahead_units=32");
	EXPECT_EQ(p.ftl.read_cache_units, 64);
	refused("controller.read_cache_units=64", "override: controller.read_cache_units = 64: must be 0 unless "
		"controller.cores says how many cores look units up in the cache: set cores");
	refused("controller.cores=2 controller.read_cache_units=64 controller.read_ahead_units=33",
		"override: controller.read_ahead_units = 33: must be 4 (the units of a page) .. 32 (half of "
		"controller.read_cache_units), or 0");
	refused("controller.cores=2 controller.read_cache_units=64 controller.read_ahead_units=3",
		"override: controller.read_ahead_units = 3: must be 4 (the units of a page) .. 32 (half of "
		"controller.read_cache_units), or 0");

	refused("controller.cores=2 controller.read_ahead_units=4", "override: controller.read_ahead_units = 4: needs "
		"a read cache of at least 8 units (two pages): raise controller.read_cache_units, or set "
		"read_ahead_units to 0");

	accepted("controller.cores=2 controller.read_cache_units=64 controller.read_hit_ns=700");
	EXPECT_EQ(p.ftl.read_hit_ns, 700);
	refused("controller.cores=2 controller.read_hit_ns=700", "override: controller.read_hit_ns = 700: must be 0 "
		"without a read cache: set controller.read_cache_units");
}

static void geometry_keys(void)
{
	const struct nand_geometry *g = &p.array.geo;

	accepted("geometry.bits_per_cell=4");
	EXPECT_EQ(g->bits_per_cell, 4);
	refused("geometry.bits_per_cell=0",
		"override: geometry.bits_per_cell = '0': must be a whole number, 1 .. 4");
	refused("geometry.bits_per_cell=5",
		"override: geometry.bits_per_cell = '5': must be a whole number, 1 .. 4");
	refused("geometry.bits_per_cell=3", "override: geometry.bits_per_cell = 3: bits_per_cell must "
		"be 1 .. 4 and divide the pages of a (partial) block");

	accepted("geometry.order=none");
	EXPECT_EQ(g->order, NAND_ORDER_NONE);
	accepted(MLC NONE "geometry.order=fps");
	EXPECT_EQ(g->order, NAND_ORDER_FPS);
	accepted(MLC NONE "geometry.order=rps");
	EXPECT_EQ(g->order, NAND_ORDER_RPS);
	refused("geometry.order=random",
		"override: geometry.order = 'random': must be ascending, none, fps or rps");
	refused(NONE "geometry.order=fps", "nand-emu/profiles/small.ini: [geometry] orders fps and rps "
		"need bits_per_cell of 2 and more, and pb_levels = 0");
	accepted(MLC "geometry.order=rps");
	refused("geometry.pages_per_block=66 geometry.bits_per_cell=3 geometry.order=rps",
		"override: geometry.order = rps: order must be ascending or none unless bits_per_cell is "
		"2: the FTL knows the order of LSB and MSB pages alone");
	refused(MLC "ftl.type=flex", "nand-emu/profiles/small.ini: geometry.order = ascending: "
		"order must be rps: the FTL writes all LSB pages of a block before its MSB pages");

	accepted("geometry.ecc_word_bytes=0");
	EXPECT_EQ(g->ecc_word_bytes, 16384);
	accepted("geometry.ecc_word_bytes=512");
	EXPECT_EQ(g->ecc_word_bytes, 512);
	refused("geometry.ecc_word_bytes=511", "override: geometry.ecc_word_bytes = 511: "
		"ecc_word_bytes must divide page_bytes into 1 .. 32 words");
	refused("geometry.ecc_word_bytes=256", "override: geometry.ecc_word_bytes = 256: "
		"ecc_word_bytes must divide page_bytes into 1 .. 32 words");
	refused("geometry.ecc_word_bytes=65537",
		"override: geometry.ecc_word_bytes = '65537': must be a whole number, 0 .. 65536");
}

/* These keys set abilities beyond reads, programs and erases of blocks. */
static void geometry_of_abilities(void)
{
	const struct nand_geometry *g = &p.array.geo;

	accepted("geometry.pb_levels=6");
	EXPECT_EQ(g->pb_levels, 6);
	refused("geometry.pb_levels=7", "override: geometry.pb_levels = 7: pb_levels must be 0 .. 8, "
		"and 2^pb_levels divide pages_per_block");
	refused("geometry.pb_levels=9",
		"override: geometry.pb_levels = '9': must be a whole number, 0 .. 8");
	refused(MLC NONE "geometry.order=fps geometry.pb_levels=2", "nand-emu/profiles/small.ini: "
		"[geometry] orders fps and rps need bits_per_cell of 2 and more, and pb_levels = 0");

	accepted("geometry.erase_group_max=4");
	EXPECT_EQ(g->erase_group_max, 4);
	refused("geometry.erase_group_max=0",
		"override: geometry.erase_group_max = '0': must be a whole number, 1 .. 4");
	refused("geometry.erase_group_max=5",
		"override: geometry.erase_group_max = '5': must be a whole number, 1 .. 4");

	accepted("geometry.subpage=dma");
	EXPECT_EQ(g->subpage, NAND_SUBPAGE_DMA);
	accepted("geometry.subpage=spread timing.subread_base_ns=1");
	EXPECT_EQ(g->subpage, NAND_SUBPAGE_SPREAD);
	refused("geometry.subpage=yes", "override: geometry.subpage = 'yes': must be none, dma or spread");
	refused("geometry.subpage=spread", "override: geometry.subpage = spread: subpage = spread needs "
		"subread_base_ns or subread_ns_per_kib");

	accepted(NONE MLC "geometry.one_shot=yes");
	EXPECT(g->one_shot);
	accepted(MLC "geometry.one_shot=yes");
	refused("geometry.one_shot=1", "override: geometry.one_shot = '1': must be yes or no");
	refused(NONE MLC "geometry.one_shot=yes geometry.order=fps", "override: geometry.one_shot = yes: "
		"one_shot needs order ascending, bits_per_cell of 2 and more, no copyback");
	refused(MLC "ftl.type=dac geometry.one_shot=yes", "override: geometry.one_shot = yes: one_shot must be no: "
		"this FTL programs pages singly; set type = page, or describe a word line as bits_per_cell programs "
		"of a share of its time each");
	accepted("geometry.bits_per_cell=1 geometry.copyback=yes geometry.paired_loss=yes");
	EXPECT(g->copyback && g->paired_loss);
	refused("geometry.copyback=maybe", "override: geometry.copyback = 'maybe': must be yes or no");
	refused("geometry.paired_loss=", "override: geometry.paired_loss = '': must be yes or no");
}

static void lists_by_page_type(void)
{
	const struct nand_timing *t = &p.array.timing;

	accepted(TLC "timing.read_ns=1,2,1000000000 timing.program_ns=7");
	EXPECT_EQ(t->read_ns[0], 1);
	EXPECT_EQ(t->read_ns[1], 2);
	EXPECT_EQ(t->read_ns[2], 1000000000);
	EXPECT_EQ(t->program_ns[2], 7);
	EXPECT_EQ(t->program_ns[3], 0);
	EXPECT_EQ(load("nand-emu/profiles/small.ini", "timing.read_ns= 5 , 6"), SSD_E_INVAL);
	EXPECT(!strcmp(err, "override: timing.read_ns = 5, 6: has 2 values; give one: there is one type "
			    "of page (geometry.bits_per_cell = 1)"));
	refused(TLC "timing.read_ns=1,2", "override: timing.read_ns = 1, 2: has 2 values; give one for "
		"all, or 3: geometry.bits_per_cell, the LSB page first");
	refused(TLC "timing.program_ns=1,2,3,4", "override: timing.program_ns = 1, 2, 3, 4: has 4 values; "
		"give one for all, or 3: geometry.bits_per_cell, the LSB page first");
	refused("timing.read_ns=1,2,3,4,5", "override: timing.read_ns = '1,2,3,4,5': must be a whole "
		"number, 1 .. 1000000000, or up to 4 with commas between");
	refused("timing.read_ns=1,", "override: timing.read_ns = '1,': must be a whole number, "
		"1 .. 1000000000, or up to 4 with commas between");
	refused("timing.read_ns=1000000001", "override: timing.read_ns = '1000000001': must be a whole "
		"number, 1 .. 1000000000, or up to 4 with commas between");
	refused(MLC NONE "geometry.one_shot=yes timing.program_ns=1,2", "override: timing.program_ns = "
		"1, 2: has 2 values; give one: there is one time for a word line (geometry.one_shot = yes)");
	accepted(TLC "energy.read_nj=0,1,4000000000 energy.program_nj=5");
	EXPECT_EQ(p.array.energy.read_nj[2], 4000000000);
	EXPECT_EQ(p.array.energy.program_nj[1], 5);
	refused("energy.program_nj=4000000001", "override: energy.program_nj = '4000000001': must be a "
		"whole number, 0 .. 4000000000, or up to 4 with commas between");
}

static void lists_by_level(void)
{
	accepted("geometry.pb_levels=2 timing.erase_ns=4000000000,3,1 energy.erase_nj=9");
	EXPECT_EQ(p.array.timing.erase_ns[0], 4000000000);
	EXPECT_EQ(p.array.timing.erase_ns[2], 1);
	EXPECT_EQ(p.array.energy.erase_nj[2], 9);
	EXPECT_EQ(p.array.energy.erase_nj[3], 0);
	refused("geometry.pb_levels=2 timing.erase_ns=3,2", "override: timing.erase_ns = 3, 2: has 2 "
		"values; give one for all, or 3: geometry.pb_levels + 1, the block first");
	refused("timing.erase_ns=3,2", "override: timing.erase_ns = 3, 2: has 2 values; give one: there "
		"is one size to erase, the block (geometry.pb_levels = 0)");
	refused("timing.erase_ns=0", "override: timing.erase_ns = '0': must be a whole number, "
		"1 .. 4000000000, or up to 9 with commas between");
	refused("timing.erase_ns=4000000001", "override: timing.erase_ns = '4000000001': must be a whole "
		"number, 1 .. 4000000000, or up to 9 with commas between");
}

/* Each key has one number: the test sets the last value accepted, and the first one refused. */
static void single_numbers(void)
{
	static const struct {
		const char *key, *more;		/* more: additional settings that the key needs */
		unsigned long long low, high;
	} all[] = {
		{ "timing.subread_base_ns", "geometry.subpage=none ", 0, 1000000000 },
		{ "timing.subread_ns_per_kib", "geometry.subpage=none ", 0, 1000000000 },
		{ "timing.lower_read_ns", "geometry.bits_per_cell=1 ", 0, 1000000000 },
		{ "timing.suspend_ns", "timing.suspends_max=1 ", 0, 1000000000 },
		{ "timing.resume_ns", "timing.suspend_ns=0 ", 0, 1000000000 },
		{ "timing.suspends_max", "timing.suspend_ns=0 ", 0, 1 << 20 },
		{ "timing.retry_ns", "", 0, 1000000000 },
		{ "controller.cores", "", 0, 64 },
		{ "controller.completion_ns", "controller.cores=1 ", 0, 1000000000 },
		{ "controller.read_cache_units", "controller.cores=1 ", 0, 1 << 24 },
		{ "controller.read_ahead_units", "controller.cores=1 controller.read_cache_units=2097152 ",
		  0, 1 << 20 },
		{ "controller.read_hit_ns", "controller.cores=1 controller.read_cache_units=8 ", 0, 1000000000 },
		{ "energy.bus_pj_per_byte", "", 0, 4000000000 },
		{ "link.generation", "", 0, 6 },
		{ "link.lanes", "link.generation=3 ", 1, 16 },
		{ "link.data_permille", "link.generation=3 ", 1, 1000 },
		{ "link.latency_ns", "", 0, 1000000000 },
		{ "reliability.factory_bad_permille", "", 0, 500 },
		{ "reliability.idle_hours", "reliability.rber=off ", 0, 1000000 },
		{ "reliability.ecc_bits", "reliability.rber=off ", 0, 65535 },
		{ "reliability.relocate_bits", "reliability.rber=off reliability.ecc_bits=65535 ", 0, 65535 },
		{ "reliability.retries_max", "reliability.rber=off ", 0, 255 },
		{ "reliability.retry_permille", "reliability.retries_max=0 ", 0, 1000 },
		{ "reliability.endurance", "", 0, 1000000000 },
		{ "reliability.wear_shape", "reliability.endurance=9 ", 1, 64 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char words[128], says[160];

		snprintf(words, sizeof(words), "%s%s=%llu", all[i].more, all[i].key, all[i].low);
		accepted(words);
		snprintf(words, sizeof(words), "%s%s=%llu", all[i].more, all[i].key, all[i].high);
		accepted(words);
		snprintf(words, sizeof(words), "%s%s=%llu", all[i].more, all[i].key, all[i].high + 1);
		snprintf(says, sizeof(says), "override: %s = '%llu': must be a whole number, %llu .. %llu",
			 all[i].key, all[i].high + 1, all[i].low, all[i].high);
		refused(words, says);
	}
}

static void numbers_with_others(void)
{
	refused("reliability.wear_shape=0",
		"override: reliability.wear_shape = '0': must be a whole number, 1 .. 64");
	accepted("timing.suspend_ns=1 timing.resume_ns=1000000000 timing.suspends_max=43200");
	refused("timing.suspend_ns=1 timing.resume_ns=1000000000 timing.suspends_max=43201",
		"override: timing.suspends_max = 43201: suspends_max * resume_ns must be at most half a day: a "
		"command would take a day; lower one of them");
	refused("timing.suspend_ns=1", "override: timing.suspend_ns = 1: suspend_ns without suspends_max: "
		"say how often a group may be suspended");
	/*
	 * 64 * 16 dies on a channel with a page each: 43,196 s and 43,277 s, with a limit of 43,200
	 * s.
	 */
	accepted(SLOW_BUS "timing.bus_ps_per_byte=535000000");
	refused(SLOW_BUS "timing.bus_ps_per_byte=536000000", "override: timing.bus_ps_per_byte = "
		"536000000: bus_ps_per_byte is too much: the dies of a channel would wait half a day "
		"for each other; use a faster bus, fewer dies a channel or smaller pages");
	refused("reliability.ecc_bits=8 reliability.relocate_bits=9", "override: "
		"reliability.relocate_bits = 9: must be at most reliability.ecc_bits, 8: what has more "
		"errors is lost");
	accepted("timing.oob_on_bus=no reliability.seed=18446744073709551615");
	EXPECT(p.array.timing.oob_off_bus);
	EXPECT_EQ(p.array.physics.seed, UINT64_MAX);
	accepted("timing.oob_on_bus=yes");
	EXPECT(!p.array.timing.oob_off_bus);
	refused("timing.oob_on_bus=off", "override: timing.oob_on_bus = 'off': must be yes or no");
	accepted("geometry.pb_levels=0 reliability.disturb_tolerance=254");
	EXPECT_EQ(p.array.physics.disturb_tolerance, 254);
	accepted("reliability.disturb_tolerance=off");
	EXPECT_EQ(p.array.physics.disturb_tolerance, 255);
	refused("reliability.disturb_tolerance=255",
		"override: reliability.disturb_tolerance = '255': must be a whole number, 0 .. 254, or off");
}

#define FAST19 "reliability.eps=1.48e-03 reliability.alpha=3.90e-10 reliability.k=2.05 " \
	"reliability.beta=6.28e-05 reliability.m=0.14 reliability.n=0.54 " \
	"reliability.gamma=3.73e-09 reliability.p=0.33 reliability.q=1.71 "

/* The coefficients are log2(1.48e-3) = -9.400187, and so on, times 65536. */
static void raw_bit_errors(void)
{
	const struct nand_physics *f = &p.array.physics;

	accepted("reliability.rber=powerlaw reliability.ecc_bits=40 " FAST19);
	EXPECT(f->rber_on);
	EXPECT_EQ(f->eps_log2, -616051);
	EXPECT_EQ(f->alpha_log2, -2048381);
	EXPECT_EQ(f->beta_log2, -914809);
	EXPECT_EQ(f->gamma_log2, -1834889);
	EXPECT_EQ(f->k, 134349);
	EXPECT_EQ(f->m, 9175);
	EXPECT_EQ(f->n, 35389);
	EXPECT_EQ(f->p, 21627);
	EXPECT_EQ(f->q, 112067);
	accepted("reliability.rber=off " FAST19);
	EXPECT(!f->rber_on && !f->eps_log2 && !f->k);
	accepted("reliability.rber=powerlaw reliability.ecc_bits=40 " FAST19
		 "reliability.beta=0 reliability.gamma=1e-30 reliability.eps=1 reliability.q=8");
	EXPECT_EQ(f->beta_log2, -65536000);
	EXPECT_EQ(f->eps_log2, 0);
	EXPECT_EQ(f->q, 8 * 65536);
	refused("reliability.eps=0.001", "override: reliability.eps = 0.001: means nothing without "
		"reliability.rber; say rber = powerlaw, or rber = off to keep the key for later");
	refused("reliability.rber=powerlaw", "override: reliability.rber = powerlaw: needs reliability.eps "
		"as well; eps, alpha, k, beta, m, n, gamma, p and q make the model");
	refused("reliability.rber=powerlaw " FAST19, "override: reliability.rber = powerlaw: needs "
		"reliability.ecc_bits, the errors that an ECC word may have; 0 would lose every page");
	refused("reliability.rber=on", "override: reliability.rber = 'on': must be powerlaw or off");
	refused("reliability.eps=1.1",
		"override: reliability.eps = '1.1': must be a decimal, 0 or 1e-30 .. 1, such as 1.48e-3");
	refused("reliability.eps=9e-31",
		"override: reliability.eps = '9e-31': must be a decimal, 0 or 1e-30 .. 1, such as 1.48e-3");
	refused("reliability.gamma=nan",
		"override: reliability.gamma = 'nan': must be a decimal, 0 or 1e-30 .. 1, such as 1.48e-3");
	refused("reliability.k=8.01",
		"override: reliability.k = '8.01': must be a decimal, 0 .. 8, such as 0.54");
	refused("reliability.q=-1",
		"override: reliability.q = '-1': must be a decimal, 0 .. 8, such as 0.54");
}

static void ftl_types(void)
{
	accepted("ftl.type=page");
	EXPECT(p.ops && !strcmp(p.ftl_type, "page"));
	accepted(NONE "ftl.capacity_mib=320");
	EXPECT(!p.ops && !strcmp(p.ftl_type, "none"));
	refused(NONE "ftl.capacity_mib=321", "override: ftl.capacity_mib = 321: is more than the array "
		"holds, 320 MiB: lower it");
	expect_error("nand-emu/profiles/small.ini", "ftl.type=pages", "ftl.type = 'pages': must be page");
}

static void an_array_without_an_ftl_does_not_open(void)
{
	const char *none[] = { "ftl.type=none", NULL };
	struct slate_options o = { "nand-emu/profiles/small.ini", none, NULL, false };
	const struct ftl_host host = { 0 };
	struct slate_dev *d;

	EXPECT_EQ(slate_open(&o, &host, &d, err), SSD_E_INVAL);
	EXPECT(strstr(err, "profile small: ftl.type = none describes an array without an FTL"));
}

static void who_may_lose_completed_writes(void)
{
	static const struct { const char *profile, *buffer, *accounting; bool cache; } drives[] = {
		{ "nand-emu/profiles/small.ini", "ftl.buffer_units=0", "ftl.accounting=device", false },
		{ "nand-emu/profiles/small.ini", "ftl.buffer_units=64", "ftl.accounting=device", true },
		{ "nand-emu/profiles/small.ini", "ftl.buffer_units=0", "ftl.accounting=ssdsim", true },
		{ "nand-emu/profiles/dac-small.ini", "ftl.buffer_units=0", "ftl.accounting=device", true },
	};
	const struct ftl_host host = { 0 };

	for (size_t i = 0; i < 4; i++) {
		const char *set[] = { drives[i].buffer, drives[i].accounting, NULL };
		struct slate_options o = { drives[i].profile, set, NULL, false };
		struct slate_dev *d;

		EXPECT_EQ(slate_open(&o, &host, &d, err), SSD_OK);
		EXPECT_EQ(slate_has_write_cache(d), drives[i].cache);
		slate_close(d);
	}
}

/* ---- files -------------------------------------------------------------- */

static void the_first_fault_is_the_one_named(void)
{
	expect_file_error("[geometry]\nhello\nchannels = x\n", ":2: not an INI line");
	expect_file_error("[geometry]\nchannels = x\nhello\n", ":2: geometry.channels = 'x'");
	expect_file_error("; one\n[geometry\nchannels = x\n", ":2: not an INI line");
	expect_file_error("[geometry]\nchannels = 1\n\nchannel = 2\n[x\n", ":4: no such key");
}

/* libinih reads 199 characters with the newline, and would take the rest for another line. */
static void long_lines_are_refused(void)
{
	char text[512];

	snprintf(text, sizeof(text), "[geometry]\n%-198s\nchannels = x\n", "; a comment");
	expect_file_error(text, ":3: geometry.channels = 'x'");
	snprintf(text, sizeof(text), "[geometry]\n%-199s\nchannels = 2\n", "; a comment");
	expect_file_error(text, ":2: longer than 198 characters, or not text: shorten it, or move its "
			  "comment to a line of its own");
	snprintf(text, sizeof(text), "[geometry]\n%-300s", "channels = 2");
	expect_file_error(text, ":2: longer than 198 characters");
	snprintf(text, sizeof(text), "[geometry]\n%-199s", "channels = x");
	expect_file_error(text, ":2: longer than 198 characters");
	snprintf(text, sizeof(text), "[geometry]\n%-198s", "channels = x");
	expect_file_error(text, ":2: geometry.channels = 'x'");
	snprintf(text, sizeof(text), "hello\n%-200s\n", "; a comment");
	expect_file_error(text, ":1: not an INI line");
}

static void indented_lines_are_lines(void)
{
	expect_file_error("[geometry]\nchannels = 2\n  more\n", ":3: not an INI line");
	expect_file_error("[geometry]\n\tchannels = 65\n", ":2: geometry.channels = '65'");
}

static void what_keys_mean_together_has_a_line_too(void)
{
	static const char base[] = "[geometry]\nchannels = 1\nchips_per_channel = 1\n"
		"dies_per_chip = 1\nplanes_per_die = 1\nblocks_per_plane = 64\npages_per_block = 64\n"
		"page_bytes = 4096\noob_bytes = 64\necc_word_bytes = 1000\n[timing]\nread_ns = 1, 2\n"
		"program_ns = 1\nerase_ns = 1\nbus_ps_per_byte = 1\n";
	char text[1024];

	expect_file_error(base, ":12: timing.read_ns = 1, 2: has 2 values");
	snprintf(text, sizeof(text), "%s", base);
	memcpy(strstr(text, "read_ns = 1, 2"), "read_ns = 1   ", 14);
	expect_file_error(text, ":10: geometry.ecc_word_bytes = 1000: ecc_word_bytes must divide");
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "[ftl]\nunit_bytes = 5000\n");
	expect_file_error(text, ":17: ftl.unit_bytes = 5000: unit_bytes must be");
}

static void the_last_override_counts(void)
{
	accepted("ftl.gc_mode=blocking ftl.gc_mode=sliced");
	EXPECT_EQ(p.ftl.gc_mode, FTL_GC_SLICED);
}

/* ---- printing ----------------------------------------------------------- */

/* Load every printed line over another profile: the same text must be printed. */
static void round_trip(const char *words)
{
	static char text[8192], again[8192], lines[8192];
	const char **list = calloc(profile_key_count() + 1, sizeof(*list));
	size_t n = 0;

	accepted(words);
	EXPECT(profile_print(&p, text, sizeof(text)) < sizeof(text));
	strcpy(lines, text);
	for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"))
		list[n++] = line;
	list[n] = NULL;
	EXPECT_EQ(n, profile_key_count());
	if (profile_load(&p, "nand-emu/profiles/default.ini", list, err)) {
		printf("fed back: %s\n", err);
		failures++;
		free(list);
		return;
	}
	free(list);
	profile_print(&p, again, sizeof(again));
	EXPECT(!strcmp(text, again));
}

static size_t rows_of(const struct knob_table *t)
{
	size_t n = 0;

	while (t->knobs[n].name)
		n++;
	return n;
}

/* Count the rows of all FTLs' tables; a table of several FTLs counts once. */
static size_t rows_of_ftls(void)
{
	const struct knob_table *seen[64];
	size_t tables = 0, rows = 0;

	for (size_t i = 0; ftl_list[i]; i++)
		for (const struct knob_table *const *t = ftl_list[i]->knobs; t && *t; t++) {
			size_t k = 0;

			while (k < tables && seen[k] != *t)
				k++;
			if (k < tables)
				continue;
			EXPECT(tables < 64);
			seen[tables++] = *t;
			rows += rows_of(*t);
		}
	return rows;
}

/* Every row of the tables is a key that can be found. No other limit applies to their number. */
static void every_row_is_a_key(void)
{
	static const struct knob_table *const shared[] = {
		&profile_drive_keys, &nand_geometry_knobs, &nand_timing_knobs, &nand_energy_knobs,
		&profile_link_keys, &controller_knobs, &profile_type_keys, &ftl_common_knobs,
		&profile_capacity_keys, &nand_physics_knobs, &profile_reliability_keys,
		&profile_precondition_keys, &profile_memory_keys,
	};
	size_t rows = rows_of_ftls();

	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		rows += rows_of(shared[i]);
	EXPECT_EQ(profile_key_count(), rows);
	for (size_t i = 0; i < profile_key_count(); i++) {
		const struct profile_key *k = profile_key_at(i);

		EXPECT_EQ(k->index, i);
		EXPECT(profile_key_find(k->section, k->knob->name) == k);
	}
}

static void settings_can_be_fed_back(void)
{
	round_trip("ftl.gc_mode=blocking");
	round_trip(TLC "timing.read_ns=1,2,3 timing.program_ns=4,4,4 energy.read_nj=9,8,7 "
		   "geometry.pb_levels=4 timing.erase_ns=5,4,3,2,1 timing.oob_on_bus=no "
		   "geometry.subpage=spread timing.subread_base_ns=3 reliability.disturb_tolerance=1");
	round_trip("reliability.rber=powerlaw reliability.ecc_bits=40 reliability.relocate_bits=30 " FAST19);
	round_trip("reliability.rber=off " FAST19);
	round_trip(MLC NONE "geometry.order=rps geometry.paired_loss=yes");
	round_trip(NONE MLC "geometry.one_shot=yes timing.program_ns=77");
}

/* Load rps-small.ini, whose FTL is flex, with this line added at its end: line 32, in [ftl]. */
static int load_flex(const char *line, const char *const *overrides, char path[32])
{
	static char text[4096];
	FILE *in = fopen("nand-emu/profiles/rps-small.ini", "r");
	size_t len = in ? fread(text, 1, sizeof(text) - 64, in) : 0;
	int fd, result;

	EXPECT(in && !fclose(in));
	strcpy(path, "/tmp/slate-profile-XXXXXX");
	fd = mkstemp(path);
	len += (size_t)sprintf(text + len, "%s\n", line);
	EXPECT(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	close(fd);
	result = profile_load(&p, path, overrides, err);
	unlink(path);
	return result;
}

/*
 * A key that the FTL would ignore is refused, unless it has its default value, as in printed
 * settings.
 */
static void keys_of_another_ftl(void)
{
	refused("ftl.spare_search=no", "override: ftl.spare_search = no: is not a key of ftl.type = page, but of: "
		"nftl; leave it out");
	refused("ftl.count_plain=yes", "override: ftl.count_plain = yes: is not a key of ftl.type = page, but "
		"of: dac; leave it out");
	accepted("ftl.spare_search=yes");
	accepted("ftl.count_plain=no");
	accepted(NONE "ftl.spare_search=no");
}

static void another_ftl_drops_a_files_keys(void)
{
	static const char *const page[] = { "ftl.type=page", NULL };
	static const char *const both[] = { "ftl.type=page", "ftl.gc_pages=fast", NULL };
	char path[32], said[256];

	EXPECT_EQ(load_flex("gc_pages = fast", NULL, path), 0);
	EXPECT_EQ(p.ftl.gc_pages, FTL_GC_FAST);
	EXPECT_EQ(load_flex("gc_pages = fast", page, path), 0);
	EXPECT_EQ(p.ftl.gc_pages, FTL_GC_SLOW);
	EXPECT_EQ(p.ftl.idle_gc_permille, 100);		/* page has this key as well */
	EXPECT_EQ(load_flex("gc_pages = fast", both, path), SSD_E_INVAL);
	EXPECT_EQ(strcmp(err, "override: ftl.gc_pages = fast: is not a key of ftl.type = page, but of: flex; "
			 "leave it out"), 0);
	EXPECT_EQ(load_flex("spare_search = no", NULL, path), SSD_E_INVAL);
	snprintf(said, sizeof(said), "%s:32: ftl.spare_search = no: is not a key of ftl.type = flex, but of: "
		 "nftl; leave it out", path);
	EXPECT_EQ(strcmp(err, said), 0);
}

static void settings_are_complete(void)
{
	char text[4096];

	EXPECT_EQ(load("nand-emu/profiles/small.ini", NULL), 0);
	EXPECT(profile_print(&p, text, sizeof(text)) == strlen(text));
	EXPECT(strstr(text, "drive.name=small\n"));
	EXPECT(strstr(text, "ftl.gc_mode=sliced\n"));
	EXPECT(strstr(text, "timing.program_ns=640000\n"));
	EXPECT(strstr(text, "timing.oob_on_bus=yes\n"));
	EXPECT(strstr(text, "reliability.disturb_tolerance=off\n"));
}

/*
 * Gen 3 x 4: 7.877 Gbit/s per lane are 3.94 GB/s, 254 ps per byte, and 280 ps with 907 of 1000 bits
 * payload.
 */
static void a_link_is_a_rate(void)
{
	accepted("link.generation=0");
	EXPECT_EQ(p.ftl.link_ps_per_byte, 0);
	accepted("link.generation=3 link.lanes=4 link.data_permille=1000");
	EXPECT_EQ(p.ftl.link_ps_per_byte, 254);
	accepted("link.generation=3 link.latency_ns=700");
	EXPECT_EQ(p.ftl.link_ps_per_byte, 280);
	EXPECT_EQ(p.ftl.link_latency_ns, 700);
	accepted("link.generation=5 link.lanes=16 link.data_permille=1000");
	EXPECT_EQ(p.ftl.link_ps_per_byte, 16);
	refused("link.lanes=12", "override: link.lanes = 12: must be 1, 2, 4, 8 or 16");
}

int main(void)
{
	RUN(a_link_is_a_rate);
	RUN(overrides_win);
	RUN(bad_overrides_are_named);
	RUN(over_provisioning_beats_a_files_capacity);
	RUN(bad_files_are_named);
	RUN(gc_keys);
	RUN(controller_keys);
	RUN(geometry_keys);
	RUN(geometry_of_abilities);
	RUN(lists_by_page_type);
	RUN(lists_by_level);
	RUN(single_numbers);
	RUN(numbers_with_others);
	RUN(raw_bit_errors);
	RUN(ftl_types);
	RUN(an_array_without_an_ftl_does_not_open);
	RUN(who_may_lose_completed_writes);
	RUN(the_first_fault_is_the_one_named);
	RUN(long_lines_are_refused);
	RUN(indented_lines_are_lines);
	RUN(what_keys_mean_together_has_a_line_too);
	RUN(the_last_override_counts);
	RUN(every_row_is_a_key);
	RUN(settings_can_be_fed_back);
	RUN(keys_of_another_ftl);
	RUN(another_ftl_drops_a_files_keys);
	RUN(settings_are_complete);
	return test_result();
}
