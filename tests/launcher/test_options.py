# SPDX-License-Identifier: GPL-2.0-or-later
"""Test arguments and job files: what is refused, with which message."""

import json
import shlex
import tempfile
import unittest
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest import mock

import support

from slate_lib import cli, command, commands, facts, jobfile, load, options, paths, processors, units
from slate_lib.errors import USAGE, MachineError, SlateError
from slate_lib.parsing import Parser
from slate_lib.study import jobs

JOB = "[global]\nfilename=/dev/nvme0n1\n[a]\nrw=read\n[b]\nrw=write\n"


class Case(unittest.TestCase):
    """Tests start from a valid profile and job."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.profile = self.write("drive.ini", "[nand]\nchannels=1\n")
        self.job = self.write("some.fio", JOB)
        patch = mock.patch.object(jobfile, "guest_fio", return_value=None)
        patch.start()
        self.addCleanup(patch.stop)

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def parse(self, *args: Any, job: bool = True) -> Any:
        base = ["run", "--profile", self.profile] + (["--job", self.job] if job else [])
        return options.from_arguments(cli.parser().parse_args([*base, *args]))

    def refused(self, *args: Any, words: Iterable[str] = (), job: bool = True) -> None:
        with self.assertRaises(SlateError) as caught:
            self.parse(*args, job=job)
        self.assertEqual(caught.exception.code, USAGE)
        self.assertTrue(caught.exception.fix, "no fix")
        for word in words:
            self.assertIn(word, str(caught.exception))


class Loads(unittest.TestCase):
    """Test what is read of slate-load's summary."""

    def test_a_summary(self) -> None:
        op = {"requests": 4, "latency_sum_ns": 10, "p50_ns": 2, "p99_ns": 3, "max_ns": 5}
        text = json.dumps({"engine": "io_uring", "duration_ns": 2_000_000_000,
                           "ops": {"read": op, "write": {**op, "requests": 0}}})  # fmt: skip
        found = load.results("dir/a.csv", ["--open"], {"load.json": text.encode()})
        self.assertEqual(found["parameters"], {"trace": "a.csv", "engine": "io_uring", "options": "--open"})
        self.assertEqual(found["parts"], [{"name": "read", "operations": 4, "seconds": 2.0,
                                           "latency_ns": {"mean": 2.5, "p50": 2, "p99": 3, "max": 5}}])  # fmt: skip

    def test_what_is_no_summary(self) -> None:
        for text, why in ((b"", "Expecting value"), (b"[]", "it is no object"), (b"{}", "it has no 'engine'"),
                          (b'{"engine": "x", "duration_ns": 1, "ops": {"read": []}}', "'ops.read' is no object"),
                          (b'{"engine": "x", "duration_ns": NaN, "ops": {}}', "NaN is no number")):  # fmt: skip
            with self.assertRaisesRegex(MachineError, f"slate-load's summary can not be read: {why}"):
                load.results("a", [], {"load.json": text})
        with self.assertRaisesRegex(MachineError, "can not be read: 'load.json'"):
            load.results("a", [], {})


class Table(unittest.TestCase):
    """Test the table of commands, of which parser, manual and completion are made."""

    def test_each_option_is_described(self) -> None:
        seen = 0
        for words, command_ in (one for top in cli.COMMANDS for one in top.all()):
            for option in (*command_.options, *(one for _, group in command_.groups for one in group)):
                self.assertRegex(option.about, "[a-z]", f"{words} {option.name}")
                self.assertTrue(option.shown or option.name.startswith("--"), f"{words} {option.name}: no word for it")
                seen += 1
        self.assertGreater(seen, 100)

    def test_a_default_stands_in_the_help(self) -> None:
        option = commands.Option("--count", "N", "cuts", default="7")
        self.assertEqual(option.help, "cuts (default 7)")
        args = Parser(prog="x").add(commands.Command("x", "", options=(option,))).parse([])
        self.assertEqual(args.count, "7")

    def test_a_job_file_may_give_what_is_unset(self) -> None:
        unset = {option.dest for _, group in options.GROUPS for option in group if option.unset}
        self.assertEqual(unset, set(jobfile.HINTS))
        args = cli.parser().parse(["run"])
        self.assertEqual({getattr(args, name) for name in unset}, {None})
        self.assertEqual({name: options.DEFAULTS[name] for name in ("fill", "age", "mem", "timeout")},
                         {"fill": "100", "age": "0", "mem": "1G", "timeout": "600"})  # fmt: skip

    def test_a_study_takes_options_that_are_there(self) -> None:
        names = {option.name.removeprefix("--") for _, group in options.GROUPS for option in group}
        self.assertEqual(set(jobs.TAKES[jobs.GUEST]) - names, set())

    def test_an_option_before_a_verb_and_behind_it(self) -> None:
        for words, as_json in (("--json show x", True), ("show x --json", True), ("show x", False)):
            self.assertEqual(cli.parser().parse(["profiles", *words.split()]).json, as_json, words)

    def test_what_is_refused(self) -> None:
        for words, said in (
            (["profiles", "show", "x", "--jsn"], "--jsn: there is no such option; did you mean --json?"),
            (["profiles", "shw", "x"], "there is no shw; did you mean show?"),
            (["profile"], "profile: there is no such command; did you mean profiles?"),
            (["drive"], "required: ACTION"), (["guest"], "required: ACTION"),
            (["report", "--html", "--text"], "--html and --text exclude each other"),
        ):  # fmt: skip
            with self.assertRaises(SlateError) as caught:
                args = cli.parser().parse(words)
                args.execute(args)
            self.assertIn(said, str(caught.exception))


class Arguments(Case):
    """The command line."""

    def test_defaults(self) -> None:
        some = self.parse()
        self.assertEqual((some.smp, some.mem, some.seed, some.fill, some.age), (1, 1 << 30, 1, 100.0, 0.0))
        self.assertEqual(
            some.overrides(),
            ["precondition.fill_permille=1000", "precondition.age_permille=0", "precondition.seed=1"],
        )
        self.assertEqual(some.name, "some-drive")

    def test_own_settings_win(self) -> None:
        some = self.parse("--set", "precondition.fill_permille=10", "--set", "a.b=c")
        self.assertEqual(some.overrides()[-2:], ["precondition.fill_permille=10", "a.b=c"])
        self.assertNotIn("precondition.fill_permille=1000", some.overrides())

    def test_the_profile_may_precondition(self) -> None:
        self.write("drive.ini", "[precondition]\nfill_permille = 500\n")
        self.assertEqual(self.parse().overrides(), ["precondition.age_permille=0"])
        self.assertIn("precondition.fill_permille=100", self.parse("--fill", "10").overrides())

    def test_smp(self) -> None:
        for bad in ("0", "17", "two", "1.5", "-1", "1_6", "٣", "+4", " 4", "4\n", "9" * 5000):
            self.refused(f"--smp={bad}", words=["--smp", bad, "1 to 16"])
        self.refused("--smp=17", words=["--smp 17: in virtual time at most 16, which is what the small kernel takes"])
        self.assertEqual(self.parse("--realtime", "--smp", "64").smp, 64)
        self.refused("--realtime", "--smp=65", words=["--smp", "65", "1 to 64"])

    def icount(self, *args: Any, job: bool = True) -> str | None:
        """QEMU's -icount argument."""
        line = command.build(self.parse(*args, job=job), command.Files(Path("i"), Path("c"), Path("r")))
        return line[line.index("-icount") + 1] if "-icount" in line else None

    def test_cpu_rate(self) -> None:
        self.assertEqual(self.icount(), "rate=4,quantum=1000,sleep=off")
        for good, told in (("0.1", "0.1"), ("3.20", "3.2"), ("32", "32"), ("08.000", "8"), ("31.999", "31.999")):
            self.assertEqual(self.icount("--cpu-rate", good), f"rate={told},quantum=1000,sleep=off")
        for bad in ("0", "-1", "0.099", "32.001", "33", "1000", "0.0000001"):
            self.refused("--cpu-rate", bad, words=[f"--cpu-rate {bad}: out of range", "0.1 to 32"])
        self.refused("--cpu-rate=3.2001", words=["--cpu-rate 3.2001: too many digits", "at most three decimals"])
        for bad in ("four", "1e1", "", "1,5", "5.", ".5", "1_6", "٣", "1/3", "9" * 5000):
            self.refused(f"--cpu-rate={bad}", words=[f"--cpu-rate {bad}: not a decimal number", "0.1 to 32"])

    def test_cpu_quantum(self) -> None:
        self.assertEqual(self.icount("--cpu-quantum", "1"), "rate=4,quantum=1,sleep=off")
        settings = {"ftl.overhead_ns": "700", "ftl.map_ns": "50"}
        for given, shortest, most, default in (
            ({"ftl.map_ns": "40"}, 40, 100, 100),
            (settings, 750, 750, 750),
            ({"ftl.map_ns": "5000"}, 5000, 5000, 1000),
        ):
            self.assertEqual(processors.quantum(None, given, 2), default)
            self.assertEqual(processors.quantum(str(most), given, 2), most)
            with self.assertRaisesRegex(SlateError, f"shortest command .* = {shortest} ns.*(\n.*)* to {most}$"):
                processors.quantum(str(most + 1), given, 2)
            self.assertEqual(processors.quantum("1000000", given, 1), 1000000)
        self.refused("--cpu-quantum=1000001", words=["--cpu-quantum 1000001: out of range", "give 1 to 1000000"])
        self.refused("--cpu-quantum=0", words=["--cpu-quantum 0: out of range", "give 1 to "])
        for smp in ("1", "2"):
            self.refused(f"--smp={smp}", f"--cpu-quantum={'9' * 5000}", words=["out of range", "give 1 to 1"])
        for bad in ("-1", "1.5", "many"):
            self.refused(f"--cpu-quantum={bad}", words=[f"--cpu-quantum {bad}: not a whole number of ns"])

    def test_a_job_for_a_server(self) -> None:
        self.refused("--job", "calibrate", words=["is for a server", "slate calibrate fio.json"])

    def test_no_rate_in_real_time(self) -> None:
        self.assertIsNone(self.icount("--realtime"))
        self.refused("--realtime", "--cpu-rate=4", words=["--cpu-rate", "the host determines the speed", "--realtime"])
        self.refused("--realtime", "--cpu-quantum=4", words=["--cpu-quantum", "the host determines the speed"])

    def test_a_shell_lets_the_hosts_time_pass(self) -> None:
        self.assertEqual(self.icount("--shell", job=False), "rate=4,quantum=1000,sleep=on")

    def test_spin_ns(self) -> None:
        some = self.parse("--realtime", "--spin-ns", "5000")
        self.assertIn(",spin-ns=5000,", command.blockdev(some))
        self.assertIn("--realtime --spin-ns 5000", facts.repeat_command(some))
        self.assertNotIn("spin-ns", command.blockdev(self.parse("--realtime")))
        self.refused("--spin-ns=5000", words=["--spin-ns 5000", "--realtime"])
        self.refused("--realtime", "--spin-ns=-1", words=["--spin-ns", "-1", "0 to 1000000000"])

    def test_a_share_is_not_rounded(self) -> None:
        self.refused("--fill", "12.34", words=["--fill 12.34: finer than 0.1", "1 decimal place"])
        self.refused("--age", "1", "--fill", "0", words=["--age 1", "the drive is empty (--fill 0)", "--fill 100"])
        self.refused("--age", "0.0005", words=["--age 0.0005: finer than 0.001"])

    def test_guest_control(self) -> None:
        """The marks of a job need no orders, but a script of the user's may control the drive."""
        script = self.write("own.sh", "true\n")
        steering = self.write("steer.fio", JOB + "exec_prerun=slatectl gc\n")
        line = ["run", "--profile", self.profile]
        for words, wanted in (
            (["--job", self.job], "logs"),
            (["--job", steering], "on"),
            (["--cmd", script], "on"),
            (["--shell"], "on"),
            (["--load", "gen:rand4k,foot=1M,n=1"], "logs"),
            (["--job", self.job, "--cut-at", "1s", "--after-cut", script], "on"),
        ):
            some = options.from_arguments(cli.parser().parse_args([str(x) for x in [*line, *words]]))
            self.assertEqual(facts.settings(some)["guest_control"], wanted, words)
            self.assertEqual("guest-control=on" in command.blockdev(some).split(","), wanted == "on", words)

    def test_kernel(self) -> None:
        self.assertEqual(self.parse().kernel, "debian")
        self.assertEqual(self.parse("--kernel", "small").kernel, "small")
        self.refused("--kernel", "tiny", words=["tiny", "debian"])
        self.assertEqual(paths.kernel("small", 1).parent.name, "small")
        self.assertEqual(paths.kernel("small", 2).parent.name, "small-smp")
        self.assertEqual(paths.kernel("debian", 2), paths.kernel("debian", 1))
        self.job = self.write("some.fio", "# slate: kernel=small\n" + JOB)
        self.assertEqual(self.parse().kernel, "small")
        self.assertEqual(self.parse("--kernel", "debian", "--smp", "2").kernel, "debian")
        self.job = self.write("some.fio", "# slate: kernel=tiny\n" + JOB)
        self.refused(words=["kernel=tiny", "debian, small"])

    def test_small_kernel_has_its_drivers_built_in(self) -> None:
        words = command.append_line(self.parse("--kernel", "small")).split()
        self.assertLess({"nohz=off", "slate.mods=none", "slate.wait=nvme0n1"}, set(words))
        words = command.append_line(self.parse("--kernel", "small", "--frontend", "virtio-blk")).split()
        self.assertEqual([word for word in words if "slate." in word], ["slate.mods=none", "slate.wait=vda"])
        debian = command.append_line(self.parse())
        self.assertNotIn("nohz", debian)
        self.assertEqual([word for word in debian.split() if "slate." in word], ["slate.mods=none"])
        real = command.append_line(self.parse("--realtime"))
        self.assertNotIn("slate.mods", real)

    def test_snapshot(self) -> None:
        """The default is what can be done, and runs with which a snapshot does not go boot to the same moment."""
        small, large = self.folder / "small", self.folder / "large"
        for path, size in ((small, 15 << 20), (large, 16 << 20)):  # with the job's own file more than 16 MiB
            path.write_bytes(bytes(size))
        for words, how in (((), "use"), (("--snapshot", "use"), "use"), (("--snapshot", "boot"), "boot"),
                           (("--cut-at", "1ms"), "boot"), (("--qemu-arg=-S",), "boot"),
                           (("--fill", "0", "--namespace", "size=1M"), "boot"), (("--realtime",), ""),
                           (("--kernel", "small"), ""), (("--frontend", "virtio-blk"), ""),
                           (("--kernel-arg=slate.out=none",), ""), (("--file", str(large)), ""),
                           (("--file", str(small)), "use")):  # fmt: skip
            with self.subTest(words):
                some = self.parse(*words)
                self.assertEqual((some.snapshot, some.handoff), (how, how != ""))
                repeat = facts.repeat_command(some)
                self.assertEqual("--snapshot boot" in repeat, how == "boot", repeat)

    def test_kernel_arg(self) -> None:
        some = self.parse("--kernel", "small", "--kernel-arg", "nohz=on", "--kernel-arg=quiet")
        self.assertEqual(command.append_line(some).split()[-2:], ["nohz=on", "quiet"])
        for bad in ("", "two words", "tab\tbed", "naïve"):
            self.refused("--kernel-arg", bad, words=[f"'{bad}'", "one word"])

    def test_repeat(self) -> None:
        words = shlex.split(facts.repeat_command(self.parse("--kernel-arg=nohz=on", "--kernel", "small")))
        self.assertEqual(words[words.index("--kernel") + 1], "small")
        self.assertIn("--kernel-arg=nohz=on", words)

    def test_mem(self) -> None:
        self.refused("--mem", "lots", words=["lots", "1G"])
        self.refused("--mem", "64M", words=["64M", "384 MiB"])
        self.refused("--mem", "900T", words=["900T", "available"])
        self.assertEqual(self.parse("--mem", "512m").mem, 512 << 20)

    def test_fill_age_seed_timeout(self) -> None:
        self.refused("--fill", "101", words=["--fill 101", "0 to 100"])
        self.refused("--age", "-1", words=["--age"])
        self.refused("--seed", "x", words=["--seed x"])
        self.refused("--timeout", "0", words=["--timeout 0"])

    def test_set(self) -> None:
        self.refused("--set", "novalue", words=["novalue", "SECTION.KEY=VALUE"])

    def test_files(self) -> None:
        (self.folder / "tool").write_bytes(b"\x7fELF")
        path = str(self.folder / "tool")
        entries = {name: data for name, _, data in command.job_entries(self.parse("--file", path))}
        self.assertEqual(entries["job/tool"], b"\x7fELF")
        self.refused("--file", path, "--file", path, words=["another --file is called tool"])
        self.refused("--file", str(self.folder / "none"), words=["none", "No such file", "can be read"])
        (self.folder / "env").touch()
        self.refused("--file", str(self.folder / "env"), words=["the run's own is called env", "another name"])

    def test_a_trace_for_the_job(self) -> None:
        job, trace = self.write("t.fio", "[a]\nread_iolog=trace\n"), self.write("trace", "fio version 2 iolog\n")
        some = self.parse("--job", job, "--file", trace, job=False)
        entries = {name: data for name, _, data in command.job_entries(some)}
        self.assertEqual(entries["job/job.fio"], b"[a]\nread_iolog=/job/trace\n")

    def test_a_pattern_for_the_job(self) -> None:
        """fio takes a word in single quotes for a file, which it looks for where it is called."""
        text = "[a]\nfilename=/dev/nvme0n1\nbuffer_pattern='pattern'\nverify_pattern=0xab\"x\"'pattern'\n"
        job, pattern = self.write("p.fio", text), self.write("pattern", "slate")
        some = self.parse("--job", job, "--file", pattern, job=False)
        entries = {name: data for name, _, data in command.job_entries(some)}
        self.assertEqual(entries["job/job.fio"].decode(), text.replace("'pattern'", "'/job/pattern'"))
        quoted = text.replace("'pattern'", "\"it's a 'b'\"", 1)  # a text of fio's, which names no file
        some = self.parse("--job", self.write("q.fio", quoted), "--file", pattern, job=False)
        entries = {name: data for name, _, data in command.job_entries(some)}
        self.assertEqual(entries["job/job.fio"].decode(), quoted.replace("'pattern'", "'/job/pattern'"))
        self.refused("--job", job, words=["line 3: the file pattern of buffer_pattern is not in the guest",
                                          "add --file pattern"], job=False)  # fmt: skip

    def test_placement_handles(self) -> None:
        """The last setting counts; the namespace has all handles; a virtio disk has none."""
        two = ("--set", "ftl.placement_handles=2")
        words = command.device(self.parse(*two, "--set", "ftl.placement_handles=3"), "nvme", bootindex="0")
        self.assertEqual(
            words[1::2],
            [
                "nvme-subsys,id=group0,fdp=on,fdp.nruh=3",
                "nvme,id=fdp0,serial=slate,subsys=group0",
                "nvme-ns,drive=ssd0,bus=fdp0,shared=off,fdp.ruhs=0-2,bootindex=0",
            ],
        )
        groups = self.parse(*two, "--set", "ftl.placement_groups=4")
        self.assertEqual(command.device(groups, "nvme")[1], "nvme-subsys,id=group0,fdp=on,fdp.nruh=2,fdp.nrg=4")
        plain = ["-device", "nvme,serial=slate,drive=ssd0"]
        for how in (("--namespace", "size=1M"), ("--set", "drive.namespaces=2")):
            table = command.device(self.parse(*two, *how), "nvme")
            self.assertEqual(table[0], "-device")
            self.assertRegex(table[1], "^nvme,serial=slate,drive=ssd0(,namespaces=1048576:512)?$")
            self.assertEqual(len(table), 2, "the controller of a table has FDP by itself")
        for value in ("0", "-1", "many"):
            given = self.parse("--set", f"ftl.placement_handles={value}")
            self.assertEqual(command.device(given, "nvme"), plain)
        self.assertEqual(
            command.device(self.parse(*two), "virtio-blk-pci"), ["-device", "virtio-blk-pci,serial=slate,drive=ssd0"]
        )
        own = self.folder / "own.ini"
        own.write_text("[ftl]\nplacement_handles = 2 ; a comment\n", encoding="utf-8")
        second = self.parse("--profile", str(own)).drives[1]
        self.assertEqual(command.device(second, "nvme")[1], "nvme-subsys,id=group1,fdp=on,fdp.nruh=2")

    def test_env(self) -> None:
        self.refused("--env", "novalue", words=["novalue", "NAME=VALUE"])
        entries = {
            name: data
            for name, _, data in command.job_entries(self.parse("--env", "SIZE=50%", "--env", "A=b c"))
        }
        self.assertIn(b"\nSIZE=50%\nA='b c'\n", entries["job/env"])

    def test_choices(self) -> None:
        self.refused("--frontend", "scsi", words=["scsi"])
        self.refused("--accel", "magic", words=["magic"])

    def test_profile(self) -> None:
        for name, words in (("none.ini", ["none.ini", "drive.ini"]), (".", ["not a file"])):
            with self.assertRaises(SlateError) as caught:
                options.from_arguments(cli.parser().parse_args(["run", "--profile", str(self.folder / name)]))
            for word in words:
                self.assertIn(word, str(caught.exception))

    def drive(self, *args: Any, **more: Any) -> Any:
        """Parse 'slate run' with a drive file and no --profile."""
        path = support.drive_file(self.folder / "aged.slate", **more)
        line = ["run", "--job", self.job, "--drive", str(path), *args]
        return options.from_arguments(cli.parser().parse_args(line))

    def test_drive_that_is_there(self) -> None:
        some = self.drive()
        self.assertEqual((some.profile, some.fill, some.age, some.overrides()), (None, None, None, []))
        self.assertEqual(some.name, "some-aged")
        self.assertEqual(
            command.blockdev(some), f"driver=nand-ssd,node-name=ssd0,drive-file={self.folder}/aged.slate"
        )
        self.assertEqual(some.drive_kept.value("drive.name"), "tiny")
        some = self.drive("--ephemeral", "--profile", self.profile, "--set", "ftl.map_ns=5")
        self.assertEqual(
            command.blockdev(some),
            f"driver=nand-ssd,node-name=ssd0,profile={self.profile},drive-file={self.folder}/aged.slate,"
            "ephemeral=on,set.0=ftl.map_ns=5",
        )

    def test_record(self) -> None:
        some = self.parse("--record", str(self.folder / "job.txt"), "--fill", "0")
        self.assertIn(f",record={self.folder}/job.txt,set.0=", command.blockdev(some))
        self.assertEqual(self.parse().record, None)
        self.assertNotIn("record", command.blockdev(self.parse()))
        self.refused("--record", "/none/x", words=["--record /none/x", "name another file"])
        self.refused("--record", str(self.folder), words=["--record", "name another file"])

    def test_record_content(self) -> None:
        some = self.parse("--record-content", str(self.folder / "a,b"), "--fill", "0")
        self.assertIn(f",record-content={self.folder}/a,,b,set.0=", command.blockdev(some))
        self.assertIn(f"--record-content {self.folder}/a,b ", facts.repeat_command(some))
        self.refused("--record-content", "/none/x", words=["--record-content /none/x", "name another file"])
        same = str(self.folder / "x")
        self.refused("--record-content", same, "--record", same, words=["one file", "name two"])

    def test_qmp(self) -> None:
        """--qmp opens a second monitor, for slatectl."""
        some = self.parse("--qmp", str(self.folder / "a,b"))
        line = command.build(some, command.Files(Path("i"), Path("c"), Path("r")))
        at = line.index("chardev=others,mode=control")
        self.assertEqual(line[at - 2], f"socket,id=others,path={self.folder}/a,,b,server=on,wait=off")
        self.assertIn(f"--qmp {self.folder}/a,b", facts.repeat_command(some))
        self.assertNotIn(
            "others", " ".join(command.build(self.parse(), command.Files(Path("i"), Path("c"), Path("r"))))
        )
        self.refused("--qmp", "/none/x", words=["--qmp /none/x", "another file"])
        self.refused("--qmp", self.profile, words=["no socket"])
        self.refused("--qmp", str(self.folder / ("x" * 110)), words=["longer than 107"])

    def test_load(self) -> None:
        """--load replays a trace in the guest: a script, the trace, and slate-load's arguments."""
        trace = self.folder / "a trace.csv"
        trace.write_text("0,h,0,Read,0,4096,1\n", encoding="utf-8")

        def parse(*words: Any) -> Any:
            return options.from_arguments(cli.parser().parse_args(["run", *words]))

        some = parse("--load", str(trace), "--load-arg=--closed", "--load-arg=8")
        entries = {name: data for name, _, data in command.job_entries(some)}
        self.assertEqual(entries["job/trace"], trace.read_bytes())
        self.assertEqual(entries["job/load.args"], b"--closed\n8\n/dev/nvme0n1\ntrace\n")
        self.assertIn("slate-load", entries["job/run.sh"].decode())
        repeat = facts.repeat_command(some)
        self.assertIn(f"--load '{trace}' --load-arg=--closed --load-arg=8 ", repeat)
        self.assertNotIn("--cmd", repeat)
        again = parse(*shlex.split(repeat)[2:])
        self.assertEqual((again.work, again.name), (some.work, some.name))
        entries = {name: data for name, _, data in command.job_entries(parse("--load", "gen:rand4k,foot=1M,n=1"))}
        self.assertEqual(entries["job/load.args"], b"/dev/nvme0n1\ngen:rand4k,foot=1M,n=1\n")
        self.assertNotIn("job/trace", entries)
        self.refused("--load", "gen:rand4j", job=False, words=["generator gen:rand4j", "rand4k"])
        self.refused("--load", "/none/x", job=False, words=["--load /none/x", "no such file"])
        self.refused("--load-arg=--open", words=["--load-arg without --load"])
        self.refused("--load", str(trace), "--load-arg", "a\nb", job=False, words=["not one line"])
        for words in (("--app", "kv"), ("--job", "a.fio"), ("--cmd", "a.sh"), ("--content", "pc"), ("--shell",)):
            with self.assertRaisesRegex(SlateError, f"--load and {words[0]} exclude each other"):
                parse("--load", str(trace), *words)

    def test_content(self) -> None:
        """A workload is a script with applications on a new drive; the user's own options take precedence."""

        def parse(*words: Any) -> Any:
            return options.from_arguments(cli.parser().parse_args(["run", "--content", "iot", *words]))

        some = parse()
        self.assertEqual((some.work.name, some.apps, some.work.script_args, some.fill), ("iot", True, ["iot"], 0))
        self.assertEqual((some.mem, some.profile.name, some.name), (2 << 30, "small.ini", "iot-small"))
        names = [name for name, _, _ in command.job_entries(some)]
        self.assertEqual(
            sorted(names),
            ["job/args", "job/env", "job/iot.py", "job/run.sh", "job/workload.py"],
        )
        repeat = shlex.split(facts.repeat_command(some))
        self.assertIn("--content", repeat)
        for word in ("--cmd", "--apps", "--cmd-arg=iot"):
            self.assertNotIn(word, repeat)
        some = parse("--mem", "1G", "--fill", "50", "--profile", str(self.profile), "--env", "SCALE=2")
        self.assertEqual((some.mem, some.fill, some.profile), (1 << 30, 50, Path(self.profile)))
        self.assertEqual(some.environment, {"SCALE": "2"})
        self.refused("--content", "x", words=["--content x", "iot, pc, synth, web"])
        for words in (["--cmd", "a"], ["--job", "a"], ["--cmd-arg", "a"]):
            with self.assertRaisesRegex(SlateError, f"--content and {words[0]} exclude each other"):
                parse(*words)

    def test_drive_that_is_there_is_not_filled(self) -> None:
        for words in (
            ["--fill", "50"],
            ["--age=1"],
            ["--precondition", "device"],
            ["--set", "precondition.seed=3"],
        ):
            with self.assertRaises(SlateError) as caught:
                self.drive(*words)
            self.assertIn(words[0].partition("=")[0], str(caught.exception))
            self.assertIn("aged.slate holds a drive already", str(caught.exception))

    def test_hints_do_not_fill_a_drive_that_is_there(self) -> None:
        self.job = self.write("some.fio", "# slate: fill=50 smp=2\n" + JOB)
        self.assertEqual((self.drive().fill, self.drive().smp), (None, 2))

    def test_drive_that_is_not_there(self) -> None:
        new = str(self.folder / "new.slate")
        some = self.parse("--drive", new)
        self.assertEqual((some.drive_kept, some.fill), (None, 100.0))
        self.assertIn(f",drive-file={new},set.0=precondition.fill_permille=1000,", command.blockdev(some))
        self.refused("--drive", new, "--ephemeral", words=["new.slate: is not there", "slate age"])
        self.refused("--drive", "/none/x", words=["no directory /none"])
        self.refused("--drive", str(self.folder), words=["not a plain file"])
        self.refused("--ephemeral", words=["--ephemeral without --drive"])
        with self.assertRaises(SlateError) as caught:
            options.from_arguments(cli.parser().parse_args(["run", "--drive", new]))
        self.assertIn("give --profile too", str(caught.exception))

    def test_drive_that_is_none(self) -> None:
        for more, word in (
            ({"magic": b"MAGIC\r\n\x1a"}, "is no drive file"),
            ({"version": 2, "image_bytes": 20481}, "has 53248 bytes instead of 53249"),
            ({"version": 1}, "has format 1, this program reads 2 and 3"),
            ({"image_bytes": 20481}, "has 53248 bytes instead of 53249"),
        ):
            with self.assertRaises(SlateError) as caught:
                self.drive(**more)
            self.assertIn(f"aged.slate: {word}", str(caught.exception))

    def test_job_and_cmd(self) -> None:
        self.refused("--cmd", self.job, words=["--job and --cmd"])
        self.refused("--cmd", "/none.sh", job=False, words=["/none.sh"])

    def test_precondition_device_needs_fio(self) -> None:
        script = self.write("x.sh", "true\n")
        self.refused("--cmd", script, "--precondition", "device", job=False, words=["fio jobs only"])

    def test_kvm_that_is_not_there(self) -> None:
        with mock.patch("os.access", return_value=False), self.assertRaises(SlateError) as caught:
            options._check_kvm()
        self.assertIn("/dev/kvm", str(caught.exception))


class Jobs(Case):
    """Job files."""

    def test_sections(self) -> None:
        self.assertEqual(jobfile.load(Path(self.job), {}).sections, ["a", "b"])

    def test_hints(self) -> None:
        self.job = self.write("some.fio", "# slate: fill=50 smp=2\n" + JOB)
        self.assertEqual((self.parse().fill, self.parse().smp), (50.0, 2))
        self.assertEqual(self.parse("--smp", "3").smp, 3)

    def test_bad_hints(self) -> None:
        self.job = self.write("some.fio", "# slate: colour=red\n" + JOB)
        self.refused(words=["line 1", "colour=red", "fill"])
        self.job = self.write("some.fio", "# slate: smp=many\n" + JOB)
        self.refused(words=["--smp many"])

    def test_missing(self) -> None:
        self.job = str(self.folder / "nope.fio")
        self.refused(words=["nope.fio", "some.fio"])

    def test_binary(self) -> None:
        (self.folder / "some.fio").write_bytes(b"\xff\xfe\0")
        self.refused(words=["not text"])

    def test_no_section(self) -> None:
        self.job = self.write("some.fio", "[global]\nrw=read\n")
        self.refused(words=["no job"])

    def test_names_that_begin_alike(self) -> None:
        self.job = self.write("some.fio", "[random-reads-4k-a]\nrw=read\n[random-reads-4k-b]\nrw=read\n")
        self.assertEqual(jobfile.load(Path(self.job), {}).sections, ["random-reads-4k-a", "random-reads-4k-b"])

    def test_precondition_job(self) -> None:
        some = self.parse("--precondition", "device", "--fill", "50", "--age", "2.25")
        text = command.precondition_job(some)
        self.assertIn("size=50%", text)
        self.assertIn("loops=2", text)
        self.assertIn("io_size=25%", text)
        self.assertIn("job/precondition.fio", [name for name, _, _ in command.job_entries(some)])
        self.assertEqual(some.overrides(), ["precondition.fill_permille=0", "precondition.age_permille=0"])

    def test_frontend_renames_the_drive(self) -> None:
        some = self.parse("--frontend", "virtio-blk")
        entries = {name: data for name, _, data in command.job_entries(some)}
        self.assertIn(b"filename=/dev/vda", entries["job/job.fio"])
        self.assertIn("slate.wait=vda", command.append_line(some))


class Units(unittest.TestCase):
    """Convert numbers to text and back."""

    def test_sizes(self) -> None:
        self.assertEqual(
            [units.parse_size(t) for t in ("5", "4k", "1G", "2 MiB")], [5, 4096, 1 << 30, 2 << 20]
        )
        self.assertEqual(
            [units.size(n) for n in (5, 4096, 1 << 30, 3 << 29)], ["5 B", "4 KiB", "1 GiB", "1.5 GiB"]
        )

    def test_us(self) -> None:
        self.assertEqual(
            [units.us(n) for n in (None, 536, 65536, 9_999_900, 123_456_789)],
            ["-", "0.54", "65.5", "9999.9", "123,457"],
        )


if __name__ == "__main__":
    unittest.main()
