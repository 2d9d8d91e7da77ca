/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dac_rig.h - functions shared by test_dac and test_dac_loss: a small drive of the DAC FTL, `r`;
 * one I/O at a time on it, run until no work is left; contents that compress or do not; and the
 * drive filled to its limit. It uses the drive's shape and the engine's times.
 */
#ifndef SLATE_DAC_RIG_H
#define SLATE_DAC_RIG_H

#include "dac.h"
#include "dac_write.h"
#include "direct_rig.h"

#define UNIT 1024u
#define HASH_NS 400u
#define COMPRESS_NS 900u
#define EXPAND_NS 600u

extern struct rig r;
extern uint8_t in[UNIT], out[UNIT];	/* in: data of the next write; out: data of the last read */
extern const struct rig_shape shape;

/* ---- contents: random bytes do not compress, text does -------------------------------- */

void random_page(uint64_t seed);
/*
 * Fill half of each sub-page with random bytes, half with zeroes. It compresses, and differs from
 * every other seed's.
 */
void half_page(uint64_t seed);
/* Make content that equals the random page 100 + i in one quarter only. */
void quarter_page(uint32_t i);

/* ---- a drive, and one I/O on it ---------------------------------------------------- */

/* Start a new drive of `shape` with these two values; returns its statistics. */
const struct ftl_stats *start(enum ftl_reduction reduction, uint32_t references);

static inline struct dac *drive(void)
{
	return dac_of(r.f);
}

/* Run an I/O until no work is left; its data are in `in` or `out`. */
static inline enum ssd_err io(enum ftl_op op, bool fua, uint32_t unit, uint64_t *ns)
{
	struct rig_io *q = &r.all;
	uint8_t *kept = q->data;

	q->io = (struct ftl_io){ .op = op, .fua = fua, .offset = (uint64_t)unit * UNIT, .bytes = UNIT };
	q->reported = false;
	q->data = op == FTL_WRITE ? in : out;
	r.may_lose = true;
	r.ops->submit(r.f, r.now_ns, &q->io);
	r.ops->check(r.f);
	for (r.next_ns = r.ops->step(r.f, r.now_ns); r.next_ns != FTL_IDLE;
	     r.next_ns = r.ops->step(r.f, r.now_ns)) {
		r.now_ns = r.next_ns;
		r.ops->check(r.f);
	}
	q->data = kept;
	EXPECT(q->reported);
	*ns = q->io.done_ns - q->io.submit_ns;
	EXPECT_EQ(ftl_breakdown_sum(&q->io.where), *ns);
	if (q->io.done_ns > r.now_ns)
		r.now_ns = q->io.done_ns;
	return q->io.status;
}

static inline uint64_t write_io(uint32_t unit)
{
	uint64_t ns;

	EXPECT_EQ(io(FTL_WRITE, false, unit, &ns), SSD_OK);
	return ns;
}

static inline uint64_t fua(uint32_t unit)
{
	uint64_t ns;

	EXPECT_EQ(io(FTL_WRITE, true, unit, &ns), SSD_OK);
	return ns;
}

static inline uint64_t flush(void)
{
	uint64_t ns;

	EXPECT_EQ(io(FTL_FLUSH, false, 0, &ns), SSD_OK);
	return ns;
}

/* Read a unit, which must equal `in`. */
static inline uint64_t read_io(uint32_t unit)
{
	uint64_t ns;

	EXPECT_EQ(io(FTL_READ, false, unit, &ns), SSD_OK);
	EXPECT(!memcmp(in, out, UNIT));
	return ns;
}

/*
 * Overwrite random units from `first` on with random pages, so that every block is collected at
 * some time.
 */
static inline void overwrite(uint32_t first, uint32_t times)
{
	uint64_t dice = 7;

	for (uint32_t i = 0; i < times; i++) {
		random_page(10 + i);
		write_io(first + (uint32_t)(rnd(&dice) % (48 - first)));
	}
	flush();
}

/* ---- as full as it can be (the_worst_case_fits) ------------------------------------- */

static inline void fill_to_the_worst(void)
{
	for (uint32_t i = 0; i < 13; i++) {
		random_page(100 + i);
		write_io(i);
		quarter_page(i);
		write_io(13 + i);
	}
}

static inline void read_the_worst(void)
{
	for (uint32_t i = 0; i < 13; i++) {
		quarter_page(i);
		read_io(13 + i);
	}
}

/* Write one of the 35 units; each once in order, then at random. */
static inline enum ssd_err write_the_worst(uint32_t i, uint64_t *dice)
{
	uint32_t unit = i < 35 ? i : (uint32_t)(rnd(dice) % 35);
	uint64_t ns;

	random_page(1000 + i);
	return io(FTL_WRITE, false, unit < 13 ? unit : unit + 13, &ns);
}

/* Expect that the drive's configuration is refused after a change, with a message that begins so. */
static inline void refused(void (*change)(struct ftl_config *, struct nand_geometry *), const char *says)
{
	struct ftl_config c = r.fc;
	struct nand_geometry g = r.ac.geo;
	const char *why = NULL;

	change(&c, &g);
	EXPECT_EQ(ftl_validate(r.ops, &c, &g, &why), SSD_E_INVAL);
	if (!why || strncmp(why, says, strlen(says))) {
		printf("'%s' does not begin with '%s'\n", why ? why : "", says);
		failures++;
	}
}

#endif
