"""Parameters: typed values of a node that everybody can see, and that may change while it runs."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import GenericAlias
from typing import Any, Generic, TypeVar, cast, overload

from hyphos import _hyphos
from hyphos._hyphos import ParamInfo, ParamSet, ParamWatch

T = TypeVar("T")
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
    """A declared parameter. Reading `value` takes no lock and asks nobody. Thread-safe."""

    def __init__(
        self, core: _hyphos.ParamCell, params: Params, members: type[enum.Enum] | None
    ) -> None:
        self._core = core
        self._params = params
        self._members = members

    @property
    def value(self) -> T:
        """The value now."""
        now = self._core.value
        return cast(T, now if self._members is None else self._members[now])

    @property
    def name(self) -> str:
        """The name, with dots: "laser.rate_hz"."""
        return self._core.name

    def set(self, value: T) -> None:
        """Sets it. `hyphos.Error` says why it was refused; the old value then holds."""
        self._params.set({self.name: value})

    def watch(self, callback: Callable[[T], object]) -> ParamWatch:
        """Calls `callback(value)` on the thread pool after each change of this parameter."""
        return self._params.watch(lambda _now: callback(self.value), self.name)

    def __repr__(self) -> str:
        return f"Param({self.name!r}, {self.value!r})"


class Params:
    """The parameters of one node. Thread-safe.

    A value comes from the first of these that has one: what was set before a restart, the plan, the
    default. Then the node, any process and `hyphos param set` may change it.
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
        """Declares a parameter; `default` gives its type, or `type` does: `list[float]`.

        A default that is a member of an Enum makes a parameter with the names of its members as
        choices. `range` is (least, most) or (least, most, step), both ends included, None for no
        end. `check(value)` returns None if the value is fine, or else says why not, which it may
        also raise. Raises `hyphos.Error` if the plan has a value that does not fit.
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
        """Sets one or several, all or none. `hyphos.Error` says why it was refused."""
        self._core.set([(name, _plain(value)) for name, value in values.items()])

    def values(self) -> ParamSet:
        """All values at one instant: a mapping, with `find(name)` for what is said of each."""
        return self._core.values()

    def __getitem__(self, name: str) -> Any:
        return self._core.values()[name]

    def check(self, check: Callable[[ParamSet], object]) -> None:
        """A check across parameters: it gets all values as they would be. See declare().

        It is called at once as well, and must not set parameters.
        """
        self._core.check(check)

    def watch(self, callback: Callable[[ParamSet], object], name: str = "") -> ParamWatch:
        """Calls `callback(values)` on the thread pool after a change (of `name`, if given).

        `values.changed` names what changed. If changes come faster than calls end, they are told
        together.
        """
        return self._core.watch(name, callback)

    def done(self) -> None:
        """The node has declared all it will: warns of values in the plan that it has not declared.
        Done by itself by spin()."""
        self._core.done()


class RemoteParams:
    """The parameters of another node: a mirror that its owner keeps up to date, and the way to ask
    for a change. Thread-safe."""

    def __init__(self, core: _hyphos.RemoteParams) -> None:
        self._core = core

    @property
    def node(self) -> str:
        return self._core.node

    @property
    def present(self) -> bool:
        """Whether the owner is there now. The values of one that is gone stay readable."""
        return self._core.present

    @property
    def process(self) -> str:
        """The process that the owner runs in; "" before anything came."""
        return self._core.process

    @property
    def undeclared(self) -> list[str]:
        """What the plan gives the node, but the node has not declared."""
        return self._core.undeclared

    def wait(self, timeout_ms: float = 5000) -> ParamSet:
        """The values, once they are here. Raises `hyphos.Error` (timeout)."""
        return self._core.wait(round(timeout_ms * 1e6))

    def values(self) -> ParamSet:
        """As last seen; empty before anything came."""
        return self._core.values()

    def find(self, name: str) -> ParamInfo | None:
        """What its node says about a parameter, and its value."""
        return self._core.values().find(name)

    def __getitem__(self, name: str) -> Any:
        return self._core.values()[name]

    def set(self, values: Mapping[str, Any], timeout_ms: float = 5000) -> None:
        """Sets one or several at their owner, all or none, and waits for its answer."""
        self._core.set(
            [(name, _plain(value)) for name, value in values.items()], round(timeout_ms * 1e6)
        )

    def watch(self, callback: Callable[[ParamSet], object]) -> ParamWatch:
        """Calls `callback(values)` on the thread pool when values differ from those seen before."""
        return self._core.watch(callback)

    def close(self) -> None:
        """No callback runs after this."""
        self._core.close()


def nodes_with_params(domain: str = "0") -> list[str]:
    """The nodes of this machine that have parameters."""
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
        f"type {name} is no type of parameter; there are bool, int, float, str, bytes and list[] "
        "of the first four"
    )


def _plain(value: object) -> object:
    return value.name if isinstance(value, enum.Enum) else value


def _of_member(members: Any, check: Check[Any]) -> Check[str]:
    return lambda name: check(members[name])
