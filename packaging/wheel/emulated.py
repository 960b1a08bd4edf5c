"""Runs wheels with an old glibc, and those of another processor under qemu."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import roots
import sysroot

DOWNLOADS = roots.CACHE / "downloads"
# Programs of a wheel that need most of its libraries.
PROGRAMS = ("hyphos-host", "lab/programs/hyphos-lab-graph", "gateway/programs/hyphos-gateway")
# Python of Debian 12 with the libraries of the modules that the demo imports.
PYTHON = (
    "coreutils", "dash", "libacl1", "libattr1", "libbz2-1.0", "libc6", "libcrypt1", "libexpat1",
    "libffi8", "libgcc-s1", "libgmp10", "liblzma5", "libpcre2-8-0", "libpython3.11-minimal",
    "libpython3.11-stdlib", "libselinux1", "libsqlite3-0", "libssl3", "libstdc++6", "libtinfo6",
    "libuuid1", "media-types", "python3.11", "python3.11-minimal", "zlib1g",
)  # fmt: skip

# $1 is qemu, $2 the root, $3 the folder of Python packages. The kernel keeps the registration of
# qemu in the user namespace, so that of the machine does not change.
INSIDE = r"""
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":arm64:M::$magic:$mask:$1:F" >/proc/sys/fs/binfmt_misc/register
mount --rbind /dev "$2/dev"
mount -t proc proc "$2/proc"
mount -t tmpfs -o mode=1777 tmpfs "$2/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$2/tmp"
mount --bind "$3" "$2/site"
root=$2
shift 3
exec chroot "$root" /usr/bin/env -i HOME=/tmp TERM=dumb LANG=C.UTF-8 PYTHONPATH=/site \
  PATH=/site/bin:/usr/bin:/bin "$@"
"""


def qemu() -> Path:
    """qemu for aarch64, from the package of Debian. Nothing is installed."""
    folder = roots.CACHE / "qemu"
    program = folder / "usr/bin/qemu-aarch64-static"
    if not program.exists():
        packages = sysroot.fetch(DOWNLOADS, "bookworm", "x86_64", ("qemu-user-static",))
        sysroot.unpack(packages, folder)
    return program


def _old_system(arch: str) -> Path:
    folder = roots.CACHE / f"old-{arch}"
    if not folder.exists():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        names = ("libc6", "libgcc-s1", "libstdc++6")
        sysroot.unpack(sysroot.fetch(DOWNLOADS, sysroot.SUITE, arch, names), part)
        part.rename(folder)
    return folder


def starts_with_old_glibc(wheel: Path, arch: str) -> int:
    """Starts programs of the wheel with the oldest glibc. Returns the number of those that fail."""
    system = _old_system(arch)
    triplet = f"{arch}-linux-gnu"
    folders = [system / "lib" / triplet, system / "usr/lib" / triplet]
    if arch == platform.machine():
        [loader] = folders[0].glob("ld-2.*.so")
        start = [str(loader), "--library-path", ":".join(map(str, folders))]
    else:
        start = [str(qemu()), "-L", str(system)]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        zipfile.ZipFile(wheel).extractall(name)
        for program in PROGRAMS:
            words = [*start, str(Path(name) / "hyphos" / program), "--help"]
            # All functions are looked up at the start, also those that --help does not call.
            done = subprocess.run(
                words, capture_output=True, text=True, check=False, env={"LD_BIND_NOW": "1"}
            )
            if done.returncode != 0 or "usage" not in done.stdout.lower():
                failed += 1
                print(
                    f"{wheel.name}: {program} fails with the old glibc:\n{done.stdout}{done.stderr}"
                )
    if not failed:
        print(f"{wheel.name}: {len(PROGRAMS)} programs start with glibc 2.{sysroot.GLIBC[1]}")
    return failed


def _system(arch: str) -> Path:
    """Python of Debian 12, unpacked and not installed."""
    folder = roots.CACHE / f"python-{arch}"
    if not folder.exists():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        sysroot.unpack(sysroot.fetch(DOWNLOADS, "bookworm", arch, PYTHON), part)
        for name in ("dev", "proc", "site", "tmp"):
            (part / name).mkdir(exist_ok=True)
        part.rename(folder)
    return folder


def runs_emulated(folder: Path, arch: str, *words: str) -> int:
    """Installs the wheel that pip chooses for `arch`, and runs a command with it under qemu."""
    base = roots.make("debian12", ("python3", "python3-venv"), "python3 -m venv /venv")
    with tempfile.TemporaryDirectory() as name:
        pip = [
            "/venv/bin/pip",
            "install",
            "--quiet",
            "--target",
            "/site",
            "--find-links",
            "/wheels",
        ]
        pip += ["--python-version", "3.11", "--implementation", "cp", "--only-binary", ":all:"]
        pip += ["--abi", "cp311", "--abi", "abi3", "--abi", "none"]
        for minor in (31, 28, 17):
            pip += ["--platform", f"manylinux_2_{minor}_{arch}"]
        mounts = {Path("/wheels"): folder, Path("/site"): Path(name)}
        if roots.run(base, *pip, "--platform", f"manylinux2014_{arch}", "hyphos", mounts=mounts):
            print(f"pip finds no wheel for {arch}", file=sys.stderr)
            return 1
        command = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork"]
        command += ["--kill-child", "--mount-proc", "sh", "-euc", INSIDE, "sh", str(qemu())]
        command += [str(_system(arch)), name, *words]
        return subprocess.run(command, check=False).returncode
