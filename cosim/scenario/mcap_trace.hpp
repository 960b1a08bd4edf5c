#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "cosim/core/engine.hpp"
#include "cosim/core/json_line.hpp"
#include "cosim/scenario/scene_lines.hpp"
#include "record/mcap_writer.hpp"

namespace hyphos::cosim {

struct Scenario;

/// The events of a run as an MCAP file for Foxglove and `hyphos bag`. Sends, deliveries and drops
/// are on `cosim/packets`, windows on `cosim/windows`. The pose of each robot is on `NAME/pose` ten
/// times per second, at the end of the first window that reaches the instant. At these instants,
/// `cosim/links` has the ratio of signal to noise of each link, and `cosim/scene` the picture for
/// Foxglove (SceneLines). Messages are JSON
/// with a schema. Times are simulated. The same scenario and seed give the same bytes.
class McapTrace {
 public:
  enum class Of { lock_step, real_time };  ///< packets of real time are frames of real programs
  /// Errors: already_exists unless `overwrite`, and file system errors.
  [[nodiscard]] static Result<McapTrace> create(const std::filesystem::path& path, bool overwrite,
                                                const Scenario& scenario, Of of = Of::lock_step);

  void sent(const Packet& packet);
  void outcome(const Outcome& outcome, const Packet& sent);
  void window(Time reached, std::span<const Pose> poses);
  /// The same without the window itself, for runs whose windows are all alike.
  void instant(Time reached, std::span<const Pose> poses);
  /// Writes the index. Returns the first error of the whole trace.
  [[nodiscard]] Result<void> close();

 private:
  struct Line {
    Time time;
    std::uint16_t channel = 0;
    std::string json;
  };
  McapTrace(record::McapWriter writer, const Scenario& scenario, Of of);
  Result<void> open_channels();
  [[nodiscard]] std::string name_of(NodeId node) const;
  [[nodiscard]] JsonLine head(const char* event, const Packet& packet, NodeId to) const;
  void write_lines();

  record::McapWriter writer_;
  std::vector<std::string> robots_;
  bool nodes_;  // packets come from nodes and contain their channel
  std::uint16_t packets_ = 0;
  std::uint16_t windows_ = 0;
  std::uint16_t links_ = 0;
  std::uint16_t scene_ = 0;
  SceneLines picture_;
  std::vector<Pose> placed_;  // at the end of the last window
  std::vector<std::uint16_t> poses_;
  std::vector<Line> lines_;  // lines of this window
  std::vector<std::uint32_t> counts_;
  Time reached_;
  Time next_poses_;
  Result<void> written_ = success();
};

}  // namespace hyphos::cosim
