"""Uses the wheels as a user does: installs each in a bare root, and runs the demo."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import roots

PACKAGES = ("python3", "python3-venv")
# $1 is the limit of seconds for pip and the demo, or 0, and $2 the duration of the demo.
COMMANDS = """
python3 -m venv /venv
start=$(date +%s.%N)
/venv/bin/pip install --quiet --find-links /wheels hyphos
installed=$(date +%s.%N)
cd /root
/venv/bin/hyphos --help >/root/help
grep -q demo /root/help
/venv/bin/python - <<'PY'
import platform
import threading
import hyphos
from hyphos.msgs import String

node = hyphos.Node.open("alone", offline=True)
arrived = threading.Event()
node.subscribe("word", String, lambda word: arrived.set())
node.publisher("word", String).publish(String(data="hello"))
if not arrived.wait(300):
    raise SystemExit("a message does not arrive in its own process")
print(f"a message arrives in one process on {platform.machine()}")
PY
used=$(date +%s.%N)
/venv/bin/hyphos demo --seconds "$2"
end=$(date +%s.%N)
/venv/bin/python - "$start" "$installed" "$used" "$end" "$1" <<'PY'
import sys
from hyphos import _hyphos
start, installed, used, end, limit = map(float, sys.argv[1:])
module = _hyphos.__file__.rsplit("/", 1)[1]
print(f"{module}: pip {installed - start:.1f} s, demo {end - used:.1f} s")
whole = installed - start + end - used
sys.exit(f"more than {limit:.0f} s" if limit and whole > limit else 0)
PY
"""


@dataclass(frozen=True)
class User:
    """A machine of a user: its processor, Python and distribution."""

    machine: str
    python: str
    distribution: str
    root: Callable[[], roots.Root]
    emulated: bool = False

    def check(self, wheels: Path, limit_s: float) -> bool:
        """Installs the wheel that pip chooses. Emulation has no limit and a shorter demo."""
        how = "emulated " if self.emulated else ""
        print(f"Python {self.python} in {how}{self.distribution}, {self.machine}:", flush=True)
        words = ("sh", "-euc", COMMANDS, "sh", 0 if self.emulated else limit_s)
        seconds = 10 if self.emulated else 30
        code = self.root().run(*words, seconds, mounts={Path("/wheels"): wheels})
        if code != 0:
            print(f"Python {self.python} on {self.machine} failed with {code}", file=sys.stderr)
        return code == 0


def _bare(python: str, distribution: str) -> User:
    return User("x86_64", python, distribution, lambda: roots.installed(distribution, PACKAGES))


def _emulated(python: str, distribution: str, suite: str) -> User:
    root: Callable[[], roots.Root] = lambda: roots.unpacked(suite, "aarch64", roots.EMULATED)  # noqa: E731
    return User("aarch64", python, distribution, root, emulated=True)


# The distribution of each Python.
USERS = (
    _bare("3.11", "debian12"),
    _bare("3.12", "ubuntu2404"),
    _bare("3.13", "debian13"),
    _emulated("3.11", "debian12", "bookworm"),
    _emulated("3.13", "debian13", "trixie"),
)
