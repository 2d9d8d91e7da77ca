// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_array - how fast the array is: commands a second of CPU time of one
 * thread, each kind alone, every rule checked, OOB moved. Prints "name value
 * unit" lines.
 *
 *   bench_array [COMMANDS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "array.h"
#include "nand_geom.h"

struct bench {
	struct nand_array_config c;
	struct nand *n;
	void *mem, *image;
	uint64_t now_ns;
};

static uint8_t data[16384], oob[16];

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make(struct bench *b, bool payload, uint32_t page_bytes, uint32_t levels)
{
	const char *why;

	memset(b, 0, sizeof(*b));
	b->c = (struct nand_array_config){
		.geo = { .channels = 8, .chips_per_channel = 2, .dies_per_chip = 1,
			 .planes_per_die = 2, .blocks_per_plane = 64, .pages_per_block = 64,
			 .page_bytes = page_bytes, .oob_bytes = 64, .oob_kept = 16,
			 .ecc_word_bytes = 2048, .pb_levels = levels, .erase_group_max = 2,
			 .bits_per_cell = 1, .subpage = NAND_SUBPAGE_SPREAD, .copyback = true },
		.timing = { .cmd_ns = 300, .read_ns = { 75000 }, .program_ns = { 1500000 },
			    .erase_ns = { 3800000, 3700000, 3600000 }, .bus_ps_per_byte = 1250,
			    .subread_base_ns = 25000, .subread_ns_per_kib = 5000 },
		.physics = { .disturb_tolerance = 255 }, .payload = payload };
	if (nand_array_validate(&b->c, &why)) {
		fprintf(stderr, "bench_array: %s\n", why);
		exit(1);
	}
	b->mem = calloc(1, nand_array_footprint(&b->c));
	b->image = calloc(1, nand_array_image_bytes(&b->c));
	b->n = nand_array_init(b->mem, b->image, &b->c);
}

static void unmake(struct bench *b)
{
	free(b->mem);
	free(b->image);
}

#define DIES 16u
#define DIE_PAGES (2u * 64 * 64)

/* Execute one command, while commands of other dies continue. */
static void one(struct bench *b, struct nand_cmd *c, unsigned int count)
{
	uint64_t ready = b->n->ops->die_ready_ns(b->n, c->ppn.v / DIE_PAGES);

	if (ready > b->now_ns)
		b->now_ns = ready;
	nand_submit(b->n, b->now_ns, c, count);
	if (c->status == NAND_VIOLATION) {
		fprintf(stderr, "bench_array: refused\n");
		exit(1);
	}
}

/* Execute c on `count` pages, one die after another, ascending in each block. */
static void sweep(struct bench *b, struct nand_cmd c, uint64_t count)
{
	uint32_t die = 0, k = 0;

	for (uint64_t i = 0; i < count; i++) {
		c.ppn.v = die * DIE_PAGES + k;
		one(b, &c, 1);
		if (++die == DIES) {
			die = 0;
			k = k + 1 < DIE_PAGES ? k + 1 : 0;
		}
	}
}

static void fill(struct bench *b, uint64_t count)
{
	sweep(b, (struct nand_cmd){ .op = NAND_PROGRAM, .oob = oob,
				    .data = b->c.payload ? data : NULL }, count);
}

static void erase_all(struct bench *b, uint32_t pb)
{
	struct nand_cmd c = { .op = NAND_ERASE, .pb = pb };

	for (uint32_t k = 0; k < DIE_PAGES; k += 64)
		for (uint32_t die = 0; die < DIES; die++) {
			c.ppn.v = die * DIE_PAGES + k;
			one(b, &c, 1);
		}
}

static void report(const char *what, uint64_t n, double s)
{
	printf("%s %.2f M commands/s\n", what, (double)n / s / 1e6);
}

static void reads(struct bench *b, const char *what, uint64_t n, uint32_t words)
{
	double s = seconds();
	uint8_t spare[16];

	sweep(b, (struct nand_cmd){ .op = NAND_READ, .ecc_words = words, .oob = spare }, n);
	report(what, n, seconds() - s);
}

static void programs(struct bench *b, const char *what, uint64_t n)
{
	uint64_t pages = geo_pages(&b->c.geo), left;
	double s = 0, s0;

	for (left = n; left; left -= left < pages ? left : pages) {
		erase_all(b, NAND_WHOLE_BLOCK);
		s0 = seconds();
		fill(b, left < pages ? left : pages);
		s += seconds() - s0;
	}
	report(what, n, s);
}

static void erases(struct bench *b, const char *what, uint64_t n, uint32_t pb)
{
	double s = seconds();
	uint64_t done;

	for (done = 0; done < n; done += geo_blocks(&b->c.geo))
		erase_all(b, pb);
	report(what, done, seconds() - s);
}

static void copybacks(struct bench *b, const char *what, uint64_t n)
{
	struct nand_cmd copy = { .op = NAND_COPYBACK };
	uint64_t done = 0;
	double s = 0, s0;

	while (done < n) {
		erase_all(b, NAND_WHOLE_BLOCK);
		for (uint32_t die = 0; die < DIES; die++) {	/* write a block to copy from */
			struct nand_cmd c = { .op = NAND_PROGRAM, .ppn.v = die * DIE_PAGES,
					      .oob = oob };

			one(b, &c, 1);
		}
		s0 = seconds();
		for (uint32_t k = 64; k < 64 * 64; k++)
			for (uint32_t die = 0; die < DIES; die++, done++) {
				copy.from.v = die * DIE_PAGES;
				copy.ppn.v = die * DIE_PAGES + k;
				one(b, &copy, 1);
			}
		s += seconds() - s0;
	}
	report(what, done, s);
}

/*
 * The PEN paper's 1 TB: prints the time to open it blank, and its bytes when every page is written.
 */
static void open_terabyte(void)
{
	struct nand_array_config c = {
		.geo = { .channels = 8, .chips_per_channel = 2, .dies_per_chip = 2, .planes_per_die = 2,
			 .blocks_per_plane = 1888, .pages_per_block = 576, .page_bytes = 16384,
			 .oob_bytes = 1280, .oob_kept = 16, .ecc_word_bytes = 2048, .pb_levels = 6,
			 .erase_group_max = 1, .bits_per_cell = 1, .order = NAND_ORDER_NONE },
		.timing = { .read_ns = { 70000 }, .program_ns = { 900000 },
			    .erase_ns = { 10000000, 9950000, 9790000, 9620000, 9480000, 9370000, 9270000 } },
		.physics = { .disturb_tolerance = 1 } };
	size_t image = nand_array_image_bytes(&c), mem = nand_array_footprint(&c);
	void *i = mmap(NULL, image, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *m = calloc(1, mem);
	double s = seconds();

	nand_array_init(m, i, &c);
	printf("open_1TB %.3f s\nopen_1TB_bytes %.3f GiB\nbytes_per_4k_page %.2f B\n", seconds() - s,
	       (double)(image + mem) / (1 << 30),
	       (double)(image + mem) / ((double)geo_pages(&c.geo) * c.geo.page_bytes / 4096));
	munmap(i, image);
	free(m);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000;
	struct bench b;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	make(&b, false, 4096, 0);
	fill(&b, geo_pages(&b.c.geo));		/* write to all memory once */
	programs(&b, "program", n);
	reads(&b, "read", n, NAND_WHOLE_PAGE);
	reads(&b, "subpage_read", n, 1);
	reads(&b, "oob_read", n, NAND_OOB_ONLY);
	copybacks(&b, "copyback", n);
	erases(&b, "erase", n / 16, NAND_WHOLE_BLOCK);
	unmake(&b);
	make(&b, false, 4096, 2);
	erases(&b, "partial_erase", n / 16, 5);
	unmake(&b);
	make(&b, true, 4096, 0);
	fill(&b, geo_pages(&b.c.geo));
	programs(&b, "program_4k_payload", n / 8);
	reads(&b, "read_4k_payload", n, NAND_WHOLE_PAGE);
	unmake(&b);
	open_terabyte();
	return 0;
}
