#pragma once

#include <cassert>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "hyphos/export.hpp"

namespace hyphos {

/// The kinds of failures outside the program. `advice()` gives the remedy for each.
enum class Code {
  invalid_config,  ///< a file, argument or plan is wrong. The message names the key and the remedy
  not_found,       ///< the named thing does not exist
  already_exists,  ///< an endpoint, name or file is taken
  type_mismatch,   ///< the two sides of a channel use different types
  timeout,         ///< the time given was not enough
  overloaded,      ///< a bounded queue or pool is full
  disconnected,    ///< the peer is gone, or there never was one
  exhausted,       ///< disk, /dev/shm, memory or descriptors ran out
  permission,      ///< the operating system denied access
  corrupt,         ///< data failed a check and was discarded
  unsupported,     ///< this build, kernel or version lacks the feature
  io,              ///< any other error of the operating system
  canceled,        ///< a call or goal was canceled before it ended
  out_of_range,  ///< a time or position is outside the known range. The message gives the distance
  too_large,     ///< the message exceeds a fixed limit, so waiting does not help
};

inline constexpr Code kLastCode = Code::too_large;

/// The name of the code, the same in C++, Python and on the command line, e.g. "type_mismatch".
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Code code);

/// The code with this name, or none if there is no such code.
[[nodiscard]] HYPHOS_EXPORT std::optional<Code> code_named(std::string_view word);

/// The remedy in one line, e.g. "retry later, or raise the channel's depth".
[[nodiscard]] HYPHOS_EXPORT std::string_view advice(Code code);

/// A failure outside the program: its code, its cause with the remedy, and its place.
struct Error {
  Code code = Code::io;
  std::string message;  ///< the cause and the remedy, in one sentence
  std::string where;    ///< file:line of the input, endpoint, channel or path, may be empty

  /// "robot.yaml:12: unknown key 'dept' (did you mean 'depth'?) [invalid_config]"
  [[nodiscard]] HYPHOS_EXPORT std::string to_string() const;
};

/// Thrown by `Result::or_throw()`. Meant for start-up code and Python only.
class HYPHOS_EXPORT Exception : public std::runtime_error {
 public:
  explicit Exception(Error error)
      : std::runtime_error(error.to_string()), error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  Error error_;
};

/// A value or an Error. Success allocates nothing.
template <typename T = void>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): implicit by design
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return assert(ok()), *std::get_if<0>(&state_); }
  [[nodiscard]] const T& value() const& { return assert(ok()), *std::get_if<0>(&state_); }
  [[nodiscard]] T&& value() && { return assert(ok()), std::move(*std::get_if<0>(&state_)); }
  [[nodiscard]] const Error& error() const { return assert(!ok()), *std::get_if<1>(&state_); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Returns the value, or throws an Exception with the whole error text.
  T or_throw() && {
    if (!ok()) throw Exception(error());
    return std::move(*this).value();
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return assert(!ok()), *error_; }
  void or_throw() && {
    if (!ok()) throw Exception(*error_);
  }

 private:
  std::optional<Error> error_;
};

/// A successful `Result<void>`, named so that a return statement reads well.
[[nodiscard]] inline Result<void> success() { return {}; }

}  // namespace hyphos
