#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/view/panels/harness.hpp"
#include "tests/view/panels/pictures.hpp"
#include "tests/view/panels/robot.hpp"

/// Draws each panel with data by EGL, and compares with tests/view/golden/panels.
/// `view_panel_golden_test --update` writes the pictures again. live_test.cpp has the panels of a
/// running robot.
namespace hyphos::view {
namespace {

constexpr int kWidth = 640;
constexpr int kHeight = 400;

LatencyRow layer(const char* name, std::int64_t p50_us, std::int64_t p99_us) {
  return {name, 100, p50_us * 1'000, p99_us * 900, p99_us * 1'000, p99_us * 1'200};
}

/// A robot like that of the demo. The camera drops images, and the planner has dropped a map.
GraphSnapshot busy_robot() {
  GraphSnapshot made;
  made.time_ns = wall_now().ns;
  for (const auto& [node, process] : {std::pair{"world", "body"},
                                      {"camera", "body"},
                                      {"mapper", "brain"},
                                      {"planner", "brain"},
                                      {"watcher", "eyes"}}) {
    made.nodes.push_back({node, process, "ugv", 4'711, ProcessState::ready, false});
  }
  struct Row {
    const char* name;
    const char* type;
    std::uint32_t from;
    std::uint32_t to;
    double rate_hz;
    double bytes;
    std::int64_t p99_us;
  };
  constexpr std::array<Row, 7> kRows = {{{"drive", "Twist", 3, 0, 20, 260, 140},
                                         {"image", "Image", 1, 4, 30, 27.6e6, 5'200},
                                         {"map", "OccupancyGrid", 2, 3, 2, 256e3, 900},
                                         {"odom", "Odometry", 0, 2, 100, 9.3e3, 61},
                                         {"path", "Path", 3, 4, 2, 1.1e3, 350},
                                         {"pose", "PoseStamped", 2, 3, 20, 1.3e3, 90},
                                         {"scan", "LaserScan", 0, 2, 20, 29.6e3, 740}}};
  for (const Row& one : kRows) {
    const auto index = static_cast<std::uint32_t>(made.channels.size());
    ChannelRow& row = made.channels.emplace_back();
    row.name = one.name;
    row.type = std::string("hyphos.msgs.") + one.type;
    row.publishers = row.subscribers = 1;
    row.rate_hz = one.rate_hz;
    row.bytes_per_s = one.bytes;
    row.sent = row.received = static_cast<std::uint64_t>(one.rate_hz * 60);
    row.age_ns = 20'000'000;
    row.latency = {layer("total", one.p99_us / 3, one.p99_us),
                   layer("encode", 4, 9),
                   layer("submit", 1, 2),
                   layer("transport", one.p99_us / 6, one.p99_us / 3),
                   layer("deliver", 3, 8),
                   layer("queue", one.p99_us / 8, one.p99_us / 2),
                   layer("decode", 6, 14),
                   layer("callback", one.p99_us / 2, one.p99_us)};
    GraphEdge out;
    out.node = one.from;
    out.channel = index;
    out.publishes = true;
    out.rate_hz = one.rate_hz;
    out.bytes_per_s = one.bytes;
    GraphEdge in = out;
    in.node = one.to;
    in.publishes = false;
    in.depth = 2;
    in.total = row.latency[0];
    in.queue = row.latency[5];
    in.busy = one.rate_hz * 5e-4;
    if (row.name == "image") {
      row.drops = {{"queue", "overflow", 1'204, 3.5, "watcher subscribes in eyes"},
                   {"shm", "overflow", 12, 0, "camera publishes in body"}};
      in.drops_per_s = 3.5;
      in.dropped = 1'204;
    }
    if (row.name == "map") {
      row.drops = {{"queue", "overflow", 1, 0, "planner subscribes in brain"}};
      in.dropped = 1;
    }
    for (const DropCount& drop : row.drops) row.dropped += drop.count;
    made.edges.push_back(out);
    made.edges.push_back(in);
  }
  return made;
}

constexpr const char* kCheck = R"({
  "verdict": "marginal", "knee": 1.1, "knee_low": 0.85, "knee_high": 1.4,
  "first_to_break": "process brain",
  "channels": {"scan": {"rate_hz": 20, "bytes_per_s": 30000},
               "odom": {"rate_hz": 50, "bytes_per_s": 4600}},
  "parts": [{"kind": "process", "process": "brain", "share": 0.88},
            {"kind": "process", "process": "body", "share": 0.21},
            {"kind": "callback", "node": "mapper", "channel": "scan", "share": 0.85},
            {"kind": "process", "process": "eyes", "share": 1.5}]})";

std::string only(const std::string& panel, const std::string& more = "") {
  return "hyphos_view: 1\n" + more + "panels: {panel: " + panel + "}\n";
}

/// The state of a running robot, which does not change.
void show_robot(TestWindow& window) {
  auto source = std::make_unique<FakeSource>();
  source->is_live = true;
  window.show(std::move(source));
  window.impl().graph_->hold(busy_robot());
}

class PanelGolden : public ::testing::Test {
 protected:
  explicit PanelGolden(int width = kWidth, int height = kHeight) : window(width, height) {}
  void check() {
    check_golden(window.picture(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  void record() {
    window.show(robot_recording());
    window.impl().seek(FakeSource::kStart + 2'000'000'000);
  }
  TestWindow window;
};

class WidePanelGolden : public PanelGolden {
 protected:
  WidePanelGolden() : PanelGolden(1000, 420) {}
};

TEST_F(PanelGolden, channels) {
  show_robot(window);
  window.set_layout(only("channels"));
  window.move(120, 152);  // the row of the images
  window.frames(2);
  check();
}

TEST_F(WidePanelGolden, graph) {
  show_robot(window);
  window.set_layout(only("graph"));
  window.frames(2);
  check();
}

TEST_F(WidePanelGolden, graph_light) {
  show_robot(window);
  window.set_layout(only("graph", "theme: light\n"));
  window.frames(2);
  check();
}

TEST_F(WidePanelGolden, graph_with_prediction) {
  show_robot(window);
  window.impl().check_.set(*parse_prediction(kCheck));
  window.set_layout(only("graph"));
  window.frames(2);
  check();
}

TEST_F(WidePanelGolden, graph_tooltip) {
  show_robot(window);
  window.impl().check_.set(*parse_prediction(kCheck));
  window.set_layout(only("graph"));
  window.frames(2);
  window.move(363, 211);  // the mapper
  window.frames(2);
  check();
}

TEST_F(PanelGolden, latency) {
  show_robot(window);
  window.set_layout(only("latency, percentile: p99"));
  check();
}

TEST_F(PanelGolden, log) {
  record();
  window.set_layout(only("log"));
  window.frames(4);
  check();
}

TEST_F(PanelGolden, plot) {
  record();
  window.set_layout(only("plot, fields: [odom:twist.twist.linear.x, odom:pose.pose.position.y]"));
  window.frames(4);
  check();
}

TEST_F(PanelGolden, raw) {
  record();
  window.set_layout(only("raw, channel: odom"));
  window.frames(4);
  check();
}

TEST_F(PanelGolden, image) {
  record();
  window.set_layout(only("image, channel: camera"));
  window.frames(4);
  check();
}

TEST_F(PanelGolden, transforms) {
  record();
  window.set_layout(only("transforms, target: map, source: base",
                         "displays: [{show: transforms, channel: tf}]\n"));
  window.frames(4);
  check();
}

TEST_F(PanelGolden, displays) {
  record();
  window.set_layout(only("displays",
                         "displays:\n  - {show: grid}\n  - {show: laser_scan, channel: scan}\n"
                         "  - {show: pose, channel: odom}\n"
                         "  - {show: path, channel: path, visible: false}\n"));
  window.frames(4);
  check();
}

TEST_F(PanelGolden, search) {
  record();
  window.set_layout(only("channels"));
  window.key('K', true);
  window.frames(2);
  window.type("odom linear");
  check();
}

class WindowGolden : public PanelGolden {
 protected:
  WindowGolden() : PanelGolden(1200, 640) {}
};

TEST_F(WindowGolden, default_layout) {
  record();
  window.frames(8);
  check();
}

}  // namespace
}  // namespace hyphos::view

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  // Times of messages are shown in the local time zone.
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--update") hyphos::view::g_update = true;
  }
  return RUN_ALL_TESTS();
}
