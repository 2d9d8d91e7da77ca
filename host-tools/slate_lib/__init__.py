# SPDX-License-Identifier: GPL-2.0-or-later
"""The launcher, with a module for each of its tasks.

cli, options   the command line and the options of a run
jobfile        fio job files: sections, hints to the launcher, errors
command        the QEMU command line
process, qmp   one QEMU process, and its QMP connection
watch          the guest's console: phases, panics, hangs
results        the files that the guest sent back
rundir         out/<run>/: unique, and written completely or not at all
facts          run.json
drivefile      the head of a drive file
age            'slate age' and 'slate drive'
account        the drive's own figures (device.json)
fioresult      the guest's figures (fio.json)
report         both in one text
run            the sequence of all these steps
"""
