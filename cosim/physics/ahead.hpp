#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cosim/core/simulator.hpp"

namespace hyphos::cosim {

/// Physics that waits for nobody, run ahead of the engine in a thread of its own: while the network
/// runs one window, the next steps are computed already. Nothing else changes: poses do not depend
/// on the pieces in which time goes on, so each instant has those that it would have had. An error
/// is told when the engine comes to its instant.
///
/// For simulators that nothing steers: steer() is refused (unsupported), since what comes after it
/// may have been computed already. A few hundred steps are kept at most. The simulator within
/// is used by one thread at a time: its end, once the thread is gone, comes from that of ~Ahead().
class Ahead final : public Physics {
 public:
  Ahead(std::unique_ptr<Physics> physics, Step step) : physics_(std::move(physics)), step_(step) {}
  ~Ahead() override;

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> advance(Time end) override;
  Time next_event_time() const override { return step_.at(index_ + 1).value(); }
  std::span<const Pose> poses() const override { return poses_; }
  Result<std::string> steer(NodeId robot, const Motion& motion) override;

 private:
  struct Frame {
    std::int64_t index = 0;
    std::vector<Pose> poses{};
    std::optional<Error> error{};
  };

  void run(std::uint32_t nodes, std::uint64_t seed);
  bool put(std::int64_t index, Result<void> result);
  Frame take();
  void stop();

  std::unique_ptr<Physics> physics_;
  Step step_;
  std::int64_t index_ = 0;
  Time now_;
  std::vector<Pose> poses_;
  std::optional<Error> broken_;

  std::mutex mutex_;  // of what follows
  std::condition_variable filled_;
  std::condition_variable emptied_;
  std::deque<Frame> frames_;
  std::vector<std::vector<Pose>> spare_;  // memory of frames that were read
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace hyphos::cosim
