// SPDX-License-Identifier: GPL-2.0-or-later
/* duel.c - see duel.h */
#include "duel.h"

#include <inttypes.h>
#include <stdlib.h>

#define STATS (sizeof(struct nand_stats) / sizeof(uint64_t))

/* ---- hooks ---------------------------------------------------------------- */

static void maybe_die(struct duel *d)
{
	if (d->die_in && --d->die_in == 0)
		memcpy(d->died, d->image, nand_array_image_bytes(&d->c));
}

static void on_violation(void *opaque, enum nand_rule rule, const struct nand_cmd *c)
{
	struct duel *d = opaque;

	(void)c;
	d->heard = rule;
	d->violations_heard++;
}

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	struct duel *d = opaque;

	(void)c;
	maybe_die(d);
	return d->fault[d->faults_asked++];
}

static void on_done(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	struct duel *d = opaque;

	(void)c; (void)count;
	d->done_heard++;
	maybe_die(d);
	if (now_ns != d->now_ns)
		naive_differ(&d->model, "the done hook heard of another time");
}

/* The owner may free this memory, so later reads return arbitrary bytes. */
static void on_discard(void *opaque, uint64_t offset, uint64_t bytes)
{
	struct duel *d = opaque;

	if (offset < nand_array_table_bytes(&d->c) ||
	    offset + bytes > nand_array_image_bytes(&d->c) - nand_array_form_bytes(&d->c))
		naive_differ(&d->model, "discard of bytes that are not payload");
	else
		memset((uint8_t *)d->image + offset, 0xdb, bytes);
	d->ending |= d->die_in == 1;
	maybe_die(d);
}

/* Without hooks for its calls the array may use its short path (plain.c). */
static void set_hooks(struct duel *d)
{
	struct nand_hooks h = {
		.opaque = d, .violation = on_violation, .fault = d->quiet ? NULL : on_fault,
		.done = d->quiet ? NULL : on_done, .discard = on_discard,
	};

	nand_array_set_hooks(d->a, &h);
}

/* ---- life ----------------------------------------------------------------- */

void duel_make(struct duel *d, const struct nand_array_config *c)
{
	memset(d, 0, sizeof(*d));
	d->c = *c;
	d->mem = calloc(1, nand_array_footprint(c));
	d->image = calloc(1, nand_array_image_bytes(c));
	d->n = nand_array_init(d->mem, d->image, c);
	d->a = nand_array_of(d->n);
	d->other_mem = calloc(1, nand_array_footprint(c));
	d->other_image = calloc(1, nand_array_image_bytes(c));
	d->other = nand_array_init(d->other_mem, d->other_image, c);
	d->before = malloc(nand_array_image_bytes(c));
	d->died = malloc(nand_array_image_bytes(c));
	naive_make(&d->model, c, d->n);
	d->model.ageless = c->physics.beta_log2 <= -40 * 65536 && c->physics.gamma_log2 <= -40 * 65536;
	set_hooks(d);
}

void duel_free(struct duel *d)
{
	naive_free(&d->model);
	free(d->mem);
	free(d->image);
	free(d->other_mem);
	free(d->other_image);
	free(d->before);
	free(d->died);
}

/* ---- comparisons ---------------------------------------------------------- */

static void differ(struct duel *d, const char *what, uint64_t got, uint64_t want)
{
	if (got != want)
		naive_differ(&d->model, "%s = %" PRIu64 ", expected %" PRIu64, what, got, want);
}

static const char *stat_name(size_t i)
{
	static char text[64];
	long at = (long)(i * sizeof(uint64_t));
#define NAME(field, ...)                                                                   \
	if (at >= (long)offsetof(struct nand_stats, field) &&                              \
	    at < (long)(offsetof(struct nand_stats, field) +                               \
			sizeof(((struct nand_stats *)0)->field))) {                        \
		snprintf(text, sizeof(text), "stats " #field "[%ld]",                      \
			 (at - (long)offsetof(struct nand_stats, field)) / 8);             \
		return text;                                                               \
	}
	NAME(ops) NAME(energy_nj) NAME(violations) NAND_SOURCE_COUNTERS(NAME) NAND_COUNTERS(NAME)
#undef NAME
	return "stats ?";
}

static void take_slack(uint64_t *got, uint64_t want, uint64_t less, uint64_t more)
{
	if (*got <= want + more && *got + less >= want)
		*got = want;
}

static void compare_stats(struct duel *d)
{
	uint64_t got[STATS], want[STATS], programmed, disturbs, lost;
	struct nand_stats st, should;

	d->n->ops->get_stats(d->n, &st);
	naive_stats(&d->model, &should);
	naive_slack(&d->model, &programmed, &disturbs, &lost);
	take_slack(&st.programmed_pages, should.programmed_pages, 0, programmed);
	take_slack(&st.disturbs, should.disturbs, disturbs, 0);
	take_slack(&st.disturb_lost, should.disturb_lost, lost, 0);
	memcpy(got, &st, sizeof(st));
	memcpy(want, &should, sizeof(st));
	for (size_t i = 0; i < STATS; i++)
		if (got[i] != want[i])
			differ(d, stat_name(i), got[i], want[i]);
}

static void compare_dies(struct duel *d)
{
	const struct naive *m = &d->model;

	for (uint32_t i = 0; i < geo_dies(&d->c.geo); i++) {
		uint64_t ready = d->n->ops->die_ready_ns(d->n, i), want = m->die[i].ready_ns;

		if (!m->powered)
			ready = want = 0;	/* nand.h describes calls with commands, and this one has none */
		if (want > d->now_ns ? ready != want : ready > d->now_ns)
			differ(d, "die_ready_ns", ready, want);
		for (int s = 0; s < NAND_NSOURCES; s++)
			differ(d, "busy time of one die", nand_array_die_busy_ns(d->a, i, s),
			       m->die[i].busy_ns[s]);
	}
	for (uint32_t i = 0; i < d->c.geo.channels; i++)
		for (int s = 0; s < NAND_NSOURCES; s++)
			differ(d, "busy time of one channel", nand_array_bus_busy_ns(d->a, i, s),
			       m->channel[i].busy_ns[s]);
}

static void compare_block(struct duel *d, uint32_t block)
{
	pbn_t b = { block };

	differ(d, "erase_count", d->n->ops->erase_count(d->n, b), naive_erase_count(&d->model, block));
	differ(d, "is_bad", d->n->ops->is_bad(d->n, b), d->model.block[block].bad);
	differ(d, "is_slc", d->n->ops->is_slc(d->n, b), d->model.block[block].slc);
	for (uint32_t i = 0; i < d->c.geo.pages_per_block; i++)
		naive_check_page(&d->model, geo_ppn(&d->c.geo, b, i));
}

void duel_check_all(struct duel *d)
{
	for (uint32_t i = 0; i < geo_blocks(&d->c.geo); i++)
		compare_block(d, i);
	compare_dies(d);
	compare_stats(d);
}

static void after_step(struct duel *d)
{
	compare_stats(d);
	if (++d->steps % 16 == 0)
		duel_check_all(d);
}

/* ---- commands ------------------------------------------------------------- */

static const char *const op_name[] = { "READ", "PROGRAM", "ERASE", "COPYBACK" };

static void print_call(const struct duel *d, const struct nand_cmd *c, const struct nand_cmd *got,
		       unsigned int count)
{
	const struct nand_geometry *g = &d->c.geo;

	for (unsigned int i = 0; i < count; i++) {
		printf("%" PRIu64 ": t=%" PRIu64 " %s ppn %u (die %u block %u page %u) src %d", d->steps,
		       d->now_ns, (unsigned int)c[i].op < NAND_NOPS ? op_name[c[i].op] : "?", c[i].ppn.v,
		       geo_die_of(g, geo_block_of(g, c[i].ppn)), c[i].ppn.v / g->pages_per_block,
		       geo_page_of(g, c[i].ppn), c[i].source);
		printf(" words %x pb %u from %u%s%s fault %d -> status %d done %" PRIu64 "\n",
		       c[i].ecc_words, c[i].pb, c[i].from.v, c[i].data ? " data" : "",
		       c[i].oob ? " oob" : "", d->fault[i], got[i].status, got[i].done_ns);
	}
}

static void check_times(struct duel *d, const struct nand_cmd *c, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		differ(d, "start_ns", c[i].start_ns, d->now_ns);
		if (c[i].done_ns <= d->now_ns)
			naive_differ(&d->model, "done_ns is not after now_ns");
		differ(d, "the four parts", c[i].cell_ns + c[i].bus_ns + c[i].wait_host_ns + c[i].wait_gc_ns,
		       c[i].done_ns - c[i].start_ns);
	}
}

static void check_refusal(struct duel *d, uint32_t broken, const struct nand_cmd *got,
			  unsigned int count)
{
	if (d->violations_heard != 1 || !(broken >> d->heard & 1)) {
		naive_differ(&d->model, "refused %u times, for R%d; broken are (bits) %#x",
			     d->violations_heard, (int)d->heard, broken);
		return;
	}
	for (unsigned int i = 0; i < count; i++)
		differ(d, "status of a refused command", got[i].status, NAND_VIOLATION);
	check_times(d, got, count);
	differ(d, "faults asked for a refused call", d->faults_asked, 0);
	d->model.stats.violations[d->heard]++;
	d->refused[d->heard]++;
}

/*
 * "Nothing changes": the first refused call may update the array's time and settle ended commands.
 * The second one must not change any byte of the image.
 */
static void refuse_again(struct duel *d, uint32_t broken, struct nand_cmd *cmds, unsigned int count)
{
	if (duel_parted(d))
		return;
	duel_check_all(d);
	memcpy(d->before, d->image, nand_array_image_bytes(&d->c));
	d->violations_heard = 0;
	nand_submit(d->n, d->now_ns, cmds, count);
	check_refusal(d, broken, cmds, count);
	if (memcmp(d->before, d->image, nand_array_image_bytes(&d->c)))
		naive_differ(&d->model, "a refused call changed the image");
}

static void compare_outputs(struct duel *d, const struct nand_cmd *got, const struct nand_cmd *want)
{
	char text[sizeof(d->model.why)];
	bool agreed = !duel_parted(d);

	differ(d, "status", got->status, want->status);
	differ(d, "done_ns", got->done_ns, want->done_ns);
	differ(d, "cell_ns", got->cell_ns, want->cell_ns);
	differ(d, "bus_ns", got->bus_ns, want->bus_ns);
	differ(d, "wait_host_ns", got->wait_host_ns, want->wait_host_ns);
	differ(d, "wait_gc_ns", got->wait_gc_ns, want->wait_gc_ns);
	if (d->c.owners)
		differ(d, "wait_others_ns", got->wait_others_ns, want->wait_others_ns);
	if (want->op == NAND_READ) {
		differ(d, "raw_bits", got->raw_bits, want->raw_bits);
		differ(d, "retries", got->retries, want->retries);
		differ(d, "resumed_done_ns", got->resumed_done_ns, want->resumed_done_ns);
		if (!got->page != !want->page && want->ecc_words != NAND_OOB_ONLY)
			naive_differ(&d->model, got->page ? "a page to read" : "no page to read");
		if (got->page && want->page && memcmp(got->page, want->page, d->c.geo.page_bytes))
			naive_differ(&d->model, "the page read has other content");
		if (got->oob && (want->status == NAND_OK || want->status == NAND_CORRECTED) &&
		    !d->model.page[want->ppn.v].any_oob &&
		    memcmp(got->oob, want->oob, d->c.geo.oob_kept))
			naive_differ(&d->model, "the OOB read has other bytes");
	}
	if (agreed && duel_parted(d)) {
		memcpy(text, d->model.why, sizeof(text));
		snprintf(d->model.why, sizeof(d->model.why), "%s %u: %.200s",
			 op_name[want->op], want->ppn.v, text);
	}
}

static void check_accepted(struct duel *d, const struct nand_cmd *cmds, const struct nand_cmd *got,
			   unsigned int count)
{
	static uint8_t oob[NAND_GROUP_MAX][DUEL_OOB_MAX];
	struct nand_cmd want[NAND_GROUP_MAX];

	if (d->violations_heard) {
		naive_differ(&d->model, "refused for R%d, but no rule is broken", (int)d->heard);
		return;
	}
	differ(d, "faults asked", d->faults_asked, d->quiet ? 0 : count);
	differ(d, "done hooks", d->done_heard, !d->quiet);
	d->quiet_calls += d->quiet;
	memcpy(want, cmds, count * sizeof(*want));
	for (unsigned int i = 0; i < count; i++)
		if (want[i].op == NAND_READ && want[i].oob)
			want[i].oob = oob[i];
	naive_submit(&d->model, d->now_ns, want, got, d->fault, count);
	check_times(d, got, count);
	for (unsigned int i = 0; i < count; i++) {
		compare_outputs(d, &got[i], &want[i]);
		compare_block(d, want[i].ppn.v / d->c.geo.pages_per_block);
		d->done[want[i].op]++;
	}
	if (count > 1)	/* the effect of a command on a later command's page is visible only now */
		duel_check_all(d);
	compare_dies(d);
}

/* Every second call without a planned fault has no hooks. */
static bool may_be_quiet(const struct duel *d, const enum nand_status *fault, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (fault[i] != NAND_OK)
			return false;
	return !d->die_in && d->steps & 1;
}

void duel_submit(struct duel *d, uint64_t now_ns, const struct nand_cmd *cmds,
		 const enum nand_status *fault, unsigned int count)
{
	static uint8_t oob[NAND_GROUP_MAX][DUEL_OOB_MAX], poison[65536];
	struct nand_cmd got[NAND_GROUP_MAX];
	uint32_t broken = naive_broken(&d->model, now_ns, cmds, count);
	bool dies = d->die_in != 0;

	d->quiet = may_be_quiet(d, fault, count);
	set_hooks(d);
	d->now_ns = now_ns;
	d->fault = fault;
	d->faults_asked = d->violations_heard = d->done_heard = 0;
	d->heard = NAND_NRULES;
	for (unsigned int i = 0; i < count; i++) {
		got[i] = cmds[i];
		got[i].start_ns = got[i].done_ns = got[i].cell_ns = got[i].resumed_done_ns = ~0ull;
		got[i].raw_bits = got[i].retries = ~0u;
		got[i].page = poison;
		if (got[i].op == NAND_READ && got[i].oob)
			got[i].oob = oob[i];
	}
	nand_submit(d->n, now_ns, got, count);
	d->model.last_submit_ns = now_ns;
	if (d->trace)
		print_call(d, cmds, got, count);
	if (dies && !d->die_in)
		return;		/* the answer is lost with the power */
	if (broken) {
		naive_refused(&d->model, now_ns);
		check_refusal(d, broken, got, count);
		refuse_again(d, broken, got, count);
	} else {
		check_accepted(d, cmds, got, count);
	}
	after_step(d);
}

void duel_keep_sums(struct duel *d)
{
	uint64_t sum[STATS], now[STATS];

	memcpy(sum, &d->sums, sizeof(sum));
	memcpy(now, &d->model.stats, sizeof(now));
	for (size_t i = 0; i < STATS; i++)
		sum[i] += now[i];
	memcpy(&d->sums, sum, sizeof(sum));
}

static void reopen(struct duel *d, uint32_t ending)
{
	if (d->trace)
		printf("%" PRIu64 ": opened again, last submit at %" PRIu64 "\n", d->steps,
		       d->model.last_submit_ns);
	duel_keep_sums(d);
	free(d->mem);
	d->mem = calloc(1, nand_array_footprint(&d->c));
	d->n = nand_array_init(d->mem, d->image, &d->c);
	d->a = nand_array_of(d->n);
	set_hooks(d);
	d->model.array = d->n;
	naive_reinit(&d->model, ending);
	d->now_ns = 0;
	d->reinits++;
	duel_check_all(d);
	d->steps++;
}

/*
 * A cell phase does not begin before its call returns, so the call leaves no trace. The image in
 * the middle of the call must show this, or be completed.
 */
void duel_submit_and_die(struct duel *d, uint64_t now_ns, const struct nand_cmd *cmds,
			 const enum nand_status *fault, unsigned int count, uint32_t hook)
{
	d->die_in = hook;
	d->ending = false;
	duel_submit(d, now_ns, cmds, fault, count);
	if (d->die_in) {	/* the call had fewer hooks */
		d->die_in = 0;
		return;
	}
	if (d->trace)
		printf("%" PRIu64 ": died in it\n", d->steps);
	memcpy(d->image, d->died, nand_array_image_bytes(&d->c));
	d->deaths++;
	reopen(d, d->ending ? geo_die_of(&d->c.geo, geo_block_of(&d->c.geo, cmds[0].ppn)) : UINT32_MAX);
	d->ending = false;
}

/* ---- power ---------------------------------------------------------------- */

void duel_cut(struct duel *d, uint64_t at_ns, uint64_t seed)
{
	if (d->trace)
		printf("%" PRIu64 ": power cut at %" PRIu64 "\n", d->steps, at_ns);
	nand_array_power_cut(d->a, at_ns, seed);
	naive_power_cut(&d->model, at_ns);
	d->now_ns = at_ns;
	d->cuts++;
	duel_check_all(d);
	d->steps++;
}

void duel_power_on(struct duel *d)
{
	if (d->trace)
		printf("%" PRIu64 ": power on\n", d->steps);
	nand_array_power_on(d->a);
	naive_power_on(&d->model);
	d->now_ns = 0;
	duel_check_all(d);
	d->steps++;
}

void duel_reinit(struct duel *d)
{
	reopen(d, UINT32_MAX);
}

void duel_copy(struct duel *d)
{
	void *mem = d->mem, *image = d->image;
	struct nand *n = d->n;
	struct nand_hooks none = { 0 };

	if (d->trace)
		printf("%" PRIu64 ": copy\n", d->steps);
	nand_array_copy(nand_array_of(d->other), d->a);
	nand_array_set_hooks(d->a, &none);
	d->n = d->other;
	d->a = nand_array_of(d->n);
	d->mem = d->other_mem;
	d->image = d->other_image;
	d->other = n;
	d->other_mem = mem;
	d->other_image = image;
	d->model.array = d->n;
	set_hooks(d);
	d->copies++;
	duel_check_all(d);
	d->steps++;
}

void duel_mark_bad(struct duel *d, uint32_t block)
{
	if (d->trace)
		printf("%" PRIu64 ": block %u is bad\n", d->steps, block);
	d->n->ops->mark_bad(d->n, (pbn_t){ block });
	d->model.block[block].bad = true;
	after_step(d);
}

void duel_reset_stats(struct duel *d)
{
	uint64_t programmed, disturbs, lost;

	naive_slack(&d->model, &programmed, &disturbs, &lost);
	if (disturbs || lost)
		return;		/* nand.h leaves open whether these are counted already or later */
	if (d->trace)
		printf("%" PRIu64 ": reset of statistics\n", d->steps);
	duel_keep_sums(d);
	d->n->ops->reset_stats(d->n);
	naive_reset_stats(&d->model);
	duel_check_all(d);
	d->steps++;
}

void duel_age(struct duel *d, uint64_t ns)
{
	if (d->trace)
		printf("%" PRIu64 ": %" PRIu64 " ns in a drawer\n", d->steps, ns);
	nand_array_age(d->a, ns);
	after_step(d);
}

void duel_passed(struct duel *d)
{
	if (d->trace)
		printf("%" PRIu64 ": time %" PRIu64 " has come\n", d->steps, d->now_ns);
	nand_array_passed(d->a, d->now_ns);
	d->model.last_submit_ns = d->now_ns;
}
