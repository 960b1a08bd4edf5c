#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "cosim/core/simulator.hpp"

namespace hyphos::cosim {

/// Physics without inputs, computed ahead of the engine in a separate thread: while the network
/// runs one window, the thread already computes the next steps. The results are identical, because
/// poses do not depend on how time is divided into calls. An error is reported when the engine
/// reaches its instant.
///
/// Only for simulators that are not steered. steer() is refused (unsupported), because later steps
/// may already be computed. At most a few hundred steps are buffered. One thread at a time uses the
/// inner simulator: ~Ahead() destroys it after its thread has ended.
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
  bool put(std::int64_t index, const Result<void>& result);
  Frame take();
  void stop() HYPHOS_EXCLUDES(mutex_);

  std::unique_ptr<Physics> physics_;
  Step step_;
  std::int64_t index_ = 0;
  Time now_;
  std::vector<Pose> poses_;
  std::optional<Error> broken_;

  Mutex mutex_;
  Condition filled_;
  Condition emptied_;
  std::deque<Frame> frames_ HYPHOS_GUARDED_BY(mutex_);
  // reused memory of consumed frames
  std::vector<std::vector<Pose>> spare_ HYPHOS_GUARDED_BY(mutex_);
  bool stopped_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hyphos::cosim
