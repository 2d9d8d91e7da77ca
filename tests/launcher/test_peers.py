# SPDX-License-Identifier: GPL-2.0-or-later
"""Test 'slate profiles import': drives of other simulators, whose figures were worked out by hand."""

import re
import tempfile
import unittest
from pathlib import Path
from typing import Any

import support  # noqa: F401  (sets the path)

from slate_lib import peers, profiles
from slate_lib.errors import SlateError
from test_profiles import slate

MQSIM = """<?xml version="1.0"?>
<Execution_Parameter_Set><Host_Parameter_Set><PCIe_Lane_Count>4</PCIe_Lane_Count></Host_Parameter_Set>
<Device_Parameter_Set><Data_Cache_Capacity>8388608</Data_Cache_Capacity><CMT_Capacity>2097152</CMT_Capacity>
<Overprovisioning_Ratio>0.07</Overprovisioning_Ratio><GC_Exec_Threshold>0.05</GC_Exec_Threshold>
<GC_Hard_Threshold>0.005</GC_Hard_Threshold><GC_Block_Selection_Policy>RGA</GC_Block_Selection_Policy>
<Flash_Channel_Count>8</Flash_Channel_Count><Flash_Channel_Width>1</Flash_Channel_Width>
<Channel_Transfer_Rate>333</Channel_Transfer_Rate><Chip_No_Per_Channel>4</Chip_No_Per_Channel>
<Flash_Parameter_Set><Flash_Technology>MLC</Flash_Technology><CMD_Suspension_Support>ERASE</CMD_Suspension_Support>
<Page_Read_Latency_LSB>60000</Page_Read_Latency_LSB><Page_Read_Latency_MSB>60000</Page_Read_Latency_MSB>
<Page_Program_Latency_LSB>400000</Page_Program_Latency_LSB>
<Page_Program_Latency_MSB>1300000</Page_Program_Latency_MSB>
<Block_Erase_Latency>3800000</Block_Erase_Latency><Suspend_Erase_Time>700000</Suspend_Erase_Time>
<Die_No_Per_Chip>2</Die_No_Per_Chip><Plane_No_Per_Die>2</Plane_No_Per_Die>
<Block_No_Per_Plane>2048</Block_No_Per_Plane><Page_No_Per_Block>256</Page_No_Per_Block>
<Page_Capacity>8192</Page_Capacity><Page_Metadat_Capacity>448</Page_Metadat_Capacity>
</Flash_Parameter_Set></Device_Parameter_Set></Execution_Parameter_Set>
"""
SSDSIM = """#parameter file
dram capacity = 131072;     #the unit is B
chip number[0] = 2;
chip number[1] = 2;
chip number[2] = 0;
channel number = 2;
chip number = 4;
die number = 2;
plane number = 2;
block number = 1024;
page number = 64;
page capacity = 4096;
t_PROG = 200000;
t_BERS = 1500000;
t_R = 20000;
t_WC = 25;
t_RC = 25;
overprovide=0.10;
gc threshold=0.10;
gc hard threshold=0.05;
address mapping=1;
aged ratio=0.7;
"""
SIMPLESSD = """[ssd]
NANDType = 1
NumChannel = 8
NumPackage = 4
NumDie = 2
NumPlane = 1
NumBlock = 512
NumPage = 256
SizePage = 16384
DMAMhz = 400
[ftl]
FTLOP = 0.25
FTLGCThreshold = 0.05
"""
SIMPLESSD_20 = """# SimpleSSD
[nvme]
PCIEGeneration = 2
PCIELane = 4
[pal]
Channel = 8
Package = 4
Die = 2
Plane = 2
Block = 512
Page = 256
PageSize = 8192
NANDType = 2   # TLC
LSBRead = 40000000
LSBWrite = 500000000
CSBRead = 50000000
CSBWrite = 900000000
MSBRead = 65000000
MSBWrite = 1300000000
Erase = 3500000000
DMASpeed = 400
DMAWidth = 16
SuperblockSize = C
[ftl]
OverProvisioningRatio = 0.2
EvictPolicy = 3
GCThreshold = 0.05
[icl]
CacheSize = 1048576   # 1 MiB
EvictPolicy = 2
"""
SIMPLESSD_21 = """<!-- a comment before the declaration, as in SimpleSSD's own -->
<?xml version="1.0" encoding="UTF-8" ?>
<simplessd version="2.1">
<section name="hil"><section name="interface"><section name="pcie"><config name="Generation">3</config>
<config name="Lane">4</config></section></section></section>
<section name="icl"><config name="CacheSize">1M</config></section>
<section name="ftl"><section name="common"><config name="OverProvisioningRatio">0.2</config>
<config name="SuperpageAllocation">C</config></section>
<section name="background"><section name="gc"><section name="trigger"><config name="ForegroundThreshold">0.05</config>
</section><section name="blockselection"><config name="VictimSelectionPolicy">2</config></section></section></section>
</section>
<section name="fil"><config name="Channel">8</config><config name="Way">4</config><section name="nand">
<config name="Die">1</config><config name="Plane">2</config><config name="Block">512</config>
<config name="Page">512</config><config name="PageSize">16K</config><config name="SpareSize">1216</config>
<config name="DMASpeed">333m</config><config name="DataWidth">8</config><config name="NANDType">1</config>
<section name="timing"><config name="tWC">25ns</config><config name="tBERS">5ms</config>
<config name="tPROG" level="0">1250us</config><config name="tPROG" level="1">3ms</config>
<config name="tPROG" level="2"></config><config name="tR" level="0">65us</config>
<config name="tR" level="1">110us</config><config name="tR" level="2"></config></section></section></section>
</simplessd>
"""
NVMEVIRT = """#ifndef _NVMEVIRT_SSD_CONFIG_H
#define _NVMEVIRT_SSD_CONFIG_H
#define CELL_MODE_MLC 2
#if (BASE_SSD == NO_FLASH)
#define NS_SSD_TYPE_0 SSD_TYPE_NVM
#elif (BASE_SSD == MADE_UP)
#define NS_SSD_TYPE_0 SSD_TYPE_CONV
#define CELL_MODE (CELL_MODE_MLC)
#define NAND_CHANNELS (8)
#define LUNS_PER_NAND_CH (2)
#define PLNS_PER_LUN (1)
#define FLASH_PAGE_SIZE KB(32)
#define ONESHOT_PAGE_SIZE (FLASH_PAGE_SIZE * 1)
#define BLKS_PER_PLN (8192)
#define NAND_CHANNEL_BANDWIDTH (800ull) //MB/s
#define PCIE_BANDWIDTH (3360ull) //MB/s
#define NAND_READ_LATENCY_LSB (36013 - 6000)
#define NAND_READ_LATENCY_MSB (36013 + 6000) /* ns */
#define NAND_READ_LATENCY_CSB (0) //not used
#define NAND_PROG_LATENCY (185000)
#define NAND_ERASE_LATENCY (0)
#define FW_4KB_READ_LATENCY (21500)
#define FW_WBUF_LATENCY0 (4000)
#define OP_AREA_PERCENT (0.07)
#define GLOBAL_WB_SIZE (NAND_CHANNELS * LUNS_PER_NAND_CH * ONESHOT_PAGE_SIZE * 2)
#endif
#endif
"""
FEMU = """secsz=512 # bytes
secs_per_pg=8
pgs_per_blk=256
blks_per_pl=256
pls_per_lun=1
luns_per_ch=8
nchs=8
ssd_size=12288
pg_rd_lat=40000
pg_wr_lat=200000
blk_er_lat=2000000
ch_xfer_lat=0
gc_thres_pcent=75
gc_thres_pcent_high=95
"""


class Import(unittest.TestCase):
    """Import configurations, and look at the profiles."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def make(self, text: str, **expected: Any) -> str:
        """Import a configuration, compare settings of the profile, and return the report."""
        (self.folder / "theirs").write_text(text, encoding="utf-8")
        code, said, wrong = slate("import", str(self.folder / "theirs"), str(self.folder / "mine.ini"))
        self.assertEqual((code, wrong), (0, ""))
        settings = profiles.derive(self.folder / "mine.ini", [])["settings"]
        self.assertEqual({key: settings[key.replace("__", ".")] for key in expected}, expected)
        return said

    def refused(self, text: str, *words: str) -> None:
        (self.folder / "theirs").write_text(text, encoding="utf-8")
        with self.assertRaises(SlateError) as caught:
            peers.run(self.folder / "theirs", self.folder / "mine.ini", profiles.derive)
        for word in ("theirs", *words):
            self.assertIn(word, caught.exception.message)
        self.assertTrue(caught.exception.fix)
        self.assertFalse((self.folder / "mine.ini").exists())

    def test_mqsim(self) -> None:
        """
        0.07 of the raw capacity is 0.07 / 0.93 of the exported one; 333 MT/s of a byte are 3003 ps a byte. MQSim's
        ReadCommandTime[1] is t_CS + 6 t_WC + t_WB + t_RR = 20 + 150 + 100 + 20 ns.
        """
        said = self.make(
            MQSIM,
            geometry__channels="8", geometry__chips_per_channel="4", geometry__dies_per_chip="2",
            geometry__planes_per_die="2", geometry__blocks_per_plane="2048", geometry__pages_per_block="256",
            geometry__page_bytes="8192", geometry__oob_bytes="448", geometry__bits_per_cell="2",
            timing__read_ns="60000", timing__program_ns="400000, 1300000", timing__erase_ns="3800000",
            timing__bus_ps_per_byte="3003", timing__cmd_ns="290", timing__suspend_ns="700000", ftl__suspend="erase",
            ftl__unit_bytes="8192", ftl__buffer_units="1024", ftl__op_permille="75",
            ftl__gc_start_blocks="102", ftl__gc_urgent_blocks="10",
            ftl__gc_policy="d-choices",
        )  # fmt: skip
        self.assertIn("24 settings from a configuration of MQSim\n", said)
        self.assertIn("CMT_Capacity = 2097152: the whole map is in memory; set ftl.map_cache_pages\n", said)
        self.assertIn("without a counterpart: PCIe_Lane_Count\n", said)

    def test_ssdsim(self) -> None:
        """
        0.10 of the raw capacity is 0.1 / 0.9 of the exported one; a byte takes t_RC. Of 1024 blocks 0.05 are 51, but a
        quarter of the spare ones, 1024 * 111 / 1111 = 102, are 25.
        """
        said = self.make(
            SSDSIM,
            geometry__channels="2", geometry__chips_per_channel="2", geometry__dies_per_chip="2",
            geometry__blocks_per_plane="1024", geometry__page_bytes="4096", timing__read_ns="20000",
            timing__cmd_ns="175", timing__bus_ps_per_byte="25000", ftl__buffer_units="32", ftl__op_permille="111",
            ftl__gc_start_blocks="102", ftl__gc_urgent_blocks="25", ftl__unit_bytes="4096",
        )  # fmt: skip
        self.assertIn("gc threshold, gc hard threshold: the drive must wait for GC at 25 free blocks", said)
        self.assertIn("without a counterpart: aged ratio\n", said)

    def test_ssdsim_buffer(self) -> None:
        """Without DRAM there is no buffer; a buffer has room for two pages of 4 KiB or more."""
        for capacity, units in (("0", "0"), ("4096", "2"), ("12288", "3")):
            self.make(SSDSIM.replace("131072", capacity), ftl__buffer_units=units)
            (self.folder / "mine.ini").unlink()

    def test_ssdsim_of_several_kinds_of_pages(self) -> None:
        """Variants of SSDSim for TLC name the times of L, C and M pages, and do not use t_PROG."""
        more = "t_PROG_L = 500000;\nt_PROG_C = 2000000;  # CSB\nt_PROG_M = 5500000;\n"
        said = self.make(SSDSIM + more, timing__program_ns="500000, 2000000, 5500000", timing__read_ns="20000",
                         geometry__bits_per_cell="3", geometry__pages_per_block="63")
        self.assertIn("t_PROG = 200000: each kind of page has its own time, t_PROG_L, C, M\n", said)
        (self.folder / "mine.ini").unlink()
        reads = "t_R_L = 60000;\nt_R_C = 95000;\nt_R_M = 150000;\n"
        self.make(SSDSIM + more + reads, timing__read_ns="60000, 95000, 150000")
        (self.folder / "mine.ini").unlink()
        mlc = "t_PROG_L = 500000;\nt_PROG_M = 1500000;\n"
        self.make(SSDSIM + mlc, timing__program_ns="500000, 1500000", geometry__bits_per_cell="2")

    def test_ssdsim_with_the_hard_threshold_alone(self) -> None:
        """SSDSim collects at the hard threshold. Of 1024 blocks 0.05 are 51."""
        self.make(SSDSIM.replace("gc threshold=0.10;", ""), ftl__gc_start_blocks="51")

    def test_3dsim(self) -> None:
        """
        'chip number' is that of a channel, the subpage is the mapping unit, and 0.25 is a share of the exported
        capacity: initialize.c divides the pages by 1 + overprovide. Of 1024 blocks 0.2 are 204.
        """
        text = re.sub(r"(?m)^chip number.*\n", "", SSDSIM)
        text = re.sub(r"(?m)^(gc (hard )?threshold|overprovide|dram capacity|page capacity).*\n", "", text)
        self.make(
            text + "chip number = 4;\ndata dram capacity = 2097152;\npage capacity = 16384;\n"
            "subpage capacity = 4096;\noverprovide = 0.25;\ngc hard threshold=0.10;\ngc soft threshold=0.20;\n",
            geometry__chips_per_channel="4", geometry__page_bytes="16384", ftl__unit_bytes="4096",
            ftl__buffer_units="512", ftl__op_permille="250", ftl__gc_start_blocks="204",
        )  # fmt: skip

    def test_long_names(self) -> None:
        """A profile's line has at most 198 bytes, but files may have longer names."""
        (self.folder / ("ß" * 120)).write_text(FEMU, encoding="utf-8")
        code, _, wrong = slate("import", str(self.folder / ("ß" * 120)), str(self.folder / "mine.ini"))
        self.assertEqual((code, wrong), (0, ""))
        settings = profiles.derive(self.folder / "mine.ini", [])["settings"]
        self.assertEqual(settings["timing.program_ns"], "200000")

    def test_simplessd(self) -> None:
        said = self.make(
            SIMPLESSD,
            geometry__chips_per_channel="4", geometry__pages_per_block="256", timing__bus_ps_per_byte="2500",
            ftl__op_permille="333", ftl__gc_start_blocks="25", ftl__gc_urgent_blocks="12", ftl__unit_bytes="16384",
        )  # fmt: skip
        self.assertIn("NANDType = 1: one time for all pages", said)

    def test_simplessd_20(self) -> None:
        """
        Times are in ps. SimpleSSD makes 400 * 2^20 transfers a second of 400 MT/s: a byte of a bus of 16 bits takes
        10^12 / (2 * 400 * 2^20) = 1192 ps, a command of seven bytes 8 ns. 0.05 of 512 blocks are 25; 1 MiB is 128
        units. A block of TLC has 85 word lines of three pages.
        """
        said = self.make(
            SIMPLESSD_20,
            geometry__dies_per_chip="2", geometry__planes_per_die="2", geometry__bits_per_cell="3",
            geometry__pages_per_block="255",
            timing__read_ns="40000, 50000, 65000", timing__program_ns="500000, 900000, 1300000",
            timing__erase_ns="3500000", timing__bus_ps_per_byte="1192", timing__cmd_ns="8",
            link__generation="3", link__lanes="4", ftl__unit_bytes="8192", ftl__buffer_units="128",
            ftl__op_permille="250", ftl__gc_start_blocks="25", ftl__gc_urgent_blocks="12", ftl__gc_policy="d-choices",
        )  # fmt: skip
        self.assertIn("without a counterpart: icl.EvictPolicy\n", said)

    def test_simplessd_20_cache(self) -> None:
        """SimpleSSD takes 'true' and numbers but 0 for yes, and no other word; its default is a write cache."""
        for word, units in (("0", "0"), ("false", "0"), ("1", "128"), ("True", "128"), ("yes", "0"), ("off", "0"),
                            ("00", "0"), ("10", "128")):  # fmt: skip
            (self.folder / "mine.ini").unlink(missing_ok=True)
            self.make(f"{SIMPLESSD_20}EnableWriteCache = {word}\n", ftl__buffer_units=units)

    def test_simplessd_21(self) -> None:
        """A byte of 333 million transfers takes 3003 ps; 2 is cost-benefit since GC has a section of its own."""
        said = self.make(
            SIMPLESSD_21,
            geometry__channels="8", geometry__chips_per_channel="4", geometry__page_bytes="16384",
            geometry__oob_bytes="1216", geometry__bits_per_cell="2", timing__cmd_ns="175",
            timing__read_ns="65000, 110000", timing__program_ns="1250000, 3000000", timing__erase_ns="5000000",
            timing__bus_ps_per_byte="3003", link__generation="3", ftl__buffer_units="64", ftl__op_permille="250",
            ftl__gc_start_blocks="25", ftl__gc_policy="cost-benefit",
        )  # fmt: skip
        self.assertIn("ftl.common.SuperpageAllocation = C: pages are mapped one by one", said)
        older = SIMPLESSD_21.replace('<section name="background"><section name="gc"><section name="trigger">',
                                     '<section name="gc">').replace("ForegroundThreshold", "GCThreshold")  # fmt: skip
        older = older.replace('</section><section name="blockselection">', "", 1)
        older = older.replace("</section></section></section>\n</section>\n<section name=\"fil\">",
                              "</section></section>\n<section name=\"fil\">")  # fmt: skip
        (self.folder / "mine.ini").unlink()
        self.make(older, ftl__gc_start_blocks="25", ftl__gc_policy="d-choices")

    def test_nvmevirt(self) -> None:
        """
        Rates are in MiB/s. At 800, a byte takes 10^12 / (800 * 2^20) = 1192 ps. A link of 3360 has 89.5 % of the rate
        of four lanes of PCIe 3 (8 * 4 * 128 / 130 Gbit/s). The share of spare flash is one of the exported capacity.
        512 KiB * 2 are 256 units.
        """
        said = self.make(
            NVMEVIRT,
            geometry__channels="8", geometry__chips_per_channel="2", geometry__blocks_per_plane="8192",
            geometry__page_bytes="32768", geometry__bits_per_cell="2", timing__read_ns="30013, 42013",
            timing__program_ns="185000", timing__erase_ns="1", timing__bus_ps_per_byte="1192", link__generation="3",
            link__data_permille="895", ftl__op_permille="70", ftl__overhead_ns="21500", ftl__buffer_units="256",
        )  # fmt: skip
        self.assertIn("20 settings from a configuration of NVMeVirt\n", said)
        self.assertIn("without a counterpart: NS_SSD_TYPE_0, ONESHOT_PAGE_SIZE, NAND_READ_LATENCY_CSB\n", said)

    def test_constants(self) -> None:
        for text, value in (
            ("KB(32)", "32768"), ("(2 << 10)", "2048"), ("GB(2ULL)", "2147483648"), ("(A * 2)", "6"),
            ("(0.07)", "7/100"), ("(1 / 0)", "(1 / 0)"), ("LOOP", "LOOP"), ("f(1)", "f(1)"),
            ("(2 ** 9)", "(2 ** 9)"), ("(", "("),
        ):  # fmt: skip
            self.assertEqual(peers._c_number(text, {"A": "(1 + 2)", "LOOP": "(LOOP + 1)"}), value)

    def test_constants_of_constants(self) -> None:
        """Each is computed once: in 400 constants with 512 uses of one with 512 uses it would take minutes."""

        def times(word: str, count: int) -> str:
            return word if count == 1 else f"({times(word, count // 2)}+{times(word, count // 2)})"

        more = "".join(f"#define Z{at} A0\n" for at in range(400))
        parts = f"#define A0 {times('A1', 512)}\n#define A1 {times('1', 512)}\n{more}#define NAND_CHANNELS (A0 / 32768)"
        values = peers._read_nvmevirt(NVMEVIRT.replace("#define NAND_CHANNELS (8)", parts))
        assert values
        self.assertEqual((values["Z399"], values["NAND_CHANNELS"]), (str(512 * 512), "8"))

    def test_femu(self) -> None:
        """Of 256 blocks GC begins at 64 free ones (75 % used), and is urgent at 12 (95 %)."""
        expected = {
            "geometry__channels": "8", "geometry__chips_per_channel": "8", "geometry__planes_per_die": "1",
            "geometry__page_bytes": "4096", "timing__program_ns": "200000", "ftl__capacity_mib": "12288",
            "ftl__buffer_units": "0", "ftl__gc_start_blocks": "64", "ftl__gc_urgent_blocks": "12",
        }  # fmt: skip
        self.make(FEMU, **expected)
        (self.folder / "mine.ini").unlink()
        pairs = ",".join(line.split(" #")[0].replace("ssd_size", "devsz_mb") for line in FEMU.splitlines())
        self.make(f"qemu-system-x86_64 -device femu,{pairs} -m 4G\n", **expected)

    def test_femu_defaults(self) -> None:
        """An option that is not given has the value of FEMU's DEFINE_PROP_INT32 (femu.c)."""
        said = self.make(
            "qemu-system-x86_64 -device femu,devsz_mb=12288,femu_mode=1,nchs=4,luns_per_ch=16 -m 4G\n",
            geometry__channels="4", geometry__chips_per_channel="16", geometry__blocks_per_plane="256",
            geometry__pages_per_block="256", geometry__page_bytes="4096", timing__read_ns="40000",
            timing__program_ns="200000", timing__erase_ns="2000000", ftl__capacity_mib="12288",
            ftl__gc_start_blocks="64",
        )  # fmt: skip
        self.assertIn("not given, so FEMU's defaults: secsz = 512, secs_per_pg = 8,", said)

    def test_refused(self) -> None:
        for text, words in (
            ("hello\n", ("is of no known simulator",)),
            (MQSIM.replace("</Device_Parameter_Set>", ""), ("MQSim", "is no XML")),
            (MQSIM.replace("<Execution", "<!DOCTYPE a [<!ENTITY b 'c'>]><Execution", 1), ("document type",)),
            (MQSIM.replace("Block_Erase_Latency", "Other"), ("Block_Erase_Latency is missing",)),
            (MQSIM.replace(">3800000<", ">slow<"), ("Block_Erase_Latency = slow: is no number",)),
            (MQSIM.replace(">3800000<", ">1e999999999<"), ("is no number",)),
            (MQSIM.replace(">333<", ">0<"), ("Channel_Transfer_Rate = 0: must be above 0",)),
            (MQSIM.replace(">0.07<", ">1.5<"), ("Overprovisioning_Ratio = 1.5",)),
            (MQSIM.replace(">8192<", ">8191<"), ("its drive cannot be made here", "page_bytes")),
            ("qemu -device femu,devsz_mb=4096,femu_mode=3\n", ("FEMU", "femu_mode = 3: only 1, the black-box mode")),
            ("qemu -device femu,devsz_mb=4096,id=nvme0\n", ("FEMU", "femu_mode = 2: only 1, the black-box mode")),
            (SSDSIM.replace("[1] = 2", "[1] = 3"), ("unequal numbers of chips",)),
            (SSDSIM.replace("mapping=1", "mapping=2"), ("address mapping = 2",)),
            (SIMPLESSD_20.replace("DMASpeed = 400", "DMASpeed = 0"), ("SimpleSSD 2.0", "must be above 0")),
            (SIMPLESSD_20.replace("NANDType = 2", "NANDType = 3"), ("NANDType = 3",)),
            (SIMPLESSD_20.replace("EvictPolicy = 3", "EvictPolicy = 9"), ("EvictPolicy = 9",)),
            (SIMPLESSD_20.replace("[nvme]", "[nvme"), ("SimpleSSD 2.0",)),
            (SIMPLESSD_21.replace(">5ms<", ">5 weeks<"), ("tBERS = 5 weeks: is no number",)),
            (SIMPLESSD_21.replace("</simplessd>", ""), ("SimpleSSD 2.1", "is no XML")),
            (NVMEVIRT.replace("SSD_TYPE_CONV", "SSD_TYPE_ZNS"), ("NVMeVirt", "no part has a conventional drive")),
            (NVMEVIRT.replace("(800ull)", "(0)"), ("NAND_CHANNEL_BANDWIDTH",)),
            (NVMEVIRT.replace("(800ull)", "-" * 20_000 + "1"), ("NAND_CHANNEL_BANDWIDTH", "is no number")),
            (SIMPLESSD_21.replace(">5ms<", ">1.2.3ms<"), ("tBERS = 1.2.3ms: is no number",)),
            (SIMPLESSD_21.replace(">5ms<", f">{'9' * 5000}ms<"), ("is no number",)),
            ("<simplessd>" + "<section>" * 30_000 + "</section>" * 30_000 + "</simplessd>", ("nested too deep",)),
            ("x" * (1 << 20) + "x", ("larger than 1 MiB",)),
        ):
            with self.subTest(words=words):
                self.refused(text, *words)

    def test_words_stay_in_their_lines(self) -> None:
        """A word with line ends would add settings to the profile, and escape sequences would reach the terminal."""
        word = "GREEDY\n[drive]\nignore_flush = yes\n[ftl]\n;\x9b2J"
        said = self.make(MQSIM.replace(">RGA<", f">{word}<"), ftl__gc_policy="greedy")
        self.assertNotIn("ignore_flush = yes", (self.folder / "mine.ini").read_text(encoding="utf-8").splitlines())
        self.assertNotIn("\x9b", said)

    def test_nothing_is_overwritten(self) -> None:
        (self.folder / "mine.ini").write_text("mine", encoding="utf-8")
        (self.folder / "theirs").write_text(FEMU, encoding="utf-8")
        with self.assertRaisesRegex(SlateError, "is there already"):
            peers.run(self.folder / "theirs", self.folder / "mine.ini", profiles.derive)
        self.assertEqual((self.folder / "mine.ini").read_text(encoding="utf-8"), "mine")
        with self.assertRaisesRegex(SlateError, "No such file"):
            peers.run(self.folder / "nowhere", self.folder / "other.ini", profiles.derive)


if __name__ == "__main__":
    unittest.main()
