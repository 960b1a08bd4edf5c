#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "hyphos/time.hpp"
#include "view/core/picture.hpp"
#include "view/options.hpp"
#include "view/panels/session.hpp"
#include "view/report.hpp"
#include "view/scene/gl.hpp"
#include "view/shell_egl.hpp"

namespace hyphos::view {
namespace {

constexpr int kWidth = 1600;
constexpr int kHeight = 900;
constexpr int kLeastFrames = 3;                          // ImGui sizes windows in the second one
constexpr std::int64_t kLongest = 10 * 1'000'000'000LL;  // ns, for data of a running robot

/// ImGui without a window.
class Gui {
 public:
  Gui(int width, int height) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    io.DeltaTime = 1.0F / 60;
    ImGui_ImplOpenGL3_Init("#version 330 core");
  }
  ~Gui() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui::DestroyContext();
  }
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;
};

Picture read(Gl& gl, const GlTarget& target) {
  Picture picture;
  picture.width = target.width;
  picture.height = target.height;
  const std::size_t row = static_cast<std::size_t>(target.width) * 4;
  std::vector<std::uint8_t> rows(row * static_cast<std::size_t>(target.height));
  gl.BindFramebuffer(GL_FRAMEBUFFER, target.framebuffer.get());
  gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
  gl.ReadPixels(0, 0, target.width, target.height, GL_RGBA, GL_UNSIGNED_BYTE, rows.data());
  picture.rgba.resize(rows.size());
  for (std::size_t y = 0; y < static_cast<std::size_t>(target.height); ++y) {
    const std::size_t from = (static_cast<std::size_t>(target.height) - 1 - y) * row;
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(from), row,
                picture.rgba.begin() + static_cast<std::ptrdiff_t>(y * row));
  }
  for (std::size_t at = 3; at < picture.rgba.size(); at += 4) picture.rgba[at] = 255;
  return picture;
}

void draw(App& app, Gl& gl, const GlTarget& target, std::int64_t now) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  app.frame(now);
  ImGui::Render();
  gl.BindFramebuffer(GL_FRAMEBUFFER, target.framebuffer.get());
  gl.Viewport(0, 0, target.width, target.height);
  const Color back = app.clear_color();
  gl.ClearColor(static_cast<float>(back.r) / 255, static_cast<float>(back.g) / 255,
                static_cast<float>(back.b) / 255, 1);
  gl.Clear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  app.frame_done();
}

/// A difference of a colour that the eye hardly sees, 0 to 255. Drivers round differently.
constexpr int kSameColor = 24;

Result<void> compare_with(const Options& options, const Picture& picture) {
  auto golden = read_png(options.compare);
  if (!golden) return golden.error();
  const auto found = compare(picture, *golden, kSameColor);
  if (!found) return Error{found.error().code, found.error().message, options.compare};
  const double share =
      100 * static_cast<double>(found->different) / static_cast<double>(found->pixels);
  char text[128];
  std::snprintf(text, sizeof(text), "%.3f %% of the pixels differ, the limit is %g %%", share,
                options.tolerance);
  if (share > options.tolerance) {
    return Error{Code::out_of_range, text + std::string(". See ") + options.png, options.compare};
  }
  std::printf("%s\n", text);
  return success();
}

}  // namespace

Result<void> run_picture(const Options& options) {
  auto context = EglContext::open();
  if (!context) return context.error();
  Gl gl;
  if (auto loaded = gl.load((*context)->loader()); !loaded) return loaded;
  const int width = options.width == 0 ? kWidth : options.width;
  const int height = options.height == 0 ? kHeight : options.height;
  GlTarget target;
  if (auto made = target.resize(gl, width, height); !made) return made;
  const Gui gui(width, height);
  AppOptions app_options = options.app;
  if (app_options.at_s < 0) app_options.at_s = 0;
  auto app = App::open(app_options, (*context)->loader(), [] {});
  if (!app) return app.error();
  // All points at once: a picture does not depend on the speed of the machine.
  Renderer& renderer = (*app)->session().renderer();
  RendererOptions drawing = renderer.options();
  drawing.moving_points = 0;
  renderer.set_options(drawing);
  const std::int64_t start = monotonic_now().ns;
  for (int frame = 0;; ++frame) {
    const std::int64_t now = monotonic_now().ns;
    (*app)->pump(now);
    draw(**app, gl, target, now);
    if (frame + 1 >= kLeastFrames && ((*app)->settled() || now - start > kLongest)) break;
  }
  const Picture picture = read(gl, target);
  if (!options.report.empty()) {
    if (auto saved = save_report(options.report, make_report(**app)); !saved) return saved;
  }
  if (auto written = write_png(options.png, picture); !written) return written;
  return options.compare.empty() ? success() : compare_with(options, picture);
}

}  // namespace hyphos::view
