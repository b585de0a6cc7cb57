"""The native engine against the reference, and against the numpy engine where messages are concerned."""

from __future__ import annotations

import numpy as np
import pytest

from tests.interpreter.harness import Machine, kernel, run
from tests.interpreter.test_reference import seeded
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import ExecutionError, LimitReached

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
ENGINES = ("numpy", "native")


@pytest.mark.parametrize("seed", range(24))
def test_random_programs_equal_the_reference(seed: int) -> None:
    seeded(seed, {"native": {"engine": "native"}})


@pytest.mark.parametrize("seed", range(12))
def test_large_programs_compute_in_strips(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"SMALL": 0, "SHORTEST": 1 + seed % 3, "LONGEST": 2 + seed % 5}.items():
        monkeypatch.setattr(f"warplab.interpreter.native.cut.{name}", value)
    seeded(seed, {"native": {"engine": "native"}})


@pytest.mark.long
@pytest.mark.parametrize("seed", range(24, 1500))
def test_many_random_programs_equal_the_reference(seed: int) -> None:
    seeded(seed, {"native": {"engine": "native"}, "native, small waves": {"engine": "native", "wave_lanes": 100}})


BODIES = {
    "out of bounds": "mul.wide.u32 %a, %t, 64; add.u64 %o, %o, %a; st.global.u32 [%o], %t;",
    "misaligned": "add.u64 %o, %o, 2; st.global.u32 [%o], %t;",
    "null": "mov.u64 %o, 0; ld.global.u32 %r, [%o]; st.global.u32 [%o], %r;",
    "trap": "setp.eq.u32 %p, %t, 7; @%p trap;",
    "deadlock": "setp.lt.u32 %p, %t, 16; @%p bra IN; bra.uni OUT; IN: barrier.sync 1, 64; OUT: barrier.sync 0;",
}


@pytest.mark.parametrize("name", BODIES)
def test_what_ends_a_launch_is_said_in_the_same_words(name: str) -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a; .reg .u32 %t, %r; .reg .pred %p;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x;
        {BODIES[name]} ret; }}"""
    said = []
    for engine in ENGINES:
        with pytest.raises(ExecutionError) as e:
            run(text, 2, 96, 64, engine=engine)
        said.append((type(e.value), str(e.value)))
    assert said[0] == said[1]


def test_limits_hold() -> None:
    text = f"{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u32 %r; L: add.u32 %r, %r, 1; bra.uni L; }}"
    with pytest.raises(LimitReached, match="steps"):
        run(text, 1, 32, 4, engine="native", max_steps=20000)


def test_a_spinning_lock_lets_its_holder_run() -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o; .reg .u32 %r, %n; .reg .pred %p, %q;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o;
        TRY: atom.global.cas.b32 %r, [%o], 0, 1; setp.ne.u32 %p, %r, 0; @%p bra TRY;
        ld.volatile.global.u32 %n, [%o+4]; add.u32 %n, %n, 1; st.volatile.global.u32 [%o+4], %n;
        membar.gl; atom.global.exch.b32 %r, [%o], 0; ret; }}"""
    assert run(text, 3, 40, np.zeros(2, np.uint32), engine="native").tolist() == [0, 120]


def test_memory_that_a_kernel_allocates_is_seen() -> None:
    text = f"""{HEAD}.extern .func (.param .b64 r) malloc(.param .b64 n);
        .visible .entry k(.param .u64 out) {{ .reg .u64 %o, %m, %s; .reg .u32 %t, %r; .param .b64 n; .param .b64 r;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mov.u64 %s, 16; st.param.b64 [n], %s;
        call (r), malloc, (n); ld.param.b64 %m, [r]; st.u32 [%m], %t; ld.u32 %r, [%m];
        mul.wide.u32 %s, %t, 4; add.u64 %o, %o, %s; st.global.u32 [%o], %r; ret; }}"""
    assert run(text, 1, 64, 64, engine="native").tolist() == list(range(64))


@pytest.mark.parametrize("register", ["%clock64", "%globaltimer"])
def test_clocks_show_the_same_time(register: str) -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a, %c, %d; .reg .u32 %t, %n; .reg .pred %p;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 8; add.u64 %o, %o, %a;
        mov.u64 %c, {register}; mov.u32 %n, 0; L: add.u32 %n, %n, 1; setp.lt.u32 %p, %n, %t; nanosleep.u32 20; @%p bra L;
        mov.u64 %d, {register}; sub.u64 %d, %d, %c; st.global.u64 [%o], %d; ret; }}"""
    numpy, native = (run(text, 2, 40, np.zeros(40, np.uint64), engine=engine) for engine in ENGINES)
    assert (numpy == native).all() and (native[::2] > 0).all()


@pytest.mark.parametrize("register", ["%clock", "%clock64", "%globaltimer"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_clock_differs_each_time_that_it_is_read(engine: str, register: str) -> None:
    size, reads = (32 if register == "%clock" else 64), 40
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o; .reg .u{size} %c<{2 * reads}>; .reg .u32 %n; .reg .pred %p;
        ld.param.u64 %o, [out]; {"".join(f"mov.u{size} %c{i}, {register};" for i in range(reads))}
        mov.u32 %n, 0; L: add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 3; @%p bra L;
        {"".join(f"mov.u{size} %c{i}, {register};" for i in range(reads, 2 * reads))}
        {"".join(f"st.global.u{size} [%o+{i * size // 8}], %c{i};" for i in range(2 * reads))} ret; }}"""
    found = run(text, 1, 1, np.zeros(2 * reads, f"u{size // 8}"), engine=engine)
    steps = np.diff(found.view(f"u{size // 8}").astype(np.int64))
    assert (steps > 0).all() and (np.delete(steps, reads - 1) == (1 if register == "%globaltimer" else 2)).all()


LANES = np.arange(32, dtype=np.uint32)
PLACES = {
    "neighbours": LANES,
    "one place": LANES * 0 + 5,
    "halves of neighbours": LANES % 16 + np.where(LANES < 16, 40, 3),
    "halves at one place": np.where(LANES < 16, 9, 2),
    "pairs": LANES // 2,
    "anyhow": LANES * 13 % 61,
}


@pytest.mark.parametrize("guard", ["", "@%p "])
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("name", PLACES)
def test_loads_and_stores_reach_their_places(name: str, space: str, guard: str) -> None:
    """Each lane reads a number of its own, which says where it loads and stores."""
    base = "mov.u64 %b, %o;" if space == "global" else "mov.u64 %b, s;"
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a, %b, %i; .reg .u32 %t, %v, %w, %n; .reg .pred %p; .shared .u32 s[128];
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mul.wide.u32 %i, %t, 4; add.u64 %i, %o, %i;
        ld.global.u32 %n, [%i]; setp.ne.u32 %p, %t, 7; {base} mul.wide.u32 %a, %n, 4; add.u64 %a, %b, %a; mov.u32 %v, 1; mov.u32 %w, 2;
        st.{space}.u32 [%a], %t; bar.sync 0; {guard}ld.{space}.u32 %v, [%a]; bar.sync 0;
        {guard}st.{space}.u32 [%a+256], %t; bar.sync 0; {guard}ld.{space}.u32 %w, [%a+256];
        mad.lo.u32 %v, %v, 100, %w; bar.sync 0; st.global.u32 [%i+512], %v; ret; }}"""
    places = np.zeros(160, np.uint32)
    places[:32] = PLACES[name]
    numpy, native = (run(text, 1, 32, places.copy(), engine=engine) for engine in ENGINES)
    assert (numpy == native).all() and native[128:].any()


def test_what_the_runtime_provides_is_called_from_compiled_code() -> None:
    """malloc under way in a loop, with parameters in the caller's frame."""
    text = f"""{HEAD}.extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 p);
        .visible .entry k(.param .u64 out) {{ .reg .u64 %o, %m, %s; .reg .u32 %t, %r, %n; .reg .pred %p; .param .b64 n; .param .b64 r;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mov.u32 %n, 0; mov.u32 %r, 0;
        L: mov.u64 %s, 16; st.param.b64 [n], %s; call (r), malloc, (n); ld.param.b64 %m, [r]; st.u32 [%m+4], %n; ld.u32 %s, [%m+4];
        cvt.u32.u64 %t, %s; add.u32 %r, %r, %t; st.param.b64 [n], %m; call free, (n);
        add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 5; @%p bra L; mov.u32 %t, %tid.x; mul.wide.u32 %s, %t, 4; add.u64 %o, %o, %s;
        st.global.u32 [%o], %r; ret; }}"""
    for engine in ENGINES:
        assert run(text, 2, 40, 40, engine=engine).tolist() == [10] * 40


SOURCES = {
    "one behind the other": "mov.u32 %i, %t;",
    "backwards": "sub.u32 %i, 63, %t;",
    "one for all": "mov.u32 %i, 5;",
    "one for each half": "shr.u32 %i, %t, 4;",
}
COPIES = {
    "ignored": ".ca.shared.global [%s], [%g], 16, %p",
    "ignored, four bytes": ".ca.shared.global [%s], [%g], 4, %p",
    "some bytes": ".ca.shared.global [%s], [%g], 16, %n",
    "some of eight bytes": ".ca.shared.global [%s], [%g], 8, %h",
    "past the first level": ".cg.shared.global [%s], [%g], 16, %n",
}


@pytest.mark.parametrize("guard", ["", "@%q "])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", COPIES)
def test_bytes_that_are_not_copied_are_zeros(name: str, source: str, guard: str) -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 out, .param .u64 inp) {{ .reg .u64 %o, %g; .reg .u32 %t, %s, %i, %n, %h, %a, %b, %c, %d;
        .reg .pred %p, %q; .shared .align 16 .b8 tile[1024]; ld.param.u64 %o, [out]; ld.param.u64 %g, [inp]; mov.u32 %t, %tid.x; {SOURCES[source]}
        mad.wide.u32 %o, %t, 16, %o; mad.wide.u32 %g, %i, 16, %g; mov.u32 %s, tile; mad.lo.u32 %s, %t, 16, %s;
        and.b32 %n, %t, 3; setp.eq.u32 %p, %n, 1; shl.b32 %n, %n, 2; min.u32 %h, %n, 8; and.b32 %a, %t, 4; setp.ne.u32 %q, %a, 0;
        st.shared.v4.u32 [%s], {{%t, %t, %t, %t}}; {guard}cp.async{COPIES[name]}; cp.async.wait_all;
        ld.shared.v4.u32 {{%a, %b, %c, %d}}, [%s]; st.global.v4.u32 [%o], {{%a, %b, %c, %d}}; ret; }}"""
    given = np.random.default_rng(1).integers(1, 1 << 32, 256, dtype=np.uint32)
    numpy, native = (run(text, 1, 64, 256, given, engine=engine) for engine in ENGINES)
    assert (numpy == native).all() and (numpy == 0).any()


def test_loads_of_one_address_begin_a_stretch() -> None:
    text = kernel("p out", ".reg .b64 %d<4>; .reg .b32 %r<6>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 8; "
                  "add.u64 %d2, %d2, %d1; ld.const.u32 %r2, [table+4]; ld.const.v2.u32 {%r3, %r4}, [table+8]; add.u32 %r2, %r2, %r1; "
                  "add.u32 %r3, %r3, %r4; st.global.u32 [%d2], %r2; st.global.u32 [%d2+4], %r3; ret;", ".const .u32 table[4] = {1, 2, 3, 4};")  # fmt: skip
    machine = Machine(text)
    out = machine.upload(np.zeros(128, np.uint32))
    launch = machine.prepare(1, 64, [out], engine="native")
    execute(launch)
    assert (machine.download(out, np.dtype(np.uint32)).reshape(64, 2) == np.stack([np.arange(64) + 2, np.full(64, 7)], 1)).all()
    assert launch.used.native_blocks == 1 and not launch.used.failures
