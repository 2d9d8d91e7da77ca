// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test drive files with wrong numbers. A file is either refused with a sentence that names the fault,
 * and not changed; or it opens, all of it can be read, and the host's data are right. No number
 * ends the program. If a byte of a page, of its spare area or of their checksums is wrong, reads of
 * that page return an error.
 *
 * tests/fuzz/fuzz_drive.c tries numbers at random.
 */
#define _GNU_SOURCE
#include "drive_bytes.h"
#include "slate_control.h"
#include "slate_power.h"

static const struct kind {
	const char *name;
	uint32_t seq_at;		/* position in the OOB of a sequence of 5 bytes */
	const char *more[9];
} kinds[] = {
	{ "page", 0, { "ftl.type=page", "ftl.buffer_units=16" } },
	{ "parity", 0, { "ftl.type=parity", "ftl.buffer_units=16", "geometry.order=fps",
				"geometry.bits_per_cell=2" } },
	{ "rtf", 0, { "ftl.type=rtf", "ftl.buffer_units=16", "geometry.order=fps",
			     "geometry.bits_per_cell=2", "ftl.active_blocks=2" } },
	{ "flex", 0, { "ftl.type=flex", "ftl.buffer_units=16", "geometry.order=rps",
			      "geometry.bits_per_cell=2" } },
	{ "nftl", 4, { "ftl.type=nftl", "ftl.buffer_units=0", "geometry.order=none",
			     "ftl.gc_start_blocks=2", "ftl.gc_urgent_blocks=1" } },
	{ "superblock", 4, { "ftl.type=superblock", "ftl.buffer_units=0", "geometry.order=none",
				   "ftl.superblock_blocks=4", "ftl.superblock_max_blocks=6" } },
	{ "dac", 1, { "ftl.type=dac", "ftl.buffer_units=16" } },
	{ "handles", 0, { "ftl.type=page", "ftl.buffer_units=16", "ftl.placement_handles=2" } },
};

#define NKINDS (sizeof(kinds) / sizeof(*kinds))
enum { PAGE, PARITY, RTF, FLEX, NFTL, SUPERBLOCK, DAC, HANDLES };

static char dir[] = "/tmp/slate-damage-XXXXXX";

static void opens(void)
{
	if (!open_drive(path, NULL, false, NULL))
		return;
	printf("is refused: %s\n", err);
	exit(1);
}

static void make_drive(size_t kind)
{
	uint64_t s = kind + 1;

	unlink(path);
	memset(written, 0, sizeof(written));
	if (open_drive(path, ini, false, kinds[kind].more)) {
		printf("%s\n", err);
		exit(1);
	}
	for (uint32_t i = 0; i < 1500; i++)
		EXPECT_EQ(write_unit((uint32_t)(rnd(&s) % UNITS), i + 1), SSD_OK);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	slate_close(dev);
}

/* ---- the drive file ---------------------------------------------------------------- */

static void look(size_t kind)
{
	look_with(kinds[kind].more);
}

/* Make the checksums of all pages right, as if the array had written their present content. */
static void seal(void)
{
	for (uint32_t p = 0; p < is.pages; p++)
		if (cell_readable(cell_get(&is, p)))
			page_seal(&is, p);
}

static uint64_t hash(void)
{
	uint64_t h = 0xcbf29ce484222325u, w;

	for (size_t i = 0; i + 8 <= map_bytes; i += 8) {
		memcpy(&w, map + i, 8);
		h = (h ^ w) * 0x100000001b3u;
	}
	return h;
}

static void expect_refusal(const char *says)
{
	for (int ephemeral = 0; ephemeral < 2; ephemeral++) {
		if (!open_drive(path, NULL, ephemeral, NULL)) {
			printf("opened, expected: %s\n", says);
			failures++;
			slate_close(dev);
			continue;
		}
		if (!strstr(err, says)) {
			printf("said: %s\nexpected: %s\n", err, says);
			failures++;
		}
	}
}

/* Expect that the file is refused and not changed. */
static void refused(const char *says)
{
	uint64_t before = hash();

	expect_refusal(says);
	EXPECT_EQ(hash(), before);
}

/* Expect that the FTL refuses to mount; the array has processed its power cut by then. */
static void does_not_mount(void)
{
	expect_refusal("metadata contradicts itself");
}

/* Change one number, check, and restore it. */
#define WRONG_THEN(what, value, check)                                                     \
	do {                                                                               \
		__typeof__(what) kept_ = (what);                                           \
		(what) = (value);                                                          \
		seal();                                                                    \
		check;                                                                     \
		(what) = kept_;                                                            \
		seal();                                                                    \
	} while (0)
#define WRONG(what, value, says) WRONG_THEN(what, value, refused(says))

static uint32_t first_page(bool programmed)
{
	for (uint32_t p = 0; p < is.pages; p++)
		if ((cell_get(&is, p) != CELL_ERASED) == programmed && !(is.pb[place_of(&is, p).pb].flags & PB_TORN))
			return p;
	return 0;
}

/* ---- the array's tables ------------------------------------------------------------ */

static void the_head_is_checked(void)
{
	make_drive(PAGE);
	look(PAGE);
	WRONG(is.head->used, 0, "the image's head says that it is not in use");
	WRONG(is.head->used, 2, "its process ended while the disk was full");
	WRONG(is.head->used, 3, "the image's head says that it is not in use");
	WRONG(is.head->now_ns, ~0ull, "has a time of more than 146 years");
	WRONG(is.head->age_ns, ~0ull, "has a time of more than 146 years");
	WRONG(is.head->cuts, ~0ull, "more erases or power cuts than there can be");
	WRONG(is.head->erase_commands, 1ull << 63, "more erases or power cuts than there can be");
	opens();
	all_is_there(UNITS);
	slate_close(dev);
	munmap(map, map_bytes);
}

/* An image claims to be blank, with an erase in flight far beyond its end. */
static void flights_are_checked(void)
{
	struct img_die die;
	struct img_flight flight;
	uint64_t now_ns;

	make_drive(PAGE);
	look(PAGE);
	die = is.die[0];
	flight = is.flight[0];
	is.die[0] = (struct img_die){ .op = NAND_ERASE, .count = 1 };
	is.flight[0] = (struct img_flight){ .ppn = 0xfffffff0u, .pb = 1 };
	WRONG(is.head->used, 0, "not in use");
	refused("a command in flight is not of its die");
	is.flight[0] = (struct img_flight){ .ppn = is.pages / 2, .pb = 1 };	/* block of the other die */
	refused("a command in flight is not of its die");
	is.flight[0] = (struct img_flight){ .ppn = 0, .pb = 0 };
	refused("an erase in flight is of no partial block");
	is.flight[0] = (struct img_flight){ .ppn = 1, .pb = 1 };
	refused("an erase in flight is of no partial block");
	is.die[0] = (struct img_die){ .op = NAND_PROGRAM, .count = is.group_max + 1 };
	refused("more commands in flight than it can have");
	is.die[0] = (struct img_die){ .op = NAND_READ, .count = 1 };
	refused("more commands in flight than it can have");
	is.die[0] = (struct img_die){ .op = 77 };
	refused("a die's operation or its source is unknown");
	is.die[0] = (struct img_die){ .source = NAND_NSOURCES };
	refused("a die's operation or its source is unknown");
	is.die[0] = (struct img_die){ .op = NAND_PROGRAM, .count = 1, .ready_ns = ~0ull };
	is.flight[0] = (struct img_flight){ .ppn = first_page(false), .prev_next = 16 };
	refused("a program in flight is not the next of its block");
	is.flight[0].prev_next = 0;
	now_ns = is.head->now_ns;
	is.head->now_ns = 1;
	refused("a program in flight has begun and changed nothing");
	is.head->now_ns = now_ns;
	is.die[0] = die;
	is.flight[0] = flight;
	opens();
	all_is_there(UNITS);
	slate_close(dev);
	munmap(map, map_bytes);
}

/*
 * Returns a smallest PB whose last page is erased. With order = none an earlier page may be erased,
 * too.
 */
static struct img_pb *first_with_room(void)
{
	uint32_t p = is.pb_pages - 1;

	while (cell_get(&is, p) != CELL_ERASED || is.pb[place_of(&is, p).pb].flags & PB_TORN)
		p += is.pb_pages;
	return &is.pb[place_of(&is, p).pb];
}

static void blocks_are_checked(void)
{
	struct img_pb *b;

	for (size_t k = 0; k < NKINDS; k++) {
		bool by_types = k == PARITY || k == RTF || k == FLEX;

		make_drive(k);
		look(k);
		b = &is.pb[place_of(&is, first_page(true)).pb];
		WRONG(is.block[0], 4, "a block has flags that it cannot have");
		WRONG(is.block[0], BLOCK_SLC, is.base.geo.bits_per_cell > 1 ? "more programmed pages than it has" :
		      "a block has flags that it cannot have");
		WRONG(b->flags, 8, "a partial block has flags that it cannot have");
		WRONG(b->flags, PB_EDGE_ABOVE, "a partial block has flags that it cannot have");
		WRONG(b->erases, 0xffffffffu, "erased more often than it can be");
		WRONG(b->next, 17, by_types ? "more programmed pages than it has pages" : "more programmed");
		WRONG(b->next, 0, "programmed pages are not those that it counts");
		b = first_with_room();
		WRONG(b->next, by_types ? 8 : 16, "programmed pages are not those that it counts");
		opens();
		all_is_there(UNITS);
		slate_close(dev);
		munmap(map, map_bytes);
	}
}

/* ---- cells that contradict the tables ------------------------------------------------ */

/*
 * Every block is marked as torn in an erase, but holds mapped data. It cannot be programmed: the
 * first write to a block fails, and the block is retired. Earlier data can still be read.
 */
static void torn_blocks_that_hold_data(void)
{
	for (size_t k = 0; k < NKINDS; k++) {
		make_drive(k);
		look(k);
		for (uint32_t s = 0; s < geo_blocks(&is.c.geo); s++)
			is.pb[s].flags |= PB_TORN;
		munmap(map, map_bytes);
		opens();
		all_is_there(UNITS);
		for (uint32_t u = 0; u < UNITS; u += 3)
			(void)write_unit(u, 9999);
		all_is_there(UNITS);
		slate_close(dev);
	}
}

/* ---- the FTLs' metadata on flash ----------------------------------------------------- */

/* Returns the number of planes or dies that collect when ordered to. */
static uint32_t collecting(void)
{
	struct slate_order o = { .command = SLATE_FORCE_GC };
	uint32_t result = 0;

	EXPECT_EQ(slate_control(dev, now, &o, &result), SLATE_DONE);
	return result;
}

static bool is_read_only(void)
{
	struct slate_health h;

	slate_get_health(dev, &h);
	return h.read_only;
}

/* With the largest 40-bit sequence number the FTL programs no further page, also for GC. */
static void the_last_sequence(void)
{
	for (size_t k = 0; k < NKINDS; k++) {
		make_drive(k);
		look(k);
		memset(is.oob + first_page(true) * is.c.geo.oob_kept + kinds[k].seq_at, 0xff, 5);
		seal();
		opens();
		for (uint32_t u = 0; u < UNITS; u++)
			(void)io(FTL_READ, u);
		EXPECT_EQ(write_unit(0, 9999), SSD_E_WORNOUT);
		EXPECT(is_read_only());
		EXPECT_EQ(collecting(), 0);
		slate_close(dev);
		munmap(map, map_bytes);
	}
}

static void spare_areas_are_checked(void)
{
	uint8_t *oob;

	make_drive(PAGE);
	look(PAGE);
	oob = is.oob + first_page(true) * is.c.geo.oob_kept;
	WRONG_THEN(oob[6], 0xc0, does_not_mount());	/* kind 3 */
	WRONG_THEN(oob[6], 0x80, does_not_mount());	/* a parity page */
	WRONG_THEN(oob[6], 0x3f, does_not_mount());	/* a mark below 0 */
	WRONG_THEN(oob[10], 0x7f, does_not_mount());	/* LPN */
	WRONG_THEN(oob[15], 0xff, does_not_mount());	/* a version from the future */
	opens();
	all_is_there(UNITS);
	slate_close(dev);
	munmap(map, map_bytes);
}

/* kind is in bits 6 and 7 of byte 6; block, erases, first, lost from byte 23 on. */
static void parity_pages_are_checked(void)
{
	for (size_t k = PARITY; k <= FLEX; k++) {
		uint8_t *oob = NULL;

		make_drive(k);
		look(k);
		for (uint32_t p = 0; p < is.pages; p++)
			if (cell_get(&is, p) != CELL_ERASED && is.oob[p * is.c.geo.oob_kept + 6] >> 6 == 2)
				oob = is.oob + p * is.c.geo.oob_kept;
		EXPECT(oob != NULL);
		WRONG_THEN(oob[26], 0x7f, does_not_mount());	/* block */
		WRONG_THEN(oob[31], 0x7f, does_not_mount());	/* word line */
		WRONG_THEN(oob[36], 0x7f, does_not_mount());	/* lost pages */
		WRONG_THEN(oob[4], 0xff, does_not_mount());	/* sequence */
		memcpy(is.oob + first_page(true) * is.c.geo.oob_kept, oob, is.c.geo.oob_kept);
		seal();
		does_not_mount();		/* in a block of log pages */
		munmap(map, map_bytes);
	}
}

/* ---- bytes of pages, of their spare areas and of the checksums -------------------------------- */

static char *said;			/* output on stderr since listen() */
static int heard = -1, was = -1;

static void listen(void)
{
	heard = memfd_create("stderr", 0);
	was = dup(2);
	dup2(heard, 2);
}

static void hear(void)
{
	off_t len;

	fflush(stderr);
	dup2(was, 2);
	close(was);
	len = lseek(heard, 0, SEEK_END);
	free(said);
	said = calloc(1, (size_t)len + 1);
	EXPECT_EQ(pread(heard, said, (size_t)len, 0), len);
	close(heard);
}

/* Opens the drive, and checks its messages. */
static void opens_saying(const char *words)
{
	listen();
	opens();
	hear();
	if (!words == !*said && (!words || strstr(said, words)))
		return;
	printf("said: %s\nexpected: %s\n", said, words ? words : "nothing");
	failures++;
}

static uint64_t damaged(void)
{
	struct slate_stats st;

	slate_get_stats(dev, &st);
	return st.nand.damaged;
}

/* Returns the pages, in order, with a unit's last version, including stale ones from before GC. */
static uint32_t pages_of(uint32_t unit, uint32_t *ppn, uint32_t most)
{
	uint32_t n = 0;

	content(unit, written[unit]);
	for (uint32_t p = 0; p < is.pages && n < most; p++)
		if (cell_get(&is, p) == CELL_GOOD && !memcmp(is.payload + (size_t)p * UNIT, page, UNIT))
			ppn[n++] = p;
	return n;
}

enum what { DATA, CONTENT_SUM, OOB, OOB_SUM, WHATS };

static uint8_t *byte_of(enum what what, uint32_t ppn)
{
	switch (what) {
	case DATA:	  return is.payload + (size_t)ppn * UNIT + ppn * 37 % UNIT;
	case CONTENT_SUM: return (uint8_t *)&is.sum[ppn].content + ppn % 4;
	case OOB:	  return is.oob + (size_t)ppn * is.c.geo.oob_kept + ppn % 10;
	case OOB_SUM:	  return (uint8_t *)&is.sum[ppn].oob + ppn % 4;
	case WHATS:	  break;
	}
	return NULL;
}

static uint32_t hit;			/* the unit chosen by damage_unit() */

/*
 * Close a new drive, choose a written unit (`hit`) and flip one bit in every page that stores it.
 * Returns the number of these pages.
 */
static uint32_t damage_unit(size_t kind, enum what what)
{
	uint32_t ppn[8], n;

	make_drive(kind);
	look(kind);
	for (hit = 100; !written[hit] || written[hit] % 4 == 3; hit++)	/* stored, see content() */
		;
	n = pages_of(hit, ppn, 8);
	EXPECT(n >= 1);
	for (uint32_t i = 0; i < n; i++)
		*byte_of(what, ppn[i]) ^= (uint8_t)(1u << ppn[i] % 8);
	munmap(map, map_bytes);
	return n;
}

static void others_are_there(void)
{
	for (uint32_t u = 0; u < UNITS; u++)
		if (u != hit)
			EXPECT(holds(u, written[u]));
}

/*
 * The unit cannot be read, and no other data are lost. After it is written again it can be read,
 * also later. DAC's mount reads the content of pages: see a_damaged_page_is_told().
 */
static void damaged_content_is_an_error(void)
{
	struct slate_health h;

	for (size_t k = 0; k < DAC; k++)
		for (enum what what = DATA; what <= CONTENT_SUM; what++) {
			damage_unit(k, what);
			opens_saying(NULL);
			EXPECT_EQ(damaged(), 0);
			EXPECT_EQ(io(FTL_READ, hit), SSD_E_UNCORR);
			EXPECT_EQ(damaged(), 1);
			slate_get_health(dev, &h);
			EXPECT_EQ(h.media_errors, 1);
			slate_reset_stats(dev);
			EXPECT_EQ(damaged(), 1);
			others_are_there();
			EXPECT_EQ(damaged(), 1);
			EXPECT_EQ(write_unit(hit, 9999), SSD_OK);
			all_is_there(UNITS);
			EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
			slate_close(dev);
			opens();
			all_is_there(UNITS);
			slate_close(dev);
		}
}

/*
 * If the mount cannot read the page, the unit is lost or has an older version, and the drive
 * reports it.
 */
static void a_damaged_page_is_told(void)
{
	for (size_t k = 0; k < NKINDS; k++)
		for (enum what what = k == DAC ? DATA : OOB; what <= OOB_SUM; what++) {
			uint32_t n = damage_unit(k, what);

			opens_saying("a page that does not match its checksum");
			EXPECT(damaged() >= n);
			others_are_there();
			EXPECT_EQ(write_unit(hit, 9999), SSD_OK);
			all_is_there(UNITS);
			slate_close(dev);
		}
}

/* A page has the bytes of another page, with their checksums. */
static void a_page_at_another_place(void)
{
	uint32_t from, to;

	make_drive(PAGE);
	look(PAGE);
	EXPECT_EQ(pages_of(hit, &to, 1), 1);
	EXPECT_EQ(pages_of(hit + 1, &from, 1), 1);
	memcpy(is.payload + (size_t)to * UNIT, is.payload + (size_t)from * UNIT, UNIT);
	is.sum[to].content = is.sum[from].content;
	munmap(map, map_bytes);
	opens();
	EXPECT_EQ(io(FTL_READ, hit), SSD_E_UNCORR);
	EXPECT(holds(hit + 1, written[hit + 1]));
	slate_close(dev);
}

/* A page of one repeated byte has only that byte in the file. */
static void a_damaged_byte_of_a_filled_page(void)
{
	uint32_t hits = 0;

	make_drive(PAGE);
	opens();
	memset(page, 0x5a, UNIT);
	EXPECT_EQ(io(FTL_WRITE, hit), SSD_OK);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	slate_close(dev);
	look(PAGE);
	for (uint32_t p = 0; p < is.pages; p++)
		if (cell_get(&is, p) == CELL_FORM && is.form[p * is.units] == 0x5b) {
			is.form[p * is.units] ^= 1;
			hits++;
		}
	EXPECT_EQ(hits, 1);
	munmap(map, map_bytes);
	opens();
	EXPECT_EQ(io(FTL_READ, hit), SSD_E_UNCORR);
	EXPECT_EQ(damaged(), 1);
	slate_close(dev);
}

/* A drive without payload, or not in a file, has no checksums. */
static void checksums_are_of_files_with_payload(void)
{
	struct profile p;
	size_t bytes;

	EXPECT_EQ(profile_load(&p, ini, NULL, err), 0);
	bytes = nand_array_image_bytes(&p.array);
	p.array.sums = true;
	EXPECT_EQ(nand_array_image_bytes(&p.array), bytes + 8 * geo_pages(&p.array.geo));
	p.array.payload = p.array.sums = false;
	bytes = nand_array_image_bytes(&p.array);
	p.array.sums = true;
	EXPECT_EQ(nand_array_image_bytes(&p.array), bytes);
	EXPECT_EQ(ssd_crc32c(0, "123456789", 9), 0xe3069283u);
	EXPECT_EQ(ssd_crc32c(ssd_crc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
}

/* ---- the head and its copy --------------------------------------------------------------------- */

static void a_damaged_head(void)
{
	static const uint32_t places[] = { 0, 8, 30, 2000, DRIVE_FILE_HEAD_BYTES - 1 };

	make_drive(PAGE);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		for (uint32_t which = 0; which < 2; which++) {
			const char *words = which ? "the copy of its head is damaged" :
					    "its head is damaged (checksum), and the copy of the head is used instead";
			uint64_t before;

			look(PAGE);
			map[which * DRIVE_FILE_HEAD_BYTES + places[i]] ^= 4;
			before = hash();
			listen();
			EXPECT_EQ(open_drive(path, NULL, true, NULL), SSD_OK);
			slate_close(dev);
			hear();
			EXPECT(strstr(said, words) && strstr(said, "left as it is"));
			EXPECT_EQ(hash(), before);
			opens_saying(words);
			EXPECT(strstr(said, "written anew"));
			all_is_there(UNITS);
			slate_close(dev);
			EXPECT(!memcmp(map, map + DRIVE_FILE_HEAD_BYTES, DRIVE_FILE_HEAD_BYTES));
			munmap(map, map_bytes);
			opens_saying(NULL);
			slate_close(dev);
		}
	look(PAGE);
	map[100] ^= 1;
	map[DRIVE_FILE_HEAD_BYTES + 100] ^= 1;
	refused("its head and the copy of it are damaged");
	munmap(map, map_bytes);
}

/* An assertion on a drive from a file stops the drive; the process continues. */
static void an_assertion_ends_the_drive(void)
{
	struct ftl_io i = { .op = FTL_WRITE, .bytes = UNIT };
	struct slate_power power;

	for (size_t k = 0; k < NKINDS; k++) {
		make_drive(k);
		opens();
		assert_in_copy = true;
		finished = false;
		slate_submit(dev, now, &i);
		for (uint64_t next = slate_step(dev, now); slate_powered(dev); next = slate_step(dev, now))
			now = next;
		assert_in_copy = false;
		EXPECT(!finished);
		EXPECT_EQ(slate_step(dev, now), FTL_IDLE);
		EXPECT_EQ(slate_inflight(dev), 0);
		slate_get_power(dev, &power);
		EXPECT_EQ(power.cuts, 1);
		EXPECT_EQ(power.cut_ns, now);
		EXPECT_EQ(power.lost_ios, 1);
		EXPECT_EQ(slate_power_on(dev, now, err), SSD_E_CORRUPT);
		EXPECT(strstr(err, "the drive stays off") != NULL);
		slate_close(dev);
		opens();
		all_is_there(UNITS);
		slate_close(dev);
	}
}

static uint32_t order_collect(void)
{
	struct slate_order o = { .command = SLATE_FORCE_GC };
	uint32_t result;

	return slate_control(dev, now, &o, &result);
}

static uint32_t order_set(void)
{
	return slate_set(dev, now, "ftl.gc_start_blocks=3");
}

static uint32_t order_renew(void)
{
	EXPECT_EQ(slate_renew_handle(dev, now, 1), 0);
	return SLATE_REFUSED;
}

/* An order first does the work that is due: here a read that waited for its die meets the same assertion. */
static void an_assertion_in_an_order(void)
{
	static uint32_t (*const orders[])(void) = { order_collect, order_set, order_renew };

	for (size_t k = 0; k < 3; k++) {
		struct ftl_io reads[16];

		make_drive(k < 2 ? PAGE : HANDLES);
		opens();
		for (uint32_t i = 0; i < 16; i++) {
			reads[i] = (struct ftl_io){ .op = FTL_READ, .offset = i * UNIT, .bytes = UNIT };
			slate_submit(dev, now, &reads[i]);
		}
		now = slate_step(dev, now);
		assert_in_copy = true;
		EXPECT_EQ(orders[k](), SLATE_REFUSED);
		assert_in_copy = false;
		EXPECT(k == 2 || strstr(slate_why(dev), "the drive is off; restore it from a copy") != NULL);
		EXPECT(!slate_powered(dev));
		EXPECT_EQ(slate_power_on(dev, now, err), SSD_E_CORRUPT);
		slate_close(dev);
		opens();
		all_is_there(UNITS);
		slate_close(dev);
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/drive.slate", dir);
	snprintf(ini, sizeof(ini), "%s/p.ini", dir);
	write_text(ini, shape);
	RUN(the_head_is_checked);
	RUN(flights_are_checked);
	RUN(blocks_are_checked);
	RUN(torn_blocks_that_hold_data);
	RUN(the_last_sequence);
	RUN(spare_areas_are_checked);
	RUN(parity_pages_are_checked);
	RUN(damaged_content_is_an_error);
	RUN(a_damaged_page_is_told);
	RUN(a_page_at_another_place);
	RUN(a_damaged_byte_of_a_filled_page);
	RUN(checksums_are_of_files_with_payload);
	RUN(a_damaged_head);
	RUN(an_assertion_ends_the_drive);
	RUN(an_assertion_in_an_order);
	unlink(path);
	unlink(ini);
	rmdir(dir);
	return test_result();
}
