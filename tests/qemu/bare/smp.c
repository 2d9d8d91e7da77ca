/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * smp.c - a program for the bare machine with two processors: what one sees of the other, and
 * when interrupts come.
 *
 * Its command line names the scene. Processor 0 plays it with processor 1, which it starts by INIT
 * and SIPI. Differences of time are printed as signed numbers of ns, one a line. A comment at each
 * measurement counts the instructions from one RDTSC (left out) to the next (counted); the test
 * computes the expected time from it.
 */
#include "machine.h"

#define ROUNDS 400u
#define TRAMPOLINE 0x8000u
#define VECTOR 0x40u
#define WAIT_NS 20000u

enum { LAPIC = 0xfee00000, LAPIC_EOI = 0xb0, LAPIC_SPURIOUS = 0xf0, LAPIC_ICR = 0x300, LAPIC_ICR_TO = 0x310,
       LAPIC_TIMER = 0x320, LAPIC_COUNT = 0x380, LAPIC_DIVIDE = 0x3e0 };

struct gate { uint16_t low, selector; uint8_t zero, type; uint16_t high; } __attribute__((packed));

static struct gate idt[256];
volatile uint32_t handled_ns;			/* written by the handler */
static volatile uint32_t word;			/* one processor writes it, the other reads it */
static volatile uint32_t started_ns;		/* time at which processor 1 began to execute C */
static volatile bool up, ready, go;
static void (*volatile task)(void);
static int32_t found[ROUNDS];

static volatile uint32_t *lapic(uint32_t reg) { return (volatile uint32_t *)(LAPIC + reg); }
static void compiler_barrier(void) { __asm__ volatile("" : : : "memory"); }

static void wait_ns(uint32_t ns)
{
	uint32_t begin = now_ns();

	while (now_ns() - begin < ns)
		;
}

static void print_signed(int32_t v)
{
	print_number(v < 0 ? "less" : "more", v < 0 ? (uint32_t)-v : (uint32_t)v);
}

static void print_found(void)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		print_signed(found[i]);
}

/* Three instructions from the interrupt read its time: PUSH, PUSH, RDTSC. */
__asm__(".text\n"
	"bare_handler:\n"
	"	pushl %eax\n"
	"	pushl %edx\n"
	"	rdtsc\n"
	"	movl %eax, handled_ns\n"
	"	movl $0, 0xfee000b0\n"		/* EOI */
	"	popl %edx\n"
	"	popl %eax\n"
	"	iretl\n");
extern char bare_handler[];

static void init_processor(void)
{
	struct { uint16_t limit; uint32_t base; } __attribute__((packed)) at = { sizeof(idt) - 1, (uint32_t)idt };

	__asm__ volatile("lidt %0" : : "m"(at));
	*lapic(LAPIC_SPURIOUS) = 0x1ff;		/* on */
	*lapic(LAPIC_DIVIDE) = 0xb;		/* by 1 */
	*lapic(LAPIC_TIMER) = VECTOR;		/* once */
}

/* ---- processor 1 ---- */

__attribute__((used)) _Noreturn void second_main(void)
{
	started_ns = now_ns();
	init_processor();
	up = true;
	for (;;) {
		while (!task)
			;
		task();
		task = NULL;
	}
}

__asm__(".text\n"
	".code16\n"
	"trampoline:\n"
	"	cli\n"
	"	xorw %ax, %ax\n"
	"	movw %ax, %ds\n"
	"	lgdtl 0x8000 + (trampoline_gdt_at - trampoline)\n"
	"	movl %cr0, %eax\n"
	"	orl $1, %eax\n"
	"	movl %eax, %cr0\n"
	"	ljmpl $8, $trampoline_32\n"
	"trampoline_gdt_at:\n"
	"	.word 23\n"
	"	.long bare_gdt\n"
	"trampoline_end:\n"
	".code32\n"
	"trampoline_32:\n"
	"	movw $16, %ax\n"
	"	movw %ax, %ds\n"
	"	movw %ax, %es\n"
	"	movw %ax, %ss\n"
	"	movl $second_stack_top, %esp\n"
	"	cld\n"
	"	call second_main\n"
	".balign 8\n"
	"bare_gdt:\n"
	"	.quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff\n"
	"bare_gdt_at:\n"
	"	.word 23\n"
	"	.long bare_gdt\n"
	".bss\n"
	".balign 16\n"
	"	.skip 4096\n"
	"second_stack_top:\n"
	".text\n");
extern char trampoline[], trampoline_end[];

/* Returns the time when it sent the SIPI. */
static uint32_t init_second(void)
{
	uint32_t sent_ns;

	task = NULL;
	up = false;
	*lapic(LAPIC_ICR_TO) = 1u << 24;
	*lapic(LAPIC_ICR) = 0x4500;		/* INIT */
	wait_ns(10000);
	sent_ns = now_ns();
	*lapic(LAPIC_ICR) = 0x4600 | TRAMPOLINE >> 12;
	while (!up)
		;
	return sent_ns;
}

static void start_second(void)
{
	volatile char *to = (volatile char *)TRAMPOLINE;

	for (uint32_t i = 0; i < (uint32_t)(trampoline_end - trampoline); i++)
		to[i] = trampoline[i];
	init_second();
}

static void give(void (*what)(void))
{
	ready = go = false;
	task = what;
	while (!ready)
		;
}

static void finish(void)
{
	go = true;
	while (task)
		;
}

/* Sleep until an interrupt, repeatedly. */
static void sleeper(void)
{
	ready = true;
	while (!go)
		__asm__ volatile("sti; hlt; cli");
}

/* Stays busy with interrupts enabled until the scene ends. */
static void spinner(void)
{
	__asm__ volatile("sti");
	ready = true;
	while (!go)
		compiler_barrier();
	__asm__ volatile("cli");
}

/* ---- processor 0: scenes ---- */

/* Four instructions lie between: MOV to the ICR, then PUSH, PUSH, RDTSC on the other processor. */
static uint32_t send_interrupt(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc; movl %2, (%3)" : "=&a"(low), "=&d"(high)
			 : "r"(0x4000 | VECTOR), "r"(lapic(LAPIC_ICR)) : "memory");
	return low;
}

static void interrupts(void (*who)(void))
{
	give(who);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t sent_ns;

		wait_ns(WAIT_NS + i * 7);
		sent_ns = send_interrupt();
		wait_ns(WAIT_NS);
		found[i] = (int32_t)(handled_ns - sent_ns);
	}
	go = true;
	send_interrupt();			/* wakes the sleeper for the last time */
	finish();
	print_found();
}

static void scene_idle(void) { interrupts(sleeper); }
static void scene_busy(void) { interrupts(spinner); }

/* Set the own timer: MOV to its count, then after so many ns PUSH, PUSH, RDTSC are 4 instructions, with the time. */
static void timers(void)
{
	__asm__ volatile("sti");
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t low, high, ns = 3000 + i * 11;

		__asm__ volatile("rdtsc; movl %2, (%3)" : "=&a"(low), "=&d"(high)
				 : "r"(ns), "r"(lapic(LAPIC_COUNT)) : "memory");
		wait_ns(WAIT_NS);
		found[i] = (int32_t)(handled_ns - low - ns);
	}
	__asm__ volatile("cli");
}

static void timer_task(void)
{
	ready = true;
	timers();
	go = true;
}

/* Do the same while the other processor is busy. */
static void scene_timer(void)
{
	give(timer_task);
	while (!go)
		compiler_barrier();
	finish();
	print_found();
}

/* Takes the time of each new word: MOV, CMP, JE, RDTSC and less than one more round of three. */
static void watcher(void)
{
	uint32_t last = word;

	ready = true;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t low, high, value;

		__asm__ volatile("1: movl %4, %2; cmpl %3, %2; je 1b; rdtsc" : "=&a"(low), "=&d"(high), "=&r"(value)
				 : "r"(last), "m"(word) : "memory");
		found[i] = (int32_t)(low - value);
		last = value;
	}
}

static void scene_store(void)
{
	give(watcher);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t low, high;

		wait_ns(WAIT_NS + i * 7);
		__asm__ volatile("rdtsc; movl %%eax, %2" : "=&a"(low), "=&d"(high), "=m"(word) : : "memory");
	}
	finish();
	print_found();
}

/*
 * INIT for a busy processor, and its start: 20 instructions from the RDTSC before the SIPI (left
 * out) to that of second_main() (counted): MOV, MOV to the ICR; 8 of trampoline; 7 of trampoline_32;
 * SUB, LFENCE, RDTSC.
 */
static void scene_init(void)
{
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t sent_ns;

		give(spinner);
		wait_ns(WAIT_NS + i * 7);
		sent_ns = init_second();
		found[i] = (int32_t)(started_ns - sent_ns);
	}
	print_found();
}

/*
 * Processor 0 sets a timer of the HPET, which interrupts processor 1, busy. The HPET
 * counts 10 ns at a time. Prints how late the interrupt comes after the comparator's time, beside
 * that of the first round, which is set far ahead; ahead_ns goes up with the rounds.
 */
static void scene_hpet(void)
{
	enum { CONFIG = 0x10, COUNTER = 0xf0, TIMER = 0x100, COMPARATOR = 0x108, ENABLE = 1, INTERRUPT = 4,
	       ROUTE = 9, LINE = 20, PERIOD_NS = 10, STEP_NS = 10 };
	volatile uint32_t *hpet = (volatile uint32_t *)0xfed00000, *ioapic = (volatile uint32_t *)0xfec00000;
	int32_t first = 0;

	ioapic[0] = 0x11 + 2 * LINE;
	ioapic[4] = 1u << 24;			/* to processor 1 */
	ioapic[0] = 0x10 + 2 * LINE;
	ioapic[4] = VECTOR;
	hpet[CONFIG / 4] = ENABLE;
	give(spinner);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t ahead_ns = i ? 100 + i * STEP_NS : WAIT_NS, at;

		wait_ns(WAIT_NS + i * 37);	/* at another point of the processors' turns each time */
		hpet[TIMER / 4] = LINE << ROUTE | INTERRUPT | 1u << 8;	/* 32 bits */
		at = hpet[COUNTER / 4] + ahead_ns / PERIOD_NS;
		hpet[COMPARATOR / 4] = at;
		wait_ns(2 * WAIT_NS);
		found[i] = (int32_t)(handled_ns - at * PERIOD_NS);
		if (!i)
			first = found[0];
		found[i] -= first;
	}
	finish();
	print_found();
}

/* Wake by a timer every 10 ms and print a line, for ever. */
static void scene_ticks(void)
{
	for (;;) {
		*lapic(LAPIC_COUNT) = 10000000;
		__asm__ volatile("sti; hlt; cli");
		print("tick\n");
	}
}

/* Wake every 100 ns, for ever. */
static void scene_wakes(void)
{
	print("ready\n");
	for (;;) {
		*lapic(LAPIC_COUNT) = 100;
		__asm__ volatile("sti; hlt; cli");
	}
}

/* RDTSC, RDTSC count 1 instruction. RDTSC, PAUSE, RDTSC count a pause and 1 instruction. */
static void scene_clock(void)
{
	uint32_t first, second, third, high;

	__asm__ volatile("rdtsc; movl %%eax, %0; rdtsc; movl %%eax, %1; pause; rdtsc"
			 : "=&r"(first), "=&r"(second), "=&a"(third), "=&d"(high));
	print_signed((int32_t)(second - first));	/* MOV, RDTSC */
	print_signed((int32_t)(third - second));	/* MOV, PAUSE, RDTSC */
}

enum { LAPIC_LINT1 = 0x360, NMI = 0x400, LATE_NS = 1900000000 };

static volatile uint32_t second_woke_ns;

static void napper(void)
{
	*lapic(LAPIC_LINT1) = NMI;
	ready = true;
	__asm__ volatile("hlt");
	second_woke_ns = now_ns();
}

/*
 * Processor 1 sleeps. Processor 0 works for 0.9 s from a whole second on, for which the host needs less time, and then
 * sleeps as well. An NMI from outside wakes both. Prints by how much processor 1 is ahead.
 */
static void scene_nmi(void)
{
	uint32_t woke_ns;

	*lapic(LAPIC_LINT1) = NMI;
	give(napper);
	while (now_ns() < LATE_NS)
		;
	print("asleep\n");
	__asm__ volatile("hlt");
	woke_ns = now_ns();
	finish();
	print_signed((int32_t)(second_woke_ns - woke_ns));
}

/*
 * As scene_store, but halfway processor 0 names the moment up to which all runs are equal. Prints
 * the file's size before and after it, its first three words, and a random number after it.
 */
static void scene_handoff(void)
{
	enum { NEXT = 0x5e0, SIZE = 0x5e4 };
	uint32_t before = 0, random = 0;

	give(watcher);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t low, high;

		wait_ns(WAIT_NS + i * 7);
		if (i == ROUNDS / 2) {
			before = in32(SIZE);
			out32(SIZE, 1);
			__asm__ volatile("rdrand %0" : "=r"(random));
		}
		__asm__ volatile("rdtsc; movl %%eax, %2" : "=&a"(low), "=&d"(high), "=m"(word) : : "memory");
	}
	finish();
	print_number("before", before);
	print_number("bytes", in32(SIZE));
	for (int i = 0; i < 3; i++)
		print_number("word", in32(NEXT));
	print_number("random", random);
	print_found();
}

static volatile int32_t wrong;

/* Read a register of constant value, which lies behind the BARs, again and again. */
static void reader(void)
{
	volatile uint32_t *hpet = (volatile uint32_t *)0xfed00000;
	uint32_t capabilities = *hpet;

	ready = true;
	while (!go)
		wrong += *hpet != capabilities;
}

/*
 * Processor 0 maps and unmaps the BARs of all NVMe controllers while processor 1 reads a
 * register. Prints how many controllers there are, and how often the read returned another value.
 */
static void scene_maps(void)
{
	uint32_t slots[8], n = 0;

	for (uint32_t slot = 0; slot < 32 && n < 8; slot++) {
		out32(0xcf8, 0x80000000u | slot << 11 | 8);
		if (in32(0xcfc) >> 8 == 0x010802)
			slots[n++] = slot;
	}
	give(reader);
	for (uint32_t i = 0; i < 4000; i++) {
		for (uint32_t at = 0; at < n; at++) {
			out32(0xcf8, 0x80000000u | slots[at] << 11 | 4);
			out32(0xcfc, i & 1 ? 2 : 0);	/* memory space */
		}
	}
	finish();
	print_signed((int32_t)n);
	print_signed(wrong);
}

/* Sleep for a third of a second. */
static void scene_sleep(void)
{
	*lapic(LAPIC_COUNT) = 333000000;
	__asm__ volatile("sti; hlt; cli");
}

/*
 * Asleep until a key comes: COM1's FIFO is not full to its trigger, so the interrupt comes by a
 * timer of virtual time, through the I/O APIC alone.
 */
static void scene_key(void)
{
	enum { COM1 = 0x3f8, LAPIC_LINT0 = 0x350, MASKED = 1 << 16, IRQ = 4 };
	volatile uint32_t *ioapic = (volatile uint32_t *)0xfec00000;

	out8(0x21, 0xff);
	out8(0xa1, 0xff);
	*lapic(LAPIC_LINT0) = MASKED;
	ioapic[0] = 0x11 + 2 * IRQ;
	ioapic[4] = 0;
	ioapic[0] = 0x10 + 2 * IRQ;
	ioapic[4] = VECTOR;
	out8(COM1 + 2, 0xc7);			/* FIFO on, trigger 14 */
	out8(COM1 + 4, 8);			/* OUT2 enables interrupts */
	out8(COM1 + 1, 1);			/* interrupt for received bytes */
	handled_ns = 0;
	print("ready\n");
	while (!handled_ns)
		__asm__ volatile("sti; hlt; cli" : : : "memory");
}

/* ---- page tables: processor 0 writes them, processor 1 has them loaded ---- */

enum { PAGE_AT = 0x40000000, FIRST_FRAME = 0x2000000, SECOND_FRAME = 0x2400000, GLOBAL_LARGE = 0x1e3 };

static volatile uint32_t directory[1024] __attribute__((aligned(4096)));
static volatile enum { NOTHING, CALL, WRITE_CR3, FLUSH_PAGE } order;
static volatile uint32_t returned;

static void put_function(uint32_t at, uint32_t value)	/* mov $value, %eax; ret */
{
	volatile uint8_t *code = (volatile uint8_t *)at;

	code[0] = 0xb8;
	*(volatile uint32_t *)(code + 1) = value;
	code[5] = 0xc3;
}

static void write_cr3(void) { __asm__ volatile("mov %0, %%cr3" : : "r"(directory) : "memory"); }

/* Processor 1 has paging, with pages of 4 MiB that are all global, and executes the orders of processor 0. */
static void pager(void)
{
	uint32_t (*volatile function)(void) = (uint32_t(*)(void))PAGE_AT;

	write_cr3();
	__asm__ volatile("mov %%cr4, %%eax; or $0x90, %%eax; mov %%eax, %%cr4;"
			 "mov %%cr0, %%eax; or $0x80000000, %%eax; mov %%eax, %%cr0" : : : "eax", "memory");
	ready = true;
	while (!go) {
		if (order == NOTHING)
			continue;
		if (order == CALL)
			returned = function();
		else if (order == WRITE_CR3)
			write_cr3();
		else if (order == FLUSH_PAGE)
			__asm__ volatile("invlpg (%0)" : : "r"(PAGE_AT) : "memory");
		order = NOTHING;
	}
}

static void give_order(uint32_t what)
{
	order = what;
	while (order != NOTHING)
		;
}

static void print_returned(void)
{
	give_order(CALL);
	print_signed((int32_t)returned);
}

/* Processor 0 changes code or a page table; then it prints which code processor 1 executes. */
static void scene_pages(void)
{
	for (uint32_t i = 0; i < 1024; i++)
		directory[i] = i << 22 | GLOBAL_LARGE;
	directory[PAGE_AT >> 22] = FIRST_FRAME | GLOBAL_LARGE;
	put_function(FIRST_FRAME, 1);
	put_function(SECOND_FRAME, 2);
	give(pager);
	print_returned();
	put_function(FIRST_FRAME, 3);
	print_returned();
	give_order(WRITE_CR3);
	put_function(FIRST_FRAME, 4);
	print_returned();
	directory[PAGE_AT >> 22] = SECOND_FRAME | GLOBAL_LARGE;
	give_order(WRITE_CR3);
	print_returned();			/* the page is global, so the old one */
	give_order(FLUSH_PAGE);
	print_returned();
	put_function(FIRST_FRAME, 5);
	print_returned();
	put_function(SECOND_FRAME, 6);
	print_returned();
	finish();
}

__attribute__((used)) _Noreturn void bare_main(const struct start_info *info)
{
	const char *scene = (const char *)(uint32_t)info->command_line;
	static const struct { const char *name; void (*play)(void); bool two; } scenes[] = {
		{ "idle", scene_idle, true }, { "busy", scene_busy, true }, { "timer", scene_timer, true },
		{ "store", scene_store, true }, { "init", scene_init, true }, { "hpet", scene_hpet, true },
		{ "nmi", scene_nmi, true }, { "maps", scene_maps, true }, { "clock", scene_clock, false },
		{ "sleep", scene_sleep, false }, { "key", scene_key, false }, { "ticks", scene_ticks, false },
		{ "wakes", scene_wakes, false }, { "pages", scene_pages, true },
		{ "handoff", scene_handoff, true },
	};
	__asm__ volatile("lgdt bare_gdt_at; ljmpl $8, $1f; 1: movl $16, %%eax; movw %%ax, %%ds; movw %%ax, %%es; "
			 "movw %%ax, %%ss" : : : "eax", "memory");
	for (uint32_t i = 0; i < 256; i++)
		idt[i] = (struct gate){ (uint16_t)(uint32_t)bare_handler, 8, 0, 0x8e,
					(uint16_t)((uint32_t)bare_handler >> 16) };
	init_processor();
	for (uint32_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (is(scene, scenes[i].name)) {
			if (scenes[i].two)
				start_second();
			scenes[i].play();
			stop("done");
		}
	}
	stop("FAILED no such scene");
}
