# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of the long recordings: record starts one in a process of its own."""
