#pragma once

#include <backends/imgui_impl_opengl3.h>
#include <gtest/gtest.h>
#include <imgui.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tests/view/panels/fake_source.hpp"
#include "view/app_impl.hpp"
#include "view/core/picture.hpp"
#include "view/scene/gl.hpp"
#include "view/shell_egl.hpp"

namespace hyphos::view {

/// The application with injected input, drawn into a picture. Time is that of the test.
class TestWindow {
 public:
  /// Without a domain: one without a robot.
  explicit TestWindow(int width = 1280, int height = 720, const std::string& domain = "") {
    auto context = EglContext::open();
    EXPECT_TRUE(context) << context.error().to_string();
    context_ = std::move(*context);
    EXPECT_TRUE(gl_.load(context_->loader()));
    EXPECT_TRUE(target_.resize(gl_, width, height));
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    map_keys(io);
    ImGui_ImplOpenGL3_Init("#version 330 core");
    AppOptions options;
    options.domain = domain.empty() ? "view-test-" + std::to_string(::getpid()) : domain;
    auto app = App::open(options, context_->loader(), [] {});
    EXPECT_TRUE(app) << app.error().to_string();
    app_ = std::move(*app);
  }
  ~TestWindow() {
    app_.reset();
    ImGui_ImplOpenGL3_Shutdown();
    ImGui::DestroyContext();
  }
  TestWindow(const TestWindow&) = delete;
  TestWindow& operator=(const TestWindow&) = delete;

  App& app() { return *app_; }
  App::Impl& impl() { return static_cast<App::Impl&>(app_->session()); }

  /// Shows a recording. Its first instant is drawn.
  FakeSource& show(std::unique_ptr<FakeSource> source) {
    FakeSource& shown = *source;
    impl().use_source(std::move(source));
    impl().timeline_.playing = false;
    frames(4);
    return shown;
  }
  void set_layout(const std::string& text) {
    auto layout = parse_layout(text, "test.yaml", vocabulary());
    ASSERT_TRUE(layout) << layout.error().to_string();
    app_->set_layout(*layout);
    frames(3);
  }

  void pump(std::int64_t ms = 16) {
    now_ += ms * 1'000'000;
    app_->pump(now_);
  }
  void frame(std::int64_t ms = 16) {
    pump(ms);
    ImGui::GetIO().DeltaTime = static_cast<float>(ms) / 1000;
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
    gl_.Finish();  // or a driver without a GPU queues the frames, for seconds
    app_->frame_done();
  }
  void frames(int count) {
    for (int i = 0; i < count; ++i) frame();
  }
  [[nodiscard]] bool wants_frame() const { return app_->wants_frame(now_); }
  [[nodiscard]] std::int64_t now() const { return now_; }

  // Input.
  void move(float x, float y) {
    ImGui::GetIO().MousePos = {x, y};
    app_->invalidate();
    frame();
    frame();
  }
  void down(int button = 0) {
    ImGui::GetIO().MouseDown[button] = true;
    app_->invalidate();
    frame();
  }
  void up(int button = 0) {
    ImGui::GetIO().MouseDown[button] = false;
    app_->invalidate();
    frame();
    frame();
  }
  void click(float x, float y, int button = 0) {
    move(x, y);
    down(button);
    up(button);
    frame(600);  // the next click is no double click
  }
  void drag(float x0, float y0, float x1, float y1, int button = 0) {
    move(x0, y0);
    down(button);
    for (int i = 1; i <= 4; ++i) {
      const float part = static_cast<float>(i) / 4;
      move(x0 + (x1 - x0) * part, y0 + (y1 - y0) * part);
    }
    up(button);
    frame(600);
  }
  void wheel(float notches) {
    ImGui::GetIO().MouseWheel = notches;
    app_->invalidate();
    frame();
    frame();
  }
  void key(int index, bool ctrl = false, bool shift = false) {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyCtrl = ctrl;
    io.KeyShift = shift;
    io.KeysDown[index] = true;
    app_->invalidate();
    frame();
    io.KeysDown[index] = false;
    io.KeyCtrl = io.KeyShift = false;
    frame();
    frame();
  }
  void type(const char* text) {
    ImGui::GetIO().AddInputCharactersUTF8(text);
    app_->invalidate();
    frame();
    frame();
  }

  /// The window, top row first. Written to $HYPHOS_VIEW_PICTURES/NAME.png if that is set.
  Picture picture(const std::string& name = "") {
    Picture made;
    made.width = target_.width;
    made.height = target_.height;
    const std::size_t row = static_cast<std::size_t>(made.width) * 4;
    std::vector<std::uint8_t> rows(row * static_cast<std::size_t>(made.height));
    gl_.BindFramebuffer(GL_FRAMEBUFFER, target_.framebuffer.get());
    gl_.PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl_.ReadPixels(0, 0, made.width, made.height, GL_RGBA, GL_UNSIGNED_BYTE, rows.data());
    for (int y = made.height - 1; y >= 0; --y) {
      const auto from =
          rows.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(y) * row);
      made.rgba.insert(made.rgba.end(), from, from + static_cast<std::ptrdiff_t>(row));
    }
    for (std::size_t at = 3; at < made.rgba.size(); at += 4) made.rgba[at] = 255;
    const char* folder = std::getenv("HYPHOS_VIEW_PICTURES");
    if (folder != nullptr && !name.empty()) {
      EXPECT_TRUE(write_png(std::string(folder) + "/" + name + ".png", made));
    }
    return made;
  }

 private:
  static void map_keys(ImGuiIO& io) {
    // The key codes of GLFW.
    io.KeyMap[ImGuiKey_Enter] = 257;
    io.KeyMap[ImGuiKey_Escape] = 256;
    io.KeyMap[ImGuiKey_Tab] = 258;
    io.KeyMap[ImGuiKey_Backspace] = 259;
    io.KeyMap[ImGuiKey_RightArrow] = 262;
    io.KeyMap[ImGuiKey_LeftArrow] = 263;
    io.KeyMap[ImGuiKey_DownArrow] = 264;
    io.KeyMap[ImGuiKey_UpArrow] = 265;
    io.KeyMap[ImGuiKey_A] = 'A';
  }

  std::unique_ptr<EglContext> context_;
  Gl gl_;
  GlTarget target_;
  std::unique_ptr<App> app_;
  std::int64_t now_ = 1'000'000'000;
};

}  // namespace hyphos::view
