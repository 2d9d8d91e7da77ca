// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * qmp.c - a link through QEMU's monitor: a Unix socket on which QEMU and this program send JSON
 * objects, one in a line. QEMU sends a greeting, this program ends the negotiation of capabilities,
 * and then QEMU answers each command with "return" or "error". Events in between are skipped.
 */
#define _GNU_SOURCE
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_SECONDS 60
#define TRANSFER_BYTES ((size_t)1 << 20)

static int lost(const struct ctl *c, const char *why)
{
	return ctl_fail(CTL_FAILED, "%s: %s: give the QMP socket of a running QEMU that no other program is using",
			c->socket, why);
}

/* Read QEMU's next object. NULL: *result is an exit code. */
static json_t *next_object(struct ctl *c, int *result)
{
	char *line = NULL;
	size_t room = 0;
	json_error_t error;
	json_t *o;
	ssize_t len = getline(&line, &room, c->state);

	*result = len <= 0 && ctl_stopped ? CTL_INTERRUPTED : CTL_FAILED;
	if (len <= 0) {
		if (*result == CTL_FAILED)
			lost(c, ferror(c->state) && (errno == EAGAIN || errno == EWOULDBLOCK) ? "no answer" :
											"it was closed");
		free(line);
		return NULL;
	}
	o = json_loadb(line, (size_t)len, 0, &error);
	free(line);
	if (!json_is_object(o)) {
		json_decref(o);
		lost(c, "it sends something else than JSON");
		return NULL;
	}
	*result = 0;
	return o;
}

static int send_object(struct ctl *c, json_t *o)
{
	int bad = json_dumpfd(o, c->fd, JSON_COMPACT) || write(c->fd, "\n", 1) != 1;

	json_decref(o);
	if (bad && ctl_stopped)
		return CTL_INTERRUPTED;
	return !bad ? 0 : lost(c, errno == EPIPE || errno == ECONNRESET ? "it was closed" : strerror(errno));
}

static int refused(const struct ctl *c, const json_t *error)
{
	const char *class = json_string_value(json_object_get(error, "class"));
	const char *text = json_string_value(json_object_get(error, "desc"));

	if (class && !strcmp(class, "CommandNotFound"))
		return ctl_fail(CTL_FAILED, "%s: this QEMU has no Slate drives: use the one that 'make qemu' builds",
				c->socket);
	return ctl_fail(CTL_FAILED, "%s: %s", c->node, text ? text : "QEMU does not say why");
}

/* Send a command; returns its result (a new reference), or NULL with an exit code in *result. */
static json_t *execute(struct ctl *c, const char *command, json_t *arguments, int *result)
{
	json_t *o = json_pack("{s:s, s:o}", "execute", command, "arguments", arguments);

	*result = send_object(c, o);
	while (!*result) {
		json_t *answer = next_object(c, result), *back, *error;

		if (!answer)
			break;
		back = json_incref(json_object_get(answer, "return"));
		error = json_object_get(answer, "error");
		if (error)
			*result = refused(c, error);
		json_decref(answer);
		if (back || error)
			return back;
	}
	return NULL;
}

static int greet(struct ctl *c)
{
	int result;
	json_t *o = next_object(c, &result);

	if (!o)
		return result;
	if (!json_object_get(o, "QMP"))
		result = lost(c, "it does not greet as QMP");
	json_decref(o);
	if (!result)
		json_decref(execute(c, "qmp_capabilities", json_object(), &result));
	return result;
}

static int open_socket(struct ctl *c)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval wait = { .tv_sec = ANSWER_SECONDS };

	if (strlen(c->socket) >= sizeof(address.sun_path))
		return ctl_fail(CTL_USAGE, "--qmp %s: is longer than %zu characters: use a shorter path", c->socket,
				sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, c->socket);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof(address)))
		return ctl_fail(CTL_FAILED, "--qmp %s: %s: name the socket that 'slate run --qmp' made", c->socket,
				strerror(errno));
	(void)setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	c->state = fdopen(c->fd, "r");
	if (!c->state)
		return ctl_fail(CTL_FAILED, "no memory");
	return greet(c);
}

static const signed char *base64_values(void)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	static signed char value[256];

	if (!value['B']) {
		memset(value, -1, sizeof(value));
		for (int i = 0; i < 64; i++)
			value[(unsigned char)digits[i]] = (signed char)i;
	}
	return value;
}

static int unpack(const struct ctl *c, const char *text, unsigned char *out, size_t room, size_t *got)
{
	const signed char *value = base64_values();
	uint32_t bits = 0;
	int have = 0;

	for (*got = 0; *text && *text != '='; text++) {
		int v = value[(unsigned char)*text];

		if (v < 0)
			return lost(c, "it sends data that are no base64");
		bits = bits << 6 | (uint32_t)v;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		if (*got == room)
			return lost(c, "it sends more than was asked for");
		out[(*got)++] = (unsigned char)(bits >> have);
	}
	return 0;
}

static int read_log(struct ctl *c, uint32_t id, uint64_t at, void *buf, size_t len, size_t *got)
{
	size_t part = len < TRANSFER_BYTES ? len : TRANSFER_BYTES;
	const char *text;
	int result;
	json_t *o = execute(c, "x-nand-ssd-log",
			    json_pack("{s:s, s:I, s:I, s:I}", "node-name", c->node, "id", (json_int_t)id, "offset",
				      (json_int_t)at, "length", (json_int_t)part), &result);

	if (!o)
		return result;
	text = json_string_value(json_object_get(o, "data"));
	result = text ? unpack(c, text, buf, part, got) : lost(c, "it sends a log without data");
	json_decref(o);
	return result;
}

static int order(struct ctl *c, json_t *arguments, uint32_t *answer)
{
	int result;
	json_t *o = execute(c, "x-nand-ssd-control", arguments, &result);

	if (o && answer)
		*answer = (uint32_t)json_integer_value(json_object_get(o, "result"));
	json_decref(o);
	return result;
}

static int control(struct ctl *c, uint32_t command, const uint32_t args[3], uint32_t *answer)
{
	return order(c, json_pack("{s:s, s:I, s:[I, I, I]}", "node-name", c->node, "command", (json_int_t)command,
				  "arguments", (json_int_t)args[0], (json_int_t)args[1], (json_int_t)args[2]),
		     answer);
}

static int set(struct ctl *c, const char *text)
{
	return order(c, json_pack("{s:s, s:s}", "node-name", c->node, "set", text), NULL);
}

static void close_socket(struct ctl *c)
{
	if (c->state)
		fclose(c->state);
	else if (c->fd >= 0)
		close(c->fd);
}

const struct ctl_link_ops ctl_qmp = { open_socket, read_log, control, set, close_socket };
