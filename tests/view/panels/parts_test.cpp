#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "view/history.hpp"
#include "view/options.hpp"
#include "view/panels/calls.hpp"
#include "view/panels/graph_layout.hpp"
#include "view/panels/plot_canvas.hpp"
#include "view/panels/plot_series.hpp"
#include "view/panels/widgets.hpp"
#include "view/settings.hpp"

namespace hyphos::view {
namespace {

TEST(Texts, AreShort) {
  EXPECT_EQ(count_text(1'234'567), "1,234,567");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1'500), "1.50 kB");
  EXPECT_EQ(bytes_text(27.6e6), "27.6 MB");
  EXPECT_EQ(duration_text(850), "850 ns");
  EXPECT_EQ(duration_text(1'234'567), "1.23 ms");
  EXPECT_EQ(rate_text(9.94), "9.9");
  EXPECT_EQ(rate_text(0.25), "0.25");
  EXPECT_EQ(short_type("hyphos.msgs.LaserScan"), "LaserScan");
}

TEST(Texts, AgesChangeAtTheirNextAge) {
  for (const std::int64_t age :
       {0L, 400'000'000L, 5'500'000'000L, 90'000'000'000L, 8'000'000'000'000L}) {
    const std::int64_t next = next_age_ns(age);
    EXPECT_EQ(age_text(next - 1), age_text(age));
    EXPECT_NE(age_text(next), age_text(age));
  }
  EXPECT_EQ(age_text(-1), "");
}

TEST(Texts, AllWordsOfAFilterMustMatch) {
  EXPECT_TRUE(matches("", "odom"));
  EXPECT_TRUE(matches("LIN odo", "odom.twist.linear"));
  EXPECT_FALSE(matches("lin scan", "odom.twist.linear"));
}

TEST(Ticks, AreRoundAndInTheRange) {
  EXPECT_EQ(ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  for (const auto& [low, high] : {std::pair{-3.7, 12.1}, {1e-9, 2e-9}, {1e12, 1e12 + 5}}) {
    const std::vector<double> found = ticks(low, high, 6);
    ASSERT_GE(found.size(), 2U);
    ASSERT_LE(found.size(), 8U);
    for (const double value : found) {
      EXPECT_GE(value, low);
      EXPECT_LE(value, high);
    }
  }
  EXPECT_TRUE(ticks(1, 1, 5).empty());
  EXPECT_TRUE(ticks(0, INFINITY, 5).empty());
  EXPECT_EQ(tick_text(0.30000000000000004, 0.1), "0.3");
  EXPECT_EQ(tick_text(-1e-18, 0.5), "0.0");
}

TEST(Series, NamesHaveAChannelAndAField) {
  const auto name = parse_series_name("robot1/odom:twist.linear.x");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->channel, "robot1/odom");
  EXPECT_EQ(name->field, "twist.linear.x");
  for (const char* bad : {"", ":", "odom", "odom:", ":x"})
    EXPECT_FALSE(parse_series_name(bad)) << bad;
}

TEST(Series, CsvJoinsSamplesOfTheSameTime) {
  std::vector<PlotSeries> series(2);
  series[0].channel = "a";
  series[0].field = "x";
  series[1].channel = "b";
  series[1].field = "y\"z";
  constexpr std::int64_t kSecond = 1'000'000'000;
  series[0].samples.append(1 * kSecond, 1);
  series[0].samples.append(2 * kSecond, 2.5);
  series[1].samples.append(2 * kSecond, -7);
  series[1].samples.append(3 * kSecond, 8);
  EXPECT_EQ(series_csv(series, 0, 10 * kSecond, kSecond),
            "time_s,\"a:x\",\"b:y\"\"z\"\n0.000000000,1,\n1.000000000,2.5,-7\n2.000000000,,8\n");
  EXPECT_EQ(series_csv(series, 2 * kSecond, 2 * kSecond, 0),
            "time_s,\"a:x\",\"b:y\"\"z\"\n2.000000000,2.5,-7\n");
}

TEST(GraphPlaces, AChainGoesToTheRight) {
  const auto places = place_graph(4, {{0, 1}, {1, 2}, {2, 3}});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(places[static_cast<std::size_t>(i)].column, i);
}

TEST(GraphPlaces, ACycleIsPlacedAndNoTwoShareAPlace) {
  const std::vector<GraphArrow> arrows = {{0, 1}, {1, 2}, {2, 0}, {3, 1}, {4, 4}, {2, 5}, {3, 5}};
  const auto places = place_graph(7, arrows);
  ASSERT_EQ(places.size(), 7U);
  for (std::size_t a = 0; a < places.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_FALSE(places[a].column == places[b].column && places[a].row == places[b].row)
          << a << " and " << b;
    }
  }
  EXPECT_LT(places[1].column, places[2].column);
  EXPECT_TRUE(place_graph(0, {}).empty());
}

TEST(GraphPlaces, CrossingsAreAvoided) {
  // Two chains whose ends are declared in the opposite order.
  const auto places = place_graph(4, {{0, 3}, {1, 2}});
  EXPECT_EQ(places[0].row < places[1].row, places[3].row < places[2].row);
}

TEST(Calls, TypesAreParsed) {
  const auto parts = parse_call_type("a.Req(protobuf) -> b.Rep(attached)");
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].name, "a.Req");
  EXPECT_EQ(parts[1].encoding, Encoding::attached);
  for (const char* bad : {"", "a", "a(b)", "(protobuf)", "a(protobuf) -> ", "a(protobuf"}) {
    EXPECT_TRUE(parse_call_type(bad).empty()) << bad;
  }
}

TEST(Calls, AreFoundByTheirChannels) {
  ProcessInfo process;
  const auto end = [&](const char* channel, bool publishes) {
    EndpointInfo made;
    made.channel = channel;
    made.node = publishes ? "client" : "server";
    made.type_name = "a.Req(protobuf) -> b.Rep(protobuf)";
    made.is_publisher = publishes;
    if (!publishes) made.counters = {{"received", 3}};
    process.endpoints.push_back(made);
  };
  end("hyphos/service/map/save/request", false);
  end("hyphos/service/map/save/request", true);
  end("hyphos/service/map/save/reply", true);
  end("hyphos/service/mapper/_set_params/request", false);
  end("hyphos/action/drive/request", false);
  const auto services = find_calls({process}, "service");
  ASSERT_EQ(services.size(), 1U);
  EXPECT_EQ(services[0].name, "map/save");
  EXPECT_EQ(services[0].node, "server");
  EXPECT_EQ(services[0].requests, 3U);
  EXPECT_EQ(find_calls({process}, "action").size(), 1U);
}

TEST(History, StepsBackAndOnAndForgetsTheOldest) {
  History history;
  Layout layout;
  history.reset(layout);
  EXPECT_FALSE(history.can_undo());
  for (std::size_t i = 0; i < History::kMost + 20; ++i) {
    layout.budget_mb = 100 + static_cast<double>(i);
    history.record("change", layout);
  }
  layout.camera.distance = 3;
  history.record("turn", layout);  // the camera alone is no step
  std::size_t steps = 0;
  for (; history.can_undo(); ++steps) (void)history.undo();
  EXPECT_EQ(steps, History::kMost - 1);
  EXPECT_TRUE(history.can_redo());
  layout.budget_mb = 5;
  history.record("other", layout);
  EXPECT_FALSE(history.can_redo()) << "a new step ends the undone ones";
}

TEST(Settings, SurviveAndADamagedFileIsIgnored) {
  const std::string folder = testing::TempDir() + "settings" + std::to_string(::getpid());
  const std::string file = folder + "/hyphos/view.yaml";
  EXPECT_EQ(load_settings(file), UserSettings{});
  UserSettings settings;
  settings.width = 1200;
  settings.height = 700;
  settings.theme = "light";
  for (int i = 0; i < 14; ++i) settings.opened("/data/run " + std::to_string(i) + ": x.mcap");
  settings.opened("/data/run 9: x.mcap");
  ASSERT_EQ(settings.recent.size(), UserSettings::kMostRecent);
  EXPECT_EQ(settings.recent.front(), "/data/run 9: x.mcap");
  ASSERT_TRUE(save_settings(file, settings));
  EXPECT_EQ(load_settings(file), settings);
  std::ofstream(file) << "width: [";
  EXPECT_EQ(load_settings(file), UserSettings{});
  std::filesystem::remove_all(folder);
}

TEST(Options, AreRead) {
  const auto options =
      parse_options({"r.mcap", "--at", "12.5s", "--size=800x600", "--budget", "64", "--report",
                     "r.json", "--hyphos-process", "view", "--hyphos-domain", "d"});
  ASSERT_TRUE(options) << options.error().to_string();
  EXPECT_EQ(options->app.what, "r.mcap");
  EXPECT_EQ(options->app.at_s, 12.5);
  EXPECT_EQ(options->width, 800);
  EXPECT_EQ(options->height, 600);
  EXPECT_EQ(options->app.budget_mb, 64);
  EXPECT_EQ(options->report, "r.json");
  EXPECT_EQ(options->app.domain, "d");
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"--at", "-1"},
                                             {"--at", "x"},
                                             {"--size", "10"},
                                             {"--budget", "nan"},
                                             {"--png"},
                                             {"-x", "1"}}) {
    EXPECT_FALSE(parse_options(bad)) << bad[0];
  }
}

}  // namespace
}  // namespace hyphos::view
