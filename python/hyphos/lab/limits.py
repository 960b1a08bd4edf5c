"""Limits parts of a machine: CPU time by a cgroup, and the size of /dev/shm.

A quota caps *capacity*: the processes may run for a share of each period, and then wait for the
next period. It does not slow the clock: a short piece of work takes as long as without a quota.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from hyphos._errors import Error
from hyphos.lab import kernel
from hyphos.lab.reaper import FOLDERS, Reaper, Resource, owned_name, python_words
from hyphos.lab.standing import Standing

_LEAST_QUOTA_US = 1000  # the kernel's minimum


def need_root(what: str) -> None:
    if os.geteuid() != 0:
        raise Error("permission", f"{what} needs root", advice="run it with sudo")


def need_namespaces(what: str) -> None:
    need_root(what)
    try:
        kernel.try_namespaces()
    except OSError as error:
        raise Error(
            "permission",
            f"{what} cannot be created here: {error.strerror}",
            advice="in a container: --privileged",
        ) from error


# The cgroups of the CPU controller.


@dataclass(frozen=True)
class CpuController:
    """`folder` may contain new groups. `version` determines the names of their files."""

    version: int
    root: Path
    folder: Path
    own: Path  # the group of this process

    @staticmethod
    def find(proc: Path = Path("/proc/self")) -> CpuController:
        """Raises Error if this machine has no usable CPU controller."""
        mounts = [line.split() for line in (proc / "mountinfo").read_text().splitlines()]
        groups = [line.split(":", 2) for line in (proc / "cgroup").read_text().splitlines()]
        for fields in mounts:
            kind, options = fields[fields.index("-") + 1], fields[-1].split(",")
            if kind == "cgroup" and "cpu" in options:
                path = next(g[2] for g in groups if "cpu" in g[1].split(","))
                own = _below(Path(fields[4]), path)
                return CpuController(1, Path(fields[4]), own, own)
        for fields in mounts:
            root = Path(fields[4])
            if fields[fields.index("-") + 1] == "cgroup2" and _offers_cpu(root):
                own = _below(root, next(g[2] for g in groups if not g[1]))
                return CpuController(2, root, _delegating(root, own), own)
        raise Error(
            "unsupported",
            "no cgroup file system with the CPU controller is mounted",
            "/proc/self/mountinfo",
            advice="mount -t cgroup2 none /sys/fs/cgroup, in a container: --cgroupns=host "
            "-v /sys/fs/cgroup:/sys/fs/cgroup:rw",
        )


def _below(root: Path, path: str) -> Path:
    # In a container the path may be a path on the host, which is not visible.
    own = root / path.lstrip("/")
    return own if own.is_dir() else root


def _offers_cpu(group: Path) -> bool:
    try:
        return "cpu" in (group / "cgroup.controllers").read_text().split()
    except OSError:
        return False


def _delegating(root: Path, own: Path) -> Path:
    """The nearest group above this process whose children have the CPU controller. A group with
    processes cannot delegate a controller, except the root."""
    for group in (own, *own.parents):
        if "cpu" in (group / "cgroup.subtree_control").read_text().split():
            return group
        if group == root:
            break
    try:
        (root / "cgroup.subtree_control").write_text("+cpu")
    except OSError as error:
        raise Error(
            "permission",
            f"cannot delegate the CPU controller: {error.strerror}",
            str(root),
            advice=f"as root: echo +cpu > {root}/cgroup.subtree_control",
        ) from error
    return root


def _quota_of(group: Path) -> float | None:
    """The cores that a group may use. None: it sets no limit."""
    try:
        if (group / "cpu.max").exists():
            quota, period = (group / "cpu.max").read_text().split()
        else:
            quota = (group / "cpu.cfs_quota_us").read_text().strip()
            period = (group / "cpu.cfs_period_us").read_text()
    except OSError:
        return None
    return None if quota in ("max", "-1") else int(quota) / int(period)


def cores_available(pid: int = 0) -> float:
    """The number of cores that a process may use (0: this process): its affinity, or the smallest
    quota of its cgroup and of the groups around it."""
    cores = float(len(os.sched_getaffinity(pid)))
    try:
        controller = CpuController.find(Path("/proc", str(pid) if pid else "self"))
    except Error:
        return cores
    for group in (controller.own, *controller.own.parents):
        quota = _quota_of(group)
        cores = min(cores, quota) if quota is not None else cores
        if group == controller.root:
            break
    return cores


def cgroup_folders() -> list[Path]:
    """Folders in which dead programs may have left groups."""
    try:
        controller = CpuController.find()
    except Error:
        return []
    return [controller.folder]


@dataclass(frozen=True)
class Throttling:
    """Of a group since its creation: the periods in which it ran, the periods whose quota it used
    up, and the seconds that all its threads together waited for the next period."""

    periods: int
    throttled: int
    throttled_s: float


class CpuQuota:
    """A group of processes that together use at most `cores`. Does not bound real-time
    processes."""

    def __init__(self, reaper: Reaper, label: str, cores: float, period_ms: float) -> None:
        need_root("a CPU quota")
        period_us = round(period_ms * 1000)
        quota_us = round(cores * period_us)
        if quota_us < _LEAST_QUOTA_US or not 1 <= period_ms <= 1000:
            raise Error(
                "invalid_config",
                f"{cores} cores in periods of {period_ms} ms are {quota_us} µs, but the kernel "
                f"needs {_LEAST_QUOTA_US} µs or more, and periods of 1 to 1000 ms",
                "cores",
                advice="raise period_ms",
            )
        self._reaper = reaper
        controller = CpuController.find()
        self.path = controller.folder / owned_name(label)
        self.resource = reaper.register("cgroup", str(self.path))
        try:
            self.path.mkdir()
            if controller.version == 1:
                (self.path / "cpu.cfs_period_us").write_text(str(period_us))
                (self.path / "cpu.cfs_quota_us").write_text(str(quota_us))
            else:
                (self.path / "cpu.max").write_text(f"{quota_us} {period_us}")
        except OSError as error:
            reaper.remove(self.resource)
            raise Error(
                "permission",
                f"the CPU controller refused: {error.strerror}",
                str(self.path),
                advice="the quota of the group around it may be smaller, or the file system is "
                "mounted read-only",
            ) from error

    def throttling(self) -> Throttling:
        words = dict(line.split() for line in (self.path / "cpu.stat").read_text().splitlines())
        if "throttled_usec" in words:
            seconds = int(words["throttled_usec"]) * 1e-6
        else:
            seconds = int(words["throttled_time"]) * 1e-9
        return Throttling(int(words["nr_periods"]), int(words["nr_throttled"]), seconds)


class SmallShm:
    """A file system of a given size that replaces /dev/shm for the processes of a context. All of
    these processes share it."""

    def __init__(self, reaper: Reaper, label: str, megabytes: float) -> None:
        need_namespaces("a separate /dev/shm")
        if megabytes <= 0:
            raise Error("invalid_config", f"{megabytes} MB is not a valid size", "shm_mb")
        self.path = FOLDERS / owned_name(label)
        self.resources = (
            reaper.register("mount", str(self.path)),
            reaper.register("folder", str(self.path)),
        )
        self.path.mkdir()
        size = f"size={round(megabytes * 1e6)},mode=1777"
        kernel.mount("tmpfs", str(self.path), "tmpfs", data=size)


@dataclass(frozen=True)
class Place:
    """The context of a program: its limits and its network. Made by `Limits` and hosts."""

    reaper: Reaper
    cgroup: Path | None = None
    shm: Path | None = None
    network: Path | None = None

    def command(self, words: Sequence[str]) -> list[str]:
        """The words that run a program in this context, with all its children, from any caller. The
        program leads its own session, and ends at the latest with this program."""
        wrapped = [*python_words("hyphos.lab.within"), "--reaper", self.reaper.address]
        if self.cgroup:
            wrapped += ["--cgroup", str(self.cgroup)]
        if self.network:
            wrapped += ["--network", str(self.network)]
        if self.shm:
            wrapped += ["--shm", str(self.shm)]
        return [*wrapped, "--", *words]

    def start(self, words: Sequence[str], **how: Any) -> subprocess.Popen[Any]:
        """`how` are keyword arguments of subprocess.Popen."""
        return subprocess.Popen(self.command(words), **how)

    def within(self, other: Place) -> Place:
        """This context with the limits of the other one in addition."""
        return replace(
            self,
            cgroup=other.cgroup or self.cgroup,
            shm=other.shm or self.shm,
            network=self.network or other.network,
        )


class Limits(Standing):
    """Limits that all programs started within them share.

        with Limits(cores=0.5, shm_mb=64) as limits:
            limits.place.start(["my_program"])

    `cores` is the maximum that they use together, in periods of `period_ms`: a program that has
    used its share waits for the next period. `shm_mb` is the size of their /dev/shm, in 10^6 bytes.
    """

    def __init__(
        self,
        *,
        cores: float | None = None,
        shm_mb: float | None = None,
        period_ms: float = 20.0,
        label: str = "limits",
        reaper: Reaper | None = None,
    ) -> None:
        self._cores, self._shm_mb, self._period_ms = cores, shm_mb, period_ms
        self._label = label
        self._given = reaper
        self._reaper: Reaper | None = None
        self._resources: list[Resource] = []
        self.quota: CpuQuota | None = None
        self._place: Place | None = None

    @property
    def place(self) -> Place:
        """The context for programs. Valid between up() and down()."""
        if self._place is None:
            raise RuntimeError("call up() first, or use `with`")
        return self._place

    def up(self) -> Self:
        self._reaper = self._given or Reaper()
        try:
            self._make(self._reaper)
        except BaseException:
            self.down()
            raise
        return self

    def _make(self, reaper: Reaper) -> None:
        place = Place(reaper)
        if self._cores is not None:
            self.quota = CpuQuota(reaper, self._label, self._cores, self._period_ms)
            self._resources.append(self.quota.resource)
            place = replace(place, cgroup=self.quota.path)
        if self._shm_mb is not None:
            shm = SmallShm(reaper, f"{self._label}-shm", self._shm_mb)
            self._resources += shm.resources
            place = replace(place, shm=shm.path)
        self._place = place

    def down(self) -> None:
        """Ends all programs in the group, and removes it."""
        if self._reaper is None:
            return
        self._reaper.remove(*self._resources)
        self._resources.clear()
        self.quota = self._place = None
        if self._given is None:
            self._reaper.close()
        self._reaper = None
