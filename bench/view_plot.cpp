#include "bench/view_plot.hpp"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hyphos/msgs/std.pb.h"
#include "view/app_impl.hpp"
#include "view/scene/gl.hpp"
#include "view/shell_egl.hpp"

namespace hyphos::view {
namespace {

constexpr std::int64_t kStep = 1'000'000;  // ns: 1 kHz
constexpr std::int64_t kStart = 1'700'000'000'000'000'000;
constexpr int kFrames = 200;

/// A recording of one number at 1 kHz, made while it is read.
class Numbers final : public Source {
 public:
  explicit Numbers(std::size_t count) : count_(static_cast<std::int64_t>(count)) {
    channel_.name = "value";
    channel_.type = "hyphos.msgs.Float64";
    channel_.encoding = Encoding::protobuf;
  }
  std::string title() const override { return "numbers"; }
  std::span<const Channel> channels() const override { return {&channel_, 1}; }
  const google::protobuf::DescriptorPool& types() const override { return types_.pool(); }
  void select(const std::set<std::string>& names) override { shown_ = names.contains("value"); }
  TimeRange range() const override { return {kStart, kStart + (count_ - 1) * kStep}; }
  bool live() const override { return false; }
  std::size_t advance(std::int64_t until_ns, Sink& sink) override {
    return pass(passed_, until_ns, sink);
  }
  Result<void> seek(std::int64_t time_ns, const Lookback& lookback, Sink& sink) override {
    sink.clear();
    pass(time_ns - lookback.of("value"), time_ns, sink);
    return success();
  }
  std::int64_t step(std::int64_t time_ns, int step) const override {
    return time_ns + step * kStep;
  }
  void on_arrival(std::function<void()>) override {}
  Loss loss(std::uint32_t) const override { return {}; }
  std::vector<std::string> problems() const override { return {}; }
  std::size_t memory() const override { return 0; }
  void limit_memory(std::size_t) override {}
  const Metadata& metadata() const override { return metadata_; }
  Result<std::string> attachment(std::string_view) const override {
    return Error{Code::not_found, "there are no attachments", ""};
  }

 private:
  /// Samples later than `after_ns`, up to `until_ns`.
  std::size_t pass(std::int64_t after_ns, std::int64_t until_ns, Sink& sink) {
    passed_ = until_ns;
    std::size_t passed = 0;
    const std::int64_t first = std::max<std::int64_t>((after_ns - kStart) / kStep + 1, 0);
    for (std::int64_t i = first; shown_ && i < count_ && kStart + i * kStep <= until_ns; ++i) {
      msgs::Float64 value;
      const double at = static_cast<double>(i);
      value.set_data(std::sin(at * 1e-4) + 0.3 * std::sin(at * 0.7) + 0.1 * std::sin(at * 1.9));
      Sample sample;
      sample.time_ns = kStart + i * kStep;
      sample.payload = Buffer::copy_of(std::string_view(value.SerializeAsString()));
      sink.take(sample);
      ++passed;
    }
    return passed;
  }

  std::int64_t count_;
  Channel channel_;
  Types types_;
  Metadata metadata_;
  bool shown_ = false;
  std::int64_t passed_ = kStart - 1;
};

/// The whole window, drawn into a picture.
class Window {
 public:
  Window(int width, int height) : context_(EglContext::open().or_throw()) {
    gl_.load(context_->loader()).or_throw();
    target_.resize(gl_, width, height).or_throw();
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::GetIO().DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    ImGui_ImplOpenGL3_Init("#version 330 core");
    AppOptions options;
    options.domain = "bench-view-" + std::to_string(::getpid());
    app_ = App::open(options, context_->loader(), [] {}).or_throw();
  }
  ~Window() {
    app_.reset();
    ImGui_ImplOpenGL3_Shutdown();
    ImGui::DestroyContext();
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  App& app() { return *app_; }
  App::Impl& impl() { return static_cast<App::Impl&>(app_->session()); }

  /// One frame, until its pixels are there. Returns its duration in ms.
  double frame() {
    const auto start = std::chrono::steady_clock::now();
    now_ += 16'000'000;
    app_->pump(now_);
    ImGui::GetIO().DeltaTime = 0.016F;
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    app_->frame(now_);
    ImGui::Render();
    gl_.BindFramebuffer(GL_FRAMEBUFFER, target_.framebuffer.get());
    gl_.Viewport(0, 0, target_.width, target_.height);
    const Color back = app_->clear_color();
    gl_.ClearColor(static_cast<float>(back.r) / 255, static_cast<float>(back.g) / 255,
                   static_cast<float>(back.b) / 255, 1);
    gl_.Clear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    gl_.Finish();
    app_->frame_done();
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - start;
    return passed.count();
  }

 private:
  std::unique_ptr<EglContext> context_;
  Gl gl_;
  GlTarget target_;
  std::unique_ptr<App> app_;
  std::int64_t now_ = 1'000'000'000;
};

double percentile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return values[std::min(at, values.size() - 1)];
}

}  // namespace

PlotFigures run_plot(std::size_t samples, int width, int height) {
  Window window(width, height);
  window.impl().use_source(std::make_unique<Numbers>(samples));
  window.impl().timeline_.playing = false;
  const std::string seconds = std::to_string(samples / 1'000 + 1);
  window.app().set_layout(
      parse_layout("hyphos_view: 1\npanels: {panel: plot, fields: [value:data], window_s: " +
                       seconds + "}\n",
                   "bench.yaml", vocabulary())
          .or_throw());
  for (int i = 0; i < 3; ++i) window.frame();
  window.impl().seek(kStart + static_cast<std::int64_t>(samples) * kStep);
  for (int i = 0; i < 5; ++i) window.frame();
  ImGuiIO& io = ImGui::GetIO();
  const ImVec2 middle{static_cast<float>(width) / 2, static_cast<float>(height) / 2};
  PlotFigures made;
  made.samples = samples;
  const std::clock_t before = std::clock();
  std::vector<double> times;
  io.MousePos = middle;
  window.frame();
  io.MouseDown[0] = true;
  window.frame();
  for (int i = 0; i < kFrames; ++i) {
    io.MousePos.x = middle.x + 300 * std::sin(static_cast<float>(i) * 0.05F);
    times.push_back(window.frame());
  }
  io.MouseDown[0] = false;
  made.pan_p50_ms = percentile(times, 0.5);
  made.pan_p95_ms = percentile(times, 0.95);
  window.frame();
  times.clear();
  for (int i = 0; i < kFrames; ++i) {
    io.MouseWheel = i % 40 < 20 ? 1.F : -1.F;
    times.push_back(window.frame());
  }
  made.zoom_p50_ms = percentile(times, 0.5);
  made.zoom_p95_ms = percentile(times, 0.95);
  made.cpu_ms =
      1e3 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / (2 * kFrames + 3);
  return made;
}

}  // namespace hyphos::view
