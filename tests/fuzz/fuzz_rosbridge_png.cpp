#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "gateway/convert/base64.hpp"
#include "gateway/rosbridge/png.hpp"
#include "tests/gateway/rosbridge/png_file.hpp"

namespace {

using namespace hyphos::gateway;
using namespace hyphos::gateway::rosbridge;

constexpr std::size_t kLimit = 4096;

void read(const std::string& file) {
  std::string text;
  Base64Writer writer(text);
  writer.write(std::as_bytes(std::span(file)));
  writer.end();
  const auto json = json_of_png(text, kLimit);
  if (json && json->size() > kLimit) std::abort();
}

}  // namespace

/// The first byte selects the kind of the input: a file, a header and rows with correct checksums,
/// the same with deflated pixels, or JSON. JSON must survive a round trip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::size_t kHeader = 13;
  if (data[0] % 4 == 0) {
    read(rest);
  } else if (data[0] % 4 == 3) {
    const std::string message = png_message(rest);
    const std::string_view before = R"({"op":"png","data":")";
    const auto json = json_of_png(
        std::string_view(message).substr(before.size(), message.size() - before.size() - 2),
        4 * size + 64);
    const std::string whole = rest.substr(0, rest.find_last_not_of(" \t\r\n") + 1);
    if (!json || *json != whole) std::abort();
  } else if (rest.size() >= kHeader) {
    const std::string pixels = rest.substr(kHeader);
    read("\x89PNG\r\n\x1a\n" + chunk("IHDR", rest.substr(0, kHeader)) +
         chunk("IDAT", data[0] % 4 == 1 ? deflated(pixels) : pixels) + chunk("IEND", ""));
  }
  return 0;
}
