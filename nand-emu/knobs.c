// SPDX-License-Identifier: GPL-2.0-or-later
/* knobs.c - the array's settings: see knob.h. Offsets are within struct nand_array_config. */
#include "array.h"
#include "knob.h"

const char *const knob_no_yes[] = { "no", "yes", NULL };
static const char *const off_powerlaw[] = { "off", "powerlaw", NULL };
static const char *const orders[] = {
	[NAND_ORDER_ASCENDING] = "ascending", [NAND_ORDER_NONE] = "none", [NAND_ORDER_FPS] = "fps",
	[NAND_ORDER_RPS] = "rps", [NAND_NORDERS] = NULL
};
static const char *const subpages[] = {
	[NAND_SUBPAGE_NONE] = "none", [NAND_SUBPAGE_DMA] = "dma", [NAND_SUBPAGE_SPREAD] = "spread",
	[NAND_NSUBPAGES] = NULL
};

#define ERASE_NS_MAX 4000000000u
#define NJ_MAX 4000000000u

#define AT(field) offsetof(struct nand_array_config, field)
#define G(n, lo, hi, d, s) { #n, KNOB_U32, AT(geo.n), lo, hi, d, s, NULL }
#define G_IS(n, choices, d, s) { #n, KNOB_CHOICE, KNOB_CHOICE_AT(struct nand_array_config, geo.n), 0, 0, d, s, choices }
#define G_BOOL(n, s) { #n, KNOB_BOOL, AT(geo.n), 0, 1, "no", s, knob_no_yes }
#define T(n, lo, hi, d, s) { #n, KNOB_U32, AT(timing.n), lo, hi, d, s, NULL }
#define T_LIST(n, type, hi, s) { #n, type, AT(timing.n), 1, hi, NULL, s, NULL }
#define E(n, type, s) { #n, type, AT(energy.n), 0, NJ_MAX, "0", s, NULL }
#define R(n, lo, hi, d, s) { #n, KNOB_U32, AT(physics.n), lo, hi, d, s, NULL }

static const struct knob geometry[] = {
	G(channels, 1, 64, NULL, "each with its own bus"),
	G(chips_per_channel, 1, 64, NULL, "they share the channel's bus"),
	G(dies_per_chip, 1, 16, NULL, "each executes one command at a time"),
	G(planes_per_die, 1, 8, NULL, "operated together by one command"),
	G(blocks_per_plane, 4, 1 << 20, NULL, "blocks that are erased alone"),
	G(pages_per_block, 2, 65536, NULL, "a multiple of bits_per_cell"),
	G(page_bytes, 512, 65536, NULL, "without spare area"),
	G(oob_bytes, 16, 65536, NULL, "spare area of a page"),
	G(bits_per_cell, 1, NAND_TYPES_MAX, "1",
	  "SLC, MLC, TLC, QLC: page p of a block is of type p mod bits_per_cell"),
	G_IS(order, orders, "ascending",
	  "program order within a block; fps and rps need an FTL that supports them"),
	G(ecc_word_bytes, 0, 65536, "0", "unit of ECC and sub-page reads, 1 to 32 per page; 0: the page"),
	G(pb_levels, 0, NAND_PB_LEVELS_MAX, "0",
	  "partial erase: a block is halved so many times; not with fps and rps"),
	G(erase_group_max, 1, NAND_ERASE_GROUP_MAX, "1", "parallel erase: blocks of a plane in one erase"),
	G_IS(subpage, subpages, "none",
	  "what reading single ECC words saves: nothing; transfer; transfer and cell time"),
	G_BOOL(one_shot, "the pages of a word line are programmed together in the one time program_ns"),
	G_BOOL(copyback, "pages move within a plane without the bus"),
	G_BOOL(paired_loss, "an interrupted upper page destroys the lower pages of its word line"),
	{ 0 }
};

static const struct knob timing[] = {
	T(cmd_ns, 0, KNOB_NS_MAX, "0", "command and address cycles on the bus"),
	T_LIST(read_ns, KNOB_BY_TYPE, KNOB_NS_MAX, "tR: one value, or one per page type, LSB first"),
	T_LIST(program_ns, KNOB_BY_TYPE, KNOB_NS_MAX, "tPROG, likewise"),
	T_LIST(erase_ns, KNOB_BY_LEVEL, ERASE_NS_MAX, "tBERS: one value, or pb_levels + 1, the block first"),
	T(bus_ps_per_byte, 0, 1000000000, NULL, "picoseconds; 1250 is 800 MB/s"),
	{ "oob_on_bus", KNOB_NOT, AT(timing.oob_off_bus), 0, 1, "yes",
	  "spare bytes take bus time", knob_no_yes },
	T(subread_base_ns, 0, KNOB_NS_MAX, "0", "with subpage = spread: tR of n KiB is this ..."),
	T(subread_ns_per_kib, 0, KNOB_NS_MAX, "0", "... plus n times this; read_ns for the whole page"),
	T(lower_read_ns, 0, KNOB_NS_MAX, "0",
	  "an upper page's program first reads each lower page; 0: part of program_ns"),
	T(suspend_ns, 0, KNOB_NS_MAX, "0", "time to suspend a program or erase for a read; 0: no suspension"),
	T(resume_ns, 0, KNOB_NS_MAX, "0", "time to resume it"),
	T(suspends_max, 0, 1 << 20, "0", "per command"),
	{ "plane_reads", KNOB_BOOL, AT(timing.plane_reads), 0, 1, "no",
	  "a plane of a die may be read while others are being read", knob_no_yes },
	T(retry_ns, 0, KNOB_NS_MAX, "0", "a read with shifted thresholds"),
	T(slc_program_ns, 0, KNOB_NS_MAX, "0",
	  "SLC mode: tPROG of a block programmed with one bit per cell, which has pages_per_block / bits_per_cell "
	  "pages; 0: no such mode. Not with one_shot and pb_levels"),
	T(slc_read_ns, 0, KNOB_NS_MAX, "0", "SLC mode: tR; 0: as the LSB page's"),
	T(slc_erase_ns, 0, ERASE_NS_MAX, "0", "SLC mode: tBERS; 0: as the block's"),
	{ 0 }
};

static const struct knob energy[] = {
	E(read_nj, KNOB_BY_TYPE, "a page, by type as read_ns"),
	E(program_nj, KNOB_BY_TYPE, "a page, by type"),
	E(erase_nj, KNOB_BY_LEVEL, "a block, by PB level as erase_ns"),
	E(bus_pj_per_byte, KNOB_U32, "a byte on the bus"),
	{ 0 }
};

static const struct knob physics[] = {
	{ "seed", KNOB_U64, AT(physics.seed), 0, ~(uint64_t)0, "1",
	  "of bad blocks, errors and wear", NULL },
	{ "disturb_tolerance", KNOB_TOLERANCE, AT(physics.disturb_tolerance), 0, KNOB_NEVER - 1, "off",
	  "partial erases of neighbours that the smallest PB tolerates; one more destroys its data", NULL },
	{ "rber", KNOB_BOOL, AT(physics.rber_on), 0, 1, "off",
	  "raw bit errors: eps + alpha c^k + beta c^m h^n + gamma c^p r^q", off_powerlaw },
	R(ecc_bits, 0, 65535, "0", "correctable errors per ECC word"),
	R(relocate_bits, 0, 65535, "0", "more errors in a read request relocation; at most ecc_bits"),
	R(retries_max, 0, 255, "0", "per read"),
	R(retry_permille, 0, 1000, "0", "share of the errors left by each retry"),
	R(endurance, 0, 1000000000, "0", "erases (scale of a Weibull distribution); 0: no wear-out"),
	R(wear_shape, 1, 64, "8", "its shape"),
	{ 0 }
};

const struct knob_table nand_geometry_knobs = { "geometry", geometry };
const struct knob_table nand_timing_knobs = { "timing", timing };
const struct knob_table nand_energy_knobs = { "energy", energy };
const struct knob_table nand_physics_knobs = { "reliability", physics };
