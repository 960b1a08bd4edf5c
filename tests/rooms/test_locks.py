"""The locks of the product have annotations, so that clang checks the accesses to their members.

The analysis of `make lint` sees no lock of the standard library. base/mutex.hpp has its
replacements. Run by ctest. Needs only Python and git.
"""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SOURCES = ("*.cpp", "*.hpp", "*.h")
# Not the product, or code that shows the use of the public headers alone.
LEFT_OUT = ("bench/", "examples/", "lab/peers/", "tests/")

BARE_LOCK = re.compile(
    r"\bstd::((?:recursive_|timed_|recursive_timed_|shared_|shared_timed_)?mutex"
    r"|lock_guard|scoped_lock|unique_lock|shared_lock|condition_variable(?:_any)?)\b"
)

RECURSIVE = "a callback under the lock may take it again, which the analysis cannot model"
# File: the reason for its locks of the standard library.
EXCEPTIONS = {
    "base/mutex.hpp": "wraps them",
    "clients/tros/include/hyphos/compat/tros.hpp": "a public header includes nothing of base",
    "gateway/facade/graph_actions.cpp": RECURSIVE,
    "gateway/facade/shared_subscription.cpp": RECURSIVE,
    "gateway/facade/shared_subscription.hpp": RECURSIVE,
    "proto/include/hyphos/msgs/diagnostics.hpp": "a public header includes nothing of base",
    "proto/include/hyphos/msgs/view.hpp": "a public header includes nothing of base",
    "testing/include/hyphos/testing.hpp": "a public header includes nothing of base",
    "testing/include/hyphos/testing/intercepted.hpp": "a public header includes nothing of base",
}


def bare_locks(text: str) -> list[str]:
    """The names of the locks in the code, comments left out."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    return [found.group() for found in BARE_LOCK.finditer(code)]


def product() -> list[str]:
    command = ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", *SOURCES]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    names = (name for name in listed.splitlines() if not name.startswith(LEFT_OUT))
    return [name for name in names if (ROOT / name).is_file()]


class Locks(unittest.TestCase):
    def test_a_lock_in_a_comment_is_no_use(self) -> None:
        self.assertEqual(bare_locks("// a std::mutex\n/* a\n std::mutex */ Mutex mutex_;"), [])
        self.assertEqual(bare_locks("const std::lock_guard lock(mutex_);"), ["std::lock_guard"])

    def test_every_lock_has_annotations(self) -> None:
        found = {name: bare_locks((ROOT / name).read_text("utf-8")) for name in product()}
        used = {name for name, locks in found.items() if locks}
        wrong = sorted(used - EXCEPTIONS.keys())
        self.assertFalse(wrong, f"use the locks of base/mutex.hpp in {', '.join(wrong)}")
        unused = sorted(EXCEPTIONS.keys() - used)
        self.assertFalse(unused, f"remove the exceptions {', '.join(unused)}")


if __name__ == "__main__":
    unittest.main()
