"""The rooms keep their order, the public headers stay few, the library stays small.

Run by ctest. Needs only Python: test_rooms.py <path of libhyphos.so> <path of strip>
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import rooms

ROOT = Path(__file__).resolve().parents[2]
MAX_LIBRARY_BYTES = 3_000_000


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

    def test_users_include_only_public_headers(self) -> None:
        self.assertEqual(len(rooms.broken_in_user('#include "graph/channel.hpp"\n')), 1)
        text = '#include "shm/tools.hpp"\n'
        self.assertEqual(rooms.broken_in_user(text, ("shm/tools.hpp",)), [])
        self.assertEqual(rooms.broken_in_user('#include "hyphos/node.hpp"\n#include "a.hpp"\n'), [])

    def test_a_user_may_be_allowed_into_a_room(self) -> None:
        text = '#include "base/log.hpp"\n#include "wire/packet.hpp"\n'
        self.assertEqual(len(rooms.broken_in_user(text, ("base/",))), 1)


class Repository(unittest.TestCase):
    def test_include_lines_follow_the_order_of_the_rooms(self) -> None:
        self.assertEqual(rooms.broken(ROOT), [])

    def test_there_are_sources_in_every_room(self) -> None:
        for room in rooms.ROOMS:
            self.assertTrue(any(rooms.sources(ROOT / room)), room)

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
            "node/time/sim_time.cpp",  # default start of simulated time
            "record/recorder.cpp",  # log_time of recordings outside a simulation
            "trace/record.cpp",  # shown by `hyphos time`
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

    def test_the_stripped_core_is_at_most_3_mb(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            stripped = Path(folder) / "libhyphos.so"
            command = [self.strip, "--strip-unneeded", "-o", str(stripped), str(self.library)]
            subprocess.run(command, check=True)
            size = stripped.stat().st_size
        print(f"libhyphos.so: {size} bytes stripped, at most {MAX_LIBRARY_BYTES}")
        self.assertLessEqual(size, MAX_LIBRARY_BYTES)


if __name__ == "__main__":
    Library.library, Library.strip = Path(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1], verbosity=2)
