"""Retired words do not come back.

Each was a metaphor, or one of several words for one thing. docs/explanation/glossary.md has the
words in use. Run by ctest. Needs only Python and git.
"""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CODE = ("*.cpp", "*.hpp", "*.h", "*.py", "*.pyi", "*.cs", "CMakeLists.txt", "*.cmake")
TEXT = ("*.md",)

# Retired word: the files in which it must not occur, and the word instead.
RETIRED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (r"\w*(Graph|Fake|Pool)Door\b", CODE + TEXT, "GraphFacade, FakeGraph, ExecutorHandle"),
    (r"([Ii]nlet|[Oo]utlet)s?_?\b", CODE + TEXT, "ReceiveSink, ClientPublisher, inbound, …"),
    (r"\b(Tx|Rx)?Lanes?\b|\bLane(Header|Record|Cell|Info)\b", ("shm/*", "transport/*"), "ring"),
    (r"\b(Askers?|Servings?|LastOfEach|Parcel|HeldSlots?|Seldom)\b", CODE, "the glossary has it"),
    (r"\b(Crew|has_brought|hand_on|for_guests)\b", CODE, "ReadyList, hand_over, tools_only"),
    (r"\b(bury|graves_|poke|knock)\b", ("shm/*", "transport/*"), "reap, signal_control, wake_all"),
    (
        r"--(patience|awake|may-sleep|held-out|anew)\b",
        ("*.py", "*.md", "*.yaml"),
        "--wait-quiet, --test-set, …",
    ),
    (r"\b(gateway/core|lab/link|lab/awake|lab/handover)\b", CODE + TEXT, "facade, netem, lab/cpu"),
    (r"\bheld out\b|\bin one sitting\b|\blies apart\b", TEXT, "test set, same session"),
)
# A test of the hint for an old option names the option, and these lists name all.
ALLOWED = {
    "tests/rooms/test_rooms.py",
    "tests/rooms/test_words.py",
    "tests/python/cli/options_test.py",
    "python/hyphos/cli/renamed.py",
    "docs/explanation/glossary_internals.md",
    "bench/run.py",
    "CHANGELOG.md",
}


def files(patterns: tuple[str, ...]) -> list[str]:
    command = ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [name for name in listed.splitlines() if name not in ALLOWED and (ROOT / name).is_file()]


def uses(pattern: str, name: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
    return [
        f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {found.group()}"
        for found in re.finditer(pattern, text)
    ]


class Words(unittest.TestCase):
    def test_patterns_find_the_words(self) -> None:
        old = "Door GraphDoor Inlet outlet_ RxLane Askers Crew bury --patience lab/link held out"
        for pattern, _, _ in RETIRED:
            self.assertRegex(old, pattern)

    def test_retired_words_are_gone(self) -> None:
        for pattern, where, instead in RETIRED:
            searched = files(where)
            self.assertGreater(len(searched), 5, where)
            found = [use for name in searched for use in uses(pattern, name)]
            self.assertEqual(found, [], f"write instead: {instead}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
