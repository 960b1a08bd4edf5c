#pragma once

#include <string>

#include "base/log.hpp"

namespace hyphos::graph {

/// An exception that left a callback, in words.
struct Failure {
  std::string summary;        ///< one line
  std::string details;        ///< further lines, such as the traceback of Python. May be empty
  bool disconnected = false;  ///< an Exception with Code::disconnected

  /// The exception that is being handled. Call it in a catch block.
  [[nodiscard]] static Failure current();
  /// Logs the failure of `who`, at most one line per second and `limit`.
  void log(const std::string& who, log::OncePerSecond& limit) const;
};

}  // namespace hyphos::graph
