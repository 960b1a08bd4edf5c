"""The public headers stay in parts: a node compiles without the parts that it does not use, and the
compiler names the remedy for a missing part and for a retired name.

Run by ctest. Needs only Python and the compiler: test_headers.py <compiler>
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
COMPILER = "c++"
# Each takes longer to compile than all of Hyphos that a node of structs needs.
HEAVY = {"filesystem", "future", "mutex", "condition_variable", "thread", "regex", "iostream"}
# Of the parts that a node of structs does not use.
PARTS = {"map", "variant", "deque", "chrono", "charconv", "sstream"}


def compiled(text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "node.cpp")
        source.write_text(text)
        command = [COMPILER, "-std=c++20", f"-I{INCLUDE}", *flags, str(source)]
        return subprocess.run(command, text=True, capture_output=True, check=False)


def reached(header: str) -> tuple[set[str], set[str]]:
    """The headers of Hyphos and those of the standard library that a header includes."""
    run = compiled(f"#include <hyphos/{header}>\n", "-M")
    assert run.returncode == 0, run.stderr
    paths = [Path(word) for word in run.stdout.split() if word.startswith("/")]
    own = {path.name for path in paths if path.is_relative_to(INCLUDE)}
    return own, {path.name for path in paths if not path.suffix}


class Headers(unittest.TestCase):
    def test_a_node_includes_no_part_that_it_does_not_use(self) -> None:
        own, standard = reached("node.hpp")
        self.assertEqual(standard & (HEAVY | PARTS), set())
        self.assertIn("functional", standard)
        others = {"service.hpp", "action.hpp", "params.hpp", "transforms.hpp", "inspect.hpp"}
        self.assertEqual(own & (others | {"plan.hpp", "future.hpp"}), set())

    def test_only_the_headers_of_plans_and_futures_are_heavy(self) -> None:
        heavy = {
            header.name: found
            for header in sorted((INCLUDE / "hyphos").glob("*.hpp"))
            if (found := reached(header.name)[1] & HEAVY)
        }
        self.assertEqual(set(heavy), {"plan.hpp", "future.hpp"}, heavy)

    def test_the_complete_header_has_every_part_but_the_heavy_ones(self) -> None:
        all_headers = {header.name for header in (INCLUDE / "hyphos").glob("*.hpp")}
        self.assertEqual(all_headers - reached("hyphos.hpp")[0], {"plan.hpp", "future.hpp"})

    def test_the_old_name_of_the_inline_mode_has_a_remedy(self) -> None:
        run = compiled(
            "#include <hyphos/policy.hpp>\nauto mode = hyphos::inlined;\n", "-fsyntax-only"
        )
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("write hyphos::inline_", run.stderr)

    def test_a_future_without_its_header_names_the_header(self) -> None:
        call = (
            "#include <hyphos/service.hpp>\nstruct Number { int value; };\n"
            "bool ask(const hyphos::Client<Number, Number>& c) {"
            " return c.call_async({1}).get().ok(); }\n"
        )
        run = compiled(call, "-fsyntax-only")
        self.assertNotEqual(run.returncode, 0)
        self.assertRegex(run.stderr, re.compile("CallNeedsFutureHpp"))
        run = compiled("#include <hyphos/future.hpp>\n" + call, "-fsyntax-only")
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    unittest.main()
