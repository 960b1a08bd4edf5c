"""Limits of CPU and shared memory, and the reaper under them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from helpers import PATIENCE_S, wait_until
from hyphos import Error
from hyphos.lab import kernel, limits, reaper
from hyphos.lab.capacity.calibrate import empty_profile
from hyphos.lab.limits import CpuController, Limits, cgroup_folders, cores_available
from hyphos.lab.machine import describe_machine
from hyphos.lab.media import Veth
from hyphos.lab.reaper import NETNS, Reaper, Resource, owned_name, sweep
from lab_places import need, program, run, things_named

OWN = f"hyphos-lab-{os.getpid()}-"

root_only = need(Veth())
quota_only = pytest.mark.skipif(
    os.geteuid() != 0 or not any(os.access(folder, os.W_OK) for folder in cgroup_folders()),
    reason="needs root and a CPU controller",
)


@pytest.fixture
def own_reaper() -> Iterator[Reaper]:
    made = Reaper()
    yield made
    made.close()


def dead_process() -> str:
    """PID-START-NAMESPACE of a process that has ended, in the format of names."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        start = kernel.start_of(process.pid)
        process.kill()
    return f"{process.pid}-{start}-p{kernel.pid_namespace()}"


# CPU.

SPIN = """
import time
began, used = time.monotonic(), time.process_time()
while time.monotonic() - began < 1.5: pass
print((time.process_time() - used) / (time.monotonic() - began))
"""
# Prints its start, its end, and the CPU time between them.
SPAN = """
import time
began, used = time.monotonic(), time.process_time()
while time.monotonic() - began < 1.5: pass
print(began, time.monotonic(), time.process_time() - used)
"""


@quota_only
def test_a_quota_caps_the_cpu_of_a_spinning_process() -> None:
    with Limits(cores=0.3) as lab:
        # A busy machine gives less. A stalled machine may count the stall as used.
        used = min(float(run(lab.place, SPIN)) for _ in range(3))
        assert lab.quota is not None
        # On a busy machine, a process may not reach its quota.
        while (throttling := lab.quota.throttling()).throttled_s == 0:
            run(lab.place, SPIN)
    assert used < 0.36
    assert throttling.throttled > 0


@quota_only
def test_processes_within_one_quota_share_it() -> None:
    with Limits(cores=0.4) as lab:

        def both() -> float:
            """The CPU time of two processes, divided by the time from the first start on."""
            spin, pipe = program(SPAN), subprocess.PIPE
            spinning = [lab.place.start(spin, stdout=pipe, text=True) for _ in range(2)]
            told = [one.communicate(timeout=PATIENCE_S)[0].split() for one in spinning]
            began, ended, used = zip(*(map(float, words) for words in told), strict=True)
            return float(sum(used) / (max(ended) - min(began)))

        used = min(both() for _ in range(3))
    assert used < 0.48


@quota_only
def test_the_available_cores_are_found() -> None:
    assert 0 < cores_available() <= len(os.sched_getaffinity(0))
    with Limits(cores=0.25) as lab:
        one = lab.place.start(["sleep", "1000"])
        wait_until(lambda: cores_available(one.pid) == 0.25, "the process to be in its group")
        assert cores_available() > 0.25
    assert one.wait(PATIENCE_S) == -signal.SIGTERM


@root_only
@quota_only
def test_ending_limits_ends_processes_and_removes_the_group() -> None:
    with Limits(cores=1, shm_mb=1) as lab:
        assert len(things_named(OWN)) == 2
        stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(1000)"
        one = lab.place.start(program(stubborn))
        assert lab.place.cgroup is not None
        group = lab.place.cgroup / "cgroup.procs"
        wait_until(lambda: str(one.pid) in group.read_text().split(), "it to be in its group")
    assert one.wait(PATIENCE_S) in (-signal.SIGKILL, -signal.SIGTERM)
    assert things_named(OWN) == []


@quota_only
def test_a_process_that_joins_a_removed_group_ends_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look, looks = reaper._running, []

    def late(resources: Iterable[Resource]) -> set[int]:
        looks.append(1)
        return look(resources) if len(looks) > 1 else set()

    with Limits(cores=1) as lab:
        one = lab.place.start(["sleep", "1000"])
        wait_until(lambda: cores_available(one.pid) == 1, "the process to be in its group")
        monkeypatch.setattr(reaper, "_running", late)
        assert lab.quota is not None
        assert reaper.remove([lab.quota.resource]) == []
        assert one.wait(PATIENCE_S) == -signal.SIGTERM


@quota_only
def test_a_quota_below_the_kernel_minimum_is_refused() -> None:
    with pytest.raises(Error, match="1000 µs or more") as caught:
        Limits(cores=0.01).up()
    assert caught.value.where == "cores"
    assert things_named(OWN) == []


def fake_machine(root: Path, mounts: str, groups: str) -> CpuController:
    root.joinpath("mountinfo").write_text(mounts.format(root=root))
    root.joinpath("cgroup").write_text(groups)
    return CpuController.find(root)


V1 = "30 20 0:1 / {root}/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
V2 = "31 20 0:2 / {root}/unified rw - cgroup2 cgroup2 rw\n"


def test_the_controller_of_version_1_comes_first(tmp_path: Path) -> None:
    (tmp_path / "cpu/user").mkdir(parents=True)
    found = fake_machine(tmp_path, V2 + V1, "4:cpu,cpuacct:/user\n0::/other\n")
    assert (found.version, found.folder) == (1, tmp_path / "cpu/user")


def test_a_version_2_group_is_made_below_a_delegating_group(tmp_path: Path) -> None:
    own = tmp_path / "unified/user/shell"
    own.mkdir(parents=True)
    (tmp_path / "unified/cgroup.controllers").write_text("cpu memory\n")
    for group, handed_on in ((own, ""), (own.parent, "cpu memory\n"), (own.parent.parent, "cpu\n")):
        (group / "cgroup.subtree_control").write_text(handed_on)
    found = fake_machine(tmp_path, V2, "0::/user/shell\n")
    assert (found.version, found.folder, found.own) == (2, own.parent, own)


def test_a_container_with_an_invisible_group_uses_the_root(tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    found = fake_machine(tmp_path, V1, "4:cpu,cpuacct:/docker/0123\n")
    assert found.folder == tmp_path / "cpu"


def test_a_missing_cpu_controller_is_an_error_with_remedy(tmp_path: Path) -> None:
    (tmp_path / "unified").mkdir()
    (tmp_path / "unified/cgroup.controllers").write_text("memory\n")
    with pytest.raises(Error, match="no cgroup file system") as caught:
        fake_machine(tmp_path, V2, "0::/\n")
    assert caught.value.code == "unsupported"
    assert "mount -t cgroup2" in caught.value.advice


def test_quotas_of_outer_groups_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "unified/user/shell"
    own.mkdir(parents=True)
    (own / "cpu.max").write_text("max 100000\n")
    (own.parent / "cpu.max").write_text("50000 100000\n")
    found = CpuController(2, tmp_path / "unified", own, own)
    monkeypatch.setattr(limits.CpuController, "find", lambda *_: found)
    assert cores_available() == 0.5
    # The machine description and a capacity profile use the same number.
    assert describe_machine()["cores"] == "0.5"
    assert empty_profile().cores == 0.5


def test_limits_need_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    for wanted in (Limits(cores=1), Limits(shm_mb=1)):
        with pytest.raises(Error, match="needs root") as caught:
            wanted.up()
        assert caught.value.code == "permission"


def test_forbidden_namespaces_are_an_error_with_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_flags: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(kernel, "unshare", refuse)
    with pytest.raises(Error, match="cannot be created here") as caught:
        Limits(shm_mb=1).up()
    assert "--privileged" in caught.value.advice


# Shared memory.

OPEN = """
import sys, hyphos
try:
    with hyphos.Node.open("small", domain=sys.argv[1]):
        print("open")
except hyphos.Error as error:
    print(error.code, error)
"""


@root_only
def test_a_small_shm_gives_an_error_instead_of_a_crash(domain: str) -> None:
    with Limits(shm_mb=1) as lab:
        words = [sys.executable, "-c", OPEN, domain]
        one = lab.place.start(words, stdout=subprocess.PIPE, text=True)
        said = one.communicate(timeout=PATIENCE_S)[0]
    assert one.returncode == 0
    assert said.startswith("exhausted ")
    assert "only" in said


@root_only
def test_programs_within_a_limit_share_a_private_shm() -> None:
    name = f"/dev/shm/{owned_name('shared')}"
    with Limits(shm_mb=2) as lab:
        run(lab.place, f"open({name!r}, 'wb').write(bytes(1000))")
        assert run(lab.place, f"print(len(open({name!r}, 'rb').read()))") == "1000\n"
        assert not Path(name).exists()
        full = f"""
import errno
try:
    open({name!r}, "wb").write(bytes(3_000_000))
except OSError as error:
    print(errno.errorcode[error.errno])
"""
        assert run(lab.place, full) == "ENOSPC\n"
    assert things_named(OWN) == []


# The reaper.


def test_a_registered_process_ends_with_its_session(own_reaper: Reaper) -> None:
    words = ["sh", "-c", "sleep 1000 & exec sleep 1000"]
    with subprocess.Popen(words, start_new_session=True) as shell:
        wait_until(lambda: len(list(kernel.in_session(shell.pid))) == 2, "the shell's child")
        one = own_reaper.register("process", f"{shell.pid}:{kernel.start_of(shell.pid)}")
        own_reaper.remove(one)
        assert shell.wait(PATIENCE_S) == -signal.SIGTERM
        assert not list(kernel.in_session(shell.pid))


def test_a_reused_pid_is_left_alone(own_reaper: Reaper) -> None:
    with subprocess.Popen(["sleep", "1000"], start_new_session=True) as other:
        start = kernel.start_of(other.pid)
        assert start is not None
        own_reaper.remove(own_reaper.register("process", f"{other.pid}:{start - 1}"))
        assert other.poll() is None
        other.kill()


def test_unregistered_resources_stay(tmp_path: Path) -> None:
    for name in ("mine", "yours"):
        (tmp_path / name).mkdir()
    reaper = Reaper()
    reaper.register("folder", str(tmp_path / "mine"))
    kept = reaper.register("folder", str(tmp_path / "yours"))
    reaper._registered.discard(kept)
    reaper._send("-", kept)
    reaper.close()
    assert not (tmp_path / "mine").exists()
    assert (tmp_path / "yours").exists()


def test_the_end_of_a_fork_removes_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    code = f"""
import os
from pathlib import Path
from hyphos.lab.reaper import Reaper
reaper = Reaper()
reaper.register("folder", {str(tmp_path / "mine")!r})
if os.fork() == 0:
    raise SystemExit
os.wait()
print(Path({str(tmp_path / "mine")!r}).exists())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert not (tmp_path / "mine").exists()


def test_a_program_does_not_start_after_its_reaper_closed() -> None:
    reaper = Reaper()
    words = limits.Place(reaper).command(["echo", "begun"])
    reaper.close()
    # Meanwhile another file may have the number of the pipe.
    with (Path(os.devnull)).open("wb"):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (127, "")
    assert "were removed" in done.stderr


def test_a_program_does_not_start_after_its_reaper_was_killed(own_reaper: Reaper) -> None:
    os.kill(own_reaper.pid, signal.SIGKILL)
    own_reaper._process.wait()
    words = limits.Place(own_reaper).command(["echo", "begun"])
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (127, "")


@root_only
def test_a_sweep_removes_only_leftovers_of_dead_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = f"hyphos-lab-{dead_process()}-x"
    # The second owner may run in another container, where its number is that of the dead one.
    elsewhere = dead.replace(f"-p{kernel.pid_namespace()}-", "-p1-")
    others = [owned_name("x"), elsewhere, "hyphos-lab-notes", "hyphos-lab-1-x", "somebody"]
    for place in ("namespaces", "folders", "groups", "temporary"):
        for name in (dead, *others):
            (tmp_path / place / name).mkdir(parents=True)
    monkeypatch.setattr(reaper, "NETNS", tmp_path / "namespaces")
    monkeypatch.setattr(reaper, "FOLDERS", tmp_path / "folders")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary" / f"{dead}-link").symlink_to(tmp_path / "folders" / others[0])
    # Files replace namespaces.
    (tmp_path / "namespaces" / dead).rmdir()
    (tmp_path / "namespaces" / dead).touch()
    found = sweep([tmp_path / "groups"])
    assert {resource.kind for resource in found} == {"namespace", "folder", "cgroup"}
    assert (tmp_path / "temporary" / f"{dead}-link").is_symlink()
    for place in ("namespaces", "folders", "groups", "temporary"):
        assert not (tmp_path / place / dead).exists()
        for name in others:
            assert (tmp_path / place / name).exists()


@root_only
def test_a_mounted_folder_is_not_emptied(own_reaper: Reaper) -> None:
    path = Path("/run") / owned_name("mounted")
    folder = own_reaper.register("folder", str(path))
    mounted = own_reaper.register("mount", str(path))
    path.mkdir()
    kernel.mount("tmpfs", str(path), "tmpfs")
    (path / "precious").touch()
    assert reaper._remove_folder(str(path)) is False
    assert (path / "precious").exists()
    own_reaper.remove(folder, mounted)
    assert not path.exists()


def new_namespace(reaper: Reaper, label: str) -> tuple[Resource, Path]:
    """A registered network namespace, and its file."""
    NETNS.mkdir(exist_ok=True)
    one = reaper.register("namespace", owned_name(label))
    kernel.pin_new_network(NETNS / one.value)
    return one, NETNS / one.value


@root_only
def test_a_namespace_is_removed_with_its_processes(own_reaper: Reaper) -> None:
    one, file = new_namespace(own_reaper, "lone")
    inside = limits.Place(own_reaper, network=file).start(["sleep", "1000"])
    network = kernel.network_at(file)
    wait_until(lambda: inside.pid in kernel.in_network(network), "it to be inside")
    own_reaper.remove(one)
    assert inside.wait(PATIENCE_S) == -signal.SIGTERM
    assert not file.exists()


@root_only
def test_a_program_that_enters_late_ends_with_its_namespace(
    own_reaper: Reaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, file = new_namespace(own_reaper, "late")
    network = kernel.network_at(file)
    place = limits.Place(own_reaper, network=file)
    started = []
    unmount = kernel.unmount

    def enter_then_unmount(target: str) -> None:
        # Between the last look for processes and the removal of the file.
        inside = place.start(["sh", "-c", "setsid -f sleep 1000"])
        assert inside.wait(PATIENCE_S) == 0
        wait_until(lambda: any(kernel.in_network(network)), "a session of its own")
        started.append(inside.pid)
        unmount(target)

    monkeypatch.setattr(kernel, "unmount", enter_then_unmount)
    own_reaper.remove(one)
    assert started
    assert not list(kernel.in_network(network))


@root_only
def test_no_program_enters_a_removed_namespace(
    own_reaper: Reaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, file = new_namespace(own_reaper, "gone")
    opened = os.open(file, os.O_RDONLY)
    own_reaper.remove(one)
    monkeypatch.setattr(os, "open", lambda *_: os.dup(opened))
    failed: list[OSError] = []

    def enter() -> None:  # in a thread, which alone changes its namespace
        try:
            kernel.enter_network(str(file))
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    os.close(opened)
    assert "removed meanwhile" in str(failed[0])


@root_only
def test_no_new_namespace_gets_the_number_of_a_removed_one(
    own_reaper: Reaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, file = new_namespace(own_reaper, "old")
    old = kernel.network_at(file)
    found: list[tuple[int, int] | None] = []

    def look(_network: tuple[int, int] | None) -> Iterator[int]:
        if not file.exists():  # the look for processes after the removal
            made = [new_namespace(own_reaper, f"new{number}") for number in range(30)]
            found.extend(kernel.network_at(path) for _, path in made)
        return iter(())

    with monkeypatch.context() as patch:
        patch.setattr(kernel, "in_network", look)
        own_reaper.remove(one)
    assert len(found) == 30
    # The reaper would end the processes of another test in it.
    assert old not in found
