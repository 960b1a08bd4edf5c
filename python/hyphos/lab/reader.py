"""Values of an experiment's YAML. Each value is checked, and every error names its line."""

from __future__ import annotations

import difflib
import re
import tempfile
from typing import Any

import yaml

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos.lab import placement

_UNITS = {"": 1, "b": 1, "kb": 1 << 10, "kib": 1 << 10, "mb": 1 << 20, "mib": 1 << 20}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)
_RANGES: dict[str, tuple[float, float]] = {
    "size": (32, 1 << 30),
    "rate_hz": (0.01, 1e6),
    "processes": (2, 256),
    "subscribers": (1, 256),
    "publishers": (1, 256),
    "pairs": (1, 256),
    "queue": (0, 65536),
    "work_us": (0, 1e6),
    "stall_ms": (0, 1e5),
    "stall_every_ms": (1, 1e6),
    "speed": (0.001, 1000),
    "seconds": (0.1, 86_400),
    "messages": (1, 100_000_000),
    "warmup": (1, 100_000),
    "cores": (0.01, 4096),
    "shm_mb": (1, 1e7),
    "scale": (1e-5, 1e5),
    "hosts": (1, 63),
    "clock": (0.1, 1.0),
}
_WORDS = {"reliability": ("best_effort", "reliable"), "relay": ("beside", "own")}
_TEXTS = ("faults", "link", "recording", "channel", "plan")
_INTEGERS = (
    *("size", "processes", "subscribers", "publishers", "pairs"),
    *("queue", "messages", "warmup", "hosts"),
)
_PLACEMENT = "placement"
PARAMETERS = (*_RANGES, *_WORDS, *_TEXTS, _PLACEMENT)


class Reader:
    """Values of one YAML mapping, with the line of each in every error."""

    def __init__(self, file: str, node: yaml.MappingNode) -> None:
        self.file = file
        self.line = node.start_mark.line + 1
        self.values: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in self.values:
                raise self.error(key, f"'{name}' is given twice")
            self.values[name] = value

    def error(self, node: yaml.Node | int, message: str, advice: str = "") -> Error:
        line = node if isinstance(node, int) else node.start_mark.line + 1
        return Error("invalid_config", message, f"{self.file}:{line}", advice)

    def only(self, known: tuple[str, ...], what: str) -> None:
        for name, node in self.values.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                raise self.error(
                    node,
                    f"{what} has no '{name}'" + (f", did you mean '{near[0]}'?" if near else ""),
                    advice="use one of " + ", ".join(known),
                )

    def text(self, name: str, default: str = "") -> str:
        node = self.values.get(name)
        if node is None:
            return default
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(node, f"'{name}' must be text")
        return str(node.value).strip()

    def texts(self, name: str) -> list[str]:
        node = self.values.get(name)
        if node is None:
            return []
        return [str(one.value) for one in self.scalars(name, node)]

    def scalars(self, name: str, node: yaml.Node) -> list[yaml.ScalarNode]:
        found = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for one in found:
            if not isinstance(one, yaml.ScalarNode):
                raise self.error(one, f"'{name}' must be a value or a list of values")
        if not found:
            raise self.error(node, f"'{name}' is an empty list")
        return list(found)

    def values_of(self, name: str, node: yaml.Node) -> list[Any]:
        """The checked values of a parameter in a grid."""
        if name == _PLACEMENT:
            found = node.value if isinstance(node, yaml.SequenceNode) else [node]
            if not found:
                raise self.error(node, f"'{name}' is an empty list")
            return [self.parameter(name, one) for one in found]
        return [self.parameter(name, one) for one in self.scalars(name, node)]

    def parameter(self, name: str, node: yaml.Node) -> Any:
        """The checked value of a parameter."""
        if name == _PLACEMENT:
            return self._placement(node)
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(
                node, f"'{name}' must have one value here", advice="lists go below `grid:`"
            )
        text = str(node.value).strip()
        if name == "faults" and text:
            self._expect_faults(node, text)
        if name in _TEXTS:
            return text
        if name in _WORDS:
            if text not in _WORDS[name]:
                raise self.error(node, f"{name} must be {' or '.join(_WORDS[name])}, not '{text}'")
            return text
        try:
            value = _size(text) if name == "size" else float(text)
        except ValueError:
            unit = " (bytes, or with KB, MB)" if name == "size" else ""
            raise self.error(node, f"{name}: '{text}' is not a number{unit}") from None
        low, high = _RANGES[name]
        if not low <= value <= high:
            raise self.error(node, f"{name}: {text} is not from {low:g} to {high:g}")
        if name in _INTEGERS:
            if value != int(value):
                raise self.error(node, f"{name}: {text} is not an integer")
            return int(value)
        return value

    def _expect_faults(self, node: yaml.Node, text: str) -> None:
        """Raises Error if a plan refuses the text below `network: faults:`."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(f"hyphos: 1\nnetwork:\n  faults: {text}\n")
            file.flush()
            try:
                _hyphos.Plan.load(file.name, [], False)
            except Error as error:
                raise self.error(node, f"faults: {error.message}", error.advice) from None

    def _placement(self, node: yaml.Node) -> str:
        """`{pub: [0], sub: 1-2}`, or the same as text."""
        if isinstance(node, yaml.SequenceNode):
            raise self.error(
                node, "'placement' must have one value here", advice="lists go below `grid:`"
            )
        text = str(node.value).strip()
        if isinstance(node, yaml.MappingNode):
            inner = Reader(self.file, node)
            names = inner.values.items()
            text = ";".join(f"{name}={_joined(self.scalars(name, one))}" for name, one in names)
        try:
            return placement.canonical(text)
        except ValueError as error:
            raise self.error(node, f"placement: {error}") from None


def _joined(values: list[yaml.ScalarNode]) -> str:
    return ",".join(str(one.value).replace(" ", "") for one in values)


def _size(text: str) -> float:
    match = _SIZE.fullmatch(text)
    if match is None or match[2].lower() not in _UNITS:
        raise ValueError(text)
    return float(match[1]) * _UNITS[match[2].lower()]
