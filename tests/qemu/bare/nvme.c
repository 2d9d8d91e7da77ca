/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme.c - a program for the bare machine: an NVMe driver without interrupts.
 *
 * Started by PVH in 32-bit protected mode, after the firmware has assigned the
 * PCI addresses. Its command line is one word, the scene to play; it reports on
 * the debug console (port E9h) and ends through isa-debug-exit (port F4h).
 * Under icount the time-stamp counter is virtual time in ns.
 *
 * Scenes that go on for ever (spin, halt) are for tests that interfere.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine.h"

#define DEPTH 32u
#define BLOCK 4096u
#define WRITES 8u
#define READS 64u
#define FUA (1u << 30)

enum { REG_CC = 0x14, REG_CSTS = 0x1c, REG_AQA = 0x24, REG_ASQ = 0x28, REG_ACQ = 0x30 };
enum { CC_ENABLE = 1 | 6 << 16 | 4 << 20, CC_SHUTDOWN = 1 << 14 };
enum { OP_WRITE = 1, OP_READ = 2, OP_DELETE_SQ = 0, OP_CREATE_SQ = 1, OP_CREATE_CQ = 5 };

struct command { uint32_t dw[16]; };
struct completion { uint32_t result, reserved; uint16_t head, sqid, cid, status; };

struct queue {
	struct command *sq;
	volatile struct completion *cq;
	uint32_t id, tail, head, phase;
};

static _Alignas(4096) struct command sq_memory[2][4096 / sizeof(struct command)];
static _Alignas(4096) struct completion cq_memory[2][4096 / sizeof(struct completion)];
static _Alignas(4096) uint8_t buffers[DEPTH][BLOCK];
static volatile uint32_t *bar;
static struct queue admin, io;

static uint32_t pci_read(uint32_t slot, uint32_t at)
{
	out32(0xcf8, 0x80000000u | slot << 11 | at);
	return in32(0xcfc);
}

static void pci_write(uint32_t slot, uint32_t at, uint32_t v)
{
	out32(0xcf8, 0x80000000u | slot << 11 | at);
	out32(0xcfc, v);
}

static void find_controller(void)
{
	for (uint32_t slot = 0; slot < 32; slot++) {
		if (pci_read(slot, 8) >> 8 == 0x010802) {
			pci_write(slot, 4, (pci_read(slot, 4) & 0xffff) | 6);
			check(pci_read(slot, 0x14) == 0, "the BAR is above 4 GiB");
			bar = (volatile uint32_t *)(pci_read(slot, 0x10) & ~0xfu);
			return;
		}
	}
	stop("FAILED no controller");
}

static uint32_t get(uint32_t reg) { return bar[reg / 4]; }
static void set(uint32_t reg, uint32_t v) { bar[reg / 4] = v; }

/* ---- queues ---- */

static void queue_init(struct queue *q, uint32_t id)
{
	volatile uint32_t *words = (volatile uint32_t *)cq_memory[id];

	for (uint32_t i = 0; i < 1024; i++)
		words[i] = 0;
	q->sq = sq_memory[id];
	q->cq = cq_memory[id];
	q->id = id;
	q->tail = q->head = 0;
	q->phase = 1;
}

static struct command *queue_next(struct queue *q)
{
	struct command *c = &q->sq[q->tail];

	for (uint32_t i = 0; i < 16; i++)
		c->dw[i] = 0;
	q->tail = (q->tail + 1) % DEPTH;
	return c;
}

static void queue_ring(struct queue *q)
{
	__asm__ volatile("" : : : "memory");
	set(0x1000 + 8 * q->id, q->tail);
}

/* True if a command completed; it must have succeeded. */
static bool queue_poll(struct queue *q)
{
	if ((q->cq[q->head].status & 1u) != q->phase)
		return false;
	check(q->cq[q->head].status >> 1 == 0, "a command's status");
	q->head = (q->head + 1) % DEPTH;
	q->phase ^= q->head == 0;	/* no branch: each command costs the same */
	set(0x1004 + 8 * q->id, q->head);
	return true;
}

static void queue_wait(struct queue *q, uint32_t count)
{
	while (count)
		count -= queue_poll(q);
}

static void admin_command(uint32_t op, void *prp, uint32_t dw10, uint32_t dw11)
{
	struct command *c = queue_next(&admin);

	c->dw[0] = op;
	c->dw[6] = (uint32_t)prp;
	c->dw[10] = dw10;
	c->dw[11] = dw11;
	queue_ring(&admin);
	queue_wait(&admin, 1);
}

static void make_io_queue(void)
{
	queue_init(&io, 1);
	admin_command(OP_CREATE_CQ, cq_memory[1], 1 | (DEPTH - 1) << 16, 1);
	admin_command(OP_CREATE_SQ, sq_memory[1], 1 | (DEPTH - 1) << 16, 1 | 1 << 16);
}

static void disable(void)
{
	set(REG_CC, CC_ENABLE & ~1);
	while (get(REG_CSTS) & 1)
		;
}

static void enable(void)
{
	queue_init(&admin, 0);
	set(REG_AQA, (DEPTH - 1) | (DEPTH - 1) << 16);
	set(REG_ASQ, (uint32_t)sq_memory[0]);
	set(REG_ASQ + 4, 0);
	set(REG_ACQ, (uint32_t)cq_memory[0]);
	set(REG_ACQ + 4, 0);
	set(REG_CC, CC_ENABLE);
	while (!(get(REG_CSTS) & 1))
		;
	make_io_queue();
}

static void put(uint32_t op, uint32_t block, void *buffer, uint32_t flags)
{
	struct command *c = queue_next(&io);

	c->dw[0] = op;
	c->dw[1] = 1;
	c->dw[6] = (uint32_t)buffer;
	c->dw[10] = block * (BLOCK / 512);
	c->dw[12] = (BLOCK / 512 - 1) | flags;
}

/* ---- what the scenes share ---- */

static void put_writes(uint32_t flags)
{
	for (uint32_t i = 0; i < WRITES; i++) {
		for (uint32_t j = 0; j < BLOCK; j++)
			buffers[i][j] = (uint8_t)(i + j + 1);
		put(OP_WRITE, i, buffers[i], flags);
	}
	queue_ring(&io);
}

static void check_write(uint32_t i, bool done)
{
	put(OP_READ, i, buffers[DEPTH - 1], 0);
	queue_ring(&io);
	queue_wait(&io, 1);
	done = done || buffers[DEPTH - 1][0];
	for (uint32_t j = 0; j < BLOCK; j++)
		check(buffers[DEPTH - 1][j] == (done ? (uint8_t)(i + j + 1) : 0), "data");
}

static void check_writes(void)
{
	for (uint32_t i = 0; i < WRITES; i++)
		check_write(i, true);
}

/*
 * In real time the controller may not have fetched a command yet: each write was executed
 * completely or not at all.
 */
static void check_some_writes(void)
{
	for (uint32_t i = 0; i < WRITES; i++)
		check_write(i, false);
}

/* ---- scenes ---- */

static void scene_latency(void)
{
	put_writes(FUA);
	queue_wait(&io, WRITES);
	for (uint32_t i = 0; i < READS; i++) {
		uint32_t began = now_ns();

		put(OP_READ, i % WRITES, buffers[0], 0);
		queue_ring(&io);
		queue_wait(&io, 1);
		print_number("read", now_ns() - began);
	}
}

/* There is always one command in flight; the host's speed changes only the time of the next one. */
static void scene_closed(void)
{
	for (uint32_t i = 0; i < 96; i++) {
		put(i % 3 ? OP_READ : OP_WRITE, i / 3 * 29 % 512, buffers[0], i % 3 ? 0 : FUA);
		queue_ring(&io);
		queue_wait(&io, 1);
	}
}

/* Submit a batch at a time, so that completions come while others are in flight. */
static void scene_batches(void)
{
	for (uint32_t round = 0; round < 20; round++) {
		uint32_t began = now_ns();

		for (uint32_t i = 0; i < DEPTH - 1; i++)
			put(i % 3 ? OP_WRITE : OP_READ, (round * 37 + i * 11) % 512, buffers[i], i % 5 ? 0 : FUA);
		queue_ring(&io);
		for (uint32_t i = 0; i < DEPTH - 1; i++) {
			queue_wait(&io, 1);
			print_number("batch", now_ns() - began);
		}
	}
}

static void reset_in_flight(void)
{
	uint32_t began;

	put_writes(FUA);
	began = now_ns();
	disable();
	print_number("reset", now_ns() - began);
	enable();
}

static void scene_reset(void) { reset_in_flight(); check_writes(); }
static void scene_reset_real(void) { reset_in_flight(); check_some_writes(); }

static void delete_in_flight(void)
{
	uint32_t began;

	put_writes(FUA);
	began = now_ns();
	admin_command(OP_DELETE_SQ, NULL, 1, 0);
	print_number("delete", now_ns() - began);
	admin_command(4, NULL, 1, 0);
	make_io_queue();
}

static void scene_delete(void) { delete_in_flight(); check_writes(); }
static void scene_delete_real(void) { delete_in_flight(); check_some_writes(); }

static void scene_shutdown(void)
{
	uint32_t began;

	put_writes(0);
	queue_wait(&io, WRITES);
	began = now_ns();
	set(REG_CC, CC_ENABLE | CC_SHUTDOWN);
	print_number("shst", get(REG_CSTS) >> 2 & 3);
	while ((get(REG_CSTS) >> 2 & 3) == 1)
		;
	print_number("shst", get(REG_CSTS) >> 2 & 3);
	print_number("shutdown", now_ns() - began);
}

/* Commands are always in flight, and a vCPU never sleeps. */
static _Noreturn void scene_spin(void)
{
	put_writes(FUA);
	print("flying\n");
	for (uint32_t i = 0;; i = (i + 1) % WRITES) {
		queue_wait(&io, 1);
		put(OP_WRITE, i, buffers[i], FUA);
		queue_ring(&io);
	}
}

/* Commands are in flight, and a vCPU sleeps for ever. */
static _Noreturn void scene_halt(void)
{
	put_writes(FUA);
	print("flying\n");
	for (;;)
		__asm__ volatile("cli; hlt");
}

/*
 * A ring that never becomes empty: each command writes its data (the host behaviour set before)
 * over the shadow doorbells. This sets the tail to the executed entry, so the queue is never empty,
 * and frees the completion queue. Time must pass even so.
 */
static void scene_ring(void)
{
	enum { SET_FEATURES = 9, GET_FEATURES = 0xa, DBBUF_CONFIG = 0x7c, HOST_BEHAVIOUR = 0x16 };
	uint32_t *words = (uint32_t *)buffers[0];
	uint8_t *shadow = buffers[2];	/* buffers[1] is the page before */
	uint32_t began;
	struct command *c;

	for (uint32_t i = 0; i < 128; i++)
		words[i] = i / 2 % DEPTH;
	admin_command(SET_FEATURES, words, HOST_BEHAVIOUR, 0);
	c = queue_next(&admin);
	c->dw[0] = DBBUF_CONFIG;
	c->dw[6] = (uint32_t)shadow;
	c->dw[8] = (uint32_t)buffers[3];
	queue_ring(&admin);
	queue_wait(&admin, 1);
	for (uint32_t i = 0; i < DEPTH; i++) {
		uint32_t at = admin.tail;

		c = queue_next(&admin);
		c->dw[0] = GET_FEATURES;
		c->dw[6] = (uint32_t)(shadow - 8 * at);
		c->dw[8] = (uint32_t)shadow;
		c->dw[10] = HOST_BEHAVIOUR;
	}
	began = now_ns();
	__asm__ volatile("" : : : "memory");
	set(0x1000, (admin.tail + DEPTH - 1) % DEPTH);
	while (now_ns() - began < 20000)
		;
	print_number("ring", ((volatile struct completion *)admin.cq)[0].cid);
	disable();
	enable();
	put_writes(0);
	queue_wait(&io, WRITES);
	check_writes();
}

/* CRC-32C of nine digits by operands of 8, 16 and 32 bits; the last digit always by 8. */
static void scene_crc32(void)
{
	static const char text[] = "123456789";
	uint32_t by8 = ~0u, by16 = ~0u, by32 = ~0u;

	for (uint32_t i = 0; i < 9; i++)
		__asm__("crc32b %1, %0" : "+r"(by8) : "m"(text[i]));
	for (uint32_t i = 0; i < 8; i += 2)
		__asm__("crc32w %1, %0" : "+r"(by16) : "m"(*(const uint16_t *)&text[i]));
	for (uint32_t i = 0; i < 8; i += 4)
		__asm__("crc32l %1, %0" : "+r"(by32) : "m"(*(const uint32_t *)&text[i]));
	__asm__("crc32b %1, %0" : "+r"(by16) : "m"(text[8]));
	__asm__("crc32b %1, %0" : "+r"(by32) : "m"(text[8]));
	print_number("crc", ~by8);
	print_number("crc", ~by16);
	print_number("crc", ~by32);
}

static void put_function(uint32_t at, uint32_t value)	/* mov $value, %eax; ret */
{
	volatile uint8_t *code = (volatile uint8_t *)at;

	code[0] = 0xb8;
	*(volatile uint32_t *)(code + 1) = value;
	code[5] = 0xc3;
}

/*
 * A page of 4 MiB has code in its sixth 4 KiB. The page is mapped elsewhere, and flushed by its first address. The
 * code there must be the one that is executed.
 */
static void scene_large_page(void)
{
	enum { PRESENT_RW_LARGE = 0x83, AT = 0x40000000, FIRST = 0x2000000, SECOND = 0x2400000, CODE = 0x5000 };
	static uint32_t directory[1024] __attribute__((aligned(4096)));
	uint32_t (*volatile function)(void) = (uint32_t(*)(void))(AT + CODE);

	put_function(FIRST + CODE, 1);
	put_function(SECOND + CODE, 2);
	for (uint32_t i = 0; i < 1024; i++)
		directory[i] = i << 22 | PRESENT_RW_LARGE;
	directory[AT >> 22] = FIRST | PRESENT_RW_LARGE;
	__asm__ volatile("mov %%cr4, %%eax; or $0x10, %%eax; mov %%eax, %%cr4; mov %0, %%cr3;"
			 "mov %%cr0, %%eax; or $0x80000000, %%eax; mov %%eax, %%cr0"
			 : : "r"(directory) : "eax", "memory");
	print_number("function", function());
	*(volatile uint32_t *)&directory[AT >> 22] = SECOND | PRESENT_RW_LARGE;
	__asm__ volatile("invlpg (%0)" : : "r"(AT) : "memory");
	print_number("function", function());
}

__attribute__((used)) _Noreturn void bare_main(const struct start_info *info)
{
	const char *scene = (const char *)(uint32_t)info->command_line;
	static const struct { const char *name; void (*play)(void); } scenes[] = {
		{ "latency", scene_latency }, { "closed", scene_closed }, { "batches", scene_batches },
		{ "reset", scene_reset }, { "reset-real", scene_reset_real },
		{ "delete", scene_delete }, { "delete-real", scene_delete_real },
		{ "shutdown", scene_shutdown }, { "ring", scene_ring },
		{ "spin", scene_spin }, { "halt", scene_halt }, { "crc32", scene_crc32 },
		{ "large-page", scene_large_page },
	};

	find_controller();
	disable();
	enable();
	for (uint32_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (is(scene, scenes[i].name)) {
			scenes[i].play();
			stop("done");
		}
	}
	stop("FAILED no such scene");
}
