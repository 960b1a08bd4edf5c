#include "record/mcap_format.hpp"

#include <libdeflate.h>

#include <bit>
#include <cassert>
#include <cstring>

namespace hyphos::record::mcap {
namespace {

static_assert(std::endian::native == std::endian::little,
              "integers are written in native byte order");

template <typename T>
void put(Bytes& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof(T));
  std::memcpy(out.data() + at, &value, sizeof(T));
}

void put_raw(Bytes& out, std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), bytes, bytes + text.size());
}

void put_string(Bytes& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  put_raw(out, text);
}

/// Appends a record, and sets its length on destruction.
class Record {
 public:
  Record(Bytes& out, Op op) : out_(out) {
    put(out, static_cast<std::uint8_t>(op));
    put(out, std::uint64_t{0});
    start_ = out.size();
  }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  ~Record() { end(0); }
  /// `more`: bytes of content that follow but are not in `out`.
  void end(std::uint64_t more) {
    if (ended_) return;
    ended_ = true;
    const std::uint64_t length = out_.size() - start_ + more;
    std::memcpy(out_.data() + start_ - sizeof(length), &length, sizeof(length));
  }
  [[nodiscard]] std::size_t start() const { return start_; }

 private:
  Bytes& out_;
  std::size_t start_ = 0;
  bool ended_ = false;
};

/// Appends a map or array, preceded by its length in bytes.
template <typename F>
void put_counted(Bytes& out, F fill) {
  put(out, std::uint32_t{0});
  const std::size_t start = out.size();
  fill();
  const auto length = static_cast<std::uint32_t>(out.size() - start);
  std::memcpy(out.data() + start - sizeof(length), &length, sizeof(length));
}

void put_dictionary(Bytes& out, const Dictionary& values) {
  put_counted(out, [&] {
    for (const auto& [key, value] : values) {
      put_string(out, key);
      put_string(out, value);
    }
  });
}

}  // namespace

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) {
  return libdeflate_crc32(crc, bytes.data(), bytes.size());
}

void put_header(Bytes& out, std::string_view profile, std::string_view library) {
  const Record record(out, Op::header);
  put_string(out, profile);
  put_string(out, library);
}

void put_schema(Bytes& out, const Schema& schema) {
  const Record record(out, Op::schema);
  put(out, schema.id);
  put_string(out, schema.name);
  put_string(out, schema.encoding);
  put_string(out, schema.data);
}

void put_channel(Bytes& out, const Channel& channel) {
  const Record record(out, Op::channel);
  put(out, channel.id);
  put(out, channel.schema_id);
  put_string(out, channel.topic);
  put_string(out, channel.message_encoding);
  put_dictionary(out, channel.metadata);
}

void put_chunk_head(Bytes& out, std::uint64_t start_time, std::uint64_t end_time,
                    std::uint64_t uncompressed_size, std::uint32_t uncompressed_crc,
                    std::string_view compression, std::uint64_t stored) {
  Record record(out, Op::chunk);
  put(out, start_time);
  put(out, end_time);
  put(out, uncompressed_size);
  put(out, uncompressed_crc);
  put_string(out, compression);
  put(out, stored);
  record.end(stored);
}

void put_message_index(Bytes& out, std::uint16_t channel,
                       std::span<const std::pair<std::uint64_t, std::uint64_t>> entries) {
  const Record record(out, Op::message_index);
  put(out, channel);
  put(out, static_cast<std::uint32_t>(entries.size() * 16));
  for (const auto& [time, offset] : entries) {
    put(out, time);
    put(out, offset);
  }
}

void put_chunk_index(Bytes& out, const ChunkIndex& index) {
  const Record record(out, Op::chunk_index);
  put(out, index.start_time);
  put(out, index.end_time);
  put(out, index.offset);
  put(out, index.length);
  put(out, static_cast<std::uint32_t>(index.message_indexes.size() * 10));
  for (const auto& [channel, offset] : index.message_indexes) {
    put(out, channel);
    put(out, offset);
  }
  put(out, index.message_index_length);
  put_string(out, index.compression);
  put(out, index.compressed_size);
  put(out, index.uncompressed_size);
}

void put_attachment(Bytes& out, const Attachment& attachment) {
  const Record record(out, Op::attachment);
  put(out, attachment.log_time);
  put(out, attachment.create_time);
  put_string(out, attachment.name);
  put_string(out, attachment.media_type);
  put(out, static_cast<std::uint64_t>(attachment.data.size()));
  put_raw(out, attachment.data);
  put(out, crc32(0, std::span(out).subspan(record.start())));
}

void put_attachment_index(Bytes& out, const Attachment& attachment, std::uint64_t offset,
                          std::uint64_t length) {
  const Record record(out, Op::attachment_index);
  put(out, offset);
  put(out, length);
  put(out, attachment.log_time);
  put(out, attachment.create_time);
  put(out, static_cast<std::uint64_t>(attachment.data.size()));
  put_string(out, attachment.name);
  put_string(out, attachment.media_type);
}

void put_metadata(Bytes& out, std::string_view name, const Dictionary& values) {
  const Record record(out, Op::metadata);
  put_string(out, name);
  put_dictionary(out, values);
}

void put_metadata_index(Bytes& out, std::string_view name, std::uint64_t offset,
                        std::uint64_t length) {
  const Record record(out, Op::metadata_index);
  put(out, offset);
  put(out, length);
  put_string(out, name);
}

void put_statistics(Bytes& out, const Statistics& statistics) {
  const Record record(out, Op::statistics);
  put(out, statistics.messages);
  put(out, statistics.schemas);
  put(out, statistics.channels);
  put(out, statistics.attachments);
  put(out, statistics.metadata);
  put(out, statistics.chunks);
  put(out, statistics.start_time);
  put(out, statistics.end_time);
  put_counted(out, [&] {
    for (const auto& [channel, count] : statistics.per_channel) {
      put(out, channel);
      put(out, count);
    }
  });
}

void put_summary_offset(Bytes& out, Op group, std::uint64_t start, std::uint64_t length) {
  const Record record(out, Op::summary_offset);
  put(out, static_cast<std::uint8_t>(group));
  put(out, start);
  put(out, length);
}

void put_data_end(Bytes& out) {
  const Record record(out, Op::data_end);
  put(out, std::uint32_t{0});  // no checksum of the data section: chunks have their own
}

void put_footer(Bytes& out, std::uint64_t summary_start, std::uint64_t summary_offset_start,
                std::span<const std::byte> summary) {
  Record record(out, Op::footer);
  put(out, summary_start);
  put(out, summary_offset_start);
  record.end(sizeof(std::uint32_t));
  const std::size_t head = record.start() - kRecordHead;
  put(out, crc32(crc32(0, summary), std::span(out).subspan(head)));
}

void put_magic(Bytes& out) { put_raw(out, kMagic); }

void write_message_head(std::byte* at, std::uint16_t channel, std::uint32_t sequence,
                        std::uint64_t log_time, std::uint64_t publish_time, std::uint64_t size) {
  const auto write = [&at](auto value) {
    std::memcpy(at, &value, sizeof(value));
    at += sizeof(value);
  };
  write(static_cast<std::uint8_t>(Op::message));
  write(std::uint64_t{kMessageHead - kRecordHead + size});
  write(channel);
  write(sequence);
  write(log_time);
  write(publish_time);
}

}  // namespace hyphos::record::mcap
