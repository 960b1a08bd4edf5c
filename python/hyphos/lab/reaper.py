"""Removes everything that a program created, when the program ends: by itself, by Ctrl-C, or by
kill -9.

A `Reaper` is a small process beside the program, in its own session. The program registers through
a pipe each thing that it is *about to* create, so nothing ever exists unregistered. When the
program has ended, the reaper removes all things that are still registered, and nothing else. If the
reaper is killed as well, `sweep()` of the next program does it: all names begin with
hyphos-lab-PID-START-NAMESPACE, which identifies the owner.

Kinds of resources:

- `process`: PID:START. It is killed, with the session that it leads,
- `cgroup`: a folder of a cgroup file system, with all processes in it,
- `namespace`: the name of a network namespace, with all processes in it,
- `mount`: the mount point of a file system,
- `folder`: with its content.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hyphos.lab import kernel

PREFIX = "hyphos-lab-"
NETNS = Path("/run/netns")
FOLDERS = Path("/run")
SHM = Path("/dev/shm")
_OWNED = re.compile(rf"{PREFIX}(\d+)-(\d+)-p(\d+)-.+")
_GRACE_S = 5.0  # between SIGTERM and SIGKILL
_PATIENCE_S = 10.0  # for the kernel to release resources
_LONGEST = 4096  # bytes of a message that a pipe accepts atomically (PIPE_BUF)

logger = logging.getLogger("hyphos")


@dataclass(frozen=True)
class Resource:
    kind: str
    value: str


def this_process() -> str:
    return f"{os.getpid()}:{kernel.start_of(os.getpid())}"


def owned_name(label: str) -> str:
    """hyphos-lab-PID-START-NAMESPACE-LABEL. From the name, any process in the same PID namespace
    can check whether the owner still runs."""
    return f"{PREFIX}{this_process().replace(':', '-')}-p{kernel.pid_namespace()}-{label}"


def lives(process: str) -> bool:
    """Whether PID:START still runs."""
    pid, _, start = process.partition(":")
    return kernel.start_of(int(pid)) == int(start)


def _owner_is_dead(name: str) -> bool:
    """False if the owner is in another PID namespace, as in a container with the same /tmp: nothing
    here shows whether it still runs."""
    found = _OWNED.fullmatch(name)
    if found is None or int(found[3]) != kernel.pid_namespace():
        return False
    return not lives(f"{found[1]}:{found[2]}")


# The processes in a resource.


def _of_process(value: str) -> Iterator[int]:
    pid = int(value.partition(":")[0])
    # Another process has this number: the kernel reuses no number of a session with members.
    if kernel.start_of(pid) is not None and not lives(value):
        return
    if lives(value):
        yield pid
    yield from kernel.in_session(pid)


def _of_cgroup(value: str) -> Iterator[int]:
    for file in Path(value).glob("**/cgroup.procs"):
        with suppress(OSError):
            # 0 is a process outside this pid namespace. For kill() it means the own process group.
            yield from (pid for pid in map(int, file.read_text().split()) if pid > 0)


def _of_namespace(value: str) -> Iterator[int]:
    yield from kernel.in_network(kernel.network_at(NETNS / value))


_RUNNING: dict[str, Callable[[str], Iterator[int]]] = {
    "process": _of_process,
    "cgroup": _of_cgroup,
    "namespace": _of_namespace,
}


# Removal of a resource without processes. Returns false if it must be tried again.


def _remove_cgroup(value: str) -> bool:
    for folder in sorted(Path(value).glob("**/"), reverse=True):  # innermost first
        with suppress(OSError):
            folder.rmdir()
    return not Path(value).exists()


def _remove_namespace(value: str) -> bool:
    path = NETNS / value
    try:
        # While this file is open, no new namespace gets the identity of this one.
        held = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        while kernel.is_mounted(str(path)):
            kernel.unmount(str(path))
        path.unlink(missing_ok=True)
        # A program that entered before the file was removed may have started a session of its own,
        # so only the namespace identifies it. A program that enters later fails: `enter_network()`.
        deadline = time.monotonic() + _PATIENCE_S
        while inside := list(kernel.in_network(kernel.identity(os.fstat(held)))):
            if time.monotonic() > deadline:
                logger.warning("processes %s stay in the removed namespace %s", inside, value)
                break
            _send(signal.SIGKILL, inside)
            time.sleep(0.01)
    finally:
        os.close(held)
    return True


def _remove_mount(value: str) -> bool:
    while kernel.is_mounted(value):
        kernel.unmount(value)
    return True


def _remove_folder(value: str) -> bool:
    if kernel.is_mounted(value):
        return False  # its content belongs to another owner
    shutil.rmtree(value, ignore_errors=True)
    return not Path(value).exists()


_REMOVE: dict[str, Callable[[str], bool]] = {
    "process": lambda value: not any(_of_process(value)),
    "cgroup": _remove_cgroup,
    "namespace": _remove_namespace,
    "mount": _remove_mount,
    "folder": _remove_folder,
}


def _running(resources: Iterable[Resource]) -> set[int]:
    found: set[int] = set()
    for resource in resources:
        if resource.kind in _RUNNING:
            found.update(_RUNNING[resource.kind](resource.value))
    return found - {os.getpid()}


def _send(number: int, pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)
            os.kill(pid, signal.SIGCONT)


def _end_processes(resources: list[Resource], grace_s: float) -> None:
    deadline: float | None = None  # from the first signal on, however long the search took
    number = signal.SIGTERM
    asked: set[int] = set()
    while running := _running(resources):
        now = time.monotonic()
        if deadline is not None and now > deadline:
            number = signal.SIGKILL
            if now > deadline + _PATIENCE_S:
                return
        _send(number, running if number == signal.SIGKILL else running - asked)
        asked |= running
        if deadline is None:
            deadline = time.monotonic() + grace_s
        time.sleep(0.01)


def remove(resources: Iterable[Resource], grace_s: float = _GRACE_S) -> list[Resource]:
    """Ends all processes in these resources and removes them. Returns those that could not be
    removed."""
    order = list(_REMOVE)
    left = sorted(resources, key=lambda resource: order.index(resource.kind))
    deadline = time.monotonic() + grace_s + _PATIENCE_S
    while True:
        # Repeat this, because a starting program may have joined a resource meanwhile.
        _end_processes(left, grace_s)
        still = []
        for resource in left:
            try:
                if not _REMOVE[resource.kind](resource.value):
                    still.append(resource)
            except OSError:
                still.append(resource)
        left = still
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.01)


def sweep(cgroup_folders: Iterable[Path] = ()) -> list[Resource]:
    """Removes resources of dead programs whose reaper was killed too. Returns them."""
    folders = [("folder", path) for path in (FOLDERS, SHM, Path(tempfile.gettempdir()))]
    places = [("namespace", NETNS), *folders, *(("cgroup", p) for p in cgroup_folders)]
    found = []
    for kind, folder in places:
        for path in folder.glob(f"{PREFIX}*"):
            if not _owner_is_dead(path.name) or path.is_symlink():
                continue  # any user may create a link to anywhere in /tmp
            if kind == "folder" and kernel.is_mounted(str(path)):
                found.append(Resource("mount", str(path)))
            found.append(Resource(kind, path.name if kind == "namespace" else str(path)))
    remove(found)
    return found


class Reaper:
    """The program's side. Needs no thread, and may be created at any time. A fork of the program
    does not own it. Close it, or leave that to the end of the program."""

    def __init__(self) -> None:
        reader, self._writer = os.pipe()
        self._owner = this_process()
        self._registered: set[Resource] = set()
        try:
            self._process = subprocess.Popen(
                [*python_words("hyphos.lab.reaper"), self._owner],
                stdin=reader,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,  # protects it from Ctrl-C
            )
        finally:
            os.close(reader)
        atexit.register(self.close)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def address(self) -> str:
        """PID:START:FD:INODE, with which a starting process registers itself: `register_at()`."""
        return f"{self._owner}:{self._writer}:{os.fstat(self._writer).st_ino}"

    def register(self, kind: str, value: str) -> Resource:
        """Registers a resource. Call it before you create the resource."""
        resource = Resource(kind, value)
        self._registered.add(resource)
        self._send("+", resource)
        return resource

    def remove(self, *resources: Resource, grace_s: float = _GRACE_S) -> None:
        """Removes resources now, and unregisters the removed ones."""
        left = remove(resources, grace_s)
        for resource in resources:
            if resource in left:
                logger.warning("the %s %s is still in use", resource.kind, resource.value)
            else:
                self._registered.discard(resource)
                self._send("-", resource)

    def close(self) -> None:
        """Removes all registered resources before it returns."""
        atexit.unregister(self.close)
        if self._writer < 0 or self._owner != this_process():
            return
        os.close(self._writer)
        self._writer = -1
        self._process.wait()

    def _send(self, sign: str, resource: Resource) -> None:
        line = f"{sign} {resource.kind} {resource.value}\n".encode()
        if len(line) > _LONGEST or line.count(b"\n") > 1:
            raise ValueError(f"not a valid name of a resource: {resource.value!r}")
        try:
            os.write(self._writer, line)
        except BrokenPipeError:
            logger.warning("the reaper is gone, so the next program removes leftovers of this one")


def temporary_folder(reaper: Reaper, label: str) -> Resource:
    """A new temporary folder that is removed with the program, however the program ends."""
    made = reaper.register("folder", str(Path(tempfile.gettempdir(), owned_name(label))))
    Path(made.value).mkdir(mode=0o700)
    return made


@contextmanager
def folder_for_now(label: str) -> Iterator[Path]:
    """A temporary folder for a `with` block. It is removed at the end of the block or program."""
    reaper = Reaper()
    try:
        yield Path(temporary_folder(reaper, label).value)
    finally:
        reaper.close()


def register_at(address: str) -> bool:
    """Registers this process with the reaper at `address`, before it executes another program.
    Returns false if there is no such reaper. The program must not start then, because nothing would
    end it."""
    pid, start, file, inode = address.split(":")
    try:
        # Without O_NONBLOCK, open() would wait for a reader of the pipe.
        pipe = os.open(f"/proc/{pid}/fd/{file}", os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        # Check only now: the reaper does not end while its pipe is open here. Meanwhile another
        # file may have this number.
        if os.fstat(pipe).st_ino != int(inode) or not lives(f"{pid}:{start}"):
            return False
        os.set_blocking(pipe, True)
        os.write(pipe, f"+ process {this_process()}\n".encode())
    except OSError:
        return False
    finally:
        os.close(pipe)
    return True


def python_words(module: str) -> list[str]:
    """The command that starts main() of a module of this package, independent of the
    environment."""
    package = str(Path(__file__).parent.parent.parent)
    start = f"import sys; sys.path.insert(0, {package!r}); from {module} import main; main()"
    return [sys.executable, "-E", "-S", "-c", start]


class _Duty:
    """The reaper's side."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.registered: set[Resource] = set()
        self.text = b""

    def serve(self) -> None:
        """Serves until no process can register any more: the owner has ended, and so have all
        holders of its pipe, such as processes that were just starting."""
        os.set_blocking(0, False)
        poll = select.poll()
        poll.register(0, select.POLLIN)
        end = self._watch_owner()
        if end is not None:
            poll.register(end, select.POLLIN)
        orphaned = end is None
        while True:
            ready = dict(poll.poll())
            if end is not None and end in ready:
                orphaned = True
                poll.unregister(end)
                end = None
            open_still = self._read()
            if orphaned or not open_still:
                self._clean()
            if not open_still:
                return

    def _watch_owner(self) -> int | None:
        try:
            end = os.pidfd_open(int(self.owner.partition(":")[0]))
        except OSError:
            return None
        return end if lives(self.owner) else None

    def _read(self) -> bool:
        """Reads registrations. Returns false at the end of the pipe."""
        while True:
            try:
                got = os.read(0, 65536)
            except BlockingIOError:
                return True
            if not got:
                return False
            *lines, self.text = (self.text + got).split(b"\n")
            for line in lines:
                sign, kind, value = line.decode().split(" ", 2)
                change = self.registered.add if sign == "+" else self.registered.discard
                change(Resource(kind, value))

    def _clean(self) -> None:
        remove(self.registered)
        self.registered.clear()


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):
        Path("/proc/self/comm").write_text("hyphos-reaper")
    _Duty(sys.argv[1]).serve()
