#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/mcap_format.hpp"

namespace hyphos::record::mcap {

// Parses records of the MCAP format, the inverse of mcap_format.hpp: pure functions. `content` is a
// record without its head. An empty result: the content is too short, or a length in it is too
// large. Bytes after the known fields are ignored, as the format requires.

using View = std::span<const std::byte>;

/// Reads fields one after the other. After the first one that does not fit, ok() is false, and all
/// further fields are empty.
class Fields {
 public:
  explicit Fields(View bytes) : left_(bytes) {}

  template <typename T>
  T get() {
    T value{};
    const View bytes = take(sizeof(T));
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::string_view text() {
    const View bytes = take(get<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  View take(std::uint64_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return {};
    }
    const View taken = left_.first(static_cast<std::size_t>(size));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] View left() const { return ok_ ? left_ : View(); }

 private:
  View left_;
  bool ok_ = true;
};

/// The head of a record, and the rest of the bytes after it.
struct RecordHead {
  Op op{};
  std::uint64_t length = 0;  ///< of the content, as written: may exceed the bytes that follow
};
/// Empty: fewer than kRecordHead bytes.
[[nodiscard]] std::optional<RecordHead> parse_record_head(View bytes);

struct Header {
  std::string profile;
  std::string library;
};
[[nodiscard]] std::optional<Header> parse_header(View content);
[[nodiscard]] std::optional<Schema> parse_schema(View content);
[[nodiscard]] std::optional<Channel> parse_channel(View content);
[[nodiscard]] std::optional<Statistics> parse_statistics(View content);
[[nodiscard]] std::optional<std::pair<std::string, Dictionary>> parse_metadata(View content);

/// The fields of a chunk before its messages.
struct ChunkHead {
  std::uint64_t start_time = 0;
  std::uint64_t end_time = 0;
  std::uint64_t uncompressed_size = 0;
  std::uint32_t uncompressed_crc = 0;  ///< 0: none
  std::string compression;
  std::uint64_t stored = 0;  ///< bytes of the messages, as written
  std::size_t size = 0;      ///< of these fields
};
/// `content` may end after the head.
[[nodiscard]] std::optional<ChunkHead> parse_chunk_head(View content);
/// The largest size of the head of a chunk whose compression has a name of at most 64 bytes.
inline constexpr std::size_t kMaxChunkHead = 8 + 8 + 8 + 4 + 4 + 64 + 8;

/// As ChunkIndex, with its own text. The channels are those of the message indexes.
struct ChunkEntry {
  std::uint64_t start_time = 0;
  std::uint64_t end_time = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::vector<std::uint16_t> channels;
};
[[nodiscard]] std::optional<ChunkEntry> parse_chunk_index(View content);

struct AttachmentEntry {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
[[nodiscard]] std::optional<AttachmentEntry> parse_attachment_index(View content);
struct MetadataEntry {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
[[nodiscard]] std::optional<MetadataEntry> parse_metadata_index(View content);
/// The name and the data of an attachment. Its checksum must fit, unless it is 0.
[[nodiscard]] std::optional<std::pair<std::string, View>> parse_attachment(View content);

struct Footer {
  std::uint64_t summary_start = 0;  ///< 0: no summary
  std::uint32_t summary_crc = 0;    ///< 0: none
};
/// The whole record of a footer: its head, three fields.
inline constexpr std::size_t kFooterRecord = kRecordHead + 8 + 8 + 4;
[[nodiscard]] std::optional<Footer> parse_footer(View content);

/// The fields of a message, and its data as a part of `content`.
struct MessageFields {
  std::uint16_t channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0;
  std::uint64_t publish_time = 0;
  View data;
};
[[nodiscard]] std::optional<MessageFields> parse_message(View content);

}  // namespace hyphos::record::mcap
