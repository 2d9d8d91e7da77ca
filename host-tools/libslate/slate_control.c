// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate_control.c - executes orders to a drive, or refuses them with a reason.  A knob is set as if
 * the drive were opened with it: profile_load() checks all settings in force together with the new
 * one and makes the error message. ftl_online_knob() lists the knobs that the FTL can change while
 * it runs.
 */
#include "slate_control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller.h"
#include "nand_geom.h"
#include "profile_keys.h"
#include "slate_dev.h"

uint32_t slate_refuse(struct slate_dev *d, uint32_t opcode, uint32_t command, uint32_t status,
		      const char *why)
{
	d->refusal.opcode = opcode;
	d->refusal.command = command;
	d->refusal.status = status;
	d->refusal.count++;
	snprintf(d->refusal.text, sizeof(d->refusal.text), "%s", why);
	return status;
}

const char *slate_why(const struct slate_dev *d)
{
	return d->refusal.text;
}

static uint32_t refuse(struct slate_dev *d, const struct slate_order *o, uint32_t status, const char *why)
{
	return slate_refuse(d, SLATE_ADM_CONTROL, o->command, status, why);
}

static const char recording[] = "the drive's calls are being recorded, and a recording has no orders: "
				"open the drive without record, or with record-content";

static const char off[] = "the drive has no power: switch it on first";
static const char sanitized[] = "the drive is being sanitized: wait until the Sanitize Status log (81h) says that "
				"it is done";

/*
 * Returns the core's time for now_ns. slate_core_time() has already been called for it and may have
 * moved it to the end of a mount. A second call would execute a cut planned for that end.
 */
static uint64_t core_now(struct slate_dev *d, uint64_t now_ns)
{
	nand_array_passed(nand_array_of(d->nand), now_ns + d->skipped_ns);
	return now_ns + d->skipped_ns;
}

/* ---- GC -------------------------------------------------------------------- */

static uint32_t force_gc(struct slate_dev *d, uint64_t now_ns, const struct slate_order *o,
			 uint32_t *result)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	char why[SLATE_WIRE_TEXT_BYTES];

	if (!d->ftl->ops->collect) {
		snprintf(why, sizeof(why), "ftl.type = %s collects only when it has to: use another one",
			 d->ftl->ops->name);
		return refuse(d, o, SLATE_UNSUPPORTED, why);
	}
	if (o->arg[0] >= g->blocks_per_plane) {
		snprintf(why, sizeof(why), "%u free blocks are asked for, and a plane has %u: ask for fewer, "
			 "or 0 for one victim a plane", o->arg[0], g->blocks_per_plane);
		return refuse(d, o, SLATE_INVALID_FIELD, why);
	}
	if (d->record)
		return refuse(d, o, SLATE_REFUSED, recording);
	*result = d->ftl->ops->collect(d->ftl, core_now(d, now_ns), o->arg[0]);
	return SLATE_DONE;
}

/* ---- faults ------------------------------------------------------------------ */

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	struct slate_dev *d = opaque;

	return fault_plan_ask(&d->faults, &d->profile.array.geo, c);
}

static uint32_t on_flips(void *opaque, ppn_t page)
{
	struct slate_dev *d = opaque;

	return fault_plan_flips(&d->faults, page);
}

void slate_fault_hooks(const struct slate_dev *d, struct nand_hooks *h)
{
	h->fault = d->faults.count ? on_fault : NULL;
	h->flips = d->faults.count ? on_flips : NULL;
}

static void plan_changed(struct slate_dev *d)
{
	struct nand_hooks h = *nand_array_hooks(nand_array_of(d->nand));

	slate_fault_hooks(d, &h);
	nand_array_set_hooks(nand_array_of(d->nand), &h);
}

static uint32_t add_fault(struct slate_dev *d, const struct slate_order *o, uint32_t *result)
{
	struct fault f = { .kind = (enum fault_kind)(o->arg[0] & 0xffffu), .die = o->arg[2] };
	const char *why;

	if (f.kind == FAULT_FLIP) {
		f.ppn.v = o->arg[1];
		f.bits = o->arg[0] >> 16;
		f.left = 1;
	} else {
		f.left = o->arg[1];
	}
	why = fault_refused(&f, &d->profile.array.geo);
	if (why)
		return refuse(d, o, SLATE_INVALID_FIELD, why);
	if (d->record)
		return refuse(d, o, SLATE_REFUSED, recording);
	if (!fault_plan_add(&d->faults, &f))
		return refuse(d, o, SLATE_NO_ROOM, "the fault plan has all of its 32 entries: clear it");
	*result = d->faults.count - 1;
	plan_changed(d);
	return SLATE_DONE;
}

static uint32_t clear_faults(struct slate_dev *d, const struct slate_order *o)
{
	if (d->record)
		return refuse(d, o, SLATE_REFUSED, recording);
	fault_plan_clear(&d->faults);
	plan_changed(d);
	return SLATE_DONE;
}

/* ---- orders --------------------------------------------------------------------- */

static uint32_t control(struct slate_dev *d, uint64_t now_ns, const struct slate_order *o, uint32_t *result)
{
	/* A fault may be the reason why the drive does not mount. */
	if (!slate_core_time(d, &now_ns) && o->command != SLATE_FAULT_CLEAR)
		return refuse(d, o, SLATE_REFUSED, off);
	if (slate_sanitize_runs(d) && o->command == SLATE_FORCE_GC)
		return refuse(d, o, SLATE_REFUSED, sanitized);
	switch (o->command) {
	case SLATE_RESET_COUNTERS:
		slate_reset_stats(d);
		d->since_ns = now_ns;
		slate_series_restart(d, now_ns);
		return SLATE_DONE;
	case SLATE_FORCE_GC:
		return force_gc(d, now_ns, o, result);
	case SLATE_FAULT_ADD:
		return add_fault(d, o, result);
	case SLATE_FAULT_CLEAR:
		return clear_faults(d, o);
	case SLATE_POWER_CUT:
	case SLATE_POWER_CUT_CANCEL:
		return refuse(d, o, SLATE_UNSUPPORTED, "this program cannot cut the drive's power");
	default:
		return refuse(d, o, SLATE_INVALID_FIELD, "there is no such command: 1 reset counters, 2 force GC, "
			      "3 add fault, 4 clear faults, 5 power cut, 6 cancel");
	}
}

/* slate_control() and slate_set() pass arguments and results to the function that executes the order. */
struct call {
	struct slate_dev *d;
	uint64_t now_ns;
	const struct slate_order *order;
	const char *text;
	struct profile *p;
	uint32_t result, status;
};

static const char contradicts[] = "what the drive file holds contradicts itself: the drive is off; restore it "
				  "from a copy";

static void guarded_control(void *arg)
{
	struct call *c = arg;

	c->status = control(c->d, c->now_ns, c->order, &c->result);
}

uint32_t slate_control(struct slate_dev *d, uint64_t now_ns, const struct slate_order *o,
		       uint32_t *result)
{
	struct call c = { .d = d, .now_ns = now_ns, .order = o };

	if (!slate_endures(d, now_ns, guarded_control, &c))
		c.status = refuse(d, o, SLATE_REFUSED, contradicts);
	*result = c.status == SLATE_DONE ? c.result : 0;
	return c.status;
}

/* ---- knobs ------------------------------------------------------------------------ */

static uint32_t refuse_set(struct slate_dev *d, uint32_t status, const char *why)
{
	return slate_refuse(d, SLATE_ADM_SET, 0, status, why);
}

/* Does the text set a number that the drive's arbiter has? */
static bool of_arbiter(const struct slate_dev *d, const char *text)
{
	size_t len;

	if (d->profile.ftl.arbitration == FTL_ARBITRATION_FIFO || strncmp(text, "controller.", 11))
		return false;
	len = strcspn(text + 11, "=");
	return text[11 + len] && controller_online_knob(text + 11, len);
}

/* Can the FTL change the setting with this name? */
static bool of_ftl(const struct slate_dev *d, const char *name, size_t len)
{
	const struct knob *k;
	uint32_t i = 0;

	while ((k = ftl_online_knob(d->ftl->ops, i)) && (strlen(k->name) != len || strncmp(k->name, name, len)))
		i++;
	return k;
}

/*
 * Can the FTL or the arbiter change this knob while it runs? If not, the message lists the knobs that it can
 * change.
 */
static bool may_move(const struct slate_dev *d, const char *text, char *why, size_t room)
{
	const struct knob *k = ftl_online_knob(d->ftl->ops, 0);
	const char *equals = strchr(text, '=');
	size_t used;

	if (of_arbiter(d, text))
		return true;
	if (!equals || strncmp(text, "ftl.", 4)) {
		snprintf(why, room, "'%.64s' is no setting: give ftl.key=value%s", text,
			 d->profile.ftl.arbitration == FTL_ARBITRATION_FIFO ? "" :
			 ", or the arbiter's controller.arbitration_burst or weight_high, _medium or _low");
		return false;
	}
	if (of_ftl(d, text + 4, (size_t)(equals - text) - 4))
		return true;
	snprintf(why, room, "%.*s cannot be set while the drive runs: with ftl.type = %s %s",
		 (int)(equals - text) > 64 ? 64 : (int)(equals - text), text, d->ftl->ops->name,
		 k ? "these can:" : "none can");
	for (uint32_t i = 0; (k = ftl_online_knob(d->ftl->ops, i)); i++) {
		used = strlen(why);
		snprintf(why + used, room - used, "%s ftl.%s", i ? "," : "", k->name);
	}
	return false;
}

/* Load all settings in force and one more. */
static int load_with(const struct slate_dev *d, const char *text, struct profile *p, char *why)
{
	char *copy = strdup(d->settings), *line, *rest = NULL;
	const char **all = calloc(profile_key_count() + 2, sizeof(*all));
	size_t n = 0;
	int result;

	SSD_ASSERT(copy && all);
	for (line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		all[n++] = line;
	all[n] = text;
	result = profile_load(p, NULL, all, why);
	free(all);
	free(copy);
	return result;
}

static void take_settings(struct slate_dev *d, const struct profile *p)
{
	size_t len = profile_print(p, NULL, 0) + 1;
	char *settings = malloc(len);

	SSD_ASSERT(settings);
	profile_print(p, settings, len);
	free(d->settings);
	d->settings = settings;
	d->profile.ftl = p->ftl;
}

static uint32_t set(struct slate_dev *d, uint64_t now_ns, const char *text, struct profile *p)
{
	char why[SLATE_ERR_BYTES];

	if (!slate_core_time(d, &now_ns))
		return refuse_set(d, SLATE_REFUSED, off);
	if (slate_sanitize_runs(d))
		return refuse_set(d, SLATE_REFUSED, sanitized);
	if (!may_move(d, text, why, sizeof(why)))
		return refuse_set(d, SLATE_REFUSED, why);
	if (d->record)
		return refuse_set(d, SLATE_REFUSED, recording);
	if (load_with(d, text, p, why))
		return refuse_set(d, SLATE_REFUSED, why);
	if (controller_footprint(p->ops, &p->ftl, &p->array.geo) != d->ftl_mem.bytes)
		return refuse_set(d, SLATE_REFUSED, "the FTL would need other tables for that: open the drive "
				  "with it");
	if (of_arbiter(d, text))
		controller_rearbitrate(d->ftl, &p->ftl);
	else
		d->ftl->ops->reconfigure(d->ftl, core_now(d, now_ns), &p->ftl);
	take_settings(d, p);
	return SLATE_DONE;
}

static void guarded_set(void *arg)
{
	struct call *c = arg;

	c->status = set(c->d, c->now_ns, c->text, c->p);
}

uint32_t slate_set(struct slate_dev *d, uint64_t now_ns, const char *text)
{
	struct profile *p = calloc(1, sizeof(*p));
	struct call c = { .d = d, .now_ns = now_ns, .text = text, .p = p };

	SSD_ASSERT(p);
	if (!slate_endures(d, now_ns, guarded_set, &c))
		c.status = refuse_set(d, SLATE_REFUSED, contradicts);
	free(p);
	return c.status;
}
