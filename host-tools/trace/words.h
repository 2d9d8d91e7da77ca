/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * words.h - values of command lines of the programs that replay traces. Each is false
 * when the text is something else; *out is undefined then.
 */
#ifndef SLATE_TRACE_WORDS_H
#define SLATE_TRACE_WORDS_H

#include "trace.h"

#define TRACE_DECIMAL_ONE 1000000u

/* Digits alone, at most 18, low .. high. */
bool trace_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out);
/* A decimal of up to six places, times TRACE_DECIMAL_ONE; below 10 million. */
bool trace_parse_decimal(const char *text, uint64_t *out);
/* "N" or "MAJOR,MINOR": as in trace_row.device. */
bool trace_parse_device(const char *text, uint64_t *out);
/* A name of a file's format. */
bool trace_parse_format(const char *text, enum trace_format *out);

#endif
