#pragma once

#include <memory>

#include "hyphos/result.hpp"

namespace hyphos::cosim {

/// An OpenGL context without a window and without a surface. Its owner draws into buffers of its
/// own. Threads: from any, one at a time, each inside a Current.
class EglContext {
 public:
  /// Errors: unsupported, with the packages to install.
  [[nodiscard]] static Result<std::unique_ptr<EglContext>> open();
  ~EglContext();
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;

  /// The context is that of the calling thread while this object lives. Afterwards the thread has
  /// none, so that other threads and other users of OpenGL are not disturbed.
  class Current {
   public:
    /// Errors: unsupported.
    [[nodiscard]] static Result<Current> make(const EglContext& context);
    ~Current();
    Current(Current&& other) noexcept : context_(other.context_) { other.context_ = nullptr; }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    explicit Current(const EglContext& context) : context_(&context) {}
    const EglContext* context_;
  };

 private:
  struct Library;
  explicit EglContext(std::unique_ptr<Library> library);

  std::unique_ptr<Library> library_;
  void* display_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace hyphos::cosim
