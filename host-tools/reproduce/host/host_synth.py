# SPDX-License-Identifier: GPL-2.0-or-later
"""synth: logic synthesis by yosys. Six designs are edited in turn and synthesized again; every run keeps its netlists.

The designs are made here: a multiplier array, a filter, a CRC unit, a substitution box, a register file with its
ALU, and a crossbar, with widths and tables by the seed. A run has a folder with its sources, the netlist after each
step of the flow as RTLIL, JSON and Verilog, the last one also as BLIF, and the log. The last runs of a
design stay, older ones are deleted. Two runs at a time, as by make -j2, so that the order of writes varies.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from reproduce.host.host import DRIVE, generator, more, run, say

KEPT = 4  # runs of a design
Parts = dict[str, str]


def array(rng: random.Random, n: int = 2, bits: int = 16) -> Parts:
    """Return a systolic array of multiply-accumulate cells."""
    shift = rng.randint(1, 7)
    cell = f"""module cell(input clk, input rst, input signed [{bits - 1}:0] a, input signed [{bits - 1}:0] b,
  output reg signed [{bits - 1}:0] qa, output reg signed [{bits - 1}:0] qb, output reg signed [{2 * bits + 7}:0] sum);
  always @(posedge clk) begin
    qa <= a;
    qb <= b;
    sum <= rst ? {2 * bits + 8}'d{rng.randrange(1000)} : sum + ((a * b) >>> {shift});
  end
endmodule
"""
    top = f"""module top(input clk, input rst, input [{n * bits - 1}:0] rows, input [{n * bits - 1}:0] columns,
  output [{n * n * (2 * bits + 8) - 1}:0] sums);
  wire [{bits - 1}:0] a[0:{n - 1}][0:{n}];
  wire [{bits - 1}:0] b[0:{n}][0:{n - 1}];
  genvar i, j;
  generate for (i = 0; i < {n}; i = i + 1) begin : row
    assign a[i][0] = rows[i * {bits} +: {bits}];
    assign b[0][i] = columns[i * {bits} +: {bits}];
    for (j = 0; j < {n}; j = j + 1) begin : column
      cell one(clk, rst, a[i][j], b[i][j], a[i][j + 1], b[i + 1][j],
        sums[(i * {n} + j) * {2 * bits + 8} +: {2 * bits + 8}]);
    end
  end endgenerate
endmodule
"""
    return {"cell.v": cell, "top.v": top}


def fir(rng: random.Random, taps: int = 12) -> Parts:
    """Return a filter with constant coefficients."""
    terms = " + ".join(f"d[{i}] * $signed(16'd{rng.randrange(1, 30000)})" for i in range(taps))
    return {"top.v": f"""module top(input clk, input signed [15:0] x, output reg signed [39:0] y);
  reg signed [15:0] d[0:{taps - 1}];
  integer i;
  always @(posedge clk) begin
    d[0] <= x;
    for (i = 1; i < {taps}; i = i + 1) d[i] <= d[i - 1];
    y <= {terms};
  end
endmodule
"""}  # fmt: skip


def crc(rng: random.Random, lanes: int = 2) -> Parts:
    """Return CRCs of several polynomials over 128 bits a cycle."""
    polynomials = ", ".join(f"32'h{rng.getrandbits(32) | 1:08x}" for _ in range(lanes))
    return {"top.v": f"""module top(input clk, input [127:0] d, output reg [{32 * lanes - 1}:0] q);
  localparam [{32 * lanes - 1}:0] P = {{{polynomials}}};
  reg [31:0] c;
  integer i, k;
  always @(posedge clk)
    for (k = 0; k < {lanes}; k = k + 1) begin
      c = q[32 * k +: 32];
      for (i = 0; i < 128; i = i + 1)
        c = (c << 1) ^ ((c[31] ^ d[i]) ? P[32 * k +: 32] : 32'd0);
      q[32 * k +: 32] <= c;
    end
endmodule
"""}  # fmt: skip


def sbox(rng: random.Random, boxes: int = 8) -> Parts:
    """Return a round of a cipher, with random substitution boxes in place of those of a known cipher."""
    made = {}
    for number in range(boxes):
        table = rng.sample(range(256), 256)
        rows = "\n".join(f"    8'd{i}: y = 8'd{value};" for i, value in enumerate(table))
        made[f"s{number}.v"] = (
            f"module s{number}(input [7:0] x, output reg [7:0] y);\n  always @* case (x)\n{rows}\n"
            "    default: y = 8'd0;\n  endcase\nendmodule\n"
        )
    uses = "\n".join(f"  s{i} u{i}(r[{8 * i} +: 8], t[{8 * i} +: 8]);" for i in range(boxes))
    width = 8 * boxes
    made["top.v"] = f"""module top(input clk, input [{width - 1}:0] k, output reg [{width - 1}:0] r);
  wire [{width - 1}:0] t;
{uses}
  always @(posedge clk) r <= k ^ {{t[{rng.randint(1, width - 2)}:0], t}};
endmodule
"""
    return made


def alu(rng: random.Random, registers: int = 32) -> Parts:
    """Return a register file, written and read by an ALU of 16 operations."""
    operations = ["a + b", "a - b", "a & b", "a | b", "a ^ b", "a << b[4:0]", "a >> b[4:0]", "$signed(a) >>> b[4:0]",
                  "a * b", "~a", "{31'd0, a < b}", "{a[15:0], b[15:0]}", "a ^ {b[0], b[31:1]}",
                  f"a + 32'd{rng.getrandbits(30)}", f"a ^ 32'd{rng.getrandbits(31)}", "b"]  # fmt: skip
    rng.shuffle(operations)
    rows = "\n".join(f"    4'd{i}: r = {text};" for i, text in enumerate(operations))
    return {"alu.v": "module alu(input [3:0] op, input [31:0] a, input [31:0] b, output reg [31:0] r);\n"
            f"  always @* case (op)\n{rows}\n  endcase\nendmodule\n",
            "top.v": f"""module top(input clk, input [3:0] op, input [4:0] s, input [4:0] t, input [4:0] d,
  output [31:0] result);
  reg [31:0] x[0:{registers - 1}];
  reg [31:0] a, b;
  alu one(op, a, b, result);
  always @(posedge clk) begin
    a <= x[s];
    b <= x[t];
    x[d] <= result;
  end
endmodule
"""}  # fmt: skip


def crossbar(rng: random.Random, ports: int = 8, bits: int = 32) -> Parts:
    """Return a crossbar with an arbiter at each output; ports have priorities."""
    order = rng.sample(range(ports), ports)
    choice = " else ".join(f"if (want[{i}]) winner = 4'd{i};" for i in order)
    return {"arbiter.v": f"""module arbiter(input [{ports - 1}:0] want, output reg [3:0] winner);
  always @* begin winner = 4'd0; {choice} end
endmodule
""", "top.v": f"""module top(input clk, input [{ports * 4 - 1}:0] to, input [{ports - 1}:0] valid,
  input [{ports * bits - 1}:0] d, output reg [{ports * bits - 1}:0] q);
  genvar o, i;
  generate for (o = 0; o < {ports}; o = o + 1) begin : out
    wire [{ports - 1}:0] want;
    wire [3:0] winner;
    for (i = 0; i < {ports}; i = i + 1) begin : in
      assign want[i] = valid[i] && to[4 * i +: 4] == o;
    end
    arbiter one(want, winner);
    always @(posedge clk) if (|want) q[{bits} * o +: {bits}] <= d[{bits} * winner +: {bits}];
  end endgenerate
endmodule
"""}  # fmt: skip


DESIGNS: dict[str, Callable[[random.Random], Parts]] = {
    "array": array, "fir": fir, "crc": crc, "sbox": sbox, "alu": alu, "crossbar": crossbar,
}  # fmt: skip
FLOW = ("hierarchy -check -top top; proc; flatten", "opt -fast", "wreduce", "memory_map", "techmap", "opt -fast",
        "dfflegalize -cell $_DFF_P_ x", "abc -fast -g AND,OR,XOR,NAND,NOR,XNOR,MUX; opt_clean",
        "hilomap -hicell one Y -locell zero Y", "splitnets -ports", "abc -fast -lut 4; opt_clean")  # fmt: skip


def synthesize(folder: Path, parts: Parts) -> None:
    """Write the sources of a run, and what yosys makes of them after each step."""
    folder.mkdir(parents=True)
    for name, text in parts.items():
        (folder / name).write_text(text, encoding="ascii")
    lines = [f"read_verilog {name}" for name in sorted(parts)]
    for number, step in enumerate(FLOW):
        lines += [step, *(f"write_{kind} step{number:02d}.{kind}" for kind in ("rtlil", "json", "verilog"))]
    lines += ["write_blif netlist.blif", "stat"]
    (folder / "run.ys").write_text("\n".join(lines) + "\n", encoding="ascii")
    run("yosys", "-q", "-l", "log", "run.ys", cwd=folder)


def edit(rng: random.Random, parts: Parts, fresh: Parts) -> None:
    """Edit the design: one source is replaced by one with other constants, or gets a comment."""
    name = rng.choice(sorted(parts))
    parts[name] = fresh[name] if rng.random() < 0.7 else f"// {rng.getrandbits(64):x}: reviewed\n{parts[name]}"


def main(_: list[str]) -> int:
    """Run until enough was written."""
    rng = generator("synth")
    sources = {name: make(rng) for name, make in DESIGNS.items()}
    number = 0
    with ThreadPoolExecutor(2) as pool:
        while more():
            for name, make in DESIGNS.items():
                if number:
                    edit(rng, sources[name], make(rng))
                if number >= KEPT:
                    shutil.rmtree(DRIVE / name / f"run{number - KEPT:04d}")
            folders = [DRIVE / name / f"run{number:04d}" for name in DESIGNS]
            list(pool.map(synthesize, folders, sources.values()))
            number += 1
            say(f"round {number}")
    return 0
