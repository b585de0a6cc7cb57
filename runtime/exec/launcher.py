"""Starts a program so that it finds our library for CUDA's, and a server for each process that calls it.

The libraries are files in memory, found through /proc, and the socket's name is an abstract one: all are gone when this process is,
whatever ends it.  So is the folder with links to the libraries (folder.py).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Mapping, Sequence

from ..device.machine import begin_machine
from ..driver.api import initialise
from ..errors import UsageError
from . import server
from .binaries.elf import MACHINE, LibraryImage
from .binaries.library import UNAUDITED, Exported, built, exported, sonames
from .binaries.redirect import redirections
from .folder import RunFolder
from .handlers import special
from .observers.sight import Sight
from .process import LIBC, SYSTEM_CALLS
from .wire import AUDIT, RETURN, Disconnected, WireRequest, receive, send

PR_SET_PDEATHSIG = 1
FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
NOT_FOUND, NOT_EXECUTABLE = 127, 126  # a shell's codes


def refuse_elsewhere() -> None:
    """Says where this can't work."""
    if sys.platform != "linux" or MACHINE not in SYSTEM_CALLS:
        raise UsageError(
            f"exec runs programs on Linux on x86-64 and aarch64, not on {sys.platform} on {MACHINE}; all other commands work here"
        )


def run(command: Sequence[str], sight: Sight, stand_ins: bool = True) -> int:
    """Runs a command; its exit code, or minus the signal that ended it; another one for 0 if a checker found an error, or something failed that is to show."""
    refuse_elsewhere()
    begin_machine()
    initialise()
    listed = exported(stand_ins)
    launcher = ExecRun(listed, sight)
    return launcher.run(command)


def entry_points(listed: Sequence[Exported]) -> dict[str, list[special.EntryPoint]]:
    """The forms of each driver call, by the name without its form."""
    out: dict[str, list[special.EntryPoint]] = {}
    for e in listed:
        name = e.function.name
        if e.call is not None and not e.is_runtime and (e.function.is_answered or not any(form.is_answered for form in e.call.forms)):
            plain, _, ending = name.partition("_pt")
            base = plain.rsplit("_v", 1)[0] if plain.rsplit("_v", 1)[-1].isdigit() and "_v" in plain else plain
            entry = special.EntryPoint(name, e.function.version, bool(ending))
            for symbol in {base, base.removesuffix("WithFlags") if base == "cuGraphInstantiateWithFlags" else base}:
                out.setdefault(symbol, []).append(entry)
    return out


class ExecRun:
    """One run: the library, the listening socket, the program, and the servers."""

    def __init__(self, listed: list[Exported], sight: Sight) -> None:
        self.listed = listed
        self.sight = sight
        self.served = 0  # processes until now
        self.wrong = False  # did a server end with 1?
        self.names = sonames(listed)
        files = {soname: os.memfd_create(soname) for soname in self.names}
        self.paths = {soname: f"/proc/{os.getpid()}/fd/{file}" for soname, file in files.items()}
        name = f"warplab-exec-{os.getpid()}-{os.urandom(4).hex()}".encode()
        libraries = built(MACHINE, listed, name, self.paths)
        for soname, library in libraries.items():
            os.write(files[soname], library.image)
        self.library: LibraryImage = next(iter(libraries.values()))  # they differ in their names only
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listening.bind(b"\0" + name)
        self.listening.listen(128)
        self.controls: dict[int, socket.socket] = {}  # pid of a served process: the way to its server
        self.servers: dict[int, int] = {}  # pid of a server: the process that it serves
        self.seen: dict[int, set[int]] = {}  # pid: where its copies of the library have their data
        self.waiting: dict[int, socket.socket] = {}  # connections that have not said anything yet
        self.lost: set[int] = set()  # processes whose servers were killed: another one would know nothing of what they made
        special.ENTRY_POINTS.update(entry_points(listed))
        special.ADDRESSES[:] = [lambda request, name: request.data - self.library.data + self.library.pads[name]]

    # ------------------------------------------------------------ the program

    def environment(self, folder: RunFolder) -> Mapping[str, str]:
        """What the program needs to find the library."""
        out = dict(os.environ) | folder.environment(os.environ)
        auditors = [path for soname, path in self.paths.items() if soname not in UNAUDITED]
        out["LD_AUDIT"] = ":".join(filter(None, (*auditors, out.get("LD_AUDIT"))))
        return out

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> int:
        """Starts the program; its process id."""
        pid = os.fork()
        if pid:
            return pid
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # it does not outlive its device
        for s in (signal.SIGINT, signal.SIGPIPE, *FORWARDED):
            signal.signal(s, signal.SIG_DFL)
        try:
            os.execvpe(command[0], list(command), environment)
        except OSError as e:
            here = isinstance(e, FileNotFoundError) and os.sep not in command[0] and os.path.isfile(command[0])
            why = f"no program of that name is on the PATH: write ./{command[0]}" if here else e.strerror
            sys.stderr.write(f"error: {command[0]}: {why}\n")
            sys.stderr.flush()
            os._exit(NOT_FOUND if isinstance(e, FileNotFoundError) else NOT_EXECUTABLE)

    def run(self, command: Sequence[str]) -> int:
        """Runs a command to its end."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal tells the program, too
        folder = RunFolder(self.paths, self.names)
        try:
            return self.serve_until_end(self.start(command, self.environment(folder)))
        finally:
            folder.remove()

    def serve_until_end(self, pid: int) -> int:
        """Serves the program to its end."""
        for s in FORWARDED:
            signal.signal(s, lambda number, _: os.kill(pid, number))
        process = os.pidfd_open(pid)
        poll = select.epoll()
        poll.register(process, select.EPOLLIN)
        poll.register(self.listening, select.EPOLLIN)
        while True:
            numbers = [number for number, _ in poll.poll()]
            for number in numbers:
                if number == self.listening.fileno():
                    connection, _ = self.listening.accept()
                    self.waiting[connection.fileno()] = connection
                    poll.register(connection, select.EPOLLIN)
                elif number in self.waiting:
                    poll.unregister(number)
                    self.dispatch(self.waiting.pop(number))
            self.reap()
            if process in numbers:
                return self.end(pid)

    def end(self, pid: int) -> int:
        """The program has ended: its server says what it has to say."""
        _, status = os.waitpid(pid, 0)
        for own, served in list(self.servers.items()):
            if served == pid:
                self.note(os.waitpid(own, 0)[1])
        return os.waitstatus_to_exitcode(status) or (self.sight.error_code or 1) * self.wrong

    def note(self, status: int) -> None:
        """A server has ended: was anything wrong?"""
        self.wrong |= os.waitstatus_to_exitcode(status) == 1

    # ------------------------------------------------------------ its calls

    def dispatch(self, connection: socket.socket) -> None:
        """Hands a new connection to the server of its process, which is started for the first that needs one."""
        pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        try:
            request = receive(connection, socket.MSG_PEEK)
        except Disconnected:
            connection.close()
            return
        seen = self.seen.setdefault(pid, set())
        if request.number == AUDIT and seen and request.data not in seen:  # it is another program by now
            seen.clear()
            self.controls.pop(pid, None)
            self.lost.discard(pid)
        if pid in self.lost:
            connection.close()
            return
        parent = None if seen else self.parent(pid, request.data)
        seen.add(request.data)
        if pid in self.controls:
            if self.hand_over(self.controls[pid], 0, connection):
                return
            self.reap(pid)
            if pid in self.lost:
                connection.close()
                return
        if parent is not None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            if self.hand_over(self.controls[parent], pid, connection, theirs):
                self.controls[pid] = ours
                return
        if self.needs_nothing(pid, request):
            with contextlib.suppress(Disconnected):  # the process was killed meanwhile
                receive(connection)
                send(connection, RETURN, 0)
        else:
            self.serve(pid, connection)
        connection.close()

    def parent(self, pid: int, data: int) -> int | None:
        """The served process of which one is a child that was forked: its library has its data at the same place."""
        while pid > 1:
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                    pid = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                return None
            if pid in self.controls and data in self.seen.get(pid, ()):
                return pid
        return None

    @staticmethod
    def hand_over(control: socket.socket, child: int, *sockets: socket.socket) -> bool:
        """Hands sockets to a server; says whether it is still there."""
        try:
            socket.send_fds(control, [server.CHILD.pack(child)], [s.fileno() for s in sockets])
        except OSError:
            return False
        for s in sockets:
            s.close()
        return True

    @staticmethod
    def needs_nothing(pid: int, request: WireRequest) -> bool:
        """Is it only about objects that were loaded, none of which is to be redirected?"""
        try:
            return request.number == AUDIT and not redirections(pid)
        except OSError:
            return True

    def serve(self, pid: int, connection: socket.socket) -> None:
        """Starts a server for a process."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        sys.stdout.flush()
        own = os.fork()
        if own:
            theirs.close()
            self.controls[pid], self.servers[own] = ours, pid
            self.served += 1
            return
        try:
            for s in FORWARDED:
                signal.signal(s, signal.SIG_IGN)  # they are for the program, which may use CUDA before it ends
            ours.close()
            self.listening.close()
            for other in (*self.controls.values(), *self.waiting.values()):
                other.close()
            self.sight.begin(self.served, pid)
            server.run(server.ProgramServer(pid, self.library, self.listed, self.sight), connection, theirs)
        except BaseException as e:
            sys.stderr.write(f"warplab: internal error: {type(e).__name__}: {e}\n")
            if os.environ.get("WARPLAB_TRACEBACK"):
                sys.excepthook(type(e), e, e.__traceback__)
        finally:
            os._exit(70)

    def reap(self, ending: int = 0) -> None:
        """Forgets servers that have ended, that of one process as soon as it has."""
        for own, pid in list(self.servers.items()):
            found, status = os.waitpid(own, 0 if pid == ending else os.WNOHANG)
            if found:
                self.note(status)
                del self.servers[own]
                if os.WIFSIGNALED(status) and os.path.exists(f"/proc/{pid}"):
                    self.lost.add(pid)
                    name = signal.Signals(os.WTERMSIG(status)).name
                    hint = ", perhaps because the machine is out of memory" if name == "SIGKILL" else ""
                    sys.stderr.write(
                        f"warplab: the process that models the devices was ended by {name}{hint}; all calls fail from now on\n"
                    )
                control = self.controls.pop(pid, None)
                if control is not None:
                    control.close()
