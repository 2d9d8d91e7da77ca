// SPDX-License-Identifier: GPL-2.0-or-later
/* libc.c - see libc.h. It also ends the case after a failed assertion of the core (port.h). */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "core.h"
#include "libc.h"
#include "port.h"

#define HEAD 64u	/* bytes before the result of malloc(), for its size; keeps the alignment */
#define LINE 480u

static char line[LINE];
static size_t line_len;
static void (*on_abort)(int);

/* ---- memory ------------------------------------------------------------------ */

void *aligned_alloc(size_t align, size_t size)
{
	char *p;

	SSD_ASSERT(align <= HEAD);
	/* Round up: kmalloc() aligns an allocation to its size only if that is a power of two. */
	p = kvmalloc(max_t(size_t, roundup_pow_of_two(min_t(size_t, size + HEAD, PAGE_SIZE)), size + HEAD),
		     GFP_KERNEL);
	SSD_ASSERT(p);
	*(size_t *)p = size;
	return p + HEAD;
}

void *malloc(size_t size)
{
	return aligned_alloc(HEAD, size);
}

void *calloc(size_t count, size_t size)
{
	void *p;

	SSD_ASSERT(!size || count <= SIZE_MAX / size);
	p = malloc(count * size);
	memset(p, 0, count * size);
	return p;
}

void free(void *p)
{
	if (p)
		kvfree((char *)p - HEAD);
}

void *realloc(void *p, size_t size)
{
	void *to = malloc(size);

	if (p)
		memcpy(to, p, min(size, *(size_t *)((char *)p - HEAD)));
	free(p);
	return to;
}

/* ---- output ----------------------------------------------------------------------- */

static void say_line(void)
{
	line[line_len] = 0;
	if (core_case)
		kunit_info(core_case, "%s\n", line[0] == '#' ? line + 1 : line);
	else
		pr_err("# while listing the cases: %s\n", line);
	line_len = 0;
}

ssize_t write(int fd, const void *data, size_t len)
{
	const char *text = data;

	for (size_t i = 0; i < len; i++) {
		if (text[i] != '\n')
			line[line_len++] = text[i];
		if (text[i] == '\n' || line_len == LINE - 1)
			say_line();
	}
	return (ssize_t)len;
}

int vprintf(const char *format, va_list list)
{
	char text[LINE];
	int len = vscnprintf(text, sizeof(text), format, list);

	return (int)write(1, text, (size_t)len);
}

int printf(const char *format, ...)
{
	va_list list;
	int len;

	va_start(list, format);
	len = vprintf(format, list);
	va_end(list);
	return len;
}

void libc_begin(void)
{
	line_len = 0;
	on_abort = NULL;
}

void libc_end(void)
{
	if (line_len)
		say_line();
}

/* ---- the end of a case ------------------------------------------------------------ */

void signal(int number, void (*handler)(int))
{
	on_abort = handler;
}

void __sanitizer_set_death_callback(void (*callback)(void));

void __sanitizer_set_death_callback(void (*callback)(void))
{
}

void exit(int status)
{
	libc_end();
	core_case_ends(status);
}

void abort(void)
{
	if (on_abort)
		on_abort(SIGABRT);
	exit(SIGABRT);
}

void ssd_assert_failed(const char *expr, const char *file, int number)
{
	printf("%s:%d: assertion failed: %s\n", file, number, expr);
	abort();
}

/* ---- the rest ----------------------------------------------------------------------- */

char *optarg;

/* Parses options with one value each; programs.h has no others. */
int getopt(int argc, char *const argv[], const char *options)
{
	static int at = 1;

	if (at + 1 >= argc || argv[at][0] != '-') {
		at = 1;
		return -1;
	}
	optarg = argv[at + 1];
	at += 2;
	return argv[at - 2][1];
}

int clock_gettime(int clock, struct timespec64 *t)
{
	*t = ktime_to_timespec64(ktime_get());
	return 0;
}
