#pragma once

#include <string>
#include <utility>

#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// The first thing that is wrong with a message, and in which field.
class ConversionError {
 public:
  /// Always false, so that `return trouble.fail(…)` ends a conversion.
  bool fail(std::string what) {
    what_ = std::move(what);
    return false;
  }
  /// True if there is no problem; else tells it.
  bool accept(std::string problem) { return problem.empty() || fail(std::move(problem)); }
  /// On the way out: the field that what is wrong lies in.
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
