// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * physics.c - raw bit errors, wear and energy, by the formulas of nand.h. Every result is a function of the
 * seed and of the image, so that a repeated question has the same answer.
 */
#include "array_impl.h"

#define LN_2 45426			/* Q16 */
#define LOG2_HOUR_NS 2733581		/* log2(3.6e12) in Q16 */
#define RBER_BITS 48			/* fraction bits of an RBER */

/* Computes coefficient * product of powers by logarithms; 0 if a base is 0. */
static uint64_t power_term(int32_t coefficient, int64_t log_a, int32_t exp_a, int64_t log_b,
			   int32_t exp_b)
{
	int64_t q = coefficient + (log_a * exp_a >> 16) + (log_b * exp_b >> 16);

	return fxp_exp2(q, RBER_BITS);
}

#define CERTAIN (1ull << RBER_BITS)

static uint64_t add_rate(uint64_t a, uint64_t b)
{
	return a < CERTAIN && b < CERTAIN - a ? a + b : CERTAIN;
}

static uint64_t raw_error_rate(const struct nand_array *a, const struct place *p)
{
	const struct nand_physics *f = &a->c.physics;
	const struct img_age *age = &a->age[p->pb];
	uint32_t cycles = a->pb[p->pb].erases;
	uint64_t now_ns = device_age_ns(a);
	uint64_t since_ns = now_ns > age->programmed_ns ? now_ns - age->programmed_ns : 0;
	uint64_t rber = add_rate(0, fxp_exp2(f->eps_log2, RBER_BITS));
	int64_t log_cycles;

	if (!cycles)
		return rber;
	log_cycles = fxp_log2(cycles);
	rber = add_rate(rber, power_term(f->alpha_log2, log_cycles, f->k, 0, 0));
	if (since_ns)
		rber = add_rate(rber, power_term(f->beta_log2, log_cycles, f->m,
						 fxp_log2(since_ns) - LOG2_HOUR_NS, f->n));
	if (age->reads)
		rber = add_rate(rber, power_term(f->gamma_log2, log_cycles, f->p,
						 fxp_log2(age->reads) - fxp_log2(a->pb_pages), f->q));
	return rber;
}

static uint32_t word_errors(const struct nand_array *a, const struct place *p, uint32_t word,
			    uint64_t mean)
{
	uint64_t h = fxp_hash(fxp_hash(a->c.physics.seed, p->ppn),
			      (uint64_t)a->pb[p->pb].erases << 8 | word);

	return fxp_poisson(mean, (uint32_t)(h >> 32)) + (a->carried ? a->carried[p->ppn] : 0);
}

static uint32_t worst_word(const struct nand_array *a, const struct place *p, uint32_t words,
			   uint64_t mean)
{
	uint32_t worst = 0;

	for (uint32_t w = 0; w < a->ecc_words; w++) {
		uint32_t errors = words >> w & 1u ? word_errors(a, p, w, mean) : 0;

		if (errors > worst)
			worst = errors;
	}
	return worst;
}

/*
 * Set raw_bits, retries and the status of a readable page. flips: additional wrong bits in each
 * word.
 */
void read_errors(struct nand_array *a, const struct place *p, struct nand_cmd *c, uint32_t flips)
{
	const struct nand_physics *f = &a->c.physics;
	uint32_t words = c->ecc_words ? c->ecc_words : 1;	/* the spare area counts as the first word */
	uint64_t rber = a->age ? raw_error_rate(a, p) : 0;
	uint64_t mean = (uint64_t)((fxp_wide)rber * a->base.geo.ecc_word_bytes * 8 >> (RBER_BITS - 32));
	uint32_t left;

	c->raw_bits = left = worst_word(a, p, words, mean) + flips;
	while (left > f->ecc_bits && c->retries < f->retries_max) {
		c->retries++;
		mean = mean / 1000 * f->retry_permille;
		left = worst_word(a, p, words, mean) + flips;
	}
	if (left > f->ecc_bits)
		c->status = NAND_UNCORR;
	else if (c->raw_bits > f->relocate_bits)
		c->status = NAND_CORRECTED;
}

/* Returns the erases after which the block fails, by Weibull: endurance * (-ln(1 - u))^(1/shape), 1 - u = v. */
static uint64_t wear_limit(const struct nand_array *a, uint32_t block, enum nand_op op)
{
	const struct nand_physics *f = &a->c.physics;
	uint32_t v = (uint32_t)(fxp_hash(fxp_hash(f->seed, (uint64_t)op + 1), block) >> 32) | 1u;
	int64_t minus_ln = (int64_t)(32 * FXP_ONE - fxp_log2(v)) * LN_2 >> 16;
	int64_t q = minus_ln ? fxp_log2((uint64_t)minus_ln) - 16 * FXP_ONE : -16 * FXP_ONE;

	return fxp_exp2(fxp_log2(f->endurance) + q / (int64_t)f->wear_shape, 0);
}

bool wear_fails(const struct nand_array *a, uint32_t block, uint32_t erases, enum nand_op op)
{
	if (!a->c.physics.endurance)
		return false;
	return erases > wear_limit(a, block, op == NAND_COPYBACK ? NAND_PROGRAM : op);
}

/* ---- energy --------------------------------------------------------------- */

static uint64_t cell_energy(const struct nand_array *a, const struct nand_cmd *c, uint32_t type)
{
	const struct nand_energy *e = &a->c.energy;
	struct place from;

	switch (c->op) {
	case NAND_READ:
		return (uint64_t)e->read_nj[type] * (1 + c->retries);
	case NAND_PROGRAM:
		return e->program_nj[type];
	case NAND_COPYBACK:
		from = place_of(a, c->from.v);
		return e->program_nj[type] + e->read_nj[place_type(a, &from)];
	case NAND_ERASE:
		return e->erase_nj[pb_level(c->pb)];
	case NAND_NOPS:
		break;
	}
	return 0;
}

void count_energy(struct nand_array *a, const struct nand_cmd *c, uint32_t type)
{
	a->stats.energy_nj[c->op][c->source] += cell_energy(a, c, type) +
		bus_bytes(a, c) * a->c.energy.bus_pj_per_byte / 1000;
}
