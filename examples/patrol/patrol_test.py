"""The same nodes under each of the three plans: the robot moves, and the run leaves a map."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SECONDS = "12"


def run(plan: str, folder: Path, *before: str) -> str:
    """Runs a plan for some seconds in a separate domain and returns its output."""
    domain = f"{plan.replace('_', '')}-{os.getpid()}"
    words = [sys.executable, "-m", "hyphos", "run", str(HERE / f"{plan}.yaml"), "--live"]
    words += ["--for", SECONDS, "--set", f"domain={domain}", "--logs", str(folder / "logs")]
    words += ["--set", f"nodes.mapper.params.map_file={folder / 'map.png'}"]
    words += ["--record", "--set", f"record.path={folder / 'run.mcap'}"]
    words += ["--report", str(folder / "report.html"), "--picture", str(folder / "map.png")]
    done = subprocess.run(
        [*before, *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")
    report = (folder / "report.html").read_text()
    assert "<svg" in report
    assert "data:image/png;base64," in report
    info = subprocess.run(
        [sys.executable, "-m", "hyphos", "replay", "--list", str(folder / "run.mcap")],
        capture_output=True,
        text=True,
        check=True,
    )
    # The recorder receives every channel, over any transport of the plan.
    for channel in ("scan", "odom", "image", "map", "pose", "path", "drive"):
        assert re.search(rf"\b{channel}\b.*\b[1-9]", info.stdout), info.stdout
    return done.stdout


def transport_of(output: str, channel: str) -> str:
    """The transport of a channel in the last live table."""
    rows = re.findall(rf"^ {channel} +([a-z+]+) ", output, re.MULTILINE)
    return rows[-1] if rows else ""


def scans_mapped(output: str) -> int:
    found = re.search(r"map of (\d+) scans", output)
    return int(found.group(1)) if found else 0


def test_one_process_passes_pointers(tmp_path: Path) -> None:
    output = run("one_process", tmp_path)
    assert scans_mapped(output) > 10
    assert "pointer" in transport_of(output, "scan")


def test_three_processes_share_memory(tmp_path: Path) -> None:
    output = run("three_processes", tmp_path)
    assert scans_mapped(output) > 10
    assert "shm" in transport_of(output, "image")
    assert "pointer" in transport_of(output, "map")


def may_make_namespaces() -> bool:
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "--net", "true"], check=False).returncode == 0


@pytest.mark.skipif(not may_make_namespaces(), reason="network namespaces may not be made here")
def test_two_hosts_use_the_network(tmp_path: Path) -> None:
    output = run("two_hosts", tmp_path, str(HERE / "two_hosts.sh"))
    assert scans_mapped(output) > 10
    assert "zmq" in transport_of(output, "scan")
    assert (
        "hyphos-ugv"
        not in subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
    )
