/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * abilities_array.h - an array with optional abilities beyond read, program and erase, and a host
 * that expects a command to be refused by one rule and to change nothing.
 */
#ifndef SLATE_ABILITIES_ARRAY_H
#define SLATE_ABILITIES_ARRAY_H

#include "test.h"
#define CMD 100u
#define READ 50000u
#define PROG 200000u
#define ERASE 1000000u
#define XFER 4096u		/* a page at 1 ns a byte; spare bytes are off the bus */

static struct test_array t;
static uint64_t now;
static enum nand_rule heard;
static uint8_t data[4096], oob[16];

static inline void on_violation(void *opaque, enum nand_rule rule, const struct nand_cmd *c)
{
	(void)opaque; (void)c;
	heard = rule;
}

static inline struct nand_array_config plain(void)
{
	return (struct nand_array_config){
		.geo = { .channels = 1, .chips_per_channel = 2, .dies_per_chip = 1, .planes_per_die = 2,
			 .blocks_per_plane = 8, .pages_per_block = 12, .page_bytes = 4096, .oob_bytes = 64,
			 .oob_kept = 16, .ecc_word_bytes = 1024, .erase_group_max = 1, .bits_per_cell = 1 },
		.timing = { .cmd_ns = CMD, .read_ns = { READ, READ, READ },
			    .program_ns = { PROG, PROG, PROG }, .erase_ns = { ERASE, ERASE, ERASE },
			    .bus_ps_per_byte = 1000, .oob_off_bus = true },
		.physics.disturb_tolerance = 255, .payload = true };
}

static inline void start(const struct nand_array_config *c)
{
	struct nand_hooks h = { .violation = on_violation };

	now = 0;
	test_array_make(&t, c);
	nand_array_set_hooks(t.a, &h);
}

static inline struct nand_cmd cmd(enum nand_op op, uint32_t block, uint32_t page)
{
	return (struct nand_cmd){ .op = op, .source = NAND_SRC_HOST, .ecc_words = NAND_WHOLE_PAGE,
				  .pb = NAND_WHOLE_BLOCK, .ppn = geo_ppn(&t.c.geo, (pbn_t){ block }, page),
				  .data = data, .oob = oob };
}

/* Submit at `now`; the time does not change. */
static inline enum nand_status submit(struct nand_cmd *c, unsigned int count)
{
	heard = NAND_NRULES;
	nand_submit(t.n, now, c, count);
	return c->status;
}

static inline enum nand_status run(struct nand_cmd c)
{
	enum nand_status s = submit(&c, 1);

	now = c.done_ns;
	return s;
}

static inline bool same_image(const uint8_t *before)
{
	return !memcmp(before, t.image, nand_array_image_bytes(&t.c));
}

/*
 * Expect that the rule refuses the commands, and that only the clock changes (the image's second
 * word).
 */
static inline void refused(enum nand_rule rule, struct nand_cmd *c, unsigned int count)
{
	size_t bytes = nand_array_image_bytes(&t.c);
	uint8_t *before = malloc(bytes);

	nand_array_passed(t.a, now);
	for (uint32_t die = 0; die < geo_dies(&t.c.geo); die++)	/* let all ended commands settle */
		if (t.n->ops->die_ready_ns(t.n, die) <= now) {
			uint32_t blocks = t.c.geo.planes_per_die * t.c.geo.blocks_per_plane;
			struct nand_cmd r = cmd(NAND_READ, die * blocks, 0);

			r.ecc_words = 1u << 30;
			nand_submit(t.n, now, &r, 1);
		}
	memcpy(before, t.image, bytes);
	submit(c, count);
	EXPECT_EQ(heard, rule);
	for (unsigned int i = 0; i < count; i++)
		EXPECT_EQ(c[i].status, NAND_VIOLATION);
	EXPECT(same_image(before));
	free(before);
}

static inline void refused1(enum nand_rule rule, struct nand_cmd c)
{
	refused(rule, &c, 1);
}

#endif
