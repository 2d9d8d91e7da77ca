# SPDX-License-Identifier: GPL-2.0-or-later
"""The launcher: one small file for each of its jobs.

cli, options   what the user asked for
jobfile        fio job files: sections, hints to the launcher, errors
command        the QEMU command line
process, qmp   one QEMU, and the conversation with it
watch          the guest's console: phases, panics, hangs
results        what the guest sent back
rundir         out/<run>/: unique, atomic, never half
facts          run.json
drivefile      the head of a drive file
age            'slate age' and 'slate drive'
account        the drive's own figures (device.json)
fioresult      the guest's figures (fio.json)
report         both beside each other
run            the flow that ties them together
"""
