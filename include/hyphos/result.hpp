#pragma once

#include <cassert>
#include <concepts>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

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
  Result(T value) : value_(std::move(value)), ok_(true) {}
  Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT
  Result(const Result& other)
    requires std::copy_constructible<T>
      : ok_(other.ok_) {
    ok_ ? make(other.value_) : fail(other.error_);
  }
  Result(Result&& other) noexcept : ok_(other.ok_) {
    ok_ ? make(std::move(other.value_)) : fail(std::move(other.error_));
  }
  Result& operator=(Result other) noexcept {
    clear();
    ok_ = other.ok_;
    ok_ ? make(std::move(other.value_)) : fail(std::move(other.error_));
    return *this;
  }
  ~Result() { clear(); }

  [[nodiscard]] bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }

  [[nodiscard]] T& value() & { return assert(ok_), value_; }
  [[nodiscard]] const T& value() const& { return assert(ok_), value_; }
  [[nodiscard]] T&& value() && { return assert(ok_), std::move(value_); }
  [[nodiscard]] const Error& error() const { return assert(!ok_), error_; }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Returns the value, or throws an Exception with the whole error text.
  T or_throw() && {
    if (!ok_) throw Exception(error_);
    return std::move(value_);
  }

 private:
  template <typename U>
  void make(U&& value) {
    ::new (static_cast<void*>(&value_)) T(std::forward<U>(value));
  }
  template <typename U>
  void fail(U&& error) {
    ::new (static_cast<void*>(&error_)) Error(std::forward<U>(error));
  }
  void clear() { ok_ ? value_.~T() : error_.~Error(); }

  // Not std::variant, which triples the time to compile each Result<T>.
  union {
    T value_;
    Error error_;
  };
  bool ok_;
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
