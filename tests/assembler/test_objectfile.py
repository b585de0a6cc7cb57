"""Object files: the way there and back, what readelf sees, and what damage does."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from warplab.assembler import check
from warplab.assembler.diagnostics import PtxError
from warplab.assembler.ir import leaves_of
from warplab.assembler.objects import ObjectError, assemble, disassemble, elf, load, read_object, write_object
from warplab.assembler.objects.decode import decode
from warplab.assembler.objects.emit import emit
from warplab.assembler.objects.image import BIGGEST, image, values
from warplab.assembler.parse import parse
from warplab.isa.notation import FORMS, Form

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data" / "objects"
SOURCES = sorted(DATA.glob("*.ptx"))
EVERYTHING = (DATA / "everything.ptx").read_text()
HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n"


@pytest.fixture(scope="module")
def everything() -> bytes:
    return assemble(EVERYTHING)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_there_and_back(path: Path) -> None:
    first = assemble(path.read_bytes())
    text = disassemble(first)
    assert assemble(text) == first
    assert disassemble(assemble(text)) == text


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_nothing_is_lost(path: Path) -> None:
    """The module that comes back encodes to the same bytes, before any text is printed."""
    module = parse(path.read_text())
    contents = elf.write(emit(module))
    assert elf.write(emit(decode(elf.read(contents), "x"))) == contents


def test_disassembly_is_the_program(everything: bytes) -> None:
    """Instruction by instruction the opcodes, modifiers and guards of the source."""

    def shape(text: str) -> list[tuple[str, tuple[str, ...], str, int]]:
        found = []
        for f in parse(text).functions.values():
            found += [(i.opcode, i.modifiers, i.guard.name if i.guard else "", len(i.operands)) for i in _instructions(f)]
        return found

    assert shape(disassemble(everything)) == shape(EVERYTHING)


def _instructions(function: object) -> list:  # type: ignore[type-arg]
    from warplab.assembler.ir import Function, Instruction
    from warplab.assembler.walk import statements

    assert isinstance(function, Function)
    return [s for s in statements(function.body) if isinstance(s, Instruction)]


def test_comments_and_names_do_not_matter(everything: bytes) -> None:
    assert assemble("// another comment\n" + EVERYTHING, name="other.ptx") == everything


@pytest.mark.parametrize(("version", "target"), [("1.4", "sm_13"), ("2.2", "sm_20"), ("2.3", "sm_20"), ("9.0", "sm_90")])
def test_the_text_of_an_object_is_of_its_version(version: str, target: str) -> None:
    text = f".version {version}\n.target {target}\n.entry k(.param .u32 p) {{ .reg .u32 r; ld.param.u32 r, [p]; exit; }}"
    made = assemble(text)
    printed = disassemble(made)
    assert not [d for d in check(printed) if d.severity == "error"]
    assert (".address_size" in printed) == (version in ("2.3", "9.0"))
    assert assemble(printed) == made


def test_bad_text_is_refused() -> None:
    with pytest.raises(PtxError, match=r"add\.sat\.u32"):
        assemble(HEAD + ".visible .entry k() { .reg .b32 %r<2>; add.sat.u32 %r1, %r1, %r1; ret; }")


@pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf on this machine")
def test_readelf_reads_it(everything: bytes, tmp_path: Path) -> None:
    path = tmp_path / "everything.o"
    path.write_bytes(everything)
    run = subprocess.run(["readelf", "-hSsrnW", path], capture_output=True, text=True, check=True)
    assert "Warning" not in run.stderr + run.stdout and "Error" not in run.stderr
    for line in ("REL (Relocatable file)", ".text.everything", ".rela.text.everything", ".shared", "COM pool", "UND vprintf"):
        assert line in run.stdout, line
    assert "WEAK   DEFAULT" in run.stdout


def test_symbols_say_linkage_and_place(everything: bytes) -> None:
    found = {s.name: s for s in read_object(everything).elf.symbols}
    assert (found["everything"].binding, found["everything"].kind, found["everything"].section) == ("global", "func", ".text.everything")
    assert (found["text"].binding, found["text"].section, found["text"].size) == ("weak", ".data", 3)
    assert (found["counter"].binding, found["counter"].section) == ("local", ".data")
    assert (found["pool"].section, found["pool"].value, found["pool"].size) == ("COMMON", 8, 64)
    assert (found["dynamic"].section, found["dynamic"].binding) == ("", "global")
    assert found["zeros"].section == ".bss"
    assert found["table"].section == ".const"
    assert (found["tile"].section, found["hidden"].section) == (".shared", ".data")
    assert (found["begin"].kind, found["begin"].section) == ("notype", ".text.everything")
    assert all(a.binding == "local" or b.binding != "local" for a, b in zip(found.values(), list(found.values())[1:], strict=False))


def test_data_are_the_initial_values() -> None:
    text = HEAD + (
        ".global .u16 a[2][3] = {{1, 2}, {258}}; .const .f32 b[2] = {1.5, 0fFF800000}; .global .s8 c = -2;"
        ".global .v2 .u32 d[2] = {{1, 2}, {3, 4}}; .global .b64 e = 0d3FF0000000000000;"
    )
    variables = parse(text).variables
    wanted = {
        "a": struct.pack("<6H", 1, 2, 258, 0, 0, 0), "b": struct.pack("<2f", 1.5, float("-inf")), "c": b"\xfe",
        "d": struct.pack("<4I", 1, 2, 3, 4), "e": struct.pack("<d", 1.0),
    }  # fmt: skip
    assert {n: bytes(image(v)[0]) for n, v in variables.items()} == wanted
    for v in variables.values():
        data, symbols = image(v)
        assert list(leaves_of(values(v, bytes(data), symbols))) == list(leaves_of(v.initial or 0))


def test_addresses_wait_as_relocations() -> None:
    text = HEAD + ".global .u32 x; .global .u64 p[3] = {x, x+8, generic(x)};"
    section = read_object(assemble(text)).elf.section(".data")
    assert section is not None
    assert [(r.offset, r.type, r.addend) for r in section.relocations] == [(0, 1, 0), (8, 1, 8), (16, 2, 0)]
    assert section.data == bytes(24)


def test_huge_initialised_arrays_are_refused() -> None:
    with pytest.raises(ObjectError, match="more than"):
        write_object(parse(HEAD + f".global .b8 x[{BIGGEST + 1}] = {{1}};"))


def test_huge_empty_arrays_cost_nothing() -> None:
    assert len(assemble(HEAD + f".global .b8 x[{1 << 33}];")) < 2000


def test_many_registers_cost_nothing() -> None:
    text = HEAD + ".visible .entry k() { .reg .b32 %r<400000000>; mov.u32 %r399999999, 1; ret; }"
    data = assemble(text)
    assert len(data) < 2000
    assert "%r399999999" in disassemble(data)


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no object file of warplab assemble"),
        (b".version 8.0\n", "no object file of warplab assemble"),
        (b"\x7fELF", "truncated"),
        (b"\x7fELF" + bytes(60), "64-bit"),
        (b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 1, 62) + bytes(44), "x86-64"),
        (b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 1, 190) + bytes(44), "CUDA"),
    ],
)
def test_foreign_files(data: bytes, message: str) -> None:
    with pytest.raises(ObjectError, match=message):
        disassemble(data, "some.o")


def test_every_truncation_is_noticed(everything: bytes) -> None:
    for n in range(0, len(everything), 37):
        with pytest.raises(ObjectError):
            disassemble(everything[:n])


def test_every_flipped_byte_is_noticed(everything: bytes) -> None:
    for i in range(0, len(everything), 11):
        damaged = bytearray(everything)
        damaged[i] ^= 0x55
        with pytest.raises(ObjectError):
            disassemble(bytes(damaged))


def _mended(damaged: bytearray) -> bytes:
    """With a checksum that fits, as someone would write it who wants to do harm."""
    damaged[88:92] = bytes(4)
    struct.pack_into("<I", damaged, 88, zlib.crc32(damaged))
    return bytes(damaged)


def _attack(data: bytes, rounds: int, seed: int) -> int:
    """Reads damaged objects whose checksums fit; how many were understood all the same."""
    rnd = random.Random(seed)
    understood = 0
    for _ in range(rounds):
        damaged = bytearray(data)
        for _ in range(rnd.choice((1, 1, 2, 5))):
            i = rnd.randrange(92, len(damaged))
            damaged[i] = rnd.choice((damaged[i] ^ 1 << rnd.randrange(8), rnd.randrange(256), 0, 0x7F, 0xFF))
        try:
            disassemble(_mended(damaged))
            understood += 1
        except ObjectError:
            pass
    return understood


def test_damage_behind_the_checksum_is_an_error_or_harmless(everything: bytes) -> None:
    assert 0 < _attack(everything, 300, 1) < 300


@pytest.mark.long
def test_much_damage_behind_the_checksum(everything: bytes) -> None:
    assert 0 < _attack(everything, 20_000, 2) < 20_000


def test_a_row_that_is_gone_is_named(everything: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    from warplab.isa import notation

    kept: dict[str, list[Form]] = {**FORMS, "vadd": []}
    monkeypatch.setattr(notation, "FORMS", kept)
    monkeypatch.setattr("warplab.assembler.objects.encoding.FORMS", kept)
    notation.resolve.cache_clear()
    try:
        with pytest.raises(ObjectError, match=r"row `vadd.*assemble its source again"):
            disassemble(everything)
    finally:
        notation.resolve.cache_clear()


def test_load_takes_all_kinds(everything: bytes) -> None:
    module = parse(EVERYTHING)
    assert load(module) is module
    names = set(module.functions)
    assert set(load(EVERYTHING).functions) == set(load(EVERYTHING.encode()).functions) == names
    assert set(load(everything).functions) == set(load(read_object(everything, "x.o")).functions) == names
    assert load(everything, "x.o").text.startswith(".version")
