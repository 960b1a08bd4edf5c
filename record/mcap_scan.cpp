#include <algorithm>
#include <array>
#include <cstring>

#include "record/mcap_reader.hpp"

namespace hyphos::record {
namespace {

constexpr std::size_t kWindow = 256U << 10U;
constexpr std::uint64_t kLooseRun = 1U << 20U;  // of messages outside of chunks, read at once
constexpr std::size_t kMessageFields = mcap::kMessageHead - mcap::kRecordHead;
constexpr std::uint64_t kMaxDefinition = 64U << 20U;  // of a schema, a channel, metadata

bool known_compression(std::string_view name) {
  return name.empty() || name == "zstd" || name == "lz4";
}

}  // namespace

/// The state of a pass over the file. Record heads are read through a window, because a call of the
/// system for each message would take most of the time.
struct McapReader::Scan {
  McapReader& reader;
  std::vector<std::byte> window = std::vector<std::byte>(kWindow);
  std::uint64_t window_at = 0;
  std::size_t window_size = 0;

  /// Up to `size` bytes (at most kWindow) from `offset`: fewer at the end of the file.
  mcap::View at(std::uint64_t offset, std::size_t size) {
    if (offset >= reader.size_) return {};
    size = static_cast<std::size_t>(std::min<std::uint64_t>(size, reader.size_ - offset));
    if (offset < window_at || offset + size > window_at + window_size) {
      window_at = offset;
      window_size =
          static_cast<std::size_t>(std::min<std::uint64_t>(kWindow, reader.size_ - offset));
      if (!reader.read_at(offset, std::span(window).first(window_size))) {
        window_size = 0;
        return {};
      }
    }
    return mcap::View(window).subspan(static_cast<std::size_t>(offset - window_at), size);
  }

  /// True if a whole chunk is likely to begin at `offset`.
  bool is_chunk(std::uint64_t offset) {
    const mcap::View bytes = at(offset, mcap::kRecordHead + mcap::kMaxChunkHead);
    const auto record = mcap::parse_record_head(bytes);
    if (!record || record->op != mcap::Op::chunk ||
        record->length > reader.size_ - offset - mcap::kRecordHead) {
      return false;
    }
    const auto head = mcap::parse_chunk_head(bytes.subspan(mcap::kRecordHead));
    return head && known_compression(head->compression) && head->start_time <= head->end_time &&
           head->stored <= record->length && head->size + head->stored == record->length;
  }

  /// The position of the next whole chunk at or after `offset`. 0: there is none.
  std::uint64_t find_chunk(std::uint64_t offset) {
    while (offset < reader.size_) {
      const mcap::View bytes = at(offset, kWindow / 2);
      if (bytes.empty()) return 0;
      const void* found =
          std::memchr(bytes.data(), static_cast<int>(mcap::Op::chunk), bytes.size());
      if (found == nullptr) {
        offset += bytes.size();
        continue;
      }
      offset += static_cast<std::uint64_t>(static_cast<const std::byte*>(found) - bytes.data());
      if (is_chunk(offset)) return offset;
      ++offset;
    }
    return 0;
  }
};

void McapReader::scan() {
  Scan scan{*this};
  std::uint64_t offset = scanned_;
  std::uint64_t reported = 0;
  while (offset < size_) {
    if (options_.progress && offset - reported >= std::max<std::uint64_t>(size_ / 100, 1U << 20U)) {
      reported = offset;
      if (!options_.progress(static_cast<double>(offset) / static_cast<double>(size_))) {
        report(offset, "reading was stopped here. Later messages are not shown");
        return;
      }
    }
    const auto head = mcap::parse_record_head(scan.at(offset, mcap::kRecordHead));
    const bool fits = head && head->length <= size_ - offset - mcap::kRecordHead;
    if (options_.growing) {
      if (!fits || head->op == mcap::Op::data_end || parts_.size() >= kMaxParts) return;
      scan_growing(scan, *head, offset);
      offset += mcap::kRecordHead + head->length;
      scanned_ = offset;
      continue;
    }
    if (!fits || head->op == mcap::Op{}) {
      const std::uint64_t next = scan.find_chunk(offset + 1);
      if (next == 0) {
        if (head) scan_cut(*head, offset);
        return;
      }
      report(offset, "the bytes up to " + std::to_string(next) + " are corrupt");
      offset = next;
      continue;
    }
    if (!scan_record(scan, *head, offset)) return;
    offset += mcap::kRecordHead + head->length;
  }
}

bool McapReader::scan_record(Scan& scan, const mcap::RecordHead& head, std::uint64_t offset) {
  const std::uint64_t length = mcap::kRecordHead + head.length;
  if (parts_.size() >= kMaxParts) {
    report(offset, "the file has more than " + std::to_string(kMaxParts) +
                       " chunks. Later messages are not shown");
    return false;
  }
  switch (head.op) {
    case mcap::Op::chunk:
      scan_chunk(offset, length, false);
      return true;
    case mcap::Op::message:
      scan_loose(scan.at(offset + mcap::kRecordHead, kMessageFields), offset, length);
      return true;
    case mcap::Op::data_end:
    case mcap::Op::footer:
      return false;
    case mcap::Op::schema:
    case mcap::Op::channel:
    case mcap::Op::metadata:
    case mcap::Op::attachment: {
      if (head.op == mcap::Op::attachment || head.length > kMaxDefinition) {
        // Only the name of an attachment is needed now.
        const mcap::View start = scan.at(offset + mcap::kRecordHead, kWindow / 2);
        if (head.op == mcap::Op::attachment) scan_named(head.op, start, offset, length);
        return true;
      }
      auto content = read_buffer(offset + mcap::kRecordHead, head.length);
      if (content) scan_named(head.op, content->bytes(), offset, length);
      return true;
    }
    default:
      return true;
  }
}

// The recorder wrote the channels before the chunks, and the message indexes after each chunk.
void McapReader::scan_growing(Scan& scan, const mcap::RecordHead& head, std::uint64_t offset) {
  const std::uint64_t length = mcap::kRecordHead + head.length;
  const std::uint64_t content = offset + mcap::kRecordHead;
  if (head.op == mcap::Op::chunk) {
    const auto chunk = mcap::parse_chunk_head(scan.at(content, mcap::kMaxChunkHead));
    if (!chunk) return report(offset, "the head of the chunk is corrupt");
    parts_.push_back({.start_time = chunk->start_time,
                      .end_time = chunk->end_time,
                      .offset = offset,
                      .length = length});
  } else if (head.op == mcap::Op::message_index && !parts_.empty()) {
    mcap::Fields fields(scan.at(content, sizeof(std::uint16_t) + sizeof(std::uint32_t)));
    const auto channel = fields.get<std::uint16_t>();
    constexpr std::uint32_t kEntry = 2 * sizeof(std::uint64_t);
    counts_[channel] += fields.get<std::uint32_t>() / kEntry;
    parts_.back().channels.push_back(channel);
  } else if (head.op != mcap::Op::message_index) {
    (void)scan_record(scan, head, offset);
  }
}

void McapReader::scan_named(mcap::Op op, mcap::View content, std::uint64_t offset,
                            std::uint64_t length) {
  bool good = true;
  if (op == mcap::Op::schema) {
    auto schema = mcap::parse_schema(content);
    good = schema.has_value();
    if (good) take(std::move(*schema), offset);
  } else if (op == mcap::Op::channel) {
    auto channel = mcap::parse_channel(content);
    good = channel.has_value();
    if (good) take(std::move(*channel), offset);
  } else if (op == mcap::Op::metadata) {
    auto metadata = mcap::parse_metadata(content);
    good = metadata.has_value();
    if (good) metadata_positions_.push_back({std::move(metadata->first), offset, length});
  } else {
    mcap::Fields fields(content);
    (void)fields.get<std::uint64_t>();
    (void)fields.get<std::uint64_t>();
    std::string name(fields.text());
    good = fields.ok();
    if (good) attachment_positions_.push_back({std::move(name), offset, length});
  }
  if (!good) report(offset, "a record is corrupt");
}

void McapReader::find_named() {
  attachment_positions_.clear();
  metadata_positions_.clear();
  std::array<std::byte, mcap::kRecordHead> bytes{};
  for (std::uint64_t offset = 8; offset < size_;) {
    if (!read_at(offset, bytes)) return;
    const auto head = mcap::parse_record_head(bytes);
    const std::uint64_t length = mcap::kRecordHead + head->length;
    if (head->length > size_ - offset - mcap::kRecordHead || head->op == mcap::Op::data_end ||
        head->op == mcap::Op::footer || head->op == mcap::Op{}) {
      return;
    }
    if (head->op == mcap::Op::attachment || head->op == mcap::Op::metadata) {
      const bool whole = head->op == mcap::Op::metadata && head->length <= kMaxDefinition;
      const std::uint64_t part =
          whole ? head->length : std::min<std::uint64_t>(head->length, kWindow);
      auto content = read_buffer(offset + mcap::kRecordHead, part);
      if (content) scan_named(head->op, content->bytes(), offset, length);
    }
    offset += length;
  }
}

// The chunk is read at once: its head does not name the channels, and may define some.
void McapReader::scan_chunk(std::uint64_t offset, std::uint64_t length, bool cut) {
  // No message is outside of these times.
  parts_.push_back({.start_time = 0,
                    .end_time = ~std::uint64_t{0},
                    .offset = offset,
                    .length = length,
                    .salvaged = cut});
  const std::size_t number = parts_.size() - 1;
  const auto loaded = load(number);
  if (loaded == nullptr) return parts_.pop_back();
  Part& part = parts_[number];
  if (loaded->entries->empty()) {
    parts_.pop_back();
    cached_bytes_ -= loaded->bytes();
    recent_.erase(cached_.at(number));
    cached_.erase(number);
    return;
  }
  part.start_time = loaded->entries->front().log_ns;
  part.end_time = loaded->entries->back().log_ns;
  for (const Entry& entry : *loaded->entries) ++counts_[entry.channel];
  ChannelSet seen;
  for (const Entry& entry : *loaded->entries) {
    if (seen.contains(entry.channel)) continue;
    seen.add(entry.channel);
    part.channels.push_back(entry.channel);
  }
}

void McapReader::scan_loose(mcap::View message, std::uint64_t offset, std::uint64_t length) {
  const auto fields = mcap::parse_message(message);
  if (!fields) return report(offset, "a message is too short");
  Part* run = parts_.empty() ? nullptr : &parts_.back();
  if (run == nullptr || !run->loose || run->offset + run->length != offset ||
      run->length + length > kLooseRun) {
    parts_.push_back({.start_time = fields->log_time,
                      .end_time = fields->log_time,
                      .offset = offset,
                      .loose = true});
    run = &parts_.back();
  }
  run->length += length;
  run->start_time = std::min(run->start_time, fields->log_time);
  run->end_time = std::max(run->end_time, fields->log_time);
  if (!channels_.contains(fields->channel)) return;  // counted when the run is read
  ++counts_[fields->channel];
  auto& ids = run->channels;
  if (std::find(ids.begin(), ids.end(), fields->channel) == ids.end()) {
    ids.push_back(fields->channel);
  }
}

void McapReader::scan_cut(const mcap::RecordHead& head, std::uint64_t offset) {
  if (head.op != mcap::Op::chunk) {
    report(offset, head.op == mcap::Op::message ? "the file ends in the middle of a message"
                                                : "the file ends in the middle of a record");
    return;
  }
  report(offset, "the file ends in the middle of a chunk");
  if (parts_.size() >= kMaxParts) return;
  scan_chunk(offset, size_ - offset, true);
}

}  // namespace hyphos::record
