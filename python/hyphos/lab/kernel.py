"""System calls without a name in Python 3.11, and the state of processes from /proc."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWNET = 0x40000000
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 1 << 18
MS_SHARED = 1 << 20
_MNT_DETACH = 2


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str, flags: int = 0, data: str = "") -> None:
    done = _libc().mount(
        source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode()
    )
    _check(done, f"mount {target}")


def unmount(target: str) -> None:
    """Hides the mount at once. The kernel removes it after its last file is closed."""
    _check(_libc().umount2(target.encode(), _MNT_DETACH), f"umount {target}")


def unshare(flags: int) -> None:
    """Moves the calling thread into new namespaces."""
    _check(_libc().unshare(flags), "unshare")


def enter_network(path: str) -> None:
    """Moves the calling thread into the network namespace of this file. Raises OSError if the file
    was removed meanwhile, because the remover may not have seen this process inside."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc().setns(file, CLONE_NEWNET), f"setns {path}")
        if network_at(Path(path)) != identity(os.fstat(file)):
            raise FileNotFoundError(errno.ENOENT, f"setns {path}: removed meanwhile")
    finally:
        os.close(file)


def pin_new_network(path: Path) -> None:
    """Makes a network namespace and mounts it on `path`, as `ip netns add` does, but in this
    process. A separate program could outlive this process and make the namespace afterwards."""

    def make() -> None:
        unshare(CLONE_NEWNET)
        mount(f"/proc/self/task/{threading.get_native_id()}/ns/net", str(path), "", MS_BIND)

    _share(path.parent)
    path.touch(mode=0o444, exist_ok=False)
    in_a_thread(make)


def _share(folder: Path) -> None:
    """Makes the folder of namespaces a mount of its own, as `ip netns add` does. Otherwise the
    first `ip netns add` would do so afterwards, and hide the namespaces in this folder."""
    folder.mkdir(mode=0o755, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # `ip` holds the same lock
        try:
            mount("", str(folder), "none", MS_SHARED | MS_REC)
        except OSError as error:
            if error.errno != errno.EINVAL:  # it is not a mount yet
                raise
            mount(str(folder), str(folder), "none", MS_BIND | MS_REC)
            mount("", str(folder), "none", MS_SHARED | MS_REC)
    finally:
        os.close(lock)


def try_namespaces() -> None:
    """Raises OSError if this process may not make namespaces, as in most containers."""
    in_a_thread(lambda: unshare(CLONE_NEWNET | CLONE_NEWNS))


def in_a_thread(work: Callable[[], None]) -> None:
    """Runs `work` in a thread that then ends, so that the program keeps its own namespaces."""
    failed: list[OSError] = []

    def run() -> None:
        try:
            work()
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def _fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on. Empty if the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def start_of(pid: int) -> int | None:
    """Start time of a process, in ticks since the start of the machine. Together with the pid it
    identifies a process for ever. None if the process has ended."""
    fields = _fields(pid)
    return int(fields[19]) if fields and fields[0] not in "ZX" else None


def pid_namespace() -> int:
    """Identifies the PID namespace of this process. Two namespaces that exist at the same time have
    different numbers."""
    return Path("/proc/self/ns/pid").stat().st_ino


def processes() -> Iterator[int]:
    yield from (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())


def in_session(leader: int) -> Iterator[int]:
    """Processes of a session that still run."""
    for pid in processes():
        fields = _fields(pid)
        if fields and fields[0] not in "ZX" and int(fields[3]) == leader:
            yield pid


def identity(status: os.stat_result) -> tuple[int, int]:
    """Identifies a namespace as long as one file or process refers to it."""
    return status.st_dev, status.st_ino


def network_at(path: Path) -> tuple[int, int] | None:
    """The identity of the network namespace that is mounted here. None if the file is gone."""
    try:
        return identity(path.stat())
    except OSError:
        return None


def in_network(network: tuple[int, int] | None) -> Iterator[int]:
    """Processes in the network namespace with this identity."""
    for pid in processes() if network else ():
        with suppress(OSError):
            if identity(Path(f"/proc/{pid}/ns/net").stat()) == network:
                yield pid


def is_mounted(path: str) -> bool:
    # os.path.ismount() compares devices, so it does not detect bind mounts.
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError as error:
        if error.errno == errno.ENOENT:
            return False
        raise
    return any(line.split()[4] == path for line in lines)
