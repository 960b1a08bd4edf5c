#include "guard.hpp"

#include <cstring>
#include <string_view>

namespace hyphos::c {
namespace {

static_assert(static_cast<int>(Code::invalid_config) + 1 == HYPHOS_INVALID_CONFIG &&
              static_cast<int>(Code::timeout) + 1 == HYPHOS_TIMEOUT &&
              static_cast<int>(Code::io) + 1 == HYPHOS_IO &&
              static_cast<int>(kLastCode) + 1 == HYPHOS_TOO_LARGE);

/// Copies whole UTF-8 characters only, and adds the terminating zero.
template <std::size_t Room>
void copy_text(char (&out)[Room], std::string_view text) noexcept {
  std::size_t size = text.size();
  if (size >= Room) {
    size = Room - 1;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  }
  std::memcpy(out, text.data(), size);
  out[size] = '\0';
}

}  // namespace

hyphos_code to_c(Code code) noexcept { return static_cast<hyphos_code>(code) + 1; }

bool from_c(hyphos_code code, Code& out) noexcept {
  if (code < 1 || code > static_cast<int>(kLastCode) + 1) return false;
  out = static_cast<Code>(code - 1);
  return true;
}

hyphos_code report(hyphos_error* out, const Error& error) noexcept {
  if (out != nullptr) {
    out->code = to_c(error.code);
    copy_text(out->message, error.message);
    copy_text(out->where, error.where);
    copy_text(out->advice, advice(error.code));
  }
  return to_c(error.code);
}

hyphos_code succeed(hyphos_error* out) noexcept {
  if (out != nullptr) {
    out->code = HYPHOS_OK;
    out->message[0] = out->where[0] = out->advice[0] = '\0';
  }
  return HYPHOS_OK;
}

}  // namespace hyphos::c

using namespace hyphos;

extern "C" {

int32_t hyphos_abi(void) { return HYPHOS_ABI; }
const char* hyphos_version(void) { return HYPHOS_VERSION_TEXT; }

const char* hyphos_code_name(hyphos_code code) {
  Code known{};
  if (code == HYPHOS_OK) return "ok";
  // The names are string literals, so they end with a zero.
  return c::from_c(code, known) ? to_string(known).data() : nullptr;
}

}  // extern "C"
