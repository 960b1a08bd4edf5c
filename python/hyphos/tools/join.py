"""Joins a robot's graph as a tool: opens a node and names types of other processes."""

from __future__ import annotations

import os

from hyphos._errors import Error
from hyphos._hyphos import EndpointInfo, TypeId
from hyphos.node import Node
from hyphos.observe import Look
from hyphos.types import Raw


def open_tool(kind: str, domain: str) -> Node:
    """A node for a command. Its name is unique, so that any number of tools may run."""
    name = f"{kind}-{os.getpid()}"
    node = Node.open(name, domain=domain, process=name, threads=2)
    node.runtime.ready()
    return node


def stays_inside(end: EndpointInfo) -> bool:
    """True if the channel carries a C++ type without a serializer."""
    return end.encoding == "none"


def raw_type(end: EndpointInfo) -> Raw:
    """The type of a channel, as another process announces it. Raises Error for a type that stays in
    its process."""
    if stays_inside(end):
        raise Error(
            "unsupported",
            f"the messages of node '{end.node}' are of the C++ type {end.type_name}, which has no "
            "serializer and stays in its process",
            end.channel,
            "publish a protobuf message or a struct, or give the type a serializer",
        )
    return Raw(TypeId.known(end.type_name, end.encoding, end.type_hash))


def an_end(now: Look, channel: str) -> EndpointInfo | None:
    """An endpoint of the channel, preferably a publisher."""
    ends = [end for _, end in now.ends(channel)]
    ends.sort(key=lambda end: not end.is_publisher)
    return ends[0] if ends else None
