#include "builtin/camera.hpp"

#include <linux/videodev2.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

namespace hyphos::builtin {
namespace {

constexpr std::uint32_t kBuffers = 4;  // one in the driver, one in use, two for a late thread
constexpr std::uint32_t kMaxFormats = 64;

std::uint8_t clamped(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

}  // namespace

std::string format_name(std::uint32_t format) {
  std::string name;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    const auto letter = static_cast<char>((format >> shift) & 0x7f);
    name += letter >= ' ' ? letter : '?';
  }
  return name;
}

Error Camera::failed(const std::string& what) const {
  return Error{errno == EBUSY ? Code::already_exists : Code::io,
               what + ": " + std::generic_category().message(errno) +
                   (errno == EBUSY ? ". Another program uses the camera" : ""),
               path_};
}

Result<std::unique_ptr<Camera>> Camera::open(VideoCalls& calls, const std::string& path,
                                             CameraMode wish,
                                             std::span<const std::uint32_t> formats) {
  const int device = calls.open(path.c_str());
  if (device < 0) {
    return Error{errno == ENOENT ? Code::not_found : Code::io,
                 "cannot open the camera: " + std::generic_category().message(errno) +
                     (errno == EACCES ? ". Add the user to the group video" : ""),
                 path};
  }
  std::unique_ptr<Camera> camera(new Camera(calls, path, device));
  v4l2_capability able{};
  if (calls.ioctl(device, VIDIOC_QUERYCAP, &able) < 0) {
    return camera->failed("not a video device");
  }
  const std::uint32_t caps =
      (able.capabilities & V4L2_CAP_DEVICE_CAPS) != 0 ? able.device_caps : able.capabilities;
  if ((caps & V4L2_CAP_VIDEO_CAPTURE) == 0 || (caps & V4L2_CAP_STREAMING) == 0) {
    return Error{Code::unsupported,
                 "the device streams no pictures. A camera often has a second device for "
                 "metadata: try another number",
                 path};
  }
  if (auto good = camera->set_mode(wish, formats); !good) return good.error();
  if (auto good = camera->start(); !good) return good.error();
  return camera;
}

Result<void> Camera::set_mode(CameraMode wish, std::span<const std::uint32_t> formats) {
  std::vector<std::uint32_t> offered;
  for (std::uint32_t i = 0; i < kMaxFormats; ++i) {
    v4l2_fmtdesc one{};
    one.index = i;
    one.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (calls_.ioctl(device_, VIDIOC_ENUM_FMT, &one) < 0) break;
    offered.push_back(one.pixelformat);
  }
  const auto chosen = std::ranges::find_if(formats, [&](std::uint32_t format) {
    return std::ranges::find(offered, format) != offered.end();
  });
  if (chosen == formats.end()) {
    std::string names;
    for (const std::uint32_t one : offered) names += (names.empty() ? "" : ", ") + format_name(one);
    return Error{Code::unsupported, "the camera has only the formats " + names, path_};
  }
  v4l2_format format{};
  format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  format.fmt.pix.width = wish.width;
  format.fmt.pix.height = wish.height;
  format.fmt.pix.pixelformat = *chosen;
  format.fmt.pix.field = V4L2_FIELD_NONE;
  if (calls_.ioctl(device_, VIDIOC_S_FMT, &format) < 0) return failed("cannot set the size");
  mode_ = {format.fmt.pix.width, format.fmt.pix.height, wish.rate_hz, format.fmt.pix.pixelformat,
           format.fmt.pix.bytesperline};
  if (mode_.format != *chosen || mode_.width == 0 || mode_.height == 0) {
    return Error{Code::unsupported,
                 "the camera has chosen the format " + format_name(mode_.format) + " instead of " +
                     format_name(*chosen),
                 path_};
  }
  v4l2_streamparm rate{};
  rate.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  rate.parm.capture.timeperframe = {1000, static_cast<std::uint32_t>(wish.rate_hz * 1000)};
  // A camera without a choice of rates refuses this, and then keeps its own.
  if (calls_.ioctl(device_, VIDIOC_S_PARM, &rate) == 0 &&
      rate.parm.capture.timeperframe.numerator != 0) {
    mode_.rate_hz = static_cast<double>(rate.parm.capture.timeperframe.denominator) /
                    rate.parm.capture.timeperframe.numerator;
  }
  return success();
}

Result<void> Camera::start() {
  v4l2_requestbuffers request{};
  request.count = kBuffers;
  request.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  request.memory = V4L2_MEMORY_MMAP;
  if (calls_.ioctl(device_, VIDIOC_REQBUFS, &request) < 0 || request.count < 2) {
    return failed("the camera gives no buffers");
  }
  for (std::uint32_t i = 0; i < std::min(request.count, kBuffers); ++i) {
    v4l2_buffer buffer{};
    buffer.index = i;
    buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    buffer.memory = V4L2_MEMORY_MMAP;
    if (calls_.ioctl(device_, VIDIOC_QUERYBUF, &buffer) < 0) return failed("no buffer");
    void* data = calls_.map(device_, buffer.length, static_cast<off_t>(buffer.m.offset));
    if (data == MAP_FAILED) return failed("cannot map a buffer");
    memory_.push_back({data, buffer.length});
    if (calls_.ioctl(device_, VIDIOC_QBUF, &buffer) < 0) return failed("cannot queue a buffer");
  }
  int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  if (calls_.ioctl(device_, VIDIOC_STREAMON, &type) < 0) return failed("cannot start the camera");
  streams_ = true;
  return success();
}

Camera::~Camera() {
  int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  if (streams_) (void)calls_.ioctl(device_, VIDIOC_STREAMOFF, &type);
  for (const Memory& one : memory_) calls_.unmap(one.data, one.size);
  calls_.close(device_);
}

Result<Camera::Frame> Camera::take() {
  v4l2_buffer buffer{};
  buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  buffer.memory = V4L2_MEMORY_MMAP;
  if (calls_.ioctl(device_, VIDIOC_DQBUF, &buffer) < 0) {
    if (errno == EAGAIN) return Error{Code::timeout, "no picture yet", path_};
    return failed("no picture");
  }
  if (buffer.index >= memory_.size()) {
    return Error{Code::corrupt, "the driver names a buffer that does not exist", path_};
  }
  const Memory& memory = memory_[buffer.index];
  const bool clock =
      (buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) == V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
  return Frame{.bytes = {static_cast<const std::byte*>(memory.data),
                         std::min<std::size_t>(buffer.bytesused, memory.size)},
               .sequence = buffer.sequence,
               .monotonic_ns = clock ? buffer.timestamp.tv_sec * 1'000'000'000LL +
                                           buffer.timestamp.tv_usec * 1'000LL
                                     : 0,
               .damaged = (buffer.flags & V4L2_BUF_FLAG_ERROR) != 0,
               .index = buffer.index};
}

Result<void> Camera::give_back(const Frame& frame) {
  v4l2_buffer buffer{};
  buffer.index = frame.index;
  buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  buffer.memory = V4L2_MEMORY_MMAP;
  if (calls_.ioctl(device_, VIDIOC_QBUF, &buffer) < 0) return failed("cannot return a buffer");
  return success();
}

void yuyv_to_rgb(std::span<const std::byte> in, std::uint32_t step, std::uint32_t width,
                 std::uint32_t height, std::span<std::byte> out) {
  auto* to = reinterpret_cast<std::uint8_t*>(out.data());
  for (std::uint32_t row = 0; row < height; ++row) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(in.data()) + std::size_t{row} * step;
    for (std::uint32_t i = 0; i + 1 < width; i += 2, from += 4) {
      // ITU-R BT.601, 8 bits, in units of 1/256.
      const int u = from[1] - 128;
      const int v = from[3] - 128;
      for (const int luma : {from[0], from[2]}) {
        const int y = 298 * (luma - 16) + 128;
        *to++ = clamped((y + 409 * v) >> 8);
        *to++ = clamped((y - 100 * u - 208 * v) >> 8);
        *to++ = clamped((y + 516 * u) >> 8);
      }
    }
  }
}

}  // namespace hyphos::builtin
