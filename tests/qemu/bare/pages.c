/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages.c - a program for the bare machine: which translations a processor keeps when its page
 * tables change.
 *
 * Its command line names the scene. Paging is 32-bit and maps all memory to its own addresses, but
 * for the addresses that the scenes use: LARGE is a page of 4 MiB, the others are pages of 4 KiB.
 * There are two frames of each size, numbered 1 and 2. Each has a function that returns the frame's
 * number, and the same number as data in the word before the function. A scene writes an entry of
 * the page tables and prints what is found by executing and by reading after that. Nothing is
 * flushed but by the instruction that the scene is about.
 */
#include "machine.h"

enum { PRESENT = 1, RW = 2, DIRTY = 0x60, BIG = 0x80, GLOBAL = 0x100, PSE = 0x10, PGE = 0x80 };
enum { LARGE = 0x40000000, SMALL = 0x44000000, OTHER = 0x44001000, OFFSET = 0x100, LARGE_OFFSET = 0x5000 };

static const uint32_t large_frames[] = { 0, 0x2000000, 0x2400000 };
static const uint32_t small_frames[] = { 0, 0x2800000, 0x2801000 };
static uint32_t directory[2][1024] __attribute__((aligned(4096)));
static uint32_t table[2][1024] __attribute__((aligned(4096)));

static void put_function(uint32_t at, uint32_t value)	/* mov $value, %eax; ret */
{
	volatile uint8_t *code = (volatile uint8_t *)at;

	*(volatile uint32_t *)(at - 4) = value;
	code[0] = 0xb8;
	*(volatile uint32_t *)(code + 1) = value;
	code[5] = 0xc3;
}

static void set(uint32_t *entry, uint32_t value) { *(volatile uint32_t *)entry = value; }
static void large(int space, int frame, uint32_t bits)
{
	set(&directory[space][LARGE >> 22], large_frames[frame] | PRESENT | RW | DIRTY | BIG | bits);
}

static void small(int space, uint32_t address, int frame, uint32_t bits)
{
	set(&table[space][address >> 12 & 1023], small_frames[frame] | PRESENT | RW | DIRTY | bits);
}

static void write_cr3(int space) { __asm__ volatile("mov %0, %%cr3" : : "r"(directory[space]) : "memory"); }
static void flush_page(uint32_t at) { __asm__ volatile("invlpg (%0)" : : "r"(at) : "memory"); }

static void write_cr4(uint32_t value) { __asm__ volatile("mov %0, %%cr4" : : "r"(value) : "memory"); }

static uint32_t read_cr4(void)
{
	uint32_t value;

	__asm__ volatile("mov %%cr4, %0" : "=r"(value));
	return value;
}

/* Memory is mapped with BITS in each address space; paging begins in the first. */
static void begin(uint32_t bits)
{
	for (int frame = 1; frame <= 2; frame++) {
		put_function(large_frames[frame] + LARGE_OFFSET, (uint32_t)frame);
		put_function(small_frames[frame] + OFFSET, (uint32_t)frame);
	}
	for (int space = 0; space < 2; space++) {
		for (uint32_t i = 0; i < 1024; i++)
			directory[space][i] = i << 22 | PRESENT | RW | DIRTY | BIG | bits;
		directory[space][SMALL >> 22] = (uint32_t)table[space] | PRESENT | RW | DIRTY;
	}
	write_cr4(read_cr4() | PSE);
	write_cr3(0);
	__asm__ volatile("mov %%cr0, %%eax; or $0x80000000, %%eax; mov %%eax, %%cr0" : : : "eax", "memory");
}

/*
 * Call the function at an address, and print two digits: its result, and the word in front of it. Frame 1 gives 11 and
 * frame 2 gives 22; other numbers mean that code and data are of different frames.
 */
static void look(const char *name, uint32_t at)
{
	uint32_t (*volatile function)(void) = (uint32_t(*)(void))at;
	uint32_t executed = function();

	print_number(name, 10 * executed + *(volatile uint32_t *)(at - 4));
}

static void look_at_both(void)
{
	look("large", LARGE + LARGE_OFFSET);
	look("small", SMALL + OFFSET);
}

static void map_both(int frame, uint32_t bits)
{
	large(0, frame, bits);
	small(0, SMALL, frame, bits);
}

/* Global pages outlive a write to CR3, but neither INVLPG nor a change of CR4.PGE. */
static void scene_kept(void)
{
	begin(GLOBAL);
	write_cr4(read_cr4() | PGE);
	map_both(1, GLOBAL);
	look_at_both();
	map_both(2, GLOBAL);
	write_cr3(0);
	look_at_both();			/* as before */
	flush_page(LARGE);
	flush_page(SMALL);
	look_at_both();
	map_both(1, GLOBAL);
	write_cr4(read_cr4() & ~(uint32_t)PGE);
	write_cr4(read_cr4() | PGE);
	look_at_both();
}

/* Test that a write to CR3 drops the translations of pages that are not global or, if CR4.PGE is off, of all pages. */
static void flushed(uint32_t bits)
{
	for (int round = 0; round < 3; round++) {
		map_both(1, bits);
		write_cr3(0);
		look_at_both();
		map_both(2, bits);
		write_cr3(0);
		look_at_both();
	}
}

static void scene_local(void)
{
	begin(GLOBAL);
	write_cr4(read_cr4() | PGE);
	flushed(0);
}

static void scene_disabled(void)
{
	begin(GLOBAL);
	flushed(GLOBAL);
}

/* Two address spaces share a global page and differ in a page beside it. */
static void scene_spaces(void)
{
	begin(GLOBAL);
	write_cr4(read_cr4() | PGE);
	for (int space = 0; space < 2; space++) {
		large(space, 1, GLOBAL);
		small(space, SMALL, 1, GLOBAL);
		small(space, OTHER, 1 + space, 0);
	}
	for (int i = 0; i < 4; i++) {
		write_cr3(i & 1);
		look_at_both();
		look("other", OTHER + OFFSET);
	}
}

/* A page becomes global when it is loaded next after the change, and ceases to be global after INVLPG. */
static void scene_changed(void)
{
	begin(GLOBAL);
	write_cr4(read_cr4() | PGE);
	map_both(1, 0);
	look_at_both();
	map_both(1, GLOBAL);
	write_cr3(0);
	look_at_both();
	map_both(2, 0);
	flush_page(LARGE);
	flush_page(SMALL);
	look_at_both();
	map_both(1, 0);
	write_cr3(0);
	look_at_both();
}

/* Code in a global page is written by another address, before and after a write to CR3. */
static void scene_written(void)
{
	begin(GLOBAL);
	write_cr4(read_cr4() | PGE);
	map_both(1, GLOBAL);
	look_at_both();
	for (uint32_t value = 3; value < 6; value++) {
		if (value == 4)
			write_cr3(0);
		put_function(large_frames[1] + LARGE_OFFSET, value);
		put_function(small_frames[1] + OFFSET, value);
		if (value == 5)
			write_cr3(0);
		look_at_both();
	}
}

/*
 * An instruction begins in a page that stays and ends in the next page, which is exchanged by a
 * write to CR3: its second half must come from the page that is mapped then.
 */
static void scene_across(void)
{
	const uint32_t first = 0x2802000, at = SMALL + 0xffe;
	uint32_t (*volatile function)(void) = (uint32_t(*)(void))at;
	volatile uint8_t *code = (volatile uint8_t *)(first + 0xffe);

	begin(GLOBAL);
	write_cr4(read_cr4() | PGE);
	code[0] = 0xb8;			/* mov $value, %eax */
	code[1] = 7;
	for (int frame = 1; frame <= 2; frame++) {
		volatile uint8_t *rest = (volatile uint8_t *)small_frames[frame];

		rest[0] = (uint8_t)frame;
		rest[1] = rest[2] = 0;
		rest[3] = 0xc3;
	}
	set(&table[0][SMALL >> 12 & 1023], first | PRESENT | RW | DIRTY | GLOBAL);
	for (int round = 0; round < 4; round++) {
		small(0, OTHER, 1 + (round & 1), 0);
		write_cr3(0);
		print_number("across", function());
	}
}

/* ---- a nested guest ---- */

enum { MSR_EFER = 0xc0000080, MSR_VM_HSAVE_PA = 0xc0010117, SVME = 1 << 12 };
enum { VMRUN_AND_VMMCALL = 3, EXIT_VMMCALL = 0x81, CODE_32 = 0xc9b, DATA_32 = 0xc93 };

struct segment { uint16_t selector, attributes; uint32_t limit; uint64_t base; };

/* The fields of AMD's VMCB that the scene sets or reads (AMD64 manual, volume 2, appendix B). */
static struct {
	uint8_t to_intercepts[0x10];
	uint32_t intercepts;
	uint8_t to_asid[0x58 - 0x14];
	uint32_t asid;
	uint8_t to_exit_code[0x70 - 0x5c];
	uint64_t exit_code;
	uint8_t to_save[0x400 - 0x78];
	struct segment es, cs, ss, ds, fs, gs, gdtr, ldtr, idtr, tr;
	uint8_t to_efer[0x4d0 - 0x4a0];
	uint64_t efer;
	uint8_t to_cr4[0x548 - 0x4d8];
	uint64_t cr4, cr3, cr0, dr7, dr6, rflags, rip;
	uint8_t to_rsp[0x5d8 - 0x580];
	uint64_t rsp;
	uint8_t to_rax[0x5f8 - 0x5e0];
	uint64_t rax;
	uint8_t to_end[0x1000 - 0x600];
} vmcb __attribute__((aligned(4096)));
static uint8_t host_save[4096] __attribute__((aligned(4096)));
static uint8_t nested_stack[4096] __attribute__((aligned(16)));

static void write_msr(uint32_t msr, uint32_t value)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"(value), "d"(0) : "memory");
}

static void nested_main(void)
{
	for (;;) {
		look("nested", LARGE + LARGE_OFFSET);
		__asm__ volatile("vmmcall" : : : "memory");
	}
}

static void run_nested(void)
{
	vmcb.rip = (uint32_t)nested_main;
	vmcb.rsp = (uint32_t)nested_stack + sizeof(nested_stack) - 4;
	__asm__ volatile("push %%ebp; push %%ebx; vmrun; pop %%ebx; pop %%ebp"
			 : : "a"(&vmcb) : "ecx", "edx", "esi", "edi", "memory", "cc");
	check(vmcb.exit_code == EXIT_VMMCALL, "the nested guest ended otherwise");
}

/*
 * A processor with SVM executes a nested guest with its own CR0 and CR4. The same address is another
 * page in the guest than in the host, and global in both; neither may see the other's page.
 */
static void scene_nested(void)
{
	uint32_t cr0;

	begin(GLOBAL);
	write_cr4(read_cr4() | PGE);
	large(0, 1, GLOBAL);
	large(1, 2, GLOBAL);
	write_msr(MSR_EFER, SVME);
	write_msr(MSR_VM_HSAVE_PA, (uint32_t)host_save);
	__asm__ volatile("mov %%cr0, %0" : "=r"(cr0));
	vmcb.intercepts = VMRUN_AND_VMMCALL;
	vmcb.asid = 1;
	vmcb.cs = (struct segment){ 8, CODE_32, 0xffffffff, 0 };
	vmcb.ds = vmcb.es = vmcb.ss = (struct segment){ 16, DATA_32, 0xffffffff, 0 };
	vmcb.efer = SVME;
	vmcb.cr0 = cr0;
	vmcb.cr3 = (uint32_t)directory[1];
	vmcb.cr4 = read_cr4();
	vmcb.rflags = 2;
	vmcb.dr6 = 0xffff0ff0;
	vmcb.dr7 = 0x400;
	for (int i = 0; i < 3; i++) {
		look("host", LARGE + LARGE_OFFSET);
		run_nested();
	}
	look("host", LARGE + LARGE_OFFSET);
}

__attribute__((used)) _Noreturn void bare_main(const struct start_info *info)
{
	const char *scene = (const char *)(uint32_t)info->command_line;
	static const struct { const char *name; void (*play)(void); } scenes[] = {
		{ "kept", scene_kept }, { "local", scene_local }, { "disabled", scene_disabled },
		{ "spaces", scene_spaces }, { "changed", scene_changed }, { "written", scene_written },
		{ "across", scene_across }, { "nested", scene_nested },
	};

	for (uint32_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (is(scene, scenes[i].name)) {
			scenes[i].play();
			stop("done");
		}
	}
	stop("FAILED no such scene");
}
