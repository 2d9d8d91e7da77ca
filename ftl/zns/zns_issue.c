// SPDX-License-Identifier: GPL-2.0-or-later
/* zns_issue.c - issues commands on idle dies, and erases and frees blocks. zns_die.c decides which command is next. */
#include "zns_issue.h"

/* ---- free blocks ---- */

void zns_put_erased(struct zns *z, uint32_t block, bool failed)
{
	if (failed || z->pool.block[block].failing)
		pool_put_bad(&z->pool, &z->host, block);
	else
		pool_put_free(&z->pool, block, false);
}

/* ---- commands ---- */

void zns_look_zone(struct zns *z, uint32_t zone)
{
	for (uint32_t k = 0; k < z->shape.dies / z->shape.groups; k++)
		z->die[zns_die_at(z, zone, k)].look = true;
}

void zns_issue(struct zns *z, uint32_t die, enum zns_cmd cmd, struct nand_cmd *c, unsigned int count)
{
	struct zns_die *x = &z->die[die];
	bool background = cmd == ZNS_CMD_PREPARE || cmd == ZNS_CMD_LOG_ERASE;

	die_command(z->host.n, z->host.now_ns, c, count);
	x->cmd = cmd;
	x->cell_ns = c[count - 1].cell_ns;
	x->bus_ns = c[count - 1].bus_ns;
	if (cmd != ZNS_CMD_READ)
		x->turn.reads_in_row = 0;
	x->erased = c[0].op == NAND_ERASE;
	die_begin(&z->ends, die, &x->turn, background, z->host.now_ns, c[count - 1].done_ns);
}

void zns_issue_erases(struct zns *z, uint32_t die, enum zns_cmd cmd, const uint32_t *block)
{
	struct zns_die *x = &z->die[die];
	struct nand_cmd c[NAND_PLANES_MAX];
	unsigned int count = 0;

	for (uint32_t p = 0; p < z->g->planes_per_die; p++)
		if (x->planes >> p & 1)
			c[count++] = (struct nand_cmd){ .op = NAND_ERASE, .pb = NAND_WHOLE_BLOCK,
				.source = cmd == ZNS_CMD_ERASE ? NAND_SRC_HOST : NAND_SRC_META,
				.ppn = geo_ppn(z->g, (pbn_t){ block[p] }, 0) };
	zns_issue(z, die, cmd, c, count);
	x->failed = 0;
	for (uint32_t p = 0, i = 0; p < z->g->planes_per_die; p++)
		if (x->planes >> p & 1)
			x->failed |= (uint32_t)(c[i++].status == NAND_ERASE_FAIL) << p;
}

void zns_prepare_planes(struct zns *z, uint32_t die, uint32_t planes)
{
	uint32_t block[NAND_PLANES_MAX];

	for (uint32_t p = 0; p < z->g->planes_per_die; p++)
		block[p] = z->pool.plane[die * z->g->planes_per_die + p].free_first;
	z->die[die].planes = planes;
	zns_issue_erases(z, die, ZNS_CMD_PREPARE, block);
}

bool zns_prepare(struct zns *z, uint32_t plane)
{
	uint32_t b = z->pool.plane[plane].free_first;

	if (!z->pool.block[b].needs_erase)
		return false;
	zns_prepare_planes(z, plane / z->g->planes_per_die, 1u << plane % z->g->planes_per_die);
	return true;
}
