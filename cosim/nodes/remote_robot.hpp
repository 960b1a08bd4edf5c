#pragma once

#include <memory>
#include <vector>

#include "cosim/nodes/robot.hpp"
#include "cosim/remote/codec.hpp"
#include "cosim/remote/worker.hpp"

namespace hyphos::cosim {

/// A robot whose nodes are in a process of its own. If that dies, hangs or answers nonsense, it is
/// a disconnected, timeout or corrupt error that names the robot and the instant, and the process
/// is ended and reaped.
class RemoteRobot final : public RobotNodes {
 public:
  explicit RemoteRobot(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}

  Result<std::vector<OpenChannel>> channels() override;
  Result<void> wire(const Wiring& wiring) override;
  Result<void> begin(const RobotInput& input) override;
  Result<RobotOutput> finish() override;
  Result<std::vector<RobotDrops>> drops() override;
  [[nodiscard]] Worker& worker() { return *worker_; }

 private:
  /// Sends `request_`; the answer is what follows its first byte, or the error that it says.
  Result<Reader> ask();
  Result<void> send();
  Result<Reader> receive();
  [[nodiscard]] Error at_this_instant(Error error) const;
  [[nodiscard]] Error nonsense();

  std::unique_ptr<Worker> worker_;
  Time now_;
  Writer request_;
  std::vector<std::byte> answer_;
};

/// The other side: answers until it is asked to quit. `failure`, if there is one, is the answer to
/// everything: what went wrong when the robot was made.
void serve(IpcChannel& channel, RobotNodes& robot);
void serve_failure(IpcChannel& channel, const Error& failure);

}  // namespace hyphos::cosim
