"""client.py echo KIND ADDRESS NAME RATE_HZ: publishes numbers on /NAME/ping and receives them on
/NAME/pong, one at a time, until it is ended. After the first number, none may be missing or
duplicated. Prints one line per second: the number of replies, and the longest wait in milliseconds.

client.py storm KIND ADDRESS: publishes 100 KB messages on /storm as fast as possible and receives
/beat, until it is killed.
"""

from __future__ import annotations

import itertools
import queue
import sys
import threading
import time

from links import KINDS, PATIENCE_S, Link

SIZES = (10, 1_000, 100, 60_000, 20, 7_000)


def hearing(link: Link) -> queue.Queue[str]:
    """A queue of received texts. Its thread ends the program when the link ends."""
    heard: queue.Queue[str] = queue.Queue()

    def run() -> None:
        while True:
            heard.put(link.hear())

    threading.Thread(target=run, daemon=True).start()
    return heard


def echo(link: Link, rate_hz: float) -> None:
    heard = hearing(link)
    met = 0  # numbers up to this one were sent before the robot was connected
    count, worst_s, told = 0, 0.0, time.monotonic()
    for number in itertools.count(1):
        text = f"{number} " + "x" * SIZES[number % len(SIZES)]
        begun = time.monotonic()
        link.say(text)
        while True:
            try:
                answer = heard.get(timeout=PATIENCE_S if count else 0.3)
            except queue.Empty:
                if count:
                    raise SystemExit(f"{text[:20]}… did not come back: a stall") from None
                met = number
                break
            if answer == text:
                count += 1
                worst_s = max(worst_s, time.monotonic() - begun)
                break
            if int(answer.split(" ")[0]) > met:
                raise SystemExit(f"after {text[:20]}… came {answer[:20]}…")
        now = time.monotonic()
        if count and now - told >= 1:
            print(f"{count} {worst_s * 1000:.1f}", flush=True)
            told = now
        time.sleep(max(0.0, begun + 1 / rate_hz - now))


def storm(link: Link) -> None:
    hearing(link)
    offer = getattr(link, "offer", None)
    if offer is not None:
        offer("/theirs")
    text = "x" * 100_000
    while True:
        link.say(text)


def main() -> None:
    role, kind, address, *rest = sys.argv[1:]
    if role == "echo":
        name, rate_hz = rest
        echo(KINDS[kind](address, f"/{name}/ping", f"/{name}/pong"), float(rate_hz))
    storm(KINDS[kind](address, "/storm", "/beat"))


if __name__ == "__main__":
    main()
