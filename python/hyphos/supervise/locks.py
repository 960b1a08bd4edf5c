"""One launcher for each process of a domain. The kernel releases a lock when its holder ends."""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import struct
from collections.abc import Sequence
from pathlib import Path

from hyphos._errors import Error

# struct flock of 64-bit Linux: type, whence, start, length, pid.
_FLOCK = struct.Struct("hhqqi0q")


def _folder() -> Path:
    """One folder for all processes of this user, independent of TMPDIR."""
    folder = Path(f"/tmp/hyphos-{os.getuid()}")  # the mode and owner are checked below
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise Error(
            "io", f"cannot create the lock folder: {error.strerror}", str(folder)
        ) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise Error(
            "permission",
            "the lock folder is not a folder of this user only",
            str(folder),
            advice=f"inspect it, then remove it: rm -r {folder}",
        )
    return folder


def _place_of(process: str) -> int:
    """The byte of the lock file for a process: one of 2^48, so names practically never collide."""
    return int.from_bytes(hashlib.sha256(process.encode()).digest()[:6], "big")


class Locks:
    """Holds the locks of processes until close(). Raises an error if another launcher has one."""

    def __init__(self, domain: str, processes: Sequence[str]) -> None:
        self._file = os.open(_folder() / f"{domain}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        for process in processes:
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place_of(process))
            except OSError as error:
                holder = self._holder(process)
                self.close()
                raise Error(
                    "already_exists",
                    f"process '{process}' of domain '{domain}' is already run by another launcher"
                    + (f" (pid {holder})" if holder else ""),
                    advice=(f"end that launcher: kill -INT {holder}, " if holder else "")
                    + "or give this robot its own domain: --set domain=NAME",
                ) from error

    def _holder(self, process: str) -> int:
        asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, _place_of(process), 1, 0)
        try:
            answer = _FLOCK.unpack(fcntl.fcntl(self._file, fcntl.F_GETLK, asked))
        except OSError:
            return 0
        return int(answer[4]) if answer[0] != fcntl.F_UNLCK else 0

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
