// SPDX-License-Identifier: GPL-2.0-or-later
/* memory.c - see memory.h */
#include "memory.h"

static struct memory *memory_of(struct nand *n)
{
	return ssd_container_of(n, struct memory, nand);
}

static struct nand *array_of(const struct nand *n)
{
	return ((const struct memory *)(const void *)n)->array;
}

_Static_assert(offsetof(struct memory, nand) == 0, "array_of()");

uint64_t memory_cross(struct memory *m, uint64_t now_ns, uint64_t earliest_ns, uint64_t bytes)
{
	uint64_t len_ns = memory_ns(m, bytes);

	m->busy_ns += len_ns;
	return link_hold(&m->way, now_ns, earliest_ns, len_ns);
}

static uint64_t read_bytes(const struct nand_geometry *g, const struct nand_cmd *c)
{
	uint32_t words = g->page_bytes / g->ecc_word_bytes, all = words < 32 ? (1u << words) - 1 : ~0u;

	return (uint64_t)__builtin_popcount(c->ecc_words & all) * g->ecc_word_bytes;
}

/* ---- the array, as the FTL sees it ---- */

static void submit(struct nand *n, uint64_t now_ns, struct nand_cmd *cmds, unsigned int count)
{
	struct memory *m = memory_of(n);

	m->array->ops->submit(m->array, now_ns, cmds, count);
	for (unsigned int i = 0; i < count; i++)
		if (cmds[i].op == NAND_READ && cmds[i].source != NAND_SRC_HOST)
			(void)memory_cross(m, now_ns, cmds[i].done_ns, read_bytes(&n->geo, &cmds[i]));
}

static uint64_t die_ready_ns(const struct nand *n, uint32_t die)
{
	return array_of(n)->ops->die_ready_ns(array_of(n), die);
}

static bool may_interpose(const struct nand *n, uint64_t now_ns, ppn_t p)
{
	return array_of(n)->ops->may_interpose(array_of(n), now_ns, p);
}

static bool is_bad(const struct nand *n, pbn_t b)
{
	return array_of(n)->ops->is_bad(array_of(n), b);
}

static bool is_slc(const struct nand *n, pbn_t b)
{
	return array_of(n)->ops->is_slc(array_of(n), b);
}

static void mark_bad(struct nand *n, pbn_t b)
{
	array_of(n)->ops->mark_bad(array_of(n), b);
}

static uint32_t erase_count(const struct nand *n, pbn_t b)
{
	return array_of(n)->ops->erase_count(array_of(n), b);
}

static void get_stats(const struct nand *n, struct nand_stats *out)
{
	array_of(n)->ops->get_stats(array_of(n), out);
}

static void reset_stats(struct nand *n)
{
	array_of(n)->ops->reset_stats(array_of(n));
}

static enum nand_status peek(const struct nand *n, ppn_t p, const void **data, const void **oob)
{
	return array_of(n)->ops->peek(array_of(n), p, data, oob);
}

static const struct nand_ops ops = {
	submit, die_ready_ns, may_interpose, is_bad, is_slc, mark_bad, erase_count, get_stats, reset_stats, peek,
};

struct nand *memory_init(struct memory *m, uint32_t mb_s, struct nand *array)
{
	m->mb_s = mb_s;
	m->array = array;
	m->nand = (struct nand){ &ops, array->geo };
	m->way.count = 0;
	m->busy_ns = 0;
	return mb_s ? &m->nand : array;
}
