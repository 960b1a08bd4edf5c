#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "builtin/registry.hpp"
#include "builtin/video_device.hpp"
#include "hyphos/result.hpp"

namespace hyphos::builtin {

/// The request to a camera, and after Camera::open() the values that it has chosen.
struct CameraMode {
  std::uint32_t width = 640;
  std::uint32_t height = 480;
  double rate_hz = 30;
  std::uint32_t format = 0;  ///< V4L2_PIX_FMT_*
  std::uint32_t step = 0;    ///< bytes per row. Compressed formats: 0
};

/// A camera of Video4Linux2 that fills buffers of the kernel (the memory-mapped streaming of the
/// V4L2 documentation). Not thread-safe.
class Camera {
 public:
  /// Opens and starts it, in the first of `formats` that the device has. The error names the call
  /// that failed and the formats of the device.
  static Result<std::unique_ptr<Camera>> open(VideoCalls& calls, const std::string& path,
                                              CameraMode wish,
                                              std::span<const std::uint32_t> formats);
  Camera(const Camera&) = delete;
  Camera& operator=(const Camera&) = delete;
  ~Camera();

  [[nodiscard]] const CameraMode& mode() const { return mode_; }
  [[nodiscard]] int device() const { return device_; }

  struct Frame {
    std::span<const std::byte> bytes;
    std::uint32_t sequence = 0;     ///< counts the frames of the device
    std::int64_t monotonic_ns = 0;  ///< at which the first byte arrived. 0: unknown
    bool damaged = false;           ///< the device has marked it as unusable
    std::uint32_t index = 0;        ///< for give_back()
  };
  /// The next frame, to be given back. The error `timeout`: there is none yet.
  Result<Frame> take();
  Result<void> give_back(const Frame& frame);

 private:
  struct Memory {
    void* data = nullptr;
    std::size_t size = 0;
  };
  Camera(VideoCalls& calls, std::string path, int device)
      : calls_(calls), path_(std::move(path)), device_(device) {}
  Result<void> set_mode(CameraMode wish, std::span<const std::uint32_t> formats);
  Result<void> start();
  [[nodiscard]] Error failed(const std::string& what) const;

  VideoCalls& calls_;
  const std::string path_;
  const int device_;
  CameraMode mode_;
  std::vector<Memory> memory_;
  bool streams_ = false;
};

/// "YUYV" of V4L2_PIX_FMT_YUYV.
[[nodiscard]] std::string format_name(std::uint32_t format);

/// Two pixels in four bytes (Y0 U Y1 V) as rgb8, by BT.601 in limited range. `width` is even.
void yuyv_to_rgb(std::span<const std::byte> in, std::uint32_t step, std::uint32_t width,
                 std::uint32_t height, std::span<std::byte> out);

/// `camera`. Reference: docs/reference/builtin.md.
std::unique_ptr<Builtin> open_camera(const Node& node);
/// The same with other system calls, which must outlive it.
std::unique_ptr<Builtin> open_camera(const Node& node, VideoCalls& calls);

}  // namespace hyphos::builtin
