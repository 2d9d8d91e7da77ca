/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * array.h - the NAND array in memory: the implementation of nand.h, and what
 * only its owner (a shell or a test) may do: build it, cut its power, plan
 * faults, copy it.
 *
 * Footprint: two bits of state and oob_kept bytes of OOB per page, with
 * payload 4 bytes more and a page buffer per programmed page; 12 bytes per
 * block. The payload pool is handed out last in, first out, so a shell that
 * maps it lazily spends memory on programmed pages only.
 */
#ifndef SLATE_ARRAY_H
#define SLATE_ARRAY_H

#include "nand.h"

struct nand_array;

struct nand_array_config {
	struct nand_geometry geo;
	struct nand_timing timing;
	uint64_t payload_pages;		/* size of the payload pool, in pages; 0: keep none.
					 * Must be geo_pages() when the FTL keeps payload. */
};

/* What the array tells and asks its owner. Any pointer may be NULL. */
struct nand_hooks {
	void *opaque;
	/* A rule was broken. */
	void (*violation)(void *opaque, enum nand_rule rule, const struct nand_cmd *cmd);
	/*
	 * Before each command takes effect. Returns NAND_OK, or the failure to
	 * act out: NAND_PROG_FAIL (PROGRAM), NAND_ERASE_FAIL (ERASE),
	 * NAND_UNCORR or NAND_CORRECTED (READ).
	 */
	enum nand_status (*fault)(void *opaque, const struct nand_cmd *cmd);
	/* After each call of submit() took effect. */
	void (*done)(void *opaque, uint64_t now_ns, const struct nand_cmd *cmds,
		     unsigned int count);
};

/* SSD_OK, or SSD_E_INVAL with *why naming the field, the range and the fix. */
int nand_array_validate(const struct nand_array_config *c, const char **why) SSD_MUST_CHECK;
/* Bytes for the array's own tables, and for the payload pool. */
size_t nand_array_footprint(const struct nand_array_config *c);
size_t nand_array_pool_bytes(const struct nand_array_config *c);
/*
 * mem: footprint() zeroed bytes; pool: pool_bytes() bytes of any content, or
 * NULL when payload_pages is 0. The array comes up powered, blank, at time 0.
 */
struct nand *nand_array_init(void *mem, void *pool, const struct nand_array_config *c);
struct nand_array *nand_array_of(struct nand *n);

void nand_array_set_hooks(struct nand_array *a, const struct nand_hooks *h);

/*
 * Cut the power at at_ns >= the last submit's now_ns. seed chooses what torn
 * cells hold. Afterwards every submit is a violation of R8 until power_on().
 */
void nand_array_power_cut(struct nand_array *a, uint64_t at_ns, uint64_t seed);
/* Power is back: every die idle, time begins at 0 again. Also ends a running one. */
void nand_array_power_on(struct nand_array *a);

/* Make dst (same config, own memory) equal to src, dies in flight included; hooks stay. */
void nand_array_copy(struct nand_array *dst, const struct nand_array *src);

#endif
