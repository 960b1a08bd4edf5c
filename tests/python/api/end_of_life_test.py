"""The rules of docs/reference/end_of_life.md, in generated orders.

Each case is a program that carries out steps, compares the results with a model, and ends in one of
several ways. The end and the exit code of the program are part of the rule.
"""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from helpers import PATIENCE_S

PRELUDE = '''
import atexit, multiprocessing, os, random, signal, sys, threading, time
import hyphos
from hyphos.msgs import String

DOMAIN = sys.argv[1]


def wait_until(condition, what):
    end = time.monotonic() + 50
    while not condition():
        assert time.monotonic() < end, f"timed out waiting for {what}"
        time.sleep(0.002)


def fails(action, *words):
    try:
        action()
    except hyphos.Error as error:
        assert error.code == "disconnected", error.code
        assert all(word in str(error) for word in words), str(error)
        return True
    return False


def spins(thread=threading.main_thread()):
    """The thread waits in spin(), which is the only poll() here."""
    with open(f"/proc/self/task/{thread.native_id}/syscall") as now:
        return now.read().split()[0] in ("7", "73", "271")
'''

MACHINE = (
    PRELUDE
    + '''
class Robot:
    """One node with its endpoints, and a listener in another participant of the machine."""

    def __init__(self):
        self.far = hyphos.Node.open("far", domain=DOMAIN, process="far")
        self.heard = []
        self.far.subscribe("out", String, lambda m: self.heard.append(m.data))
        self.sent = 0
        self.open()

    def open(self):
        self.closed = False  # the node
        self.ended = False  # its runtime
        self.mute = False  # the publisher, or the node before its runtime ended
        self.node = hyphos.Node.open("n", domain=DOMAIN)
        self.publisher = self.node.publisher("out", String)
        self.ticks = 0
        self.node.every(self.tick, period_ms=5)
        self.inbox = []
        self.node.subscribe("in", String, lambda m: self.inbox.append(m.data))
        wait_until(lambda: self.publisher.listeners == 1, "the listener")

    def tick(self):
        self.ticks += 1

    # --- steps --------------------------------------------------------------------------------

    def publish(self):
        message = String(data=str(self.sent))
        if self.mute:
            assert fails(lambda: self.publisher.publish(message), "has been closed")
        elif self.ended:
            self.publisher.publish(message)
        else:
            assert self.publisher.publish(message)
            wait_until(lambda: str(self.sent) in self.heard, "what was published")
        self.sent += 1

    def use(self):
        uses = [
            lambda: self.node.publisher("other", String),
            lambda: self.node.subscribe("other", String, print),
            lambda: self.node.every(print, period_ms=1000),
            lambda: self.node.service("ask", String, String, lambda q: q),
            lambda: self.node.client("ask", String, String),
            lambda: self.node.transforms(),
            lambda: self.node.params().declare("late", 1.0),
            lambda: self.node.remote_params("other"),
            lambda: self.node.on_clock_jump(print),
        ]
        for use in uses:
            if self.closed or self.ended:
                assert fails(use), "a use of what is closed fails"
        if not (self.closed or self.ended):
            subscription = self.node.subscribe(f"other{self.sent}", String, print)
            subscription.close()
            subscription.close()

    def close_publisher(self):
        self.publisher.close()
        self.publisher.close()
        self.mute = True

    def was_closed(self):
        self.closed = True
        self.mute |= not self.ended

    def close(self):
        self.node.close()
        self.was_closed()

    def close_by_threads(self):
        threads = [threading.Thread(target=self.node.close) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.was_closed()

    def close_in_callback(self):
        if self.closed or self.ended:
            return
        done = threading.Event()

        def close():
            self.node.close()
            done.set()

        self.node.every(close, period_ms=1)
        assert done.wait(50)
        self.was_closed()

    def spin(self, end, *, ends_runtime=True):
        """`end` ends spin() from another thread."""
        if self.closed or self.ended:
            assert self.node.spin() == 0  # at once
            return
        def later():
            wait_until(spins, "spin()")
            end()
        thread = threading.Thread(target=later)
        thread.start()
        assert self.node.spin() == 0
        thread.join()
        self.ended |= ends_runtime

    def spin_until_stopped(self):
        self.spin(self.node.runtime.request_stop)

    def spin_until_sigint(self):
        self.spin(lambda: os.kill(os.getpid(), signal.SIGINT))

    def spin_until_sigterm(self):
        self.spin(lambda: os.kill(os.getpid(), signal.SIGTERM))

    def spin_until_closed(self):
        was_open = not self.closed and not self.ended
        self.spin(self.node.close, ends_runtime=False)
        if was_open:
            self.was_closed()

    def spin_with_own_handler(self):
        calls = []
        number = random.choice([signal.SIGINT, signal.SIGTERM])

        def handle(signum, frame):
            calls.append(signum)
            if len(calls) == 2:
                self.node.runtime.request_stop()

        before = signal.signal(number, handle)

        def end():
            for count in (1, 2):
                os.kill(os.getpid(), number)
                wait_until(lambda: len(calls) >= count, "the handler")

        was_open = not self.closed and not self.ended
        self.spin(end)
        assert calls == ([number] * 2 if was_open else [])
        assert signal.signal(number, before) is handle, "it is there again"

    def spin_until_handler_raises(self):
        class Enough(Exception):
            pass

        def handle(signum, frame):
            raise Enough

        before = signal.signal(signal.SIGINT, handle)
        if not self.closed and not self.ended:
            def send():
                wait_until(spins, "spin()")
                os.kill(os.getpid(), signal.SIGINT)

            thread = threading.Thread(target=send)
            thread.start()
            try:
                self.node.spin()
                raise AssertionError("the exception leaves spin()")
            except Enough:
                pass
            thread.join()
            assert not self.node.runtime.stopping
        signal.signal(signal.SIGINT, before)

    def spin_in_thread(self):
        if self.closed or self.ended:
            return
        thread = threading.Thread(target=self.node.spin)
        thread.start()
        wait_until(lambda: spins(thread), "spin()")
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(50)
            raise AssertionError("Ctrl-C is the main thread's")
        except KeyboardInterrupt:
            pass
        assert thread.is_alive()
        self.node.close()
        thread.join()
        self.was_closed()

    def fork(self):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                self.in_child()
                code = 0
            finally:
                sys.stderr.flush()
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    def in_child(self):
        uses = [
            lambda: self.node.publisher("other", String),
            lambda: self.node.subscribe("other", String, print),
            lambda: self.node.runtime,
            lambda: self.node.spin(),
            lambda: self.far.publisher("other", String),
        ]
        uses.append(lambda: self.publisher.publish(String(data="child")))
        for use in uses:
            assert fails(use, "fork()")
        self.node.close()
        self.publisher.close()
        own = []
        with hyphos.Node.open("child", domain=DOMAIN, process="child") as node:
            node.subscribe("own", String, lambda m: own.append(m.data))
            assert node.publisher("own", String).publish(String(data="mine"))
            wait_until(lambda: own == ["mine"], "the child's own message")

    def fork_and_exit(self):
        """The child ends as a program does, with its atexit handlers."""
        child = os.fork()
        if child == 0:
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7

    def multiprocess(self):
        context = multiprocessing.get_context("fork")
        child = context.Process(target=self.in_child)
        child.start()
        child.join()
        assert child.exitcode == 0

    def open_again(self):
        if not self.closed:
            self.node.close()
        del self.node, self.publisher
        self.open()


random.seed(int(sys.argv[2]))
robot = Robot()
for step in sys.argv[4].split(","):
    print("step", step, flush=True)
    getattr(robot, step)()
print("done", flush=True)
way = sys.argv[3]
if way == "close":
    robot.node.close()
    robot.far.close()
elif way == "exit":
    sys.exit(3)
elif way == "error":
    raise RuntimeError("on purpose")
elif way == "spinning":
    thread = threading.Thread(target=robot.far.spin, daemon=True)
    thread.start()
    wait_until(lambda: spins(thread), "spin()")
elif way == "atexit":
    late = robot.far.publisher("late", String)
    atexit.register(lambda: late.publish(String(data="bye")) and print("bye", flush=True))
elif way == "busy":
    robot.far.every(lambda: None, period_ms=1)
    robot.far.every(lambda: 1 / 0, period_ms=1)
'''
)
STEPS = [
    "publish",
    "use",
    "close_publisher",
    "close",
    "close_by_threads",
    "close_in_callback",
    "spin_until_stopped",
    "spin_until_sigint",
    "spin_until_sigterm",
    "spin_until_closed",
    "spin_with_own_handler",
    "spin_until_handler_raises",
    "spin_in_thread",
    "fork",
    "fork_and_exit",
    "multiprocess",
    "open_again",
]
WAYS = {"nothing": 0, "close": 0, "exit": 3, "error": 1, "spinning": 0, "atexit": 0, "busy": 0}


def _run(source: str, *words: str) -> tuple[int, str, str]:
    ended = subprocess.run(
        [sys.executable, "-c", source, *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


def _sequences(count: int) -> list[list[str]]:
    """Each step comes first at least once. Others follow in a random order, and the node is used
    again.
    """
    chosen = random.Random(14)
    return [
        [STEPS[number % len(STEPS)], *chosen.choices(STEPS, k=4), "open_again", "publish", "fork"]
        for number in range(count)
    ]


@pytest.mark.parametrize(("number", "steps"), list(enumerate(_sequences(21))))
def test_steps_in_any_order_keep_to_the_rules(number: int, steps: list[str], domain: str) -> None:
    way = list(WAYS)[number % len(WAYS)]
    code, out, errors = _run(MACHINE, domain, str(number), way, ",".join(steps))
    assert "done" in out, f"{steps}: {out}{errors}"
    assert code == WAYS[way], f"{steps}, {way}: {out}{errors}"
    assert ("bye" in out) == (way == "atexit")


def test_a_program_that_closes_and_then_spins_ends(domain: str) -> None:
    source = (
        "import sys, hyphos\n"
        "node = hyphos.Node.open('n', ['n', '--hyphos-domain', sys.argv[1]])\n"
        "node.close()\n"
        "print('spin', node.spin(), flush=True)\n"
    )
    assert _run(source, domain) == (0, "spin 0\n", "")


def test_a_closed_runtime_does_not_spin(domain: str) -> None:
    source = (
        "import sys, hyphos\n"
        "with hyphos.Runtime.open(domain=sys.argv[1]) as runtime:\n"
        "    with runtime.node('n') as node: pass\n"
        "print(runtime.spin(), node.spin(), flush=True)\n"
    )
    assert _run(source, domain) == (0, "0 0\n", "")


@pytest.mark.parametrize("place", ["before_open", "after_open"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_handler_may_end_the_program(place: str, name: str, domain: str) -> None:
    install = f"signal.signal(signal.{name}, lambda *_: sys.exit(5))\n"
    opening = "node = hyphos.Node.open('n', domain=DOMAIN)\n"
    first, second = (install, opening) if place == "before_open" else (opening, install)
    source = PRELUDE + first + second
    source += (
        "def send():\n"
        "    wait_until(spins, 'spin()')\n"
        f"    os.kill(os.getpid(), signal.{name})\n"
        "threading.Thread(target=send).start()\n"
        "node.spin()\n"
        "print('not here')\n"
    )
    assert _run(source, domain)[:2] == (5, "")


def test_an_ignored_signal_stays_ignored(domain: str) -> None:
    source = PRELUDE + (
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "node = hyphos.Node.open('n', domain=DOMAIN)\n"
        "def send():\n"
        "    wait_until(spins, 'spin()')\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    assert not node.runtime.stopping\n"
        "    print('still here', flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "threading.Thread(target=send).start()\n"
        "print(node.spin())\n"
    )
    assert _run(source, domain) == (0, "still here\n0\n", "")


def test_a_signal_kills_only_the_child_of_a_callback(domain: str) -> None:
    source = PRELUDE + (
        "node = hyphos.Node.open('n', domain=DOMAIN)\n"
        "def work():\n"
        "    wait_until(spins, 'spin()')\n"
        "    child = multiprocessing.get_context('fork').Process(target=time.sleep, args=(600,))\n"
        "    child.start()\n"
        "    child.terminate()\n"
        "    child.join()\n"
        "    print(child.exitcode, node.runtime.stopping, flush=True)\n"
        "    node.runtime.request_stop()\n"
        "threading.Thread(target=work).start()\n"
        "print(node.spin())\n"
    )
    assert _run(source, domain)[:2] == (0, "-15 False\n0\n")
