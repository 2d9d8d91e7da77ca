# SPDX-License-Identifier: GPL-2.0-or-later
"""From a run to rows of a table: runs (points), quantities (measures), rows (compare), their forms (layout)."""
