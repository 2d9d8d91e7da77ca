// SPDX-License-Identifier: GPL-2.0-or-later
/* link.c - reads a whole log over a link: first its head, then the rest of the same snapshot. */
#include "ctl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOG_BYTES_MAX ((uint64_t)1 << 32)

static int check_head(const unsigned char *head, size_t got, uint32_t id, uint64_t *bytes)
{
	if (got < sizeof(struct slate_log_head) || ctl_get(head, 4) != SLATE_WIRE_MAGIC || ctl_get(head + 6, 2) != id)
		return ctl_fail(CTL_FAILED, "log 0x%x: this is not a Slate drive: name one with --device or --node",
				id);
	if (ctl_get(head + 4, 2) != SLATE_WIRE_VERSION)
		return ctl_fail(CTL_FAILED, "log 0x%x has version %u, and this program reads %u: use the slatectl that "
				"was built with the drive", id, (unsigned int)ctl_get(head + 4, 2),
				SLATE_WIRE_VERSION);
	*bytes = ctl_get(head + 8, 8);
	if (*bytes < sizeof(struct slate_log_head) || *bytes > LOG_BYTES_MAX)
		return ctl_fail(CTL_FAILED, "log 0x%x says that it has %" PRIu64 " bytes", id, *bytes);
	return 0;
}

static int fetch_rest(struct ctl *c, uint32_t id, struct ctl_log *log, size_t have)
{
	while (have < log->len) {
		size_t got = 0;
		int result = c->ops->read_log(c, id, have, log->bytes + have, log->len - have, &got);

		if (result)
			return result;
		if (!got)
			return ctl_fail(CTL_FAILED, "log 0x%x ends after %zu of %zu bytes", id, have, log->len);
		have += got;
	}
	return 0;
}

int ctl_fetch(struct ctl *c, uint32_t id, struct ctl_log *out)
{
	unsigned char head[sizeof(struct slate_log_head)];
	uint64_t bytes = 0;
	size_t got = 0;
	int result = c->ops->read_log(c, id, 0, head, sizeof(head), &got);

	*out = (struct ctl_log){ 0 };
	if (!result)
		result = check_head(head, got, id, &bytes);
	if (result)
		return result;
	out->len = (size_t)bytes;
	out->at_ns = ctl_get(head + 16, 8);
	out->since_ns = ctl_get(head + 24, 8);
	out->bytes = calloc(1, out->len);
	if (!out->bytes)
		return ctl_fail(CTL_FAILED, "no memory for a log of %zu bytes", out->len);
	memcpy(out->bytes, head, sizeof(head));
	result = fetch_rest(c, id, out, sizeof(head));
	if (result)
		ctl_free(out);
	return result;
}

void ctl_free(struct ctl_log *log)
{
	free(log->bytes);
	*log = (struct ctl_log){ 0 };
}
