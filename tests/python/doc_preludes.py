"""The code that fragments of the documents assume, by page and first line.

A fragment is code of somebody who has a node already. Each entry gives the rest of the program:
for Python statements before it, for C++ declarations before it and the function or class around it.
"""

from __future__ import annotations

# --- Python -------------------------------------------------------------------------------------

_STRUCTS = """
from hyphos import Struct
Sum = Struct("example.Sum", [("a", "i8"), ("b", "i8")])
Total = Struct("example.Total", [("value", "i8")])
DriveTo = Struct("example.DriveTo", [("metres", "f8")])
Driven = Struct("example.Driven", [("metres", "f8")])
"""
_FRAMES = """
import time
from hyphos import Transform
transforms = node.transforms()
transforms.set_static(Transform("base", "laser", (0, -0.3, 0.2)))
transforms.set(Transform("map", "base", (1, 0, 0), stamp_ns=time.time_ns() - 10**9))
transforms.set(Transform("map", "base", (1, 0, 0), stamp_ns=time.time_ns() + 10**9))
"""

PYTHON = {
    ("docs/gateway_ros2.md", "from hyphos.types import Raw"): "callback = print",
    ("docs/messages_ros.md", "from hyphos.ros.convert import RosTypes"): """
from hyphos.msgs import LaserScan
from hyphos.ros import convert
wire = convert.RosTypes().write("sensor_msgs/LaserScan", "ros1", LaserScan())
""",
    ("docs/params.md", "params = node.params()"): """
from hyphos.msgs import LaserScan
drive = print
""",
    ("docs/python.md", 'camera = node.publisher("camera", hyphos.Attached[Image])'): """
from hyphos.msgs import Image
def grab(pixels): pixels[:] = 0
""",
    ("docs/python.md", "params = node.params()"): "",
    ("docs/python.md", "refusals = hyphos.Refusals(node)"): """
from hyphos.msgs import LaserScan
def unusable(scan: LaserScan) -> str: return ""
""",
    ("docs/python.md", 'node.log.info("at %s, %.1f V", place, volts)  # formatted only if it is '
     "written"): """
import logging
place, volts = "here", 11.5
""",
    ("docs/python.md", "async def ask(node: hyphos.Node) -> None:"): "import asyncio" + _STRUCTS,
    ("docs/python.md", "transforms = node.transforms()"): "from hyphos import Transform",
    ("docs/python.md", 'laser = transforms.get("map", "laser", time.time_ns(), timeout_ms=1000)'):
        _FRAMES,
    ("docs/python.md", 'node.every(lambda: print(f"beep at {node.clock.elapsed_s():.0f} s", '
     "flush=True), period_ms=1000)"): "",
    ("docs/python.md", 'with hyphos.Recording("run.mcap", ["scan", "camera/*"]) as recording:'): "",
    ("docs/python.md", 'with Path(file).open("rb") as recording:'): """
from itertools import islice
from pathlib import Path
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory
file, channel = "values.mcap", "value"
with hyphos.Recording(file, ["value"]):
    pass
""",
    ("docs/services.md", 'drive_to = node.action_client("drive_to", DriveTo, Driven, Driven)'):
        _STRUCTS + """
tell = print
server = node.action("drive_to", DriveTo, Driven, Driven, lambda goal: Driven(metres=2))
""",
    ("docs/time.md", "with hyphos.SimTime(node, manual=True) as time:"): """
class World:
    def step(self, seconds): node.runtime.request_stop()
world = World()
""",
    ("docs/transforms.md", "transforms = node.transforms()"): """
from hyphos import Transform
there, heading, now = (1, 2, 0), (0, 0, 1.5), 10**18
""",
    ("docs/transforms.md", 'laser = transforms.get("map", "laser", time.time_ns(), '
     "timeout_ms=1000)"): _FRAMES,
    ("docs/transforms.md", "in_map = laser.apply("): _FRAMES + """
import numpy
laser = transforms.get("map", "laser", time.time_ns(), timeout_ms=1000)
points, x, y, z = numpy.zeros((4, 3), numpy.float32), 1, 2, 3
""",
}  # fmt: skip

# --- C++ ----------------------------------------------------------------------------------------

_WHEEL = """struct Wheel {
  static constexpr std::string_view hyphos_type = "example.Wheel";
  std::uint32_t id = 0;
  double speed_m_s = 0;
};
"""
_CALLS = "struct Sum { std::int64_t a = 0, b = 0; };\nstruct Total { std::int64_t value = 0; };\n"
BODY = ("void shown(const hyphos::Node& node) {", "(void)node; }")
FILE = ("", "")

# (declarations before it, what opens, what closes)
CPP = {
    ("docs/cpp.md", "const hyphos::Refusals refusals(node);                                        "
     "    // declares the parameter `refused`"): (
        "using LaserScan = hyphos::msgs::LaserScan;\n"
        "std::string unusable(const LaserScan& scan);",
        *BODY,
    ),
    ("docs/cpp.md", "struct Wheel {"): ("", *FILE),
    ("docs/cpp.md", "struct Route {"): ("", *FILE),
    ("docs/cpp.md", 'node.subscribe<Wheel>("wheel", hyphos::serial, [](const '
     "hyphos::Message<Wheel>& wheel) {"): (_WHEEL, *BODY),
    ("docs/cpp.md", "Published publish(T value);                            // moved in; local "
     "subscribers get a pointer to it"): (
        "using hyphos::Published, hyphos::Loan, hyphos::Message;",
        "template <typename T> struct Shown {",
        "};",
    ),
    ("docs/cpp.md", "hyphos::WritableBuffer pixels = image.loan_bytes(kWidth * kHeight);"): (
        "using Picture = hyphos::Attached<hyphos::msgs::Image>;\n"
        "constexpr std::uint32_t kWidth = 4, kHeight = 3;",
        "void shown(const hyphos::Publisher<Picture>& image) {",
        "}",
    ),
    ("docs/cpp.md", 'auto relayed = node.publisher<hyphos::Buffer>("relayed");'): ("", *BODY),
    ("docs/cpp.md", "node.every(hyphos::Duration::from_ms(20), [this] { step(); });   // one call "
     "at a time; late ones are skipped; the grid stays"): (
        "using Odometry = hyphos::msgs::Odometry;\nstruct Debug { int value = 0; };",
        "struct Shown { void step(); explicit Shown(const hyphos::Node& node) {",
        "}};",
    ),
    ("docs/cpp.md", "hyphos::Policy latched;"): ("", *BODY),
    ("docs/cpp.md", "const hyphos::Params params = node.params();"): ("", *BODY),
    ("docs/cpp.md", "const auto log = node.log();"): (
        "std::string place; double volts = 0;", *BODY),
    ("docs/cpp.md", 'node.service<Sum, Total>("add", [](const Sum& sum) -> '
     "hyphos::Result<Total> {"): (_CALLS, *BODY),
    ("docs/cpp.md", 'auto add = node.client<Sum, Total>("add");'): (_CALLS, *BODY),
    ("docs/cpp.md", "auto transforms = node.transforms();"): ("", *BODY),
    ("docs/cpp.md", "const auto found ="): (
        "", "void shown(const hyphos::Transforms& transforms) {", "(void)found; }"),
    ("docs/cpp.md", "const hyphos::Clock clock = node.clock();"): ("", *BODY),
    ("docs/cpp.md", "class Doubler {"): ("", *FILE),
    ("docs/gateways.md", '#include "hyphos/gateway.hpp"                            // '
     "hyphos::gateway in CMake"): ("", "void shown(int argc, char** argv) {", "}"),
    ("docs/params.md", "const hyphos::Params params = node.params();"): (
        "using LaserScan = hyphos::msgs::LaserScan;\n"
        "void drive(const LaserScan&, double);\nvoid honk();",
        *BODY,
    ),
    ("docs/params.md", "params.check([](const hyphos::ParamSet& next) {"): (
        "", "void shown(const hyphos::Params& params) {", "}"),
    ("docs/params.md", 'const hyphos::RemoteParams cruise = node.remote_params("cruise");'): (
        "", *BODY),
    ("docs/services.md", 'node.service<Sum, Total>("add", [](const Sum& sum) -> '
     "hyphos::Result<Total> {"): (_CALLS, *BODY),
    ("docs/services.md", 'auto add = node.client<Sum, Total>("add");'): (_CALLS, *BODY),
    ("docs/services.md", "void drive(const Goal& goal) {"): (
        "struct DriveTo { double metres = 0; };\nstruct Driven { double metres = 0; };\n"
        "using Goal = hyphos::GoalHandle<DriveTo, Driven, Driven>;",
        *FILE,
    ),
    ("docs/time.md", "hyphos::SimTimeOptions options;"): (
        "struct World { void step(double); };\nWorld world;", *BODY),
    ("docs/reference/tracing.md", "#include <hyphos/inspect.hpp>"): ("", "void shown() {", "}"),
    ("docs/transforms.md", "auto transforms = node.transforms();"): ("", *BODY),
    ("docs/transforms.md", "(void)transforms.set("): (
        "", "void shown(const hyphos::Transforms& transforms, hyphos::Time now, double angle) {",
        "}",
    ),
    ("docs/transforms.md", "const auto found ="): (
        "", "void shown(const hyphos::Transforms& transforms) {", "(void)found; }"),
    ("docs/transforms.md", "laser->isometry().transform(hyphos::Points<const float>{&cloud[0].x, "
     "cloud.size(), sizeof(Point)},"): (
        "struct Point { float x, y, z; };",
        "void shown(const hyphos::Result<hyphos::Transform>& laser, std::vector<Point>& cloud) {",
        "}",
    ),
}  # fmt: skip
