"""Hyphos: one computational graph, from a pointer to another machine.

    import sys, hyphos
    from hyphos.msgs import LaserScan

    node = hyphos.Node.open("listener", sys.argv)
    node.subscribe("scan", LaserScan, lambda scan: print(len(scan.ranges)))
    node.spin()

The API uses the same names as the C++ API. Attributes load their modules on first use, so importing
the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyphos._errors import Error
    from hyphos._hyphos import (
        Buffer,
        CallbackGroup,
        ClockJump,
        MessageInfo,
        ParamInfo,
        ParamSet,
        ParamWatch,
        Policy,
        Published,
        Subscription,
        SyncCounts,
        Synchronizer,
        Timer,
        TransformEdge,
        TypeId,
        WritableBuffer,
    )
    from hyphos.action import Action, ActionClient, GoalHandle, GoalResult, SentGoal
    from hyphos.clock import Clock, Rate, SimTime
    from hyphos.convert import cloud_to_numpy, image_to_numpy, numpy_to_cloud, numpy_to_image
    from hyphos.diagnostics import DiagnosticReport, Diagnostics
    from hyphos.log import Log, LogHandler
    from hyphos.node import Node, Runtime
    from hyphos.node_view import View
    from hyphos.params import Param, Params, RemoteParams, nodes_with_params
    from hyphos.publisher import Publisher
    from hyphos.recording.recording import Recording
    from hyphos.refusals import Refusals
    from hyphos.service import Client, Responder, Service
    from hyphos.shared_params import SharedParams
    from hyphos.transforms import Transform, Transforms
    from hyphos.types import Attached, Raw, Struct

_HOMES = {
    "Action": "action",
    "ActionClient": "action",
    "GoalHandle": "action",
    "GoalResult": "action",
    "SentGoal": "action",
    "Client": "service",
    "Responder": "service",
    "Service": "service",
    "Attached": "types",
    "Buffer": "_hyphos",
    "CallbackGroup": "_hyphos",
    "Clock": "clock",
    "ClockJump": "_hyphos",
    "DiagnosticReport": "diagnostics",
    "Diagnostics": "diagnostics",
    "Error": "_errors",
    "Log": "log",
    "LogHandler": "log",
    "MessageInfo": "_hyphos",
    "Node": "node",
    "Param": "params",
    "ParamInfo": "_hyphos",
    "ParamSet": "_hyphos",
    "ParamWatch": "_hyphos",
    "Params": "params",
    "Policy": "_hyphos",
    "Published": "_hyphos",
    "Publisher": "publisher",
    "Rate": "clock",
    "Raw": "types",
    "Recording": "recording.recording",
    "Refusals": "refusals",
    "RemoteParams": "params",
    "SharedParams": "shared_params",
    "Runtime": "node",
    "SimTime": "clock",
    "Struct": "types",
    "Subscription": "_hyphos",
    "SyncCounts": "_hyphos",
    "Synchronizer": "_hyphos",
    "Timer": "_hyphos",
    "Transform": "transforms",
    "TransformEdge": "_hyphos",
    "Transforms": "transforms",
    "TypeId": "_hyphos",
    "View": "node_view",
    "WritableBuffer": "_hyphos",
    "cloud_to_numpy": "convert",
    "image_to_numpy": "convert",
    "nodes_with_params": "params",
    "numpy_to_cloud": "convert",
    "numpy_to_image": "convert",
}

__all__ = [
    "Action",
    "ActionClient",
    "Attached",
    "Buffer",
    "CallbackGroup",
    "Client",
    "Clock",
    "ClockJump",
    "DiagnosticReport",
    "Diagnostics",
    "Error",
    "GoalHandle",
    "GoalResult",
    "Log",
    "LogHandler",
    "MessageInfo",
    "Node",
    "Param",
    "ParamInfo",
    "ParamSet",
    "ParamWatch",
    "Params",
    "Policy",
    "Published",
    "Publisher",
    "Rate",
    "Raw",
    "Recording",
    "Refusals",
    "RemoteParams",
    "Responder",
    "Runtime",
    "SentGoal",
    "Service",
    "SharedParams",
    "SimTime",
    "Struct",
    "Subscription",
    "SyncCounts",
    "Synchronizer",
    "Timer",
    "Transform",
    "TransformEdge",
    "Transforms",
    "TypeId",
    "View",
    "WritableBuffer",
    "cloud_to_numpy",
    "image_to_numpy",
    "nodes_with_params",
    "numpy_to_cloud",
    "numpy_to_image",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'hyphos' has no attribute '{name}'")
    value = getattr(import_module(f"hyphos.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
