// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parse_iso.c - times of ISO 8601 with their date, such as 2026-12-01T09:30:00.25+01:00. T may be a blank where blanks
 * do not separate columns, and a time without a zone is UTC. The second 60 is the first one of the next minute, as in
 * POSIX.
 */
#include "parse.h"

#define SECOND_NS UINT64_C(1000000000)

/* Read a number that has so many digits, with leading zeroes, and is not above `most`. */
static bool take_exactly(const char **s, const char *end, unsigned int digits, uint32_t most, uint32_t *out)
{
	for (*out = 0; digits; digits--, (*s)++) {
		if (*s == end || (unsigned char)(**s - '0') > 9)
			return false;
		*out = *out * 10 + (unsigned char)(**s - '0');
	}
	return *out <= most;
}

static bool take_char(const char **s, const char *end, char c)
{
	const bool there = *s < end && **s == c;

	*s += there;
	return there;
}

/* Return the days from 1970-01-01 to a date of the Gregorian calendar; years from 1970 on, months and days from 1. */
static uint64_t days_to(uint32_t year, uint32_t month, uint32_t day)
{
	const uint32_t before = year - (month <= 2); /* a year from March to February ends with its leap day */
	const uint32_t march = (month + 9) % 12, of_year = (153 * march + 2) / 5 + day - 1;

	return (uint64_t)before * 365 + before / 4 - before / 100 + before / 400 + of_year - 719468;
}

static bool take_date(const char **s, const char *end, uint64_t *days)
{
	static const uint8_t length[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	uint32_t year, month, day;

	if (!take_exactly(s, end, 4, 2554, &year) || year < 1970 || !take_char(s, end, '-') ||
	    !take_exactly(s, end, 2, 12, &month) || !month || !take_char(s, end, '-') ||
	    !take_exactly(s, end, 2, length[month - 1], &day) || !day)
		return false;
	if (month == 2 && day == 29 && (year % 4 || (!(year % 100) && year % 400)))
		return false;
	*days = days_to(year, month, day);
	return true;
}

/* Read the decimals of a second, if there are any, as ns; those from the tenth on are dropped. */
static bool take_part(const char **s, const char *end, uint64_t *ns)
{
	uint64_t worth = SECOND_NS / 10;
	const char *begin;

	*ns = 0;
	if (!take_char(s, end, '.'))
		return true;
	for (begin = *s; *s < end && (unsigned char)(**s - '0') < 10; (*s)++, worth /= 10)
		*ns += worth * (unsigned char)(**s - '0');
	return *s != begin;
}

/* Take a zone, and return the minutes by which its clocks are ahead of UTC. */
static bool take_zone(const char **s, const char *end, int64_t *minutes)
{
	uint32_t hour, minute = 0;
	bool behind;

	*minutes = 0;
	if (take_char(s, end, 'Z') || take_char(s, end, 'z'))
		return true;
	behind = take_char(s, end, '-');
	if (!behind && !take_char(s, end, '+'))
		return true;
	if (!take_exactly(s, end, 2, 14, &hour))
		return false;
	if ((take_char(s, end, ':') || (*s < end && (unsigned char)(**s - '0') < 10)) &&
	    !take_exactly(s, end, 2, 59, &minute))
		return false;
	*minutes = (int64_t)hour * 60 + minute;
	*minutes = behind ? -*minutes : *minutes;
	return true;
}

bool take_iso(const char **s, const char *end, bool blank, uint64_t *ns)
{
	uint32_t hour, minute, second;
	uint64_t days, part;
	int64_t ahead, seconds;

	if (!take_date(s, end, &days) ||
	    !(take_char(s, end, 'T') || take_char(s, end, 't') || (blank && take_char(s, end, ' '))) ||
	    !take_exactly(s, end, 2, 23, &hour) || !take_char(s, end, ':') ||
	    !take_exactly(s, end, 2, 59, &minute) || !take_char(s, end, ':') ||
	    !take_exactly(s, end, 2, 60, &second) || !take_part(s, end, &part) || !take_zone(s, end, &ahead))
		return false;
	seconds = (int64_t)(days * 86400) + hour * 3600 + minute * 60 + second - ahead * 60;
	return seconds >= 0 && !__builtin_mul_overflow((uint64_t)seconds, SECOND_NS, ns) &&
	       !__builtin_add_overflow(*ns, part, ns);
}
