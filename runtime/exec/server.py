"""Answers the calls of one program: a thread for each of its threads, one lock around the model."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from warplab.interpreter.faults import Fault
from warplab.interpreter.native import tiers

from ..cudart.api import RUNTIME
from ..device.graphs.pending import QUEUE
from ..device.machine import machine
from ..device.memory.allocations import SPACE
from ..device.memory.host import serve
from ..driver.api import STATE
from ..driver.unsupported import is_refusal
from ..errors import ApiError, StickyError, unsupported
from .after_fork import begin_again
from .binaries.elf import MACHINE, LibraryImage
from .binaries.library import LOCAL, USED_AT, Exported
from .binaries.redirect import Stand, redirect, redirections
from .handlers import graphs, nvml, special  # noqa: F401 - enter their handlers
from .handlers.abi import SENT_WHOLE, ArgumentReader, Marshalled
from .handlers.cuda12 import MARKER, exported_names
from .handlers.output import ProgramOutput
from .local import ThreadRecord
from .observers.sight import Sight
from .process import HostProgram
from .standins import load
from .waiting import WaitingCalls
from .wire import ANSWER, AUDIT, CALL, RETURN, SYSCALL, Disconnected, WireRequest, receive, send

if TYPE_CHECKING:
    from .observers.call_log import CallLog

NOT_INITIALIZED = 3
CALM = re.compile("__cuda(Reg|Unreg|Push|Pop|Init)|cu(da)?(GetError|GetLastError|PeekAtLastError|GetProcAddress|DriverGetVersion)")
NVCC_LAUNCHES = ("__cudaLaunchKernel", "cudaLaunchKernel")
LAUNCHES = re.compile("(__)?cu(da)?(Graph)?Launch")
CHILD = struct.Struct("<i")  # what the launcher says of a connection: zero, or the child whose it is
EXPLAINED = {
    f"CUDA_ERROR_{word}"
    for word in "NO_BINARY_FOR_GPU INVALID_PTX INVALID_IMAGE INVALID_SOURCE UNSUPPORTED_PTX_VERSION NOT_SUPPORTED".split()
}
Handler = Callable[[WireRequest], int]


class HostThread:
    """One thread of the program, which may come through several copies of the library; answered by a thread of the server's own, so that
    what CUDA keeps for each host thread is kept for it."""

    def __init__(self, server: ProgramServer, tid: int) -> None:
        self.server = server
        self.tid = tid
        self.poll = select.epoll()
        self.connections: dict[int, socket.socket] = {}
        self.changing = threading.Lock()  # held while a connection comes or the thread ends: one that came would not be answered
        self.ended = False
        self.now: socket.socket | None = None  # the connection whose call is being answered
        self.request: WireRequest | None = None  # that call
        self.pushed = 0  # where the <<<>>> stands that is being launched
        self.record: ThreadRecord | None = None  # what it knows itself

    def add(self, connection: socket.socket) -> bool:
        """One more connection of the same thread; says whether it will be answered."""
        with self.changing:
            if not self.ended:
                self.connections[connection.fileno()] = connection
                self.poll.register(connection, select.EPOLLIN)
            return not self.ended

    def run(self) -> None:
        """Answers until the thread is gone."""
        CURRENT.thread = self
        try:
            while True:
                self.answer(*self.next())
        except Disconnected:
            pass
        finally:  # after a fault of ours, too: the calls of a thread without a connection fail
            with self.changing:
                self.ended = True
                for connection in self.connections.values():
                    connection.close()
                if self.record is not None:
                    self.server.records.append(self.record)

    def next(self) -> tuple[socket.socket, WireRequest]:
        """The next request on any connection."""
        while True:
            for number, _ in self.poll.poll():
                connection = self.connections[number]
                try:
                    return connection, receive(connection)
                except Disconnected:
                    self.poll.unregister(number)
                    del self.connections[number]
                    connection.close()
            with self.changing:
                self.ended = not self.connections
            if self.ended:
                raise Disconnected

    def answer(self, connection: socket.socket, request: WireRequest) -> None:
        """Answers one call."""
        before, self.now, self.request = (self.now, self.request), connection, request
        try:
            with self.server.lock:
                self.server.output.buffer.release()
                result = self.server.answer(request)
                self.server.waiting.answered()
                self.server.let_know(self, request.number, result)
            send(connection, RETURN, result, self.record.address if self.record is not None else 0)
        finally:
            self.now, self.request = before

    def ask(self, kind: int, target: int, *arguments: int) -> int:
        """Makes the thread do something, while it waits for an answer; gives the result."""
        assert self.now is not None
        connection = self.now
        send(connection, kind, target, *arguments)
        while True:
            found, request = self.next()
            if request.number == ANSWER:
                return request.registers[0]
            self.answer(found, request)  # the function that it was told to call makes calls itself


class _Current(threading.local):
    thread: HostThread


CURRENT = _Current()


class ProgramServer:
    """The state of one program."""

    def __init__(self, pid: int, library: LibraryImage, listed: list[Exported], sight: Sight, generation: int = 0, parent: int = 0) -> None:
        self.library = library
        self.listed = listed
        self.sight = sight
        self.generation = generation  # forks since the program was started
        self.parent = parent  # where the library has its data in the process that was forked, and still in this one
        self.used = False  # CUDA was used before the last fork: it answers nothing behind it
        self.marked = False  # does the program's own memory say that CUDA was used?
        self.lock = threading.Lock()
        self.threads: dict[int, HostThread] = {}
        self.program = HostProgram(pid, self._system_call, self._call, generation)
        self.program.speaks = lambda: hasattr(CURRENT, "thread")
        self.waiting = WaitingCalls(self.program, self.lock)
        self.program.calls_from, self.program.others_run = self._calls_from, self.waiting.others_run
        self.strings = self.program.kept
        self.calls: list[Handler | None] = [None] * len(listed)
        self.pushes = {n for n, e in enumerate(listed) if e.function.name.startswith("__cudaPushCallConfiguration")}
        names = {e.function.name: n for n, e in enumerate(listed)}
        self.asked_locally = {names[name] for name in LOCAL if name in names}
        self.asks_device = names.get("cudaGetDevice", -1)
        self.records: list[ThreadRecord] = []  # of threads that have ended
        self.launches = {n for n, e in enumerate(listed) if e.function.name.startswith(NVCC_LAUNCHES)}
        self.said: set[str] = set()
        self.failed = False  # was a fault reported, or a launch refused?
        serve(self.program)
        self.output = sys.stdout = ProgramOutput(self.program, self._quick_call)

    def of_child(self, pid: int) -> ProgramServer:
        """The state of a child that was forked: it has registered what its parent has."""
        for thread in self.threads.values():
            for connection in thread.connections.values():
                connection.close()
        out = ProgramServer(pid, self.library, self.listed, self.sight.of_child(pid), self.generation + 1, self.program.data)
        out.program.originals = self.program.originals
        return out

    def _begin(self, request: WireRequest) -> None:
        """The first request of a process; of one that was forked before it used CUDA the devices are as new."""
        self.program.data = request.data
        self.program.begin()
        if self.parent:
            self.used = bool(self.program.read(self.parent + USED_AT, 1)[0])
            if not self.used:
                begin_again()
        if SPACE.clock is not None:
            SPACE.clock.say = self._note

    def _note(self, text: str) -> None:
        """Says something of the run, here and in its log."""
        print(f"warplab: {text}", file=sys.stderr, flush=True)
        if self.sight.calls is not None:
            self.sight.calls.note(text)

    def _mark(self) -> None:
        """Leaves a mark in the program, which a child that is forked from now on has, too."""
        if any(d.is_used for d in machine().devices):
            self.marked = True
            self.program.write(self.program.data + USED_AT, np.ones(1, np.uint8))

    def let_know(self, thread: HostThread, number: int, result: int) -> None:
        """Lets a thread know what it is asked for at each launch, unless each call is to be seen."""
        if thread.record is None:
            if number not in self.asked_locally or self.used or self.sight.calls is not None:
                return
            with suppress(ApiError):  # where there is no room for it, the server answers
                thread.record = self.records.pop() if self.records else ThreadRecord(self.strings)
                thread.record.clear()
        if thread.record is not None:
            thread.record.tell(number == self.asks_device and not result)

    def accept(self, connection: socket.socket) -> None:
        """A new connection; its first request says which thread it is."""
        try:
            tid = receive(connection, socket.MSG_PEEK).tid
        except Disconnected:
            return
        thread = self.threads.get(tid)
        if thread is not None and thread.add(connection):
            return
        for ended in [t for t, known in self.threads.items() if known.ended]:
            del self.threads[ended]
        thread = self.threads[tid] = HostThread(self, tid)
        thread.add(connection)
        threading.Thread(target=thread.run, daemon=True).start()

    # ------------------------------------------------------------ what the program is asked for

    def _system_call(self, number: int, *arguments: int) -> int:
        return CURRENT.thread.ask(SYSCALL, number, *arguments)

    def _call(self, function: int, *arguments: int) -> int:
        self.lock.release()  # it may use CUDA, or wait for another thread that does
        try:
            return CURRENT.thread.ask(CALL, function, *arguments)
        finally:
            self.lock.acquire()

    def _quick_call(self, function: int, *arguments: int) -> int:
        """Calls a function that surely makes no calls of CUDA's."""
        return CURRENT.thread.ask(CALL, function, *arguments)

    def _calls_from(self) -> tuple[int, int]:
        """The stack of the call that is being answered; for the launch that nvcc makes of <<<>>>, where that stands."""
        thread = CURRENT.thread
        if thread.request is None:
            return 0, 0
        launches = thread.request.number in self.launches
        pushed = launches and (thread.pushed or (thread.record.place if thread.record is not None else 0))
        return thread.request.stack, int(pushed)

    # ------------------------------------------------------------ what the program asks for

    def answer(self, request: WireRequest) -> int:
        """Does what a request asks for."""
        if not self.program.data:
            self._begin(request)
        outer = RUNTIME.copy
        try:
            if request.number == AUDIT:
                self._redirect(request)
                return 0
            copy, request.number = divmod(request.number, 1 << 16)
            RUNTIME.copy = request.data, copy
            if self.used and not CALM.match(self.listed[request.number].function.name):
                return NOT_INITIALIZED
            call = self.calls[request.number]
            if call is None:
                call = self.calls[request.number] = self._prepared(self.listed[request.number])
            if request.number in self.pushes:
                CURRENT.thread.pushed = self.program.returns_to(request)
            if SPACE.clock is not None:
                SPACE.clock.called(self.listed[request.number].function.name)
            before = STATE.last
            result = call(request) if self.sight.calls is None else self._logged(self.sight.calls, call, request)
            if result and LAUNCHES.match(self.listed[request.number].function.name):
                self.failed = True
            if result and STATE.last is not before and STATE.last is not None:
                self._say(STATE.last, self.listed[request.number].function.name)
            if not self.marked:
                self._mark()
            if request.number in self.launches:
                CURRENT.thread.pushed = 0
                if CURRENT.thread.record is not None:
                    CURRENT.thread.record.forget_place()
            return result
        except Disconnected:
            raise
        except ApiError as e:
            if request.number >= len(self.listed):
                return 0
            self.failed |= bool(LAUNCHES.match(self.listed[request.number].function.name))
            self._say(e, self.listed[request.number].function.name)
            return special.code(e, self.listed[request.number].is_runtime)
        except Exception as e:  # a fault of ours ends the call, not the program
            sys.stderr.write(f"warplab: internal error in {self.listed[request.number].function.name}: {type(e).__name__}: {e}\n")
            if os.environ.get("WARPLAB_TRACEBACK"):
                sys.excepthook(type(e), e, e.__traceback__)
            self.failed = True
            return special.code(ApiError("CUDA_ERROR_UNKNOWN", "internal error"), self.listed[request.number].is_runtime)
        finally:
            RUNTIME.copy = outer  # a call may be made while another one is answered

    def _logged(self, log: CallLog, call: Handler, request: WireRequest) -> int:
        exported = self.listed[request.number]
        with log.call(exported, request) as result:
            try:
                result.append(call(request))
            except ApiError as e:
                result.append(special.code(e, exported.is_runtime))
                raise
        return result[0]

    def _say(self, e: ApiError, call: str) -> None:
        """Says on standard error what a code alone would not explain: a fault, the calls that it makes fail, or what can't be had; each once."""
        text = f"{call}: {e.message.splitlines()[0]}" if isinstance(e, StickyError) else e.message
        self.failed |= e.cause is not None
        if isinstance(e.cause, Fault) and e.cause.kind == "assert":  # its message was printed when it failed
            text = text.replace(e.cause.message, "an assertion failed")
        if (e.cause is not None or e.name in EXPLAINED) and text and text not in self.said:
            self.said.add(text)
            sys.stderr.write(f"warplab: {text}\n")

    def finish(self) -> bool:
        """The program has ended: says what it was not told, and what it was watched with; has a checker found an error, or is failing an error, too?"""
        for device in machine().devices:
            if device.primary is not None and device.primary.pending is not None:
                self._say(device.primary.pending, "")
        if left := QUEUE.left():
            self.failed = True
            sys.stderr.write(f"warplab: {left}\n")
        return self.sight.finish() or (self.failed and self.sight.error_code > 0)

    def _redirect(self, request: WireRequest) -> None:
        base = request.data - self.library.data
        pads = self.library.pads
        targets = {e.function.name: Stand(base + pads[e.function.name], n) for n, e in enumerate(self.listed) if not e.library}
        older = {name: targets[own] for own, name in exported_names(targets).items()}
        for r in redirections(self.program.pid):
            redirect(self.program, r, older if MARKER in r.symbols else targets, base + self.library.code)

    def _prepared(self, exported: Exported) -> Handler:
        """The answer to one exported function."""
        f = exported.function
        refused = load(exported.library).refusal(f.name) if exported.library else None
        call, own = exported.call, special.handler_of(f)
        if own is not None:
            reader = ArgumentReader(f.parameters or (), MACHINE, f.name in SENT_WHOLE)
            return lambda request: own(
                special.HandledCall(self.strings, request, reader.read(request), "_pt" in f.name, exported.is_runtime)
            )
        if call is None:
            return refused or refusal(f.name)
        work: Any = special.python_call(call, exported.is_runtime)
        if f.parameters is None or work is None or is_refusal(work):
            return refusal(call.name)
        return Marshalled(call, f, work, MACHINE, self.strings, special.TRANSLATED if exported.is_runtime else {})


def refusal(name: str) -> Handler:
    """The answer to a function that does nothing but refuse."""

    def refuse(request: WireRequest) -> int:
        raise unsupported(f"{name} is not supported: see `warplab docs api-coverage`")

    return refuse


def run(server: ProgramServer, first: socket.socket, control: socket.socket) -> NoReturn:
    """Serves a program until it ends.  Over the control socket come further connections, and those of its children.

    The exit code is 1 if a checker found an error, or something failed and that is to show.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # servers of children are nobody's concern here
    process = os.pidfd_open(server.program.pid)
    server.accept(first)
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.register(control, select.POLLIN)
    while True:
        for number, _ in poll.poll():
            if number == process:
                wrong = server.finish()
                tiers.end()
                sys.stderr.flush()
                os._exit(int(wrong))
            data, files, _, _ = socket.recv_fds(control, CHILD.size, 2)
            if not data:  # the launcher is gone
                poll.unregister(control)
                continue
            connection, *more = [socket.socket(fileno=file) for file in files]
            (child,) = CHILD.unpack(data)
            if not child:
                server.accept(connection)
                continue
            with server.lock:
                own = os.fork()
            if not own:
                control.close()
                os.close(process)
                run(server.of_child(child), connection, more[0])
            for s in (connection, *more):
                s.close()
