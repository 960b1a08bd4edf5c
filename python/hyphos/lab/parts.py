"""An experiment in several parts, each with its own workload, peers and grid, measured as one
experiment. Keys above the parts apply to all parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import yaml

from hyphos._errors import Error
from hyphos.lab.case import Case, means_something
from hyphos.lab.reader import PARAMETERS

KEY = "parts"
# Keys of the whole experiment.
_WHOLE = (
    *("lab", "name", "about", "base", "repeats", "assert", "findings", "links", "figures"),
    "unlike",
    KEY,
)


def split(file: str, root: yaml.MappingNode) -> list[yaml.MappingNode]:
    """Each part as a separate experiment, or the experiment itself if it has no parts. A key of a
    part overrides the same key above the parts. In `full` this holds for each parameter. Nodes
    keep their lines."""
    above = dict(_named(root))
    if KEY not in above:
        return [root]
    _, parts = above.pop(KEY)
    where = f"{file}:{parts.start_mark.line + 1}"
    if not isinstance(parts, yaml.SequenceNode) or not parts.value:
        raise Error("invalid_config", "'parts' must be a list of {workload: …, grid: …}", where)
    return [_under(file, above, one) for one in parts.value]


def meant(
    part: yaml.MappingNode, every: Sequence[yaml.MappingNode], changes: Sequence[str]
) -> list[str]:
    """The changes NAME=VALUE that have an effect in this part, and those without an effect in any
    part, which the part then refuses."""
    workload = _workload(part)

    def matters(change: str, where: str) -> bool:
        name = change.partition("=")[0]
        return name not in PARAMETERS or means_something(name, where)

    return [
        change
        for change in changes
        if matters(change, workload) or not any(matters(change, _workload(one)) for one in every)
    ]


def _workload(part: yaml.MappingNode) -> str:
    return _text(dict(_named(part)).get("workload"))


def _text(pair: tuple[yaml.Node, yaml.Node] | None) -> str:
    return str(pair[1].value) if pair and isinstance(pair[1], yaml.ScalarNode) else ""


def whatever_length(case: Case) -> Case:
    return case.without("seconds", "messages")


def _under(
    file: str, above: dict[str, tuple[yaml.Node, yaml.Node]], part: yaml.Node
) -> yaml.MappingNode:
    where = f"{file}:{part.start_mark.line + 1}"
    if not isinstance(part, yaml.MappingNode):
        raise Error("invalid_config", "a part must be a mapping {workload: …, grid: …}", where)
    own = list(part.value)
    names = {name for name, _ in _named(part)}
    for name, pair in _named(part):
        if name in _WHOLE:
            line = f"{file}:{pair[0].start_mark.line + 1}"
            raise Error(
                "invalid_config",
                f"'{name}' applies to the whole experiment, write it above the parts",
                line,
            )
    workload = _workload(part) or _text(above.get("workload"))
    for name, (key, value) in above.items():
        if name not in names:
            # A setting for all parts applies only to parts in which it has an effect.
            if name not in PARAMETERS or not workload or means_something(name, workload):
                own.append((key, value))
        elif name == "full":
            at = next(i for i, (other, _) in enumerate(own) if other.value == "full")
            own[at] = (own[at][0], _filled(own[at][1], value))
    return yaml.MappingNode(part.tag, own, part.start_mark, part.end_mark)


def _filled(part: yaml.Node, above: yaml.Node) -> yaml.Node:
    if not isinstance(part, yaml.MappingNode) or not isinstance(above, yaml.MappingNode):
        return part  # the reader reports the error
    names = {name for name, _ in _named(part)}
    more = [pair for name, pair in _named(above) if name not in names]
    return yaml.MappingNode(part.tag, [*part.value, *more], part.start_mark, part.end_mark)


def _named(node: yaml.MappingNode) -> Iterator[tuple[str, tuple[yaml.Node, yaml.Node]]]:
    for key, value in node.value:
        yield str(key.value), (key, value)
