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

/// What went wrong in the world outside the program. `advice()` says what a caller can do about it.
enum class Code {
  invalid_config,  ///< a file, argument or plan is wrong; the message says which key and how to
                   ///< mend it
  not_found,       ///< the named thing does not exist
  already_exists,  ///< an endpoint, name or file is taken
  type_mismatch,   ///< the two sides of a channel disagree about its type
  timeout,         ///< the time given was not enough
  overloaded,      ///< a bounded queue or pool is full
  disconnected,    ///< the peer is gone, or nobody was ever there
  exhausted,       ///< disk, /dev/shm, memory or descriptors ran out
  permission,      ///< the operating system refused
  corrupt,         ///< data failed a check and was not used
  unsupported,     ///< this build, kernel or version cannot do it
  io,              ///< any other error of the operating system
  canceled,        ///< a call or goal was given up before it ended
  out_of_range,    ///< a time or position lies outside of what is known; the message says by how
                   ///< much
  too_large,       ///< the message exceeds a fixed limit; waiting does not help
};

inline constexpr Code kLastCode = Code::too_large;

/// The same word in C++, Python and on the command line, e.g. "type_mismatch".
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Code code);

/// The code of such a word; none if it is of no code.
[[nodiscard]] HYPHOS_EXPORT std::optional<Code> code_named(std::string_view word);

/// One line that tells a caller what to do, e.g. "retry later, or raise the channel's depth".
[[nodiscard]] HYPHOS_EXPORT std::string_view advice(Code code);

/// An error of the world: what, where, and (through its code) what to do.
struct Error {
  Code code = Code::io;
  std::string message;  ///< what happened and what would be right, in one sentence
  std::string where;    ///< file:line of the input, endpoint, channel or path; may be empty

  /// "robot.yaml:12: unknown key 'dept' (did you mean 'depth'?) [invalid_config]"
  [[nodiscard]] HYPHOS_EXPORT std::string to_string() const;
};

/// Thrown by `Result::or_throw()`: meant for start-up code and Python only.
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
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
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

  /// The value, or an Exception with the whole error text.
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

/// `Result<void>` success, spelled so that a return statement reads well.
[[nodiscard]] inline Result<void> success() { return {}; }

}  // namespace hyphos
