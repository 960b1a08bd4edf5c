"""All definitions of some folders, their dependencies, and their ROS identities."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from hyphos._errors import Error
from hyphos.ros.definition import PARTS, Field, Flavour, Interface, Message, Name, parse
from hyphos.ros.derived import (
    IMPLIED,
    Service,
    action_messages_ros1,
    described,
    messages,
)
from hyphos.ros.md5 import md5_sum
from hyphos.ros.sources import Source, find_sources, guess_flavour, read_text
from hyphos.ros.type_hash import type_hash

_PARTS = ("Goal", "Result", "Feedback")
_ACTION_MESSAGES_ROS1 = (*_PARTS, "Action", *(f"Action{part}" for part in _PARTS))


class Library:
    """Interfaces by name. Files are read on demand, so an error in an unused file has no effect."""

    def __init__(self, sources: dict[Name, Source], flavour: Flavour) -> None:
        self.flavour = flavour
        self._sources = dict(sources)
        self._interfaces: dict[Name, Interface] = {}  # by the name of the file's type
        self._owners: dict[Name, Interface] = {}  # by name of each message that they define
        self._messages: dict[Name, Message] = {}
        self._checked: set[Name] = set()
        self._sums: dict[Name, str] = {}
        if flavour is Flavour.ROS1:
            self._add_action_messages()

    @classmethod
    def load(cls, paths: Iterable[Path], flavour: Flavour | None = None) -> Library:
        sources = find_sources(paths)
        asked = [one for one in sources.values() if one.asked]
        return cls(sources, flavour or guess_flavour(asked))

    def asked(self) -> list[Interface]:
        """The definitions that the paths name, sorted by name."""
        names = [name for name, source in self._sources.items() if source.asked]
        return [self.interface(name) for name in sorted(names)]

    def needed(self, interfaces: Iterable[Interface]) -> list[Interface]:
        """These interfaces and their dependencies, each once, dependencies first."""
        found: dict[Name, Interface] = {}
        for interface in interfaces:
            for message in messages(interface):
                for name in self.order(message):
                    found[self.owner(name).name] = self.owner(name)
        return list(found.values())

    def names(self) -> list[Name]:
        return sorted(self._sources)

    def interface(self, name: Name) -> Interface:
        if name not in self._interfaces:
            self._read(name)
        return self._interfaces[name]

    def message(self, name: Name) -> Message:
        """The message of a known name. A field's name is known only after order() has run."""
        if name not in self._messages:
            self._read(name)
        return self._messages[name]

    def owner(self, name: Name) -> Interface:
        """The file that defines a message."""
        self.message(name)
        return self._owners[name]

    def order(self, message: Message) -> list[Name]:
        """The dependencies of a message, in order, and the message itself last. Raises an error if
        one is missing, or contains itself."""
        done: dict[Name, None] = {}
        path: dict[Name, None] = {}
        stack: list[tuple[Message, bool]] = [(message, False)]
        while stack:
            one, left = stack.pop()
            if left:
                del path[one.name]
                done[one.name] = None
                continue
            if one.name in done:
                continue
            if one.name in path:
                self._refuse_loop(one, list(path))
            path[one.name] = None
            stack.append((one, True))
            for field in reversed(one.fields):
                if field.type.message is not None and field.type.message not in done:
                    self._require(field)
                    stack.append((self.message(field.type.message), False))
        return list(done)

    def md5(self, thing: Message | Service) -> str:
        """The ROS 1 md5 sum of a message or a service."""
        if isinstance(thing, Service):
            for part in (thing.request, thing.response):
                self.md5(part)
            return md5_sum((thing.request, thing.response), self._sums.__getitem__)
        for name in self.order(thing):
            if name not in self._sums:
                self._sums[name] = md5_sum([self.message(name)], self._sums.__getitem__)
        return self._sums[thing.name]

    def type_hash(self, name: Name) -> str:
        """The ROS 2 type hash of a message, a service or an action."""
        message = self.message(name)
        self.order(message)  # raises an error if a type is missing
        return type_hash(message, self.message)

    def _add_action_messages(self) -> None:
        """ROS 1 puts the messages of an action in msg/. Files that exist there take precedence."""
        for name, source in list(self._sources.items()):
            if name.folder == "action":
                for part in _ACTION_MESSAGES_ROS1:
                    message = Name(name.package, "msg", name.base + part)
                    self._sources.setdefault(message, source)
                del self._sources[name]

    def _read(self, name: Name) -> None:
        source = self._sources.get(name)
        if source is None:
            interface = parse(IMPLIED[name], name, self.flavour, "built in")
            self._register(interface)
            return
        text = read_text(source.path)
        interface = parse(text, source.name, self.flavour, str(source.path))
        if interface.kind == "action" and self.flavour is Flavour.ROS1:
            for one in action_messages_ros1(interface):
                if self._sources[one.name] is source:
                    self._register(one)
            return
        self._register(interface)

    def _register(self, interface: Interface) -> None:
        self._interfaces[interface.name] = interface
        for message in messages(interface):
            self._owners[message.name] = interface
        for message in described(interface):
            self._messages[message.name] = message

    def _require(self, field: Field) -> None:
        name = field.type.message
        assert name is not None
        if name in self._messages or name in self._sources:
            return
        if self.flavour is Flavour.ROS2 and name in IMPLIED:
            return
        written = name.text(self.flavour)
        packages = {one.package for one in self._sources}
        if name.package not in packages:
            raise Error(
                "not_found",
                f"'{field.name}' is a {written}, but the package '{name.package}' is not given",
                field.where,
                self._where_to_find(name.package),
            )
        bases = [one.base for one in self._sources if one[:2] == name[:2]]
        near = get_close_matches(name.base, bases, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        if self.flavour is Flavour.ROS2 and name.base == "Header":
            hint = "; did you mean 'std_msgs/Header'?"
        raise Error(
            "not_found",
            f"the package '{name.package}' has no message '{name.base}'{hint}",
            field.where,
            "correct the name, or add the file",
        )

    def _where_to_find(self, package: str) -> str:
        near = {one.package_folder.absolute().parent for one in self._sources.values()}
        for folder in (
            *sorted(near),
            *sorted(Path("/opt/ros").glob("*/share")),
            Path("/usr/share"),
        ):
            if any((folder / package / kind).is_dir() for kind in PARTS):
                return f"also give its folder: {folder / package}"
        return f"also give its folder: hyphos msg import ... PATH/TO/{package}"

    def _refuse_loop(self, message: Message, path: list[Name]) -> None:
        loop = [*path[path.index(message.name) :], message.name]
        names = " → ".join(one.text(self.flavour) for one in loop)
        raise Error(
            "invalid_config",
            f"a message cannot contain itself: {names}",
            message.where,
            "remove one of these fields",
        )
