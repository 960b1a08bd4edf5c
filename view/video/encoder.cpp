#include "view/video/encoder.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libswscale/swscale.h>
}
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

namespace hyphos::view {
namespace {

constexpr int kBuffer = 1 << 16;  // bytes, of the file

/// Frees the objects of libav.
struct Free {
  void operator()(AVCodecContext* p) const { avcodec_free_context(&p); }
  void operator()(AVFormatContext* p) const { avformat_free_context(p); }
  void operator()(AVFrame* p) const { av_frame_free(&p); }
  void operator()(AVPacket* p) const { av_packet_free(&p); }
  void operator()(SwsContext* p) const { sws_freeContext(p); }
  void operator()(AVIOContext* p) const {
    av_freep(&p->buffer);
    avio_context_free(&p);
  }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

std::string text_of(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof(text));
  return text;
}

/// A file that becomes visible under its name when it is complete.
class PendingFile {
 public:
  PendingFile() = default;
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!hidden_.empty()) ::unlink(hidden_.c_str());
  }

  Result<void> open(const std::string& path) {
    path_ = path;
    const std::filesystem::path whole(path);
    const std::string name = "." + whole.filename().string() + "." + std::to_string(::getpid());
    const std::string hidden = (whole.parent_path() / name).string();
    fd_ = ::open(hidden.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) return error(errno);
    hidden_ = hidden;
    return success();
  }
  /// The error of the last write, or success.
  [[nodiscard]] Result<void> check() const { return errno_ == 0 ? success() : error(errno_); }
  Result<void> publish() {
    if (auto fine = check(); !fine) return fine;
    if (::close(std::exchange(fd_, -1)) != 0) return error(errno);
    if (::rename(hidden_.c_str(), path_.c_str()) != 0) return error(errno);
    hidden_.clear();
    return success();
  }

#if LIBAVFORMAT_VERSION_MAJOR >= 61
  static int write(void* self, const std::uint8_t* data, int size) {
#else
  static int write(void* self, std::uint8_t* data, int size) {
#endif
    auto& file = *static_cast<PendingFile*>(self);
    for (int done = 0; done < size;) {
      const ::ssize_t wrote = ::write(file.fd_, data + done, static_cast<std::size_t>(size - done));
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        file.errno_ = wrote < 0 ? errno : EIO;
        return AVERROR(file.errno_);
      }
      done += static_cast<int>(wrote);
    }
    return size;
  }
  static std::int64_t seek(void* self, std::int64_t offset, int whence) {
    auto& file = *static_cast<PendingFile*>(self);
    if (whence == AVSEEK_SIZE) return AVERROR(ENOSYS);
    const ::off_t at = ::lseek(file.fd_, offset, whence & ~AVSEEK_FORCE);
    return at < 0 ? AVERROR(errno) : at;
  }

 private:
  [[nodiscard]] Error error(int number) const {
    const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
    return {full               ? Code::exhausted
            : number == EACCES ? Code::permission
                               : Code::io,
            std::string("cannot write the video: ") + std::strerror(number), path_};
  }

  std::string path_;
  std::string hidden_;
  int fd_ = -1;
  int errno_ = 0;
};

/// The encoders of a container, the best one first. A file with the first one plays in browsers.
std::vector<const char*> encoders_for(const std::string& ending) {
  if (ending == ".mp4" || ending == ".mkv") return {"libx264", "mpeg4"};
  if (ending == ".webm") return {"libvpx-vp9", "libvpx"};
  return {};
}

class Writer final : public VideoWriter {
 public:
  explicit Writer(const VideoSettings& settings) : settings_(settings) {}
  ~Writer() override {
    // The encoder and the container end before the file.
    container_.reset();
    encoder_.reset();
    io_.reset();
  }

  Result<void> open() {
    const std::string ending = std::filesystem::path(settings_.path).extension().string();
    const auto names = encoders_for(ending);
    if (names.empty()) {
      return refused("the name of a video ends with .mp4, .mkv or .webm");
    }
    if (settings_.width % 2 != 0 || settings_.height % 2 != 0) {
      return refused("a video has an even width and height, found " +
                     std::to_string(settings_.width) + "x" + std::to_string(settings_.height));
    }
    for (const char* name : names) {
      if (codec_ == nullptr) codec_ = avcodec_find_encoder_by_name(name);
    }
    if (codec_ == nullptr) {
      return Error{Code::unsupported, "libavcodec has none of the encoders of " + ending,
                   settings_.path};
    }
    AVFormatContext* container = nullptr;
    if (const int code =
            avformat_alloc_output_context2(&container, nullptr, nullptr, settings_.path.c_str());
        code < 0) {
      return failed("cannot make this container", code);
    }
    container_.reset(container);
    container_->flags |= AVFMT_FLAG_BITEXACT;  // no date and no version in the file
    if (auto made = open_encoder(); !made) return made;
    return open_file();
  }

  Result<void> add(const Picture& picture) override {
    if (picture.width != settings_.width || picture.height != settings_.height) {
      return refused("a frame has another size than the video");
    }
    if (const int code = av_frame_make_writable(frame_.get()); code < 0) {
      return failed("no memory for a frame", code);
    }
    const std::uint8_t* rows[] = {picture.rgba.data()};
    const int strides[] = {picture.width * 4};
    sws_scale(scaler_.get(), rows, strides, 0, picture.height, frame_->data, frame_->linesize);
    frame_->pts = frames_++;
    return encode(frame_.get());
  }

  Result<void> finish() override {
    if (auto flushed = encode(nullptr); !flushed) return flushed;
    if (const int code = av_write_trailer(container_.get()); code < 0) {
      return failed("cannot complete the video", code);
    }
    avio_flush(io_.get());
    return file_.publish();
  }

  [[nodiscard]] std::string codec() const override { return codec_->name; }

 private:
  [[nodiscard]] Error refused(const std::string& why) const {
    return {Code::invalid_config, why, settings_.path};
  }
  /// An error of the file explains an error of libav.
  [[nodiscard]] Error failed(const std::string& what, int code) const {
    if (const auto fine = file_.check(); !fine) return fine.error();
    return {Code::io, what + ": " + text_of(code), settings_.path};
  }

  Result<void> open_encoder() {
    encoder_.reset(avcodec_alloc_context3(codec_));
    AVCodecContext& encoder = *encoder_;
    encoder.width = settings_.width;
    encoder.height = settings_.height;
    encoder.framerate = av_d2q(settings_.fps, 100'000);
    encoder.time_base = av_inv_q(encoder.framerate);
    encoder.pix_fmt = AV_PIX_FMT_YUV420P;
    encoder.color_range = AVCOL_RANGE_MPEG;
    encoder.colorspace = AVCOL_SPC_BT709;
    encoder.color_primaries = AVCOL_PRI_BT709;
    encoder.color_trc = AVCOL_TRC_BT709;
    // One thread: the file does not depend on the number of processors.
    encoder.thread_count = 1;
    encoder.flags |= AV_CODEC_FLAG_BITEXACT;
    if ((container_->oformat->flags & AVFMT_GLOBALHEADER) != 0) {
      encoder.flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    }
    // Constant quality, at which lines and text stay sharp. Encoders ignore the keys of others.
    AVDictionary* options = nullptr;
    av_dict_set(&options, "preset", "veryfast", 0);
    av_dict_set(&options, "crf", "18", 0);
    if (std::strcmp(codec_->name, "mpeg4") == 0) {
      encoder.flags |= AV_CODEC_FLAG_QSCALE;
      encoder.global_quality = 3 * FF_QP2LAMBDA;
    } else if (std::strncmp(codec_->name, "libvpx", 6) == 0) {
      encoder.bit_rate = 0;
      av_dict_set(&options, "deadline", "realtime", 0);
      av_dict_set(&options, "cpu-used", "6", 0);
    }
    const int code = avcodec_open2(encoder_.get(), codec_, &options);
    av_dict_free(&options);
    if (code < 0) return failed(std::string("cannot open ") + codec_->name, code);

    frame_.reset(av_frame_alloc());
    packet_.reset(av_packet_alloc());
    frame_->format = encoder.pix_fmt;
    frame_->width = encoder.width;
    frame_->height = encoder.height;
    if (const int got = av_frame_get_buffer(frame_.get(), 0); got < 0) {
      return failed("no memory for a frame", got);
    }
    scaler_.reset(sws_getContext(
        encoder.width, encoder.height, AV_PIX_FMT_RGBA, encoder.width, encoder.height,
        encoder.pix_fmt,
        SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP | SWS_FULL_CHR_H_INT | SWS_BITEXACT,
        nullptr, nullptr, nullptr));
    if (scaler_ == nullptr) return failed("cannot convert the colours", AVERROR(ENOMEM));
    const int* const bt709 = sws_getCoefficients(SWS_CS_ITU709);
    sws_setColorspaceDetails(scaler_.get(), bt709, 1, bt709, 0, 0, 1 << 16, 1 << 16);
    return success();
  }

  Result<void> open_file() {
    if (auto opened = file_.open(settings_.path); !opened) return opened;
    auto* const buffer = static_cast<std::uint8_t*>(av_malloc(kBuffer));
    io_.reset(avio_alloc_context(buffer, kBuffer, 1, &file_, nullptr, &PendingFile::write,
                                 &PendingFile::seek));
    if (io_ == nullptr) return failed("no memory", AVERROR(ENOMEM));
    container_->pb = io_.get();
    AVStream* const stream = avformat_new_stream(container_.get(), nullptr);
    if (stream == nullptr) return failed("no memory", AVERROR(ENOMEM));
    stream->time_base = encoder_->time_base;
    stream->avg_frame_rate = encoder_->framerate;
    avcodec_parameters_from_context(stream->codecpar, encoder_.get());
    if (const int code = avformat_write_header(container_.get(), nullptr); code < 0) {
      return failed("cannot begin the video", code);
    }
    return file_.check();
  }

  Result<void> encode(const AVFrame* frame) {
    if (const int code = avcodec_send_frame(encoder_.get(), frame); code < 0) {
      return failed("cannot encode a frame", code);
    }
    for (;;) {
      const int code = avcodec_receive_packet(encoder_.get(), packet_.get());
      if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return file_.check();
      if (code < 0) return failed("cannot encode a frame", code);
      AVStream* const stream = container_->streams[0];
      packet_->duration = 1;
      av_packet_rescale_ts(packet_.get(), encoder_->time_base, stream->time_base);
      packet_->stream_index = 0;
      if (const int wrote = av_interleaved_write_frame(container_.get(), packet_.get());
          wrote < 0) {
        return failed("cannot write a frame", wrote);
      }
    }
  }

  const VideoSettings settings_;
  PendingFile file_;
  const AVCodec* codec_ = nullptr;
  Owned<AVIOContext> io_;
  Owned<AVFormatContext> container_;
  Owned<AVCodecContext> encoder_;
  Owned<AVFrame> frame_;
  Owned<AVPacket> packet_;
  Owned<SwsContext> scaler_;
  std::int64_t frames_ = 0;
};

}  // namespace
}  // namespace hyphos::view

extern "C" __attribute__((visibility("default"))) hyphos::view::VideoWriter* hyphos_view_open_video(
    const hyphos::view::VideoSettings& settings, hyphos::Error& error) {
  av_log_set_level(AV_LOG_ERROR);
  auto made = std::make_unique<hyphos::view::Writer>(settings);
  if (auto opened = made->open(); !opened) {
    error = opened.error();
    return nullptr;
  }
  return made.release();
}
