"""The sysroot of a wheel: the glibc of an old Debian, for the compiler of a newer one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

# The oldest glibc with pthread_cond_clockwait, so timers follow the monotonic clock.
SUITE = "bullseye"
GLIBC = (2, 31)
PACKAGES = ("libc6", "libc6-dev", "libstdc++6", "libgcc-s1", "linux-libc-dev", "libcrypt-dev")
DEBIAN_ARCH = {"x86_64": "amd64", "aarch64": "arm64"}


def fetch(folder: Path, suite: str, arch: str, packages: tuple[str, ...]) -> list[Path]:
    """Downloads packages of any suite and processor. apt checks the signatures."""
    place = folder / f"{suite}-{arch}"
    for name in ("state/lists/partial", "cache/archives/partial"):
        (place / name).mkdir(parents=True, exist_ok=True)
    (place / "status").touch()
    mirror = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
    lines = [f"deb {mirror} {suite} main", f"deb {mirror}-security {suite}-security main"]
    (place / "sources.list").write_text("\n".join(lines) + "\n")
    options = {
        "Dir::State": place / "state", "Dir::State::status": place / "status",
        "Dir::Cache": place / "cache", "Dir::Etc::sourcelist": place / "sources.list",
        "Dir::Etc::sourceparts": "-", "APT::Architecture": DEBIAN_ARCH[arch],
        "APT::Architectures": DEBIAN_ARCH[arch], "APT::Sandbox::User": "root",
    }  # fmt: skip
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    missing = [name for name in packages if not list(place.glob(f"{name}_*.deb"))]
    if missing:
        subprocess.run([*apt, "update"], check=True)
        subprocess.run([*apt, "download", *missing], check=True, cwd=place)
    return [next(place.glob(f"{name}_*.deb")) for name in packages]


def unpack(packages: list[Path], root: Path) -> None:
    for package in packages:
        subprocess.run(["dpkg", "-x", str(package), str(root)], check=True)


def make(arch: str, work: Path, downloads: Path) -> None:
    """Fills work/sysroot, and work/link with the scripts that choose the C++ library.

    The old libstdc++.so comes first, so the result needs only its symbols. The static library of
    the compiler follows. It supplies the functions that are newer than the old library.
    """
    root = work / "sysroot"
    if (root / "complete").exists():
        return
    shutil.rmtree(root, ignore_errors=True)
    unpack(fetch(downloads, SUITE, arch, PACKAGES), root)
    for path in root.rglob("*"):
        if path.is_symlink() and str(path.readlink()).startswith("/"):
            inside = root / str(path.readlink())[1:]
            path.unlink()
            path.symlink_to(os.path.relpath(inside, path.parent))
    triplet = f"{arch}-linux-gnu"
    words = [f"{triplet}-g++-12", "-print-file-name=libstdc++.a"]
    static = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
    link = work / "link"
    link.mkdir(exist_ok=True)
    shared = root / f"usr/lib/{triplet}/libstdc++.so.6"
    (link / "libstdc++.so").write_text(f"INPUT ( {shared} {Path(static).resolve()} )\n")
    [unwinder] = [path for path in root.rglob("libgcc_s.so.1") if path.is_file()]
    (link / "libgcc_s.so").write_text(f"GROUP ( {unwinder} -lgcc )\n")
    (root / "complete").touch()
