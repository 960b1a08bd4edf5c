#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace hyphos::test {

/// Keeps everything that this process writes to stderr, without a gap: a test may read the text as
/// often as it needs while other threads write. CaptureStderr() of GoogleTest must end to be read.
class CapturedStderr {
 public:
  CapturedStderr() : file_(std::tmpfile()), usual_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
    if (file_ == nullptr || usual_ < 0) throw std::runtime_error("cannot capture stderr");
    // Lines of two threads must not overwrite each other.
    (void)::fcntl(::fileno(file_), F_SETFL, O_APPEND);
    (void)::dup2(::fileno(file_), STDERR_FILENO);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;
  ~CapturedStderr() {
    (void)::dup2(usual_, STDERR_FILENO);
    (void)::close(usual_);
    (void)std::fclose(file_);
  }

  /// The text so far.
  [[nodiscard]] std::string text() const {
    std::string all;
    std::array<char, 4096> part{};
    for (;;) {
      const auto at = static_cast<off_t>(all.size());
      const ssize_t size = ::pread(::fileno(file_), part.data(), part.size(), at);
      if (size <= 0) return all;
      all.append(part.data(), static_cast<std::size_t>(size));
    }
  }

 private:
  std::FILE* file_;
  int usual_;
};

}  // namespace hyphos::test
