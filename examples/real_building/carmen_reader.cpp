// Publishes the scans and the odometry of a CARMEN log at the pace of the mapper, then ends the
// run.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "carmen_log.hpp"
#include "hyphos/hyphos.hpp"
#include "nodes/check.hpp"
#include "nodes/convert.hpp"

namespace {

using hyphos::msgs::LaserScan;
using hyphos::msgs::Odometry;
using hyphos::msgs::PoseStamped;

class CarmenReader {
 public:
  explicit CarmenReader(const hyphos::Node& node)
      : refusals_(node),
        log_(patrol::read_carmen_log(node.param("file", ""))),
        runtime_(node.runtime()),
        odom_(node.publisher<Odometry>("odom")),
        scan_(node.publisher<LaserScan>("scan")),
        mapped_(node.subscribe<PoseStamped>("pose", hyphos::inline_,
                                            [this](const auto&) {
                                              const std::lock_guard lock(mutex_);
                                              ++poses_;
                                              answered_.notify_one();
                                            })),
        thread_([this](const std::stop_token& stop) { read(stop); }) {}

 private:
  void read(const std::stop_token& stop) {
    // Messages published before the mapper subscribes are lost, so wait for the mapper.
    while (!stop.stop_requested() && (odom_.listeners() == 0 || scan_.listeners() == 0)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::size_t count = 0;
    for (const patrol::CarmenScan& entry : log_.scans) {
      if (stop.stop_requested() || runtime_.stopping()) return;
      Odometry odometry;
      odometry.mutable_header()->set_stamp_ns(entry.scan.stamp_ns);
      patrol::set_pose(entry.odometry, *odometry.mutable_pose()->mutable_pose());
      LaserScan scan = patrol::to_message(entry.scan);
      // The mapper sends no pose for a scan that it refuses.
      if (refusals_.refuse("log", patrol::unusable(odometry))) continue;
      if (refusals_.refuse("log", patrol::unusable(scan))) continue;
      odom_.publish(std::move(odometry));
      // Blocks while the mapper is busy, so nothing is dropped at any speed.
      scan_.publish(std::move(scan));
      if (++count % 100 == 0) std::printf("%zu of %zu scans\n", count, log_.scans.size());
    }
    // The mapper publishes a pose for every scan. The run ends after the pose of the last scan.
    std::unique_lock lock(mutex_);
    answered_.wait(lock, stop, [&] { return poses_ >= count; });
    runtime_.request_stop();
  }

  const hyphos::Refusals refusals_;
  const patrol::CarmenLog log_;
  hyphos::Runtime runtime_;
  hyphos::Publisher<Odometry> odom_;
  hyphos::Publisher<LaserScan> scan_;
  std::mutex mutex_;
  std::condition_variable_any answered_;
  std::size_t poses_ = 0;
  hyphos::Subscription mapped_;
  std::jthread thread_;
};

}  // namespace

HYPHOS_NODE(CarmenReader)
