"""The program of tests/gateway/ros_tcp: a ros_tcp gateway on an in-memory graph."""

from __future__ import annotations

from pathlib import Path

import pytest

PROBE = Path(__file__).parents[3] / "build/release/tests/gateway/ros_tcp/ros_tcp_probe"
needs_gateways = pytest.mark.skipif(not PROBE.exists(), reason="the gateways are not built")
