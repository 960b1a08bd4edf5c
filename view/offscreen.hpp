#pragma once

#include <cstdint>
#include <memory>

#include "view/app.hpp"
#include "view/core/picture.hpp"
#include "view/options.hpp"
#include "view/scene/gl.hpp"
#include "view/shell_egl.hpp"

namespace hyphos::view {

/// The application on a picture in memory, without a display. Its pictures do not depend on the
/// speed of the machine: each has all points.
class Offscreen {
 public:
  /// Errors: those of EglContext::open() and App::open().
  static Result<std::unique_ptr<Offscreen>> open(const Options& options);
  ~Offscreen();
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;

  [[nodiscard]] App& app() { return *app_; }
  [[nodiscard]] int width() const { return target_.width; }
  [[nodiscard]] int height() const { return target_.height; }
  /// Draws until the picture is complete, at least `least` times. A running robot has 10 s for its
  /// data.
  void complete(int least);
  [[nodiscard]] Picture read();

 private:
  Offscreen() = default;
  void draw(std::int64_t now_ns);

  std::unique_ptr<EglContext> context_;
  Gl gl_;
  GlTarget target_;
  bool has_gui_ = false;
  std::unique_ptr<App> app_;
};

/// ImGui sizes its windows in the second frame.
inline constexpr int kFirstFrames = 3;

}  // namespace hyphos::view
