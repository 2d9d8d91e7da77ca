/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_file.h - opens the file that a recording is written to. Its name is FILE.part until it is
 * complete, and then replaces FILE. It is locked like a drive file, and neither name may be that of
 * a locked file: a recording would otherwise replace a drive that is open, or another recording.
 */
#ifndef SLATE_RECORD_FILE_H
#define SLATE_RECORD_FILE_H

#include "slate.h"

/*
 * Returns a descriptor of the empty file `part`, or -1 with a sentence in err. what: the kind of
 * recording, for the sentence.
 */
int record_file_open(const char *what, const char *path, const char *part, char err[SLATE_ERR_BYTES]);

#endif
