# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads and writes traces that are Parquet or Arrow files, for the trace library (host-tools/trace/table.h).

    tables.py read parquet|arrow FILE [FORM=COLUMN ...]    print the rows as lines
    tables.py write parquet|arrow FILE                     make the file of the lines on standard input

COLUMN is a name, or a number from 1 on. A line has the named columns, separated by the character 31; a null is empty.
Forms: "text" (an operation, a volume's name), "number" (whole), "time" (a number whose unit the user named), "stamp" (a
type that has a unit: it becomes nanoseconds), and "iso" (text of a date and time). Without columns the file must be one
that "write" makes, and the lines are those of Slate's native form.

It is a program of its own, because pyarrow is large and in an environment of its own. It holds a batch of rows when it
reads and a row group when it writes. If it fails, the last line on standard error is the reason.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from slate_lib import names, packages
from slate_lib.errors import SlateError

ROWS = 1 << 16  # of a batch that is read
GROUP_ROWS = 1 << 19  # of a row group that is written
BUFFER = 1 << 20
SEPARATOR = "\x1f"
NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
PARQUET = "parquet"
# The columns of a table in the native form, in the order of a line's words; the first ones must be there.
COLUMNS = ("time_ns", "stream", "op", "offset", "bytes", "fua", "handle", "crossing", "lost", "priority")
OWN = COLUMNS[:5]
FLAGS = {"fua": "fua", "lost": "lost"}
PREFIXES = {"handle": "handle=", "crossing": "cross=", "priority": "priority="}

Values = Callable[[Any], Any]  # of an array; None: the lines have no such column


@dataclass
class Column:
    """Describes a column of the lines: where it comes from, and how its values become text or whole numbers."""

    index: int
    values: Values
    is_text: bool


def _pyarrow(part: str) -> Any:
    """Import pyarrow or a part of it; without it this program has nothing to do."""
    try:
        return packages.load(f"pyarrow{part}", "venv-parquet", "pip's pyarrow, in an environment")
    except SlateError as error:
        sys.exit(f"{error.message}: {error.fix}")


pa = _pyarrow("")
pc = _pyarrow(".compute")


# ---- the file


class Table:
    """Yields the rows of a file in batches of at most ROWS, each with the words for its place in the file."""

    def __init__(self, kind: str, path: str) -> None:
        self.kind = kind
        try:
            if kind == PARQUET:
                self.file = _pyarrow(".parquet").ParquetFile(path, buffer_size=BUFFER)
                self.schema = self.file.schema_arrow
            else:
                self.file = pa.ipc.open_file(pa.memory_map(path))
                self.schema = self.file.schema
        except (pa.ArrowException, OSError) as error:
            raise SlateError(f"it is damaged, or not the whole file: {_first(error)}") from None

    def _parts(self) -> Iterator[tuple[int, Iterable[Any]]]:
        """Yield each row group or record batch: its rows, and what it is read in."""
        if self.kind == PARQUET:
            for group in range(self.file.num_row_groups):
                rows = self.file.metadata.row_group(group).num_rows
                yield rows, self.file.iter_batches(ROWS, [group], self.chosen)
        else:
            for at in range(self.file.num_record_batches):
                whole = self.file.get_batch(at)
                yield whole.num_rows, (whole.slice(begin, ROWS) for begin in range(0, whole.num_rows, ROWS))

    def batches(self, columns: list[int]) -> Iterator[tuple[str, Any]]:
        """Yield the batches; they have these columns, among others."""
        self.chosen = sorted({self.schema.names[index] for index in columns})
        word = "row group" if self.kind == PARQUET else "record batch"
        begin, number, parts = 0, 0, self._parts()
        where = f"{word} 1"
        try:
            for number, (rows, batches) in enumerate(parts, 1):
                where = f"{word} {number} (rows {begin + 1} to {begin + rows})"
                for batch in batches:
                    yield where, batch
                begin += rows
                where = f"{word} {number + 1}"
        except (pa.ArrowException, OSError) as error:
            raise SlateError(f"{where} can not be read: {_first(error)}") from None


def _first(error: BaseException) -> str:
    """Return the first line of a message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


# ---- columns


def _index(schema: Any, word: str) -> int:
    """Find a column."""
    if word.isdigit():
        if not 1 <= int(word) <= len(schema.names):
            raise SlateError(f"there is no column {word}: it has {_told(schema)}")
        word = schema.names[int(word) - 1]
    places: list[int] = schema.get_all_field_indices(word)
    if not places:
        near = names.nearest(word, schema.names)
        raise SlateError(f"there is no column '{word}'{near}: it has {_told(schema)}")
    if len(places) > 1:
        raise SlateError(f"{len(places)} columns are named '{word}': give them different names")
    return places[0]


def _told(schema: Any) -> str:
    """Return the columns with their types."""
    told = ", ".join(f"{field.name} ({field.type})" for field in list(schema)[:12])
    return told + (", ..." if len(schema.names) > 12 else "")


def _value_type(found: Any) -> Any:
    """Return the type of the values, also of a dictionary."""
    return found.value_type if pa.types.is_dictionary(found) else found


def _plain(array: Any) -> Any:
    """Return the values themselves, if they are in a dictionary."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _printed(array: Any) -> Any:
    """Return the values as text, of the one type that the writer of CSV prints."""
    return _plain(array).cast(pa.string())


def _is_text(found: Any) -> bool:
    return any(is_(found) for is_ in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _text(name: str, found: Any) -> Values:
    kind = _value_type(found)
    if not (_is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_binary(kind)):
        raise SlateError(f"column '{name}' is {found}: operations and names of volumes are text or whole numbers")
    return _printed


def _iso(name: str, found: Any) -> Values:
    if not _is_text(_value_type(found)):
        raise SlateError(
            f"column '{name}' is {found}, but :iso is for text: write time={name} for a timestamp, or time={name}:us"
        )
    return _printed


def _number(name: str, found: Any) -> Values:
    kind = _value_type(found)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):  # pandas makes them of whole numbers with nulls
        return lambda array: _whole(name, found, array)
    if not (pa.types.is_integer(kind) or _is_text(kind)):
        raise SlateError(
            f"column '{name}' is {found}: addresses, sizes and numbers of volumes are whole numbers: make it int64"
        )
    return _printed if _is_text(kind) else _plain


def _whole(name: str, found: Any, array: Any) -> Any:
    try:
        return _plain(array).cast(pa.int64())
    except pa.ArrowInvalid:
        raise SlateError(
            f"column '{name}' is {found}, and not all of its numbers are whole and below 2^63: make it int64"
        ) from None


def _time(name: str, found: Any) -> Values:
    kind = _value_type(found)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        raise SlateError(f"column '{name}' is {found}, which has a unit: leave yours out, as in time={name}")
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or _is_text(kind)):
        raise SlateError(f"column '{name}' is {found}: a time is a number, a timestamp or a duration")
    return _printed if pa.types.is_decimal(kind) or _is_text(kind) else _plain


def _stamp(name: str, found: Any) -> Values:
    kind = _value_type(found)
    if not (pa.types.is_timestamp(kind) or pa.types.is_duration(kind)):
        iso = f", or time={name}:iso" if _is_text(kind) else ""
        raise SlateError(f"column '{name}' is {found}, which has no unit: give it, as in time={name}:us{iso}")
    factor = pa.scalar(NS[kind.unit], pa.int64())

    def values(array: Any) -> Any:
        try:
            return pc.multiply_checked(_plain(array).cast(pa.int64()), factor)
        except pa.ArrowInvalid:
            raise SlateError(f"column '{name}' has a time beyond the year 2262") from None

    return values


FORMS: dict[str, Callable[[str, Any], Values]] = {"text": _text, "number": _number, "time": _time, "stamp": _stamp,
                                                  "iso": _iso}  # fmt: skip


def _chosen(schema: Any, items: list[str]) -> list[Column]:
    """Return the columns that the user named."""
    found = []
    for item in items:
        form, _, word = item.partition("=")
        index = _index(schema, word)
        field = schema.field(index)
        found.append(Column(index, FORMS[form](schema.names[index], field.type), form in ("text", "iso")))
    return found


def _own(schema: Any) -> list[Column]:
    """Return the columns of a table in the native form, or say what the user must name."""
    if any(name not in schema.names for name in OWN):
        raise SlateError(
            "its columns are not Slate's own: name them by --format, as in "
            f"parquet:time=issued,op=kind:r/w,offset=sector*512,bytes=size; it has {_told(schema)}"
        )
    found = []
    for name in COLUMNS:
        if name not in schema.names:
            continue
        index = _index(schema, name)
        if name in FLAGS or name in PREFIXES:
            found.append(Column(index, _word(name), True))
        else:
            values = (_text if name == "op" else _number)(name, schema.field(index).type)
            found.append(Column(index, values, name == "op"))
    return found


def _word(name: str) -> Values:
    """Return what makes a line's optional word, such as 'handle=3'; empty for no, 0 and null. None: all are empty."""
    none = pa.scalar("", pa.string())

    def values(array: Any) -> Any:
        if array.null_count == len(array) or (name != "crossing" and not pc.max(array).as_py()):
            return None
        if name in FLAGS:
            return pc.if_else(pc.fill_null(array, False), pa.scalar(FLAGS[name]), none)
        texts = pc.fill_null(_plain(array).cast(pa.string()), "")
        given = pc.not_equal(texts, pa.scalar("" if name == "crossing" else "0"))
        words = pc.binary_join_element_wise(pa.scalar(PREFIXES[name]), texts, "")
        return pc.if_else(pc.and_(given, pc.not_equal(texts, none)), words, none)

    return values


# ---- read and write


def read(kind: str, path: str, items: list[str]) -> None:
    """Print the lines."""
    csv = _pyarrow(".csv")
    table = Table(kind, path)
    columns = _chosen(table.schema, items) if items else _own(table.schema)
    form = csv.WriteOptions(include_header=False, batch_size=ROWS, delimiter=SEPARATOR if items else " ",
                            quoting_style="none")  # fmt: skip
    writers: dict[tuple[str, ...], Any] = {}
    for where, batch in table.batches([column.index for column in columns]):
        try:
            made = {
                str(at): column.values(batch.column(table.schema.names[column.index]))
                for at, column in enumerate(columns)
            }
            lines = pa.RecordBatch.from_pydict({at: array for at, array in made.items() if array is not None})
            key = tuple(lines.schema.names)
            if key not in writers:
                writers[key] = csv.CSVWriter(sys.stdout.buffer, lines.schema, write_options=form)
            writers[key].write_batch(lines)
        except SlateError as error:
            raise SlateError(f"{where}: {error.message}") from None
        except pa.ArrowException as error:
            raise SlateError(f"{where} can not be read: {_first(error)}") from None
    for writer in writers.values():
        writer.close()
    sys.stdout.flush()


def write(kind: str, path: str) -> None:
    """Make the file."""
    csv, text = _pyarrow(".csv"), pa.string()
    types = {
        "time_ns": pa.int64(), "stream": pa.uint64(), "op": text, "offset": pa.int64(), "bytes": pa.int64(),
        "fua": pa.bool_(), "handle": pa.uint8(), "crossing": text, "lost": pa.bool_(), "priority": pa.uint8(),
    }  # fmt: skip
    schema = pa.schema([pa.field(name, types[name]) for name in COLUMNS])
    if kind == PARQUET:
        made = _pyarrow(".parquet").ParquetWriter(path, schema, compression="zstd")
    else:
        made = pa.ipc.new_file(path, schema, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    with made:
        given = io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False))
        if not given.peek(1):
            return  # a trace without requests
        waiting: list[Any] = []
        for batch in csv.open_csv(
            given,
            read_options=csv.ReadOptions(column_names=list(COLUMNS), block_size=4 << 20),
            convert_options=csv.ConvertOptions(column_types=types, strings_can_be_null=True),
        ):
            waiting.append(batch)
            if sum(one.num_rows for one in waiting) >= GROUP_ROWS:
                made.write_table(pa.Table.from_batches(waiting, schema))
                waiting = []
        if waiting:
            made.write_table(pa.Table.from_batches(waiting, schema))


def main(words: list[str]) -> int:
    """Returns the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader of the lines may need no more of them
    what, kind, path, *items = words
    try:
        if what == "read":
            read(kind, path, items)
        else:
            write(kind, path)
    except SlateError as error:
        print(error.message + (f": {error.fix}" if error.fix else ""), file=sys.stderr)
        return 1
    except (pa.ArrowException, OSError) as error:
        print(_first(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a thread of pyarrow's CSV reader may still run, and then an ordinary exit aborts (26.0.1)
