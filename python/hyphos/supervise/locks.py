"""One launcher for each process of a domain. A lock goes with its holder, however that ends."""

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
    """The same for every process of this user, whatever its environment says of temp folders."""
    folder = Path(f"/tmp/hyphos-{os.getuid()}")  # the mode and owner are checked below
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise Error("io", f"cannot be made: {error.strerror}", str(folder)) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise Error(
            "permission",
            "is not a folder of this user alone",
            str(folder),
            advice=f"look at it, and remove it: rm -r {folder}",
        )
    return folder


def _place_of(process: str) -> int:
    """A byte of the file. Names are many fewer than 2^48 bytes: they do not meet."""
    return int.from_bytes(hashlib.sha256(process.encode()).digest()[:6], "big")


class Locks:
    """Holds the processes of a domain until close(). Error if another launcher has one of them."""

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
                    f"process '{process}' of domain '{domain}' is run by another launcher"
                    + (f" (pid {holder})" if holder else ""),
                    advice=(f"end that one: kill -INT {holder}; " if holder else "")
                    + "or give this robot a domain of its own: --set domain=NAME",
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
