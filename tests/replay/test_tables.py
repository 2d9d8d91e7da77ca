# SPDX-License-Identifier: GPL-2.0-or-later
"""Test traces that are Parquet or Arrow files: their columns, units and faults, and what 'convert' writes."""

import gzip
import hashlib
import os
import sys
import unittest
from pathlib import Path
from typing import Any

from support import CORE, ROOT, TINY, Case

from test_trace import NATIVE

sys.path.insert(0, str(ROOT / "host-tools"))
from slate_lib import command, packages
from slate_lib.errors import SlateError

os.environ["SLATE_TABLES"] = str(ROOT / "host-tools" / "slate_lib" / "tables.py")  # as 'slate' does
pa: Any = packages.load("pyarrow", "venv-parquet")
pq: Any = packages.load("pyarrow.parquet", "venv-parquet")

BEGIN_US = 1577808144000000  # 2019-12-31, about midnight
US = [BEGIN_US, BEGIN_US + 46, BEGIN_US + 100]
ITEMS = "op=kind:r/w,offset=sector*512,bytes=size"
# what the rows below are: operation, bytes of the offset and of the request, ns
ROWS = [("read", 4096, 4096, 0), ("write", 8192, 8192, 46_000), ("read", 0, 512, 100_000)]


def table(**other: Any) -> Any:
    """Return a table of three requests, with some columns replaced or added."""
    columns = {
        "issued": pa.array(US, pa.timestamp("us")),
        "kind": pa.array(["R", "W", "r"]).dictionary_encode(),
        "sector": pa.array([8, 16, 0], pa.int32()),
        "size": pa.array([4096, 8192, 512], pa.uint32()),
        **other,
    }
    return pa.table(columns)


class Tables(Case):
    """Replay files that pyarrow made."""

    def parquet(self, made: Any, name: str = "a.parquet", **how: Any) -> Path:
        pq.write_table(made, self.folder / name, **how)
        return self.folder / name

    def arrow(self, made: Any, name: str = "a.arrow", **how: Any) -> Path:
        with pa.ipc.new_file(str(self.folder / name), made.schema, options=pa.ipc.IpcWriteOptions(**how)) as file:
            file.write_table(made, max_chunksize=2)
        return self.folder / name

    def found(self, path: Path, items: str, kind: str = "parquet") -> list[tuple[Any, ...]]:
        rows = self.rows("--open", "--format", f"{kind}:{items}", path)
        return [(row["op"], row["offset"], row["bytes"], row["submit_ns"]) for row in rows]

    def trace(self, *args: Any, code: int = 0) -> Any:
        return self.call(*args, code=code, program=CORE / "slate-trace")

    def test_a_type_with_a_unit(self) -> None:
        for unit, per_us in (("ns", 1000), ("us", 1)):
            for kind in (pa.timestamp(unit), pa.timestamp(unit, "UTC"), pa.duration(unit)):
                with self.subTest(str(kind)):
                    path = self.parquet(table(issued=pa.array([at * per_us for at in US], kind)))
                    self.assertEqual(self.found(path, f"time=issued,{ITEMS}"), ROWS)
        for unit, ns in (("ms", 10**6), ("s", 10**9)):
            for kind in (pa.timestamp(unit), pa.duration(unit)):
                path = self.arrow(table(issued=pa.array([1577808144, 1577808145, 1577808147], kind)))
                self.assertEqual([row[3] for row in self.found(path, f"time=issued,{ITEMS}", "arrow")],
                                 [0, ns, 3 * ns])  # fmt: skip

    def test_units_that_the_user_names(self) -> None:
        """As for csv; an item may begin with a column's number."""
        for values, item in (
            (US, "time=issued:us"),
            (US, "time=1us"),
            ([at * 10 for at in US], "time=1*100ns"),
            ([at / 1e6 for at in (0, 46, 100)], "time=issued:s"),
            (pa.array([f"{at}.5" for at in US]), "time=issued:us"),
            (pa.array(["0", "0.000046", "0.0001"]), "time=1s"),
        ):
            with self.subTest(item):
                path = self.parquet(table(issued=values))
                self.assertEqual(self.found(path, f"{item},op=2:r/w,offset=3*512,bytes=4"), ROWS)
        self.assertEqual([row[3] for row in self.found(self.parquet(table()), ITEMS)], [0, 0, 0])

    def test_dates_in_text(self) -> None:
        times = pa.array([f"2026-12-01T09:30:00.000{at:03}+01:00" for at in (0, 46, 100)])
        path = self.parquet(table(issued=times))
        self.assertEqual(self.found(path, f"time=issued:iso,{ITEMS}"), ROWS)
        for items, words in (
            (f"time=issued,{ITEMS}", ("as in time=issued:us, or time=issued:iso",)),
            (f"time=sector:iso,{ITEMS}", ("'sector' is int32, but :iso is for text",)),
        ):
            self.refused("--profile", TINY, "--format", f"parquet:{items}", path, words=words)

    def test_arrow(self) -> None:
        """Record batches of two rows, plain and compressed; text in dictionaries, or not."""
        for how in ({}, {"compression": "lz4"}, {"compression": "zstd"}):
            for kind in (table()["kind"], pa.array(["R", "W", "R"]), pa.array(["R", "W", "R"], pa.large_string())):
                path = self.arrow(table(kind=kind), **how)
                self.assertEqual(self.found(path, f"time=issued,{ITEMS}", "arrow"), ROWS)

    def test_operations(self) -> None:
        """Words as for csv; numbers and truth are text, too."""
        for values, words in (([1, 0, 1], ":1/0"), ([False, True, False], ":false/true"), (["read", "WRITE", "r"], "")):
            path = self.parquet(table(kind=pa.array(values)))
            self.assertEqual(self.found(path, f"time=issued,op=kind{words},offset=sector*512,bytes=size"), ROWS)
        path = self.parquet(table(kind=pa.array(["w", "t", "f"])))
        self.assertEqual([row[:3] for row in self.found(path, "op=kind,offset=sector*512,bytes=size")],
                         [("write", 4096, 4096), ("trim", 8192, 8192), ("flush", 0, 0)])  # fmt: skip

    def test_volumes(self) -> None:
        path = self.parquet(table(disk=pa.array(["b b", "a,x", "b b"]).dictionary_encode(), number=[7, 3, 7]))
        for device, items, rows in (("0", "disk:text", 2), ("1", "disk:text", 1), ("3", "number", 1)):
            words = ("--format", f"parquet:{ITEMS},volume={items}", "--device", device)
            one = self.json(*words, path)["inputs"][0]
            self.assertEqual((one["rows"], one["other_devices"]), (rows, 3 - rows))

    def test_what_the_report_has(self) -> None:
        """Format, hash and size are the file's; a second pass reads it again."""
        path = self.parquet(table(), row_group_size=2)
        words = ("--format", f"parquet:{ITEMS}", "--repeat", "2", "--scale", path)
        one = self.json(*words)["inputs"][0]
        data = path.read_bytes()
        self.assertEqual((one["format"], one["rows"], one["bad"], one["bytes"], one["sha256"]),
                         ("parquet", 6, 0, len(data), hashlib.sha256(data).hexdigest()))  # fmt: skip

    def test_a_replay_that_needs_no_more(self) -> None:
        many = 300_000
        path = self.parquet(pa.table({"kind": ["W"] * many, "sector": [0] * many, "size": [512] * many}))
        self.assertEqual(self.json("--limit", "1", "--format", f"parquet:{ITEMS}", path)["requests"]["submitted"], 1)

    def test_bad_rows(self) -> None:
        """They have the number of the file's row, through row groups of two; --max-bad allows them."""
        six = pa.concat_tables([table()] * 2)
        for column, values, why in (
            ("sector", pa.array([8, 16, 0, 8, None, 0]), "offset (column 'sector') is null, or no whole number"),
            ("sector", pa.array([8, 16, 0, 8, -1, 0]), "offset (column 'sector') is null, or no whole number"),
            ("size", pa.array([1, 1, 1, 1, None, 1]), "bytes (column 'size') is null, or no whole number"),
            ("kind", pa.array(["R", "W", "R", "R", "X", "W"]), "op (column 'kind') is null, or not r (read) or w"),
            ("kind", pa.array(["R", "W", "R", "R", None, "W"]), "op (column 'kind') is null, or not r (read) or w"),
            ("issued", pa.array([1, 2, 3, 4, None, 6], pa.timestamp("us")), "time (column 'issued') is null, or no"),
            ("issued", pa.array([1, 2, 3, 4, -5, 6], pa.timestamp("us")), "time (column 'issued') is null, or no"),
        ):
            with self.subTest(why=why, values=values[4].as_py()):
                made = six.set_column(six.schema.names.index(column), column, values)
                for path, kind in ((self.parquet(made, row_group_size=2), "parquet"), (self.arrow(made), "arrow")):
                    form = f"{kind}:time=issued,{ITEMS}"
                    self.refused("--profile", TINY, "--format", form, path, words=(f"{path.name}:5: bad row: {why}",),
                                 code=1)
                    one = self.json("--format", form, "--max-bad", "200", path)["inputs"][0]
                    self.assertEqual((one["rows"], one["bad"]), (5, 1))

    def test_whole_numbers_in_other_types(self) -> None:
        """pandas makes floats of whole numbers with nulls, and databases decimals. A flush needs no place."""
        for column, values in (
            ("sector", pa.array([8.0, 16.0, 0.0])),
            ("sector", pa.array([8.0, 16.0, 0.0], pa.float32())),
            ("sector", pa.array([8, 16, 0], pa.decimal128(20, 0))),
            ("size", pa.array([4096.0, 8192.0, 512.0]).dictionary_encode()),
        ):
            with self.subTest(str(values.type)):
                path = self.parquet(table(**{column: values}))
                self.assertEqual(self.found(path, f"time=issued,{ITEMS}"), ROWS)
        path = self.parquet(table(kind=["R", "F", "R"], sector=[8.0, None, 0.0], size=[4096, None, 512]))
        self.assertEqual(self.found(path, "time=issued,op=kind:r/w/t/f,offset=sector*512,bytes=size"),
                         [ROWS[0], ("flush", 0, 0, 46_000), ROWS[2]])

    def test_columns_that_are_refused(self) -> None:
        path = self.parquet(table(text=["a", "b", "c"], real=[8.5, 16.0, 0.0], list=[[1], [2], [3]]))
        for items, words in (
            ("op=read,offset=sektor,bytes=size", ("no column 'sektor'; did you mean sector?", "size (uint32)")),
            ("op=read,offset=8,bytes=size", ("there is no column 8: it has issued (timestamp[us])",)),
            ("op=read,offset=real,bytes=size", ("'real' is double, and not all of its numbers are whole",)),
            ("op=list,offset=sector,bytes=size", ("'list' is list<", "text or whole numbers")),
            ("op=read,offset=issued,bytes=size", ("'issued' is timestamp[us]", "make it int64")),
            (f"time=issued:us,{ITEMS}", ("'issued' is timestamp[us], which has a unit", "time=issued")),
            (f"time=sector,{ITEMS}", ("'sector' is int32, which has no unit: give it, as in time=sector:us",)),
            (f"time=list:us,{ITEMS}", ("'list' is list<", "a timestamp or a duration")),
            ("op=kind", ("columns are missing", "parquet:time=issued,")),
            (f"{ITEMS},skip=1", ("skip=1: is not time=",)),
            (f"time=issued:h,{ITEMS}", ("time=issued:h: takes a column, and its unit",)),
            ("op=read,offset=,bytes=size", ("offset=: takes a column",)),
        ):
            with self.subTest(items):
                self.refused("--profile", TINY, "--format", f"parquet:{items}", path, words=words)
        double = pa.table([[1], [2]], names=["a", "a"])
        self.refused("--profile", TINY, "--format", "parquet:op=read,offset=a,bytes=a", self.parquet(double),
                     words=("2 columns are named 'a'",))
        late = self.parquet(table(issued=pa.array([0, 1, 9223372037], pa.timestamp("s"))), row_group_size=2)
        self.refused("--profile", TINY, "--format", f"parquet:time=issued,{ITEMS}", late,
                     words=("row group 2 (rows 3 to 3): column 'issued' has a time beyond the year 2262",))

    def test_files_that_are_refused(self) -> None:
        made = pa.concat_tables([table()] * 1000)
        path = self.parquet(made, row_group_size=1000, compression="zstd", use_dictionary=False)
        form = ("--profile", TINY, "--format", f"parquet:{ITEMS}")
        data = path.read_bytes()
        self.refused(*form, self.file("cut", data[: len(data) // 2]),
                     words=("trace", "cut: it is damaged, or not the whole file:"))  # fmt: skip
        at = pq.ParquetFile(path).metadata.row_group(1).column(2).data_page_offset
        hurt = data[: at + 30] + bytes(40) + data[at + 70 :]
        self.refused(*form, self.file("hurt", hurt), words=("row group 2 (rows 1001 to 2000) can not be read",))
        self.refused(*form, self.file("packed", gzip.compress(data)), words=("packed: is neither Parquet nor",))
        self.refused(*form, self.arrow(table()), words=("is an Arrow file, and --format says parquet",))
        self.refused("--profile", TINY, "--format", "msr", path, words=("is Parquet, and --format says msr",))
        self.refused("--profile", TINY, path, words=("its columns are not Slate's own: name them by --format",
                                                     "it has issued (timestamp[us]), kind"))  # fmt: skip
        with open(path, "rb") as pipe:
            done = self.call(*form, "-", code=2, stdin=pipe)
        self.assertIn("trace -: is parquet", done.stderr)
        alone = {key: value for key, value in os.environ.items() if key != "SLATE_TABLES"}
        self.assertIn("only if it is started by 'slate'", self.call(*form, path, code=2, env=alone).stderr)

    def test_convert(self) -> None:
        """Every word of the native form comes back."""
        native = self.file("a", NATIVE)
        want = self.trace("convert", native, "-").stdout
        for name in ("a.parquet", "a.arrow", "a.feather"):
            self.trace("convert", native, name)
            self.assertEqual(self.trace("convert", name, "-").stdout, want)
        self.assertEqual(
            pq.read_table(self.folder / "a.parquet").to_pydict(),
            {
                "time_ns": [0, 2, 1, 5], "stream": [0, 0, 1, 1], "op": ["write", "read", "trim", "flush"],
                "offset": [0, 0, 512, None], "bytes": [4096, 512, 512, None], "fua": [True, False, False, False],
                "handle": [3, 0, 0, 0], "crossing": ["command", "nothing", None, None],
                "lost": [True, False, False, False], "priority": [2, 0, 0, 1],
            },
        )  # fmt: skip
        self.trace("convert", self.file("none", "# slate-trace 1\n"), "none.parquet")
        self.assertEqual(self.trace("convert", "none.parquet", "-").stdout, "# slate-trace 1\n")

    def test_columns_of_another_maker(self) -> None:
        """Without the further columns, too; --format gives them other meanings."""
        path = self.parquet(pa.table({"op": ["write", "flush"], "bytes": [512, None], "offset": [1024, None],
                                      "stream": [0, 1], "time_ns": [5, 6]}))  # fmt: skip
        self.assertEqual(self.trace("convert", path, "-").stdout, "# slate-trace 1\n0 0 write 1024 512\n1 1 flush\n")
        self.assertEqual(self.trace("convert", "--format",
                                    "parquet:time=time_ns:us,op=op,offset=offset,bytes=bytes", path, "-").stdout,
                         "# slate-trace 1\n0 0 write 1024 512\n1000 0 flush\n")  # fmt: skip

    def test_convert_is_refused(self) -> None:
        bad = self.file("bad", NATIVE + "9 0 jump 0 512\n")
        late = self.file("late", f"# slate-trace 1\n0 0 flush\n{2**63} 0 flush\n")
        for words, what, code in (
            (("convert", bad, "b.parquet"), "1 of 7 rows are bad", 1),
            (("convert", bad, "none/b.parquet"), "none/b.parquet: cannot be written there", 2),
            (("convert", late, "b.arrow"), "b.arrow: cannot be written: In CSV column #0", 2),
        ):
            with self.subTest(words=words):
                self.assertIn(what, self.trace(*words, code=code).stderr)
                self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["bad", "late"])
        alone = {key: value for key, value in os.environ.items() if key != "SLATE_TABLES"}
        done = self.call("convert", late, "b.parquet", program=CORE / "slate-trace", code=2, env=alone)
        self.assertIn("only if it is started by 'slate'", done.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["bad", "late"])

    def test_a_trace_for_a_guest(self) -> None:
        """The launcher converts it, because the guest has no pyarrow."""
        from slate_lib import cli, options

        def entries(*words: str) -> dict[str, bytes]:
            args = ["run", "--load", str(path), *words]
            made = options.from_arguments(cli.parser().parse_args(args))
            return {name: data for name, _, data in command.job_entries(made)}

        path = self.parquet(table())
        some = entries(f"--load-arg=--format=parquet:time=issued,{ITEMS}", "--load-arg=--open")
        self.assertEqual(some["job/load.args"], b"--open\n/dev/nvme0n1\ntrace\n")
        self.assertEqual(some["job/trace"], b"# slate-trace 1\n0 0 read 4096 4096\n46000 0 write 8192 8192\n"
                                            b"100000 0 read 0 512\n")  # fmt: skip
        with self.assertRaises(SlateError) as failed:
            entries()
        self.assertIn("its columns are not Slate's own", failed.exception.message)


if __name__ == "__main__":
    unittest.main()
