// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profile_own.c - the keys of a profile that the core does not read directly: see profile_keys.h.
 * profile.c derives the core's settings from them. Offsets are within struct profile.
 */
#include "profile_keys.h"

#define AT(field) offsetof(struct profile, field)

static const struct knob drive[] = {
	{ "name", KNOB_NAME, AT(name), 0, 0, "", "name in reports; default: the file's name", NULL },
	{ "namespaces", KNOB_U32, AT(ftl.namespaces), 0, NAMESPACES_MAX, "0",
	  "namespaces that a host may create (NVMe's Namespace Management); their table is in the last mapping unit. "
	  "0: one namespace over the whole capacity", NULL },
	{ "ignore_flush", KNOB_BOOL, AT(ignore_flush), 0, 1, "no",
	  "a drive that lies: it ends each flush at once and ignores FUA, so a loss of power takes what its write "
	  "buffer holds. Only a shutdown empties the buffer", knob_no_yes },
	{ NULL }
};

static const struct knob link[] = {
	{ "generation", KNOB_U32, AT(link.generation), 0, 6, "0",
	  "PCIe; 0: the link costs nothing", NULL },
	{ "lanes", KNOB_U32, AT(link.lanes), 1, 16, "4", "1, 2, 4, 8 or 16", NULL },
	{ "data_permille", KNOB_U32, AT(link.data_permille), 1, 1000, "907",
	  "payload share of the link's bits: 256 of 282 bytes of a packet", NULL },
	{ "latency_ns", KNOB_U32, AT(ftl.link_latency_ns), 0, KNOB_NS_MAX, "0",
	  "added to every request: command and completion", NULL },
	{ NULL }
};

static const struct knob ftl_type[] = {
	{ "type", KNOB_FTL, AT(ops), 0, 0, "page",
	  "page: page mapping; nftl: block mapping; superblock: pages mapped in groups of blocks; "
	  "nftl and superblock support `pen`; parity, rtf, flex: page mapping with backups of LSB "
	  "pages; dac: compression of similar units (`reduction`); zns: zones that the host writes in "
	  "order; none: array only, valid but cannot run", NULL },
	{ NULL }
};

static const struct knob capacity[] = {
	{ "capacity_mib", KNOB_U64, AT(capacity_mib), 0, 1 << 22, "0",
	  "exported capacity; 0: from op_permille", NULL },
	{ "op_permille", KNOB_U64, AT(op_permille), 0, 10000, "125",
	  "over-provisioning: raw exceeds exported capacity by this. `--set` of it replaces the "
	  "profile's capacity_mib; both keys in one profile are refused", NULL },
	{ NULL }
};

static const struct knob reliability[] = {
	{ "factory_bad_permille", KNOB_U64, AT(factory_bad_permille), 0, 500, "0",
	  "blocks bad from the start", NULL },
	{ "eps", KNOB_COEFFICIENT, AT(rber.eps), 0, 0, "0",
	  "term without wear (c: erases, h: hours since programmed, r: reads of a page since)", NULL },
	{ "alpha", KNOB_COEFFICIENT, AT(rber.alpha), 0, 0, "0", "wear", NULL },
	{ "k", KNOB_EXPONENT, AT(rber.k), 0, 0, "0", "exponent of c in it", NULL },
	{ "beta", KNOB_COEFFICIENT, AT(rber.beta), 0, 0, "0", "retention", NULL },
	{ "m", KNOB_EXPONENT, AT(rber.m), 0, 0, "0", "exponent of c in it", NULL },
	{ "n", KNOB_EXPONENT, AT(rber.n), 0, 0, "0", "exponent of h in it", NULL },
	{ "gamma", KNOB_COEFFICIENT, AT(rber.gamma), 0, 0, "0", "read disturbance", NULL },
	{ "p", KNOB_EXPONENT, AT(rber.p), 0, 0, "0", "exponent of c in it", NULL },
	{ "q", KNOB_EXPONENT, AT(rber.q), 0, 0, "0", "exponent of r in it", NULL },
	{ "idle_hours", KNOB_U64, AT(idle_hours), 0, 1000000, "0",
	  "time without power before each opening of the drive", NULL },
	{ NULL }
};

static const struct knob precondition[] = {
	{ "fill_permille", KNOB_U64, AT(fill_permille), 0, 1000, "0",
	  "share of the capacity written before time begins", NULL },
	{ "age_permille", KNOB_U64, AT(age_permille), 0, 100000, "0",
	  "share of the capacity then overwritten at random", NULL },
	{ "seed", KNOB_U64, AT(precondition_seed), 0, UINT64_MAX, "1", "of the random overwriting", NULL },
	{ NULL }
};

static const struct knob memory[] = {
	{ "overcommit", KNOB_BOOL, AT(overcommit), 0, 1, "no",
	  "do not reserve memory for data that may never be written", knob_no_yes },
	{ NULL }
};

const struct knob_table profile_drive_keys = { "drive", drive };
const struct knob_table profile_link_keys = { "link", link };
const struct knob_table profile_type_keys = { "ftl", ftl_type };
const struct knob_table profile_capacity_keys = { "ftl", capacity };
const struct knob_table profile_reliability_keys = { "reliability", reliability };
const struct knob_table profile_precondition_keys = { "precondition", precondition };
const struct knob_table profile_memory_keys = { "memory", memory };
