#pragma once

#include <string>
#include <utility>

#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// The first error in a message, with the field that contains it.
class ConversionError {
 public:
  /// Always returns false, so that `return trouble.fail(…)` ends a conversion.
  bool fail(std::string what) {
    what_ = std::move(what);
    return false;
  }
  /// Returns true if `problem` is empty. Otherwise records it.
  bool accept(std::string problem) { return problem.empty() || fail(std::move(problem)); }
  /// Called while unwinding: adds the enclosing field to the path.
  bool in(const std::string& field) {
    path_ = path_.empty() ? field : field + "." + path_;
    return false;
  }
  [[nodiscard]] Error error(const std::string& type) const {
    return {Code::corrupt, path_.empty() ? what_ : "'" + path_ + "' " + what_, type};
  }

 private:
  std::string what_;
  std::string path_;
};

}  // namespace hyphos::gateway
