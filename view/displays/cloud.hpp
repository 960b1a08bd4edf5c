#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "view/displays/display.hpp"

namespace hyphos::view {

/// Points of one message in its frame, before they go to the GPU. Either `colored` or `valued`.
struct Cloud {
  std::string frame;
  Time stamp;
  std::vector<Vertex> colored;
  std::vector<ValuePoint> valued;
  std::uint64_t skipped = 0;  ///< NaN or infinite
  std::uint64_t every = 1;    ///< one of so many points was taken, for the budget
  bool has_colors = false;    ///< `colored` has colours of the message

  [[nodiscard]] std::size_t size() const { return colored.size() + valued.size(); }
};

/// The common part of displays of points: history, colours, ranges, and messages that wait for
/// their transform.
class CloudDisplay : public Display {
 public:
  void take(const Sample& sample) final;
  void clear() final;
  void paint(Painter& painter) final;
  bool settings_changed() final;
  void fixed_frame_changed(const std::string& from) final;
  bool update() final;
  void set_visible(bool visible) final;
  std::optional<Picked> pick(const Ray& ray, double radius) final;
  [[nodiscard]] Bounds bounds() const final;
  [[nodiscard]] std::size_t bytes() const final;
  [[nodiscard]] std::int64_t oldest_ns() const final;
  [[nodiscard]] std::int64_t history_ns() const final;
  void drop_oldest() final;

  /// Messages that wait for their transform: at most this many, the oldest leave first.
  static constexpr std::size_t kMostWaiting = 32;
  static constexpr std::size_t kMostWaitingBytes = std::size_t{64} << 20U;

 protected:
  CloudDisplay();

  /// Reads a message. The error is the sentence of the status.
  virtual Result<Cloud> decode(const Sample& sample) = 0;
  /// The name of the value of `valued` points, e.g. "intensity".
  [[nodiscard]] virtual std::string value_name() const { return "value"; }
  /// Adds the choice of colours. Called by constructors of subclasses.
  void add_properties(std::vector<std::string> colorings, std::string coloring);

  /// The chosen colouring: "auto", "rgb", "field", "height", "flat".
  std::string coloring_;
  Color flat_{236, 236, 240, 255};
  std::string map_ = "turbo";
  bool auto_range_ = true;
  double low_ = 0;
  double high_ = 1;
  double size_ = 2;
  bool size_in_m_ = false;
  bool round_ = false;
  double alpha_ = 1;
  double history_s_ = 0;

 private:
  struct Range {
    double low = 0;
    double high = 0;
  };
  bool show(const Sample& sample);
  void place(Cloud& cloud, const Pose& pose, std::int64_t time_ns);
  void widen(std::optional<Range>& range, std::vector<float>& samples);
  void apply_style();
  void describe();
  [[nodiscard]] bool keeps_newest_only() const { return history_s_ == 0; }

  std::unique_ptr<Retained> set_;
  std::deque<Sample> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::uint64_t seen_frames_ = 0;
  std::optional<Range> height_range_;
  std::optional<Range> value_range_;
  bool last_valued_ = false;
  bool last_colored_ = false;
  std::uint64_t last_every_ = 1;
  std::uint64_t last_skipped_ = 0;
  std::string used_coloring_;  // with which the present points were decoded
};

}  // namespace hyphos::view
