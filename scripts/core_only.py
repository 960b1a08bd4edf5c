#!/usr/bin/env python3
"""Proves that the core needs no package of another part.

core_only.py configure FOLDER: configures the core while CMake and pkg-config cannot find the other
packages. The recorder and the gateways must fail to configure there. Takes seconds.

core_only.py check [JOBS]: builds, tests and installs the core in a root file system of its own. It
holds the installed packages of [core] and [test] in packages.txt, what they depend on, and nothing
else.
Needs root rights and a system with dpkg, but no network. Takes as long as a build of the core.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
# What find_package must not find, and the parts that look for it.
HIDDEN = ("Boost", "OpenSSL", "ZLIB", "fastcdr", "fastrtps", "CycloneDDS", "Python", "nanobind")
PARTS = {"RECORD": "libzstd", "GATEWAY": "Boost"}
# Directories that a root file system needs and that no package fills.
EMPTY = ("dev", "proc", "sys", "run", "tmp", "root/.cache/ccache", "var/tmp")
SYSTEM_FILES = ("passwd", "group", "hosts", "nsswitch.conf", "ld.so.conf", "ld.so.conf.d")
UNUSED = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/info/")


def output(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def configure(folder: Path) -> None:
    """Configures the core and expects the other parts to fail."""
    shutil.rmtree(folder, ignore_errors=True)
    pkgconfig = folder / "pkgconfig"
    pkgconfig.mkdir(parents=True)
    _link_pkgconfig("libzmq", pkgconfig)
    environment = {**os.environ, "PKG_CONFIG_LIBDIR": str(pkgconfig), "PKG_CONFIG_PATH": ""}

    def cmake(*options: str) -> subprocess.CompletedProcess[str]:
        words = ["cmake", "--preset", "core", "-B", str(folder / "build"), *options]
        words += [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in HIDDEN]
        return subprocess.run(
            words, cwd=SOURCE, env=environment, capture_output=True, text=True, check=False
        )

    done = cmake()
    if done.returncode != 0:
        sys.exit(f"the core does not configure alone:\n{done.stdout}{done.stderr}")
    for part, package in PARTS.items():
        done = cmake(f"-DHYPHOS_BUILD_{part}=ON")
        cmake(f"-DHYPHOS_BUILD_{part}=OFF")
        if done.returncode == 0 or package not in done.stdout + done.stderr:
            sys.exit(f"{package} is not hidden from {part}:\n{done.stdout}{done.stderr}")
    done = cmake("-DHYPHOS_BUILD_COSIM=ON")
    if "HYPHOS_BUILD_COSIM=ON needs HYPHOS_BUILD_RECORD=ON" not in done.stderr:
        sys.exit(f"no error names the part that is off:\n{done.stdout}{done.stderr}")
    print("the core configures alone, and no other part does")


def _link_pkgconfig(name: str, folder: Path) -> None:
    """Links the file of a module and of every module that it requires."""
    file = folder / f"{name}.pc"
    if file.is_symlink():
        return
    file.symlink_to(Path(output("pkg-config", "--variable=pcfiledir", name).strip(), file.name))
    for option in ("--print-requires", "--print-requires-private"):
        for line in output("pkg-config", option, name).splitlines():
            _link_pkgconfig(line.split()[0], folder)


def section(name: str) -> list[str]:
    """The installed packages of a section of packages.txt."""
    text = (SOURCE / "packages.txt").read_text()
    found = re.search(rf"^\[{name}\]\n(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        sys.exit(f"packages.txt has no section [{name}]")
    lines = [line.split("#")[0].strip() for line in found[1].splitlines()]
    return [word for line in lines for word in re.split(r"[ |]+", line) if word not in ("", "-")]


class Packages:
    """The installed packages of this machine."""

    def __init__(self) -> None:
        form = "${binary:Package}\t${Essential}\t${Provides}\t${Pre-Depends}, ${Depends}\n"
        self._needs: dict[str, str] = {}
        self._providers: dict[str, str] = {}
        self.essential: list[str] = []
        for line in output("dpkg-query", "-W", "-f", form).splitlines():
            full, essential, provides, needs = line.split("\t")
            name = full.split(":")[0]
            self._needs[name] = needs
            for virtual in _names(provides):
                self._providers.setdefault(virtual, name)
            if essential == "yes":
                self.essential.append(name)

    def closure(self, wanted: list[str], without: set[str]) -> list[str]:
        """These packages and what they depend on."""
        found: dict[str, None] = {}
        open_ones = list(wanted)
        while open_ones:
            name = open_ones.pop()
            if name in found or name in without:
                continue
            if name not in self._needs:
                sys.exit(f"{name} is not installed: scripts/setup core")
            found[name] = None
            for group in self._needs[name].split(","):
                choices = [self._installed(choice) for choice in _names(group.replace("|", ","))]
                open_ones += [choice for choice in choices if choice][:1]
        return list(found)

    def _installed(self, name: str) -> str | None:
        return name if name in self._needs else self._providers.get(name)


def _names(text: str) -> Iterator[str]:
    for part in text.split(","):
        words = re.split(r"[ :(]", part.strip())
        if words[0]:
            yield words[0]


def files_of(packages: list[str]) -> set[str]:
    """The files of these packages, at their real places, and the links that lead to them."""
    found = set()
    for line in output("dpkg-query", "-L", *packages).splitlines():
        path = Path(line)
        if not path.is_absolute() or line.startswith(UNUSED):
            continue
        if path.is_symlink() or path.is_file():
            found.add(str(path.parent.resolve() / path.name))
    for record in Path("/var/lib/dpkg/alternatives").iterdir():
        link = Path(record.read_text().splitlines()[1])
        if link.is_symlink() and str(link.resolve()) in found:
            found |= {str(link.parent.resolve() / link.name), f"/etc/alternatives/{record.name}"}
    return found


def make_root(root: Path) -> None:
    """Fills a root file system with the core's packages."""
    core = section("core") + section("test")
    others = {name for part in ("record", "gateway", "python", "lab") for name in section(part)}
    packages = Packages()
    chosen = packages.closure([*packages.essential, *core], others - set(core))
    shutil.rmtree(root, ignore_errors=True)
    for name in EMPTY:
        (root / name).mkdir(parents=True)
    for link in Path("/").iterdir():
        if link.is_symlink():  # /bin and /lib of a merged /usr
            (root / link.name).symlink_to(link.readlink())
    listed = "\0".join(sorted(files_of(chosen)))
    listed += "".join(f"\0/etc/{name}" for name in SYSTEM_FILES if Path("/etc", name).exists())
    pack = ["tar", "-cf", "-", "-C", "/", "--null", "--verbatim-files-from", "-T", "-", "-P"]
    with subprocess.Popen(pack, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as packing:
        assert packing.stdin is not None
        unpack = ["tar", "-xf", "-", "-C", str(root), "--keep-directory-symlink"]
        with subprocess.Popen(unpack, stdin=packing.stdout, stderr=subprocess.DEVNULL) as unpacking:
            packing.stdin.write(listed.encode())
            packing.stdin.close()
        if unpacking.returncode or packing.wait():
            sys.exit("the root file system could not be filled")
    print(f"a root of {len(chosen)} packages, without {', '.join(sorted(others - set(core)))}")


# Runs in a mount and process namespace: $1 is the root, $2 the source folder, $3 the cache.
INSIDE = """
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
mkdir -p "$1$2"
mount --bind "$2" "$1$2"
if [ -d "$3" ]; then mount --bind "$3" "$1/root/.cache/ccache"; fi
root=$1
export CCACHE_BASEDIR=$2
shift 3
exec chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
  CCACHE_BASEDIR="$CCACHE_BASEDIR" PATH=/usr/bin:/usr/sbin:/bin:/sbin /bin/sh -euc "$@"
"""
STEPS = """
cd "$1"
ldconfig
for pair in RECORD:libzstd GATEWAY:Boost; do
  part=${pair%:*} package=${pair#*:}
  if cmake --preset core -B /tmp/$part -DHYPHOS_BUILD_$part=ON >/tmp/log 2>&1 ||
    ! grep -iE "$package.*not found|not find.*$package" /tmp/log; then
    cat /tmp/log
    echo "error: $part does not miss $package in a root without it" >&2
    exit 1
  fi
done
cmake --preset core -B build/core-check
cmake --build build/core-check -j "$2"
ctest --test-dir build/core-check -j "$2" --output-on-failure --no-tests=error
cmake --install build/core-check --prefix /tmp/hyphos --component devel
ls /tmp/hyphos/lib* /tmp/hyphos/include
"""


def check(jobs: str) -> int:
    """Builds, tests and installs the core in a root that has only its packages."""
    root = SOURCE / "build/core-root"
    shutil.rmtree(SOURCE / "build/core-check", ignore_errors=True)
    make_root(root)
    cache = os.environ.get("CCACHE_DIR", str(Path.home() / ".cache/ccache"))
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", INSIDE, "sh"]
    words += [str(root), str(SOURCE), cache, STEPS, "sh", str(SOURCE), jobs]
    code = subprocess.run(words, check=False).returncode
    if code == 0:
        shutil.rmtree(root)
    return code


def main() -> int:
    match sys.argv[1:]:
        case ["configure", folder]:
            configure(Path(folder).resolve())
            return 0
        case ["check"]:
            return check(str(os.cpu_count() or 1))
        case ["check", jobs]:
            return check(jobs)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
