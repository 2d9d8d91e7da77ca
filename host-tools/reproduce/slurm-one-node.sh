#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# slurm-one-node.sh start|stop - a Slurm of this machine alone, to try
# 'make reproduce-pen EXECUTOR=slurm' with. Needs the Debian packages slurm-wlm and
# munge, and root (slurmd). All of its state is in build/slurm: key, configuration,
# sockets, logs; nothing under /etc is read or written. Steps that a job starts look
# for the configuration in /run/slurm/conf: a link is there until 'stop'. It listens
# on localhost.
# 'start' prints the line that points Slurm's commands at it.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
state=${SLATE_BUILD:-$(readlink -m "$here/../../build")}/slurm
conf=$state/slurm.conf
link=/run/slurm/conf/slurm.conf

fail() {
	echo "slurm-one-node.sh: $*" >&2
	exit 1
}

stop() {
	local daemon pid
	for daemon in slurmd slurmctld munged; do
		pid=$(cat "$state/$daemon.pid" 2>/dev/null) || continue
		kill "$pid" 2>/dev/null || continue
		for _ in {1..50}; do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.1
		done
	done
	[ "$(readlink "$link")" != "$conf" ] || rm -f "$link"
}

configure() {
	local host
	host=$(hostname -s)
	[ -e "$state/munge.key" ] || (umask 077 && head -c 1024 /dev/urandom >"$state/munge.key")
	cat >"$conf" <<-END
		ClusterName=slate
		SlurmctldHost=$host(127.0.0.1)
		SlurmUser=root
		SlurmctldPort=16817
		SlurmdPort=16818
		AuthType=auth/munge
		AuthInfo=socket=$state/munge.socket
		CredType=cred/munge
		StateSaveLocation=$state/ctld
		SlurmdSpoolDir=$state/slurmd
		SlurmctldPidFile=$state/slurmctld.pid
		SlurmdPidFile=$state/slurmd.pid
		SlurmctldLogFile=$state/slurmctld.log
		SlurmdLogFile=$state/slurmd.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core_Memory
		MpiDefault=none
		ReturnToService=2
		SchedulerParameters=sched_interval=2
		MinJobAge=600
		NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(free -m | awk '/^Mem:/ { print int($2 * 0.9) }') State=UNKNOWN
		PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
	END
}

start() {
	local name
	for name in munged slurmctld slurmd; do
		command -v "$name" >/dev/null || fail "$name is not there: apt-get install slurm-wlm munge"
	done
	[ "$(id -u)" = 0 ] || fail "slurmd must be started as root"
	mkdir -p "$state/ctld" "$state/slurmd"
	chmod 700 "$state"
	stop
	configure
	[ ! -e "$link" ] || fail "$link is there: another Slurm is set up on this machine; use that one"
	mkdir -p "${link%/*}"
	ln -sf "$conf" "$link"
	munged --force --key-file="$state/munge.key" --socket="$state/munge.socket" \
		--pid-file="$state/munged.pid" --log-file="$state/munged.log" --seed-file="$state/munged.seed"
	export SLURM_CONF=$conf
	slurmctld -c || fail "slurmctld did not start: see $state/slurmctld.log"
	slurmd || fail "slurmd did not start: see $state/slurmd.log"
	for _ in {1..100}; do
		[ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
		sleep 0.2
	done
	[ "$(sinfo -h -o %T)" = idle ] || fail "the node is '$(sinfo -h -o %T)', not idle: see $state/*.log"
	echo "export SLURM_CONF=$conf"
}

case "${1:-}" in
start) start ;;
stop) stop ;;
*) fail "usage: slurm-one-node.sh start|stop" ;;
esac
