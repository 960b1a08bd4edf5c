"""The rooms and the Python packages keep their order, the public headers stay few, the library
stays small.

Run by ctest. Needs only Python: test_rooms.py <path of libhyphos.so> <path of strip> <path of nm>
"""

import re
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path

import rooms

ROOT = Path(__file__).resolve().parents[2]
MAX_LIBRARY_BYTES = 3_000_000
CORE = [room for room in rooms.ROOMS if room != "record"]  # the rooms in libhyphos.so


class Rules(unittest.TestCase):
    def test_a_room_may_include_itself_and_rooms_above(self) -> None:
        text = '#include "base/log.hpp"\n#include "shm/ring.hpp"\n#include <hyphos/codec.hpp>\n'
        self.assertEqual(rooms.broken_in_room("shm", text), [])

    def test_a_room_may_not_include_rooms_below(self) -> None:
        self.assertEqual(len(rooms.broken_in_room("shm", '  # include "graph/block.hpp"\n')), 1)
        self.assertEqual(len(rooms.broken_in_room("wire", "#include <hyphos/node.hpp>\n")), 1)

    def test_every_public_header_has_a_room(self) -> None:
        self.assertEqual(len(rooms.broken_in_room("node", "#include <hyphos/other.hpp>\n")), 1)
        self.assertEqual(rooms.broken_in_room("base", '#include "hyphos/msgs/std.pb.h"\n'), [])

    def test_a_public_header_exposes_no_library_and_no_internals(self) -> None:
        for include in ("<tbb/flow_graph.h>", "<zmq.hpp>", "<yaml-cpp/yaml.h>", '"base/log.hpp"'):
            text = f"#include {include}\n"
            self.assertEqual(len(rooms.broken_in_public_header("node", text)), 1, include)
        self.assertEqual(rooms.broken_in_public_header("node", "#include <vector>\n"), [])

    def test_a_room_may_not_include_outer_rooms(self) -> None:
        for include in ("gateway/types/types.hpp", "hyphos/gateway.hpp", "netem/tun.hpp"):
            self.assertEqual(len(rooms.broken_in_room("node", f'#include "{include}"\n')), 1)


def judged(path: str, include: str, uses: Sequence[rooms.Use] = rooms.USES) -> str:
    """The verdict on one include line, or ""."""
    return "".join(rooms.broken_in_outer(path, f'#include "{include}"\n', uses))


class OuterRooms(unittest.TestCase):
    def test_public_headers_and_the_foundation_are_allowed(self) -> None:
        for include in ("hyphos/node.hpp", "base/log.hpp", "handles.hpp", "vector", "tbb/task.h"):
            self.assertEqual(judged("lab/graph/main.cpp", include), "")

    def test_examples_and_the_viewer_see_public_headers_only(self) -> None:
        for path in ("examples/hello/main.cpp", "view/main.cpp"):
            self.assertEqual(judged(path, "hyphos/node.hpp"), "")
            self.assertIn("Use include/hyphos", judged(path, "base/log.hpp"))
            self.assertIn("another room", judged(path, "gateway/types/types.hpp"))

    def test_the_inside_of_the_library_needs_an_exception(self) -> None:
        path = "clients/c/src/node.cpp"
        self.assertIn("Use include/hyphos", judged(path, "graph/channel.hpp"))
        self.assertIn("Use include/hyphos", judged("netem/tun.cpp", "shm/os.hpp"))
        uses = [rooms.Use("clients/c/", "graph/channel.hpp", "a test")]
        self.assertEqual(judged(path, "graph/channel.hpp", uses), "")
        self.assertNotEqual(judged(path, "graph/channel_publisher.hpp", uses), "")
        self.assertNotEqual(judged("clients/csharp/a.cpp", "graph/channel.hpp", uses), "")

    def test_an_exception_may_name_a_folder(self) -> None:
        uses = [rooms.Use("lab/peers/", "gateway/net/", "a test")]
        self.assertEqual(judged("lab/peers/a.cpp", "gateway/net/loop.hpp", uses), "")
        self.assertNotEqual(judged("lab/graph/a.cpp", "gateway/net/loop.hpp", uses), "")
        self.assertNotEqual(judged("lab/peers/a.cpp", "gateway/netware/loop.hpp", uses), "")

    def test_another_outer_room_needs_an_exception(self) -> None:
        for include in ("netem/tun.hpp", "hyphos/gateway.hpp", "tests/cosim/rig.hpp"):
            self.assertIn("another room", judged("clients/c/src/node.cpp", include))

    def test_folders_keep_their_order(self) -> None:
        order = ("convert", "net", "types", "facade", "ros1")
        for at, low in enumerate(order):
            for high in order[at + 1 :]:
                self.assertEqual(judged(f"gateway/{high}/a.cpp", f"gateway/{low}/b.hpp"), "")
                self.assertIn("below", judged(f"gateway/{low}/a.cpp", f"gateway/{high}/b.hpp"))
        self.assertIn("below", judged("gateway/ros1/a.cpp", "gateway/registry.hpp"))
        self.assertEqual(judged("gateway/registry.cpp", "gateway/ros1/ros1.hpp"), "")
        self.assertIn("below", judged("lab/common/a.cpp", "lab/peers/image.hpp"))
        self.assertEqual(judged("lab/peers/a.cpp", "lab/common/peer.hpp"), "")

    def test_folders_of_one_level_are_independent(self) -> None:
        self.assertIn("beside", judged("gateway/ros1/a.cpp", "gateway/ros2/b.hpp"))
        self.assertIn("beside", judged("cosim/network/ns3/a.cpp", "cosim/physics/ahead.hpp"))
        self.assertEqual(judged("cosim/network/ns3/a.cpp", "cosim/network/due.hpp"), "")

    def test_every_folder_has_a_place(self) -> None:
        self.assertIn("no place", judged("gateway/core/a.cpp", "vector"))
        self.assertIn("no place", judged("gateway/ros1/a.cpp", "gateway/core/door.hpp"))

    def test_paths_begin_with_a_room(self) -> None:
        self.assertIn("leaves its folder", judged("lab/peers/a.cpp", "../graph/report.hpp"))

    def test_an_unknown_public_header_is_refused(self) -> None:
        self.assertIn("assigns to no room", judged("bench/micro.cpp", "hyphos/other.hpp"))

    def test_exceptions_point_to_rooms_above(self) -> None:
        order = [*rooms.ROOMS, *rooms.OUTER]
        for use in rooms.USES:
            self.assertTrue(use.why)
            target = rooms.OUTER_HEADERS.get(use.what, use.what).split("/")[0]
            if target != "tests":
                self.assertLess(order.index(target), order.index(use.by.split("/")[0]), use)

    def test_the_six_violations_of_the_old_tree_are_found(self) -> None:
        old = [
            ("gateway/core/registry.cpp", "gateway/ros1/ros1.hpp"),
            ("gateway/core/registry.cpp", "gateway/ros_tcp/ros_tcp.hpp"),
            ("gateway/convert/converter.hpp", "gateway/core/door.hpp"),
            ("gateway/core/door.hpp", "gateway/convert/converter.hpp"),
            ("cosim/realtime/program/json.hpp", "cosim/scenario/scenario.hpp"),
            ("lab/peers/gateway.cpp", "gateway/rosbridge/frame.hpp"),
            ("lab/peers/web_socket.hpp", "gateway/rosbridge/handshake.hpp"),
            # The third: the devices were in the laboratory, and are in the room netem now.
            ("cosim/realtime/program/devices.hpp", "lab/common/tun.hpp"),
            ("cosim/realtime/program/devices.hpp", "netem/tun.hpp"),
            # The first two, with the folders of today.
            ("gateway/facade/registry.cpp", "gateway/ros1/ros1.hpp"),
            ("gateway/convert/converter.hpp", "gateway/facade/graph_facade.hpp"),
        ]
        for path, include in old:
            self.assertNotEqual(judged(path, include), "", (path, include))
        python = [
            ("lab.report", "from hyphos.profile.draw import stored_plots"),
            ("lab.series", "def f():\n    from hyphos.profile.experiment import SECONDS"),
            ("supervise.agent", "from hyphos.tools.observe import look"),
            ("ros.known", "from hyphos.tools.typebook import compile_protos"),
        ]
        for module, text in python:
            self.assertEqual(len(rooms.broken_in_python(module, text)), 1, module)


class PythonPackages(unittest.TestCase):
    def imported(self, text: str, module: str = "lab.report") -> set[str]:
        return rooms.python_imports(module, text)

    def test_every_kind_of_import_is_read(self) -> None:
        self.assertEqual(self.imported("import hyphos.tools.top"), {"tools"})
        self.assertEqual(self.imported("from hyphos.tools import top"), {"tools"})
        self.assertEqual(self.imported("from hyphos import _hyphos, msgs"), {"_hyphos", "msgs"})
        self.assertEqual(self.imported("from hyphos import Node"), {"__init__"})
        self.assertEqual(self.imported("import hyphos"), {"__init__"})
        self.assertEqual(self.imported("from .page import x"), {"lab"})
        self.assertEqual(self.imported("from ..cosim import runs"), {"cosim"})
        self.assertEqual(self.imported("from .. import cli"), {"cli"})
        self.assertEqual(self.imported('m = importlib.import_module("hyphos.node")'), {"node"})
        self.assertEqual(self.imported("import numpy, hyphos_msgs\nfrom rich import table"), set())
        self.assertEqual(
            rooms.python_imports("lab", "from . import page", is_package=True), {"lab"}
        )
        text = "if TYPE_CHECKING:\n    from hyphos.cli import main\n"
        self.assertEqual(self.imported(text), {"cli"})
        text = "def late():\n    from hyphos.cli import main\n"
        self.assertEqual(self.imported(text), {"cli"})

    def test_a_module_may_import_those_above_it_only(self) -> None:
        self.assertEqual(rooms.broken_in_python("cosim.runs", "import hyphos.lab.page"), [])
        self.assertEqual(len(rooms.broken_in_python("lab.page", "import hyphos.cosim.runs")), 1)
        self.assertEqual(len(rooms.broken_in_python("node", "from hyphos import Node")), 1)

    def test_an_unlisted_module_is_refused(self) -> None:
        self.assertEqual(len(rooms.broken_in_python("other.page", "import math")), 1)
        self.assertEqual(len(rooms.broken_in_python("cli.main", "import hyphos.other.page")), 1)

    def test_an_exception_is_for_one_module(self) -> None:
        text = "from hyphos.node import Node"
        allowed = {("clock", "node")}
        self.assertEqual(rooms.broken_in_python("clock", text, exceptions=allowed), [])
        self.assertEqual(len(rooms.broken_in_python("clock", text)), 1)
        self.assertEqual(len(rooms.broken_in_python("params", text, exceptions=allowed)), 1)
        self.assertTrue(all(rooms.PYTHON_EXCEPTIONS.values()))


class PythonCircles(unittest.TestCase):
    def circles(self, **texts: str) -> list[str]:
        """The circles of a package `lab` of these modules. A package has a name that ends in _."""
        modules = {"lab": ("", True)}
        for name, text in texts.items():
            modules[f"lab.{name.rstrip('_')}"] = (text, name.endswith("_"))
        return rooms.python_circles(modules)

    def test_two_modules_that_import_each_other_are_found(self) -> None:
        wanted = ["lab.a and lab.b import each other"]
        for text in (
            "from hyphos.lab.a import x",
            "from hyphos.lab import a",
            "from . import a",
            "import hyphos.lab.a",
            "def late():\n    from .a import x",
            "if TYPE_CHECKING:\n    from hyphos.lab.a import X",
            'm = importlib.import_module("hyphos.lab.a")',
        ):
            self.assertEqual(self.circles(a="from hyphos.lab.b import y", b=text), wanted, text)

    def test_a_circle_of_three_is_found_once(self) -> None:
        found = self.circles(a="from . import b", b="from . import c", c="from . import a", d="")
        self.assertEqual(found, ["lab.a and lab.b and lab.c import each other"])

    def test_a_name_of_the_package_itself_closes_a_circle(self) -> None:
        names = "from hyphos.lab.sub import a\nALL = (a,)"
        modules = {
            "lab.sub": (names, True),
            "lab.sub.a": ("from hyphos.lab.sub import ALL", False),
            "lab.sub.b": ("from hyphos.lab.sub import a", False),
        }
        found = rooms.python_circles(modules)
        self.assertEqual(found, ["lab.sub and lab.sub.a import each other"])

    def test_imports_in_one_direction_are_allowed(self) -> None:
        self.assertEqual(self.circles(a="from . import b, c", b="from .c import x", c=""), [])
        self.assertEqual(
            self.circles(a="from hyphos.lab.made_pb2 import X", b="from . import a"), []
        )


class Exceptions(unittest.TestCase):
    def test_an_exception_that_allows_nothing_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "lab/peers").mkdir(parents=True)
            (root / "lab/peers/web_socket.hpp").write_text('#include "gateway/net/loop.hpp"\n')
            found = rooms.unused(root)
        self.assertEqual(len(found), len(rooms.USES) - 1 + len(rooms.PYTHON_EXCEPTIONS))
        self.assertNotIn("lab/peers/web_socket.hpp -> gateway/net/", found)
        self.assertIn("clock -> node", found)


class Repository(unittest.TestCase):
    def test_include_lines_follow_the_order_of_the_rooms(self) -> None:
        self.assertEqual(rooms.broken(ROOT), [])

    def test_each_exception_is_in_use(self) -> None:
        self.assertEqual(rooms.unused(ROOT), [])

    def test_there_are_sources_in_every_room(self) -> None:
        for room in (*rooms.ROOMS, *rooms.OUTER):
            if room not in rooms.NOT_YET:
                self.assertTrue(any(rooms.sources(ROOT / room)), room)
        for name in rooms.PYTHON:
            module = ROOT / "python/hyphos" / name
            found = (module, module.with_suffix(".py"), module.with_suffix(".pyi"))
            self.assertTrue(any(path.exists() for path in found), name)

    def test_links_in_documents_have_targets(self) -> None:
        folders = ["", "docs", "examples", "examples/*", "proto", "bench", "tests/*"]
        pages = [page for folder in folders for page in ROOT.glob(f"{folder}/*.md".lstrip("/"))]
        self.assertIn(ROOT / "README.md", pages)
        lost = []
        for page in pages:
            prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
            for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
                if "://" not in link and not (page.parent / link).exists():
                    lost.append(f"{page.relative_to(ROOT)}: {link}")
        self.assertEqual(lost, [])

    def test_the_wall_clock_is_read_in_few_places(self) -> None:
        allowed = {
            "base/clock_core.cpp",  # the Clock itself
            "base/wall_watch.cpp",  # ... and its notification of clock settings
            "base/log.cpp",  # stamps of log lines
            "base/time.cpp",  # wall_now()
            "node/params/shared_params.cpp",  # the later of two changes wins, on any machine
            "node/runtime/domain_watch.cpp",  # the stamps of folders have this clock
            "node/time/sim_time.cpp",  # default start of simulated time
            "record/recorder.cpp",  # log_time of recordings outside a simulation
            "trace/read_area.cpp",  # shown by `hyphos time`
            "transport/host_clock.cpp",  # offsets in packet headers
        }
        reads = re.compile(r"\bwall_now\(|CLOCK_REALTIME|system_clock")
        found = {
            path.relative_to(ROOT).as_posix()
            for room in rooms.ROOMS
            for path in rooms.sources(ROOT / room)
            if reads.search(path.read_text())
        }
        self.assertEqual(found, allowed)

    def test_public_headers_are_few(self) -> None:
        count = len(list((ROOT / "include/hyphos").glob("*.hpp")))
        print(f"{count} public headers, at most {rooms.MAX_PUBLIC_HEADERS}")
        self.assertLessEqual(count, rooms.MAX_PUBLIC_HEADERS)


class Library(unittest.TestCase):
    library = Path()
    strip = "strip"
    nm = "nm"

    def objects(self, room: str, folder: str, target: str) -> list[Path]:
        """The object files of a folder in the build tree, apart from those without a source."""
        build = self.library.parent
        found = []
        for path in sorted(build.glob(f"{target}.dir/{folder}/**/*.o")):
            source = path.as_posix().partition(".dir/")[2].removesuffix(".o")
            if (ROOT / room / source).exists():
                found.append(path)
        return found

    def core(self) -> list[tuple[str, list[Path]]]:
        """The object files of each room. A release compiles the sources of a folder together."""
        build, target = self.library.parent, "CMakeFiles/hyphos_*objects"
        return [
            (
                room,
                self.objects("", room, target)
                + sorted(build.glob(f"{target}.dir/Unity/unity_{room}_*.o")),
            )
            for room in CORE
        ]

    def test_links_follow_the_order_of_the_rooms(self) -> None:
        for room, objects in self.core():
            self.assertTrue(objects, room)
        self.assertEqual(rooms.links_up(self.core(), self.nm), [])

    def test_links_follow_the_order_of_folders(self) -> None:
        for room in ("gateway", "cosim"):
            layers = [
                (level, [path for name in level.split(" ") for path in self.outer(room, name)])
                for level in rooms.OUTER[room]
                if level
            ]
            self.assertEqual(rooms.links_up(layers, self.nm), [])

    def outer(self, room: str, folder: str) -> list[Path]:
        return self.objects(room, folder, f"{room}/CMakeFiles/*")

    def test_a_link_up_is_found(self) -> None:
        self.assertNotEqual(rooms.links_up(self.core()[::-1], self.nm), [])

    def test_the_stripped_core_is_at_most_3_mb(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            stripped = Path(folder) / "libhyphos.so"
            command = [self.strip, "--strip-unneeded", "-o", str(stripped), str(self.library)]
            subprocess.run(command, check=True)
            size = stripped.stat().st_size
        print(f"libhyphos.so: {size} bytes stripped, at most {MAX_LIBRARY_BYTES}")
        self.assertLessEqual(size, MAX_LIBRARY_BYTES)


if __name__ == "__main__":
    Library.library, Library.strip, Library.nm = Path(sys.argv[1]), *sys.argv[2:4]
    unittest.main(argv=sys.argv[:1], verbosity=2)
