#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "hyphos/time.hpp"

/// The messages of sensors, encoded by hand. The plug-ins of a robot bring the generated classes,
/// perhaps of another version.
namespace hyphos::cosim {

using Bytes = std::vector<std::byte>;

[[nodiscard]] Bytes encode_imu(Time now, std::string_view frame, const Quaternion& orientation,
                               const Vec3& turn, const Vec3& force);

/// The fields of hyphos.msgs.LaserScan besides the ranges, in rad, s and m.
struct ScanHead {
  double from = 0;
  double to = 0;
  double between = 0;
  double period = 0;
  double nearest = 0;
  double farthest = 0;
};
[[nodiscard]] Bytes encode_scan(Time now, std::string_view frame, const ScanHead& head,
                                std::span<const double> ranges);

/// The head of hyphos.msgs.Image. The pixels are buffer 0.
[[nodiscard]] Bytes encode_image(Time now, std::string_view frame, std::uint32_t width,
                                 std::uint32_t height, std::string_view encoding,
                                 std::uint32_t pixel_bytes);
/// hyphos.msgs.CameraInfo of a camera without distortion, whose axis is the centre of the picture.
[[nodiscard]] Bytes encode_camera_info(Time now, std::string_view frame, std::uint32_t width,
                                       std::uint32_t height, double focal_px);

/// A frame in its parent.
struct FramePlace {
  std::string parent;
  std::string child;
  Vec3 position{};
  Quaternion orientation{};
};
/// hyphos.msgs.TfMessage.
[[nodiscard]] Bytes encode_transforms(Time now, std::span<const FramePlace> places);

}  // namespace hyphos::cosim
