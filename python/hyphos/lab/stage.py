"""The environment of runs: the links and limits of their cases."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from hyphos._closing import Closing
from hyphos._errors import Error
from hyphos.lab import slow
from hyphos.lab.case import GRAPH, Case
from hyphos.lab.domain import domains, sweep_domains
from hyphos.lab.limits import Limits, Place, cgroup_folders
from hyphos.lab.links import Host, Network, why_not
from hyphos.lab.media import Medium
from hyphos.lab.reaper import SHM, Reaper, Resource, owned_name, sweep, temporary_folder


class Stage(Closing):
    """Creates links and limits for the first case that needs them, and keeps them until the end.
    Registers everything with a reaper beforehand, so that any end of the program removes it."""

    def __init__(self, links: Mapping[str, Medium] | None = None) -> None:
        self._media = dict(links or {})
        self._reaper: Reaper | None = None
        self._links: dict[tuple[str, ...], Network] = {}
        self._limits: dict[tuple[float, float], Limits] = {}
        self._domains = domains()
        self._domain = ""
        self._schedules: dict[tuple[str, str], Path] = {}
        self._plans: dict[tuple[str, str, str], Path] = {}
        self._left: list[Resource] = []

    @property
    def domain(self) -> str:
        """The domain of the Hyphos processes of the last run. Empty before the first run."""
        return self._domain

    def why_not(self, case: Case) -> str:
        """The reason why this machine cannot run a case. Empty if it can."""
        if case.link and (missing := why_not(self._media[case.link])) is not None:
            return f"{missing} ({missing.advice})" if missing.advice else str(missing)
        if (case.cores or case.shm_mb) and os.geteuid() != 0:
            return "limits need root: run it with sudo"
        if case.clock < 1:
            return slow.why_not()
        return ""

    def command(self, case: Case, words: list[str]) -> list[str]:
        """The command of one run of a laboratory program. Call done() after the run."""
        reaper = self._reaper
        if reaper is None:
            sweep_all()
            reaper = self._reaper = Reaper()
        domain = next(self._domains)
        folder = SHM / owned_name(str(domain.run))
        self._left = [
            reaper.register("folder", str(folder)),
            reaper.register("folder", str(domain.folder)),
        ]
        self._domain = domain.name
        words = [*words, "--run-id", str(domain.run)]
        before = slow.words(case.clock) if case.clock < 1 else []
        if case.workload == GRAPH:
            words += self._graph(case, reaper)
            return self._place(case, reaper).command(before + words)
        words += ["--run-dir", str(folder)]
        if case.recording:
            words += ["--recorded", str(self._schedule(case, reaper))]
        if case.link:
            hosts = self._hosts(case.link, hosts_of(case), reaper).values()
            words += ["--hosts", ",".join(f"{one.namespace}={one.address}" for one in hosts)]
        return self._place(case, reaper).command(before + words)

    def done(self) -> None:
        """Removes leftovers of a run whose processes have ended."""
        if self._reaper is not None:
            self._reaper.remove(*self._left)
        self._left = []

    def _schedule(self, case: Case, reaper: Reaper) -> Path:
        """The messages of the case's recording. Not in /dev/shm, because a limit may hide it."""
        from hyphos.lab.recorded import of_case  # noqa: PLC0415

        key = (case.recording, case.channel)
        if key not in self._schedules:
            folder = temporary_folder(reaper, f"recorded-{len(self._schedules)}")
            self._schedules[key] = Path(folder.value, "schedule")
            of_case(case).write(self._schedules[key])
        return self._schedules[key]

    def _graph(self, case: Case, reaper: Reaper) -> list[str]:
        """The options for the plan of a graph, and for the namespaces of its hosts."""
        from hyphos.lab.mixed import of_case  # noqa: PLC0415

        mixed = of_case(case)
        hosts: dict[str, Host] = {}
        if case.link:
            hosts = self._hosts(case.link, tuple(mixed.graph.hosts), reaper)
        key = (case.plan, case.plan_id, case.link)
        if key not in self._plans:
            folder = temporary_folder(reaper, f"plan-{len(self._plans)}")
            self._plans[key] = Path(folder.value, "robot.yaml")
            self._plans[key].write_text(
                mixed.text({name: host.address for name, host in hosts.items()})
            )
        words = ["--plan", str(self._plans[key])]
        for name, host in hosts.items():
            words += ["--netns", f"{name}={host.namespace}"]
        return words

    def _hosts(self, link: str, names: tuple[str, ...], reaper: Reaper) -> dict[str, Host]:
        """The hosts of a link, created for the first case that needs this many."""
        if (link, *names) not in self._links:
            # Several networks may exist at the same time, and names in a plan may be any text.
            apart = f"{link}-{len(self._links)}"
            hosts = [f"{apart}-{number}" for number in range(len(names))]
            self._links[link, *names] = Network(self._media[link], hosts, reaper=reaper).up()
        network = self._links[link, *names]
        return dict(zip(names, network.hosts.values(), strict=True))

    def _place(self, case: Case, reaper: Reaper) -> Place:
        key = (case.cores, case.shm_mb)
        if key == (0.0, 0.0):
            return Place(reaper)
        if key not in self._limits:
            label = f"limits-{len(self._limits)}"
            self._limits[key] = Limits(
                cores=case.cores or None, shm_mb=case.shm_mb or None, label=label, reaper=reaper
            ).up()
        return self._limits[key].place

    def close(self) -> None:
        for link in self._links.values():
            link.down()
        for limits in self._limits.values():
            limits.down()
        for file in (*self._schedules.values(), *self._plans.values()):
            shutil.rmtree(file.parent, ignore_errors=True)
        self._schedules.clear()
        self._plans.clear()
        self._links.clear()
        self._limits.clear()
        if self._reaper is not None:
            self._reaper.close()
            self._reaper = None


def hosts_of(case: Case) -> tuple[str, ...]:
    """The names of the hosts of a case across a link, the near one first."""
    relay = ("relay",) if case.relay == "own" else ()
    if case.hosts == 1:
        return ("near", "far", *relay)
    return ("near", *(f"far{number}" for number in range(1, case.hosts + 1)), *relay)


def sweep_all() -> None:
    """Removes leftovers of programs that were killed together with their reaper."""
    sweep(cgroup_folders())
    sweep_domains()


def check(links: Mapping[str, Medium], cases: list[Case]) -> None:
    """Raises Error if a case needs an undefined link."""
    for case in cases:
        if case.link and case.link not in links:
            raise Error(
                "not_found",
                f"unknown link '{case.link}'",
                advice="define it in `links:`"
                + (f", which has {', '.join(links)}" if links else ""),
            )
