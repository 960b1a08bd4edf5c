#include "record/mcap_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hyphos::record {
namespace {

constexpr std::string_view kLibrary = "hyphos";
// Data end, statistics without its map, summary offsets, footer, magic, and a margin.
constexpr std::uint64_t kFixedEnd = 1024;
constexpr std::uint64_t kPerChannel = 16;  // in the statistics

std::array<DiskFile::Bytes, 1> one(const mcap::Bytes& bytes) { return {DiskFile::Bytes(bytes)}; }

void extend(mcap::Bytes& to, const mcap::Bytes& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Result<McapFile> McapFile::create(const std::filesystem::path& path, bool overwrite,
                                  std::string_view profile) {
  auto file = DiskFile::create(path, overwrite);
  if (!file) return file.error();
  McapFile out(std::move(*file));
  mcap::Bytes start;
  mcap::put_magic(start);
  mcap::put_header(start, profile, kLibrary);
  if (auto wrote = out.append(start, 0); !wrote) return wrote.error();
  return out;
}

std::uint64_t McapFile::summary_size() const {
  return kFixedEnd + kPerChannel * channels_.size() + schema_group_.size() + channel_group_.size() +
         chunk_group_.size() + attachment_group_.size() + metadata_group_.size() + last_bytes_;
}

Result<void> McapFile::append(const mcap::Bytes& record, std::uint64_t more_summary) {
  return file_.append(one(record), summary_size() + more_summary);
}

Result<void> McapFile::put(const mcap::Schema& schema) {
  mcap::Bytes record;
  mcap::put_schema(record, schema);
  if (auto wrote = append(record, record.size()); !wrote) return wrote;
  extend(schema_group_, record);
  schemas_.insert(schema.id);
  ++statistics_.schemas;
  return success();
}

Result<void> McapFile::put(const mcap::Channel& channel) {
  mcap::Bytes record;
  mcap::put_channel(record, channel);
  if (auto wrote = append(record, record.size() + kPerChannel); !wrote) return wrote;
  extend(channel_group_, record);
  channels_.insert(channel.id);
  ++statistics_.channels;
  return success();
}

Result<void> McapFile::put(const mcap::Attachment& attachment) {
  mcap::Bytes record;
  mcap::Bytes index;
  mcap::put_attachment(record, attachment);
  mcap::put_attachment_index(index, attachment, file_.size(), record.size());
  if (auto wrote = append(record, index.size()); !wrote) return wrote;
  extend(attachment_group_, index);
  ++statistics_.attachments;
  return success();
}

Result<void> McapFile::put(std::string_view metadata_name, const mcap::Dictionary& values) {
  mcap::Bytes record;
  mcap::Bytes index;
  mcap::put_metadata(record, metadata_name, values);
  mcap::put_metadata_index(index, metadata_name, file_.size(), record.size());
  if (auto wrote = append(record, index.size()); !wrote) return wrote;
  extend(metadata_group_, index);
  ++statistics_.metadata;
  return success();
}

Result<void> McapFile::write(const Packed& chunk) {
  if (chunk.messages == 0) return success();
  mcap::Bytes head;
  mcap::put_chunk_head(head, chunk.start_time, chunk.end_time, chunk.uncompressed_size,
                       chunk.uncompressed_crc, chunk.compression, chunk.stored);
  mcap::ChunkIndex index{chunk.start_time,           chunk.end_time,      file_.size(),
                         head.size() + chunk.stored, chunk.index_offsets, chunk.indexes.size(),
                         chunk.compression,          chunk.stored,        chunk.uncompressed_size};
  for (auto& [channel, offset] : index.message_indexes) offset += index.offset + index.length;
  mcap::Bytes entry;
  mcap::put_chunk_index(entry, index);
  std::vector<DiskFile::Bytes> parts;
  parts.reserve(chunk.body.size() + 2);
  parts.emplace_back(head);
  parts.insert(parts.end(), chunk.body.begin(), chunk.body.end());
  parts.emplace_back(chunk.indexes);
  if (auto wrote = file_.append(parts, summary_size() + entry.size()); !wrote) return wrote;
  extend(chunk_group_, entry);
  const bool first = statistics_.messages == 0;
  statistics_.start_time =
      first ? chunk.start_time : std::min(statistics_.start_time, chunk.start_time);
  statistics_.end_time = std::max(statistics_.end_time, chunk.end_time);
  statistics_.messages += chunk.messages;
  ++statistics_.chunks;
  for (std::size_t id = 0; id < chunk.tallies.size(); ++id) {
    const std::uint64_t count = chunk.tallies[id].written + chunk.tallies[id].repeated;
    if (count != 0) statistics_.per_channel[static_cast<std::uint16_t>(id)] += count;
  }
  return success();
}

Result<void> McapFile::close(std::string_view last_name, const mcap::Dictionary& last, bool sync) {
  mcap::Bytes end;
  if (!last_name.empty()) {
    mcap::put_metadata(end, last_name, last);
    mcap::put_metadata_index(metadata_group_, last_name, file_.size(), end.size());
    ++statistics_.metadata;
  }
  mcap::put_data_end(end);
  const std::uint64_t summary_start = file_.size() + end.size();
  mcap::Bytes summary;
  mcap::Bytes offsets;
  const auto group = [&](mcap::Op op, const mcap::Bytes& records) {
    if (records.empty()) return;
    mcap::put_summary_offset(offsets, op, summary_start + summary.size(), records.size());
    extend(summary, records);
  };
  mcap::Bytes statistics;
  mcap::put_statistics(statistics, statistics_);
  group(mcap::Op::schema, schema_group_);
  group(mcap::Op::channel, channel_group_);
  group(mcap::Op::statistics, statistics);
  group(mcap::Op::chunk_index, chunk_group_);
  group(mcap::Op::attachment_index, attachment_group_);
  group(mcap::Op::metadata_index, metadata_group_);
  const std::uint64_t offset_start = summary_start + summary.size();
  extend(summary, offsets);
  mcap::Bytes footer;
  mcap::put_footer(footer, summary_start, offset_start, summary);
  mcap::put_magic(footer);
  const std::array<DiskFile::Bytes, 3> parts{DiskFile::Bytes(end), DiskFile::Bytes(summary),
                                             DiskFile::Bytes(footer)};
  auto wrote = file_.append(parts, 0);
  auto closed = file_.close(sync);
  return wrote ? closed : wrote;
}

}  // namespace hyphos::record
