"""Checks of the machine. Each check is a function that examines one thing and never raises."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import platform
import resource
import shutil
import socket
import stat
import struct
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from hyphos.tools.check import Check
from hyphos.tools.doctor_cosim import cosim_checks

MIB = 1024 * 1024
_SHM = Path("/dev/shm")
_GROUP = "239.255.72.89"
_SYS_FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221, "s390x": 238}
_FUTEX_WAKE = 1
_F_OFD_SETLK = 37
# Limits of shared memory, as in shm/layout.hpp. docs/reference/limits.md lists all limits.
MAX_ENDS = 8192
MAX_QUEUES = 8192
MAX_HOLDERS = 1024
MAX_RECEIVERS = 960
_NEAR = 0.8  # fraction of a limit that causes a warning
_FILES_OF_PROCESS = 20  # about, without the descriptors for other processes


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


def _shm_size() -> Check:
    name = "shared memory"
    try:
        usage = shutil.disk_usage(_SHM)
    except OSError as error:
        return Check(name, "FAIL", f"/dev/shm: {error.strerror}", "mount -t tmpfs tmpfs /dev/shm")
    text = f"/dev/shm has {usage.free / MIB:,.0f} of {usage.total / MIB:,.0f} MiB free"
    grow = "mount -o remount,size=2G /dev/shm (containers: --shm-size=2g)"
    if usage.free < 32 * MIB:
        return Check(name, "FAIL", text, f"hyphos shm clean, remove other files, or {grow}")
    if usage.free < 256 * MIB:
        return Check(name, "WARN", f"{text}: too little for many images and clouds", grow)
    return Check(name, "OK", text)


def _shm_rights() -> Check:
    name = "shared memory rights"
    if not os.access(_SHM, os.W_OK | os.X_OK):
        return Check(name, "FAIL", "/dev/shm is not writable", "chmod 1777 /dev/shm (as root)")
    own = _SHM / f"hyphos-{os.getuid()}"
    try:
        status = own.lstat()
    except FileNotFoundError:
        return Check(name, "OK", f"/dev/shm is writable; {own} is created at the first start")
    except OSError as error:
        return Check(name, "FAIL", f"{own}: {error.strerror}", f"ls -ld {own}")
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        return Check(
            name,
            "FAIL",
            f"{own} belongs to another user or is not a folder",
            f"rm -r {own} (as root)",
        )
    if status.st_mode & 0o077:
        return Check(name, "FAIL", f"{own} is accessible to other users", f"chmod 700 {own}")
    return Check(name, "OK", f"{own} is accessible to this user only")


def _leftovers() -> Check:
    name = "leftovers"
    from hyphos.tools.shm_tools import dead_participants  # noqa: PLC0415

    try:
        dead = dead_participants("")
    except RuntimeError as error:
        return Check(name, "WARN", f"cannot read shared memory: {error}", "hyphos shm list")
    if dead:
        return Check(
            name, "WARN", f"shared memory of {dead} dead process(es) remains", "hyphos shm clean"
        )
    return Check(name, "OK", "no remains of dead processes")


def _open_files() -> Check:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    text = f"{soft} open files (at most {hard})"
    if soft < 256:
        return Check("limit: open files", "FAIL", text, "ulimit -n 4096")
    if soft < 1024:
        return Check("limit: open files", "WARN", f"{text}: few for many peers", "ulimit -n 4096")
    return Check("limit: open files", "OK", text)


def _use(name: str, used: int, limit: int, of_what: str, remedy: str) -> Check:
    text = f"at most {used:,} of {limit:,} {of_what}"
    return Check(f"limit: {name}", "WARN" if used >= _NEAR * limit else "OK", text, remedy)


def _used_limits() -> Iterator[Check]:
    """The highest use of each shared-memory limit by a process, over all domains."""
    from hyphos import _hyphos  # noqa: PLC0415

    try:
        listing = _hyphos.shm_list("")
    except RuntimeError as error:
        yield Check(
            "limit: shared memory", "WARN", f"cannot read shared memory: {error}", "hyphos shm list"
        )
        return
    alive = [one for one in listing.participants if one.alive]
    domains = Counter(one.domain for one in alive)
    domain, processes = max(domains.items(), key=lambda one: one[1], default=("0", 0))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    reachable = max(0, (soft - _FILES_OF_PROCESS) // 2)
    yield _use(
        "processes of a domain",
        processes,
        reachable,
        f"processes in domain '{domain}' (this shell's limit of {soft:,} open files, two each)",
        "ulimit -n 4096, or use several domains",
    )
    yield _use(
        "receivers",
        max((one.holders for one in listing.segments), default=0),
        MAX_RECEIVERS,
        f"processes receive from one ({MAX_HOLDERS:,} with processes that relay messages)",
        "end receivers, or let another process relay the messages",
    )
    yield _use(
        "endpoints",
        max((one.ends for one in alive), default=0),
        MAX_ENDS,
        "endpoints of channels in one process",
        "set `scope: local` for channels inside the process, or split the process",
    )
    yield _use(
        "queues",
        max((one.queues for one in alive), default=0),
        MAX_QUEUES,
        "queues towards one process",
        "close subscriptions, or split the process",
    )
    pools = Counter[str]()
    for one in listing.segments:
        pools[one.participant] += one.bytes
    limit = min(listing.total_bytes // 4, 2 << 30)
    used = max(pools.values(), default=0)
    near = limit > 0 and used >= _NEAR * limit
    yield Check(
        "limit: pool",
        "WARN" if near else "OK",
        f"at most {used / MIB:,.0f} of {limit / MIB:,.0f} MiB of messages in one process, which is "
        "also the largest possible message",
        "make /dev/shm larger: a process may use a quarter of it, at most 2 GiB",
    )


def _locked_memory() -> Check:
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    text = "unlimited" if soft == resource.RLIM_INFINITY else f"{soft / MIB:,.1f} MiB"
    swaps = (_read("/proc/swaps") or "").splitlines()[1:]
    if swaps and soft != resource.RLIM_INFINITY:
        return Check(
            "limit: locked memory",
            "WARN",
            f"{text}, and the machine swaps: shared memory may be slow when memory is scarce",
            "swapoff -a on robots, or `ulimit -l unlimited`",
        )
    return Check("limit: locked memory", "OK", f"{text}, {'swap' if swaps else 'no swap'} in use")


def _multicast() -> Check:
    name = "multicast"
    try:
        interfaces = sorted(Path("/sys/class/net").iterdir())
    except OSError:
        interfaces = []
    able = []
    for interface in interfaces:
        flags = int(_read(f"{interface}/flags") or "0", 16)
        if flags & 0x1 and flags & 0x1000 and not flags & 0x8:  # up, multicast, not loopback
            able.append(interface.name)
    if not able:
        return Check(
            name,
            "WARN",
            "no active interface supports multicast: machines find each other by the plan only",
            "ip link set dev <interface> multicast on, or give endpoints in the plan",
        )
    try:
        heard = _hear_ourselves()
    except OSError as error:
        return Check(
            name,
            "WARN",
            f"{', '.join(able)} support multicast, but joining {_GROUP} failed: {error.strerror}",
            "ip route add 239.0.0.0/8 dev <interface>, or give endpoints in the plan",
        )
    if not heard:
        return Check(
            name,
            "WARN",
            f"{', '.join(able)} support multicast, but a test message did not arrive",
            "allow UDP to 239.255.0.0/16 in the firewall, or give endpoints in the plan",
        )
    return Check(name, "OK", f"works on this machine, interfaces: {', '.join(able)}")


def _hear_ourselves() -> bool:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        receiver.bind(("", 0))
        group = struct.pack("4s4s", socket.inet_aton(_GROUP), socket.inet_aton("0.0.0.0"))
        receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
        receiver.settimeout(0.3)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)  # stays on this machine
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
        token = os.urandom(16)
        sender.sendto(token, (_GROUP, receiver.getsockname()[1]))
        try:
            return receiver.recv(64) == token
        except TimeoutError:
            return False


def _socket_buffers() -> Iterator[Check]:
    for key, what in (("rmem_max", "receive"), ("wmem_max", "send")):
        name = f"socket buffer: {what}"
        value = _read(f"/proc/sys/net/core/{key}")
        if value is None:
            yield Check(name, "OK", "not visible here (network namespace)")
        elif int(value) < 2 * MIB:
            yield Check(
                name,
                "WARN",
                f"net.core.{key} is {int(value) // 1024} KiB: bursts of messages are lost",
                f"sysctl -w net.core.{key}=8388608",
            )
        else:
            yield Check(name, "OK", f"net.core.{key} is {int(value) // 1024} KiB")


def _governor() -> Check:
    base = Path("/sys/devices/system/cpu")
    found = {
        text
        for path in base.glob("cpu[0-9]*/cpufreq/scaling_governor")
        if (text := _read(str(path))) is not None
    }
    if not found:
        return Check("CPU governor", "OK", "no frequency control here (as in virtual machines)")
    if "powersave" in found and "intel_pstate" not in (
        _read(f"{base}/cpu0/cpufreq/scaling_driver") or ""
    ):
        return Check(
            "CPU governor",
            "WARN",
            "powersave: wake-ups are slow, and latencies several times longer",
            "cpupower frequency-set -g performance",
        )
    return Check("CPU governor", "OK", ", ".join(sorted(found)))


def _cores() -> Check:
    usable, present = len(os.sched_getaffinity(0)), os.cpu_count() or 1
    text = f"{usable} usable" + (f" of {present}" if present != usable else "")
    if usable < 2:
        return Check(
            "CPU cores",
            "WARN",
            f"{text}: callbacks of all processes share one core",
            "assign more cores",
        )
    return Check("CPU cores", "OK", text)


def _futex() -> Check:
    number = _SYS_FUTEX.get(platform.machine())
    if number is None:
        return Check("kernel: futex", "WARN", f"not checked on {platform.machine()}")
    word = ctypes.c_uint32(0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, ctypes.byref(word), _FUTEX_WAKE, 1, None, None, 0) < 0:
        reason = os.strerror(ctypes.get_errno())
        return Check(
            "kernel: futex", "FAIL", f"refused: {reason}", "allow futex in the seccomp profile"
        )
    return Check("kernel: futex", "OK", f"Linux {platform.release()}")


def _pidfd() -> Check:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError as error:
        return Check(
            "kernel: pidfd",
            "WARN",
            f"refused: {error.strerror}. Dead processes are detected by a timer",
            "use Linux 5.3 or newer, or allow pidfd_open in the seccomp profile",
        )
    return Check("kernel: pidfd", "OK", "the end of a process is detected at once")


def _file_locks() -> Check:
    name = "kernel: file locks"
    try:
        with tempfile.TemporaryFile(dir=_SHM) as file:
            fcntl.fcntl(file, _F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
    except OSError as error:
        return Check(
            name,
            "FAIL",
            f"OFD locks in /dev/shm: {error.strerror}",
            "use Linux 3.15 or newer, without gVisor",
        )
    return Check(name, "OK", "OFD locks work in /dev/shm")


def _clock() -> Check:
    source = _read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if source is None:
        return Check("clock source", "OK", "not visible here")
    if source in ("hpet", "acpi_pm", "jiffies", "refined-jiffies"):
        return Check(
            "clock source",
            "WARN",
            f"{source}: reading the clock costs a microsecond, seven times per message",
            "boot with clocksource=tsc if the CPU's TSC is stable",
        )
    return Check("clock source", "OK", source)


def _programs() -> Iterator[Check]:
    for program, why, package in (
        ("dot", "hyphos plan --svg", "graphviz"),
        ("ip", "plans with network namespaces", "iproute2"),
        ("protoc", "--proto-path", "protobuf-compiler"),
    ):
        if shutil.which(program):
            yield Check(f"program: {program}", "OK", f"for {why}")
        else:
            yield Check(
                f"program: {program}",
                "WARN",
                f"not found, but {why} needs it",
                f"apt install {package}",
            )


def all_checks() -> list[Check]:
    """Runs every check. Takes well under a second."""
    single: list[Callable[[], Check]] = [
        _shm_size,
        _shm_rights,
        _leftovers,
        _open_files,
        _locked_memory,
        _cores,
        _governor,
        _clock,
        _futex,
        _pidfd,
        _file_locks,
        _multicast,
    ]
    several = (*_used_limits(), *_socket_buffers(), *_programs(), *cosim_checks())
    return [check() for check in single] + list(several)


def examine(as_json: bool) -> int:
    """Prints all checks. Returns 1 if one failed."""
    checks = all_checks()
    failed = sum(check.status == "FAIL" for check in checks)
    if as_json:
        print(json.dumps([asdict(check) for check in checks], indent=2))
        return int(failed > 0)
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False, soft_wrap=True)
    colours = {"OK": "green", "WARN": "yellow", "FAIL": "bold red"}
    width = max(len(check.name) for check in checks)
    for check in checks:
        line = Text()
        line.append(f"{check.status:<4} ", colours[check.status])
        line.append(f"{check.name:<{width}}  {check.text}")
        console.print(line)
        if check.remedy and check.status != "OK":
            console.print(Text(f"     {'':<{width}}  → {check.remedy}", "dim"))
    warned = sum(check.status == "WARN" for check in checks)
    console.print(
        f"\n{len(checks) - failed - warned} ok, {warned} warnings, {failed} failed"
        if failed or warned
        else "\nall ok"
    )
    return int(failed > 0)
