# SPDX-License-Identifier: GPL-2.0-or-later
"""Studies: the published figures, real traces and models, beside what Slate's drives do. __main__.py starts a part.

Folders import only those below them: studies, then pages, then papers and real, then rows, then traces and models,
then host and places.py.
"""
