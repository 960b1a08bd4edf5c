#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "hyphos/msgs/geometry.pb.h"
#include "hyphos/msgs/std.pb.h"
#include "view/displays/display.hpp"

namespace hyphos::view {

/// Parses a payload. False: the bytes are no message of this type.
template <typename T>
[[nodiscard]] bool parse(const Sample& sample, T& message) {
  return sample.payload.size() < (std::size_t{1} << 31U) &&
         message.ParseFromArray(sample.payload.data(), static_cast<int>(sample.payload.size()));
}

[[nodiscard]] inline Error corrupt(std::string text) {
  return Error{Code::corrupt, std::move(text), ""};
}

/// "the message is not a hyphos.msgs.Path (1,234 bytes)".
[[nodiscard]] std::string not_a(std::string_view type, const Sample& sample);

/// ROS 1 wrote "/map".
[[nodiscard]] std::string frame_of(const msgs::Header& header);
[[nodiscard]] inline Time stamp_of(const msgs::Header& header) { return Time{header.stamp_ns()}; }

[[nodiscard]] inline Vec3 to_eigen(const msgs::Point& p) { return {p.x(), p.y(), p.z()}; }
[[nodiscard]] inline Vec3 to_eigen(const msgs::Vector3& p) { return {p.x(), p.y(), p.z()}; }
[[nodiscard]] Color to_color(const msgs::ColorRGBA& color);

/// The largest coordinate of a position, m. Vertices are floats, and their differences stay finite.
inline constexpr double kFarthest = 1e12;

/// A pose of a message. None if a number is not finite, or a coordinate beyond kFarthest. A
/// quaternion of another length than 1 is normalised. One of length 0 (unset) is no rotation.
[[nodiscard]] std::optional<Pose> to_pose(const msgs::Pose& pose);

/// The half axes of the ellipsoid of a 3x3 covariance at `sigmas` standard deviations, as columns.
/// None if the matrix is not finite, not symmetric or has a negative eigenvalue.
[[nodiscard]] std::optional<Mat3> covariance_axes(const Mat3& covariance, double sigmas);

/// A display of the newest message of one type, at the pose of its header.
///
/// The pose is looked up when the message comes, and again when transforms come, until it is known.
/// A message without a stamp follows its frame.
template <typename T>
class MessageDisplay : public Display {
 public:
  void take(const Sample& sample) final {
    ++counters_.taken;
    T message;
    if (!parse(sample, message)) return refuse(not_a(message.GetTypeName(), sample));
    if (std::string why = check(message); !why.empty()) return refuse(std::move(why));
    message_ = std::move(message);
    time_ns_ = sample.time_ns;
    bytes_ = sample.payload.size();
    pose_.reset();
    resolve();
  }
  void clear() override {
    message_.reset();
    pose_.reset();
    bytes_ = 0;
    report(Health::waiting, "no message yet");
  }
  bool update() override {
    if (!message_) return false;
    if (pose_ && stamp().ns != 0) return false;
    if (surroundings().frames->version() == seen_frames_ && pose_) return false;
    return resolve();
  }
  void fixed_frame_changed(const std::string&) override {
    pose_.reset();
    if (message_) resolve();
  }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 protected:
  /// The reason why a message cannot be shown, or "". It may be changed, e.g. normalised.
  virtual std::string check(T& message) = 0;
  /// The message is valid, and its pose is known or has changed. Reports the status.
  virtual void placed(const T& message, const Pose& pose) = 0;
  /// The pose of a message is not known.
  virtual void lost() {}

  [[nodiscard]] virtual const msgs::Header& header() const { return message_->header(); }
  [[nodiscard]] Time stamp() const { return stamp_of(header()); }
  bool resolve() {
    seen_frames_ = surroundings().frames->version();
    const auto found = pose_of(frame_of(header()), stamp());
    const bool had = pose_.has_value();
    if (!found) {
      pose_.reset();
      if (had) lost();
      return had;
    }
    if (pose_ && pose_->isApprox(*found, 1e-12)) return false;
    pose_ = *found;
    placed(*message_, *pose_);
    return true;
  }

  std::optional<T> message_;
  std::optional<Pose> pose_;
  std::int64_t time_ns_ = 0;
  std::size_t bytes_ = 0;

 private:
  std::uint64_t seen_frames_ = 0;
};

}  // namespace hyphos::view
