"""The exit codes of the programs, and the environment variables that they read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import hyphos
from goldens import ROOT, Listing, UpdateError
from hyphos.ros import known
from hyphos.supervise import logs

BUILD = ROOT / "build/release"
PROGRAMS: dict[str, list[Any]] = {
    "hyphos": [sys.executable, "-c", "from hyphos.program import main; main()"],
    "hyphos-host": [BUILD / "node/hyphos-host"],
    "hyphos-gateway": [BUILD / "gateway/hyphos-gateway"],
    "hyphos-link": [BUILD / "lab/hyphos-link"],
}

# --- Exit codes ---------------------------------------------------------------------------------

# Each kind of end of a program. PLANS and RECORDINGS are the kept ones. WORK is an empty folder
# with the files of _broken_files, and ABSENT a domain without a process.
CALLS = """
hyphos --help
hyphos
hyphos unknown
hyphos plan
hyphos plan --unknown PLANS/minimal.yaml
hyphos plan PLANS/minimal.yaml
hyphos plan WORK/broken.yaml
hyphos plan WORK/missing.yaml
hyphos validate WORK/broken.yaml
hyphos run WORK/broken.yaml
hyphos channel list --domain ABSENT
hyphos channel info scan --domain ABSENT
hyphos node info camera --domain ABSENT
hyphos param get camera rate --domain ABSENT
hyphos gateway
hyphos gateway --help
hyphos gateway unknown
hyphos cosim run WORK/broken.yaml
hyphos lab show WORK/missing
hyphos bag info RECORDINGS/zstd.mcap
hyphos bag info RECORDINGS/unfinished.mcap
hyphos bag info WORK/broken.mcap
hyphos bag info WORK/missing.mcap
hyphos bag check RECORDINGS/zstd.mcap
hyphos bag check RECORDINGS/unfinished.mcap
hyphos bag cut RECORDINGS/zstd.mcap -o WORK/complete.mcap
hyphos bag cut RECORDINGS/unfinished.mcap -o WORK/rest.mcap
hyphos bag cut RECORDINGS/zstd.mcap -o WORK/broken.mcap
hyphos bag merge RECORDINGS/zstd.mcap RECORDINGS/unfinished.mcap -o WORK/both.mcap
hyphos bag convert RECORDINGS/zstd.mcap
hyphos replay WORK/broken.mcap --domain ABSENT
hyphos-host --help
hyphos-host
hyphos-host WORK/missing.so
hyphos-link
hyphos-link --help
hyphos-link --unknown
"""


def exit_codes(kept: Path) -> Listing:
    """The exit code of each call. A negative number is a signal."""
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        _broken_files(work)
        names = {
            "PLANS": str(kept / "plans"),
            "RECORDINGS": str(kept / "recordings"),
            "WORK": place,
            "ABSENT": f"absent{os.getpid()}",
        }
        calls = CALLS.strip().splitlines()
        with ThreadPoolExecutor(2) as pool:
            codes = pool.map(lambda call: _run(_command(call, names), work).returncode, calls)
            return dict(zip(calls, codes, strict=True))


def _broken_files(work: Path) -> None:
    (work / "broken.yaml").write_text("hyphos: 1\nnodes: {camera: {rate: 5}}\n")
    (work / "broken.mcap").write_bytes(b"no recording")


def _command(call: str, names: dict[str, str]) -> list[Any]:
    program, *words = call.split()
    if not Path(PROGRAMS[program][0]).exists():
        raise UpdateError(f"{PROGRAMS[program][0]} is missing: run `make build`")
    pattern = re.compile("|".join(names))
    return [*PROGRAMS[program], *(pattern.sub(lambda name: names[name[0]], word) for word in words)]


def _run(command: list[Any], home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a program that finds the package, and no other setting of the user."""
    package = str(Path(hyphos.__file__).parents[1])
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": package}
    return subprocess.run(
        command, cwd=home, env=environment | variables, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, check=False, timeout=600,
    )  # fmt: skip


# --- Environment variables ----------------------------------------------------------------------

_ROOMS = (
    "base", "wire", "trace", "shm", "plan", "transport", "graph", "node", "record", "netem",
    "gateway", "cosim", "lab", "clients", "python/hyphos",
)  # fmt: skip
_READS = re.compile(r"\bgetenv\(|\benviron(?:\.get\(|\[)|in os\.environ|GetEnvironmentVariable\(")
_NAME = re.compile(r'"(_?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|PATH|HOME)"')
_SETS = re.compile(r'environ(?:\[|\.setdefault\()"\w+"(?:\] =|,)')
# Users set none of these. Hyphos, the completion of shells and pytest set the first three. The last
# two are no variables.
OTHERS = {
    "HYPHOS_PYTHON", "_HYPHOS_COMPLETE", "PYTEST_CURRENT_TEST", "ROS1_NOETIC", "ROS2_JAZZY",
}  # fmt: skip


def environment(_kept: Path) -> Listing:
    """The effect of each environment variable that the sources read."""
    found: Listing = {}
    for name in sorted(read_variables() - OTHERS):
        if name not in EFFECTS:
            raise UpdateError(f"a source reads {name}: add it to EFFECTS in {__file__}")
        with tempfile.TemporaryDirectory() as place:
            found[name] = EFFECTS[name](Path(place)).replace(place, "VALUE")
    return found


def read_variables(root: Path = ROOT) -> set[str]:
    """The names in every source that reads an environment variable."""
    found: set[str] = set()
    for room in _ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in (".py", ".cpp", ".hpp", ".c", ".h", ".cs") and path.is_file():
                text = path.read_text(encoding="utf-8")
                if _READS.search(_SETS.sub("", text)):
                    found |= set(_NAME.findall(_SETS.sub("", text)))
    return found


def _logs(value: Path) -> str:
    with mock.patch.dict(os.environ, {"XDG_STATE_HOME": str(value)}):
        return f"logs of `hyphos run` in {logs.default_root('ROBOT')}"


def _cache(value: Path) -> str:
    with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(value)}):
        return f"descriptors of ROS types in {known._cache()}"


def _packages(variable: str) -> Callable[[Path], str]:
    def effect(value: Path) -> str:
        package = value / "share/my_msgs"
        (package / "msg").mkdir(parents=True)
        (package / "package.xml").write_text("<package><name>my_msgs</name></package>")
        (package / "msg/One.msg").write_text("int32 x\n")
        with mock.patch.dict(os.environ, {variable: str(value)}):
            assert package in known._installed()
        return f"a package of ROS types in {package}"

    return effect


def _path(value: Path) -> str:
    """A plan may name a program that is in a folder of PATH."""
    shutil.copy("/bin/true", value / "my-program")
    plan = value / "plan/robot.yaml"  # it would find a program beside it
    plan.parent.mkdir()
    plan.write_text("hyphos: 1\nnodes: {one: {executable: my-program}}\n")
    usual = os.environ["PATH"]
    command = [*PROGRAMS["hyphos"], "validate", plan]
    found, missing = (_run(command, value, PATH=path) for path in (f"{value}:{usual}", usual))
    assert missing.returncode == 1
    return f"programs of a plan: `hyphos validate` ends with {found.returncode}"


def _domain(value: Path) -> str:
    """A command and a program take it as their domain, and refuse an impossible one by name."""
    command = [*PROGRAMS["hyphos"], "node", "list"]
    done = _run(command, value, HYPHOS_DOMAIN="of-the-environment")
    assert "domain 'of-the-environment'" in done.stdout, done.stderr
    program = [sys.executable, "-c", "import hyphos; hyphos.Node.open('one')"]
    refused = _run(program, value, HYPHOS_DOMAIN="two words")
    assert "HYPHOS_DOMAIN is 'two words'" in refused.stderr
    return "domain of commands and programs, unless an option names one"


def _refused(gateway: str, variable: str, value: str) -> Callable[[Path], str]:
    """A gateway of ROS reads the variable, so it refuses a wrong value by name."""

    def effect(folder: Path) -> str:
        if f'Absent{{"{gateway}"' in (BUILD / "gateway/optional_protocols.hpp").read_text():
            return f"gateway {gateway}: '{value}' is refused"  # this build cannot show it
        types = folder / "types.pb"
        types.touch()  # the standard messages alone
        # A gateway on the loopback address ignores the host name.
        command = [*PROGRAMS["hyphos-gateway"], gateway, "--types", types, "--host", "0.0.0.0"]
        done = _run(command, folder, **{variable: value})
        assert f"{variable}='{value}'" in done.stderr, done.stderr
        assert done.returncode == 1
        return f"gateway {gateway}: '{value}' is refused"

    return effect


EFFECTS: dict[str, Callable[[Path], str]] = {
    "AMENT_PREFIX_PATH": _packages("AMENT_PREFIX_PATH"),
    "HYPHOS_DOMAIN": _domain,
    "PATH": _path,
    "ROS_DOMAIN_ID": _refused("ros2", "ROS_DOMAIN_ID", "many"),
    "ROS_HOSTNAME": _refused("ros1", "ROS_HOSTNAME", "a b"),
    "ROS_IP": _refused("ros1", "ROS_IP", "a b"),
    "ROS_MASTER_URI": _refused("ros1", "ROS_MASTER_URI", "nowhere"),
    "ROS_PACKAGE_PATH": _packages("ROS_PACKAGE_PATH"),
    "XDG_CACHE_HOME": _cache,
    "XDG_STATE_HOME": _logs,
}
