/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * port.h - everything that the core needs from its environment.  No other file of nand-emu/ or ftl/
 * includes a system header, so that a port to another host (a kernel, a microcontroller) replaces
 * only this file.
 */
#ifndef SLATE_PORT_H
#define SLATE_PORT_H

#ifdef __KERNEL__
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#define UINT8_MAX U8_MAX
#define UINT16_MAX U16_MAX
#define UINT32_MAX U32_MAX
#define UINT64_MAX U64_MAX
#define INT32_MAX S32_MAX
#define INT64_MAX S64_MAX
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#endif

/*
 * Assertions are always on, NDEBUG or not: they check what the caller promised. In user space
 * port_user.c implements this; in a kernel the module does (tests/kunit/libc.c ends the test).
 */
_Noreturn void ssd_assert_failed(const char *expr, const char *file, int line);
#define SSD_ASSERT(x) ((x) ? (void)0 : ssd_assert_failed(#x, __FILE__, __LINE__))

/*
 * Compute the MD5 of data, as a controller's hash engine does. In user space port_md5.c (libgcrypt), in a kernel
 * port_kernel.c (its crypto library).
 */
void ssd_md5(const void *data, size_t len, uint8_t out[16]);

/*
 * CRC-32C (Castagnoli; of "123456789" it is e3069283) of bytes that follow bytes whose CRC is `crc`; 0: of
 * these alone. In user space port_crc.c (ISA-L); in a kernel port_kernel.c. At most 2^31 - 1 bytes.
 */
uint32_t ssd_crc32c(uint32_t crc, const void *data, uint32_t len);

#define SSD_MUST_CHECK __attribute__((warn_unused_result))
/*
 * Marks code that runs so rarely that its registers and instructions should not burden the common
 * path.
 */
#define SSD_SELDOM __attribute__((__noinline__, __cold__))
#define SSD_APART __attribute__((__noinline__))		/* for common code that not every call needs */
#define SSD_HOT __attribute__((__hot__))	/* the linker puts such functions side by side */
#define SSD_ALWAYS inline __attribute__((__always_inline__))
#define SSD_PREFETCH(p) __builtin_prefetch(p)	/* a hint; it never faults */
#define SSD_LIKELY(x) __builtin_expect(!!(x), 1)
#define SSD_UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * Choose one of two by arithmetic, for an unpredictable condition. Compilers may turn `c ? a : b` into
 * a branch, and a misprediction costs some thirty cycles.
 */
static inline uint64_t ssd_pick(bool first, uint64_t a, uint64_t b)
{
	return b ^ ((a ^ b) & -(uint64_t)first);
}

#define ssd_container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

/* Carve aligned pieces out of the one block of memory that init() receives. */
struct ssd_arena {
	char *base;	/* NULL: only measure the size */
	size_t used;
};

static inline void *ssd_carve(struct ssd_arena *a, size_t count, size_t size)
{
	size_t at = (a->used + 63) & ~(size_t)63;

	a->used = at + count * size;
	return a->base ? a->base + at : NULL;
}

#endif
