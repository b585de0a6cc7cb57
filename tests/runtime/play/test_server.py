"""The server of the playground: who gets an answer, what runs may take, and what a program cannot reach."""

from __future__ import annotations

import http.client
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from warplab.runtime.command import command, environment
from warplab.runtime.play.jobs import PlayLimits

from .page import LABS, post, serving

VECADD = (Path(__file__).parents[3] / "runtime" / "play" / "programs" / "vecadd.ptx").read_text()
LOOP = """//@ run --grid 1 --block 32
.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
    .reg .b32 %r;
    mov.u32 %r, 0;
again:
    add.u32 %r, %r, 1;
    bra again;
}
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving("01-vecadd", limits=PlayLimits(steps=10**12, seconds=3.0)) as (_, found):
        yield found


def refused(address: str, data: bytes | None = None, **headers: str) -> int:
    """The status of a request that gets no answer."""
    with pytest.raises(urllib.error.HTTPError) as e:
        urllib.request.urlopen(urllib.request.Request(address, data, headers), timeout=20)
    e.value.close()
    return e.value.code


def test_only_who_knows_the_token_gets_an_answer(address: str) -> None:
    base, token = address.rstrip("/").rsplit("/", 1)
    assert refused(base + "/") == refused(f"{base}/{token[:-1]}x/") == refused(f"{base}/{token}") == 403
    assert refused(address, Host="evil.example") == 403, "a name that somebody lets point to this machine"
    assert refused(address + "run", b"{}", **{"Content-Type": "text/plain"}) == 413, "a form of another page"
    assert refused(address + "page/none") == 404 == refused(address + "../../etc/passwd")
    assert refused(address + "nothing", b"{}", **{"Content-Type": "application/json"}) == 400
    assert refused(address + "run", b"[", **{"Content-Type": "application/json"}) == 400


def test_a_run_and_its_page(address: str) -> None:
    found = post(address, "record", {"text": VECADD, "language": "ptx", "job": "1"})
    assert [(r["verdict"], r["said"]) for r in found["runs"]] == [("ok", "1 check passed")]
    assert [a["name"] for a in found["runs"][0]["arrays"] if a["changed"]] == ["c"]
    with urllib.request.urlopen(f"{address}page/{found['page']}", timeout=20) as reply:
        assert "sandbox allow-scripts" in reply.headers["Content-Security-Policy"] and b"wlp-recording-0" in reply.read()


def test_errors_are_told(address: str) -> None:
    said = post(address, "run", {"text": VECADD.replace("add.f32", "ad.f32"), "job": "2"})
    assert said["error"].startswith("error[unknown-instruction]: no instruction is called ad\n  --> program.ptx:")
    assert "nothing says how to launch" in post(address, "run", {"text": VECADD.replace("//@", "//"), "job": "3"})["error"]
    (d,) = post(address, "check", {"text": VECADD.replace("add.f32", "ad.f32")})["diagnostics"]
    assert d["fixes"][0]["title"] == "Change to add"


def test_a_program_reads_and_writes_no_files(address: str, tmp_path: Path) -> None:
    for option, said in (
        (f"--arg a=@{LABS}/x.npy", "files may not be read here"),
        ("--link x.ptx", ""),
        (f"--dump c={tmp_path}/c.npy", ""),
    ):
        text = VECADD.replace("--arg a=f32[1000]:arange", option if "--arg" in option else f"--arg a=f32[1000]:arange {option}")
        answer = post(address, "run", {"text": text, "job": "4"})
        assert said in answer.get("error", "") and not list(tmp_path.iterdir())
    located = VECADD.replace(".address_size 64", '.address_size 64\n.file 1 "/etc/passwd"').replace(
        "    add.f32", "    .loc 1 1 0\n    add.f32"
    )
    for what in ("record", "profile"):
        found = post(address, what, {"text": located, "job": "5"})
        with urllib.request.urlopen(f"{address}page/{found['page']}", timeout=20) as reply:
            assert b"root:" not in reply.read()


def test_a_run_ends_at_its_limit(address: str) -> None:
    begun = time.monotonic()
    said = post(address, "run", {"text": LOOP, "job": "6"})
    assert "3 s" in str(said) or "time" in str(said) or "limit" in str(said), said
    assert time.monotonic() - begun < 30
    assert post(address, "run", {"text": VECADD, "job": "7"})["runs"][0]["verdict"] == "ok", "the next one runs"


def test_a_run_can_be_stopped() -> None:
    with serving(limits=PlayLimits(steps=10**12, seconds=60.0)) as (playground, address):
        playground.warm()
        timer = threading.Timer(1.0, post, (address, "stop", {"job": "long"}))
        timer.start()
        begun = time.monotonic()
        assert post(address, "run", {"text": LOOP, "job": "long"}) == {"error": "stopped"}
        assert time.monotonic() - begun < 20
        timer.join()


def test_the_command_ends_in_the_middle_of_a_run() -> None:
    """Ctrl-C while a program runs: no process is left, and nothing but the address is printed."""
    process = subprocess.Popen(
        command("play", "--no-browser", "-j", "1"), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()

    def asks() -> None:
        with suppress(OSError, http.client.HTTPException):
            post(address, "run", {"text": LOOP, "job": "1"})

    begun = threading.Thread(target=asks)
    begun.start()
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    begun.join()
    assert (process.returncode, err) == (0, "")


def test_hidden_tests_stay_hidden() -> None:
    with serving("06-histogram") as (_, address):
        (lab,) = post(address, "start", {})["labs"]
        names = [t["name"] for t in lab["tests"]]
        assert lab["hidden"] == 1 and "in another order, and no data" not in names and "rand(4)" not in str(lab)
        found = post(address, "grade", {"lab": 0, "text": lab["starters"]["ptx"], "language": "ptx", "job": "1"})
        assert [t["name"] for t in found["tests"]] == names and found["score"] < found["total"]


@pytest.mark.long
def test_a_class_at_once() -> None:
    """30 students press Run in the same moment."""
    with serving() as (playground, address):
        playground.warm()

        def one(n: int) -> float:
            begun = time.monotonic()
            answer = post(address, "run", {"text": VECADD, "job": str(n)})
            assert answer["runs"][0]["verdict"] == "ok"
            return time.monotonic() - begun

        one(-1)
        with ThreadPoolExecutor(30) as pool:
            took = sorted(pool.map(one, range(90)))
        assert took[int(0.95 * len(took))] < 3.0, took
