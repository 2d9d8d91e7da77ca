/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slate-mark and slate-marks send this mark: a vendor admin command at which a drive begins new
 * accounts.
 *
 *	NSID = a namespace of the drive, CDW10 = kind, CDW12..15 = label as 16 bytes
 *	of ASCII, zero padded, first byte in the least significant byte of CDW12
 */
#ifndef SLATE_MARK_H
#define SLATE_MARK_H

#include <linux/nvme_ioctl.h>
#include <stdint.h>
#include <string.h>

#define MARK_OPCODE 0xC0
#define LABEL_BYTES 16

static int parse_kind(const char *word)
{
	static const char *const kinds[] = { "point", "begin", "end" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(word, kinds[i]))
			return i;
	return -1;
}

static uint32_t label_dword(const char *label, int index)
{
	const unsigned char *b = (const unsigned char *)label + 4 * index;

	return b[0] | b[1] << 8 | b[2] << 16 | (uint32_t)b[3] << 24;
}

#endif
