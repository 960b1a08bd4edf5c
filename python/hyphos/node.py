"""Node and Runtime: the C++ API in Python."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from hyphos import _hyphos
from hyphos._closing import Closing
from hyphos._crash import report_crashes
from hyphos._errors import Error
from hyphos._hyphos import (
    CallbackGroup,
    ClockJump,
    Policy,
    Subscription,
    Synchronizer,
    Timer,
)
from hyphos.action import (
    Action,
    ActionClient,
    ActionCodecs,
    GoalHandle,
    accept_with,
    execute_with,
)
from hyphos.channel_places import ChannelPlaces
from hyphos.clock import Clock
from hyphos.delivery import delivery
from hyphos.groups import Groups
from hyphos.log import Log
from hyphos.params import Params, Plain, RemoteParams, fixed_param
from hyphos.publisher import Publisher
from hyphos.service import Client, Service, serve
from hyphos.shared_params import SharedParams
from hyphos.stamps import header_stamp, stamped
from hyphos.types import Attached, Codec, Raw, Struct, codec_for, definitions

if TYPE_CHECKING:
    from hyphos.node_view import View
    from hyphos.transforms import Transforms

T = TypeVar("T")

# Callbacks hold the GIL, so all of them must end before the interpreter does.
atexit.register(_hyphos.close_all)


class Node(Closing):
    """A named part of the program: its publishers, subscriptions and timers. Thread-safe.

    The node lives as long as the program keeps a reference. Its subscriptions and timers end with
    it. Functions that set the node up raise `hyphos.Error`. Callbacks run on the thread pool of the
    process. An exception that leaves a callback is logged with its traceback and counted as
    `callback_error`, and the node continues.
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
        plan_text: str = "",
        process: str = "",
        overrides: Sequence[str] = (),
        domain: str = "",
        threads: int = 0,
        offline: bool = False,
        clock: str = "",
    ) -> Self:
        """Opens a process with one node. Raises `hyphos.Error`.

        With `argv` the node takes the `--hyphos-...` arguments that `hyphos run` passes, and the
        other options have no effect. Programs that are started in another way set the options.
        `plan` is a file. `plan_text` is the text of a plan instead. Without `argv` and a plan the
        node communicates with all others of this machine through shared memory. `threads` 0 means
        the number in the plan, or one per core. `offline` opens no transport. `clock` is "real" or
        "sim". An empty `clock` means the clock of the plan.
        """
        if argv is not None:
            report_crashes(argv)
            return cls(_hyphos.Node.open(name, list(argv)))
        runtime = Runtime.open(
            plan=plan,
            plan_text=plan_text,
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
        """Returns a publisher of `channel`. Raises `hyphos.Error`.

        `policy` applies only if the plan does not name the channel. `local` keeps the messages
        inside this process.
        """
        codec = codec_for(type)
        self._announce(codec)
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
        group: CallbackGroup | None = None,
    ) -> Subscription:
        """Calls `callback(value)`, or `callback(value, info)`, for every message of `channel`.

        `info` is a MessageInfo and is passed to a callback with two required parameters. `mode`
        "serial" runs one call at a time, in order. "concurrent" runs several at a time on the
        thread pool: the calls start in order. "inline" runs the callback in the thread that
        publishes or receives the message, so the callback must be short and must not block.
        `policy` applies only if the plan does not name the channel. `local` receives only from this
        process. Of all subscriptions with one `group` (see callback_group()), at most one callback
        runs at a time. The node owns the subscription. Dropping the handle changes nothing. Raises
        `hyphos.Error`.
        """
        codec = codec_for(type)
        self._announce(codec)
        deliver = delivery(callback, codec)
        return self._core.subscribe(channel, codec.id, deliver, mode, local, policy, group)

    def callback_group(self) -> CallbackGroup:
        """Returns a new group for subscribe(), for subscriptions of this process.

        The subscriptions take turns, one message each, so they share a state without a lock. Their
        mode is "serial". A callback must not wait for another callback of its group.
        """
        return self._core.callback_group()

    def synchronize(
        self,
        channels: Mapping[str, Any] | Sequence[tuple[str, Any]],
        callback: Callable[..., object],
        *,
        rule: str = "approximate",
        queue: int = 10,
        max_interval_ms: float | None = None,
        age_penalty: float = 0.1,
        min_spacing_ms: Sequence[float] = (),
        stamp: Callable[[Any], int] | None = None,
        local: bool = False,
        policy: Policy | None = None,
    ) -> Synchronizer:
        """Calls `callback(a, b, ...)` with sets of messages that belong together by their stamps.

        `channels` are 2 to 9 pairs of name and type, such as `{"camera": Image, "scan":
        LaserScan}`. The callback gets one message of each, in this order, one call at a time.

        `rule` "exact" forms sets of equal stamps. "approximate" is the adaptive algorithm
        ApproximateTime of ROS's message_filters: it uses each message at most once and prefers
        small sets. `max_interval_ms` limits the interval of a set. `min_spacing_ms` bounds the time
        between two messages of each channel, so that sets are complete earlier. `queue` messages of
        each channel wait for partners. `stamp(message)` returns the stamp in nanoseconds. Without
        it, the stamp is the field `stamp_ns` of the message or of its `header`.

        Synchronizer.counts() counts every message without a set, by channel and reason. The node
        logs a warning if messages arrive and form no sets. Raises `hyphos.Error`.
        """
        pairs = list(channels.items() if isinstance(channels, Mapping) else channels)
        codecs = [codec_for(type) for _, type in pairs]
        return self._core.synchronize(
            [name for name, _ in pairs],
            [codec.id for codec in codecs],
            [stamped(codec, stamp or header_stamp) for codec in codecs],
            lambda values: callback(*values),
            rule,
            queue,
            -1 if max_interval_ms is None else round(max_interval_ms * 1e6),
            age_penalty,
            [round(spacing * 1e6) for spacing in min_spacing_ms],
            local,
            policy,
        )

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
        """Serves requests of the service `name`. Raises `hyphos.Error`.

        `callback(request)` returns the reply. `callback(request, responder)` replies through the
        responder, during the call or later. Either callback may be `async def`. It then runs on the
        event loop that is running now. An exception becomes the client's error, and a
        `hyphos.Error` keeps its code and message. `depth` bounds the requests that wait in the
        queue, and `max_pending` the requests without a reply.
        """
        ask, answer = codec_for(request), codec_for(reply)
        self._announce(ask, answer)
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
        """Returns a client of the service `name`. The server may start later.

        `max_pending` bounds the calls in flight. Raises `hyphos.Error`.
        """
        ask, answer = codec_for(request), codec_for(reply)
        self._announce(ask, answer)
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
        """Serves goals of the action `name`. Raises `hyphos.Error`.

        `callback(goal)` runs on the thread pool, or on the event loop that is running now if it is
        `async def`. It ends the goal through its handle, or returns the result of a success.
        `policy` is "queue", "preempt", "reject" or "parallel". `accept(goal)` rejects a goal by
        raising an exception or by returning False. `depth` bounds the goals that wait in the queue.
        With `cancel_if_unwatched` a goal is canceled when its client is gone.
        """
        codecs = ActionCodecs(codec_for(goal), codec_for(feedback), codec_for(result))
        self._announce(codecs.goal, codecs.feedback, codecs.result)
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
        """Returns a client of the action `name`. The server may start later.

        `max_pending` bounds the goals in flight. Raises `hyphos.Error`.
        """
        codecs = ActionCodecs(codec_for(goal), codec_for(feedback), codec_for(result))
        self._announce(codecs.goal, codecs.feedback, codecs.result)
        core = self._core.client(
            name, codecs.goal.id, codecs.feedback.id, codecs.result.id, None, local, max_pending
        )
        return ActionClient(core, codecs)

    def _announce(self, *codecs: Codec) -> None:
        """Announces the protobuf types, so that tools decode them. The limit is no reason to fail:
        the channels work without it."""
        files = definitions(*codecs)
        if not files:
            return
        try:
            self._core.announce_types(files)
        except Error as error:
            if error.code != "exhausted":
                raise
            self._log.warn(f"tools cannot decode a type of this process without options: {error}")

    def every(
        self,
        callback: Callable[[], object],
        *,
        period_ms: float | None = None,
        rate_hz: float | None = None,
    ) -> Timer:
        """Calls `callback` every `period_ms`, or `rate_hz` times per second, of the node's `clock`.

        Calls do not overlap, and the grid does not drift. In real time a call that would be late is
        skipped and counted (`Timer.skipped`). In simulated time the callback runs for every
        instant, and a jump of the clock starts a new grid. Raises TypeError unless exactly one of
        the two is given, and ValueError unless the period is positive.
        """
        if (period_ms is None) == (rate_hz is None):
            raise TypeError("every() takes either period_ms or rate_hz")
        seconds = period_ms / 1e3 if period_ms is not None else 1.0 / (rate_hz or 0.0)
        if not seconds > 0:
            raise ValueError("every(): the period must be positive")
        return self._core.every(round(seconds * 1e9), callback)

    @property
    def log(self) -> Log:
        """The logger of this node, for stderr and the channel `log`: `node.log.info("...")`."""
        return self._log

    @property
    def clock(self) -> Clock:
        """The clock of this process: real, simulated or replayed, as the plan configures it."""
        return Clock(self._core.clock)

    def on_clock_jump(self, callback: Callable[[ClockJump], object]) -> Timer:
        """Calls `callback(jump)` after the clock was set to another time.

        A node then discards the state that it derived from earlier times. `jump` has `before_ns`,
        `after_ns` and `delta_ns`, in nanoseconds.
        """
        return self._core.on_clock_jump(callback)

    def params(self) -> Params:
        """The parameters of this node: typed, checked, changeable, and readable by every node."""
        return Params(self._core.params())

    def remote_params(self, node: str) -> RemoteParams:
        """The parameters of another node in any process, to read, watch and set."""
        return RemoteParams(self._core.remote_params(node))

    def shared_params(self) -> SharedParams:
        """The tree of parameters that all nodes share."""
        return SharedParams(self._core.shared_params())

    def transforms(
        self,
        prefix: str = "",
        *,
        history_ms: float = 10_000,
        max_samples: int = 16_384,
        max_frames: int = 4_096,
        clock_jump_ms: float = 1_000,
    ) -> Transforms:
        """Returns the robot's coordinate frames: one tree per process and prefix.

        The options of the first call apply. The tree receives transforms from the first call on, so
        make that call when the program starts. `prefix` "robot1" selects the channels `robot1/tf`
        and `robot1/tf_static`. `history_ms` and `max_samples` bound the history of each frame,
        `max_frames` the number of frames. If the stamps of one sender go back by more than
        `clock_jump_ms`, the history is cleared (0: never). Raises `hyphos.Error`.
        """
        from hyphos.transforms import open_transforms  # noqa: PLC0415

        return open_transforms(
            self._core, prefix, history_ms, max_samples, max_frames, clock_jump_ms
        )

    def view(self, prefix: str = "", *, frame: str = "map") -> View:
        """Returns functions that show arrays in `hyphos view`: `node.view().points("cloud", xyz)`.

        `prefix` "debug" selects the channels `debug/NAME`. `frame` is the coordinate frame of the
        positions. Cheap: all views of a node share their publishers.
        """
        from hyphos.node_view import View, ViewPublishers  # noqa: PLC0415

        # setdefault() is atomic, so that two threads get the same publishers.
        publishers = self.__dict__.setdefault("_view_publishers", ViewPublishers())
        return View(self, publishers, prefix, frame)

    def param(self, name: str, fallback: Plain) -> Plain:
        """Declares a read-only parameter, unless it is declared already, and returns its value.

        `fallback` is the default and determines the type. Raises `hyphos.Error` if the plan has a
        value of another type. For a parameter that changes, see params().
        """
        return fixed_param(self._core, name, fallback)

    @property
    def name(self) -> str:
        """The name of the node."""
        return self._core.name

    @property
    def runtime(self) -> Runtime:
        """The runtime of this process."""
        return Runtime(self._core.runtime)

    def spin(self) -> int:
        """Waits for Ctrl-C, SIGTERM, `runtime.request_stop()` or `close()`, without the GIL.

        Returns the exit code, at once if the node is closed. A handler that you have installed with
        `signal.signal` is called. spin() then continues, unless the handler raises, stops the
        runtime or closes the node. Signals end spin() only in the main thread. See
        docs/reference/end_of_life.md.
        """
        sys.stdout.flush()
        return self._core.spin()

    def close(self) -> None:
        """Ends all publishers, subscriptions and timers. On return no callback is running."""
        self._core.close()


class Runtime(ChannelPlaces, Groups, Closing):
    """The runtime of one process: its graph, thread pool and transports. Thread-safe."""

    def __init__(self, core: _hyphos.Runtime) -> None:
        self._core = core

    @classmethod
    def open(
        cls,
        argv: Sequence[str] | None = None,
        *,
        plan: str = "",
        plan_text: str = "",
        process: str = "",
        overrides: Sequence[str] = (),
        domain: str = "",
        threads: int = 0,
        offline: bool = False,
        lockstep: bool = False,
        lockstep_nodes: Sequence[str] = (),
        clock: str = "",
    ) -> Self:
        """Opens the runtime of a process. Options as in Node.open(). Raises `hyphos.Error`.

        With `lockstep`, all nodes of the plan (or those in `lockstep_nodes`) run in this process,
        which opens no transport. Callbacks then run one at a time, in the order in which they
        became due. The same inputs in the same order give the same outputs with any number of
        threads.
        """
        if argv is not None:
            report_crashes(argv)
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
                plan_text,
            )
        )

    def node(self, name: str) -> Node:
        """Returns a new node. Raises `hyphos.Error` unless the name is unique in the process."""
        return Node(self._core.node(name))

    def load_plugins(self) -> None:
        """Loads the C++ plug-ins that the plan names for this process."""
        self._core.load_plugins()

    def settle(self, work: Callable[[], object] | None = None) -> None:
        """Runs `work` on the thread pool and waits until no callback is queued or running.

        Waits for the callbacks of this process. Do not call it from a callback. An exception that
        leaves `work` is raised here as RuntimeError.
        """
        self._core.settle(work)

    def channels(self) -> list[_hyphos.ChannelInfo]:
        """The channels that have been opened in this process."""
        return self._core.channels()

    def callback_errors(self) -> _hyphos.CallbackErrors:
        """The exceptions that left callbacks of this process: `count`, and the `first` as text."""
        return self._core.callback_errors()

    def next_timer_ns(self) -> int | None:
        """The time at which the next timer of this process is due. None without a timer.

        In simulated mode a time of the clock, in real mode of the monotonic clock. For simulators,
        between settle() and the next step.
        """
        return self._core.next_timer_ns()

    def endpoints(self) -> list[_hyphos.EndpointInfo]:
        """The publishers and subscriptions of this process now, with their counters."""
        return self._core.endpoints()

    def announce_types(self, descriptors: bytes) -> None:
        """Announces protobuf types that this process uses by name only, as `Raw`.

        `descriptors` is a serialized FileDescriptorSet. Tools decode channels with it. Channels of
        protobuf classes need no call. Raises `hyphos.Error`: corrupt, or exhausted (4 MiB in one
        process).
        """
        self._core.announce_types(descriptors)

    def announced_types(self) -> bytes:
        """The types that this process has announced, as a serialized FileDescriptorSet."""
        return self._core.announced_types()

    def ready(self) -> None:
        """Reports that all nodes of this process exist. Call it unless the program calls spin()."""
        self._core.ready()

    def spin(self) -> int:
        """Node.spin() for the whole runtime. Also returns at once if this handle is closed."""
        sys.stdout.flush()
        return self._core.spin()

    def request_stop(self) -> None:
        """Asks the process to stop: spin() returns. Does not block."""
        self._core.request_stop()

    @property
    def stopping(self) -> bool:
        """True once the process has been asked to stop."""
        return self._core.stopping

    @property
    def process(self) -> str:
        """The name of this process in the plan."""
        return self._core.process

    @property
    def domain(self) -> str:
        """The domain, which separates robots on one machine."""
        return self._core.domain

    def close(self) -> None:
        """Drops this handle. The runtime ends with its last node and publisher."""
        self._core.close()
