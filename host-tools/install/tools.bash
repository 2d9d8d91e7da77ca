# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of slate-replay, slate-content, slate-trace, slate-load and slatectl: what their --help has.

_slatectl()
{
	local cur prev words cword
	_init_completion || return
	case $prev in
	--device | --qmp)
		_filedir
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_parse_help "$1")" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -W "$("$1" --help | sed -n 's/^  \([a-z][a-z]*\).*/\1/p')" -- "$cur")
	fi
}

complete -F _slatectl slatectl
complete -F _longopt slate-replay slate-content slate-trace slate-load
