"""Reads #include lines and reports those that break the order of the rooms.

A room may include itself and the rooms above it. A public header belongs to a room and may include
only public headers of that room and the rooms above. It exposes no type of a library underneath.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOMS = ("base", "wire", "trace", "shm", "plan", "transport", "graph", "node", "record")

PUBLIC_HEADERS = {
    "base": ("buffer", "clock", "export", "policy", "result", "time"),
    "wire": ("codec", "envelope"),
    "trace": ("inspect",),
    "plan": ("plan",),
    "graph": ("message", "publisher", "subscription"),
    "node": (
        "action",
        "hyphos",
        "node",
        "param_types",
        "params",
        "plugin",
        "remote_params",
        "runtime",
        "service",
        "sim_time",
        "transform",
        "transforms",
    ),
}
MAX_PUBLIC_HEADERS = 25

# Rooms outside the library use its public headers, plus the files and folders/ listed for each.
USERS: dict[str, tuple[str, ...]] = {
    "examples": (),
    "lab": ("base/",),
    "gateway": ("base/", "wire/protobuf.hpp"),
    # shm/ maps the memory that connects simulators in other processes. Messages of nodes cross the simulated network in the format of a real one. Runs are
    # recorded. Real programs are connected through the lab's devices.
    "cosim": (
        "base/",
        "shm/os.hpp",
        "trace/histogram.hpp",
        "wire/packet.hpp",
        "wire/protobuf.hpp",
        "record/mcap_writer.hpp",
        "netem/address.hpp",
        "netem/tun.hpp",
    ),
    "clients": ("base/call_gate.hpp",),
    # `hyphos shm` lists the segments. `hyphos keys` creates ZeroMQ's keys. `hyphos record` and
    # `hyphos bag` write files. Robots of the co-simulator may have nodes in Python.
    "python": (
        "shm/tools.hpp",
        "transport/zmq/zmq.hpp",
        "record/recorder.hpp",
        "record/mcap_writer.hpp",
        "gateway/types/types.hpp",
        "cosim/nodes/local_robot.hpp",
        "cosim/nodes/remote_robot.hpp",
    ),
}

HIDDEN_LIBRARIES = re.compile(r"^(tbb|oneapi|zmq|yaml-cpp|google/protobuf)(/|\.h)")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)[">]', re.MULTILINE)
SOURCES = {".cpp", ".hpp", ".h"}

_ROOM_OF_HEADER = {
    f"hyphos/{name}.hpp": room for room, names in PUBLIC_HEADERS.items() for name in names
}


def sources(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix in SOURCES)


def room_of(include: str) -> str | None:
    """The room of an include path. None if the path is outside the library."""
    if include in _ROOM_OF_HEADER:
        return _ROOM_OF_HEADER[include]
    first = include.split("/", maxsplit=1)[0]
    return first if first in ROOMS and "/" in include else None


def _unknown(include: str) -> bool:
    if not include.startswith("hyphos/") or include.endswith(".pb.h"):
        return False
    return include not in _ROOM_OF_HEADER


def broken_in_room(room: str, text: str) -> list[str]:
    """The includes of a file of `room` that break the rules."""
    found = []
    for include in INCLUDE.findall(text):
        target = room_of(include)
        if _unknown(include):
            found.append(f"{include} is a public header that rooms.py assigns to no room")
        elif target is not None and ROOMS.index(target) > ROOMS.index(room):
            found.append(f"{include} is in {target}/, which is below {room}/")
    return found


def broken_in_public_header(room: str, text: str) -> list[str]:
    """The includes of a public header of `room` that break the rules."""
    found = broken_in_room(room, text)
    for include in INCLUDE.findall(text):
        if HIDDEN_LIBRARIES.match(include):
            found.append(f"{include} belongs to a library that users must not see")
        elif include.split("/", maxsplit=1)[0] in ROOMS and "/" in include:
            found.append(f"{include} is not a public header")
    return found


def broken_in_user(text: str, allowed: tuple[str, ...] = ()) -> list[str]:
    """The includes of an example or of the Python module that are not public."""
    folders = tuple(name for name in allowed if name.endswith("/"))
    return [
        f"{include} is inside the library. Use include/hyphos"
        for include in INCLUDE.findall(text)
        if room_of(include) is not None
        and include not in (*_ROOM_OF_HEADER, *allowed)
        and not include.startswith(folders)
    ]


def broken(root: Path) -> list[str]:
    """All violations in the repository at `root`, one line each."""
    found = []
    for room in ROOMS:
        for path in sources(root / room):
            found += [f"{path}: {line}" for line in broken_in_room(room, path.read_text())]
    for path in sources(root / "include"):
        owner = _ROOM_OF_HEADER.get(path.relative_to(root / "include").as_posix())
        if owner is None:
            found.append(f"{path}: rooms.py assigns it to no room")
        else:
            text = path.read_text()
            found += [f"{path}: {line}" for line in broken_in_public_header(owner, text)]
    for user, allowed in USERS.items():
        for path in sources(root / user):
            found += [f"{path}: {line}" for line in broken_in_user(path.read_text(), allowed)]
    return found
