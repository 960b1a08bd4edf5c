"""The code that fragments of the documents assume, by page and first line.

A fragment assumes that a node exists. Each entry completes it to a program. For Python these are
statements before it. For C++ these are declarations before it, and the function or class around it.
"""

from __future__ import annotations

_CPP = "docs/how-to/cpp.md"
_DIAGNOSTICS = "docs/how-to/diagnostics.md"
_PARAMS = "docs/how-to/params.md"
_PYTHON = "docs/how-to/python.md"
_SERVICES = "docs/how-to/services.md"
_SYNC = "docs/how-to/synchronize.md"
_TIME = "docs/how-to/time.md"
_TRANSFORMS = "docs/how-to/transforms.md"

# --- Python -------------------------------------------------------------------------------------

_STRUCTS = """
from hyphos import Struct
Sum = Struct("example.Sum", [("a", "i8"), ("b", "i8")])
Total = Struct("example.Total", [("value", "i8")])
DriveTo = Struct("example.DriveTo", [("metres", "f8")])
Driven = Struct("example.Driven", [("metres", "f8")])
"""
# The fragments look up the frames now, also on a busy machine. The history has 10 s.
_FRAMES = """
import time
from hyphos import Transform
transforms = node.transforms()
transforms.set_static(Transform("base", "laser", (0, -0.3, 0.2)))
transforms.set(Transform("map", "base", (1, 0, 0), stamp_ns=time.time_ns() - 10**9))
transforms.set(Transform("map", "base", (1, 0, 0), stamp_ns=time.time_ns() + 8 * 10**9))
"""

PYTHON = {
    ("docs/reference/from_ros2_features.md", "import hyphos"): "",
    ("docs/how-to/own_types.md", "from rover.safety_pb2 import Safety"): """
import sys
from pathlib import Path
from hyphos.ros.protos import python_modules
Path("protos/rover").mkdir(parents=True)
text = 'syntax = "proto3"; message Safety { bool stop = 1; double distance = 2; }'
Path("protos/rover/safety.proto").write_text(text)
python_modules([Path("protos")], Path("modules"))
sys.path.insert(0, "modules")
""",
    ("docs/how-to/gateway_ros2.md", "from hyphos.types import Raw"): "callback = print",
    ("docs/reference/messages_ros.md", "from hyphos.ros.convert import RosTypes"): """
from hyphos.msgs import LaserScan
from hyphos.ros import convert
wire = convert.RosTypes().write("sensor_msgs/LaserScan", "ros1", LaserScan())
""",
    (_DIAGNOSTICS, "def charge(report: hyphos.DiagnosticReport) -> None:"): """
volts = node.params().declare("volts", 25.2)
""",
    (_DIAGNOSTICS, "volts.watch(lambda _: diagnostics.publish())"): """
volts = node.params().declare("volts", 25.2)
diagnostics = hyphos.Diagnostics(node)
""",
    (_PARAMS, "params = node.params()"): """
from hyphos.msgs import LaserScan
drive = print
""",
    (_PYTHON, 'camera = node.publisher("camera", hyphos.Attached[Image])'): """
from hyphos.msgs import Image
def grab(pixels): pixels[:] = 0
""",
    (_PYTHON, "params = node.params()"): "",
    ("docs/how-to/shared_params.md", "shared = node.shared_params()"): "",
    (_PYTHON, "refusals = hyphos.Refusals(node)"): """
from hyphos.msgs import LaserScan
def unusable(scan: LaserScan) -> str: return ""
""",
    (_PYTHON, 'node.log.info("at %s, %.1f V", place, volts)  # formatted only if it is '
     "written"): """
import logging
place, volts = "here", 11.5
""",
    (_PYTHON, "async def ask(node: hyphos.Node) -> None:"): "import asyncio" + _STRUCTS,
    (_PYTHON, "transforms = node.transforms()"): "from hyphos import Transform",
    (_PYTHON, 'laser = transforms.get("map", "laser", time.time_ns(), timeout_ms=1000)'):
        _FRAMES,
    (_PYTHON, 'node.every(lambda: print(f"beep at {node.clock.elapsed_s():.0f} s", '
     "flush=True), period_ms=1000)"): "",
    (_PYTHON, 'with hyphos.Recording("run.mcap", ["scan", "camera/*"]) as recording:'): "",
    (_PYTHON, 'with Path(file).open("rb") as recording:'): """
from itertools import islice
from pathlib import Path
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory
file, channel = "values.mcap", "value"
with hyphos.Recording(file, ["value"]):
    pass
""",
    (_SERVICES, 'drive_to = node.action_client("drive_to", DriveTo, Driven, Driven)'):
        _STRUCTS + """
tell = print
server = node.action("drive_to", DriveTo, Driven, Driven, lambda goal: Driven(metres=2))
""",
    (_SYNC, "def fuse(image, scan):"): "from hyphos.msgs import Image, LaserScan",
    (_SYNC, 'node.synchronize({"left": Tick, "right": Tick}, fuse, stamp=lambda tick: '
     "round(tick.seconds * 1e9))"): """
Tick = hyphos.Struct("example.Tick", [("seconds", "f8")])
fuse = print
""",
    (_SYNC, "for channel in sync.counts():"): """
from hyphos.msgs import LaserScan
sync = node.synchronize({"left": LaserScan, "right": LaserScan}, print)
""",
    (_SYNC, "group = node.callback_group()"): """
from hyphos.msgs import LaserScan, Odometry
see = move = print
""",
    (_TIME, "with hyphos.SimTime(node, manual=True) as time:"): """
class World:
    def step(self, seconds): node.runtime.request_stop()
world = World()
""",
    (_TRANSFORMS, "transforms = node.transforms()"): """
from hyphos import Transform
there, heading, now = (1, 2, 0), (0, 0, 1.5), 10**18
""",
    (_TRANSFORMS, 'laser = transforms.get("map", "laser", time.time_ns(), '
     "timeout_ms=1000)"): _FRAMES,
    (_TRANSFORMS, "in_map = laser.apply("): _FRAMES + """
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

# (declarations before it, the line that opens, the line that closes)
CPP = {
    (_CPP, "const hyphos::Refusals refusals(node);                                        "
     "    // declares the parameter `refused`"): (
        "using LaserScan = hyphos::msgs::LaserScan;\n"
        "std::string unusable(const LaserScan& scan);",
        *BODY,
    ),
    (_CPP, "struct Wheel {"): ("", *FILE),
    ("docs/how-to/own_types.md", "struct Pose {"): ("", *FILE),
    ("docs/how-to/own_types.md", "struct Cloud {"): ("", *BODY),
    ("docs/how-to/tros.md", '#include "tros_base/tros_base.h"'): ("", *FILE),
    (_CPP, "struct Route {"): ("", *FILE),
    (_CPP, 'node.subscribe<Wheel>("wheel", hyphos::serial, [](const '
     "hyphos::Message<Wheel>& wheel) {"): (_WHEEL, *BODY),
    (_CPP, "Published publish(T value);                            // moved in; local "
     "subscribers get a pointer to it"): (
        "using hyphos::Published, hyphos::Loan, hyphos::Message;",
        "template <typename T> struct Shown {",
        "};",
    ),
    (_CPP, "hyphos::WritableBuffer pixels = image.loan_bytes(kWidth * kHeight);"): (
        "using Picture = hyphos::Attached<hyphos::msgs::Image>;\n"
        "constexpr std::uint32_t kWidth = 4, kHeight = 3;",
        "void shown(const hyphos::Publisher<Picture>& image) {",
        "}",
    ),
    (_CPP, 'auto relayed = node.publisher<hyphos::Buffer>("relayed");'): ("", *BODY),
    (_CPP, "node.every(hyphos::Duration::from_ms(20), [this] { step(); });   // one call "
     "at a time; late ones are skipped; the grid stays"): (
        "using Odometry = hyphos::msgs::Odometry;\nstruct Debug { int value = 0; };",
        "struct Shown { void step(); explicit Shown(const hyphos::Node& node) {",
        "}};",
    ),
    (_CPP, "hyphos::Policy latched;"): ("", *BODY),
    (_CPP, "const hyphos::Params params = node.params();"): ("", *BODY),
    (_CPP, "const auto log = node.log();"): (
        "std::string place; double volts = 0;", *BODY),
    (_CPP, 'node.service<Sum, Total>("add", [](const Sum& sum) -> '
     "hyphos::Result<Total> {"): (_CALLS, *BODY),
    (_CPP, 'auto add = node.client<Sum, Total>("add");'): (_CALLS, *BODY),
    (_CPP, "auto transforms = node.transforms();"): ("", *BODY),
    (_CPP, "const auto found ="): (
        "", "void shown(const hyphos::Transforms& transforms) {", "(void)found; }"),
    (_CPP, "const hyphos::Clock clock = node.clock();"): ("", *BODY),
    ("docs/how-to/cpp_project.md", "class Doubler {"): ("", *FILE),
    ("docs/how-to/cpp_project.md", "hyphos::RuntimeOptions options;"): (
        "", "void shown() {", "}"),
    ("docs/how-to/gateways.md", '#include "hyphos/gateway.hpp"                            // '
     "hyphos::gateway in CMake"): ("", "void shown(int argc, char** argv) {", "}"),
    (_PARAMS, "const hyphos::Params params = node.params();"): (
        "using LaserScan = hyphos::msgs::LaserScan;\n"
        "void drive(const LaserScan&, double);\nvoid honk();",
        *BODY,
    ),
    ("docs/how-to/shared_params.md",
     "const hyphos::SharedParams shared = node.shared_params();"): ("", *BODY),
    (_PARAMS, "params.check([](const hyphos::ParamSet& next) {"): (
        "", "void shown(const hyphos::Params& params) {", "}"),
    (_PARAMS, 'const hyphos::RemoteParams cruise = node.remote_params("cruise");'): (
        "", *BODY),
    (_SERVICES, 'node.service<Sum, Total>("add", [](const Sum& sum) -> '
     "hyphos::Result<Total> {"): (_CALLS, *BODY),
    (_SERVICES, 'auto add = node.client<Sum, Total>("add");'): (_CALLS, *BODY),
    (_SERVICES, "void drive(const Goal& goal) {"): (
        "struct DriveTo { double metres = 0; };\nstruct Driven { double metres = 0; };\n"
        "using Goal = hyphos::GoalHandle<DriveTo, Driven, Driven>;",
        *FILE,
    ),
    (_SERVICES, 'const auto text = hyphos::make_type_id("bytes", hyphos::Encoding::bytes);'): (
        "", *BODY),
    ("docs/how-to/testing.md", "TEST(GuardTest, stops_before_the_wall) {"): (
        "struct Distance { double metres = 0; };\nstruct Stop { bool now = false; };\n"
        "struct Guard { explicit Guard(const hyphos::Node&) {} };",
        *FILE,
    ),
    (_DIAGNOSTICS, 'const hyphos::Diagnostics diagnostics(node, {.hardware_id = "SN 1205"});'): (
        "hyphos::Param<double> volts;", *BODY),
    (_SYNC, "auto sync = hyphos::synchronize<Image, LaserScan>("): (
        "using Image = hyphos::Attached<hyphos::msgs::Image>;\n"
        "using hyphos::msgs::LaserScan;\nvoid fuse(const Image&, const LaserScan&);",
        *BODY,
    ),
    (_SYNC, "struct Tick {"): ("", *FILE),
    (_SYNC, "hyphos::SubscriptionOptions options;"): (
        "using hyphos::msgs::LaserScan, hyphos::msgs::Odometry;\n"
        "struct Map { void insert(const LaserScan&); void move(const Odometry&); };\nMap map;",
        *BODY,
    ),
    (_TIME, "hyphos::SimTimeOptions options;"): (
        "struct World { void step(double); };\nWorld world;", *BODY),
    ("docs/reference/tracing.md", "#include <hyphos/inspect.hpp>"): ("", "void shown() {", "}"),
    (_TRANSFORMS, "auto transforms = node.transforms();"): ("", *BODY),
    (_TRANSFORMS, "(void)transforms.set("): (
        "", "void shown(const hyphos::Transforms& transforms, hyphos::Time now, double angle) {",
        "}",
    ),
    (_TRANSFORMS, "const auto found ="): (
        "", "void shown(const hyphos::Transforms& transforms) {", "(void)found; }"),
    (_TRANSFORMS, "laser->isometry().transform(hyphos::Points<const float>{&cloud[0].x, "
     "cloud.size(), sizeof(Point)},"): (
        "struct Point { float x, y, z; };",
        "void shown(const hyphos::Result<hyphos::Transform>& laser, std::vector<Point>& cloud) {",
        "}",
    ),
    ("docs/tutorials/first_robot_cpp.md", "hyphos::WritableBuffer pixels = "
     "image.loan_bytes(kWidth * kHeight);"): (
        "using Picture = hyphos::Attached<hyphos::msgs::Image>;\n"
        "constexpr std::uint32_t kWidth = 4, kHeight = 3;",
        "void shown(const hyphos::Publisher<Picture>& image) {",
        "}",
    ),
}  # fmt: skip
