"""`pip install .` gives a self-contained package: module, library, host program and command."""

import fcntl
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, which the first worker of a run builds for all."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "wheel"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("*.whl")):
            build(folder)
    [path] = folder.glob("hyphos-*.whl")
    return path


def build(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--no-build-isolation"]
    command += ["--wheel-dir", str(folder), "--config-settings", "build-dir=build/wheel"]
    # The compiler cache has all results of the earlier build, because its folder has the same
    # depth.
    environment = {**os.environ, "CCACHE_BASEDIR": str(ROOT), "CC": "cc", "CXX": "c++"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages with the installed wheel."""
    made = tmp_path_factory.mktemp("installed") / "site"
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(made), str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    return made


def test_the_wheel_contains_each_part_once(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for part in (
        "hyphos/_hyphos.",
        "hyphos/libhyphos.so",
        "hyphos/hyphos-host",
        "hyphos/hyphos-link",
        "hyphos/libhyphos_msgs.so",
        "hyphos/libhyphos_gateway.so",
        "hyphos/lab/experiments/latency.yaml",
    ):
        assert len([name for name in names if name.startswith(part) and "pyi" not in name]) == 1
    for part in (
        "hyphos/__init__.py",
        "hyphos/py.typed",
        "hyphos/msgs/sensor_pb2.py",
        "hyphos/ros/options_pb2.py",
        "hyphos/demo/patrol/three_processes.yaml",
        "hyphos/demo/patrol/patrol.yaml",
        "hyphos/new/templates/robot.yaml.in",
        "hyphos/new/templates/github/workflows/test.yml.in",
        "hyphos/new/templates/my_robot/gap.proto.in",
        "hyphos/demo/patrol/watcher.py",
        *(f"hyphos/demo/patrol/libpatrol_{n}.so" for n in ("world", "camera", "mapper", "planner")),
    ):
        assert names.count(part) == 1
    for program in ("hyphos", "hyphos_py", "graph"):
        assert names.count(f"hyphos/lab/programs/hyphos-lab-{program}") == 1
    assert not [name for name in names if name.endswith((".hpp", ".cpp", ".cmake"))]
    # For own messages that import the standard ones, and for the files of `hyphos msg import`.
    protos = {name for name in names if name.endswith(".proto")}
    assert {"hyphos/proto/hyphos/msgs/std.proto", "hyphos/ros/options.proto"} <= protos
    assert all(name.startswith(("hyphos/proto/hyphos/", "hyphos/ros/")) for name in protos)


def test_an_installed_wheel_works_without_the_repository(site: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(site)}

    program = """
import threading
from pathlib import Path
import hyphos
from hyphos.msgs import String

print(Path(hyphos.__file__).parent)
node = hyphos.Node.open("alone", offline=True)
heard = threading.Event()
node.subscribe("word", String, lambda word: heard.set())
node.publisher("word", String).publish(String(data="hello"))
assert heard.wait(60)
"""

    def run(*command: str | Path) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, text=True, stdout=subprocess.PIPE, check=True
        )
        return done.stdout

    assert run(sys.executable, "-c", program).strip() == str(site / "hyphos")
    assert str(site / "hyphos/libhyphos.so") in run("ldd", site / "hyphos/hyphos-host")
    assert "usage: hyphos-link" in run(site / "hyphos/hyphos-link", "--help")
    run(site / "bin/hyphos", "--help")
    run(site / "bin/hyphos", "new", "rover")
    assert (tmp_path / "rover/.github/workflows/test.yml").exists()
    assert "plug-ins of one process" in run(site / "bin/hyphos-host", "--help")
    plan = tmp_path / "robot.yaml"
    nodes = "nodes: {unity: {gateway: ros_tcp, args: [--port, '0']}}"
    plan.write_text(f"hyphos: 1\ndomain: wheel{os.getpid()}\n{nodes}\n")
    words: list[str | Path] = [site / "bin/hyphos", "run", plan]
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment, text=True, stdout=subprocess.PIPE
    ) as robot:
        assert robot.stdout is not None
        try:
            assert any("listening on" in line for line in robot.stdout)
        finally:
            robot.send_signal(signal.SIGINT)


def test_an_installed_cosim_runs_scenarios_and_programs(site: Path, tmp_path: Path) -> None:

    def cosim(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hyphos", "cosim", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(site)},
            check=False,
        )

    done = cosim("run", str(ROOT / "examples/cosim/cosim.yaml"), "--radio-process")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "copies 3600 = " in done.stdout
    team = tmp_path / "team.yaml"
    team.write_text("robots: {a: {at: [0, 0, 1]}, b: {at: [9, 0, 1]}}\n")
    done = cosim("emulate", str(team), "--for", "0.5", "--quiet")
    if os.geteuid() == 0 and Path("/dev/net/tun").exists():
        assert "real time" in done.stdout, done.stdout + done.stderr
    else:
        assert done.returncode == 1


def test_an_installed_laboratory_measures(site: Path, tmp_path: Path) -> None:
    words = ["lab", "run", "latency", "--seconds", "0.2", "--repeats", "1", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "hyphos", *words, "-o", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "hyphos/shm" in done.stdout


def test_an_installed_demo_needs_only_the_dependencies(wheel: Path, tmp_path: Path) -> None:
    """Modules that are no dependency of the package cannot be imported, and PATH has no program."""
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(site), str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    program = """
import sys
for name in ("matplotlib", "PIL", "mcap", "mcap_protobuf", "rosbags"):
    sys.modules[name] = None
from hyphos.program import main
main()
"""
    words = ["demo", "--seconds", "3", "--out", "out", "--domain", f"wheel{os.getpid()}"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site), "PATH": ""},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "against the truth" in done.stdout.splitlines()[-1]
    for name in ("map.png", "patrol.mcap", "report.html"):
        assert (tmp_path / "out" / name).exists()
    assert "<pre>digraph" in (tmp_path / "out/report.html").read_text()
