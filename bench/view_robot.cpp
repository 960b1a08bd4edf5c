// The robots of bench/view.py.
//
//   bench_view_robot cloud --domain D      points and odometry, as fast as lines of stdin ask
//   bench_view_robot body --domain D       odometry at 500 Hz, a lidar of 20,000 points at 10 Hz
//   bench_view_robot listen --domain D     measures the latencies of body
//
// cloud reads "RATE TOTAL": it publishes RATE points a second until there are TOTAL, and prints the
// number of points and messages. RATE 0 publishes nothing. listen prints its percentiles since the
// last line for each line. Both read "counters": the sums of all endpoints of the domain. All end
// with stdin.

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "hyphos/hyphos.hpp"
#include "hyphos/inspect.hpp"
#include "hyphos/msgs/nav.pb.h"
#include "hyphos/msgs/sensor.pb.h"

namespace {

using Cloud = hyphos::Attached<hyphos::msgs::PointCloud>;

constexpr std::size_t kMessagePoints = 2'000;
constexpr std::size_t kLidarPoints = 20'000;
constexpr std::uint32_t kPointBytes = 16;
constexpr std::int64_t kSecond = 1'000'000'000;

void sleep_until(std::int64_t ns) {
  const timespec at{ns / kSecond, ns % kSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) != 0) {
  }
}

hyphos::msgs::PointCloud head_of(std::size_t points) {
  hyphos::msgs::PointCloud head;
  head.mutable_header()->set_stamp_ns(hyphos::wall_now().ns);
  head.mutable_header()->set_frame_id("map");
  head.set_height(1);
  head.set_width(static_cast<std::uint32_t>(points));
  head.set_point_step(kPointBytes);
  head.set_row_step(static_cast<std::uint32_t>(points) * kPointBytes);
  std::uint32_t offset = 0;
  for (const char* name : {"x", "y", "z", "intensity"}) {
    auto& field = *head.add_fields();
    field.set_name(name);
    field.set_offset(offset);
    field.set_datatype(hyphos::msgs::PointField::FLOAT32);
    field.set_count(1);
    offset += 4;
  }
  return head;
}

/// A piece of a pipe along x, as bench/view_cloud.py makes it for the other viewers.
void fill(hyphos::WritableBuffer& memory, std::size_t number, std::size_t points) {
  auto* to = reinterpret_cast<float*>(memory.data());
  for (std::size_t i = 0; i < points; ++i) {
    const double along = static_cast<double>(number) * 0.02 + 0.0001 * static_cast<double>(i % 200);
    const double angle = 0.6283 * static_cast<double>(i / 200) + 0.01 * static_cast<double>(number);
    *to++ = static_cast<float>(along - 25);
    *to++ = static_cast<float>(4 * std::cos(angle) + 0.1 * std::sin(along * 9));
    *to++ = static_cast<float>(2 * std::sin(angle) + 2);
    *to++ = static_cast<float>(i % 256);
  }
}

void publish_cloud(const hyphos::Publisher<Cloud>& to, std::size_t number, std::size_t points) {
  hyphos::WritableBuffer memory = to.loan_bytes(points * kPointBytes);
  fill(memory, number, points);
  Cloud cloud;
  cloud.head = head_of(points);
  cloud.buffers.push_back(std::move(memory).freeze());
  to.publish(std::move(cloud));
}

void publish_odometry(const hyphos::Publisher<hyphos::msgs::Odometry>& to, double along) {
  hyphos::msgs::Odometry odometry;
  odometry.mutable_header()->set_stamp_ns(hyphos::wall_now().ns);
  odometry.mutable_header()->set_frame_id("map");
  odometry.set_child_frame_id("base");
  auto& pose = *odometry.mutable_pose()->mutable_pose();
  pose.mutable_position()->set_x(along - 25);
  pose.mutable_orientation()->set_w(1);
  to.publish(odometry);
}

/// Sums of the counters of all endpoints, as one JSON object: "lidar sent", "lidar drop.shm…".
void print_counters(const std::string& domain) {
  std::map<std::string, std::uint64_t> sums;
  for (const auto& process : hyphos::inspect(domain).or_throw()) {
    for (const auto& endpoint : process.endpoints) {
      for (const auto& [name, count] : endpoint.counters) {
        sums[endpoint.channel + " " + name] += count;
      }
    }
  }
  std::string text;
  for (const auto& [name, count] : sums) {
    text += (text.empty() ? "{\"" : ", \"") + name + "\": " + std::to_string(count);
  }
  std::printf("%s}\n", text.empty() ? "{" : text.c_str());
  std::fflush(stdout);
}

int run_cloud(const std::string& domain) {
  hyphos::RuntimeOptions options;
  options.domain = domain;
  const hyphos::Node node = hyphos::Node::open("robot", options).or_throw();
  const auto cloud = node.publisher<Cloud>("cloud");
  const auto odometry = node.publisher<hyphos::msgs::Odometry>("odom");
  cloud.wait_for(1, hyphos::Duration::from_ms(60'000)).or_throw();
  std::size_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "counters") {
      print_counters(domain);
      continue;
    }
    std::istringstream words(line);
    double rate = 0;
    std::size_t total = 0;
    if (!(words >> rate >> total)) return 2;
    const auto period =
        static_cast<std::int64_t>(static_cast<double>(kMessagePoints) / rate * kSecond);
    std::int64_t due = hyphos::monotonic_now().ns;
    std::int64_t pose_due = due;
    for (; rate > 0 && number * kMessagePoints < total; ++number) {
      sleep_until(due);
      publish_cloud(cloud, number, kMessagePoints);
      if (due >= pose_due) {  // at 10 Hz
        publish_odometry(odometry, static_cast<double>(number) * 0.02);
        pose_due += kSecond / 10;
      }
      due += period;
    }
    std::printf("%zu %zu\n", number * kMessagePoints, number);
    std::fflush(stdout);
  }
  return 0;
}

int run_body(const std::string& domain) {
  hyphos::RuntimeOptions options;
  options.domain = domain;
  const hyphos::Node node = hyphos::Node::open("body", options).or_throw();
  const auto lidar = node.publisher<Cloud>("lidar");
  const auto odometry = node.publisher<hyphos::msgs::Odometry>("odom");
  std::thread([] {
    while (std::getchar() != EOF) {
    }
    std::_Exit(0);
  }).detach();
  constexpr std::int64_t kPeriod = kSecond / 500;
  std::int64_t due = hyphos::monotonic_now().ns;
  for (std::size_t i = 0;; ++i, due += kPeriod) {
    sleep_until(due);
    publish_odometry(odometry, 0.001 * static_cast<double>(i % 10'000));
    // Half a period later, so that the two do not wait for one another.
    if (i % 50 != 0) continue;
    sleep_until(due + kPeriod / 2);
    publish_cloud(lidar, i / 50, kLidarPoints);
  }
}

/// Durations from publish() to the begin of a callback.
class Latencies {
 public:
  void add(std::int64_t ns) {
    const std::lock_guard lock(mutex_);
    values_.push_back(ns);
  }
  std::string take() {
    std::vector<std::int64_t> values;
    {
      const std::lock_guard lock(mutex_);
      values.swap(values_);
    }
    std::ranges::sort(values);
    const auto at = [&](double share) {
      if (values.empty()) return 0.0;
      const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size()));
      return static_cast<double>(values[std::min(place, values.size() - 1)]) / 1e3;
    };
    char text[128];
    std::snprintf(text, sizeof(text), "{\"count\": %zu, \"p50\": %.1f, \"p99\": %.1f}",
                  values.size(), at(0.5), at(0.99));
    return text;
  }

 private:
  std::mutex mutex_;
  std::vector<std::int64_t> values_;
};

int run_listen(const std::string& domain) {
  hyphos::RuntimeOptions options;
  options.domain = domain;
  const hyphos::Node node = hyphos::Node::open("mind", options).or_throw();
  Latencies odometry;
  Latencies lidar;
  const auto first = node.subscribe<hyphos::msgs::Odometry>(
      "odom", hyphos::serial, [&](const hyphos::Message<hyphos::msgs::Odometry>& message) {
        odometry.add(hyphos::monotonic_now().ns - message.stamps().publish);
      });
  const auto second =
      node.subscribe<Cloud>("lidar", hyphos::serial, [&](const hyphos::Message<Cloud>& message) {
        lidar.add(hyphos::monotonic_now().ns - message.stamps().publish);
      });
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "counters") {
      print_counters(domain);
      continue;
    }
    std::printf("{\"odom\": %s, \"lidar\": %s}\n", odometry.take().c_str(), lidar.take().c_str());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  const bool named = argc == 4 && std::strcmp(argv[2], "--domain") == 0;
  try {
    if (named && role == "cloud") return run_cloud(argv[3]);
    if (named && role == "body") return run_body(argv[3]);
    if (named && role == "listen") return run_listen(argv[3]);
  } catch (const hyphos::Exception& error) {
    std::fprintf(stderr, "bench_view_robot: %s\n", error.what());
    return 1;
  }
  std::fputs("usage: bench_view_robot cloud|body|listen --domain D\n", stderr);
  return 2;
}
