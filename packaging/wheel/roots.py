"""Root file systems of distributions, made once by debootstrap and kept below /var/cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

CACHE = Path("/var/cache/hyphos-wheels")
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
SUITES = {"debian12": "bookworm", "debian13": "trixie", "ubuntu2404": "noble"}
APT = "DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0"

# $1 is the root and $2 whether changes last, before the mounts and `--`, before the command.
# All mounts are in a private namespace, so they disappear when it ends.
INSIDE = """
root=$1 lasting=$2
shift 2
if [ "$lasting" = no ]; then
  mount -t tmpfs tmpfs /mnt
  mkdir /mnt/upper /mnt/work /mnt/root
  mount -t overlay overlay -o "lowerdir=$root,upperdir=/mnt/upper,workdir=/mnt/work" /mnt/root
  root=/mnt/root
fi
while [ "$1" != -- ]; do
  mkdir -p "$root$2"
  mount --bind "$1" "$root$2"
  shift 2
done
shift
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
exec chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
"""


def run(
    root: Path,
    *words: object,
    mounts: Mapping[Path, Path] | None = None,
    environment: Mapping[str, str] | None = None,
    lasting: bool = False,
) -> int:
    """Runs a command in a root. `mounts` maps places in the root to folders of this machine.

    Unless `lasting`, the command works on a layer of its own, and the root does not change.
    """
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", INSIDE, "sh"]
    command += [str(root), "yes" if lasting else "no"]
    for place, folder in (mounts or {}).items():
        command += [str(folder), str(place)]
    command += ["--", *(f"{name}={value}" for name, value in (environment or {}).items())]
    return subprocess.run([*command, *map(str, words)], check=False).returncode


def make(distribution: str, packages: Sequence[str], setup: str = "true") -> Path:
    """The root of a distribution with these packages, after the shell command `setup`."""
    key = hashlib.sha256(" ".join([*packages, setup]).encode()).hexdigest()[:12]
    root = CACHE / "roots" / f"{distribution}-{key}"
    if root.exists():
        return root
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        sys.exit("wheels are built as root, with debootstrap: scripts/setup wheels")
    part = root.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    pristine = _pristine(distribution)
    subprocess.run(["tar", "-xf", str(pristine), "-C", str(part)], check=True)
    part.chmod(0o755)
    (part / "etc/dpkg/dpkg.cfg.d/root").write_text("force-unsafe-io\n")  # an fsync for each file
    _let_pip_trust(part)
    lists = part / "etc/apt/sources.list"
    if SUITES[distribution] in ("bookworm", "trixie"):
        lists.write_text(_debian_sources(SUITES[distribution]))
    install = f"{APT} update && {APT} install -y --no-install-recommends {' '.join(packages)}"
    code = run(part, "sh", "-euc", f"{install} >/dev/null\n{setup}", lasting=True)
    if code != 0:
        sys.exit(f"the packages of {part} could not be installed")
    part.rename(root)
    return root


def _debian_sources(suite: str) -> str:
    mirror = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
    places = [
        (mirror, suite),
        (mirror, f"{suite}-updates"),
        (f"{mirror}-security", f"{suite}-security"),
    ]
    return "".join(
        f"{kind} {place} {name} main\n" for place, name in places for kind in ("deb", "deb-src")
    )


def _pristine(distribution: str) -> Path:
    """The archive of the bare root, which scripts/fresh_machine uses as well."""
    archive = Path("/var/cache/hyphos-fresh") / f"{distribution}.tar"
    if archive.exists():
        return archive
    suite = SUITES[distribution]
    archive.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix="hyphos-root-"))
    words = ["debootstrap", "--variant=minbase"]
    if distribution.startswith("ubuntu"):
        # debootstrap on Debian lacks Ubuntu's script and usually its keys.
        mirror = os.environ.get("UBUNTU_MIRROR")
        if mirror is None:
            sys.exit(
                f"a root of {distribution} needs UBUNTU_MIRROR, the address of an Ubuntu archive"
            )
        if not Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg").exists():
            words.append("--no-check-gpg")
        words += ["--components=main,universe", suite, str(made), mirror]
        words.append("/usr/share/debootstrap/scripts/gutsy")
    else:
        words += ["--components=main", suite, str(made)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    part = archive.with_suffix(".part")
    subprocess.run(["tar", "-cf", str(part), "-C", str(made), "."], check=True)
    part.rename(archive)
    shutil.rmtree(made)
    return archive


def _let_pip_trust(root: Path) -> None:
    """A machine behind a proxy with a certificate of its own needs it inside as well."""
    for name in ("resolv.conf",):
        shutil.copy(Path("/etc") / name, root / "etc" / name)
    certificates = Path(os.environ.get("PIP_CERT", CERTIFICATES))
    if certificates.exists():
        place = root / "etc/ssl/certs"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(certificates, place / "host.crt")
        (root / "etc/pip.conf").write_text("[global]\ncert = /etc/ssl/certs/host.crt\n")
