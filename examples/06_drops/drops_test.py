import os
import subprocess
from pathlib import Path

SLOW = Path(__file__).parents[2] / "build/release/examples/06_drops/drops_slow"


def test_sent_equals_received_plus_dropped() -> None:
    command = [str(SLOW), "--hyphos-domain", f"drops-{os.getpid()}"]
    heard = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert heard[:4] == ["received 1", "received 8", "received 9", "received 10"]
    assert sorted(heard[4:]) == ["drop.queue.overflow 6", "received 4", "sent 10"]
