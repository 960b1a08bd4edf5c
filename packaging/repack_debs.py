"""Writes Debian packages of CPack again, so that the same content gives the same bits.

repack_debs.py OUT DEB...: CPack stores the time of the build. This program sets all times to
SOURCE_DATE_EPOCH, sorts the files and writes each package to OUT. It also removes the scripts of
CPack that call ldconfig.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def repack(package: Path, out: Path, epoch: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hyphos-repack-") as place:
        tree = Path(place) / "tree"
        subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
        tree.chmod(0o755)
        if (tree / "DEBIAN/triggers").exists():
            _drop_ldconfig(tree / "DEBIAN")
        sums = tree / "DEBIAN/md5sums"
        sums.write_text("".join(sorted(sums.read_text().splitlines(keepends=True), key=_name)))
        for path in [tree, *tree.rglob("*")]:
            os.utime(path, (epoch, epoch), follow_symlinks=False)
        # dpkg-deb sorts the files. One thread, because more threads give other bits.
        words = [
            "--root-owner-group",
            "-Zxz",
            "--threads-max=1",
            "--build",
            str(tree),
            str(out / package.name),
        ]
        subprocess.run(
            ["dpkg-deb", *words],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
        )


def _drop_ldconfig(control: Path) -> None:
    """Removes the scripts that CPack adds for ldconfig. The file `triggers` replaces them."""
    for name in ("postinst", "postrm"):
        script = control / name
        if script.exists() and "ldconfig" in script.read_text():
            script.unlink()


def _name(line: str) -> str:
    return line.split("  ", maxsplit=1)[1]


def main() -> None:
    out, *packages = map(Path, sys.argv[1:])
    for package in packages:
        repack(package, out, int(os.environ["SOURCE_DATE_EPOCH"]))


if __name__ == "__main__":
    main()
