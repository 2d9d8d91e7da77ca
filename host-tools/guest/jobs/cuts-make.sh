#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cuts-make.sh: prepare the drive with which all cuts of 'slate cuts' begin, by ./make if there is one.
[ ! -e make ] || ./make
