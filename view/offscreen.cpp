#include "view/offscreen.hpp"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "hyphos/time.hpp"
#include "view/panels/session.hpp"

namespace hyphos::view {
namespace {

constexpr int kWidth = 1600;
constexpr int kHeight = 900;
constexpr std::int64_t kLongest = 10 * 1'000'000'000LL;  // ns, for data of a running robot
constexpr std::chrono::milliseconds kPause(2);

}  // namespace

Result<std::unique_ptr<Offscreen>> Offscreen::open(const Options& options) {
  std::unique_ptr<Offscreen> made(new Offscreen);
  auto context = EglContext::open();
  if (!context) return context.error();
  made->context_ = std::move(*context);
  if (auto loaded = made->gl_.load(made->context_->loader()); !loaded) return loaded.error();
  const int width = options.width == 0 ? kWidth : options.width;
  const int height = options.height == 0 ? kHeight : options.height;
  if (auto sized = made->target_.resize(made->gl_, width, height); !sized) return sized.error();
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
  io.DeltaTime = 1.0F / 60;
  ImGui_ImplOpenGL3_Init("#version 330 core");
  made->has_gui_ = true;
  AppOptions app_options = options.app;
  app_options.play = false;
  auto app = App::open(app_options, made->context_->loader(), [] {});
  if (!app) return app.error();
  made->app_ = std::move(*app);
  Renderer& renderer = made->app_->session().renderer();
  RendererOptions drawing = renderer.options();
  drawing.moving_points = 0;
  renderer.set_options(drawing);
  return made;
}

Offscreen::~Offscreen() {
  app_.reset();
  if (!has_gui_) return;
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
}

void Offscreen::draw(std::int64_t now_ns) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  app_->frame(now_ns);
  ImGui::Render();
  gl_.BindFramebuffer(GL_FRAMEBUFFER, target_.framebuffer.get());
  gl_.Viewport(0, 0, target_.width, target_.height);
  const Color back = app_->clear_color();
  gl_.ClearColor(static_cast<float>(back.r) / 255, static_cast<float>(back.g) / 255,
                 static_cast<float>(back.b) / 255, 1);
  gl_.Clear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  app_->frame_done();
}

void Offscreen::complete(int least) {
  const std::int64_t start = monotonic_now().ns;
  for (int frame = 0;; ++frame) {
    const std::int64_t now = monotonic_now().ns;
    app_->pump(now);
    draw(now);
    if (frame + 1 < least) continue;
    const bool late = app_->session().timeline().live && now - start > kLongest;
    if (app_->settled() || late) return;
    gl_.Finish();  // or a driver without a GPU queues the frames, for seconds
    // Data of a robot come at their own time. This loop must not take the CPU from the robot.
    if (!app_->wants_frame(now)) std::this_thread::sleep_for(kPause);
  }
}

Picture Offscreen::read() {
  Picture picture;
  picture.width = target_.width;
  picture.height = target_.height;
  const std::size_t row = static_cast<std::size_t>(target_.width) * 4;
  const auto height = static_cast<std::size_t>(target_.height);
  std::vector<std::uint8_t>& rows = picture.rgba;
  rows.resize(row * height);
  gl_.BindFramebuffer(GL_FRAMEBUFFER, target_.framebuffer.get());
  gl_.PixelStorei(GL_PACK_ALIGNMENT, 1);
  gl_.ReadPixels(0, 0, target_.width, target_.height, GL_RGBA, GL_UNSIGNED_BYTE, rows.data());
  // OpenGL begins at the bottom. The rows change places without a second picture.
  const auto row_at = [&](std::size_t y) {
    return rows.begin() + static_cast<std::ptrdiff_t>(y * row);
  };
  for (std::size_t y = 0; y < height / 2; ++y) {
    std::swap_ranges(row_at(y), row_at(y + 1), row_at(height - 1 - y));
  }
  for (std::size_t at = 3; at < rows.size(); at += 4) rows[at] = 255;
  return picture;
}

}  // namespace hyphos::view
