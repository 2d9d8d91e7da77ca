// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * drive_file.c - see drive_file.h, and SPEC.md for the bytes.
 *
 * The head of a new drive is written last. Until drive_file_complete() the magic
 * is missing, and a file without it is refused, or removed if this process made it.
 * The file has two copies of the head, which do not change afterwards.
 */
#define _GNU_SOURCE
#include "drive_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>

#include "nand_geom.h"

extern const struct ftl_ops nftl_ops, superblock_ftl_ops, zns_ftl_ops;

static const char magic[8] = { 'S', 'L', 'A', 'T', 'E', '\r', '\n', '\x1a' };
#define VERSION 3u
#define OLD_VERSION 2u		/* has no table of forms; such a file is upgraded when it is opened */
#define SETTINGS_AT 1024u
#define SETTINGS_BYTES (DRIVE_FILE_HEAD_BYTES - SETTINGS_AT - 4)
#define FIELDS 25u

struct head {				/* little-endian, as on all supported machines */
	char magic[8];
	uint32_t version;
	uint32_t head_bytes;
	uint64_t image_bytes;
	uint32_t field[FIELDS];		/* in the order of fields[] */
	uint8_t zero[SETTINGS_AT - 24 - 4 * FIELDS];
	char settings[SETTINGS_BYTES];	/* lines, NUL-terminated */
	uint32_t crc;			/* CRC-32 of all bytes before it */
};

_Static_assert(sizeof(struct head) == DRIVE_FILE_HEAD_BYTES, "the head has no padding");

/* These fields of the head must be equal, because the image's meaning depends on them. */
static const struct {
	const char *name;
	size_t at;
} fields[] = {
#define GEO(n) { "geometry." #n, offsetof(struct profile, array.geo.n) }
	GEO(channels), GEO(chips_per_channel), GEO(dies_per_chip), GEO(planes_per_die),
	GEO(blocks_per_plane), GEO(pages_per_block), GEO(page_bytes), GEO(oob_bytes),
	{ "geometry.oob_kept (by ftl.type and ftl.placement_handles)",
	  offsetof(struct profile, array.geo.oob_kept) },
	GEO(ecc_word_bytes), GEO(pb_levels), GEO(erase_group_max),
	GEO(bits_per_cell), GEO(order),
	{ "ftl.unit_bytes", offsetof(struct profile, ftl.unit_bytes) },
};

enum { PAGE_BYTES = 6, OOB_KEPT = 8 };	/* places in fields[] */

#define NFIELDS (sizeof(fields) / sizeof(fields[0]))

/* Fill in a head. Fields that are not uint32_t come after the others. */
static void describe(struct head *h, const struct profile *p)
{
	memcpy(h->magic, magic, sizeof(magic));
	h->version = VERSION;
	h->head_bytes = DRIVE_FILE_HEAD_BYTES;
	h->image_bytes = nand_array_image_bytes(&p->array);
	for (size_t i = 0; i < NFIELDS; i++)
		h->field[i] = *(const uint32_t *)(const void *)((const char *)p + fields[i].at);
	h->field[NFIELDS] = p->array.payload;
	h->field[NFIELDS + 1] = p->array.geo.one_shot;
	h->field[NFIELDS + 2] = p->array.geo.copyback;
	h->field[NFIELDS + 3] = p->array.physics.rber_on;
	h->field[NFIELDS + 4] = (uint32_t)(p->ftl.capacity_bytes / 512);
	h->field[NFIELDS + 5] = (uint32_t)(p->ftl.capacity_bytes / 512 >> 32);
	while (ftl_list[h->field[NFIELDS + 6]] && ftl_list[h->field[NFIELDS + 6]] != p->ops)
		h->field[NFIELDS + 6]++;
	if (p->ops == &superblock_ftl_ops) {
		h->field[NFIELDS + 7] = p->ftl.superblock_blocks;
		h->field[NFIELDS + 8] = p->ftl.superblock_max_blocks;
	}
	if (p->ops == &nftl_ops)
		h->field[NFIELDS + 7] = p->ftl.write_buffer_blocks;
	h->field[NFIELDS + 9] = p->ftl.stripe_pages > 1 ? p->ftl.stripe_pages : 0;
	if (p->ops == &zns_ftl_ops) {
		h->field[NFIELDS + 7] = p->ftl.zone_dies;
		h->field[NFIELDS + 8] = p->ftl.zone_blocks;
		h->field[NFIELDS + 9] = p->ftl.zone_power2;
	}
}

_Static_assert(NFIELDS + 10 == FIELDS, "every field has a name");

static const char *const more[] = { "ftl.payload", "geometry.one_shot", "geometry.copyback",
				    "reliability.rber", "the exported capacity",
				    "the exported capacity", "ftl.type (by its number in SPEC.md)",
				    "ftl.superblock_blocks", "ftl.superblock_max_blocks",
				    "ftl.stripe_pages (0 is as 1)" };
static const char *const of_zones[] = { "ftl.zone_dies", "ftl.zone_blocks", "ftl.zone_power2 (1: yes)" };

static const char *field_name(size_t i, const struct ftl_ops *ops)
{
	if (ops == &zns_ftl_ops && i >= NFIELDS + 7)
		return of_zones[i - NFIELDS - 7];
	if (ops == &nftl_ops && i == NFIELDS + 7)
		return "ftl.write_buffer_blocks";
	return i < NFIELDS ? fields[i].name : more[i - NFIELDS];
}

static uint32_t head_crc(const struct head *h)
{
	return (uint32_t)crc32(0, (const unsigned char *)h, offsetof(struct head, crc));
}

__attribute__((format(printf, 3, 4)))
static int fail(char *err, int result, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, SLATE_ERR_BYTES, fmt, ap);
	va_end(ap);
	return result;
}

static bool sound(const struct head *h)
{
	return !memcmp(h->magic, magic, sizeof(magic)) && head_crc(h) == h->crc;
}

/*
 * Has the file the size that its head says? One of the old version may have grown, if its upgrade was
 * interrupted; it is upgraded again.
 */
static bool right_size(const struct head *h, uint64_t bytes)
{
	uint64_t says = DRIVE_FILE_IMAGE_AT + h->image_bytes;

	return h->version == OLD_VERSION ? bytes >= says : bytes == says;
}

/* Check that the file is a complete and valid drive file. */
static int check_head(const char *path, int fd, const struct head *h, char *err)
{
	struct stat st;

	if (memcmp(h->magic, magic, sizeof(magic)))
		return fail(err, SSD_E_NOFORMAT, "%s: is no drive file (or its making was interrupted): "
			    "name another, or make the drive anew", path);
	if (h->version != VERSION && h->version != OLD_VERSION)
		return fail(err, SSD_E_NOFORMAT, "%s: has format %u, this program reads %u and %u: make the "
			    "drive anew", path, h->version, OLD_VERSION, VERSION);
	if (head_crc(h) != h->crc)
		return fail(err, SSD_E_CORRUPT, "%s: its head and the copy of it are damaged (checksum): "
			    "restore it from a copy", path);
	if (fstat(fd, &st) || !right_size(h, (uint64_t)st.st_size))
		return fail(err, SSD_E_CORRUPT, "%s: has %lld bytes instead of %llu: it was cut or "
			    "grew; restore it from a copy", path, (long long)st.st_size,
			    (unsigned long long)(DRIVE_FILE_IMAGE_AT + h->image_bytes));
	return SSD_OK;
}

enum { HEAD, COPY, HEADS };

/*
 * Read a head; zeroes where the file is too short or cannot be read. In the latter case errno says
 * why, else it is 0.
 */
static void read_one(int fd, struct head *h, uint32_t which)
{
	ssize_t got;

	errno = 0;
	got = pread(fd, h, sizeof(*h), (off_t)which * DRIVE_FILE_HEAD_BYTES);
	if (got < (ssize_t)sizeof(*h))
		memset((char *)h + (got < 0 ? 0 : got), 0, sizeof(*h) - (size_t)(got < 0 ? 0 : got));
}

/*
 * Read the head, or the copy if the head is damaged. damaged: set to the number of the damaged one,
 * or to HEADS; may be NULL.
 */
static int read_head(const char *path, int fd, struct head *h, uint32_t *damaged, char *err)
{
	struct head copy;
	int why;

	read_one(fd, h, HEAD);
	why = errno;
	read_one(fd, &copy, COPY);
	if (damaged)
		*damaged = !sound(h) ? HEAD : sound(&copy) && !memcmp(h, &copy, sizeof(copy)) ? HEADS : COPY;
	if (!sound(h) && sound(&copy))
		*h = copy;
	else if (why)
		return fail(err, SSD_E_INVAL, "%s: cannot be read: %s", path, strerror(why));
	return check_head(path, fd, h, err);
}

/* Report a damaged head or copy and rewrite it from the other one; an ephemeral file stays as it is. */
static void mend_head(const struct drive_file *f, const char *path, const struct head *h, uint32_t damaged)
{
	if (damaged == HEADS)
		return;
	fprintf(stderr, "slate: drive file %s: %s; %s. Check the disk, and keep a copy of the file\n", path,
		damaged == HEAD ? "its head is damaged (checksum), and the copy of the head is used instead" :
		"the copy of its head is damaged (checksum)",
		f->ephemeral ? "it is left as it is, because the file is opened as ephemeral" :
		"the damaged one has been written anew from the other");
	if (!f->ephemeral)
		memcpy((char *)f->map + (size_t)damaged * DRIVE_FILE_HEAD_BYTES, h, sizeof(*h));
}

/* Refuse all but plain files: opening or reading a pipe may block, and the size of a device cannot be changed. */
static int check_plain(const char *path, int fd, char *err)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return fail(err, SSD_E_INVAL, "drive file %s: is not a plain file; name one", path);
	return SSD_OK;
}

/* Open a drive file without a lock, read its head and its size in bytes, and close it. Returns 0 or an ssd_err < 0. */
static int look(const char *path, struct head *h, uint64_t *bytes, char *err)
{
	struct stat st = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result;

	if (fd < 0)
		return fail(err, SSD_E_INVAL, "%s: %s; give a profile too to make a new drive", path,
			    strerror(errno));
	result = check_plain(path, fd, err);
	if (!result)
		result = read_head(path, fd, h, NULL, err);
	*bytes = fstat(fd, &st) ? 0 : (uint64_t)st.st_size;
	close(fd);
	return result;
}

int drive_file_settings(const char *path, char ***out, char err[SLATE_ERR_BYTES])
{
	struct head h;
	size_t lines = 0, room = (SETTINGS_BYTES / 2 + 1) * sizeof(char *);
	uint64_t bytes;
	char *text;
	int result = look(path, &h, &bytes, err);

	if (result)
		return result;
	*out = malloc(room + SETTINGS_BYTES);
	if (!*out)
		return fail(err, SSD_E_NOMEM, "no memory for the settings of %s", path);
	text = (char *)*out + room;
	memcpy(text, h.settings, SETTINGS_BYTES);
	text[SETTINGS_BYTES - 1] = 0;
	for (char *save, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		(*out)[lines++] = line;
	(*out)[lines] = NULL;
	return SSD_OK;
}

/* ---- opening -------------------------------------------------------------- */

/* Open the file: set f->fd, or errno. Opening must not block at a FIFO, nor create a file through a dangling link. */
static bool open_path(struct drive_file *f, const char *path)
{
	const int flags = O_CLOEXEC | O_NONBLOCK;

	f->created = false;
	f->fd = open(path, (f->ephemeral ? O_RDONLY : O_RDWR) | flags);
	if (f->fd < 0 && errno == ENOENT && !f->ephemeral) {
		f->fd = open(path, O_RDWR | O_CREAT | O_EXCL | flags, 0666);
		f->created = f->fd >= 0;
	}
	return f->fd >= 0;
}

/* Does the name still belong to the file that is locked? */
static bool still_there(const struct drive_file *f, const char *path)
{
	struct stat mine, named;

	return !fstat(f->fd, &mine) && !stat(path, &named) && mine.st_ino == named.st_ino &&
	       mine.st_dev == named.st_dev;
}

static int open_and_lock(struct drive_file *f, const char *path, char *err)
{
	struct stat st;

	for (unsigned int tries = 0;; tries++) {
		if (!open_path(f, path))
			return fail(err, SSD_E_INVAL, "drive file %s: %s%s", path, strerror(errno),
				    errno == EEXIST ? ": a link that leads nowhere; remove it" : "");
		if (check_plain(path, f->fd, err))
			return SSD_E_INVAL;
		if (flock(f->fd, (f->ephemeral ? LOCK_SH : LOCK_EX) | LOCK_NB)) {
			f->created = false;	/* the file now belongs to another process */
			return fail(err, SSD_E_INVAL, "drive file %s: another program has it open: end "
				    "that, or let all of them open it as ephemeral", path);
		}
		if (still_there(f, path))
			break;
		close(f->fd);	/* the file was removed or replaced before it was locked */
		f->fd = -1;
		if (tries == 10)
			return fail(err, SSD_E_INVAL, "drive file %s: other programs keep replacing it: "
				    "end them", path);
	}
	if (fstat(f->fd, &st))	/* only the state under the lock counts */
		return fail(err, SSD_E_INVAL, "drive file %s: %s", path, strerror(errno));
	f->fresh = !f->ephemeral && st.st_size == 0;
	f->created = f->created && f->fresh;
	return SSD_OK;
}

static uint64_t file_bytes(const struct drive_file *f)
{
	struct stat st;

	return fstat(f->fd, &st) ? 0 : (uint64_t)st.st_size;
}

static uint64_t payload_bytes(const struct profile *p)
{
	return p->array.payload ? geo_pages(&p->array.geo) * p->array.geo.page_bytes : 0;
}

/* Return the number that the settings give KEY ("section.key="), or 0 without such a line. */
static uint32_t kept_number(const struct head *h, const char *key)
{
	const char *line = h->settings, *end = memchr(line, 0, SETTINGS_BYTES);
	size_t len = strlen(key);

	while (end && line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));

		if (!strncmp(line, key, len))
			return (uint32_t)strtoul(line + len, NULL, 10);
		line = next ? next + 1 : end;
	}
	return 0;
}

/* Was the file made before pages of placement handles said how much of a reclaim unit is written? */
static bool handles_say_less(const struct head *is, const struct head *want, const struct profile *p)
{
	return p->ftl.placement_handles && is->field[PAGE_BYTES] == want->field[PAGE_BYTES] &&
	       is->field[OOB_KEPT] + 6 == want->field[OOB_KEPT];
}

static int match(const char *path, uint64_t bytes, const struct head *is, const struct profile *p, char *err)
{
	uint32_t metadata = kept_number(is, "ftl.metadata_bytes=");
	struct head want;

	memset(&want, 0, sizeof(want));
	describe(&want, p);
	/* Handles and metadata may take the same number of spare bytes. */
	if (metadata != p->ftl.metadata_bytes)
		return fail(err, SSD_E_INVAL, "drive file %s: was made with ftl.metadata_bytes = %u, profile %s "
			    "says %u: use the profile that it was made with, or none", path, metadata, p->name,
			    p->ftl.metadata_bytes);
	if (handles_say_less(is, &want, p))
		return fail(err, SSD_E_INVAL, "drive file %s: was made with placement handles by an earlier build, "
			    "whose spare areas do not say how much of each reclaim unit is written: make the drive "
			    "anew", path);
	for (size_t i = 0; i < FIELDS; i++)
		if (is->field[i] != want.field[i])
			return fail(err, SSD_E_INVAL, "drive file %s: was made with %s = %u, profile %s "
				    "says %u: use the profile that it was made with, or none", path,
				    field_name(i, p->ops), is->field[i], p->name, want.field[i]);
	if (is->version == OLD_VERSION && bytes > DRIVE_FILE_IMAGE_AT + want.image_bytes)
		return fail(err, SSD_E_CORRUPT, "drive file %s: has %llu bytes instead of %llu: it was cut or grew; "
			    "restore it from a copy", path, (unsigned long long)bytes,
			    (unsigned long long)(DRIVE_FILE_IMAGE_AT + is->image_bytes));
	if (is->version == OLD_VERSION)
		want.image_bytes = nand_array_table_bytes(&p->array) + payload_bytes(p);
	if (is->image_bytes != want.image_bytes)
		return fail(err, SSD_E_INVAL, "drive file %s: holds an image of %llu bytes, profile %s "
			    "needs %llu: use the profile that it was made with, or none", path,
			    (unsigned long long)is->image_bytes, p->name,
			    (unsigned long long)want.image_bytes);
	return SSD_OK;
}

int drive_file_check(const char *path, const struct profile *p, char err[SLATE_ERR_BYTES])
{
	struct head h;
	uint64_t bytes;
	int result = look(path, &h, &bytes, err);

	return result ? result : match(path, bytes, &h, p, err);
}

/*
 * Check that the disk has room before the file is mapped: a mapped file that the disk cannot hold ends the program with
 * SIGBUS.
 */
static int check_room(const struct drive_file *f, const char *path, const struct profile *p,
		      uint64_t bytes, char *err)
{
	struct statvfs v;
	struct stat st;
	uint64_t have, want;
	const char *fix = p->overcommit ? "use another disk" :
			  "set memory.overcommit=yes if most of the drive will stay unwritten";

	if (f->ephemeral || fstatvfs(f->fd, &v) || fstat(f->fd, &st))
		return SSD_OK;
	have = (uint64_t)v.f_bavail * v.f_frsize + (uint64_t)st.st_blocks * 512;
	want = p->overcommit ? bytes - payload_bytes(p) : bytes;
	if (want <= have)
		return SSD_OK;
	return fail(err, SSD_E_NOSPC, "drive file %s: may grow to %llu KiB and the disk has room for "
		    "%llu KiB: free some, or %s", path, (unsigned long long)(want + 1023) >> 10,
		    (unsigned long long)(have >> 10), fix);
}

/*
 * Map the file. An ephemeral file of the old version gets, behind its end, memory for the table that it lacks. (One
 * that is not ephemeral grows before that memory is used.)
 */
static bool map_bytes(struct drive_file *f, uint64_t bytes)
{
	uint64_t is = file_bytes(f), have = f->ephemeral && is < bytes ? is : bytes;
	int flags = f->ephemeral ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED;
	void *room = NULL;

	if (have < bytes) {
		room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
		flags |= MAP_FIXED;
	}
	f->map = room == MAP_FAILED ? room : mmap(room, have, PROT_READ | PROT_WRITE, flags, f->fd, 0);
	if (f->map == MAP_FAILED && room && room != MAP_FAILED)
		munmap(room, bytes);
	return f->map != MAP_FAILED;
}

static int map_file(struct drive_file *f, const char *path, uint64_t bytes, char *err)
{
	if (f->fresh && ftruncate(f->fd, (off_t)bytes))
		return fail(err, SSD_E_NOSPC, "drive file %s: cannot be made %llu bytes long: %s", path,
			    (unsigned long long)bytes, strerror(errno));
	f->bytes = bytes;
	if (!map_bytes(f, bytes)) {
		f->map = NULL;
		return fail(err, SSD_E_NOMEM, "drive file %s: cannot be mapped: %s; raise the address "
			    "space limit (ulimit -v) or use fewer blocks", path, strerror(errno));
	}
	return SSD_OK;
}

static int get_room(struct drive_file *f, const char *path, const struct profile *p, uint32_t version, char *err)
{
	int why = drive_file_room_init(f, p);

	if (!why && !f->ephemeral && version == VERSION)
		why = drive_file_room_forms(f);
	if (!why)
		return SSD_OK;
	return fail(err, SSD_E_NOSPC, "drive file %s: its tables need %llu KiB: %s; free some, or use "
		    "another disk", path, (unsigned long long)(f->payload_at + f->bytes - f->forms_at + 1023) >> 10,
		    strerror(why));
}

/* Give a file of the old version the table that it lacks, and a head of the present version, copy first. */
static int upgrade(struct drive_file *f, const char *path, const struct head *is, const struct profile *p, char *err)
{
	struct head *h = f->map, now = *is;
	int why = f->ephemeral ? 0 : drive_file_room_forms(f);

	if (!why && !f->ephemeral && ftruncate(f->fd, (off_t)f->bytes))
		why = errno;
	if (why) {
		(void)!ftruncate(f->fd, (off_t)(DRIVE_FILE_IMAGE_AT + is->image_bytes));
		return fail(err, SSD_E_NOSPC, "drive file %s: has format %u, and its new tables need %llu KiB more: "
			    "%s; free some, or use another disk", path, OLD_VERSION,
			    (unsigned long long)(f->bytes - f->forms_at + 1023) >> 10, strerror(why));
	}
	nand_array_upgrade(&p->array, drive_file_image(f));
	now.version = VERSION;
	now.image_bytes = nand_array_image_bytes(&p->array);
	now.crc = head_crc(&now);
	__asm__ volatile("" ::: "memory");	/* the process may end here: the heads are written last */
	h[COPY] = now;
	__asm__ volatile("" ::: "memory");
	h[HEAD] = now;
	return SSD_OK;
}

static int try_open(struct drive_file *f, const char *path, const struct profile *p,
		    const char *settings, char *err)
{
	struct head h;
	uint32_t damaged = HEADS;
	uint64_t bytes = DRIVE_FILE_IMAGE_AT + nand_array_image_bytes(&p->array);
	const char *why;
	int result = open_and_lock(f, path, err);

	h.version = VERSION;
	if (!result && !f->fresh)
		result = read_head(path, f->fd, &h, &damaged, err);
	if (!result && !f->fresh)
		result = match(path, file_bytes(f), &h, p, err);
	if (!result)
		result = check_room(f, path, p, bytes, err);
	if (!result)
		result = map_file(f, path, bytes, err);
	if (!result)
		result = get_room(f, path, p, h.version, err);
	if (!result && !f->fresh && nand_array_check_image(&p->array, drive_file_image(f), &why))
		result = fail(err, SSD_E_CORRUPT, "drive file %s: what it holds contradicts itself: %s; "
			      "restore it from a copy", path, why);
	if (!result && !f->fresh)
		mend_head(f, path, &h, damaged);
	if (!result && !f->fresh && h.version == OLD_VERSION)
		result = upgrade(f, path, &h, p, err);
	if (!result && f->fresh) {
		struct head *to = f->map;

		describe(to, p);
		memset(to->magic, 0, sizeof(to->magic));
		SSD_ASSERT(strlen(settings) < SETTINGS_BYTES);
		strcpy(to->settings, settings);
	}
	return result;
}

int drive_file_open(struct drive_file *f, const char *path, bool ephemeral,
		    const struct profile *p, const char *settings, char err[SLATE_ERR_BYTES])
{
	int result;

	*f = (struct drive_file){ .fd = -1, .ephemeral = ephemeral };
	result = try_open(f, path, p, settings, err);
	if (result)
		drive_file_close(f, path);
	return result;
}

void *drive_file_image(const struct drive_file *f)
{
	return (char *)f->map + DRIVE_FILE_IMAGE_AT;
}

void drive_file_discard(struct drive_file *f, uint64_t offset, uint64_t bytes)
{
	uint64_t page = 4096, from = (DRIVE_FILE_IMAGE_AT + offset + page - 1) / page * page;
	uint64_t to = (DRIVE_FILE_IMAGE_AT + offset + bytes) / page * page;

	drive_file_unreserve(f, offset, bytes);
	/*
	 * This is skipped while the drive is being made, because most of these bytes would be written
	 * again. If the file system cannot punch holes, the bytes stay, which does no harm.
	 */
	if (!f->ephemeral && !f->fresh && to > from)
		(void)!fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
				 (off_t)(to - from));
}

void drive_file_complete(struct drive_file *f)
{
	struct head *h = f->map;
	struct head whole;

	if (!f->fresh)
		return;
	whole = *h;
	memcpy(whole.magic, magic, sizeof(magic));
	whole.crc = h->crc = head_crc(&whole);
	h[COPY] = whole;
	__asm__ volatile("" ::: "memory");	/* write the magic last: it marks the file as complete */
	memcpy(h->magic, magic, sizeof(magic));
	f->fresh = false;
}

void drive_file_close(struct drive_file *f, const char *path)
{
	if (f->fd < 0)
		return;
	drive_file_room_close(f, path);
	if (f->fresh && f->created)
		unlink(path);
	else if (f->fresh)
		(void)!ftruncate(f->fd, 0);
	if (f->map)
		munmap(f->map, f->bytes);
	close(f->fd);
	f->fd = -1;
	f->map = NULL;
}
