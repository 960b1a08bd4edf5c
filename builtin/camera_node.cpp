// The node `camera`: pictures of a Video4Linux2 device.
#include <linux/videodev2.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/unique_fd.hpp"
#include "builtin/camera.hpp"
#include "builtin/image_codec.hpp"
#include "hyphos/hyphos.hpp"

namespace hyphos::builtin {
namespace {

using Picture = Attached<msgs::Image>;
using File = Attached<msgs::CompressedImage>;

// In the order of preference: least work first.
constexpr std::array kRaw = {V4L2_PIX_FMT_RGB24, V4L2_PIX_FMT_BGR24, V4L2_PIX_FMT_YUYV,
                             V4L2_PIX_FMT_GREY, V4L2_PIX_FMT_MJPEG};
constexpr std::array kCompressed = {V4L2_PIX_FMT_MJPEG};
constexpr int kReopenCameraMs = 1'000;

class CameraNode final : public Builtin {
 public:
  CameraNode(const Node& node, VideoCalls& calls)
      : node_(node),
        calls_(calls),
        path_(node.param("device", "/dev/video0")),
        frame_(node.param("frame_id", "camera")),
        compressed_(node.param("compressed", false)),
        wish_(wish(node)),
        lost_(node.params().declare<std::int64_t>(
            "lost", {.description = "pictures that the device or the driver has dropped"})),
        end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (compressed_) {
      files_ = node.publisher<File>("image/compressed");
    } else {
      pictures_ = node.publisher<Picture>("image");
    }
    if (!end_.valid()) throw Exception(Error{Code::exhausted, "no event descriptor", path_});
    thread_ = std::thread([this] { run(); });
  }
  CameraNode(const CameraNode&) = delete;
  CameraNode& operator=(const CameraNode&) = delete;
  ~CameraNode() override {
    const std::uint64_t one = 1;
    (void)!::write(end_.get(), &one, sizeof(one));
    thread_.join();
  }

 private:
  static CameraMode wish(const Node& node) {
    const int width = node.param("width", 640);
    const int height = node.param("height", 480);
    const double rate_hz = node.param("rate_hz", 30.0);
    if (width < 2 || height < 2 || width > 16'384 || height > 16'384 || !(rate_hz > 0) ||
        rate_hz > 1'000) {
      throw Exception(Error{Code::invalid_config,
                            "width and height: use 2 to 16384 pixels. rate_hz: use up to 1000",
                            "nodes." + node.name() + ".params"});
    }
    return {.width = static_cast<std::uint32_t>(width),
            .height = static_cast<std::uint32_t>(height),
            .rate_hz = rate_hz};
  }

  void run() {
    std::string reported;
    pollfd end{end_.get(), POLLIN, 0};
    do {
      const auto formats = compressed_ ? std::span<const std::uint32_t>(kCompressed)
                                       : std::span<const std::uint32_t>(kRaw);
      auto camera = Camera::open(calls_, path_, wish_, formats);
      if (!camera) {
        if (camera.error().message != reported) {
          reported = camera.error().message;
          node_.log().warn(camera.error().to_string(), ". The node tries again every second");
        }
        continue;
      }
      reported.clear();
      const CameraMode& mode = (*camera)->mode();
      node_.log().info(path_, ": ", mode.width, " x ", mode.height, ", ", mode.rate_hz, " Hz, ",
                       format_name(mode.format));
      sequence_.reset();
      const std::string why = read(**camera);
      if (why.empty()) return;
      node_.log().warn("the camera is gone: ", why, ". The node tries again every second");
    } while (::poll(&end, 1, kReopenCameraMs) <= 0);
  }

  // Reads until the device is gone, or until the end. Returns the reason.
  std::string read(Camera& camera) {
    for (;;) {
      std::array<pollfd, 2> wait = {pollfd{end_.get(), POLLIN, 0},
                                    pollfd{camera.device(), POLLIN, 0}};
      if (calls_.poll(wait.data(), wait.size()) < 0 && errno != EINTR) {
        return std::generic_category().message(errno);
      }
      if (wait[0].revents != 0) return "";
      if (wait[1].revents == 0) continue;
      const auto frame = camera.take();
      if (!frame) {
        if (frame.error().code == Code::timeout) continue;
        return frame.error().to_string();
      }
      take(*frame, camera.mode());
      if (const auto good = camera.give_back(*frame); !good) return good.error().to_string();
    }
  }

  void take(const Camera::Frame& frame, const CameraMode& mode) {
    const std::uint32_t missed = sequence_ ? frame.sequence - *sequence_ - 1 : 0;
    sequence_ = frame.sequence;
    // Counted before the picture is sent, so that its receiver finds the count.
    if (missed != 0) lose(missed, "the driver has dropped pictures");
    if (frame.damaged) {
      lose(1, "the device has marked a picture as damaged");
    } else if (compressed_) {
      show_file(frame);
    } else if (const std::string why = show_picture(frame, mode); !why.empty()) {
      lose(1, why);
    }
  }

  void lose(std::uint32_t count, const std::string& why) {
    lost_count_ += count;
    (void)lost_.set(lost_count_);
    node_.log().every(Duration::from_ms(1'000)).warn(why, " (", lost_count_, " so far)");
  }

  // The time at which the picture began, by the clock of the node.
  [[nodiscard]] std::int64_t stamp(const Camera::Frame& frame) const {
    const std::int64_t now = node_.clock().now().ns;
    return frame.monotonic_ns == 0 ? now : now - (monotonic_now().ns - frame.monotonic_ns);
  }

  void show_file(const Camera::Frame& frame) {
    if (files_->listeners() == 0) return;
    File out;
    out.head.mutable_header()->set_stamp_ns(stamp(frame));
    out.head.mutable_header()->set_frame_id(frame_);
    out.head.set_format("jpeg");
    WritableBuffer memory = files_->loan_bytes(frame.bytes.size());
    std::ranges::copy(frame.bytes, memory.data());
    out.buffers.push_back(std::move(memory).freeze());
    files_->publish(std::move(out));
  }

  // Returns the reason why a picture cannot be shown.
  std::string show_picture(const Camera::Frame& frame, const CameraMode& mode) {
    if (pictures_->listeners() == 0) return "";
    Picture out;
    if (mode.format == V4L2_PIX_FMT_MJPEG) {
      auto head = probe(frame.bytes);
      if (!head) return head.error().to_string();
      out.head = std::move(*head);
    } else {
      const bool grey = mode.format == V4L2_PIX_FMT_GREY;
      out.head.set_width(mode.width);
      out.head.set_height(mode.height);
      out.head.set_step(mode.width * (grey ? 1 : 3));
      out.head.set_encoding(grey ? "mono8" : mode.format == V4L2_PIX_FMT_BGR24 ? "bgr8" : "rgb8");
    }
    const std::size_t size = std::size_t{out.head.step()} * out.head.height();
    WritableBuffer pixels = pictures_->loan_bytes(size);
    if (auto why = convert(frame, mode, out.head, pixels.bytes()); !why.empty()) return why;
    out.head.mutable_header()->set_stamp_ns(stamp(frame));
    out.head.mutable_header()->set_frame_id(frame_);
    out.buffers.push_back(std::move(pixels).freeze());
    pictures_->publish(std::move(out));
    return "";
  }

  static std::string convert(const Camera::Frame& frame, const CameraMode& mode,
                             const msgs::Image& head, std::span<std::byte> out) {
    if (mode.format == V4L2_PIX_FMT_MJPEG) {
      const auto good = decode(frame.bytes, head, out);
      return good ? "" : good.error().to_string();
    }
    const bool yuyv = mode.format == V4L2_PIX_FMT_YUYV;
    if (yuyv && mode.width % 2 != 0) return "the width of a YUYV picture is odd";
    const std::size_t row = yuyv ? std::size_t{mode.width} * 2 : head.step();
    const std::size_t step = mode.step != 0 ? mode.step : row;
    if (step < row || frame.bytes.size() < step * (mode.height - 1) + row) {
      return "a picture has " + std::to_string(frame.bytes.size()) + " bytes, which is too short";
    }
    if (yuyv) {
      yuyv_to_rgb(frame.bytes, static_cast<std::uint32_t>(step), mode.width, mode.height, out);
      return "";
    }
    for (std::size_t y = 0; y < mode.height; ++y) {
      std::ranges::copy(frame.bytes.subspan(y * step, row), out.data() + y * row);
    }
    return "";
  }

  const Node node_;
  VideoCalls& calls_;
  const std::string path_;
  const std::string frame_;
  const bool compressed_;
  const CameraMode wish_;
  const Param<std::int64_t> lost_;
  std::int64_t lost_count_ = 0;
  std::optional<std::uint32_t> sequence_;  // of the last picture
  std::optional<Publisher<Picture>> pictures_;
  std::optional<Publisher<File>> files_;
  const UniqueFd end_;
  std::thread thread_;  // uses the members above
};

}  // namespace

std::unique_ptr<Builtin> open_camera(const Node& node, VideoCalls& calls) {
  return std::make_unique<CameraNode>(node, calls);
}

std::unique_ptr<Builtin> open_camera(const Node& node) {
  static VideoCalls calls;
  return open_camera(node, calls);
}

}  // namespace hyphos::builtin
