#include "view/layout/layout.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace hyphos::view {
namespace {

Vocabulary words() {
  Vocabulary made;
  made.displays = {{"grid", {"cell", "color"}, {}},
                   {"points", {"color", "size", "decay"}, {"hyphos.msgs.PointCloud"}},
                   {"laser_scan", {"color"}, {"hyphos.msgs.LaserScan"}},
                   {"map", {"scheme"}, {"hyphos.msgs.OccupancyGrid"}},
                   {"transforms", {"names"}, {"hyphos.msgs.TfMessage"}},
                   {"robot_model", {"alpha"}, {"hyphos.msgs.String"}, "robot_description"},
                   {"image", {"alpha", "place"}, {"hyphos.msgs.Image"}}};
  made.panels = {{"scene", {}, {}},
                 {"channels", {"filter"}, {}},
                 {"image", {"channel"}, {"hyphos.msgs.Image"}},
                 {"plot", {"fields", "window_s"}, {}},
                 {"log", {"channel", "filter"}, {"hyphos.msgs.Log"}}};
  return made;
}

Layout parse(const std::string& text) {
  auto parsed = parse_layout(text, "l.yaml", words());
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  return parsed ? *parsed : Layout{};
}

std::string problem(const std::string& text) {
  const auto parsed = parse_layout(text, "l.yaml", words());
  EXPECT_FALSE(parsed) << text;
  return parsed ? "" : parsed.error().to_string();
}

Channel channel(std::string name, std::string type) {
  Channel made;
  made.name = std::move(name);
  made.type = std::move(type);
  return made;
}

constexpr const char* kWhole = R"(hyphos_view: 1
theme: light
budget_mb: 256
fixed_frame: map
compare: {arrange: columns, align: time, shift_s: -0.5, alpha: 0.25, tint: 1}
camera: {kind: top_down, follow: base, follow_heading: true, target: [1, -2.5, 0], distance: 30}
views:
  "front left": {yaw: 1.5}
  top: {kind: top_down, pitch: 1.5}
displays:
  - {show: grid}
  - {show: points, channel: lidar, visible: false, color: height, size: 3}
panels:
  columns:
    - {panel: scene, size: 3}
    - size: 2
      rows:
        - {panel: channels, filter: "a b"}
        - {panel: plot, size: 0.5, fields: [odom:twist.twist.linear.x, "scan:ranges[3]"]}
)";

TEST(Layout, IsReadAndWrittenAsTheSameText) {
  const Layout layout = parse(kWhole);
  EXPECT_EQ(layout_text(layout), kWhole);
  EXPECT_EQ(layout.camera.target[1], -2.5);
  EXPECT_EQ(layout.displays[1].settings.at("color").word(), "height");
  ASSERT_EQ(layout.panels.children.size(), 2U);
  const PanelLayout& plot = layout.panels.children[1].children[1];
  EXPECT_EQ(plot.settings.at("fields").words,
            (std::vector<std::string>{"odom:twist.twist.linear.x", "scan:ranges[3]"}));
}

TEST(Layout, AWordIsATextOfItsSetting) {
  const Setting setting("camera");
  EXPECT_EQ(setting.word().data(), setting.words.front().data()) << "a copy that has ended";
  EXPECT_EQ(Setting().word(), "");
}

TEST(Layout, LeavesOutDefaults) {
  EXPECT_EQ(layout_text(parse("hyphos_view: 1\n")), "hyphos_view: 1\npanels: {panel: scene}\n");
}

TEST(Layout, ErrorsNameThePlaceAndTheNearestWord) {
  EXPECT_NE(
      problem("hyphos_view: 1\ndisplays: [{show: pionts}]\n")
          .find("l.yaml:2:19: displays[0]: unknown display 'pionts' (did you mean 'points'?)"),
      std::string::npos)
      << problem("hyphos_view: 1\ndisplays: [{show: pionts}]\n");
  EXPECT_NE(problem("hyphos_view: 1\npanels: {panel: plot, feilds: [a]}\n")
                .find("unknown key (did you mean 'fields'?)"),
            std::string::npos);
  EXPECT_NE(problem("hyphos_view: 1\nthem: dark\n").find("did you mean 'theme'?"),
            std::string::npos);
  EXPECT_NE(problem("theme: dark\n").find("hyphos_view: missing"), std::string::npos);
  EXPECT_NE(problem("hyphos_view: 2\n").find("from 1 to 1"), std::string::npos);
}

TEST(Layout, AllErrorsAreReportedAtOnce) {
  const std::string text = problem(
      "hyphos_view: 1\nbudget_mb: 1\ndisplays: [{show: x}, {show: grid, y: 1}]\npanels: {rows: "
      "[]}\n");
  for (const char* line : {":2:", ":3:", ":4:"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
}

TEST(Layout, BadStructureIsRefused) {
  EXPECT_NE(problem("hyphos_view: 1\npanels: {columns: [{panel: scene}], rows: []}\n")
                .find("no other key"),
            std::string::npos);
  EXPECT_NE(problem("hyphos_view: 1\npanels: {size: 1}\n").find("expected `panel: KIND`"),
            std::string::npos);
  EXPECT_NE(problem("hyphos_view: 1\npanels: 3\n").find("expected a map"), std::string::npos);
  EXPECT_NE(problem("hyphos_view: 1\ncamera: {target: [1, 2]}\n").find("three numbers"),
            std::string::npos);
  EXPECT_NE(problem("hyphos_view: 1\ncamera: {distance: .nan}\n").find("distance"),
            std::string::npos);
  EXPECT_NE(
      problem("hyphos_view: 1\ndisplays: [{show: grid, color: {a: 1}}]\n").find("a word or a list"),
      std::string::npos);
  EXPECT_NE(problem("hyphos_view: 1\ndisplays: [{show: grid}, {show: grid, show: points}]\n")
                .find("show"),
            std::string::npos);
}

TEST(Layout, SeveralSourcesAreComparedAsWritten) {
  const Layout layout = parse("hyphos_view: 1\ncompare: {arrange: columns, shift_s: [1, 0, -2]}\n");
  EXPECT_EQ(layout.compare.arrange, "columns");
  EXPECT_EQ(layout.compare.align, "start");
  EXPECT_EQ(layout.compare.shift_s, (std::vector<double>{1, 0, -2}));
  EXPECT_NE(problem("hyphos_view: 1\ncompare: {arrange: colums}\n").find("columns"),
            std::string::npos);
  EXPECT_NE(problem("hyphos_view: 1\ncompare: {alpha: 2}\n").find("alpha"), std::string::npos);
  EXPECT_NE(problem("hyphos_view: 1\ncompare: {shift_s: [1, 2, 3, 4]}\n").find("more than 3"),
            std::string::npos);
  EXPECT_NE(problem("hyphos_view: 1\ncompare: {shift_s: far}\n").find("a number"),
            std::string::npos);
}

std::vector<Part> two_parts() {
  std::vector<Part> parts(2);
  parts[1].label = "b";
  return parts;
}

TEST(Layout, AFurtherSourceIsShownAsTheFirst) {
  Layout layout = parse(
      "hyphos_view: 1\ndisplays:\n  - {show: grid}\n  - {show: points, channel: lidar, color: "
      "height}\n  - {show: points, channel: other}\n  - {show: laser_scan, channel: /scan, color: "
      "lidar, visible: false}\n");
  const std::vector<Channel> channels = {channel("lidar", ""), channel("b/lidar", ""),
                                         channel("/scan", ""), channel("b/scan", "")};
  add_parts(layout, two_parts(), channels);
  ASSERT_EQ(layout.displays.size(), 6U) << layout_text(layout);
  EXPECT_EQ(layout.displays[4].channel, "b/lidar");
  EXPECT_EQ(layout.displays[4].settings.at("color").word(), "height");
  EXPECT_EQ(layout.displays[5].channel, "b/scan");
  EXPECT_FALSE(layout.displays[5].visible);
  EXPECT_EQ(layout.displays[5].settings.at("color").word(), "b/lidar") << "a channel of the second";
  const Layout before = layout;
  add_parts(layout, two_parts(), channels);
  EXPECT_EQ(layout, before) << "it has displays already";
}

TEST(Layout, AFurtherRobotMayOfferItsChannelsLater) {
  Layout layout = parse("hyphos_view: 1\ndisplays: [{show: points, channel: lidar}]\n");
  std::vector<Part> parts = two_parts();
  parts[1].live = true;
  add_parts(layout, parts, {});
  ASSERT_EQ(layout.displays.size(), 2U);
  EXPECT_EQ(layout.displays[1].channel, "b/lidar");
}

TEST(Layout, NumberOfPanelsIsBounded) {
  std::string text = "hyphos_view: 1\npanels:\n  rows:\n";
  for (std::size_t i = 0; i <= kMaxPanels; ++i) text += "    - {panel: scene}\n";
  EXPECT_NE(problem(text).find("more than 64 panels"), std::string::npos);
}

/// A layout with random contents.
class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}

  Layout layout() {
    Layout made;
    made.theme = pick({"dark", "light"});
    made.budget_mb = real(16, 4096);
    made.fixed_frame = word();
    made.compare.arrange = pick({"ghost", "columns"});
    made.compare.align = pick({"start", "time"});
    for (int i = count(3); i > 0; --i) made.compare.shift_s.push_back(real(-1e6, 1e6));
    made.compare.alpha = real(0.05, 1);
    made.compare.tint = real(0, 1);
    made.camera = camera();
    for (int i = count(3); i > 0; --i) made.views[word() + "v"] = camera();
    for (int i = count(5); i > 0; --i) {
      DisplayLayout display;
      display.kind = pick({"grid", "points", "laser_scan"});
      display.channel = word();
      display.visible = count(1) == 1;
      if (count(1) == 1) display.settings["color"] = Setting(word());
      made.displays.push_back(display);
    }
    made.panels = panel(0);
    return made;
  }

 private:
  int count(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  double real(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random_);
  }
  std::string pick(std::vector<std::string> from) {
    return from[static_cast<std::size_t>(count(static_cast<int>(from.size()) - 1))];
  }
  /// Texts that YAML could read as something else.
  std::string word() {
    return pick({"",     "map",   "a b", "null",  "~",    "yes", "12",   "-",   "- x", "-5",
                 "a: b", "a#b",   "#a",  "\"q\"", "it's", "[x]", "{",    "}",   "a,b", "\xc3\xa4",
                 "a\nb", "tab\t", "*",   "&a",    "!x",   "%",   "@",    "`",   "|",   ">",
                 "a:",   ":a",    "a:b", "...",   "---",  ".",   "0x1f", "1e5", " x "});
  }
  CameraLayout camera() {
    CameraLayout made;
    made.kind = pick({"orbit", "first_person", "top_down", "anchor"});
    made.follow = word();
    made.follow_heading = count(1) == 1;
    for (double& one : made.target) one = real(-1e3, 1e3);
    made.distance = real(0.001, 1e6);
    made.yaw = real(-10, 10);
    made.pitch = real(-10, 10);
    made.roll = real(-10, 10);
    return made;
  }
  PanelLayout panel(int depth) {
    PanelLayout made;
    made.size = real(0.01, 100);
    if (depth < 3 && count(2) > 0) {
      made.split = count(1) == 1 ? PanelLayout::Split::rows : PanelLayout::Split::columns;
      for (int i = 1 + count(2); i > 0; --i) made.children.push_back(panel(depth + 1));
      return made;
    }
    made.kind = pick({"scene", "plot", "log"});
    if (made.kind == "log") made.settings["filter"] = Setting(word());
    if (made.kind == "plot") made.settings["fields"] = Setting::of({word(), word()});
    if (made.kind == "plot" && count(1) == 1) made.settings["fields"] = Setting::of({});
    return made;
  }
  std::mt19937 random_;
};

TEST(Layout, AnyLayoutReadsBackEqual) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    const Layout layout = Random(seed).layout();
    const std::string text = layout_text(layout);
    const auto again = parse_layout(text, "l.yaml", words());
    ASSERT_TRUE(again) << again.error().to_string() << "\n" << text;
    ASSERT_EQ(*again, layout) << text;
    ASSERT_EQ(layout_text(*again), text);
  }
}

TEST(Layout, IsSavedAndLoaded) {
  const std::string path = testing::TempDir() + "layout" + std::to_string(::getpid()) + ".yaml";
  const Layout layout = parse(kWhole);
  ASSERT_TRUE(save_layout(path, layout));
  const auto loaded = load_layout(path, words());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(*loaded, layout);
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  std::filesystem::remove(path);
  EXPECT_EQ(load_layout(path, words()).error().code, Code::not_found);
  const auto refused = save_layout("/absent/folder/l.yaml", layout);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::not_found);
  EXPECT_EQ(refused.error().where, "/absent/folder/l.yaml");
}

TEST(DefaultLayout, ShowsEachChannelThatHasADisplay) {
  const std::vector<Channel> channels = {
      channel("lidar", "hyphos.msgs.PointCloud"), channel("scan", "hyphos.msgs.LaserScan"),
      channel("front", "hyphos.msgs.Image"), channel("log", "hyphos.msgs.Log"),
      channel("own", "my.Type")};
  const Layout layout = default_layout(channels, words());
  const std::string text = layout_text(layout);
  EXPECT_EQ(text, R"(hyphos_view: 1
displays:
  - {show: grid}
  - {show: points, channel: lidar}
  - {show: laser_scan, channel: scan}
panels:
  columns:
    - {panel: scene, size: 5}
    - size: 3
      rows:
        - {panel: image, channel: front}
        - {panel: channels}
        - {panel: log, channel: log}
)");
  EXPECT_EQ(parse(text), layout);
}

/// The displays of a default layout as "kind channel", hidden ones with a minus.
std::string shown(const std::vector<Channel>& channels) {
  std::string text;
  for (const DisplayLayout& one : default_layout(channels, words()).displays) {
    if (one.channel.empty()) continue;
    text += (one.visible ? "" : "-") + one.kind + " " + one.channel;
    for (const auto& [key, value] : one.settings) {
      text += " " + key + "=" + std::string(value.word());
    }
    text += "\n";
  }
  return text;
}

TEST(DefaultLayout, LayersThatHideOneAnotherAreNotShownTogether) {
  const std::string grid = "hyphos.msgs.OccupancyGrid";
  EXPECT_EQ(shown({channel("local_costmap", grid), channel("area", grid), channel("map", grid),
                   channel("walls", grid)}),
            "map local_costmap scheme=costmap\n-map area\nmap map\n-map walls\n");
  EXPECT_EQ(shown({channel("area", grid), channel("walls", grid)}), "map area\n-map walls\n");
  const std::string frames = "hyphos.msgs.TfMessage";
  EXPECT_EQ(shown({channel("tf", frames)}), "transforms tf\n");
  EXPECT_EQ(shown({channel("robot_description", "hyphos.msgs.String"), channel("tf", frames)}),
            "robot_model robot_description\n-transforms tf\n");
}

TEST(DefaultLayout, AnImageWithACalibrationStandsInTheScene) {
  const Channel info = channel("front/camera_info", "hyphos.msgs.CameraInfo");
  EXPECT_EQ(shown({info, channel("front/image", "hyphos.msgs.Image")}),
            "image front/image place=scene\n");
  EXPECT_EQ(shown({info, channel("rear/image", "hyphos.msgs.Image")}), "");
}

TEST(DefaultLayout, GrowsWithTheChannelsAndKeepsOthers) {
  Layout layout = default_layout({}, words());
  const std::vector<Channel> first = {channel("scan", "hyphos.msgs.LaserScan")};
  extend_layout(layout, first, words());
  extend_layout(layout, first, words());
  ASSERT_EQ(layout.displays.size(), 2U) << "a display twice";
  EXPECT_EQ(layout.displays[1].channel, "scan");
}

TEST(DefaultLayout, PlotsSingleNumbersInOnePanel) {
  const std::vector<Channel> first = {channel("error", "hyphos.msgs.Float64"),
                                      channel("own", "my.Type")};
  Layout layout = default_layout(first, words());
  std::vector<Channel> later = {channel("error", "hyphos.msgs.Float64"),
                                channel("count", "hyphos.msgs.Int32")};
  extend_layout(layout, later, words());
  EXPECT_NE(layout_text(layout).find("{panel: plot, fields: [error:data, count:data]}"),
            std::string::npos)
      << layout_text(layout);
  for (int i = 0; i < 20; ++i) {
    later.push_back(channel("n" + std::to_string(i), "hyphos.msgs.Float64"));
  }
  extend_layout(layout, later, words());
  EXPECT_EQ(layout.panels.children.back().children.back().settings.at("fields").words.size(), 8U);
}

TEST(DefaultLayout, OfManyChannelsIsBounded) {
  const std::vector<Channel> image = {channel("front", "hyphos.msgs.Image")};
  Layout twice = default_layout(image, words());
  extend_layout(twice, image, words());
  EXPECT_EQ(twice.panels.children[1].children.size(), 2U) << layout_text(twice);
  std::vector<Channel> channels;
  for (int i = 0; i < 2'000; ++i) {
    channels.push_back(channel("c" + std::to_string(i), "hyphos.msgs.PointCloud"));
    channels.push_back(channel("i" + std::to_string(i), "hyphos.msgs.Image"));
  }
  const Layout layout = default_layout(channels, words());
  EXPECT_EQ(layout.displays.size(), kMaxDisplays);
  std::size_t visible = 0;
  for (const DisplayLayout& one : layout.displays) visible += one.visible ? 1 : 0;
  EXPECT_EQ(visible, 13U);  // the grid and twelve clouds
  EXPECT_TRUE(parse_layout(layout_text(layout), "l.yaml", words()));
}

}  // namespace
}  // namespace hyphos::view
