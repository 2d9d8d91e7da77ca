/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive_file.h - a drive that is a file: its head, and the mapping. The format is
 * in SPEC.md.
 *
 * The file is the array's image behind a head and its copy, sparse, mapped shared: all that the
 * array writes is in the page cache at once, so it stays in the file even if the process is killed
 * at any instruction. It is locked while it is open: one writer, or any number of ephemeral
 * readers, which see it copy-on-write.
 */
#ifndef SLATE_DRIVE_FILE_H
#define SLATE_DRIVE_FILE_H

#include "profile.h"
#include "slate.h"

#define DRIVE_FILE_HEAD_BYTES 16384u
#define DRIVE_FILE_IMAGE_AT (2 * DRIVE_FILE_HEAD_BYTES)	/* after the head and its copy */

struct drive_file {
	int fd;			/* -1: none */
	void *map;		/* the head and its copy; the image follows in the file */
	size_t bytes;
	bool fresh;		/* blank: this call must make the drive */
	bool created;		/* the file did not exist before */
	bool ephemeral;
	/* drive_room.c */
	bool rooms;		/* stores to the payload may need disk space that is not available */
	bool tight;		/* the disk had too little space at the last check */
	uint32_t asked;		/* writes since the last check of the disk */
	uint64_t payload_at, page_bytes, pb_bytes;
	uint64_t forms_at;	/* the table behind the payload */
	uint64_t margin;	/* bytes that accepted writes may need */
	uint8_t *backed;	/* one bit per smallest PB: set when its disk space is allocated */
	struct aside *aside;	/* pages that are not in the file */
	size_t aside_count;
};

/*
 * Returns the settings of the drive in a file (from the copy of its head if the head is damaged) as
 * a NULL-terminated list of "section.key=value" for profile_load(), to be freed with free(). The
 * file is not locked.
 */
int drive_file_settings(const char *path, char ***out, char err[SLATE_ERR_BYTES]) SSD_MUST_CHECK;
/*
 * Check that the drive in a file was made with profile p, as far as the file's head and size tell. The file is not
 * locked. Returns 0, or a negative ssd_err with a sentence in err.
 */
int drive_file_check(const char *path, const struct profile *p, char err[SLATE_ERR_BYTES]) SSD_MUST_CHECK;
/*
 * Map the drive of profile p in path; a file that does not exist (or is empty) becomes a
 * blank drive, unless it would be ephemeral. settings: what profile_print() says.
 * An existing file must have p's geometry; one of format 2 becomes one of format 3. Afterwards the image is at
 * drive_file_image(). If one of its two heads is damaged, it opens by the other, and says so on
 * stderr; unless ephemeral, the damaged one is written anew. On failure nothing stays open, and the
 * file is as it was.
 */
int drive_file_open(struct drive_file *f, const char *path, bool ephemeral,
		    const struct profile *p, const char *settings,
		    char err[SLATE_ERR_BYTES]) SSD_MUST_CHECK;
void *drive_file_image(const struct drive_file *f);
/* drive_room.c: returns the bytes that writes which a drive has accepted, and GC, may need. */
uint64_t drive_room_margin(const struct profile *p);
/*
 * drive_room.c: reserves disk space for the tables. Returns 0, or errno if there is no disk space for the tables, or no
 * memory. The file is mapped.
 */
int drive_file_room_init(struct drive_file *f, const struct profile *p) SSD_MUST_CHECK;
/* Allocate disk space for the table behind the payload. Returns 0 or errno. */
int drive_file_room_forms(const struct drive_file *f) SSD_MUST_CHECK;
/*
 * Allocate disk space or memory for a page that is about to be stored at this offset of the image.
 */
void drive_file_reserve(struct drive_file *f, uint64_t offset);
void drive_file_unreserve(struct drive_file *f, uint64_t offset, uint64_t bytes);
/* Does the disk have room for a write of the host? */
bool drive_file_has_room(struct drive_file *f);
/* Is all content of the drive in its file, and none only in memory? */
bool drive_file_is_whole(struct drive_file *f);
void drive_file_room_close(struct drive_file *f, const char *path);
/* Give bytes of the image back to the file system. */
void drive_file_discard(struct drive_file *f, uint64_t offset, uint64_t bytes);
/* Mark a fresh drive (filled, aged) as complete: it may now be opened again. */
void drive_file_complete(struct drive_file *f);
/* Unmap and unlock. A fresh file that is not complete is removed, or emptied if it existed. */
void drive_file_close(struct drive_file *f, const char *path);

#endif
