# SPDX-License-Identifier: GPL-2.0-or-later
"""Studies that replay real traces (tracestudy), with patches of the replayer for some (patched)."""
