#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hyphos::record::testing {

/// Reads uncompressed files of McapFile by the format's specification, and checks them with zlib's
/// checksum. It shares no code with the writer.
struct ReadMessage {
  std::uint16_t channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0;
  std::uint64_t publish_time = 0;
  std::string data;
};

class View {
 public:
  explicit View(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T get() {
    T value{};
    EXPECT_LE(at_ + sizeof(T), bytes_.size());
    if (at_ + sizeof(T) <= bytes_.size()) std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::string_view take(std::size_t size) {
    const std::string_view out = bytes_.substr(std::min(at_, bytes_.size()), size);
    EXPECT_EQ(out.size(), size);
    at_ += size;
    return out;
  }
  std::string_view text() { return take(get<std::uint32_t>()); }
  [[nodiscard]] std::string_view rest() const {
    return bytes_.substr(std::min(at_, bytes_.size()));
  }
  [[nodiscard]] bool done() const { return at_ >= bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

struct ReadFile {
  std::string bytes;
  std::vector<ReadMessage> messages;
  std::map<std::string, std::map<std::string, std::string>> metadata;
  std::map<std::uint16_t, std::string> topics;
  std::uint64_t chunks = 0;
  bool complete = false;

  [[nodiscard]] std::size_t count(std::uint16_t channel) const {
    std::size_t found = 0;
    for (const ReadMessage& message : messages) found += message.channel == channel ? 1 : 0;
    return found;
  }
};

inline std::uint32_t zlib_crc(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

inline void read_record(std::uint8_t op, std::string_view content, ReadFile& out) {
  View view(content);
  if (op == 0x04) {
    const auto id = view.get<std::uint16_t>();
    (void)view.get<std::uint16_t>();
    out.topics[id] = view.text();
  } else if (op == 0x05) {
    ReadMessage message;
    message.channel = view.get<std::uint16_t>();
    message.sequence = view.get<std::uint32_t>();
    message.log_time = view.get<std::uint64_t>();
    message.publish_time = view.get<std::uint64_t>();
    message.data = view.rest();
    EXPECT_TRUE(out.topics.contains(message.channel)) << "a message before its channel";
    out.messages.push_back(std::move(message));
  } else if (op == 0x06) {
    ++out.chunks;
    (void)view.get<std::uint64_t>();
    (void)view.get<std::uint64_t>();
    const auto size = view.get<std::uint64_t>();
    const auto crc = view.get<std::uint32_t>();
    ASSERT_EQ(view.text(), "") << "only uncompressed chunks are read here";
    const std::string_view records = view.take(view.get<std::uint64_t>());
    EXPECT_EQ(records.size(), size);
    EXPECT_EQ(zlib_crc(records), crc);
    View inner(records);
    while (!inner.done()) {
      const auto kind = inner.get<std::uint8_t>();
      read_record(kind, inner.take(inner.get<std::uint64_t>()), out);
    }
  } else if (op == 0x0c) {
    auto& values = out.metadata[std::string(view.text())];
    View pairs(view.text());
    while (!pairs.done()) {
      const std::string key(pairs.text());
      values[key] = pairs.text();
    }
  }
}

inline ReadFile read_file(const std::filesystem::path& path) {
  ReadFile out;
  std::ifstream file(path, std::ios::binary);
  out.bytes.assign(std::istreambuf_iterator<char>(file), {});
  constexpr std::string_view magic = "\x89MCAP0\r\n";
  EXPECT_TRUE(out.bytes.starts_with(magic));
  View view(std::string_view(out.bytes).substr(magic.size()));
  bool in_data = true;
  while (view.rest().size() > magic.size()) {
    const auto op = view.get<std::uint8_t>();
    const auto length = view.get<std::uint64_t>();
    if (length > view.rest().size()) break;  // truncated
    const std::string_view content = view.take(length);
    if (op == 0x0f) in_data = false;
    if (in_data) read_record(op, content, out);
    if (op == 0x02) out.complete = view.rest() == magic;
  }
  return out;
}

}  // namespace hyphos::record::testing
