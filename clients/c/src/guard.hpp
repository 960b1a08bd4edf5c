#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "hyphos/result.hpp"
#include "hyphos_c.h"

namespace hyphos::c {

/// Writes `error` to `out`, which may be NULL. Returns the code of `error`.
hyphos_code report(hyphos_error* out, const Error& error) noexcept;
hyphos_code succeed(hyphos_error* out) noexcept;
[[nodiscard]] hyphos_code to_c(Code code) noexcept;
/// Returns false for an unknown error code.
bool from_c(hyphos_code code, Code& out) noexcept;

/// Runs `work` at the C boundary. No exception crosses the boundary: each one becomes an error.
template <typename F>
hyphos_code guard(hyphos_error* error, F&& work) noexcept {
  try {
    const Result<void> done = work();
    return done ? succeed(error) : report(error, done.error());
  } catch (const Exception& exception) {
    return report(error, exception.error());
  } catch (const std::bad_alloc&) {
    return report(error, {Code::exhausted, "out of memory", ""});
  } catch (const std::exception& exception) {
    return report(error, {Code::io, exception.what(), ""});
  } catch (...) {
    return report(
        error, {Code::io,
                "the library threw an exception of unknown type. Please report this as a bug", ""});
  }
}

/// The same for a function that cannot fail, such as the end of a handle.
template <typename F>
void quietly(F&& work) noexcept {
  (void)guard(nullptr, [&]() -> Result<void> { return work(), success(); });
}

[[nodiscard]] inline Error is_null(const char* what) {
  return {Code::invalid_config, std::string(what) + " is NULL", ""};
}

/// The size of T in the first version of the ABI. It never changes, because later versions only
/// append fields.
template <typename T>
inline constexpr std::size_t kFirstSize = 0;
template <>
inline constexpr std::size_t kFirstSize<hyphos_node_options> = 56;
template <>
inline constexpr std::size_t kFirstSize<hyphos_policy> = 48;
template <>
inline constexpr std::size_t kFirstSize<hyphos_publisher_options> = 24;
template <>
inline constexpr std::size_t kFirstSize<hyphos_subscription_options> = 24;
template <>
inline constexpr std::size_t kFirstSize<hyphos_service_options> = 24;
template <>
inline constexpr std::size_t kFirstSize<hyphos_client_options> = 16;
template <>
inline constexpr std::size_t kFirstSize<hyphos_action_options> = 24;
template <>
inline constexpr std::size_t kFirstSize<hyphos_goal_callbacks> = 32;
template <>
inline constexpr std::size_t kFirstSize<hyphos_param_options> = 48;

/// Reads a struct of the caller. An older caller has fewer fields, and the missing ones are zeros.
/// A newer caller may have more fields, and these must be zeros.
template <typename T>
[[nodiscard]] Result<T> read_struct(const T* given, const char* name) {
  static_assert(sizeof(void*) != 8 || sizeof(T) >= kFirstSize<T>);
  T out{};
  if (given == nullptr) return out;
  const std::uint64_t size = given->struct_size;
  constexpr std::uint64_t kMost = 4096;
  if (size < std::min(kFirstSize<T>, sizeof(T)) || size > kMost) {
    return Error{Code::invalid_config,
                 std::string(name) + ".struct_size is " + std::to_string(size) +
                     ". Set it to sizeof(" + name + "), " + std::to_string(sizeof(T)),
                 ""};
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::uint64_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) {
      return Error{
          Code::unsupported,
          std::string(name) +
              " sets a field that this version of libhyphos_c does not have. Update libhyphos_c",
          ""};
    }
  }
  std::memcpy(&out, given, std::min<std::size_t>(static_cast<std::size_t>(size), sizeof(T)));
  return out;
}

[[nodiscard]] inline std::string text_or(const char* text, const char* fallback) {
  return text != nullptr ? text : fallback;
}

}  // namespace hyphos::c
