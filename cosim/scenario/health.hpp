#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "cosim/core/engine.hpp"

namespace hyphos::cosim {

struct Scenario;

/// Detects robots that lie on their side, make no progress on their path, or have left the ground.
/// It does not change the run.
///
/// Cost: a few nanoseconds for each robot, ten times in each simulated second.
class Health {
 public:
  /// `scenario` must outlive the object.
  explicit Health(const Scenario& scenario);

  void look(Time now, std::span<const Pose> poses);
  /// The troubles until now, by robot.
  [[nodiscard]] std::vector<Trouble> troubles() const;

 private:
  struct Watched {
    std::array<Trouble, kTroubles> troubles{};
    std::array<Time, kTroubles> since{};  // when the current trouble began
    std::array<bool, kTroubles> now{};
    Vec3 place{};  // where it was when it last moved
    Time moved{};
  };

  void see(Watched& robot, TroubleKind kind, bool there, Time now, Duration least);
  [[nodiscard]] bool on_its_way(std::size_t robot, const Pose& pose) const;
  [[nodiscard]] bool outside(const Vec3& place) const;

  const Scenario& scenario_;
  std::vector<Watched> robots_;
  std::vector<bool> steered_;
  Time due_{};
  Time seen_{};
};

}  // namespace hyphos::cosim
