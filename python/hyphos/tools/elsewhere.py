"""Runs a command that observes a robot on another machine, by ssh."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence

from hyphos._errors import Error
from hyphos.observe import look

_HOST = re.compile(r"[A-Za-z0-9_.@:%\[\]-]+")  # user@host, a name of ssh's configuration, or IPv6


def run_there(host: str, words: Sequence[str]) -> int:
    """Runs `hyphos WORDS` on that machine, and returns its exit code. 255: ssh failed."""
    if _HOST.fullmatch(host) is None or host.startswith("-"):
        raise Error("invalid_config", f"--ssh {host}: this is not USER@HOST")
    ssh = shutil.which("ssh")
    if ssh is None:
        raise Error(
            "unsupported", "--ssh needs ssh, which is not installed", advice="apt install ssh"
        )
    done = subprocess.run([ssh, host, shlex.join(["hyphos", *words])], check=False)
    return done.returncode


def peers_text(domain: str) -> str:
    """ "; peers on other machines: brain at tcp://10.0.0.2:5555", or ""."""
    peers = sorted(
        {
            f"{peer.process} at {peer.endpoint}"
            for process in look(domain).processes
            for peer in process.peer_clocks
        }
    )
    return f"; peers on other machines: {', '.join(peers[:8])}" if peers else ""
