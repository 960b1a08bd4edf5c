#include "record/mcap_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

namespace hyphos::record {
namespace {

constexpr std::size_t kMaxNames = 100'000;  // attachments, and metadata records

Code code_of(int number) {
  switch (number) {
    case ENOENT:
      return Code::not_found;
    case EACCES:
    case EPERM:
      return Code::permission;
    default:
      return Code::io;
  }
}

}  // namespace

McapReader::McapReader(int fd, std::filesystem::path path, Options options)
    : fd_(fd), path_(std::move(path)), options_(std::move(options)) {
  // Entries address the data of a chunk by 32 bits.
  options_.max_chunk_bytes =
      std::min<std::uint64_t>(options_.max_chunk_bytes, std::uint64_t{2} << 30U);
}

McapReader::~McapReader() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::unique_ptr<McapReader>> McapReader::open(const std::filesystem::path& path,
                                                     Options options) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const int number = errno;
    return Error{code_of(number), std::string("cannot open the file: ") + std::strerror(number),
                 path.string()};
  }
  std::unique_ptr<McapReader> reader(new McapReader(fd, path, std::move(options)));
  struct stat state{};
  if (::fstat(fd, &state) != 0 || !S_ISREG(state.st_mode)) {
    return Error{Code::invalid_config, "is not a file. Name an MCAP file", path.string()};
  }
  reader->size_ = static_cast<std::uint64_t>(state.st_size);
  if (auto read = reader->read_header(); !read) return read.error();
  std::string reason;
  reader->indexed_ = !reader->options_.growing && reader->read_summary(reason);
  if (reader->options_.growing) {
    reader->scan();
  } else if (!reader->indexed_) {
    reader->report(reader->size_, reason + ". The whole file was read instead");
    reader->scan();
  }
  reader->finish();
  return reader;
}

bool McapReader::refresh() {
  struct stat state{};
  if (!options_.growing || ::fstat(fd_, &state) != 0) return false;
  const auto size = static_cast<std::uint64_t>(state.st_size);
  if (size <= size_) return false;
  size_ = size;
  const std::size_t before = parts_.size();
  scan();
  finish();
  by_start_ = by_end_ = nullptr;
  return parts_.size() != before;
}

Error McapReader::fault(Code code, std::uint64_t offset, std::string text) const {
  return {code, "byte " + std::to_string(offset) + ": " + std::move(text), path_.string()};
}

void McapReader::report(std::uint64_t offset, const std::string& text) {
  if (problems_.size() < kMaxProblems) {
    problems_.push_back("byte " + std::to_string(offset) + ": " + text);
  }
}

Result<void> McapReader::read_at(std::uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ::ssize_t got = ::pread(fd_, to.data(), to.size(), static_cast<::off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fault(code_of(errno), offset, std::strerror(errno));
    if (got == 0) return fault(Code::corrupt, offset, "the file ends here");
    offset += static_cast<std::uint64_t>(got);
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return success();
}

// The caller has bounded `size`.
Result<Buffer> McapReader::read_buffer(std::uint64_t offset, std::uint64_t size) const {
  if (offset > size_ || size > size_ - offset) {
    return fault(Code::corrupt, offset, "a record reaches beyond the end of the file");
  }
  try {
    WritableBuffer out = WritableBuffer::on_heap(static_cast<std::size_t>(size));
    if (auto read = read_at(offset, out.bytes()); !read) return read.error();
    return std::move(out).freeze();
  } catch (const std::bad_alloc&) {
    return fault(Code::exhausted, offset, "no memory for " + std::to_string(size) + " bytes");
  }
}

Result<void> McapReader::read_header() {
  std::array<std::byte, 8> magic{};
  const bool whole = size_ >= magic.size() && read_at(0, magic).ok();
  if (!whole || std::memcmp(magic.data(), mcap::kMagic.data(), magic.size()) != 0) {
    return fault(Code::corrupt, 0,
                 "this is no MCAP file. A recording of ROS is converted with "
                 "hyphos bag convert FILE -o OUT.mcap");
  }
  std::array<std::byte, mcap::kRecordHead> bytes{};
  if (!read_at(8, bytes)) return success();  // an empty recording
  const auto head = mcap::parse_record_head(bytes);
  if (!head || head->op != mcap::Op::header || head->length > 1U << 20U) return success();
  auto content = read_buffer(8 + mcap::kRecordHead, head->length);
  if (!content) return success();
  if (auto header = mcap::parse_header(content->bytes())) header_ = std::move(*header);
  return success();
}

bool McapReader::read_summary(std::string& reason) {
  constexpr std::uint64_t kEnd = mcap::kFooterRecord + 8;
  std::array<std::byte, kEnd> end{};
  if (size_ < kEnd + 8 || !read_at(size_ - kEnd, end)) {
    reason = "the file ends without an index";
    return false;
  }
  const auto head = mcap::parse_record_head(end);
  const mcap::View content =
      mcap::View(end).subspan(mcap::kRecordHead, mcap::kFooterRecord - mcap::kRecordHead);
  const auto footer = mcap::parse_footer(content);
  if (std::memcmp(end.data() + mcap::kFooterRecord, mcap::kMagic.data(), 8) != 0 ||
      head->op != mcap::Op::footer || head->length != content.size()) {
    reason = "the file ends without an index: its recorder did not close it";
    return false;
  }
  const std::uint64_t start = footer->summary_start;
  if (start == 0) {
    reason = "the file has no index";
    return false;
  }
  if (start < 8 || start > size_ - kEnd || size_ - kEnd - start > kMaxSummary) {
    reason = "the index is not at the position in the footer";
    return false;
  }
  auto summary = read_buffer(start, size_ - kEnd - start);
  if (!summary) {
    reason = summary.error().message;
    return false;
  }
  const mcap::View covered = mcap::View(end).first(mcap::kFooterRecord - sizeof(std::uint32_t));
  if (footer->summary_crc != 0 &&
      mcap::crc32(mcap::crc32(0, summary->bytes()), covered) != footer->summary_crc) {
    reason = "the checksum of the index is wrong";
    return false;
  }
  if (take_summary(summary->bytes(), start, reason)) return true;
  schemas_.clear();
  channels_.clear();
  counts_.clear();
  parts_.clear();
  attachment_positions_.clear();
  metadata_positions_.clear();
  start_ns_ = end_ns_ = 0;
  return false;
}

bool McapReader::take_summary(mcap::View summary, std::uint64_t offset, std::string& reason) {
  std::optional<mcap::Statistics> statistics;
  while (!summary.empty()) {
    const auto head = mcap::parse_record_head(summary);
    if (!head || head->length > summary.size() - mcap::kRecordHead) {
      reason = "the index is corrupt at byte " + std::to_string(offset);
      return false;
    }
    const mcap::View content =
        summary.subspan(mcap::kRecordHead, static_cast<std::size_t>(head->length));
    if (!take_summary_record(head->op, content, statistics)) {
      reason = "the index is corrupt at byte " + std::to_string(offset);
      return false;
    }
    offset += mcap::kRecordHead + head->length;
    summary = summary.subspan(mcap::kRecordHead + content.size());
  }
  const auto complete = [this](const Part& part) {
    return std::all_of(part.channels.begin(), part.channels.end(),
                       [this](std::uint16_t id) { return channels_.contains(id); });
  };
  if (parts_.empty() && (!statistics || statistics->messages != 0)) {
    reason = "the index names no chunks";
    return false;
  }
  if ((channels_.empty() && !parts_.empty()) ||
      !std::all_of(parts_.begin(), parts_.end(), complete)) {
    reason = "the index does not define the channels";
    return false;
  }
  if (!statistics || statistics->attachments > attachment_positions_.size() ||
      statistics->metadata > metadata_positions_.size()) {
    find_named();
  }
  return true;
}

bool McapReader::take_summary_record(mcap::Op op, mcap::View content,
                                     std::optional<mcap::Statistics>& statistics) {
  switch (op) {
    case mcap::Op::schema: {
      auto schema = mcap::parse_schema(content);
      if (schema) take(std::move(*schema), 0);
      return schema.has_value();
    }
    case mcap::Op::channel: {
      auto channel = mcap::parse_channel(content);
      if (channel) take(std::move(*channel), 0);
      return channel.has_value();
    }
    case mcap::Op::statistics: {
      statistics = mcap::parse_statistics(content);
      if (statistics) counts_ = statistics->per_channel;
      return statistics.has_value();
    }
    case mcap::Op::chunk_index: {
      auto entry = mcap::parse_chunk_index(content);
      if (!entry || parts_.size() >= kMaxParts) return false;
      if (entry->offset >= size_ || entry->length > size_ - entry->offset) return false;
      parts_.push_back({.start_time = entry->start_time,
                        .end_time = entry->end_time,
                        .offset = entry->offset,
                        .length = entry->length,
                        .channels = std::move(entry->channels)});
      return true;
    }
    case mcap::Op::attachment_index: {
      auto entry = mcap::parse_attachment_index(content);
      if (!entry || attachment_positions_.size() >= kMaxNames) return false;
      attachment_positions_.push_back({std::move(entry->name), entry->offset, entry->length});
      return true;
    }
    case mcap::Op::metadata_index: {
      auto entry = mcap::parse_metadata_index(content);
      if (!entry || metadata_positions_.size() >= kMaxNames) return false;
      metadata_positions_.push_back({std::move(entry->name), entry->offset, entry->length});
      return true;
    }
    default:
      return true;  // of a later version of the format
  }
}

void McapReader::take(mcap::Schema schema, std::uint64_t offset) {
  const auto [known, fresh] = schemas_.try_emplace(schema.id, schema);
  if (fresh || (known->second.name == schema.name && known->second.data == schema.data)) return;
  report(offset, "schema " + std::to_string(schema.id) + " is defined twice, and differently");
}

void McapReader::take(mcap::Channel channel, std::uint64_t offset) {
  const auto [known, fresh] = channels_.try_emplace(channel.id, channel);
  if (fresh ||
      (known->second.topic == channel.topic && known->second.schema_id == channel.schema_id)) {
    return;
  }
  report(offset, "channel " + std::to_string(channel.id) + " is defined twice, and differently");
}

// Of several records with one name the last one is valid, so the others need not be read.
void McapReader::read_metadata() {
  std::map<std::string, const Position*> lasts;
  for (const Position& position : metadata_positions_) lasts[position.name] = &position;
  for (const auto& [name, position] : lasts) {
    auto record = position->length > kMaxAttachment || position->length < mcap::kRecordHead
                      ? Result<Buffer>(fault(Code::corrupt, position->offset, "impossible length"))
                      : read_buffer(position->offset, position->length);
    std::optional<std::pair<std::string, mcap::Dictionary>> read;
    if (record) read = mcap::parse_metadata(record->bytes().subspan(mcap::kRecordHead));
    if (read && read->first == name) {
      metadata_[name] = std::move(read->second);
    } else {
      report(position->offset, "the metadata '" + name + "' is corrupt");
    }
  }
}

void McapReader::finish() {
  read_metadata();
  bool first = true;
  for (const Part& part : parts_) {
    if (part.end_time < part.start_time) continue;
    start_ns_ = first ? part.start_time : std::min(start_ns_, part.start_time);
    end_ns_ = first ? part.end_time : std::max(end_ns_, part.end_time);
    first = false;
  }
}

std::uint64_t McapReader::count(std::uint16_t channel) const {
  const auto found = counts_.find(channel);
  return found == counts_.end() ? 0 : found->second;
}

std::uint64_t McapReader::corrupt(std::uint16_t channel) const {
  const auto found = corrupt_.find(channel);
  return found == corrupt_.end() ? 0 : found->second;
}

std::vector<std::string> McapReader::attachments() const {
  std::vector<std::string> names;
  names.reserve(attachment_positions_.size());
  for (const Position& position : attachment_positions_) names.push_back(position.name);
  return names;
}

Result<std::string> McapReader::attachment(std::string_view name) {
  const auto named = [&](const Position& position) { return position.name == name; };
  const auto found =
      std::find_if(attachment_positions_.rbegin(), attachment_positions_.rend(), named);
  if (found == attachment_positions_.rend()) {
    return Error{Code::not_found, "the recording has no attachment '" + std::string(name) + "'",
                 path_.string()};
  }
  if (found->length > kMaxAttachment) {
    return fault(Code::too_large, found->offset,
                 "the attachment has " + std::to_string(found->length) + " bytes");
  }
  auto record = read_buffer(found->offset, found->length);
  if (!record) return record.error();
  if (record->size() >= mcap::kRecordHead) {
    const auto read = mcap::parse_attachment(record->bytes().subspan(mcap::kRecordHead));
    if (read && read->first == name) {
      return std::string(reinterpret_cast<const char*>(read->second.data()), read->second.size());
    }
  }
  return fault(Code::corrupt, found->offset,
               "the attachment '" + std::string(name) + "' is corrupt");
}

}  // namespace hyphos::record
