// The viewer's picture of a growing cloud, without a window: by EGL, on llvmpipe if there is no
// graphics card.
//
//   bench_view [--points N] [--samples N] [--size WxH] [--json]
//
// Messages of 20,000 points come until there are N (5 million). Figures: bytes of resident memory a
// point, the time of a frame with new points and a still camera, the times of frames while the
// camera moves, the time until the picture is complete after that, and what happens while nothing
// changes. Then a plot of N samples (1 million) is moved and zoomed.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "bench/view_plot.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "view/displays/scene_view.hpp"
#include "view/shell_egl.hpp"

namespace hyphos::view {
namespace {

constexpr std::size_t kMessagePoints = 20'000;
constexpr int kMovingFrames = 100;

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Processor time of all threads, which other programs on the machine do not change.
double processor_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident) * 4096 / 1e6;
}

double percentile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[std::min(static_cast<std::size_t>(share * static_cast<double>(values.size())),
                         values.size() - 1)];
}

/// One message of a corridor that the robot drives along.
Sample message(std::size_t number) {
  msgs::PointCloud head;
  head.mutable_header()->set_stamp_ns(1);
  head.set_height(1);
  head.set_width(kMessagePoints);
  head.set_point_step(16);
  head.set_row_step(kMessagePoints * 16);
  std::uint32_t offset = 0;
  for (const char* name : {"x", "y", "z", "intensity"}) {
    auto& field = *head.add_fields();
    field.set_name(name);
    field.set_offset(offset);
    field.set_datatype(msgs::PointField::FLOAT32);
    field.set_count(1);
    offset += 4;
  }
  auto data = WritableBuffer::on_heap(kMessagePoints * 16);
  auto* to = reinterpret_cast<float*>(data.data());
  for (std::size_t i = 0; i < kMessagePoints; ++i) {
    const double along = static_cast<double>(number) * 0.2 + 0.001 * static_cast<double>(i % 200);
    const double angle = 0.06283 * static_cast<double>(i / 200);
    *to++ = static_cast<float>(along - 25);
    *to++ = static_cast<float>(4 * std::cos(angle) + 0.1 * std::sin(along * 9));
    *to++ = static_cast<float>(2 * std::sin(angle) + 2);
    *to++ = static_cast<float>(i % 256);
  }
  Sample sample;
  sample.time_ns = static_cast<std::int64_t>(number + 1) * 1'000'000'000;
  const std::string bytes = head.SerializeAsString();
  sample.payload = Buffer::copy_of(std::string_view(bytes));
  sample.buffers.push_back(std::move(data).freeze());
  return sample;
}

struct Figures {
  std::string device;
  std::size_t points = 0;
  double bytes_a_point = 0;
  double resident_mb = 0;
  double new_points_ms = 0;
  double moving_p50_ms = 0;
  double moving_p95_ms = 0;
  double complete_ms = 0;
  double new_points_cpu_ms = 0;
  double moving_cpu_ms = 0;
  double complete_cpu_ms = 0;
  std::uint64_t idle_uploads = 0;
  std::uint64_t idle_points = 0;
  std::uint64_t uploads = 0;
};

Figures run(std::size_t points, int width, int height) {
  const auto context = EglContext::open().or_throw();
  const auto renderer = Renderer::open(context->loader()).or_throw();
  SceneView view(*renderer);
  Channel channel;
  channel.name = "lidar";
  channel.type = "hyphos.msgs.PointCloud";
  view.set_channels({&channel, 1});
  SceneView::Item& item = *view.add("points", "lidar").or_throw();
  view.set(item, "history_s", "-1").or_throw();
  view.set(item, "auto_range", "false").or_throw();
  view.set(item, "high", "255").or_throw();
  view.camera().set_size(width, height);
  CameraState state;
  state.distance = 40;
  view.camera().set_state(state);
  const auto draw = [&] {
    view.draw(*renderer);
    (void)renderer->point_at(0, 0);  // waits for the picture
  };
  view.take(message(0));
  draw();
  Figures made;
  made.device = renderer->description();
  const double before = resident_mb();
  std::vector<double> times;
  double used = 0;
  const std::size_t messages = points / kMessagePoints;
  for (std::size_t i = 1; i < messages; ++i) {
    const Sample sample = message(i);
    const auto start = Clock::now();
    const double cpu = processor_ms();
    view.take(sample);
    do {
      draw();
    } while (renderer->refining());
    times.push_back(ms_since(start));
    used += processor_ms() - cpu;
  }
  made.new_points_cpu_ms = used / static_cast<double>(times.size());
  made.points = messages * kMessagePoints;
  made.resident_mb = resident_mb();
  made.bytes_a_point =
      (made.resident_mb - before) * 1e6 / static_cast<double>(made.points - kMessagePoints);
  made.new_points_ms = percentile(times, 0.5);
  made.uploads = renderer->uploads();
  std::vector<double> moving;
  double cpu = processor_ms();
  for (int i = 0; i < kMovingFrames; ++i) {
    state.yaw += 0.02;
    view.camera().set_state(state);
    const auto start = Clock::now();
    draw();
    moving.push_back(ms_since(start));
  }
  made.moving_p50_ms = percentile(moving, 0.5);
  made.moving_p95_ms = percentile(moving, 0.95);
  made.moving_cpu_ms = (processor_ms() - cpu) / kMovingFrames;
  const auto stopped = Clock::now();
  cpu = processor_ms();
  while (renderer->refining()) draw();
  made.complete_ms = ms_since(stopped);
  made.complete_cpu_ms = processor_ms() - cpu;
  const RenderCounters still = renderer->counters();
  draw();
  made.idle_uploads = renderer->counters().uploads - still.uploads;
  made.idle_points = renderer->counters().points_drawn - still.points_drawn;
  return made;
}

}  // namespace
}  // namespace hyphos::view

namespace {

void print(const hyphos::view::Figures& f, const hyphos::view::PlotFigures& plot) {
  std::printf("resident memory a point      %10.1f bytes (%.0f MB in all)\n", f.bytes_a_point,
              f.resident_mb);
  std::printf("frame with 20,000 new points %10.2f ms (%.1f ms of processor)\n", f.new_points_ms,
              f.new_points_cpu_ms);
  std::printf("frame while the camera moves %10.1f ms p50, %.1f ms p95 (%.1f ms of processor)\n",
              f.moving_p50_ms, f.moving_p95_ms, f.moving_cpu_ms);
  std::printf("complete after it has stopped%10.0f ms (%.0f ms of processor)\n", f.complete_ms,
              f.complete_cpu_ms);
  std::printf("uploads %llu, and while nothing changes %llu uploads, %llu points\n",
              static_cast<unsigned long long>(f.uploads),
              static_cast<unsigned long long>(f.idle_uploads),
              static_cast<unsigned long long>(f.idle_points));
  std::printf(
      "plot of %zu samples: pan %.1f ms p50, %.1f ms p95, zoom %.1f ms p50, %.1f ms p95 (%.1f ms "
      "of processor)\n",
      plot.samples, plot.pan_p50_ms, plot.pan_p95_ms, plot.zoom_p50_ms, plot.zoom_p95_ms,
      plot.cpu_ms);
}

void print_json(const hyphos::view::Figures& f, const hyphos::view::PlotFigures& plot) {
  std::printf("{\"device\": \"%s\", \"points\": %zu, \"bytes_a_point\": %.1f, ", f.device.c_str(),
              f.points, f.bytes_a_point);
  std::printf("\"resident_mb\": %.0f, \"new_points_ms\": %.2f, ", f.resident_mb, f.new_points_ms);
  std::printf("\"moving_p50_ms\": %.1f, \"moving_p95_ms\": %.1f, ", f.moving_p50_ms,
              f.moving_p95_ms);
  std::printf("\"moving_cpu_ms\": %.1f, \"complete_ms\": %.0f, \"complete_cpu_ms\": %.0f, ",
              f.moving_cpu_ms, f.complete_ms, f.complete_cpu_ms);
  std::printf("\"uploads\": %llu, \"idle_uploads\": %llu, \"idle_points\": %llu, ",
              static_cast<unsigned long long>(f.uploads),
              static_cast<unsigned long long>(f.idle_uploads),
              static_cast<unsigned long long>(f.idle_points));
  std::printf("\"samples\": %zu, \"pan_p50_ms\": %.1f, \"pan_p95_ms\": %.1f, ", plot.samples,
              plot.pan_p50_ms, plot.pan_p95_ms);
  std::printf("\"zoom_p50_ms\": %.1f, \"zoom_p95_ms\": %.1f, \"plot_cpu_ms\": %.1f}\n",
              plot.zoom_p50_ms, plot.zoom_p95_ms, plot.cpu_ms);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t points = 5'000'000;
  std::size_t samples = 1'000'000;
  int width = 1280;
  int height = 720;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--points") == 0 && i + 1 < argc) {
      points = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--samples") == 0 && i + 1 < argc) {
      samples = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--size") == 0 && i + 1 < argc) {
      if (std::sscanf(argv[++i], "%dx%d", &width, &height) != 2) return 2;
    } else if (std::strcmp(argv[i], "--json") == 0) {
      json = true;
    } else {
      std::fputs("usage: bench_view [--points N] [--samples N] [--size WxH] [--json]\n", stderr);
      return 2;
    }
  }
  try {
    const auto f = hyphos::view::run(std::max<std::size_t>(points, 40'000), width, height);
    if (!json) std::printf("%s, %d x %d, %zu points\n", f.device.c_str(), width, height, f.points);
    const auto plot = hyphos::view::run_plot(std::max<std::size_t>(samples, 1'000), width, height);
    json ? print_json(f, plot) : print(f, plot);
  } catch (const hyphos::Exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
