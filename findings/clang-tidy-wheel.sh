#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# clang-tidy 15.0.2.1 from PyPI does not start in a fresh environment of Python 3.12 or later.
#
# Its program imports pkg_resources, a part of setuptools, and its metadata names no requirement. Environments of Python
# up to 3.11 get setuptools with pip, so it starts there; since 3.12 they do not. With setuptools 80.9.0 beside it, it
# starts, and prints the path of its program before the version.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/expect"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' || {
	echo "${0##*/}: $("$python" --version) is too old: name one of 3.12 or later with PYTHON=FILE" >&2
	exit 2
}
"$python" --version
"$python" -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install clang-tidy==15.0.2.1
expect "requirements" "$(grep -ic '^Requires-Dist' "$work"/venv/lib/*/site-packages/clang_tidy-*.dist-info/METADATA)" 0
expect "the last line without setuptools" "$("$work/venv/bin/clang-tidy" --version 2>&1 | tail -n 1)" \
	"ModuleNotFoundError: No module named 'pkg_resources'"
"$work/venv/bin/pip" -q --disable-pip-version-check install setuptools==80.9.0
expect "the version with it" \
	"$("$work/venv/bin/clang-tidy" --version 2>"$work/warnings" | sed -n 's/.*LLVM version *//p')" 15.0.2
