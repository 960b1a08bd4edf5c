#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "hyphos/result.hpp"
#include "hyphos_c.h"

namespace hyphos::c {

/// Writes `error` for the caller, who may have given no place for it; returns its code.
hyphos_code report(hyphos_error* out, const Error& error) noexcept;
hyphos_code succeed(hyphos_error* out) noexcept;
[[nodiscard]] hyphos_code to_c(Code code) noexcept;
/// False if there is no such error.
bool from_c(hyphos_code code, Code& out) noexcept;

/// Runs what may fail in any way, at the border that no exception crosses.
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
    return report(error, {Code::io, "an exception that is not a std::exception", ""});
  }
}

/// The same for what cannot fail: an end of a handle.
template <typename F>
void quietly(F&& work) noexcept {
  (void)guard(nullptr, [&]() -> Result<void> { return work(), success(); });
}

[[nodiscard]] inline Error is_null(const char* what) {
  return {Code::invalid_config, std::string(what) + " is NULL", ""};
}

/// Its size in the first version of the ABI, which never changes: fields are only appended.
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
inline constexpr std::size_t kFirstSize<hyphos_param_options> = 48;

/// A struct of the caller's, who may know fewer fields (the rest is zeros then), or more, as long
/// as he asks for nothing with them.
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
                     "; right would be sizeof(" + name + "), " + std::to_string(sizeof(T)),
                 ""};
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::uint64_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) {
      return Error{Code::unsupported,
                   std::string(name) + " asks for what came after this version of libhyphos_c", ""};
    }
  }
  std::memcpy(&out, given, std::min<std::size_t>(static_cast<std::size_t>(size), sizeof(T)));
  return out;
}

[[nodiscard]] inline std::string text_or(const char* text, const char* fallback) {
  return text != nullptr ? text : fallback;
}

}  // namespace hyphos::c
