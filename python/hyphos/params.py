"""Parameters: typed values of a node that all nodes can read and that may change at run time."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import GenericAlias
from typing import Any, Generic, TypeVar, cast, overload

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos._hyphos import ParamInfo, ParamSet, ParamWatch
from hyphos._timeouts import to_ns

T = TypeVar("T")
Plain = TypeVar("Plain", bool, int, float, str)
Value = bool | int | float | str | bytes | list[bool] | list[int] | list[float] | list[str]
Check = Callable[[T], object]

_WORDS: dict[object, str] = {
    bool: "boolean",
    int: "integer",
    float: "real",
    str: "text",
    bytes: "bytes",
    list[bool]: "list of boolean",
    list[int]: "list of integer",
    list[float]: "list of real",
    list[str]: "list of text",
}


class Param(Generic[T]):
    """A declared parameter. Thread-safe. Reading `value` takes no lock and does no I/O."""

    def __init__(
        self, core: _hyphos.ParamCell, params: Params, members: type[enum.Enum] | None
    ) -> None:
        self._core = core
        self._params = params
        self._members = members

    @property
    def value(self) -> T:
        """The current value."""
        now = self._core.value
        return cast(T, now if self._members is None else self._members[now])

    @property
    def name(self) -> str:
        """The full name, with dots: "laser.rate_hz"."""
        return self._core.name

    def set(self, value: T) -> None:
        """Sets the value. Raises `hyphos.Error` with the reason for a refusal, and the old value
        stays."""
        self._params.set({self.name: value})

    def watch(self, callback: Callable[[T], object]) -> ParamWatch:
        """Calls `callback(value)` on the thread pool after each change of this parameter."""
        return self._params.watch(lambda _now: callback(self.value), self.name)

    def __repr__(self) -> str:
        return f"Param({self.name!r}, {self.value!r})"


class Params:
    """The parameters of one node. Thread-safe.

    A value comes from the first of these sources that has one: the value set before a restart, the
    plan, the default. Later the node, any process and `hyphos param set` may change it.
    """

    def __init__(self, core: _hyphos.Params) -> None:
        self._core = core

    @overload
    def declare(
        self,
        name: str,
        default: T,
        *,
        unit: str = "",
        description: str = "",
        range: Sequence[float | None] | None = None,
        choices: Sequence[str] = (),
        read_only: bool = False,
        check: Check[T] | None = None,
    ) -> Param[T]: ...
    @overload
    def declare(
        self,
        name: str,
        default: Any,
        *,
        type: type[T],
        unit: str = "",
        description: str = "",
        range: Sequence[float | None] | None = None,
        choices: Sequence[str] = (),
        read_only: bool = False,
        check: Check[T] | None = None,
    ) -> Param[T]: ...
    def declare(
        self,
        name: str,
        default: Any,
        *,
        type: Any = None,
        unit: str = "",
        description: str = "",
        range: Sequence[float | None] | None = None,
        choices: Sequence[str] = (),
        read_only: bool = False,
        check: Check[Any] | None = None,
    ) -> Param[Any]:
        """Declares a parameter. The type is that of `default`, or `type`, such as `list[float]`.

        If the default is a member of an Enum, the member names become the choices. `range` is
        (least, most) or (least, most, step). Both ends are included, and None means no bound.
        `check(value)` returns None for a valid value, or else the reason for the refusal. It may
        also raise the reason. Raises `hyphos.Error` if the value in the plan is not valid.
        """
        members: Any = None
        if isinstance(default, enum.Enum):
            members = default.__class__
            choices = [member.name for member in members]
            default = default.name
            if check is not None:
                check = _of_member(members, check)
        core = self._core.declare(
            name,
            default,
            _word(type),
            unit,
            description,
            None if range is None else tuple(range),
            list(choices),
            read_only,
            check,
        )
        return Param(core, self, members)

    def set(self, values: Mapping[str, Any]) -> None:
        """Sets one or several parameters, all or none. Raises `hyphos.Error` with the reason for a
        refusal."""
        self._core.set([(name, _plain(value)) for name, value in values.items()])

    def values(self) -> ParamSet:
        """All values at one instant, as a mapping. `find(name)` returns the full ParamInfo."""
        return self._core.values()

    def __getitem__(self, name: str) -> Any:
        return self._core.values()[name]

    def check(self, check: Callable[[ParamSet], object]) -> None:
        """Registers a check across parameters. It receives all values as they would become.

        For its return value see declare(). The check is also called at once. It must not set
        parameters.
        """
        self._core.check(check)

    def watch(self, callback: Callable[[ParamSet], object], name: str = "") -> ParamWatch:
        """Calls `callback(values)` on the thread pool after a change (of `name`, if given).

        `values.changed` has the names of the changed parameters. Changes that arrive faster than
        the calls end are merged into one call.
        """
        return self._core.watch(name, callback)

    def done(self) -> None:
        """Ends the declarations: warns of values in the plan that the node has not declared. spin()
        calls it."""
        self._core.done()


class RemoteParams:
    """The parameters of another node: a mirror that the owner updates, and requests for changes.
    Thread-safe."""

    def __init__(self, core: _hyphos.RemoteParams) -> None:
        self._core = core

    @property
    def node(self) -> str:
        """The name of the node."""
        return self._core.node

    @property
    def present(self) -> bool:
        """True if the owner runs now. The values of an owner that is gone stay readable."""
        return self._core.present

    @property
    def process(self) -> str:
        """The process of the owner, or "" before the first values arrived."""
        return self._core.process

    @property
    def undeclared(self) -> list[str]:
        """The values in the plan for this node that the node has not declared."""
        return self._core.undeclared

    def wait(self, timeout_ms: float = 5000) -> ParamSet:
        """Waits for the first values and returns them. Raises `hyphos.Error` (timeout)."""
        return self._core.wait(to_ns(max(0, timeout_ms)))

    def values(self) -> ParamSet:
        """The latest values. Empty before the first values arrived."""
        return self._core.values()

    def find(self, name: str) -> ParamInfo | None:
        """The value and the declaration of one parameter, or None."""
        return self._core.values().find(name)

    def __getitem__(self, name: str) -> Any:
        return self._core.values()[name]

    def set(self, values: Mapping[str, Any], timeout_ms: float = 5000) -> None:
        """Sets one or several parameters at their owner, all or none, and waits for its reply.
        Raises `hyphos.Error` with the reason for a refusal."""
        self._core.set(
            [(name, _plain(value)) for name, value in values.items()], to_ns(max(0, timeout_ms))
        )

    def watch(self, callback: Callable[[ParamSet], object]) -> ParamWatch:
        """Calls `callback(values)` on the thread pool when the values have changed."""
        return self._core.watch(callback)

    def close(self) -> None:
        """Ends the mirror and its watches. No callback runs after close() returned."""
        self._core.close()


def nodes_with_params(domain: str = "0") -> list[str]:
    """The names of the nodes on this machine that have parameters."""
    return _hyphos.nodes_with_params(domain)


def _word(kind: object) -> str:
    if kind is None:
        return ""
    if kind in _WORDS:
        return _WORDS[kind]
    name = (
        str(kind) if isinstance(kind, GenericAlias) or not inspect.isclass(kind) else kind.__name__
    )
    raise TypeError(
        f"type {name} is not a parameter type: give bool, int, float, str, bytes or list[] "
        "of the first four"
    )


def _plain(value: object) -> object:
    return value.name if isinstance(value, enum.Enum) else value


def _of_member(members: Any, check: Check[Any]) -> Check[str]:
    return lambda name: check(members[name])


def fixed_param(node: _hyphos.Node, name: str, fallback: Plain) -> Plain:
    """The value of Node.param()."""
    if isinstance(fallback, bool):
        return node.param_bool(name, fallback)
    if isinstance(fallback, int):
        if not -(1 << 63) <= fallback < 1 << 63:
            raise Error(
                "invalid_config",
                f"parameter '{name}': its default {fallback} does not fit into 64 bits",
                advice="give the default as a float",
            )
        return node.param_int(name, fallback)
    if isinstance(fallback, float):
        return node.param_float(name, fallback)
    if isinstance(fallback, str):
        return node.param_str(name, fallback)
    raise Error(
        "invalid_config",
        f"parameter '{name}': its default is {fallback!r} ({type(fallback).__name__}), but "
        "param() takes a bool, int, float or str",
        advice="give such a default, or use node.params().declare(), which also takes lists",
    )
