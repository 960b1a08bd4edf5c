"""Node, Publisher and Runtime: the C++ API in Python."""

from __future__ import annotations

import atexit
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np

from hyphos import _hyphos
from hyphos._closing import Closing
from hyphos._errors import Error
from hyphos._hyphos import ClockJump, MessageInfo, Policy, Published, Subscription, Timer
from hyphos.action import (
    Action,
    ActionClient,
    ActionCodecs,
    GoalHandle,
    accept_with,
    execute_with,
)
from hyphos.clock import Clock
from hyphos.log import Log
from hyphos.params import Params, RemoteParams
from hyphos.service import Client, Service, serve
from hyphos.types import Attached, AttachedCodec, Bytes, Codec, Raw, Struct, codec_for

if TYPE_CHECKING:
    from hyphos.transforms import Transforms

T = TypeVar("T")
Plain = TypeVar("Plain", bool, int, float, str)

# Callbacks must have ended before the interpreter does.
atexit.register(_hyphos.close_all)


class Publisher(Closing, Generic[T]):
    """The sending end of a channel. Thread-safe.

    publish() blocks only if the channel's overflow rule is `block`; it and every copy of a large
    payload run without the GIL. It raises `hyphos.Error` once the publisher or its node is closed,
    and in a forked child.
    """

    def __init__(self, core: _hyphos.Publisher, codec: Codec) -> None:
        self._core = core
        self._codec = codec
        self._attached = isinstance(codec, AttachedCodec)

    @overload
    def publish(self, value: T) -> Published: ...
    @overload
    def publish(self, value: object, *buffers: object) -> Published: ...
    def publish(self, value: Any, *buffers: object) -> Published:
        """Sends one value. For `Attached` channels also `publish(head, buffer, ...)`.

        The result is false if a promise of the channel was broken, and says why.
        """
        if self._attached and not isinstance(value, Attached):
            value = Attached(value, buffers)
        elif buffers:
            raise TypeError(f"channel '{self.channel}' has no attached buffers: one value only")
        payload, parts = self._codec.encode(value)
        return self._core.publish(payload, parts)

    def loan(self, size: int) -> Bytes:
        """`size` writable bytes where receivers will read them, as a NumPy array.

        Fill it (or a reshaped or retyped view of it) and publish it: no copy is made. Do not write
        to it afterwards. Dropping it gives the memory back. Not initialised.
        """
        if size == 0:
            return np.zeros(0, np.uint8)
        return np.frombuffer(memoryview(self._core.loan(size)), np.uint8)

    def has_room(self, size: int = 0) -> bool:
        """Whether publish() of a message of `size` bytes, encoded, would go through at once: it
        neither waits, if the channel's overflow rule is `block`, nor makes a full queue drop. Until
        then only publishers of the channel in this process can take the room.
        """
        return self._core.has_room(size)

    @property
    def listeners(self) -> int:
        """Subscriptions in this process plus receivers outside."""
        return self._core.listeners

    @property
    def channel(self) -> str:
        return self._core.channel

    def close(self) -> None:
        self._core.close()


class Node(Closing):
    """A named part of the program: its publishers, subscriptions and timers. Thread-safe.

    A node lives as long as it is kept; its subscriptions and timers end with it. Functions that set
    the node up raise `hyphos.Error`. Callbacks run on the process's thread pool; an exception that
    leaves one is logged with its traceback and counted as `callback_error`.
    """

    def __init__(self, core: _hyphos.Node) -> None:
        self._core = core
        self._log = Log(core)

    @classmethod
    def open(
        cls,
        name: str,
        argv: Sequence[str] | None = None,
        *,
        plan: str = "",
        process: str = "",
        overrides: Sequence[str] = (),
        domain: str = "",
        threads: int = 0,
        offline: bool = False,
        clock: str = "",
    ) -> Self:
        """A process with one node.

        With `argv` it takes the `--hyphos-...` arguments that `hyphos run` passes; the other
        options are for programs that decide themselves. Without either it talks to all others of
        this machine through shared memory. `clock` is "real" or "sim"; empty: as the plan says.
        """
        if argv is not None:
            return cls(_hyphos.Node.open(name, list(argv)))
        runtime = Runtime.open(
            plan=plan,
            process=process,
            overrides=overrides,
            domain=domain,
            threads=threads,
            offline=offline,
            clock=clock,
        )
        return cls(runtime._core.node(name))

    @overload
    def publisher(
        self,
        channel: str,
        type: type[Attached[T]],
        *,
        local: bool = False,
        policy: Policy | None = None,
    ) -> Publisher[Attached[T]]: ...
    @overload
    def publisher(
        self, channel: str, type: type[T], *, local: bool = False, policy: Policy | None = None
    ) -> Publisher[T]: ...
    @overload
    def publisher(
        self, channel: str, type: Struct | Raw, *, local: bool = False, policy: Policy | None = None
    ) -> Publisher[Any]: ...
    def publisher(
        self, channel: str, type: Any, *, local: bool = False, policy: Policy | None = None
    ) -> Publisher[Any]:
        """The sending end of `channel`. `policy` holds if the plan does not name the channel;
        `local` keeps messages inside this process."""
        codec = codec_for(type)
        return Publisher(self._core.publisher(channel, codec.id, local, policy), codec)

    def subscribe(
        self,
        channel: str,
        type: Any,
        callback: Callable[..., object],
        mode: str = "serial",
        *,
        local: bool = False,
        policy: Policy | None = None,
    ) -> Subscription:
        """Calls `callback(value)`, or `callback(value, info)` if it takes two arguments, for every
        message. `mode` is "serial", "concurrent" or "inline". `info` is a MessageInfo."""
        codec = codec_for(type)
        decode = codec.decode
        if _takes_info(callback):

            def deliver(payload: Any, buffers: Any, info: MessageInfo) -> None:
                callback(decode(payload, buffers), info)
        else:

            def deliver(payload: Any, buffers: Any, info: MessageInfo) -> None:  # noqa: ARG001
                callback(decode(payload, buffers))

        return self._core.subscribe(channel, codec.id, deliver, mode, local, policy)

    def service(
        self,
        name: str,
        request: Any,
        reply: Any,
        callback: Callable[..., Any],
        mode: str = "serial",
        *,
        local: bool = False,
        depth: int = 256,
        max_pending: int = 256,
    ) -> Service:
        """Answers requests: `callback(request)` returns the reply, or `callback(request,
        responder)` answers through the responder, now or later. Either may be `async def`, and then
        runs on the event loop that runs now. An exception becomes the client's error; a
        `hyphos.Error` keeps its code and message."""
        ask, answer = codec_for(request), codec_for(reply)
        handler = serve(name, ask, answer, callback)
        return Service(
            self._core.service(name, ask.id, answer.id, handler, mode, local, depth, max_pending)
        )

    def client(
        self,
        name: str,
        request: Any,
        reply: Any,
        *,
        local: bool = False,
        max_pending: int = 64,
    ) -> Client[Any, Any]:
        """The asking end of a service. There need not be a server yet."""
        ask, answer = codec_for(request), codec_for(reply)
        core = self._core.client(name, ask.id, None, answer.id, None, local, max_pending)
        return Client(core, ask, answer)

    def action(
        self,
        name: str,
        goal: Any,
        feedback: Any,
        result: Any,
        callback: Callable[[GoalHandle[Any, Any, Any]], Any],
        policy: str = "queue",
        *,
        accept: Callable[[Any], object] | None = None,
        local: bool = False,
        depth: int = 16,
        cancel_if_unwatched: bool = True,
    ) -> Action:
        """Carries out goals: `callback(goal)` runs on the pool (or, if it is `async def`, on the
        event loop that runs now) and ends the goal through its handle, or returns the result of
        success. `policy` is "queue", "preempt", "reject" or "parallel". `accept(goal)` rejects by
        raising or by returning False."""
        codecs = ActionCodecs(codec_for(goal), codec_for(feedback), codec_for(result))
        ask = accept_with(name, codecs.goal, accept) if accept is not None else None
        return Action(
            self._core.action(
                name,
                codecs.goal.id,
                codecs.feedback.id,
                codecs.result.id,
                execute_with(name, codecs, callback),
                ask,
                policy,
                local,
                depth,
                cancel_if_unwatched,
            )
        )

    def action_client(
        self,
        name: str,
        goal: Any,
        feedback: Any,
        result: Any,
        *,
        local: bool = False,
        max_pending: int = 64,
    ) -> ActionClient[Any, Any, Any]:
        """The asking end of an action. There need not be a server yet."""
        codecs = ActionCodecs(codec_for(goal), codec_for(feedback), codec_for(result))
        core = self._core.client(
            name, codecs.goal.id, codecs.feedback.id, codecs.result.id, None, local, max_pending
        )
        return ActionClient(core, codecs)

    def every(
        self,
        callback: Callable[[], object],
        *,
        period_ms: float | None = None,
        rate_hz: float | None = None,
    ) -> Timer:
        """Calls `callback` every `period_ms`, or `rate_hz` times a second, of `clock`, one call at
        a time; the grid does not drift. In real time a call that comes late is skipped and counted
        (`skipped` of the timer); in simulated time every instant is called for, and a jump begins a
        new grid."""
        if (period_ms is None) == (rate_hz is None):
            raise TypeError("every() takes either period_ms or rate_hz")
        seconds = period_ms / 1e3 if period_ms is not None else 1.0 / (rate_hz or 0.0)
        if not seconds > 0:
            raise ValueError("every(): the period must be positive")
        return self._core.every(round(seconds * 1e9), callback)

    @property
    def log(self) -> Log:
        """Lines for people, on stderr and on the channel `log`: `node.log.info("...")`."""
        return self._log

    @property
    def clock(self) -> Clock:
        """The time: real, simulated or replayed, as the plan says."""
        return Clock(self._core.clock)

    def on_clock_jump(self, callback: Callable[[ClockJump], object]) -> Timer:
        """Calls `callback(jump)` when the clock has been set instead of running on: the moment to
        forget what was derived from earlier times. `jump` has `before_ns`, `after_ns` and
        `delta_ns`."""
        return self._core.on_clock_jump(callback)

    def params(self) -> Params:
        """The parameters of this node: declared, checked, changeable, and seen by everybody."""
        return Params(self._core.params())

    def remote_params(self, node: str) -> RemoteParams:
        """Those of another node, in any process, to read, watch and set."""
        return RemoteParams(self._core.remote_params(node))

    def transforms(
        self,
        prefix: str = "",
        *,
        history_ms: float = 10_000,
        max_samples: int = 16_384,
        max_frames: int = 4_096,
        clock_jump_ms: float = 1_000,
    ) -> Transforms:
        """The robot's coordinate frames. One tree per process and prefix: the options of the first
        call hold. It begins to listen, so make it at start.

        `prefix` "robot1" means the channels `robot1/tf` and `robot1/tf_static`. `history_ms` and
        `max_samples` bound what is kept of each frame. Stamps of one sender that go back by more
        than `clock_jump_ms` clear the history (0: never).
        """
        from hyphos.transforms import Transforms  # noqa: PLC0415

        for option, value, least in (
            ("history_ms", history_ms, 1e-3),
            ("max_samples", max_samples, 1),
            ("max_frames", max_frames, 1),
            ("clock_jump_ms", clock_jump_ms, 0),
        ):
            if not least <= value <= 1e12:
                raise Error(
                    "invalid_config", f"transforms(): {option} is {value}; give {least:g} or more"
                )
        return Transforms(
            _hyphos.open_transforms(
                self._core,
                prefix,
                round(history_ms * 1e6),
                max_samples,
                max_frames,
                round(clock_jump_ms * 1e6),
            )
        )

    def param(self, name: str, fallback: Plain) -> Plain:
        """A parameter that is read now and then does not change: declares it read-only, unless it
        is declared, and gives its value. `fallback` is its default and gives the type."""
        if isinstance(fallback, bool):
            return self._core.param_bool(name, fallback)
        if isinstance(fallback, int):
            if not -(1 << 63) <= fallback < 1 << 63:
                raise Error(
                    "invalid_config",
                    f"parameter '{name}': its default {fallback} does not fit into 64 bits",
                    advice="a float holds it",
                )
            return self._core.param_int(name, fallback)
        if isinstance(fallback, float):
            return self._core.param_float(name, fallback)
        if isinstance(fallback, str):
            return self._core.param_str(name, fallback)
        raise Error(
            "invalid_config",
            f"parameter '{name}': its default is {fallback!r} ({type(fallback).__name__}), but "
            "param() takes a bool, int, float or str",
            advice="give a default of its type; node.params().declare() also takes lists and type=",
        )

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def runtime(self) -> Runtime:
        return Runtime(self._core.runtime)

    def spin(self) -> int:
        """Waits for Ctrl-C, SIGTERM, `runtime.request_stop()` or `close()`, with the GIL released.
        Returns the exit code; at once if the node is closed.

        A handler that you have installed with `signal.signal` is called, and spin() goes on, unless
        the handler raises, stops the runtime or closes the node. In another thread than the main
        thread, signals do not end it. See docs/python.md, "End of life"."""
        sys.stdout.flush()
        return self._core.spin()

    def close(self) -> None:
        """Ends all publishers, subscriptions and timers; on return no callback is running."""
        self._core.close()


class Runtime(Closing):
    """Everything of one process: the graph, its thread pool and its transports."""

    def __init__(self, core: _hyphos.Runtime) -> None:
        self._core = core

    @classmethod
    def open(
        cls,
        argv: Sequence[str] | None = None,
        *,
        plan: str = "",
        process: str = "",
        overrides: Sequence[str] = (),
        domain: str = "",
        threads: int = 0,
        offline: bool = False,
        lockstep: bool = False,
        lockstep_nodes: Sequence[str] = (),
        clock: str = "",
    ) -> Self:
        """See Node.open(). `lockstep`: all nodes of the plan (or those named) are of this process,
        it is offline, and callbacks run one at a time in the order in which they became due: the
        same inputs in the same order give the same outputs, whatever the number of threads."""
        if argv is not None:
            return cls(_hyphos.Runtime.open(list(argv)))
        return cls(
            _hyphos.Runtime.open_with(
                plan,
                process or "main",
                list(overrides),
                domain,
                threads,
                offline,
                lockstep,
                list(lockstep_nodes),
                clock,
            )
        )

    def node(self, name: str) -> Node:
        """A node of this process. The name must be unique in the process."""
        return Node(self._core.node(name))

    def load_plugins(self) -> None:
        """Loads the C++ plug-ins that the plan names for this process."""
        self._core.load_plugins()

    def settle(self, work: Callable[[], object] | None = None) -> None:
        """Runs `work` on the thread pool, and waits until no callback of this process is queued or
        running. Not from a callback. An exception that leaves `work` is raised here, as
        RuntimeError."""
        self._core.settle(work)

    def channels(self) -> list[_hyphos.ChannelInfo]:
        """The channels that have been opened in this process."""
        return self._core.channels()

    def set_channel_open(self, channel: str, open: bool, *, peer: str | None = None) -> None:
        """Opens or closes a channel in this process, or only towards one peer endpoint."""
        self._core.set_channel_open(channel, open, peer)

    def endpoints(self) -> list[_hyphos.EndpointInfo]:
        """What the nodes of this process publish and subscribe now, with counters."""
        return self._core.endpoints()

    def ready(self) -> None:
        """Reports that all nodes of this process exist. spin() calls it; else the program must."""
        self._core.ready()

    def spin(self) -> int:
        """Node.spin() for the whole runtime: also returns at once if this handle is closed."""
        sys.stdout.flush()
        return self._core.spin()

    def request_stop(self) -> None:
        self._core.request_stop()

    @property
    def stopping(self) -> bool:
        return self._core.stopping

    @property
    def process(self) -> str:
        return self._core.process

    @property
    def domain(self) -> str:
        return self._core.domain

    def close(self) -> None:
        """Drops this handle; the runtime ends when its last node and publisher are gone."""
        self._core.close()


def _takes_info(callback: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(callback).parameters.values()
    except (TypeError, ValueError):  # some built-in functions tell nothing
        return False
    needed = [
        p
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    return len(needed) == 2
