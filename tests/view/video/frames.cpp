// Decodes a video and compares its frames with pictures: frames VIDEO [PICTURE.png...]. Prints a
// JSON object: codec, size, frames per second, number of frames, and for each picture the mean
// difference of its colours from the frame of its number, 0 to 255.
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "view/core/picture.hpp"

namespace {

using hyphos::view::Picture;

void check(int code, const char* what) {
  if (code >= 0) return;
  std::fprintf(stderr, "cannot %s\n", what);
  std::exit(1);
}

Picture converted(const AVFrame& frame) {
  Picture made;
  made.width = frame.width;
  made.height = frame.height;
  made.rgba.resize(static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height) *
                   4);
  SwsContext* const scaler = sws_getContext(
      frame.width, frame.height, static_cast<AVPixelFormat>(frame.format), frame.width,
      frame.height, AV_PIX_FMT_RGBA, SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, nullptr,
      nullptr, nullptr);
  const int* const bt709 = sws_getCoefficients(SWS_CS_ITU709);
  sws_setColorspaceDetails(scaler, bt709, 0, bt709, 1, 0, 1 << 16, 1 << 16);
  std::uint8_t* rows[] = {made.rgba.data()};
  const int strides[] = {frame.width * 4};
  sws_scale(scaler, frame.data, frame.linesize, 0, frame.height, rows, strides);
  sws_freeContext(scaler);
  return made;
}

double difference(const Picture& a, const Picture& b) {
  if (a.width != b.width || a.height != b.height) return 255;
  double sum = 0;
  for (std::size_t i = 0; i < a.rgba.size(); ++i) {
    if (i % 4 != 3) sum += std::abs(a.rgba[i] - b.rgba[i]);
  }
  return sum / (static_cast<double>(a.rgba.size()) * 3 / 4);
}

}  // namespace

int main(int argc, char** argv) {
  AVFormatContext* file = nullptr;
  check(avformat_open_input(&file, argv[1], nullptr, nullptr), "open the video");
  check(avformat_find_stream_info(file, nullptr), "find the stream");
  const AVCodec* codec = nullptr;
  const int index = av_find_best_stream(file, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
  check(index, "find the pictures");
  AVCodecContext* const decoder = avcodec_alloc_context3(codec);
  check(avcodec_parameters_to_context(decoder, file->streams[index]->codecpar), "set the decoder");
  check(avcodec_open2(decoder, codec, nullptr), "open the decoder");
  AVPacket* const packet = av_packet_alloc();
  AVFrame* const frame = av_frame_alloc();
  std::vector<double> differences;
  int frames = 0;
  const auto receive = [&] {
    while (avcodec_receive_frame(decoder, frame) >= 0) {
      if (frames + 2 < argc) {
        const auto golden = hyphos::view::read_png(argv[frames + 2]);
        check(golden ? 0 : -1, "read a picture");
        differences.push_back(difference(converted(*frame), *golden));
      }
      ++frames;
    }
  };
  while (av_read_frame(file, packet) >= 0) {
    if (packet->stream_index == index) check(avcodec_send_packet(decoder, packet), "decode");
    av_packet_unref(packet);
    receive();
  }
  avcodec_send_packet(decoder, nullptr);
  receive();
  const AVRational rate = file->streams[index]->avg_frame_rate;
  std::printf("{\"codec\": \"%s\", \"width\": %d, \"height\": %d, \"fps\": %g, \"frames\": %d",
              codec->name, decoder->width, decoder->height, av_q2d(rate), frames);
  std::printf(", \"differences\": [");
  for (std::size_t i = 0; i < differences.size(); ++i) {
    std::printf("%s%.3f", i == 0 ? "" : ", ", differences[i]);
  }
  std::printf("]}\n");
  return 0;
}
