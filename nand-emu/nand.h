/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand.h - the flash device as an FTL sees it.
 *
 * Addresses are flat: ppn = pbn * pages_per_block + page, and
 *   pbn = ((((channel * chips + chip) * dies + die) * planes) + plane) * blocks + block.
 * Channel, die and plane are derived (nand_geom.h); they are not stored.
 *
 * Time is ns since power-on, passed in by the caller, never read from a clock,
 * and never decreasing between calls. submit() applies the effect at once and
 * says when it will have finished, so that one code path serves QEMU (arm a
 * timer), a trace replayer (jump) and a fuzzer (any times).
 *
 * A die executes one command group at a time (but see suspension and plane reads) and
 * queues nothing: other commands for a busy die are a violation (R8). What waits, waits in the FTL, where
 * priorities are decided. A channel moves one transfer at a time; it is booked
 * first come, first served, and a transfer may use a gap before one that was
 * booked for later.
 *
 *   read      command cycles (bus), cell, transfer out (bus); done when the
 *             transfer ends. The die's page register holds the data until
 *             then, so the die stays busy.
 *   program   command cycles and transfer in (bus), cell; done with the cell.
 *   erase     command cycles (bus), once for each plane named; cell.
 *   copyback  command cycles and, if OOB bytes are changed, their transfer in
 *             (bus); cell read and cell program. The data never leave the chip.
 *   group     of one die, one operation: transfers one after another, in the
 *             order of the commands; cells together, as long as the slowest.
 *
 * In numbers: a transfer of b bytes takes ceil(b * bus_ps_per_byte / 1000) ns,
 * with b = page_bytes + oob_bytes for a whole page; n of w ECC words:
 * n * ecc_word_bytes + oob_bytes * n / w; the spare area alone: oob_bytes
 * (oob_off_bus: 0 for every oob_bytes here). Cell time of a read: read_ns of
 * the page's type (NAND_SUBPAGE_SPREAD and 1 <= n < w: subread_base_ns +
 * subread_ns_per_kib * n * ecc_word_bytes / 1024), and retry_ns for each retry;
 * of a program: program_ns of the type + type * lower_read_ns (one_shot:
 * program_ns[0]); of a copyback: the source's read_ns + the program; of an
 * erase: erase_ns of the PB's level. Energy: read_nj, program_nj, erase_nj
 * likewise (a copyback has both of the first two; a retry is a read), and
 * transferred bytes * bus_pj_per_byte / 1000 for each command.
 *
 * With gc_holds_bus a read, program or copyback group of GC is one booking of the
 * channel: the first gap that is as long as all of the group. In it, command
 * cycles, transfers and cells follow each other as ever, and bus_ns is what it was.
 * Commands that wait for the channel meanwhile wait behind GC;
 * its busy time has the cells, too. Erases leave it after their command cycles.
 *
 * Page types. A word line holds bits_per_cell pages: page p of a block is of
 * type p % bits_per_cell (0: LSB, then CSB, MSB ...) on word line
 * p / bits_per_cell. Types have latencies of their own.
 *
 * SLC mode (slc_program_ns > 0). The first program after an erase decides the mode
 * of a block (nand_cmd.slc), and it stays until the next erase. In SLC mode a cell
 * holds one bit: the block has the pages 0 .. pages_per_block / bits_per_cell - 1,
 * page p is word line p, all of them are of type 0, and no two share cells. A read
 * takes slc_read_ns, a program slc_program_ns, an erase of the block slc_erase_ns
 * (0: as read_ns of type 0 and erase_ns of the block). Energy, errors, and the wear
 * of an erase are those of any block, with the energy of type 0. Reads of pages
 * that the mode does not have find them erased.
 *
 * Partial blocks (PB; Liu et al., FAST 2018, section 4.3). A block splits
 * pb_levels (L) times. PB 1 is the block, PB i has the halves 2i and 2i+1, so
 * level l has the 2^l PBs 2^l .. 2^(l+1)-1 of pages_per_block >> l pages.
 * Erase counts and disturbance are kept per smallest PB (level L).
 *
 * Rules. Breaking one is a bug in the FTL: every command of the call gets
 * NAND_VIOLATION, nothing changes but the time, and the violation hook hears the rule (the
 * first one in this order: R8 without power; R0 of each command; R5, R6 and
 * R11 of the group; R8; then each command's own):
 *   R0  the address exists (in SLC mode: the mode has the page) and the operation is
 *       known (a program in SLC mode: the device has the mode);
 *   R1  a page is programmed once between erases of its cells;
 *   R2  all pages of a block are programmed in the mode of the first, in the order that
 *       the geometry names (in SLC mode, FPS and RPS are C1 alone):
 *         NONE       any;
 *         ASCENDING  each page above all that its smallest PB holds
 *                    (without partial erase: its block);
 *         FPS        with type t of word line k as t(k), and t' = t - 1:
 *                    C1, C2: t(k-1) before t(k);  C3: t'(k+1) before t(k);
 *                    C4: t(k-2) before t'(k)
 *         RPS        C1, C2 and C3 alone
 *                    (t'(k) itself where there is no word line k+1; for two
 *                    bits per cell these are the constraints of the
 *                    large-capacity NAND dissertation, section 3.2.2);
 *   R3  a bad block is neither programmed nor erased;
 *   R4  a partial erase names a PB of 1 .. 2^(L+1)-1;
 *   R5  a parallel erase names distinct blocks, at most erase_group_max of
 *       any plane;
 *   R6  a group names one die, distinct planes, one operation, programs in one mode;
 *   R7  a sub-page read names existing words, and the device has sub-page
 *       reads. All words (a whole page) and NAND_OOB_ONLY are always allowed;
 *   R8  the die is idle (or suspends, or reads other planes; see below) and the array has power;
 *   R9  cells whose erase was cut short or failed are erased before they are
 *       programmed;
 *   R10 a copyback stays in one plane, its source is programmed, and the
 *       device has copyback (its destination obeys R1, R2, R3, R9);
 *   R11 one_shot: programs name whole word lines: of each plane all pages of
 *       one word line, lowest type first, planes one after another.
 *
 * Suspension (suspend_ns > 0). Reads may go to a die whose program, copyback
 * or erase is in its cell phase, at most suspends_max times for one group.
 * The group stops, the reads begin suspend_ns later, and resume_ns after the
 * last of them the rest of its cell phase goes on: its end moves by as much as
 * all that took. Each read says in resumed_done_ns when the group will end now;
 * so does die_ready_ns(). Until the reads have ended, and for a read of what
 * the group works on (an erase's block, a program's word line), R8 holds. The
 * reads' suspend_ns counts as their cell time.
 *
 * Independent plane reads (plane_reads). Reads may go to a die that other reads keep busy, also while
 * these suspend a group, if the last read of each plane that they name has ended and they read nothing that
 * the group works on. Each such call has command cycles and a cell phase of its own. The die is idle when
 * all its reads have ended. If a group is suspended, the call counts as one more of its suspends_max
 * suspensions, waits for what is left of suspend_ns, and, if it ends after the reads before it, moves the
 * group's end by the difference.
 *
 * Consequences that are physics, not rules, each off by default:
 *   disturbance  programming cells next to a boundary that a partial erase
 *                made disturbs the smallest PB beyond it: once for each such
 *                erase, when the first page of the smallest PB at that edge of
 *                the erased PB is programmed. One disturbance more than
 *                disturb_tolerance flips bits of every page programmed there:
 *                they read NAND_UNCORR. An erase of the PB sets its count to 0.
 *   pairing      a torn program of an upper page destroys the lower pages of
 *                its word line (paired_loss).
 *   wear, errors struct nand_physics.
 *
 * A copyback moves errors with the data: raw errors of the source's worst word
 * are added to every word of the destination, and lost data stay lost.
 *
 * Fine print. The first program after a partial erase is the first of any page of
 * that smallest PB; several partial erases before it count once; beyond the
 * tolerance, each further disturbance loses what was programmed since. A failed
 * erase counts in erase_count_sum only; a torn one nowhere. One-shot programs use
 * each page's own program_nj and read no lower pages. lower_reads counts also when they
 * take no time of their own. A group's die time, and what a suspension adds, is the first
 * command's source's; of reads beside others, what they add to the time that the die is
 * busy. In a parallel erase the command cycles are those of the first command of each
 * plane; the others wait for them.
 *
 * Power cut at time T. A command with done_ns <= T is durable. One whose cell
 * phase had not begun by T left no trace. One in between is torn:
 *   program, copyback  the page reads NAND_UNCORR (then pairing strikes) or its
 *            new data;
 *   erase    each page reads its old data, NAND_UNCORR or NAND_ERASED;
 * which of them, the cut's seed decides, and it stays so.
 *
 * Threads: one caller at a time per array. Memory: the caller's, once.
 */
#ifndef SLATE_NAND_H
#define SLATE_NAND_H

#include "err.h"
#include "nand_counters.h"
#include "port.h"

#define NAND_TYPES_MAX 4u		/* pages of a word line, up to QLC */
#define NAND_PB_LEVELS_MAX 8u
#define NAND_PLANES_MAX 8u
#define NAND_ERASE_GROUP_MAX 4u
#define NAND_GROUP_MAX (NAND_PLANES_MAX * NAND_TYPES_MAX)	/* maximum of commands in one call */

/* One-member structs: mixing two kinds of address does not compile. */
typedef struct { uint32_t v; } ppn_t;	/* physical page number */
typedef struct { uint32_t v; } pbn_t;	/* physical block number */

enum nand_order {			/* order in which pages of a block are programmed (R2) */
	NAND_ORDER_ASCENDING, NAND_ORDER_NONE, NAND_ORDER_FPS, NAND_ORDER_RPS,
	NAND_NORDERS
};

enum nand_subpage {			/* what is saved by a read of some ECC words */
	NAND_SUBPAGE_NONE,		/* nothing: the read is refused (R7) */
	NAND_SUBPAGE_DMA,		/* transfer time only; t_R is that of the full page */
	NAND_SUBPAGE_SPREAD,		/* t_R and transfer time */
	NAND_NSUBPAGES
};

struct nand_geometry {
	uint32_t channels;		/* 1 .. 64 */
	uint32_t chips_per_channel;	/* 1 .. 64 */
	uint32_t dies_per_chip;		/* 1 .. 16 */
	uint32_t planes_per_die;	/* 1 .. 8 */
	uint32_t blocks_per_plane;	/* 4 .. 2^20 */
	uint32_t pages_per_block;	/* 2 .. 65536, a multiple of bits_per_cell */
	uint32_t page_bytes;		/* 512 .. 65536, user bytes without OOB */
	uint32_t oob_bytes;		/* spare area per page */
	uint32_t oob_kept;		/* the part of oob_bytes that the FTL uses and the array stores */
	uint32_t ecc_word_bytes;	/* unit of ECC and of a sub-page read; divides page_bytes,
					 * 1 .. 32 words a page */
	uint32_t pb_levels;		/* L, 0 .. 8; 0: no partial erase. 2^L divides
					 * pages_per_block, orders NONE and ASCENDING only */
	uint32_t erase_group_max;	/* 1 .. 4 blocks of one plane in one erase; 1: no
					 * parallel erase */
	uint32_t bits_per_cell;		/* 1 .. 4: SLC, MLC, TLC, QLC */
	enum nand_order order;		/* FPS and RPS need at least two bits per cell */
	enum nand_subpage subpage;
	bool one_shot;			/* word lines are programmed at once (R11); order ASCENDING */
	bool copyback;
	bool paired_loss;
};

struct nand_timing {			/* ns unless named otherwise */
	uint32_t cmd_ns;		/* command and address cycles, on the bus */
	uint32_t read_ns[NAND_TYPES_MAX];	/* t_R by page type */
	uint32_t program_ns[NAND_TYPES_MAX];	/* t_PROG by page type; one_shot: [0], the word line */
	uint32_t erase_ns[NAND_PB_LEVELS_MAX + 1];	/* t_BERS by PB level; [0]: the block */
	uint32_t bus_ps_per_byte;	/* picoseconds per byte */
	bool oob_off_bus;		/* spare bytes take no bus time */
	/* NAND_SUBPAGE_SPREAD: t_R of fewer words than the page has is base + per_kib * KiB */
	uint32_t subread_base_ns;
	uint32_t subread_ns_per_kib;
	uint32_t lower_read_ns;		/* an upper page's program first reads each lower page of its
					 * word line inside the chip; 0: part of program_ns */
	uint32_t suspend_ns;		/* time of a suspension; 0: no suspension */
	uint32_t resume_ns;
	uint32_t suspends_max;		/* maximum of suspensions of one command group */
	bool plane_reads;		/* independent plane reads; needs two planes a die and more */
	uint32_t retry_ns;		/* time of one more read with shifted thresholds */
	uint32_t slc_program_ns;	/* t_PROG in SLC mode; 0: the array has no SLC mode. Needs two bits per cell
					 * and more; excludes one_shot and partial erase */
	uint32_t slc_read_ns;		/* t_R of a block in SLC mode; 0: as read_ns[0] */
	uint32_t slc_erase_ns;		/* t_BERS of a block in SLC mode; 0: as erase_ns[0] */
	bool gc_holds_bus;		/* SSDSim's accounting: a read, program or copyback group whose first
					 * command is GC's holds its channel from its first command cycle to its
					 * end. Excludes suspension */
};

struct nand_energy {			/* nJ per page or block */
	uint32_t read_nj[NAND_TYPES_MAX];
	uint32_t program_nj[NAND_TYPES_MAX];
	uint32_t erase_nj[NAND_PB_LEVELS_MAX + 1];
	uint32_t bus_pj_per_byte;
};

/*
 * Changes of cells over time. All zero: cells do not change.
 *
 * Raw bit errors (Kim, Choi, Min: "Design Tradeoffs for SSD Reliability",
 * FAST 2019): of a page in a smallest PB that saw `cycles` erases, was first
 * programmed since the last of them `hours` ago, and had each page read `reads`
 * times since on average,
 *   RBER = eps + alpha * cycles^k + beta * cycles^m * hours^n + gamma * cycles^p * reads^q.
 * A term with a base of 0 is 0. A coefficient c is given as log2(c) * 65536, an exponent e as e * 65536
 * (rber_on false: no errors). The number of errors of an ECC word is the
 * Poisson quantile, with mean RBER * bits, of a number that the seed, the page,
 * the word and its erase count give: equal for every read of a page, growing
 * with age.
 *
 * Each retry of a read leaves retry_permille of the mean; if a word still has more than ecc_bits
 * after retries_max retries, the read returns NAND_UNCORR. Later reads do so too, until the page is
 * erased.
 *
 * Wear. Smallest PBs endure endurance * (-ln(1 - u))^(1/wear_shape) erases
 * (Weibull), with u from the seed, the PB's block and the kind of failure: an erase beyond the
 * limit for erases fails, and so does a program of cells that were erased more often than the limit
 * for programs.
 */
struct nand_physics {
	uint64_t seed;
	uint32_t disturb_tolerance;	/* 0 .. 254; 255: cells are never disturbed */
	bool rber_on;
	int32_t eps_log2, alpha_log2, beta_log2, gamma_log2;	/* Q16 */
	int32_t k, m, n, p, q;		/* Q16 */
	uint32_t ecc_bits;		/* an ECC word with more raw errors needs a retry */
	uint32_t relocate_bits;		/* a read with more raw errors returns NAND_CORRECTED */
	uint32_t retries_max;		/* each retry leaves retry_permille of the mean */
	uint32_t retry_permille;
	uint32_t endurance;		/* mean number of erases; 0: no wear */
	uint32_t wear_shape;		/* shape s of the distribution, 1 .. 64 */
};

enum nand_status {
	NAND_OK,
	NAND_CORRECTED,			/* data good; relocate them soon */
	NAND_ERASED,			/* read of an unprogrammed page */
	NAND_UNCORR,			/* data lost */
	NAND_PROG_FAIL,			/* the block must be retired */
	NAND_ERASE_FAIL,		/* the block must be retired */
	NAND_VIOLATION,			/* a rule was broken: nothing was done */
};

enum nand_op { NAND_READ, NAND_PROGRAM, NAND_ERASE, NAND_COPYBACK, NAND_NOPS };

/* Who issued the command. */
#define NAND_SOURCE_ENUM(ID, ...) NAND_SRC_##ID,
enum nand_source { NAND_SOURCES(NAND_SOURCE_ENUM) NAND_NSOURCES };

#define NAND_WHOLE_PAGE 0xffffffffu	/* nand_cmd.ecc_words: every word, and the spare area */
#define NAND_OOB_ONLY 0u		/* the spare area alone */
#define NAND_WHOLE_BLOCK 1u		/* nand_cmd.pb: the root of the PB tree */

/* The array counts and attributes by these fields; they never decide what it does. */
struct nand_user {
	uint16_t source;		/* enum nand_source */
	uint16_t owners;		/* HOST: bitmap of the namespaces whose data the command carries, the same for
					 * all commands of a call; 0: none */
};

struct nand_cmd {
	enum nand_op op;
	union {
		struct nand_user user;
		struct { uint16_t source, owners; };
	};
	ppn_t ppn;			/* READ, PROGRAM: page; COPYBACK: target; ERASE: first page of the block */
	ppn_t from;			/* COPYBACK: source */
	uint32_t ecc_words;		/* READ: bitmap of wanted ECC words, which come with the
					 * spare area, or NAND_OOB_ONLY */
	uint32_t pb;			/* ERASE: PB index */
	bool slc;			/* PROGRAM, COPYBACK: programs ppn in SLC mode */
	const void *data;		/* PROGRAM: page_bytes; NULL: the array stores no content or, with payload,
					 * zeroes */
	void *oob;			/* oob_kept bytes, or NULL (PROGRAM: 0xff). COPYBACK: replaces the bytes of
					 * the source; NULL: keeps them */

	enum nand_status status;	/* out: result of the command */
	const void *page;		/* out, READ: page_bytes, including words not requested, valid until the
					 * next command for the die; NULL: not readable, or no payload */
	uint32_t raw_bits;		/* out, READ: raw errors of the worst word read */
	uint32_t retries;		/* out, READ: number of retries */
	uint64_t start_ns;		/* out: time at which the die began (always now_ns) */
	uint64_t done_ns;		/* out: always > now_ns, and less than a day later */
	uint64_t cell_ns;		/* out: these four add up to done_ns - start_ns */
	uint64_t bus_ns;		/* out: own command cycles and transfers */
	uint64_t wait_host_ns;		/* out: waiting for the bus while host I/O held it */
	uint64_t wait_gc_ns;		/* out: waiting for the bus while any other source held it */
	uint64_t wait_others_ns;	/* out, if the array tells owners apart: the part of wait_host_ns behind
					 * transfers with owners, none its own; 0 for a command without owners */
	uint64_t resumed_done_ns;	/* out, READ: new end of the suspended group; 0: no group is suspended */
};

enum nand_rule {
	NAND_R0, NAND_R1, NAND_R2, NAND_R3, NAND_R4, NAND_R5,
	NAND_R6, NAND_R7, NAND_R8, NAND_R9, NAND_R10, NAND_R11, NAND_NRULES
};

#define NAND_STAT(name, ...) uint64_t name;
#define NAND_STAT_BY_SOURCE(name, says) uint64_t name[NAND_NSOURCES];

/*
 * The counters that nand_counters.h declares. All members are uint64_t, because libslate adds two
 * structs as arrays. Erases per page: AEP = page_erases / pages, VEP = page_erases_sq / pages -
 * AEP^2.
 */
struct nand_stats {
	uint64_t ops[NAND_NOPS][NAND_NSOURCES];	/* counts pages; for ERASE blocks, whole or in part */
	uint64_t violations[NAND_NRULES];
	NAND_COUNTERS(NAND_STAT)
	NAND_SOURCE_COUNTERS(NAND_STAT_BY_SOURCE)
	uint64_t energy_nj[NAND_NOPS][NAND_NSOURCES];
};

struct nand;

struct nand_ops {
	/* Commands of one call start together; count 1 .. NAND_GROUP_MAX. */
	void (*submit)(struct nand *n, uint64_t now_ns, struct nand_cmd *cmds, unsigned int count);
	/* Returns when the die's current command ends; a time <= now means idle. */
	uint64_t (*die_ready_ns)(const struct nand *n, uint32_t die);
	/*
	 * The page's die is busy. May a read of the page begin at now_ns all the same, because it suspends the die's
	 * command group or because the die reads other planes (plane_reads)?
	 */
	bool (*may_interpose)(const struct nand *n, uint64_t now_ns, ppn_t p);
	bool (*is_bad)(const struct nand *n, pbn_t b);
	/* Was the block programmed in SLC mode since its last erase, which may be under way? */
	bool (*is_slc)(const struct nand *n, pbn_t b);
	void (*mark_bad)(struct nand *n, pbn_t b);
	/* Returns the erases of the block's most erased smallest PB. */
	uint32_t (*erase_count)(const struct nand *n, pbn_t b);
	void (*get_stats)(const struct nand *n, struct nand_stats *out);
	void (*reset_stats)(struct nand *n);
	/*
	 * Returns the content of a cell without a command and without time. It is for checkers, not
	 * for FTLs. The effects of an erase and of a disturbance appear here, and in the levels of
	 * the statistics, when the die is next used or the power is cut.
	 */
	enum nand_status (*peek)(const struct nand *n, ppn_t p, const void **data, const void **oob);
};

/* Embedded in the implementation's struct; ssd_container_of() leads back. */
struct nand {
	const struct nand_ops *ops;
	struct nand_geometry geo;
};

/*
 * Copy the statistics that describe the array's present state. The others are counters and can be
 * reset.
 */
static inline void nand_copy_levels(struct nand_stats *to, const struct nand_stats *from)
{
#define NAND_COPY_COUNT(name)
#define NAND_COPY_LEVEL(name) to->name = from->name;
#define NAND_COPY(name, kind, says) NAND_COPY_##kind(name)
	NAND_COUNTERS(NAND_COPY)
#undef NAND_COPY
#undef NAND_COPY_LEVEL
#undef NAND_COPY_COUNT
}

/*
 * Fill in a read. The inputs are set one by one, because an initialiser would clear the outputs too, and compilers use
 * an instruction for it (rep stos) that costs as much as half the command.
 */
static inline void nand_fill_read(struct nand_cmd *c, enum nand_source source, uint32_t ppn,
				  uint32_t ecc_words, void *oob)
{
	c->op = NAND_READ;
	c->user = (struct nand_user){ (uint16_t)source, 0 };
	c->ppn.v = ppn;
	c->from.v = 0;
	c->ecc_words = ecc_words;
	c->pb = 0;
	c->data = NULL;
	c->oob = oob;
}

/* Fill in a program without data, for arrays without payload. */
static inline void nand_fill_program(struct nand_cmd *c, enum nand_source source, uint32_t ppn,
				     void *oob)
{
	c->op = NAND_PROGRAM;
	c->user = (struct nand_user){ (uint16_t)source, 0 };
	c->ppn.v = ppn;
	c->from.v = 0;
	c->ecc_words = 0;
	c->pb = 0;
	c->slc = false;
	c->data = NULL;
	c->oob = oob;
}

static inline void nand_submit(struct nand *n, uint64_t now_ns, struct nand_cmd *cmds,
			       unsigned int count)
{
	n->ops->submit(n, now_ns, cmds, count);
}

#endif
