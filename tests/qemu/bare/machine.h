/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.h - what a program for the bare machine needs: ports, time, words on the debug
 * console, and the entry by PVH, which calls bare_main(). Each program is one source file.
 */
#ifndef BARE_MACHINE_H
#define BARE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct start_info { uint32_t magic, version, flags, modules; uint64_t module_list, command_line; };

void bare_main(const struct start_info *info) __attribute__((noreturn));

static inline void out8(uint16_t port, uint8_t v) { __asm__ volatile("outb %0, %1" : : "a"(v), "Nd"(port)); }
static inline void out32(uint16_t port, uint32_t v) { __asm__ volatile("outl %0, %1" : : "a"(v), "Nd"(port)); }

static inline uint32_t in32(uint16_t port)
{
	uint32_t v;

	__asm__ volatile("inl %1, %0" : "=a"(v) : "Nd"(port));
	return v;
}

/* The low half of the counter is enough, because differences are shorter than four seconds. */
static inline uint32_t now_ns(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high));
	return low;
}

static inline void print(const char *s)
{
	while (*s)
		out8(0xe9, (uint8_t)*s++);
}

static inline void print_number(const char *name, uint32_t v)
{
	char text[12];
	int at = sizeof(text) - 1;

	text[at] = 0;
	do
		text[--at] = (char)('0' + v % 10);
	while (v /= 10);
	print(name);
	print(" ");
	print(text + at);
	print("\n");
}

static _Noreturn void stop(const char *why)
{
	print(why);
	print("\n");
	out8(0xf4, 0);	/* QEMU's exit status becomes 1 */
	for (;;)
		__asm__ volatile("hlt");
}

static inline void check(bool ok, const char *what)
{
	if (!ok) {
		print("FAILED ");
		stop(what);
	}
}

static inline bool is(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

__asm__(".section .note.pvh, \"a\", @note\n"
	".long 4, 4, 18\n"			/* XEN_ELFNOTE_PHYS32_ENTRY */
	".asciz \"Xen\"\n"
	".long bare_start\n"
	".text\n"
	".globl bare_start\n"
	"bare_start:\n"
	"	cld\n"
	"	movl $bare_stack_top, %esp\n"
	"	pushl %ebx\n"
	"	call bare_main\n"
	".bss\n"
	".balign 16\n"
	"	.skip 16384\n"
	"bare_stack_top:\n"
	".text\n");

#endif
