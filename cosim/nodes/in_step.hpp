#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "cosim/nodes/robot.hpp"
#include "cosim/remote/ipc_channel.hpp"
#include "hyphos/hyphos.hpp"

/// The parts that robots with nodes and robots with real programs share.
namespace hyphos::cosim {

/// A process of the robot, whose clock shows the simulated time and is advanced by its owner only.
struct InStep {
  Runtime runtime;
  Node node;
  SimTime time;
};
/// `node` is the name of our node. Replaces the clock of `options`.
[[nodiscard]] Result<InStep> open_in_step(RuntimeOptions options, const std::string& node);

/// Callbacks run in the thread that publishes.
[[nodiscard]] SubscriptionOptions where_it_is_published();

/// Publishes a reading on the channel of its sensor. `sensors` by number.
void publish_reading(std::vector<RawPublisher>& sensors, const Reading& reading);

/// A message of this robot as a packet. `sender` is the same number in every run.
[[nodiscard]] Buffer packet_of(const OpenChannel& channel, const Message<RawMessage>& message,
                               std::uint64_t sender, Time now);

/// The sums of drop counters of a process by channel and reason.
using DropSums = std::map<std::pair<std::string, std::string>, std::uint64_t>;
[[nodiscard]] DropSums sum_drops(Runtime& runtime);
[[nodiscard]] std::vector<RobotDrops> drops_of(const DropSums& sums);

/// The channels on which packets of other robots arrive. is_foreign() is thread-safe.
class Arrivals {
 public:
  /// `channel` is the name of the channel in this process. Errors: those of the publisher.
  [[nodiscard]] Result<void> open(Node& node, const Wiring::Inbound& inbound,
                                  const std::string& channel);
  /// Publishes a packet. False: it is for the channels of other robots. Errors: corrupt, and
  /// type_mismatch, which names `robot`.
  [[nodiscard]] Result<bool> publish(const RobotInput::Arrived& arrived, const std::string& robot);
  /// Whether a sender is on another robot: its messages do not leave this one again.
  [[nodiscard]] bool is_foreign(std::uint64_t sender) const;

 private:
  struct Inbound {
    Wiring::Inbound wiring;
    RawPublisher publisher;
  };
  std::vector<Inbound> inbound_;
  mutable Mutex mutex_;
  std::set<std::uint64_t> foreign_ HYPHOS_GUARDED_BY(mutex_);
};

/// The rest of the main function of a robot's process: opens the link to the engine, makes the
/// robot, and serves it until the end. Returns the exit status.
int serve_robot(const char* program, int link_fd,
                const std::function<Result<std::unique_ptr<RobotNodes>>()>& make);

}  // namespace hyphos::cosim
