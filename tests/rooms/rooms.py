"""Reads #include and import lines and reports those that break the order of the rooms.

A room of the library may include itself and the rooms above it. A public header belongs to a room
and may include only public headers of that room and the rooms above. It exposes no type of a
library underneath. The outer rooms and the Python packages have an order as well, and modules of
one Python package import each other in one direction. Each exception has a reason and is in use.
"""

import ast
import re
import subprocess
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOMS = ("base", "wire", "trace", "shm", "plan", "transport", "graph", "node", "record")

PUBLIC_HEADERS = {
    "base": ("buffer", "clock", "export", "policy", "result", "time"),
    "wire": ("codec", "envelope"),
    "trace": ("inspect",),
    "plan": ("param_types", "plan"),
    "graph": ("message", "publisher", "subscription"),
    "node": (
        "action",
        "future",
        "hyphos",
        "node",
        "params",
        "remote_params",
        "runtime",
        "service",
        "sim_time",
        "synchronizer",
        "transforms",
    ),
}
MAX_PUBLIC_HEADERS = 25

# The outer rooms use the library by its public headers, and its lowest room.
FOUNDATION = "base"
# An outer room may use other outer rooms above it, if USES names the headers. In a room, a folder
# may include itself and the folders above it. Folders on one line are independent of each other.
# "" is the room itself.
OUTER: dict[str, tuple[str, ...]] = {
    "proto": ("include",),
    "netem": ("",),
    "gateway": (
        "include",
        "convert",
        "net",
        "types",
        "facade",
        "ros1 ros2 ros_tcp rosbridge",
        "",
    ),
    "builtin": ("",),
    "cosim": (
        "core",
        "radio sense",
        "methods",
        "remote",
        "adapter",
        "world",
        "network physics programs nodes realtime routing mavlink",
        "outside",
        "scenario worker",
        "emulate",
    ),
    "lab": ("common", "peers graph cpu"),
    "clients": ("c csharp tros",),
    "testing": ("include",),
    "view": ("core", "scene", "displays sources layout video", "panels", ""),
    "examples": ("*",),
    "bench": ("",),
    "python": ("src",),
}
NOT_YET: tuple[str, ...] = ()
# These rooms show how to use the public headers, so that they may not use FOUNDATION either.
PUBLIC_ONLY = ("examples", "view")
OUTER_HEADERS = {
    "hyphos/msgs/diagnostics.hpp": "proto/include/hyphos/msgs/diagnostics.hpp",
    "hyphos/msgs/view.hpp": "proto/include/hyphos/msgs/view.hpp",
    "hyphos/compat/tros.hpp": "clients/tros/include/hyphos/compat/tros.hpp",
    "hyphos/gateway.hpp": "gateway/include/hyphos/gateway.hpp",
    "hyphos/testing.hpp": "testing/include/hyphos/testing.hpp",
    "hyphos/testing/evidence.hpp": "testing/include/hyphos/testing/evidence.hpp",
    "hyphos/testing/intercepted.hpp": "testing/include/hyphos/testing/intercepted.hpp",
    "hyphos/testing/launched.hpp": "testing/include/hyphos/testing/launched.hpp",
}


@dataclass(frozen=True)
class Use:
    """Files below `by` may include `what`: a header, or all headers of a folder/."""

    by: str
    what: str
    why: str

    def allows(self, path: str, header: str) -> bool:
        folder = self.what.endswith("/")
        return path.startswith(self.by) and (
            header.startswith(self.what) if folder else header == self.what
        )


# Every header of another room that is neither public nor in FOUNDATION.
USES: tuple[Use, ...] = (
    Use("gateway/convert/", "wire/protobuf.hpp", "fields are converted without generated classes"),
    Use("gateway/facade/", "node/runtime/domain_watch.hpp", "calls do not walk the domain"),
    Use("cosim/remote/", "shm/os.hpp", "maps the memory that connects simulators"),
    Use("cosim/nodes/", "wire/packet.hpp", "packets of nodes have the size of real ones"),
    Use("cosim/sense/", "wire/protobuf.hpp", "scans are written without generated classes"),
    Use("cosim/outside/", "wire/packet.hpp", "packets of programs have the size of real ones"),
    Use("cosim/realtime/", "trace/histogram.hpp", "lag is reported as percentiles"),
    Use("cosim/scenario/mcap_trace.", "record/mcap_writer.hpp", "runs are recorded"),
    Use("cosim/scenario/mcap_trace.", "wire/packet.hpp", "recorded messages have type ids"),
    Use("cosim/emulate/devices.", "netem/", "real programs are connected through TAP devices"),
    Use("lab/peers/gateway_ends.hpp", "hyphos/gateway.hpp", "a gateway runs inside the peer"),
    Use("lab/peers/gateway.cpp", "gateway/convert/base64.hpp", "a client of rosbridge"),
    Use("lab/peers/web_socket.hpp", "gateway/net/", "a client of rosbridge"),
    Use("view/", "base/mutex.hpp", "locks have annotations"),
    Use("view/core/words.cpp", "base/config.hpp", "one search for the nearest word"),
    Use("view/shell_glfw.cpp", "base/ends_on_signal.hpp", "signals end the loop"),
    Use("view/check_reader.cpp", "base/unique_fd.hpp", "the prediction comes from a pipe"),
    Use("view/layout/read.cpp", "base/config.hpp", "errors of layouts name file, line and key"),
    Use("view/layout/read.cpp", "base/config_reader.hpp", "the same, with the nearest word"),
    Use("view/sources/recording.cpp", "record/mcap_reader.hpp", "recordings are read"),
    Use("view/report.cpp", "base/json.hpp", "the report is JSON"),
    Use("view/sources/past_file.cpp", "record/recorder.hpp", "the past is written as a recording"),
    Use("view/settings.cpp", "base/config.hpp", "settings are YAML, too"),
    Use("view/settings.cpp", "base/config_reader.hpp", "settings are YAML, too"),
    Use("examples/17_diagnostics/", "hyphos/msgs/diagnostics.hpp", "a node reports its state"),
    Use("examples/18_view/", "hyphos/msgs/view.hpp", "a node shows an array"),
    Use("bench/cosim", "cosim/", "measures the co-simulator"),
    Use("bench/cosim.cpp", "tests/cosim/ping_pong.hpp", "measures the round trips of the tests"),
    Use("bench/cosim_agreement.cpp", "tests/cosim/ns3/agreement.hpp", "measures the same links"),
    Use("bench/convert.cpp", "gateway/types/types.hpp", "measures the conversion"),
    Use("bench/micro.cpp", "trace/record.hpp", "measures a stamp"),
    Use("bench/view", "view/", "measures the viewer without a window"),
    Use("view/displays/robot_model.cpp", "builtin/urdf.hpp", "one reader of robot models"),
    Use("bench/transforms.cpp", "tests/node/tf2_peer.hpp", "compares with tf2, as the tests do"),
    Use("bench/", "lab/common/", "clocks, futexes and percentiles of the laboratory"),
    Use("python/src/tools.cpp", "shm/tools.hpp", "`hyphos shm` lists the segments"),
    Use("python/src/tools.cpp", "transport/zmq/zmq.hpp", "`hyphos keys` makes keys of ZeroMQ"),
    Use("python/src/recording.cpp", "record/recorder.hpp", "`hyphos record`"),
    Use("python/src/recording.cpp", "record/mcap_writer.hpp", "`hyphos bag` writes files"),
    Use("python/src/convert.cpp", "gateway/types/types.hpp", "RosTypes converts like a gateway"),
    Use("python/src/cosim.cpp", "cosim/nodes/", "robots of the co-simulator have nodes in Python"),
)

# The modules and packages of python/hyphos. Each may import itself and those above it, in any way:
# at the top, inside a function, or for types only. "__init__" is the package `hyphos` itself.
PYTHON = (
    # The API.
    "_errors",
    "_extras",
    "_hyphos",
    "_closing",
    "_timeouts",
    "_crash",
    "msgs",
    "struct_values",
    "struct_layout",
    "types",
    "stamps",
    "convert",
    "log",
    "params",
    "shared_params",
    "service",
    "action",
    "transforms",
    "clock",
    "publisher",
    "view_arrays",
    "node_view",
    "channel_places",
    "delivery",
    "groups",
    "node",
    "diagnostics",
    "refusals",
    "host",
    "stepped",
    # Shared by the applications.
    "run_program",
    "observe",
    "ros",
    "supervise",
    "tools",
    "recording",
    "__init__",  # exports Recording, besides the API
    # The applications.
    "new",
    "demo",
    "csharp",
    "gateway",
    "foxglove",
    "lab",
    "cosim",
    "testing",
    "cli",
    "program",
    "__main__",
)
# (module below python/hyphos, imported module or package): the reason.
PYTHON_EXCEPTIONS = {
    ("clock", "node"): "SimTime takes a Node, which has a Clock. For type checkers only",
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
    return include not in _ROOM_OF_HEADER and include not in OUTER_HEADERS


def broken_in_room(room: str, text: str) -> list[str]:
    """The includes of a file of `room` that break the rules."""
    found = []
    for include in INCLUDE.findall(text):
        target = room_of(include)
        if _unknown(include):
            found.append(f"{include} is a public header that rooms.py assigns to no room")
        elif target is not None and ROOMS.index(target) > ROOMS.index(room):
            found.append(f"{include} is in {target}/, which is below {room}/")
        elif target is None and _outer_room(include) is not None:
            found.append(f"{include} is in {_outer_room(include)}/, which is below {room}/")
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


def _outer_room(include: str) -> str | None:
    first, _, rest = OUTER_HEADERS.get(include, include).partition("/")
    return first if rest and (first in OUTER or first == "tests") else None


def _folder(path: str) -> str:
    """ "net" of "gateway/net/loop.hpp", and "" of "gateway/main.cpp"."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def _level(path: str) -> int | None:
    """The line of OUTER with the folder of a file. None if there is none."""
    for level, names in enumerate(OUTER[path.partition("/")[0]]):
        if names == "*" or _folder(path) in names.split(" "):
            return level
    return None


def broken_in_outer(path: str, text: str, uses: Sequence[Use] = USES) -> list[str]:
    """The includes of a file of an outer room that break the rules. `path` starts with the room."""
    room = path.partition("/")[0]
    own = _level(path)
    if own is None:
        return [f"rooms.py has no place for this folder of {room}/"]
    found = []
    for include in INCLUDE.findall(text):
        header = OUTER_HEADERS.get(include, include)
        target = room_of(include) or _outer_room(include)
        if ".." in include.split("/"):
            found.append(f"{include} leaves its folder. Begin the path with a room")
        elif _unknown(include):
            found.append(f"{include} is a public header that rooms.py assigns to no room")
        elif target is None or include in _ROOM_OF_HEADER:
            continue
        elif target == room:
            level = _level(header)
            if level is None:
                found.append(f"{include} is in a folder for which rooms.py has no place")
            elif level > own:
                found.append(f"{include} is in a folder below this one")
            elif level == own and "*" not in OUTER[room] and _folder(path) != _folder(header):
                found.append(f"{include} is in a folder beside this one")
        elif target == FOUNDATION and room not in PUBLIC_ONLY:
            continue
        elif not any(use.allows(path, include) for use in uses):
            found.append(
                f"{include} is inside the library. Use include/hyphos"
                if target in ROOMS
                else f"{include} is in another room, {target}/"
            )
    return found


def _import_statements(module: str, text: str, is_package: bool) -> Iterator[tuple[str, str]]:
    """The imports of a module of python/hyphos: an absolute module, and a name in it or ""."""
    own = ["hyphos", *module.split(".")] if module != "__init__" else ["hyphos"]
    package = own if is_package else own[:-1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((start, alias.name) for alias in node.names)
        elif (
            isinstance(node, ast.Call)
            and "import_module" in ast.dump(node.func)
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value), ""


def python_imports(module: str, text: str, is_package: bool = False) -> set[str]:
    """The modules and packages of python/hyphos that a module imports. `module` is dotted, without
    "hyphos."."""
    found = set()
    for start, name in _import_statements(module, text, is_package):
        parts = [*start.split("."), *([name] if name else [])]
        if parts[0] == "hyphos":
            found.add(parts[1] if parts[1:] and parts[1] in PYTHON else _unlisted(parts))
    return found


def _unlisted(parts: list[str]) -> str:
    """`from hyphos import Node` names a member of the package, `import hyphos.other` a module."""
    return "__init__" if len(parts) <= 2 else parts[1]


def broken_in_python(
    module: str, text: str, is_package: bool = False, exceptions: Container[tuple[str, str]] = ()
) -> list[str]:
    """The imports of a module of python/hyphos that break the order."""
    own = module.partition(".")[0]
    if own not in PYTHON:
        return ["rooms.py has no place for this module"]
    found = []
    for target in sorted(python_imports(module, text, is_package)):
        if target not in PYTHON:
            found.append(f"imports hyphos.{target}, for which rooms.py has no place")
        elif PYTHON.index(target) > PYTHON.index(own) and (module, target) not in exceptions:
            found.append(f"imports hyphos.{target}, which is below hyphos.{own}")
    return found


def python_circles(modules: Mapping[str, tuple[str, bool]]) -> list[str]:
    """The modules of one package that import each other, directly or by others, in any way: at the
    top, inside a function, or for types only. `modules`: the text of each dotted name, and whether
    it is a package."""
    uses = {module: _used_beside(module, modules) for module in modules}
    reached = {module: _reached(module, uses) for module in modules}
    circles = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in modules
    }
    return [" and ".join(circle) + " import each other" for circle in sorted(circles) if circle]


def _used_beside(module: str, modules: Mapping[str, tuple[str, bool]]) -> set[str]:
    """The imported modules of the same package. A package counts if a name of its own is used."""
    found = set()
    for start, name in _import_statements(module, *modules[module]):
        base = start.removeprefix("hyphos.")
        target = f"{base}.{name}" if f"{base}.{name}" in modules else base
        if target in modules and target.partition(".")[0] == module.partition(".")[0]:
            found.add(target)
    return found


def _reached(start: str, uses: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    left = list(uses[start])
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            left += uses[module]
    return found


def python_modules(root: Path) -> Iterator[tuple[Path, str, bool]]:
    """The files of python/hyphos, each with its dotted name, and whether it is a package."""
    top = root / "python/hyphos"
    for path in sorted([*top.rglob("*.py"), *top.rglob("*.pyi")]):
        parts = path.relative_to(top).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        yield path, ".".join(parts[:-1] if is_package and parts[1:] else parts), is_package


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
    for room in OUTER:
        for path in sources(root / room):
            name = path.relative_to(root).as_posix()
            found += [f"{path}: {line}" for line in broken_in_outer(name, path.read_text())]
    for path, module, is_package in python_modules(root):
        lines = broken_in_python(module, path.read_text(), is_package, PYTHON_EXCEPTIONS)
        found += [f"{path}: {line}" for line in lines]
    modules = {
        module: (path.read_text(), is_package)
        for path, module, is_package in python_modules(root)
        if path.suffix == ".py"
    }
    return found + [f"python/hyphos: {line}" for line in python_circles(modules)]


def unused(root: Path) -> list[str]:
    """The entries of USES and PYTHON_EXCEPTIONS that allow nothing that is there."""
    left = list(USES)
    for room in OUTER:
        for path in sources(root / room):
            name = path.relative_to(root).as_posix()
            includes = INCLUDE.findall(path.read_text())
            left = [use for use in left if not any(use.allows(name, each) for each in includes)]
    found = [f"{use.by} -> {use.what}" for use in left]
    needed = {
        (module, target)
        for path, module, is_package in python_modules(root)
        for target in python_imports(module, path.read_text(), is_package)
    }
    return found + [f"{one} -> {other}" for one, other in PYTHON_EXCEPTIONS.keys() - needed]


def links_up(layers: Sequence[tuple[str, Sequence[Path]]], nm: str) -> list[str]:
    """Symbols that the object files of one layer use and only a later layer defines. Such a link is
    invisible to includes. The order of `layers` is that of the rooms."""
    tables = [(name, *_symbols(objects, nm)) for name, objects in layers]
    found = []
    for at, (name, _, used) in enumerate(tables):
        above = set().union(*(defined for _, defined, _ in tables[: at + 1]))
        for other, defined, _ in tables[at + 1 :]:
            found += [f"{name}/ uses {each} of {other}/" for each in sorted(used & defined - above)]
    return found


def _symbols(objects: Sequence[Path], nm: str) -> tuple[set[str], set[str]]:
    """The symbols that object files define, and those that they need."""
    defined: set[str] = set()
    used: set[str] = set()
    if objects:
        command = [nm, "--demangle", "--format=posix", *map(str, objects)]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for match in re.finditer(r"^(\S.*?) ([A-Za-z])(?: [0-9a-f]+)*\s*$", lines, re.MULTILINE):
            if match[2] in "Uw":
                used.add(match[1])
            elif match[2].isupper():
                defined.add(match[1])
    return defined, used - defined
