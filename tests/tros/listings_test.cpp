// The calls of the paper's listings and guide.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

#include "hyphos/msgs/std.pb.h"
#include "tests/node/harness.hpp"
#include "tros_base/tros_base.h"

namespace hyphos::test {
namespace {

using hyphos::msgs::Int64;
namespace tros_base = tros::tros_base;
using namespace tros::tros_base;

// The functions share one node. It opens in the domain of the environment, and other processes run
// in the usual one.
[[maybe_unused]] const int own_domain = setenv("HYPHOS_DOMAIN", fresh_domain().c_str(), 1);

TEST(Tros, data_of_any_type_passes_within_the_process) {
  std::atomic<int> sum{0};
  std::atomic<int> shared{0};
  std::atomic<bool> same{true};
  const auto pointer = std::make_shared<int>(88);
  FromGraph<int>("wheel_odom_channel", kWaitLastFinish, [&](const int& data) { sum += data; });
  FromGraph<int>("wheel_odom_channel", kParallelInvoke, [&](const int& data) { sum += data; });
  FromGraph<std::shared_ptr<int>>("shared_channel", kWaitLastFinish,
                                  [&](const std::shared_ptr<int>& data) {
                                    same = same && data == pointer;
                                    ++shared;
                                  });
  for (int i = 0; i < 10; ++i) {
    ToGraph("wheel_odom_channel", 5);
    ToGraph("wheel_odom_channel", 8);
    ToGraph("shared_channel", pointer);
    if (i == 5) SetCloseChannel("shared_channel", true);
  }
  EXPECT_TRUE(eventually([&] { return sum == 260 && shared == 6; })) << sum << ' ' << shared;
  EXPECT_TRUE(same);
  EXPECT_TRUE(BeSubscribed("wheel_odom_channel"));
  EXPECT_FALSE(BeSubscribed("test_channel"));
  SetCloseChannel("shared_channel", false);
  ToGraph("shared_channel", pointer);
  EXPECT_TRUE(eventually([&] { return shared == 7; }));
}

struct Command : NetworkData {
  int number = 0;
  bool SerializeToString(std::string* output) override {
    *output = std::to_string(number);
    return true;
  }
  bool ParseFromString(const std::string& data) override {
    number = std::stoi(data);
    return true;
  }
};

TEST(Tros, to_any_reaches_from_graph_and_from_any) {
  std::atomic<std::int64_t> graph{0};
  std::atomic<std::int64_t> any{0};
  FromGraph<std::shared_ptr<Int64>>(
      "count", kWaitLastFinish, [&](const std::shared_ptr<Int64>& data) { graph += data->data(); });
  FromAny<Int64>("count", kParallelInvoke,
                 [&](const std::shared_ptr<Int64>& data) { any += data->data(); });
  FromAny<Command>("command", kWaitLastFinish,
                   [&](const std::shared_ptr<Command>& data) { any += data->number; });
  const auto count = std::make_shared<Int64>();
  count->set_data(7);
  ToAny("count", count);
  const auto command = std::make_shared<Command>();
  command->number = 100;
  ToAny("command", command);
  EXPECT_TRUE(eventually([&] { return graph == 7 && any == 107; }));
}

TEST(Tros, a_burst_is_kept) {
  std::atomic<int> heard{0};
  FromGraph<int>("burst", kWaitLastFinish, [&](const int&) { ++heard; });
  for (int i = 0; i < 5000; ++i) ToGraph("burst", i);
  EXPECT_TRUE(eventually([&] { return heard == 5000; })) << heard;
}

TEST(Tros, channels_of_a_graph_file_are_closed) {
  const PlanFile file("data_graph:\n  close_channels:\n    - \"quiet\"\n");
  InitCloseChannel(file.path());
  std::atomic<int> quiet{0};
  std::atomic<int> loud{0};
  FromGraph<int>("quiet", kWaitLastFinish, [&](const int&) { ++quiet; });
  FromGraph<int>("loud", kWaitLastFinish, [&](const int&) { ++loud; });
  ToGraph("quiet", 1);
  ToGraph("loud", 1);
  EXPECT_TRUE(eventually([&] { return loud == 1; }));
  EXPECT_EQ(quiet, 0);
}

TEST(Tros, parameters_are_a_tree) {
  EXPECT_TRUE(tros_base::Params().IsNull());
  const PlanFile file(
      "profile:\n  name: rover\n  car_id: {level1: 122, level2: 233}\nsensor: imu\n");
  ParamsInit(file.path());
  EXPECT_EQ(tros_base::Params()["profile"]["name"].as<std::string>(), "rover");
  EXPECT_EQ(tros_base::Params()["profile"]["car_id"]["level2"].as<int>(), 233);
  EXPECT_EQ(tros_base::Params()["sensor"].as<std::string>(), "imu");
  EXPECT_FALSE(tros_base::Params()["profile"]["absent"].IsDefined());
  tros_base::detail::process.open().shared_params().set("profile.car_id.level2", 5).or_throw();
  EXPECT_EQ(tros_base::Params()["profile"]["car_id"]["level2"].as<int>(), 5);
}

TEST(Tros, frames_are_composed_with_the_newest_stamp_between_them) {
  Eigen::Isometry3d move = Eigen::Isometry3d::Identity();
  move.translate(Eigen::Vector3d(1.0, 2.0, 3.0));
  Eigen::Isometry3d turn = Eigen::Isometry3d::Identity();
  turn.rotate(Eigen::AngleAxisd(M_PI / 4, Eigen::Vector3d(0, 0, 1)));
  ToTF({100, "base_frame", "A", move});
  ToTF({200, "A", "B", turn});
  ToTF({300, "base_frame", "C", move});
  ToTF({400, "C", "D", turn});
  ToTF({500, "C", "E", move});
  ToTF({600, "E", "F", turn});
  const TFFrame d = FromTF("base_frame", "D");
  EXPECT_EQ(d.time_stamp, 400U);
  EXPECT_EQ(d.parent_frame, "base_frame");
  EXPECT_EQ(d.now_frame, "D");
  EXPECT_TRUE(d.tf_to_parent.isApprox(move * turn));
  const TFFrame f = FromTF("B", "F");
  EXPECT_EQ(f.time_stamp, 600U);
  EXPECT_TRUE(f.tf_to_parent.isApprox(turn.inverse() * move * turn));
  EXPECT_EQ(FromTF("A", "B").time_stamp, 200U);
  EXPECT_TRUE(FromTF("B", "A").tf_to_parent.isApprox(turn.inverse()));
  EXPECT_EQ(FromTF("E", "Q").now_frame, "NoFind");
}

TEST(Tros, relative_time_starts_at_the_base) {
  const std::uint64_t real = GetTimeSystem().GetRealTime();
  EXPECT_GE(GetTimeSystem().GetRelativeTime(), real);
  GetTimeSystem().SetBaseTime(5'000'000);
  const std::uint64_t first = GetTimeSystem().GetRelativeTime();
  EXPECT_GE(first, 5'000'000U);
  EXPECT_LT(first, real);
  EXPECT_TRUE(eventually([&] { return GetTimeSystem().GetRelativeTime() > first; }));
}

}  // namespace
}  // namespace hyphos::test
