#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hyphos::record::mcap {

// Encodes records of the MCAP format, version 0 (https://mcap.dev/spec): pure functions. Integers
// are little-endian. A string or array is its length in bytes, followed by its bytes.

using Bytes = std::vector<std::byte>;
using Dictionary = std::map<std::string, std::string>;

inline constexpr std::string_view kMagic = "\x89MCAP0\r\n";

enum class Op : std::uint8_t {
  header = 0x01,
  footer = 0x02,
  schema = 0x03,
  channel = 0x04,
  message = 0x05,
  chunk = 0x06,
  message_index = 0x07,
  chunk_index = 0x08,
  attachment = 0x09,
  attachment_index = 0x0a,
  statistics = 0x0b,
  metadata = 0x0c,
  metadata_index = 0x0d,
  summary_offset = 0x0e,
  data_end = 0x0f,
};

/// Converts a time of Hyphos to MCAP, whose times begin in 1970. An earlier time becomes 0.
[[nodiscard]] constexpr std::uint64_t timestamp(std::int64_t ns) {
  return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
}

/// Size of each record's head: the opcode and the length of the content.
inline constexpr std::size_t kRecordHead = 1 + 8;
/// Bytes before the data of a message, including the record's head.
inline constexpr std::size_t kMessageHead = kRecordHead + 2 + 4 + 8 + 8;

struct Schema {
  std::uint16_t id = 0;
  std::string name;
  std::string encoding;
  std::string data;
};

struct Channel {
  std::uint16_t id = 0;
  std::uint16_t schema_id = 0;  ///< 0 if there is none
  std::string topic;
  std::string message_encoding;
  Dictionary metadata;
};

struct ChunkIndex {
  std::uint64_t start_time = 0;
  std::uint64_t end_time = 0;
  std::uint64_t offset = 0;  ///< of the chunk record in the file
  std::uint64_t length = 0;  ///< of the chunk record, with its head
  std::vector<std::pair<std::uint16_t, std::uint64_t>> message_indexes;  ///< channel, file offset
  std::uint64_t message_index_length = 0;
  std::string_view compression;
  std::uint64_t compressed_size = 0;
  std::uint64_t uncompressed_size = 0;
};

struct Attachment {
  std::uint64_t log_time = 0;
  std::uint64_t create_time = 0;
  std::string name;
  std::string media_type;
  std::string data;
};

struct Statistics {
  std::uint64_t messages = 0;
  std::uint16_t schemas = 0;
  std::uint32_t channels = 0;
  std::uint32_t attachments = 0;
  std::uint32_t metadata = 0;
  std::uint32_t chunks = 0;
  std::uint64_t start_time = 0;
  std::uint64_t end_time = 0;
  std::map<std::uint16_t, std::uint64_t> per_channel;
};

// Each function appends one whole record.
void put_header(Bytes& out, std::string_view profile, std::string_view library);
void put_schema(Bytes& out, const Schema& schema);
void put_channel(Bytes& out, const Channel& channel);
/// Appends a chunk record except the `stored` bytes that follow it.
void put_chunk_head(Bytes& out, std::uint64_t start_time, std::uint64_t end_time,
                    std::uint64_t uncompressed_size, std::uint32_t uncompressed_crc,
                    std::string_view compression, std::uint64_t stored);
/// The offsets are those in the uncompressed chunk.
void put_message_index(Bytes& out, std::uint16_t channel,
                       std::span<const std::pair<std::uint64_t, std::uint64_t>> entries);
void put_chunk_index(Bytes& out, const ChunkIndex& index);
/// Includes the checksum that the format requires.
void put_attachment(Bytes& out, const Attachment& attachment);
void put_attachment_index(Bytes& out, const Attachment& attachment, std::uint64_t offset,
                          std::uint64_t length);
void put_metadata(Bytes& out, std::string_view name, const Dictionary& values);
void put_metadata_index(Bytes& out, std::string_view name, std::uint64_t offset,
                        std::uint64_t length);
void put_statistics(Bytes& out, const Statistics& statistics);
void put_summary_offset(Bytes& out, Op group, std::uint64_t start, std::uint64_t length);
void put_data_end(Bytes& out);
/// `summary` is the content between the data section and the footer. The checksum covers both the
/// summary and the footer.
void put_footer(Bytes& out, std::uint64_t summary_start, std::uint64_t summary_offset_start,
                std::span<const std::byte> summary);
void put_magic(Bytes& out);

/// Writes kMessageHead bytes. The caller appends `size` bytes of data.
void write_message_head(std::byte* at, std::uint16_t channel, std::uint32_t sequence,
                        std::uint64_t log_time, std::uint64_t publish_time, std::uint64_t size);

/// CRC-32 as in zlib, continued from `crc` (0 at the start).
[[nodiscard]] std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes);

}  // namespace hyphos::record::mcap
