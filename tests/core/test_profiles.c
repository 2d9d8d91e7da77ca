// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The shipped profiles can be loaded and have their published shape and times; the small ones run.
 */
#include "profile_load.h"

#include <dirent.h>

static void shipped_profiles_load(void)
{
	EXPECT_EQ(load("nand-emu/profiles/small.ini", NULL), 0);
	EXPECT_EQ(p.ftl.capacity_bytes, 256u << 20);
	EXPECT_EQ(p.array.geo.oob_kept, 7 + 4 * 9);
	EXPECT_EQ(load("nand-emu/profiles/default.ini", NULL), 0);
	EXPECT_EQ(geo_pages(&p.array.geo), 4ull * 2 * 1 * 2 * 64 * 256);
	EXPECT_EQ(p.ftl.capacity_bytes, ((4ull << 30) * 1000 / 1125) & ~4095ull);
}

/* Full-size drives have their published shape; small ones are driven, not only loaded. */
static unsigned int valid_in(const char *name)
{
	DIR *folder = opendir(name);
	struct dirent *file;
	unsigned int count = 0;

	EXPECT(folder);
	while (folder && (file = readdir(folder))) {
		char path[512];

		if (!strstr(file->d_name, ".ini"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", name, file->d_name);
		if (load(path, NULL)) {
			printf("%s\n", err);
			failures++;
		}
		count++;
	}
	if (folder)
		closedir(folder);
	return count;
}

static void every_shipped_profile_is_valid(void)
{
	EXPECT_EQ(valid_in("nand-emu/profiles"), 25);
	EXPECT_EQ(valid_in("nand-emu/profiles/drives"), 13); /* real drives, made by 'slate fit' */
}

static void expect_shape(const char *name, uint32_t dies, uint64_t pages, uint32_t page_bytes)
{
	char path[128];

	snprintf(path, sizeof(path), "nand-emu/profiles/%s.ini", name);
	EXPECT_EQ(load(path, NULL), 0);
	EXPECT_EQ(geo_dies(&p.array.geo), dies);
	EXPECT_EQ(geo_pages(&p.array.geo), pages);
	EXPECT_EQ(p.array.geo.page_bytes, page_bytes);
}

static void the_papers_drives_have_their_shape(void)
{
	const struct nand_timing *t = &p.array.timing;

	expect_shape("pen", 8 * 2 * 2, 64ull * 1888 * 576, 16384);
	EXPECT_EQ(p.array.geo.oob_bytes, 1280);
	EXPECT_EQ(p.array.geo.pb_levels, 6);
	EXPECT_EQ(t->erase_ns[0], 10000000);
	EXPECT_EQ(t->erase_ns[6], 9270000);
	EXPECT_EQ(p.array.physics.disturb_tolerance, 1);
	expect_shape("ippbe", 4, 8ull * 2048 * 64, 2048);
	EXPECT_EQ(p.array.geo.erase_group_max, 2);
	EXPECT_EQ(p.array.energy.erase_nj[0], 22500);
	EXPECT_EQ(t->bus_ps_per_byte, 25000);
	expect_shape("rps", 32, 32ull * 512 * 256, 4096);
	EXPECT_EQ(p.array.geo.order, NAND_ORDER_RPS);
	EXPECT(p.array.geo.paired_loss && !strcmp(p.ops->name, "flex"));
	EXPECT_EQ(t->program_ns[1], 2000000);
	expect_shape("spread", 8, 8ull * 512 * 256, 16384);
	EXPECT_EQ(p.array.geo.subpage, NAND_SUBPAGE_SPREAD);
	EXPECT(t->oob_off_bus);
	expect_shape("dac", 64, 64ull * 16384 * 128, 4096);
}

/* ---- the array that a profile makes -------------------------------------- */

/* Returns one die of the profile's array, with few blocks. */
static struct test_array one_die(const char *name)
{
	struct test_array t;
	char path[128];

	snprintf(path, sizeof(path), "nand-emu/profiles/%s.ini", name);
	EXPECT_EQ(load(path, "ftl.payload=no"), 0);
	p.array.geo.channels = p.array.geo.chips_per_channel = p.array.geo.dies_per_chip = 1;
	p.array.geo.blocks_per_plane = 8;
	test_array_make(&t, &p.array);
	return t;
}

/* Submits at *now_ns, advances it to the end, and returns the duration. */
static uint64_t took(struct test_array *t, uint64_t *now_ns, struct nand_cmd *c, unsigned int count)
{
	uint64_t start = *now_ns;

	nand_submit(t->n, start, c, count);
	for (unsigned int i = 0; i < count; i++) {
		EXPECT(c[i].status == NAND_OK || c[i].status == NAND_ERASED);
		if (c[i].done_ns > *now_ns)
			*now_ns = c[i].done_ns;
	}
	return *now_ns - start;
}

/* Table 3 of the dissertation is in ns; a transfer of 2 KiB takes 2500.6, rounded up. */
static void spread_takes_what_its_table_3_says(void)
{
	static const uint32_t table[8] = { 37501, 50002, 62502, 75003, 87504, 100004, 112505, 119005 };
	struct test_array t = one_die("spread");
	uint64_t now = 0;

	EXPECT_EQ(took(&t, &now, &(struct nand_cmd){ .op = NAND_PROGRAM }, 1), 640000 + 20005);
	for (uint32_t words = 1; words <= 8; words++) {
		struct nand_cmd read = { .op = NAND_READ, .ecc_words = (1u << words) - 1 };

		EXPECT_EQ(took(&t, &now, &read, 1), table[words - 1]);
		EXPECT((table[words - 1] + 50) / 100 == (words < 8 ? 250 + 125 * words : 1190));
	}
	test_array_free(&t);
}

static void pen_takes_what_its_table_1_says(void)
{
	static const uint32_t table[7] = { 10000000, 9950000, 9790000, 9620000, 9480000, 9370000, 9270000 };
	struct test_array t = one_die("pen");
	uint64_t now = 0;

	for (uint32_t level = 0; level <= 6; level++)
		EXPECT_EQ(took(&t, &now, &(struct nand_cmd){ .op = NAND_ERASE, .pb = 1u << level }, 1),
			  table[level]);
	test_array_free(&t);
}

static void ippbe_erases_two_blocks_in_the_time_of_one(void)
{
	struct test_array t = one_die("ippbe");
	struct nand_cmd two[2] = { { .op = NAND_ERASE, .pb = NAND_WHOLE_BLOCK },
				   { .op = NAND_ERASE, .pb = NAND_WHOLE_BLOCK, .ppn = { 3 * 64 } } };
	struct nand_stats s;
	uint64_t now = 0;

	EXPECT_EQ(took(&t, &now, &two[0], 1), 175 + 3800000);
	EXPECT_EQ(took(&t, &now, two, 2), 175 + 3800000);
	t.n->ops->get_stats(t.n, &s);
	EXPECT_EQ(s.energy_nj[NAND_ERASE][NAND_SRC_HOST], 3 * 22500);
	test_array_free(&t);
}

static void rps_keeps_its_order(void)
{
	struct test_array t = one_die("rps");
	struct nand_cmd msb = { .op = NAND_PROGRAM, .ppn = { 1 } };
	uint64_t now = 0;

	EXPECT_EQ(took(&t, &now, &(struct nand_cmd){ .op = NAND_PROGRAM }, 1), 600000 + 21600);
	nand_submit(t.n, now, &msb, 1);
	EXPECT(msb.status == NAND_VIOLATION);	/* C3: the LSB page of the next word line must come first */
	EXPECT_EQ(took(&t, &now, &(struct nand_cmd){ .op = NAND_PROGRAM, .ppn = { 2 } }, 1), 621600);
	EXPECT_EQ(took(&t, &now, &msb, 1), 2000000 + 21600);
	test_array_free(&t);
}

static void nothing_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	(void)io;
}

/* Fill the drive and overwrite a tenth of it, so that GC runs; without payload, for speed. */
static void small_profiles_run(void)
{
	static const char *const names[] = { "pen", "ippbe", "spread", "znand", "tlc", "qlc" };
	static const char *const fill[] = { "ftl.payload=no", "precondition.fill_permille=1000",
					    "precondition.age_permille=100", NULL };
	const struct ftl_host host = { .done = nothing_done };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct slate_dev *d;
		char path[128];

		snprintf(path, sizeof(path), "nand-emu/profiles/%s-small.ini", names[i]);
		if (slate_open(&(struct slate_options){ .profile = path, .overrides = fill }, &host, &d,
			       err)) {
			printf("%s\n", err);
			failures++;
			continue;
		}
		EXPECT(slate_capacity(d) >= 350u << 20);
		slate_close(d);
	}
}

/* The drive keeps its data, so it has a twentieth of its blocks. */
static void small_dac_runs(void)
{
	static const char *const fill[] = { "geometry.channels=1", "geometry.blocks_per_plane=60",
					    "precondition.fill_permille=1000",
					    "precondition.age_permille=300", NULL };
	const struct ftl_host host = { .done = nothing_done };
	struct slate_dev *d;

	if (slate_open(&(struct slate_options){ .profile = "nand-emu/profiles/dac-small.ini",
						.overrides = fill }, &host, &d, err)) {
		printf("%s\n", err);
		failures++;
		return;
	}
	EXPECT(!strcmp(slate_ftl_name(d), "dac") && slate_has_write_cache(d) && !slate_trims(d));
	slate_check(d);
	slate_close(d);
}

int main(void)
{
	RUN(shipped_profiles_load);
	RUN(every_shipped_profile_is_valid);
	RUN(the_papers_drives_have_their_shape);
	RUN(spread_takes_what_its_table_3_says);
	RUN(pen_takes_what_its_table_1_says);
	RUN(ippbe_erases_two_blocks_in_the_time_of_one);
	RUN(rps_keeps_its_order);
	RUN(small_profiles_run);
	RUN(small_dac_runs);
	return test_result();
}
