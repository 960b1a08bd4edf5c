#pragma once

#include <memory>

#include "hyphos/result.hpp"
#include "view/scene/renderer.hpp"

namespace hyphos::view {

/// An OpenGL context without a window and without a display server, by EGL. Current in the thread
/// that opened it. A machine without a graphics card uses llvmpipe.
class EglContext {
 public:
  /// unsupported with the remedy if there is no EGL or no OpenGL 3.3.
  static Result<std::unique_ptr<EglContext>> open();
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;
  ~EglContext();

  [[nodiscard]] GlLoader loader() const;

 private:
  EglContext() = default;
  void* display_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace hyphos::view
