#include "builtin/camera.hpp"

#include <gtest/gtest.h>
#include <linux/videodev2.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>

#include "base/unique_fd.hpp"
#include "builtin/image_codec.hpp"
#include "rig.hpp"

namespace hyphos::builtin {
namespace {

using Image = Attached<msgs::Image>;
using File = Attached<msgs::CompressedImage>;

/// A camera without a kernel: it checks the order of the calls as a driver does.
class FakeVideo final : public VideoCalls {
 public:
  explicit FakeVideo(std::vector<std::uint32_t> formats) : formats_(std::move(formats)) {}

  /// The next picture. The camera keeps it until a buffer is free.
  void show(std::vector<std::byte> bytes, std::uint32_t flags = 0, std::uint32_t skipped = 0) {
    const std::lock_guard lock(mutex_);
    sequence_ += skipped;
    pictures_.push_back({std::move(bytes), flags, sequence_++});
    wake();
  }
  void unplug() {
    const std::lock_guard lock(mutex_);
    unplugged_ = true;
    wake();
  }
  void plug() {
    const std::lock_guard lock(mutex_);
    unplugged_ = false;
  }
  [[nodiscard]] int opened() const { return opened_; }
  [[nodiscard]] bool balanced() {
    const std::lock_guard lock(mutex_);
    return opened_ == closed_ && mapped_ == 0 && !streams_;
  }

  int open(const char*) override {
    const std::lock_guard lock(mutex_);
    if (unplugged_) {
      errno = ENOENT;
      return -1;
    }
    ++opened_;
    ready_ = UniqueFd(::eventfd(0, EFD_NONBLOCK));
    if (!pictures_.empty()) wake();
    return ready_.get();
  }

  int ioctl(int, unsigned long request, void* argument) override {
    const std::lock_guard lock(mutex_);
    if (unplugged_) return fail(ENODEV);
    switch (request) {
      case VIDIOC_QUERYCAP:
        static_cast<v4l2_capability*>(argument)->capabilities =
            V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
        return 0;
      case VIDIOC_ENUM_FMT: {
        auto* one = static_cast<v4l2_fmtdesc*>(argument);
        if (one->index >= formats_.size()) return fail(EINVAL);
        one->pixelformat = formats_[one->index];
        return 0;
      }
      case VIDIOC_S_FMT: {
        auto& pix = static_cast<v4l2_format*>(argument)->fmt.pix;
        pix.width = 8;  // a driver chooses the nearest size that it has
        pix.height = 4;
        pix.bytesperline = pix.pixelformat == V4L2_PIX_FMT_YUYV    ? 20
                           : pix.pixelformat == V4L2_PIX_FMT_MJPEG ? 0
                                                                   : 24;
        return 0;
      }
      case VIDIOC_S_PARM:
        return fail(ENOTTY);
      case VIDIOC_REQBUFS:
        return 0;
      case VIDIOC_QUERYBUF: {
        auto* buffer = static_cast<v4l2_buffer*>(argument);
        buffer->length = kSize;
        buffer->m.offset = buffer->index * kSize;
        return 0;
      }
      case VIDIOC_QBUF:
        free_.push_back(static_cast<v4l2_buffer*>(argument)->index);
        return 0;
      case VIDIOC_DQBUF:
        return take(*static_cast<v4l2_buffer*>(argument));
      case VIDIOC_STREAMON:
        streams_ = free_.size() > 1;
        return streams_ ? 0 : fail(EINVAL);
      case VIDIOC_STREAMOFF:
        streams_ = false;
        return 0;
      default:
        return fail(ENOTTY);
    }
  }
  void* map(int, std::size_t, off_t offset) override {
    const std::lock_guard lock(mutex_);
    ++mapped_;
    return memory_[static_cast<std::size_t>(offset) / kSize].data();
  }
  void unmap(void*, std::size_t) override {
    const std::lock_guard lock(mutex_);
    --mapped_;
  }
  void close(int) override {
    const std::lock_guard lock(mutex_);
    ++closed_;
    streams_ = false;
    free_.clear();
  }

 private:
  static constexpr std::size_t kSize = 4096;
  struct Shown {
    std::vector<std::byte> bytes;
    std::uint32_t flags;
    std::uint32_t sequence;
  };
  static int fail(int error) {
    errno = error;
    return -1;
  }
  void wake() const {
    const std::uint64_t one = 1;
    if (ready_.valid()) (void)!::write(ready_.get(), &one, sizeof(one));
  }
  int take(v4l2_buffer& buffer) {
    if (pictures_.empty() || free_.empty()) {
      std::uint64_t drained = 0;
      (void)!::read(ready_.get(), &drained, sizeof(drained));
      return fail(EAGAIN);
    }
    buffer.index = free_.front();
    free_.pop_front();
    const Shown shown = std::move(pictures_.front());
    pictures_.pop_front();
    std::memcpy(memory_[buffer.index].data(), shown.bytes.data(), shown.bytes.size());
    buffer.bytesused = static_cast<std::uint32_t>(shown.bytes.size());
    buffer.flags = shown.flags;
    buffer.sequence = shown.sequence;
    return 0;
  }

  const std::vector<std::uint32_t> formats_;
  std::mutex mutex_;
  UniqueFd ready_;
  std::array<std::array<std::byte, kSize>, 4> memory_{};
  std::deque<Shown> pictures_;
  std::deque<std::uint32_t> free_;
  std::uint32_t sequence_ = 0;
  std::atomic<int> opened_ = 0;
  int closed_ = 0;
  int mapped_ = 0;
  bool streams_ = false;
  bool unplugged_ = false;
};

TEST(Yuyv, grey_black_white_and_red_have_their_values) {
  const std::uint8_t in[] = {16, 128, 235, 128, 81, 90, 126, 240};  // black white, red and grey
  std::array<std::byte, 12> out{};
  yuyv_to_rgb(std::as_bytes(std::span(in)), 8, 4, 1, out);
  const auto at = [&](std::size_t i) { return std::to_integer<int>(out[i]); };
  EXPECT_EQ(at(0) + at(1) + at(2), 0);
  EXPECT_EQ(at(3) + at(4) + at(5), 3 * 255);
  EXPECT_GE(at(6), 253);
  EXPECT_LE(at(7), 2);
  EXPECT_LE(at(8), 2);
}

TEST(CameraNode, pictures_have_the_size_that_the_device_chose) {
  FakeVideo video({V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_MJPEG});
  Rig rig("camera", "{width: 640, height: 480, frame_id: eye}");
  Inbox<Image> inbox(rig.node(), "image");
  rig.start(open_camera(rig.tested(), video));
  video.show(std::vector<std::byte>(80, std::byte{128}));
  const auto image = inbox.next();
  EXPECT_EQ(image->head.width(), 8U);
  EXPECT_EQ(image->head.height(), 4U);
  EXPECT_EQ(image->head.encoding(), "rgb8");
  EXPECT_EQ(image->head.header().frame_id(), "eye");
  EXPECT_EQ(image->buffers[0].size(), 96U);
  rig.end();
  EXPECT_TRUE(video.balanced());
}

Bytes jpeg() {
  msgs::Image head;
  head.set_width(6);
  head.set_height(2);
  head.set_encoding("rgb8");
  return encode_jpeg(head, Bytes(36, std::byte{200}), 90).or_throw();
}

TEST(CameraNode, jpeg_of_the_device_is_decoded_or_passed_on) {
  FakeVideo decoded({V4L2_PIX_FMT_MJPEG});
  Rig rig("camera", "{}");
  Inbox<Image> images(rig.node(), "image");
  rig.start(open_camera(rig.tested(), decoded));
  decoded.show(jpeg());
  EXPECT_EQ(images.next()->head.width(), 6U);
  rig.end();

  FakeVideo passed({V4L2_PIX_FMT_MJPEG});
  Rig other("camera", "{compressed: true}");
  Inbox<File> files(other.node(), "image/compressed");
  other.start(open_camera(other.tested(), passed));
  passed.show(jpeg());
  const auto file = files.next();
  EXPECT_EQ(file->head.format(), "jpeg");
  EXPECT_EQ(file->buffers[0].size(), jpeg().size());
  other.end();
}

TEST(CameraNode, lost_and_damaged_pictures_are_counted) {
  FakeVideo video({V4L2_PIX_FMT_RGB24});
  Rig rig("camera", "{}");
  Inbox<Image> inbox(rig.node(), "image");
  rig.start(open_camera(rig.tested(), video));
  const std::vector<std::byte> whole(96);
  video.show(whole);
  video.show(whole, V4L2_BUF_FLAG_ERROR);
  video.show(std::vector<std::byte>(95));  // a row is too short
  video.show(whole, 0, 3);                 // the driver has dropped three
  (void)inbox.next();
  (void)inbox.next();
  EXPECT_EQ(rig.tested().params().values().get<std::int64_t>("lost"), 5);
  rig.end();
}

TEST(CameraNode, an_unplugged_camera_is_opened_again) {
  FakeVideo video({V4L2_PIX_FMT_GREY});
  Rig rig("camera", "{}");
  Inbox<Image> inbox(rig.node(), "image");
  rig.start(open_camera(rig.tested(), video));
  const std::vector<std::byte> whole(96);
  video.show(whole);
  EXPECT_EQ(inbox.next()->head.encoding(), "mono8");
  video.unplug();
  video.show(whole);
  while (!video.balanced()) std::this_thread::yield();
  video.plug();
  (void)inbox.next();
  EXPECT_EQ(video.opened(), 2);
  rig.end();
  EXPECT_TRUE(video.balanced());
}

TEST(CameraNode, a_device_without_a_known_format_is_reported_and_the_robot_runs) {
  FakeVideo video({V4L2_PIX_FMT_H264});
  const auto camera = Camera::open(video, "/dev/video9", {}, std::array{V4L2_PIX_FMT_YUYV});
  ASSERT_FALSE(camera);
  EXPECT_NE(camera.error().message.find("only the formats H264"), std::string::npos);
  EXPECT_TRUE(video.balanced());
}

TEST(CameraNode, wrong_parameters_are_errors) {
  FakeVideo video({});
  for (const char* params : {"{width: 0}", "{height: 100000}", "{rate_hz: 0.0}"}) {
    Rig rig("camera", params);
    EXPECT_THROW((void)open_camera(rig.tested(), video), Exception) << params;
  }
}

}  // namespace
}  // namespace hyphos::builtin
