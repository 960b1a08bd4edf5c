// A stand-in for a Gazebo server without physics. It offers the world-control service and publishes
// poses of five models, at every change and every few milliseconds. The models m0 to m3 move on
// circles. The program ends at the end of its input.
//
//   cosim_gazebo_stand_in WORLD PARTITION ignition|gz [FAULT [STEPS]]
//
// A fault begins after STEPS steps: die, hang (no replies), ignore (steps are accepted but not
// made), fast (two steps instead of one), refuse, lose (a model), nan, run (continue, paused or
// not), silent (no poses). The fault `deaf` loses the notices of subscribers until the end of the
// first service call.

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ignition/transport/Node.hh>
#include <ignition/transport/NodeShared.hh>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cosim/physics/gazebo/messages.hpp"

namespace {

using namespace hyphos::cosim;

struct Fault {
  std::string kind;
  long after = 0;
};

template <typename Family>
class StandIn {
 public:
  StandIn(const std::string& world, const std::string& partition, Fault fault)
      : fault_(std::move(fault)), node_(options(partition)) {
    poses_ = node_.Advertise<typename Family::Poses>("/world/" + world + "/dynamic_pose/info");
    const std::function<bool(const typename Family::WorldControl&, typename Family::Boolean&)>
        control = [this](const typename Family::WorldControl& asked,
                         typename Family::Boolean& answer) { return take(asked, answer); };
    node_.Advertise("/world/" + world + "/control", control);
  }

  [[noreturn]] void run() {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const std::lock_guard lock(mutex_);
      // In two parts, so that poses in the middle of the requested steps are published as well.
      const long part = pending_ > 1 ? pending_ / 2 : pending_;
      for (int half = 0; half < 2; ++half) {
        const long now = half == 0 ? part : pending_ - part;
        step(now);
        publish();
      }
      pending_ = 0;
    }
  }

 private:
  static ignition::transport::NodeOptions options(const std::string& partition) {
    ignition::transport::NodeOptions made;
    made.SetPartition(partition);
    return made;
  }
  bool faulty(const char* kind) const { return fault_.kind == kind && steps_ >= fault_.after; }

  bool take(const typename Family::WorldControl& asked, typename Family::Boolean& answer) {
    while (faulty("hang")) ::pause();
    const std::lock_guard lock(mutex_);
    if (fault_.kind == "deaf" && !std::exchange(has_heard_, true)) lose_subscribers();
    if (faulty("die")) ::kill(::getpid(), SIGKILL);
    answer.set_data(!faulty("refuse") && asked.pause());
    if (!faulty("ignore")) pending_ += static_cast<long>(asked.multi_step());
    return true;
  }

  /// Acts as if the notices of existing subscribers had never arrived.
  static void lose_subscribers() {
    auto* transport = ignition::transport::NodeShared::Instance();
    for (;;) {
      {
        const std::lock_guard lock(transport->mutex);
        std::vector<std::string> topics;
        transport->remoteSubscribers.TopicList(topics);
        if (!topics.empty()) {
          transport->remoteSubscribers = {};
          return;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the notices are in flight
    }
  }

  void step(long count) {
    steps_ += faulty("fast") ? 2 * count : count;
    if (faulty("run")) ++steps_;
  }

  void publish() {
    if (faulty("silent") || (fault_.kind == "deaf" && !has_heard_)) return;
    typename Family::Poses poses;
    auto* stamp = poses.mutable_header()->mutable_stamp();
    const long long ns = 42'000'000'000 + steps_ * 1'000'000;  // the world ran before
    stamp->set_sec(ns / 1'000'000'000);
    stamp->set_nsec(static_cast<int>(ns % 1'000'000'000));
    for (int model = 0; model < 4 && !(model == 3 && faulty("lose")); ++model) {
      const double angle = 0.5 * static_cast<double>(steps_) * 1e-3 + model;
      add(poses, "m" + std::to_string(model), 10 * model + 3 * std::cos(angle),
          faulty("nan") ? std::numeric_limits<double>::quiet_NaN() : 3 * std::sin(angle), angle);
    }
    add(poses, "another", 0, 0, 0);
    add(poses, "m0", 7, 7, 0);  // a link
    poses_.Publish(poses);
  }

  static void add(typename Family::Poses& poses, const std::string& name, double x, double y,
                  double yaw) {
    auto* pose = poses.add_pose();
    pose->set_name(name);
    pose->mutable_position()->set_x(x);
    pose->mutable_position()->set_y(y);
    pose->mutable_position()->set_z(1);
    pose->mutable_orientation()->set_z(std::sin(yaw / 2));
    pose->mutable_orientation()->set_w(std::cos(yaw / 2));
  }

  Fault fault_;
  std::mutex mutex_;
  long pending_ = 0;
  long steps_ = 0;
  bool has_heard_ = false;
  ignition::transport::Node node_;
  ignition::transport::Node::Publisher poses_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string world = argv[1];
  const std::string partition = argv[2];
  const Fault fault{argc > 4 ? argv[4] : "", argc > 5 ? std::atol(argv[5]) : 0};
  std::thread([] {
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) {
    }
    ::_exit(0);
  }).detach();
  if (std::string(argv[3]) == "gz") {
    StandIn<GzFamily> server(world, partition, fault);
    std::puts("ready");
    std::fflush(stdout);
    server.run();
  }
  StandIn<IgnitionFamily> server(world, partition, fault);
  std::puts("ready");
  std::fflush(stdout);
  server.run();
}
