// SPDX-License-Identifier: GPL-2.0-or-later
/* storm_table.c - the devices for storms: small ones that together have every ability. */
#include "storm.h"

/*
 * Times are odd numbers, so that a wrong term is visible. They are short against transfers on the
 * slow bus, so that channels are full.
 */
#define SLOW_BUS 9871u
#define FAST_BUS 1237u
#define NEVER (-60 * 65536)		/* log2 of a coefficient that is practically zero */

#define CELLS .read_ns = { 5003, 7001, 9007, 11003 },                                       \
	.program_ns = { 20011, 31013, 52009, 70001 },                                      \
	.erase_ns = { 90001, 80021, 70001, 60013, 50021, 40009, 30011, 20021, 10007 },     \
	.subread_base_ns = 1009, .subread_ns_per_kib = 1531, .retry_ns = 4001
#define SLC_TIMES .slc_program_ns = 4001, .slc_read_ns = 3001, .slc_erase_ns = 50021
#define TIMES(bus) .timing = { .cmd_ns = 101, .bus_ps_per_byte = bus, CELLS }

#define GEO(ch, chips, dies, planes, blocks, pages)                                        \
	.channels = ch, .chips_per_channel = chips, .dies_per_chip = dies,                 \
	.planes_per_die = planes, .blocks_per_plane = blocks, .pages_per_block = pages
#define PAGE(bytes, word) .page_bytes = bytes, .oob_bytes = 60, .oob_kept = 16, .ecc_word_bytes = word
#define CALM .disturb_tolerance = 255
#define PACKED .payload = true, .packed_addresses = 1000, .physics = { CALM }
#define ERRORS .rber_on = true, .eps_log2 = -12 * 65536, .alpha_log2 = -12 * 65536,        \
	.k = 65536, .m = 32768, .n = 65536, .p = 32768, .q = 65536,                        \
	.ecc_bits = 9, .relocate_bits = 4, .retries_max = 3, .retry_permille = 500

static const struct {
	const char *name;
	struct nand_array_config c;
} table[] = {
	{ "slc", { TIMES(FAST_BUS), .payload = true, .physics = { CALM }, .geo = {
		GEO(1, 1, 1, 1, 4, 8), PAGE(1536, 512), .erase_group_max = 1, .bits_per_cell = 1,
		.order = NAND_ORDER_ASCENDING } } },
	{ "wide", { TIMES(SLOW_BUS), .payload = true, .physics = { CALM }, .geo = {
		GEO(2, 2, 2, 2, 4, 4), PAGE(1536, 512), .erase_group_max = 1, .bits_per_cell = 1,
		.order = NAND_ORDER_ASCENDING } } },
	{ "one bus", { .timing = { .cmd_ns = 997, .bus_ps_per_byte = SLOW_BUS, .oob_off_bus = true, CELLS },
		.owners = true, .physics = { CALM }, .geo = {
		GEO(1, 3, 2, 1, 4, 4), PAGE(1024, 256), .erase_group_max = 1, .bits_per_cell = 1,
		.order = NAND_ORDER_NONE, .subpage = NAND_SUBPAGE_DMA } } },
	{ "halves", { TIMES(FAST_BUS), .owners = true, .payload = true, .physics = { .disturb_tolerance = 0 }, .geo = {
		GEO(1, 2, 1, 1, 4, 8), PAGE(512, 512), .pb_levels = 1, .erase_group_max = 1,
		.bits_per_cell = 1, .order = NAND_ORDER_NONE } } },
	{ "eighths", { TIMES(FAST_BUS), .payload = true, .physics = { .disturb_tolerance = 1 }, .geo = {
		GEO(1, 1, 1, 2, 4, 16), PAGE(512, 512), .pb_levels = 3, .erase_group_max = 2,
		.bits_per_cell = 1, .order = NAND_ORDER_ASCENDING } } },
	{ "64 pages", { TIMES(FAST_BUS), .physics = { .disturb_tolerance = 0 }, .geo = {
		GEO(1, 1, 1, 1, 4, 64), PAGE(512, 512), .pb_levels = 6, .erase_group_max = 4,
		.bits_per_cell = 1, .order = NAND_ORDER_NONE } } },
	{ "64 up", { TIMES(FAST_BUS), .physics = { .disturb_tolerance = 2 }, .geo = {
		GEO(1, 1, 1, 1, 4, 128), PAGE(512, 512), .pb_levels = 6, .erase_group_max = 1,
		.bits_per_cell = 2, .order = NAND_ORDER_ASCENDING, .paired_loss = true } } },
	{ "erase groups", { TIMES(SLOW_BUS), .payload = true, .physics = { .disturb_tolerance = 0 }, .geo = {
		GEO(1, 2, 1, 4, 5, 4), PAGE(512, 512), .pb_levels = 1, .erase_group_max = 4,
		.bits_per_cell = 1, .order = NAND_ORDER_NONE } } },
	{ "words, dma", { TIMES(SLOW_BUS), .owners = true, .payload = true, .physics = { CALM }, .geo = {
		GEO(1, 2, 1, 2, 4, 4), PAGE(2048, 512), .erase_group_max = 1, .bits_per_cell = 1,
		.order = NAND_ORDER_ASCENDING, .subpage = NAND_SUBPAGE_DMA } } },
	{ "words, spread", { TIMES(FAST_BUS), .payload = true, .physics = { CALM }, .geo = {
		GEO(1, 2, 1, 1, 4, 6), .page_bytes = 2048, .oob_bytes = 200, .oob_kept = 24,
		.ecc_word_bytes = 64, .erase_group_max = 1, .bits_per_cell = 3,
		.order = NAND_ORDER_ASCENDING, .subpage = NAND_SUBPAGE_SPREAD } } },
	{ "mlc fps", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = FAST_BUS, .lower_read_ns = 2003, CELLS },
		.payload = true, .physics = { CALM }, .geo = {
		GEO(1, 2, 1, 1, 4, 12), PAGE(512, 512), .erase_group_max = 1, .bits_per_cell = 2,
		.order = NAND_ORDER_FPS, .paired_loss = true } } },
	{ "mlc rps", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = FAST_BUS, .suspend_ns = 1013,
			.resume_ns = 2003, .suspends_max = 2, CELLS },
		.owners = true, .payload = true, .physics = { CALM }, .geo = {
		GEO(1, 2, 1, 2, 4, 8), PAGE(1536, 512), .erase_group_max = 1, .bits_per_cell = 2,
		.order = NAND_ORDER_RPS, .copyback = true } } },
	{ "tlc rps", { TIMES(FAST_BUS), .payload = true, .physics = { CALM }, .geo = {
		GEO(1, 1, 1, 1, 4, 15), PAGE(512, 512), .erase_group_max = 1, .bits_per_cell = 3,
		.order = NAND_ORDER_RPS, .paired_loss = true } } },
	{ "tlc fps", { TIMES(FAST_BUS), .payload = true, .physics = { CALM }, .geo = {
		GEO(1, 1, 1, 1, 4, 15), PAGE(512, 512), .erase_group_max = 2, .bits_per_cell = 3,
		.order = NAND_ORDER_FPS, .copyback = true } } },
	{ "qlc up", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = FAST_BUS, .lower_read_ns = 997, CELLS },
		.payload = true, .physics = { CALM }, .geo = {
		GEO(1, 1, 1, 1, 4, 8), PAGE(1536, 512), .erase_group_max = 1, .bits_per_cell = 4,
		.order = NAND_ORDER_ASCENDING, .paired_loss = true } } },
	{ "one shot", { TIMES(SLOW_BUS), .payload = true, .physics = { CALM }, .geo = {
		GEO(1, 2, 1, 2, 4, 6), PAGE(512, 512), .erase_group_max = 1, .bits_per_cell = 3,
		.order = NAND_ORDER_ASCENDING, .one_shot = true, .paired_loss = true } } },
	{ "suspended", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = SLOW_BUS, .suspend_ns = 1013,
			.resume_ns = 0, .suspends_max = 3, CELLS },
		.payload = true, .physics = { CALM }, .geo = {
		GEO(1, 2, 1, 2, 4, 4), PAGE(512, 512), .erase_group_max = 2, .bits_per_cell = 1,
		.order = NAND_ORDER_NONE, .copyback = true } } },
	{ "errors", { TIMES(FAST_BUS), .payload = true, .physics = { CALM, ERRORS, .seed = 5,
			.beta_log2 = NEVER, .gamma_log2 = NEVER }, .geo = {
		GEO(1, 1, 1, 2, 4, 4), PAGE(1024, 512), .erase_group_max = 1, .bits_per_cell = 1,
		.order = NAND_ORDER_NONE, .copyback = true } } },
	{ "wear", { TIMES(FAST_BUS), .payload = true, .physics = { CALM, ERRORS, .seed = 6,
			.beta_log2 = -13 * 65536, .gamma_log2 = -14 * 65536,
			.endurance = 12, .wear_shape = 3 }, .geo = {
		GEO(1, 1, 1, 1, 6, 8), PAGE(1024, 512), .pb_levels = 2, .erase_group_max = 2,
		.bits_per_cell = 1, .order = NAND_ORDER_NONE, .copyback = true } } },
	{ "everything", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = SLOW_BUS, .suspend_ns = 1013,
			.resume_ns = 2003, .suspends_max = 2, .lower_read_ns = 2003, CELLS },
		.payload = true, .physics = { .disturb_tolerance = 1, ERRORS, .seed = 7,
			.beta_log2 = -14 * 65536, .gamma_log2 = -15 * 65536,
			.endurance = 60, .wear_shape = 2 }, .geo = {
		GEO(2, 1, 2, 2, 4, 16), PAGE(1024, 256), .pb_levels = 3, .erase_group_max = 3,
		.bits_per_cell = 2, .order = NAND_ORDER_NONE, .subpage = NAND_SUBPAGE_SPREAD,
		.copyback = true, .paired_loss = true } } },
	{ "one shot, parts", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = SLOW_BUS, .suspend_ns = 1013,
			.resume_ns = 2003, .suspends_max = 1, CELLS },
		.payload = true, .physics = { .disturb_tolerance = 0 }, .geo = {
		GEO(1, 2, 1, 2, 4, 12), PAGE(1024, 256), .pb_levels = 2, .erase_group_max = 2,
		.bits_per_cell = 3, .order = NAND_ORDER_ASCENDING, .subpage = NAND_SUBPAGE_DMA,
		.one_shot = true, .paired_loss = true } } },
	{ "held by gc", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = SLOW_BUS, .gc_holds_bus = true, CELLS },
		.payload = true, .physics = { CALM, ERRORS, .seed = 8, .beta_log2 = NEVER,
			.gamma_log2 = NEVER }, .geo = {
		GEO(1, 3, 1, 2, 4, 8), PAGE(1024, 256), .erase_group_max = 2, .bits_per_cell = 2,
		.order = NAND_ORDER_NONE, .subpage = NAND_SUBPAGE_SPREAD, .copyback = true } } },
	{ "held by gc, one shot", { .timing = { .cmd_ns = 0, .bus_ps_per_byte = FAST_BUS,
			.gc_holds_bus = true, CELLS },
		.payload = true, .physics = { CALM }, .geo = {
		GEO(2, 2, 1, 2, 4, 6), PAGE(1024, 256), .erase_group_max = 1, .bits_per_cell = 3,
		.order = NAND_ORDER_ASCENDING, .subpage = NAND_SUBPAGE_DMA, .one_shot = true } } },
	{ "slc mode, tlc", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = FAST_BUS, .lower_read_ns = 997,
			.suspend_ns = 1013, .resume_ns = 2003, .suspends_max = 2, SLC_TIMES, CELLS },
		.payload = true, .physics = { CALM }, .geo = {
		GEO(1, 2, 1, 2, 4, 12), PAGE(512, 512), .erase_group_max = 2, .bits_per_cell = 3,
		.order = NAND_ORDER_ASCENDING, .copyback = true, .paired_loss = true } } },
	{ "slc mode, qlc", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = SLOW_BUS, .gc_holds_bus = true,
			SLC_TIMES, CELLS },
		.payload = true, .physics = { CALM, ERRORS, .seed = 9, .beta_log2 = -13 * 65536,
			.gamma_log2 = -14 * 65536, .endurance = 40, .wear_shape = 3 }, .geo = {
		GEO(1, 2, 1, 2, 4, 16), PAGE(1024, 256), .erase_group_max = 1, .bits_per_cell = 4,
		.order = NAND_ORDER_NONE, .subpage = NAND_SUBPAGE_SPREAD, .copyback = true,
		.paired_loss = true } } },
	{ "slc mode, mlc fps", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = FAST_BUS,
			.slc_program_ns = 4001, CELLS },
		.payload = true, .physics = { CALM }, .geo = {
		GEO(1, 1, 1, 2, 4, 10), PAGE(512, 512), .erase_group_max = 1, .bits_per_cell = 2,
		.order = NAND_ORDER_FPS, .copyback = true, .paired_loss = true } } },
	{ "packed", { TIMES(FAST_BUS), PACKED, .geo = {
		GEO(1, 2, 1, 2, 4, 40), PAGE(1024, 512), .erase_group_max = 1, .bits_per_cell = 1,
		.order = NAND_ORDER_ASCENDING, .copyback = true } } },
	{ "packed, 5 units", { TIMES(FAST_BUS), PACKED, .geo = {
		GEO(1, 2, 1, 1, 4, 12), .page_bytes = 1024, .oob_bytes = 60, .oob_kept = 52,
		.ecc_word_bytes = 512, .erase_group_max = 1, .bits_per_cell = 3,
		.order = NAND_ORDER_ASCENDING, .one_shot = true, .paired_loss = true } } },
	{ "packed, slc mode", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = SLOW_BUS, SLC_TIMES, CELLS }, PACKED,
		.geo = {
		GEO(1, 1, 1, 2, 4, 12), PAGE(512, 512), .erase_group_max = 2, .bits_per_cell = 3,
		.order = NAND_ORDER_ASCENDING, .copyback = true, .paired_loss = true } } },
	{ "plane reads", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = SLOW_BUS, .plane_reads = true, CELLS },
		.owners = true, .payload = true, .physics = { CALM }, .geo = {
		GEO(1, 2, 1, 4, 4, 6), PAGE(512, 512), .erase_group_max = 2, .bits_per_cell = 3,
		.order = NAND_ORDER_ASCENDING, .subpage = NAND_SUBPAGE_DMA, .copyback = true } } },
	{ "plane reads, suspended", { .timing = { .cmd_ns = 101, .bus_ps_per_byte = FAST_BUS, .suspend_ns = 1013,
			.resume_ns = 2003, .suspends_max = 4, .plane_reads = true, CELLS },
		.payload = true, .physics = { CALM, ERRORS, .seed = 10, .beta_log2 = NEVER, .gamma_log2 = NEVER },
		.geo = {
		GEO(1, 2, 1, 2, 4, 8), PAGE(1024, 256), .erase_group_max = 1, .bits_per_cell = 2,
		.order = NAND_ORDER_NONE, .subpage = NAND_SUBPAGE_SPREAD } } },
};

uint32_t storm_configs(void)
{
	return sizeof(table) / sizeof(table[0]);
}

const char *storm_config(uint32_t i, struct nand_array_config *c)
{
	static const struct nand_energy energy = {
		{ 1009, 1201, 1301, 1409 }, { 5003, 6007, 7001, 8009 },
		{ 90001, 80021, 70001, 60013, 50021, 40009, 30011, 20021, 10007 }, 37
	};

	*c = table[i].c;
	c->sums = i % 3 != 0 && !c->packed_addresses;
	c->energy = energy;
	return table[i].name;
}

void storm_vary(struct dice *d, struct nand_array_config *c)
{
	static const uint32_t buses[] = { 1, 999, 1000, 1001, FAST_BUS, 5000, SLOW_BUS, 40000 };
	static const uint32_t tolerance[] = { 0, 1, 2, 255 };
	uint32_t what = dice_draw(d, 256);

	if (what & 1)
		c->timing.bus_ps_per_byte = buses[dice_draw(d, 8)];
	if (what & 2)
		c->timing.oob_off_bus = !c->timing.oob_off_bus;
	if (what & 4)
		c->physics.disturb_tolerance = tolerance[dice_draw(d, 4)];
	if (what & 8)
		c->geo.copyback = !c->geo.copyback;
	if (what & 16)
		c->geo.order = (enum nand_order)dice_draw(d, NAND_NORDERS);
	if (what & 32) {
		c->timing.suspend_ns = dice_draw(d, 3) * 700;
		c->timing.resume_ns = dice_draw(d, 3) * 900;
		c->timing.suspends_max = dice_draw(d, 4);
		c->timing.gc_holds_bus = !c->timing.suspend_ns && dice_draw(d, 2);
		c->timing.plane_reads = c->geo.planes_per_die > 1 && dice_draw(d, 2);
	}
	if (what & 64)
		c->geo.paired_loss = !c->geo.paired_loss;
	if (what & 128) {
		c->geo.pb_levels = dice_draw(d, 4);
		c->geo.erase_group_max = 1 + dice_draw(d, NAND_ERASE_GROUP_MAX);
	}
}

bool storm_from_bytes(struct storm *s, struct dice *dice)
{
	struct nand_array_config c;
	const char *why;

	storm_config(dice_draw(dice, storm_configs()), &c);
	storm_vary(dice, &c);
	if (!nand_array_packs(&c))
		c.packed_addresses = 0;
	if (nand_array_validate(&c, &why))
		return false;
	storm_make(s, &c, dice);
	return true;
}
