"""The timeline of a program: what it says in text, as data and as a picture."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml

import pytest

from warplab.runtime.clock.timeline import TimeSpan
from warplab.runtime.reports.drawn.timeline import lanes
from warplab.runtime.reports.programs.program import report_as
from warplab.runtime.reports.programs.timeline import both, covered, rows, sentences, stream_names, timeline_text

SPANS = [
    TimeSpan("host", "cudaMemcpyAsync", 0, 2),
    TimeSpan("h2d", "pinned to device", 3, 103, 0, "0:3", 4_000_000),
    TimeSpan("kernels", "scale<int>", 103, 153, 0, "0:3"),
    TimeSpan("h2d", "pageable to device", 103, 203, 0, "0:9", 1_000_000),
    TimeSpan("kernels", "scale<int>", 203, 253, 0, "0:0"),
]


def test_stretches() -> None:
    assert covered(SPANS[1:]) == [(3, 253)]
    assert covered([SPANS[2], SPANS[4]]) == [(103, 153), (203, 253)]
    assert both([(0, 10), (20, 30)], [(5, 25)]) == 10


def test_rows_are_sums_by_engine_and_name() -> None:
    found = {(r.name, r.engine): r.cells for r in rows(SPANS)}
    assert found["scale<int>", "kernels"] == ["scale<int>", "kernels", "2", "100.0", "50.0", "50.0", "50.0", "", ""]
    assert found["pinned to device", "h2d"][-2:] == ["4.0 MB", "40.0"]
    assert [r.engine for r in rows(SPANS)] == ["kernels", "h2d", "h2d", "host"]


def test_sentences_say_what_is_hidden() -> None:
    first, copies, pageable = sentences(SPANS)
    assert "at work for 250.0 of the 250.0 us" in first
    assert "copies for 200.0 us, of which kernels hide 50.0 us (25.0 %)" in copies
    assert "100.0 us for copies of pageable memory (1)" in pageable
    assert sentences(SPANS[:1]) == ["No device does anything."]


def test_streams_are_numbered_as_they_come() -> None:
    assert stream_names(SPANS) == {"0:3": "stream 1", "0:9": "stream 2", "0:0": "default stream"}


def test_the_picture_has_a_lane_for_each_engine_and_stream() -> None:
    drawn = lanes(SPANS)
    xml.fromstring(drawn)
    for name in ("host", "kernels", "copies to the device", "stream 1", "stream 2", "default stream"):
        assert f">{name}</text>" in drawn
    assert "scale&lt;int&gt;" in drawn
    assert lanes(SPANS[:1]) == ""


def test_the_nodes_of_a_graph_share_a_lane_and_so_do_streams_beyond_some() -> None:
    nodes = [TimeSpan("kernels", "k", n, n + 1, 0, f"graph 3 node {n}") for n in range(50)]
    streams = [TimeSpan("kernels", "k", n, n + 1, 0, f"0:{n + 1}") for n in range(50)]
    assert lanes(nodes + streams[:1]).count(">graph 3</text>") == 1
    assert lanes(streams).count(">26 more streams</text>") == 1


def test_ten_thousand_spans_make_a_small_picture() -> None:
    assert len(lanes([TimeSpan("kernels", "k", 2 * n, 2 * n + 1, 0, "0:0") for n in range(10_000)])) < 500_000


@pytest.mark.parametrize("name", ["page.html", "page.txt", "page.json"])
def test_the_name_of_a_file_says_its_form(name: str) -> None:
    """Each says that it is a prediction."""
    written = report_as(name, [], SPANS)
    assert "predicted" in written
    if name.endswith("json"):
        data = json.loads(written)
        assert data["timeline"]["predicted"] is True
        assert data["timeline"]["spans"][1]["bytes"] == 4_000_000
    assert written.startswith({"html": "<!DOCTYPE", "txt": "timeline (", "json": "{"}[name.rpartition(".")[2]])
    assert "imeline" not in report_as("page.txt", [], [])


def test_a_long_program_is_not_listed_piece_by_piece() -> None:
    assert "begins at us" in timeline_text(SPANS)
    assert "begins at us" not in timeline_text(SPANS * 20)
