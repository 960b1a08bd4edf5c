// Figure 5 of the paper, with its four YAML files: the Global Optimization of Robot 1 runs on
// Robot 2, and moves there and back while the robots run.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "hyphos/msgs/std.pb.h"
#include "tests/node/child.hpp"
#include "tests/node/harness.hpp"
#include "tros_base/tros_base.h"

namespace hyphos::test {
namespace {

using hyphos::msgs::Int64;
namespace tros_base = tros::tros_base;

class Files {
 public:
  Files() : folder_(std::filesystem::temp_directory_path() / ("hyphos-" + fresh_domain())) {
    std::filesystem::create_directories(folder_);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files() { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

 private:
  std::filesystem::path folder_;
};

std::string network(int own_port, const std::string& sends, int port, const std::string& gets) {
  return "network:\n  publisher:\n    ip: \"tcp://127.0.0.1:" + std::to_string(own_port) +
         "\"\n    channels:\n      - " + sends +
         "\n  subscribers:\n    - ip: \"tcp://127.0.0.1:" + std::to_string(port) +
         "\"\n      channels:\n        - " + gets + "\n";
}

std::string closed(const std::string& channels) {
  return "data_graph:\n  close_channels: [" + channels + "]\n";
}

TEST(Figure5, global_optimization_moves_to_robot_2_and_back) {
  const Files files;
  const int port = own_port();
  setenv("HYPHOS_DOMAIN", fresh_domain().c_str(), 1);
  // Robot 2 is a machine of its own: it shares the network alone.
  Child robot2(
      {TEST_ROBOT2, files.write("robot2_graph.yaml", closed("pre_channel, ba_channel")),
       files.write("robot2_network.yaml", network(port + 1, "ba_channel", port, "pre_channel"))});
  ASSERT_TRUE(robot2.started());
  setenv("HYPHOS_DOMAIN", fresh_domain().c_str(), 1);
  tros_base::TROSInit(
      "", files.write("robot1_graph.yaml", closed("pre_channel")),
      files.write("robot1_network.yaml", network(port, "pre_channel", port + 1, "ba_channel")), 0);
  std::atomic<int> inside{0};
  std::mutex mutex;
  std::multiset<std::int64_t> answers;
  tros_base::FromAny<Int64>("pre_channel", tros_base::kWaitLastFinish,
                            [&](const std::shared_ptr<Int64>& pre_data) {
                              if (pre_data->data() > 0) ++inside;
                              auto ba_data = std::make_shared<Int64>();
                              ba_data->set_data(-pre_data->data());
                              tros_base::ToAny("ba_channel", ba_data);
                            });
  tros_base::FromAny<Int64>("ba_channel", tros_base::kWaitLastFinish,
                            [&](const std::shared_ptr<Int64>& ba_data) {
                              const std::lock_guard lock(mutex);
                              answers.insert(-ba_data->data());
                            });
  const auto send = [](std::int64_t number) {
    auto pre_data = std::make_shared<Int64>();
    pre_data->set_data(number);
    tros_base::ToAny("pre_channel", pre_data);
  };
  const auto has = [&](std::size_t count) {
    const std::lock_guard lock(mutex);
    return answers.size() - answers.count(0) == count;
  };
  // 0 is sent until the robots are connected.
  ASSERT_TRUE(eventually([&] {
    send(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::lock_guard lock(mutex);
    return answers.count(0) > 0;
  }));

  for (int number = 1; number <= 60; ++number) send(number);
  EXPECT_TRUE(eventually([&] { return has(60); }));
  EXPECT_EQ(inside, 0);

  // Back to Robot 1, to Robot 2, and so on, while messages pass.
  Runtime runtime = tros_base::detail::process.node->runtime();
  for (int number = 61; number <= 660; ++number) {
    if (number % 60 == 1) {
      const bool back = number % 120 == 61;
      runtime.open_channel_only("pre_channel", back ? Where::inside : Where::outside).or_throw();
    }
    send(number);
  }
  EXPECT_TRUE(eventually([&] { return has(660); }));
  EXPECT_EQ(inside, 300);
  const std::lock_guard lock(mutex);
  for (int number = 1; number <= 660; ++number) {
    EXPECT_EQ(answers.count(number), 1U) << number;
  }
  EXPECT_EQ(robot2.stop(SIGTERM), 0);
  tros_base::NetworkBridge::Instance().Stop();
}

}  // namespace
}  // namespace hyphos::test
