#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "cosim/core/time.hpp"
#include "cosim/nodes/in_step.hpp"
#include "cosim/outside/body.hpp"
#include "cosim/outside/children.hpp"
#include "cosim/outside/rest.hpp"

namespace hyphos::cosim {

/// The programs of a robot in lock step.
struct OutsideOptions {
  BodyNames names{};
  std::string folder{};                 ///< in which the programs run
  std::vector<std::string> gateway{};   ///< the command of a gateway. Empty: none
  std::vector<std::string> run{};       ///< the command of the programs
  std::vector<std::string> wait_for{};  ///< channels that the programs open before time 0
  std::int64_t clock_rate_hz = 100;
  Duration rest{};                               ///< as for Rest::wait()
  Duration discovery{};                          ///< real time for DDS to connect programs
  Duration timeout = Duration::from_ms(20'000);  ///< for the start, and for each rest
};

/// A robot with real programs, which may be of ROS, in lock step with the simulation.
///
/// A step brings the time, the pose, the readings and the packets to the programs, one message
/// after the other, and waits after each until the programs are at rest (Rest). Their messages and
/// commands take effect at the instant of the step, in the order of channel, sender and sequence
/// number. So they take no simulated time, and the load of the machine has no influence on a
/// program whose output depends on its messages and on the simulated time only. Between the steps
/// the time stands still.
class OutsideRobot final : public RobotNodes {
 public:
  /// Starts the gateway and the programs. Errors: those of the programs, timeout.
  [[nodiscard]] static Result<std::unique_ptr<OutsideRobot>> open(const OutsideOptions& options);
  ~OutsideRobot() override;

  Result<std::vector<OpenChannel>> channels() override;
  Result<void> wire(const Wiring& wiring) override;
  Result<void> begin(const RobotInput& input) override;
  Result<RobotOutput> finish() override;
  Result<std::vector<RobotDrops>> drops() override;

 private:
  struct Sent {
    std::uint32_t outbound = 0;
    std::uint64_t sender = 0;
    std::uint64_t sequence = 0;
    Buffer packet;
  };

  OutsideRobot(OutsideOptions options, Step clock_step)
      : options_(std::move(options)), clock_step_(clock_step), children_(options_.names.robot) {}
  Result<void> start_gateway();
  Result<void> wait_for_discovery();
  Result<void> wait_until_open(const std::vector<std::string>& channels);
  Result<void> open_outbound(std::uint32_t outbound, const OpenChannel& channel);
  void send(std::uint32_t outbound, const OpenChannel& channel, const Message<RawMessage>& message);
  Result<void> receive(const RobotInput::Arrived& arrived);
  Result<void> rest();
  [[nodiscard]] RobotOutput take();

  OutsideOptions options_;
  Step clock_step_;
  std::unique_ptr<Body> body_;
  Arrivals arrivals_;
  std::map<std::string, TypeId> open_;  // by inner name
  Rest rest_;
  const RobotInput* input_ = nullptr;

  std::atomic<std::uint64_t> activity_{0};
  Mutex mutex_;
  std::vector<Sent> sent_ HYPHOS_GUARDED_BY(mutex_);
  std::optional<Motion> motion_ HYPHOS_GUARDED_BY(mutex_);
  // By channel: id in this run → id that all runs share.
  std::map<std::uint32_t, std::map<std::uint64_t, std::uint64_t>> senders_
      HYPHOS_GUARDED_BY(mutex_);

  Children children_;
};

}  // namespace hyphos::cosim
