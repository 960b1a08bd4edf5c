#include "node/log/log_line.hpp"

#include "base/config.hpp"
#include "base/utf8.hpp"
#include "wire/protobuf.hpp"

namespace hyphos::log {
namespace {

// Field numbers of log.proto; each tag takes one byte.
enum Field : std::uint32_t {
  kStamp = 1,
  kLevel = 2,
  kName = 3,
  kMsg = 4,
  kFile = 5,
  kFunction = 6,
  kLine = 7
};
constexpr std::size_t kMostPerField = 1 + 10;  // tag, then a number or a length

std::uint64_t level_number(Level level) { return 10 * (static_cast<std::uint64_t>(level) + 1); }

}  // namespace

TypeId line_type() { return make_type_id("hyphos.msgs.Log", Encoding::protobuf); }

Buffer encode(const Line& line) {
  const std::size_t texts =
      line.name.size() + line.text.size() + line.file.size() + line.function.size();
  WritableBuffer out = WritableBuffer::on_heap(texts + 7 * kMostPerField);
  wire::ProtoWriter to(out.data());
  to.varint(kStamp, static_cast<std::uint64_t>(line.stamp_ns));
  to.varint(kLevel, level_number(line.level));
  to.text(kName, line.name);
  to.text(kMsg, line.text);
  to.text(kFile, line.file);
  to.text(kFunction, line.function);
  to.varint(kLine, line.line);
  const auto size = static_cast<std::size_t>(to.end() - out.data());
  return std::move(out).freeze(size);
}

std::string bounded_text(std::string_view text, std::size_t limit) {
  std::string kept;
  kept.reserve(std::min(text.size(), limit));
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text.substr(at));
    if (kept.size() + std::max<std::size_t>(length, 1) > limit) break;
    if (length == 0) {
      kept.push_back('?');
      ++at;
    } else {
      kept.append(text.substr(at, length));
      at += length;
    }
  }
  if (at < text.size()) kept += "… " + std::to_string(text.size() - at) + " more bytes";
  return kept;
}

}  // namespace hyphos::log
