#include "record/mcap_parse.hpp"

#include <bit>

namespace hyphos::record::mcap {
namespace {

static_assert(std::endian::native == std::endian::little, "integers are read in native byte order");

Dictionary dictionary(Fields& from) {
  Dictionary values;
  Fields pairs(from.take(from.get<std::uint32_t>()));
  while (from.ok() && pairs.ok() && !pairs.left().empty()) {
    std::string key(pairs.text());
    std::string value(pairs.text());
    if (pairs.ok()) values.insert_or_assign(std::move(key), std::move(value));
  }
  if (!pairs.ok()) from.take(from.left().size() + 1);  // fails
  return values;
}

}  // namespace

std::optional<RecordHead> parse_record_head(View bytes) {
  Fields fields(bytes);
  RecordHead head;
  head.op = static_cast<Op>(fields.get<std::uint8_t>());
  head.length = fields.get<std::uint64_t>();
  return fields.ok() ? std::optional(head) : std::nullopt;
}

std::optional<Header> parse_header(View content) {
  Fields fields(content);
  Header header;
  header.profile = fields.text();
  header.library = fields.text();
  return fields.ok() ? std::optional(std::move(header)) : std::nullopt;
}

std::optional<Schema> parse_schema(View content) {
  Fields fields(content);
  Schema schema;
  schema.id = fields.get<std::uint16_t>();
  schema.name = fields.text();
  schema.encoding = fields.text();
  schema.data = fields.text();
  return fields.ok() ? std::optional(std::move(schema)) : std::nullopt;
}

std::optional<Channel> parse_channel(View content) {
  Fields fields(content);
  Channel channel;
  channel.id = fields.get<std::uint16_t>();
  channel.schema_id = fields.get<std::uint16_t>();
  channel.topic = fields.text();
  channel.message_encoding = fields.text();
  channel.metadata = dictionary(fields);
  return fields.ok() ? std::optional(std::move(channel)) : std::nullopt;
}

std::optional<Statistics> parse_statistics(View content) {
  Fields fields(content);
  Statistics out;
  out.messages = fields.get<std::uint64_t>();
  out.schemas = fields.get<std::uint16_t>();
  out.channels = fields.get<std::uint32_t>();
  out.attachments = fields.get<std::uint32_t>();
  out.metadata = fields.get<std::uint32_t>();
  out.chunks = fields.get<std::uint32_t>();
  out.start_time = fields.get<std::uint64_t>();
  out.end_time = fields.get<std::uint64_t>();
  Fields counts(fields.take(fields.get<std::uint32_t>()));
  while (!counts.left().empty()) {
    const auto channel = counts.get<std::uint16_t>();
    const auto count = counts.get<std::uint64_t>();
    if (counts.ok()) out.per_channel[channel] = count;
  }
  return fields.ok() && counts.ok() ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<std::pair<std::string, Dictionary>> parse_metadata(View content) {
  Fields fields(content);
  std::string name(fields.text());
  Dictionary values = dictionary(fields);
  if (!fields.ok()) return std::nullopt;
  return std::pair(std::move(name), std::move(values));
}

std::optional<ChunkHead> parse_chunk_head(View content) {
  Fields fields(content);
  ChunkHead head;
  head.start_time = fields.get<std::uint64_t>();
  head.end_time = fields.get<std::uint64_t>();
  head.uncompressed_size = fields.get<std::uint64_t>();
  head.uncompressed_crc = fields.get<std::uint32_t>();
  head.compression = fields.text();
  head.stored = fields.get<std::uint64_t>();
  head.size = content.size() - fields.left().size();
  return fields.ok() ? std::optional(std::move(head)) : std::nullopt;
}

std::optional<ChunkEntry> parse_chunk_index(View content) {
  Fields fields(content);
  ChunkEntry entry;
  entry.start_time = fields.get<std::uint64_t>();
  entry.end_time = fields.get<std::uint64_t>();
  entry.offset = fields.get<std::uint64_t>();
  entry.length = fields.get<std::uint64_t>();
  Fields indexes(fields.take(fields.get<std::uint32_t>()));
  entry.channels.reserve(indexes.left().size() / 10);
  while (!indexes.left().empty()) {
    const auto channel = indexes.get<std::uint16_t>();
    (void)indexes.get<std::uint64_t>();  // the offset of its index
    if (indexes.ok()) entry.channels.push_back(channel);
  }
  return fields.ok() && indexes.ok() ? std::optional(std::move(entry)) : std::nullopt;
}

std::optional<AttachmentEntry> parse_attachment_index(View content) {
  Fields fields(content);
  AttachmentEntry entry;
  entry.offset = fields.get<std::uint64_t>();
  entry.length = fields.get<std::uint64_t>();
  (void)fields.get<std::uint64_t>();  // log time
  (void)fields.get<std::uint64_t>();  // create time
  (void)fields.get<std::uint64_t>();  // size of the data
  entry.name = fields.text();
  return fields.ok() ? std::optional(std::move(entry)) : std::nullopt;
}

std::optional<MetadataEntry> parse_metadata_index(View content) {
  Fields fields(content);
  MetadataEntry entry;
  entry.offset = fields.get<std::uint64_t>();
  entry.length = fields.get<std::uint64_t>();
  entry.name = fields.text();
  return fields.ok() ? std::optional(std::move(entry)) : std::nullopt;
}

std::optional<std::pair<std::string, View>> parse_attachment(View content) {
  Fields fields(content);
  (void)fields.get<std::uint64_t>();  // log time
  (void)fields.get<std::uint64_t>();  // create time
  std::string name(fields.text());
  (void)fields.text();  // media type
  const View data = fields.take(fields.get<std::uint64_t>());
  const std::size_t covered = content.size() - fields.left().size();
  const auto crc = fields.get<std::uint32_t>();
  if (!fields.ok() || (crc != 0 && crc != crc32(0, content.first(covered)))) return std::nullopt;
  return std::pair(std::move(name), data);
}

std::optional<Footer> parse_footer(View content) {
  Fields fields(content);
  Footer footer;
  footer.summary_start = fields.get<std::uint64_t>();
  (void)fields.get<std::uint64_t>();  // start of the summary offsets
  footer.summary_crc = fields.get<std::uint32_t>();
  return fields.ok() ? std::optional(footer) : std::nullopt;
}

std::optional<MessageFields> parse_message(View content) {
  Fields fields(content);
  MessageFields message;
  message.channel = fields.get<std::uint16_t>();
  message.sequence = fields.get<std::uint32_t>();
  message.log_time = fields.get<std::uint64_t>();
  message.publish_time = fields.get<std::uint64_t>();
  message.data = fields.left();
  return fields.ok() ? std::optional(message) : std::nullopt;
}

}  // namespace hyphos::record::mcap
