#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/core/packet.hpp"
#include "cosim/network/radio_model.hpp"

namespace hyphos::cosim {

struct Scenario;

/// The picture of a run as messages: `foxglove.SceneUpdate` with the obstacles, the robots, the
/// links coloured by their ratio of signal to noise, and the packets that were lost. Ratios are
/// those of the analytic radio with the keys of the scenario. With more than kMostRobots there are
/// no links, because their number is quadratic.
class SceneLines {
 public:
  static constexpr std::size_t kMostRobots = 64;
  static constexpr std::size_t kMostLost = 200;  ///< marks between two samples

  /// A copy without a radio model has no links (replayed and ideal networks).
  explicit SceneLines(const Scenario& scenario);

  /// The schema of `foxglove.SceneUpdate`, and of the links.
  [[nodiscard]] static const char* scene_schema();
  [[nodiscard]] static const char* links_schema();

  /// The obstacles, which never change.
  [[nodiscard]] std::string world() const;
  /// The robots and links at an instant, and the packets lost since the last call.
  [[nodiscard]] std::string sample(Time now, std::span<const Pose> poses);
  /// The links at an instant: [{"from":"a","to":"b","snr_db":21.3},…].
  [[nodiscard]] std::string links(Time now, std::span<const Pose> poses) const;
  /// Marks a lost copy. Marks beyond kMostLost are left out of the picture.
  void lost(const Packet& packet, NodeId to, std::span<const Pose> poses);

 private:
  struct Link {
    NodeId a = 0;
    NodeId b = 0;
    double snr_db = 0;
  };
  [[nodiscard]] std::vector<Link> measured(Time now, std::span<const Pose> poses) const;
  [[nodiscard]] std::string robot(NodeId node, Time now, const Pose& pose) const;

  std::vector<std::string> names_;
  std::vector<Box> boxes_;
  std::shared_ptr<const Scene> scene_;  // of the radio model
  std::shared_ptr<const RadioModel> radio_;
  std::vector<Vec3> lost_;
  std::uint64_t marks_ = 0;
};

}  // namespace hyphos::cosim
