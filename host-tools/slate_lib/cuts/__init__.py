# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate cuts': the power of a drive is cut under a work, again and again, and the data are checked.

times.py, kinds.py and workload.py say when, what and under which work; ready.py has the shipped works. campaign.py
makes one cut (files.py has its drives), states.py and vanish.py those of two kinds, groups.py the cuts of a campaign,
and explain.py those that shrink.py asks for. logfile.py has the log, report.py and figures.py its page, and survey.py
cuts a replay. command.py is the command. The cuts of 'slate run' are in powercut.py, outside.
"""
