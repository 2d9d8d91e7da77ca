/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libc.h - the functions of a C library that the core's tests need, inside a kernel. The build
 * makes stdio.h, stdlib.h, ..., each with one line that includes this file. There are no files, no
 * signals and no floating point numbers. printf() writes to the test's log; exit() and abort() end
 * the case as failed.
 */
#ifndef SLATE_KUNIT_LIBC_H
#define SLATE_KUNIT_LIBC_H

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/stdarg.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>

/* The tests define these names themselves; files that include core.h need the kernel's definitions. */
#ifndef SLATE_KUNIT_CORE_H
#undef BIT
#undef READ
#undef WRITE
#endif

/* inttypes.h: uint64_t is long long here */
#define PRIu64 "llu"
#define PRIx64 "llx"
#define SCNu64 "llu"

/* stdlib.h */
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t size);
void *aligned_alloc(size_t align, size_t size);
void free(void *p);
void __noreturn exit(int status);
void __noreturn abort(void);
#define _exit exit
#define strtoul simple_strtoul
#define strtoull simple_strtoull

/* stdio.h */
typedef struct slate_no_file FILE;
#define stdout ((FILE *)NULL)
#define stderr ((FILE *)NULL)
#define _IOLBF 0
__printf(1, 2) int printf(const char *format, ...);
__printf(1, 0) int vprintf(const char *format, va_list list);
#define fprintf(stream, ...) printf(__VA_ARGS__)

static inline int fflush(FILE *f)
{
	return 0;
}

static inline int setvbuf(FILE *f, char *buffer, int mode, size_t size)
{
	return 0;
}

static inline void perror(const char *what)
{
	printf("%s: there are no files\n", what);
}

static inline FILE *fopen(const char *path, const char *mode)
{
	return NULL;
}

static inline size_t fread(void *p, size_t size, size_t count, FILE *f)
{
	return 0;
}

static inline int fputc(int c, FILE *f)
{
	return -1;
}

static inline int fclose(FILE *f)
{
	return 0;
}

/* unistd.h */
extern char *optarg;
int getopt(int argc, char *const argv[], const char *options);
ssize_t write(int fd, const void *data, size_t len);

/* signal.h: an assertion that fails calls the handler before it ends the case. */
#define SIGABRT 6
void signal(int number, void (*handler)(int));

/* setjmp.h: this is GCC's own; the value is always 1. */
typedef void *jmp_buf[5];
#define setjmp(env) __builtin_setjmp(env)
#define longjmp(env, value) __builtin_longjmp(env, value)

/* time.h */
#define timespec timespec64
#define CLOCK_PROCESS_CPUTIME_ID 2
int clock_gettime(int clock, struct timespec64 *t);

#endif
