#pragma once

#include <memory>
#include <vector>

#include "cosim/nodes/robot.hpp"
#include "cosim/remote/codec.hpp"
#include "cosim/remote/worker.hpp"

namespace hyphos::cosim {

/// A robot whose nodes run in a separate process. If that process dies, hangs or sends an invalid
/// reply, the result is a disconnected, timeout or corrupt error that names the robot and the
/// instant. The process is then killed and reaped.
class RemoteRobot final : public RobotNodes {
 public:
  explicit RemoteRobot(std::unique_ptr<Worker> worker, bool accepts_any = false)
      : worker_(std::move(worker)), accepts_any_(accepts_any) {}

  Result<std::vector<OpenChannel>> channels() override;
  bool accepts_any() const override { return accepts_any_; }
  Result<void> wire(const Wiring& wiring) override;
  Result<void> begin(const RobotInput& input) override;
  Result<RobotOutput> finish() override;
  Result<std::vector<RobotDrops>> drops() override;
  [[nodiscard]] Worker& worker() { return *worker_; }

 private:
  /// Sends `request_`. Returns the reply after its first byte, or the error that it contains.
  Result<Reader> ask();
  Result<void> send();
  Result<Reader> receive();
  [[nodiscard]] Error at_this_instant(Error error) const;
  [[nodiscard]] Error nonsense();

  std::unique_ptr<Worker> worker_;
  bool accepts_any_;
  Time now_;
  Writer request_;
  std::vector<std::byte> answer_;
};

/// The other side: replies to requests until the quit request. serve_failure() replies to every
/// request with `failure`, the error of creating the robot.
void serve(IpcChannel& channel, RobotNodes& robot);
void serve_failure(IpcChannel& channel, const Error& failure);

}  // namespace hyphos::cosim
