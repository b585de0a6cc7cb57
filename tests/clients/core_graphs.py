"""cuda.core: graphs that are captured, and graphs that are built node by node; run as triton_tutorials.py is."""

import numpy as np
import pytest
from cuda.core import (
    Device,
    GraphMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core.graph import GraphCompleteOptions, GraphDebugPrintOptions, GraphDefinition

device = Device()
device.set_current()
TEXT = """
extern "C" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle h, unsigned v);
extern "C" __global__ void add(int *x, int n) { atomicAdd(x, n); }
extern "C" __global__ void twice(int *x) { *x *= 2; }
extern "C" __global__ void choose(cudaGraphConditionalHandle h, unsigned v) { cudaGraphSetConditional(h, v); }
extern "C" __global__ void until(cudaGraphConditionalHandle h, int *x, int n) { cudaGraphSetConditional(h, *x < n); }
"""
CODE = Program(TEXT, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
ADD, TWICE, CHOOSE, UNTIL = (CODE.get_kernel(n) for n in ("add", "twice", "choose", "until"))
ONE = LaunchConfig(grid=1, block=1)


@pytest.fixture
def stream():
    device.set_current()
    out = device.create_stream()
    yield out
    out.close()


@pytest.fixture
def x(stream):
    buffer = LegacyPinnedMemoryResource().allocate(64, stream=stream)
    view = np.from_dlpack(buffer).view(np.int32)
    view[:] = 0
    return buffer, view


def run(graph, stream, times=1):
    graph.upload(stream)
    for _ in range(times):
        graph.launch(stream)
    stream.sync()
    graph.close()
    assert graph.is_closed


def test_a_capture(stream, x):
    buffer, seen = x
    builder = device.create_graph_builder().begin_building()
    assert builder.is_building
    for n in range(3):
        launch(builder, ONE, ADD, buffer, np.int32(n + 1))
    graph = builder.end_building().complete()
    assert not builder.is_building and not seen.any()
    run(graph, stream, times=2)
    assert seen[0] == 12


def test_a_capture_that_splits_and_joins(stream, x, tmp_path):
    buffer, seen = x
    builder = stream.create_graph_builder().begin_building("thread_local")
    launch(builder, ONE, ADD, buffer, np.int32(1))
    parts = builder.split(3)
    for p in parts:
        launch(p, ONE, ADD, buffer, np.int32(10))
    builder = type(builder).join(*parts)
    launch(builder, ONE, TWICE, buffer)
    done = builder.end_building()
    done.debug_dot_print(str(tmp_path / "graph.dot"), GraphDebugPrintOptions(verbose=True))
    assert "digraph" in (tmp_path / "graph.dot").read_text()
    run(done.complete(GraphCompleteOptions(auto_free_on_launch=True)), device.create_stream())
    assert seen[0] == 62


def test_graphs_in_graphs(stream, x):
    buffer, seen = x
    child = device.create_graph_builder().begin_building()
    launch(child, ONE, ADD, buffer, np.int32(5))
    child.end_building()
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, ADD, buffer, np.int32(1))
    builder.embed(child)
    launch(builder, ONE, TWICE, buffer)
    run(builder.end_building().complete(), stream)
    assert seen[0] == 12


def test_an_update(stream, x):
    buffer, seen = x

    def made(n):
        builder = device.create_graph_builder().begin_building()
        launch(builder, ONE, ADD, buffer, np.int32(n))
        return builder.end_building()

    graph = made(1).complete()
    graph.launch(stream)
    graph.update(made(100))
    run(graph, stream)
    assert seen[0] == 101


@pytest.mark.parametrize("value", [0, 1])
def test_conditions_of_captures(stream, x, value):
    buffer, seen = x
    builder = device.create_graph_builder().begin_building()
    condition = builder.create_condition(default_value=0)
    launch(builder, ONE, CHOOSE, condition, np.uint32(value))
    then = builder.if_then(condition).begin_building()
    launch(then, ONE, ADD, buffer, np.int32(7))
    then.end_building()
    other = builder.create_condition()
    launch(builder, ONE, CHOOSE, other, np.uint32(value))
    for n, part in enumerate(builder.if_else(other)):
        part.begin_building()
        launch(part, ONE, ADD, buffer, np.int32(100 * (n + 1)))
        part.end_building()
    third = builder.create_condition()
    launch(builder, ONE, CHOOSE, third, np.uint32(2))
    for n, part in enumerate(builder.switch(third, 3)):
        part.begin_building()
        launch(part, ONE, ADD, buffer, np.int32(1000 * n))
        part.end_building()
    run(builder.end_building().complete(), stream)
    assert seen[0] == 7 * value + (100 if value else 200) + 2000


def test_a_loop_of_a_capture(stream, x):
    buffer, seen = x
    builder = device.create_graph_builder().begin_building()
    condition = builder.create_condition(default_value=1)
    body = builder.while_loop(condition).begin_building()
    launch(body, ONE, ADD, buffer, np.int32(3))
    launch(body, ONE, UNTIL, condition, buffer, np.int32(10))
    body.end_building()
    run(builder.end_building().complete(), stream)
    assert seen[0] == 12


def test_callbacks(stream, x):
    buffer, seen = x
    said = []
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, ADD, buffer, np.int32(3))
    builder.callback(lambda: said.append(int(seen[0])))
    launch(builder, ONE, ADD, buffer, np.int32(3))
    run(builder.end_building().complete(), stream, times=2)
    assert said == [3, 9] and seen[0] == 12


def test_memory_of_graphs(stream, x):
    buffer, seen = x
    mr = GraphMemoryResource(device)
    builder = device.create_graph_builder().begin_building()
    own = mr.allocate(64, stream=builder)
    own.fill(1, stream=builder)
    launch(builder, ONE, TWICE, own)
    own.copy_to(buffer, stream=builder)
    own.close(builder)
    run(builder.end_building().complete(), stream)
    assert seen[0] == 0x02020202 and seen[1] == 0x01010101
    assert mr.attributes.used_mem_high > 0 and mr.attributes.reserved_mem_current >= 0
    mr.trim()


def test_nodes(stream, x, tmp_path):
    buffer, seen = x
    graph = GraphDefinition()
    more = device.allocate(64, stream=stream)
    stream.sync()
    zero = graph.memset(more, 0, 64)
    kernel = zero.launch(ONE, ADD, more, np.int32(5))
    copy = kernel.memcpy(buffer, more, 64)
    said = []
    end = copy.callback(lambda: said.append(1))
    event = device.create_event()
    recorded = end.record(event)
    join = graph.join(recorded, graph.empty())
    assert len(graph.nodes()) == 7 and (zero, kernel) in graph.edges() and set(kernel.pred) == {zero} and set(kernel.succ) == {copy}
    assert kernel.grid == (1, 1, 1) and kernel.block == (1, 1, 1) and kernel.shmem_size == 0 and copy.size == 64 and zero.value == 0
    assert join.is_valid and recorded.event == event and zero.dptr == int(more.handle) and copy.dst == int(buffer.handle)
    graph.debug_dot_print(str(tmp_path / "g.dot"))
    run(graph.instantiate(), stream)
    assert seen[0] == 5 and said == [1]
    join.destroy()
    assert len(graph.nodes()) == 6


def test_nodes_that_allocate(stream, x):
    buffer, seen = x
    graph = GraphDefinition()
    memory = graph.allocate(64)
    assert memory.bytesize == 64 and memory.device_id == device.device_id and memory.dptr
    filled = memory.memset(memory.dptr, 3, 64)
    copied = filled.memcpy(buffer, memory.dptr, 64)
    copied.deallocate(memory.dptr)
    run(graph.instantiate(), stream, times=2)
    assert seen[0] == 0x03030303


def test_conditions_of_nodes(stream, x):
    buffer, seen = x
    graph = GraphDefinition()
    condition = graph.create_condition(default_value=1)
    loop = graph.while_loop(condition)
    loop.body.launch(ONE, ADD, buffer, np.int32(4)).launch(ONE, UNTIL, condition, buffer, np.int32(10))
    chosen = graph.create_condition(default_value=1)
    branch = loop.if_else(chosen)
    branch.then.launch(ONE, ADD, buffer, np.int32(100))
    branch.else_.launch(ONE, ADD, buffer, np.int32(200))
    several = graph.create_condition(default_value=1)
    switch = branch.switch(several, 3)
    for n, part in enumerate(switch.branches):
        part.launch(ONE, ADD, buffer, np.int32(1000 * n))
    run(graph.instantiate(), stream)
    assert seen[0] == 1112


def test_nodes_that_change(stream, x):
    buffer, seen = x
    graph = GraphDefinition()
    kernel = graph.launch(ONE, ADD, buffer, np.int32(1))
    kernel.update(args=(buffer, np.int32(20)))
    filled = kernel.memset(int(buffer.handle) + 32, 1, 16)
    filled.update(value=2)
    child = GraphDefinition()
    child.launch(ONE, TWICE, buffer)
    inner = filled.embed(child)
    assert len(inner.child_graph.nodes()) == 1
    run(graph.instantiate(), stream)
    assert seen[0] == 40 and seen[8] == 0x02020202
    other = GraphDefinition()
    first, second = other.empty(), other.empty()
    second.pred = {first}
    assert other.edges() == {(first, second)}
    second.pred.clear()
    assert not other.edges()


def test_work_that_can_not_be_captured(stream):
    builder = device.create_graph_builder().begin_building()
    with pytest.raises(Exception, match="CAPTURE"):
        builder.stream.sync()
    with pytest.raises(Exception):  # noqa: B017
        builder.end_building()
