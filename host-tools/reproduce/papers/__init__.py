# SPDX-License-Identifier: GPL-2.0-or-later
"""The papers: drives and figures of each, the studies that they make (study), and their claims."""
