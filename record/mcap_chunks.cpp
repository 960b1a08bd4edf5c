#include <algorithm>
#include <numeric>

#include "record/mcap_reader.hpp"

namespace hyphos::record {
namespace {

constexpr auto kLater = [](const auto& a, const auto& b) { return a.time() > b.time(); };

}  // namespace

// Parts are sorted again after the times of one turned out to be wrong. A cursor keeps its order.
void McapReader::sort() {
  if (by_start_ != nullptr) return;
  std::vector<std::uint32_t> order(parts_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [this](auto a, auto b) { return parts_[a].start_time < parts_[b].start_time; });
  by_start_ = std::make_shared<const std::vector<std::uint32_t>>(order);
  std::stable_sort(order.begin(), order.end(),
                   [this](auto a, auto b) { return parts_[a].end_time < parts_[b].end_time; });
  by_end_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(order));
}

bool McapReader::may_contain(const Part& part, const ChannelSet& channels) {
  return part.channels.empty() ||
         std::any_of(part.channels.begin(), part.channels.end(),
                     [&](std::uint16_t id) { return channels.contains(id); });
}

std::shared_ptr<const McapReader::Loaded> McapReader::load(std::size_t part) {
  if (const auto found = cached_.find(part); found != cached_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    return found->second->second;
  }
  if (parts_[part].bad) return nullptr;
  auto loaded = read_part(part);
  ++chunks_read_;
  if (!loaded) {
    parts_[part].bad = true;
    for (const std::uint16_t id : parts_[part].channels) ++corrupt_[id];
    if (problems_.size() < kMaxProblems) {
      problems_.push_back(loaded.error().message + ". Its messages are left out");
    }
    return nullptr;
  }
  recent_.emplace_front(part, *loaded);
  cached_[part] = recent_.begin();
  cached_bytes_ += (*loaded)->bytes();
  trim();
  return std::move(*loaded);
}

void McapReader::trim() {
  while (cached_bytes_ > options_.cache_bytes && recent_.size() > 1) {
    cached_bytes_ -= recent_.back().second->bytes();
    cached_.erase(recent_.back().first);
    recent_.pop_back();
  }
}

void McapReader::limit_memory(std::size_t bytes) {
  options_.cache_bytes = bytes;
  trim();
}

Result<std::shared_ptr<const McapReader::Loaded>> McapReader::read_part(std::size_t part) {
  const Part& from = parts_[part];
  if (!from.loose) {
    auto data = read_chunk(from);
    if (!data) return data.error();
    return parse(part, std::move(*data));
  }
  if (from.length > options_.max_chunk_bytes) {
    return fault(Code::too_large, from.offset, "a message is too large");
  }
  auto data = read_buffer(from.offset, from.length);
  if (!data) return data.error();
  return parse(part, std::move(*data));
}

Result<Buffer> McapReader::read_chunk(const Part& part) {
  const std::uint64_t at = part.offset;
  if (part.length < mcap::kRecordHead || part.length > options_.max_chunk_bytes) {
    return fault(Code::too_large, at,
                 "the chunk has an impossible length: " + std::to_string(part.length));
  }
  auto record = read_buffer(at, part.length);
  if (!record) return record.error();
  const auto record_head = mcap::parse_record_head(record->bytes());
  const Buffer content = record->slice(mcap::kRecordHead, record->size() - mcap::kRecordHead);
  if (!record_head || record_head->op != mcap::Op::chunk ||
      (record_head->length != content.size() && !part.salvaged)) {
    return fault(Code::corrupt, at, "the index names a chunk here, but there is none");
  }
  const auto head = mcap::parse_chunk_head(content.bytes());
  if (!head || (head->stored > content.size() - head->size && !part.salvaged)) {
    return fault(Code::corrupt, at, "the head of the chunk is corrupt");
  }
  if (head->uncompressed_size > options_.max_chunk_bytes) {
    return fault(
        Code::too_large, at,
        "the chunk claims " + std::to_string(head->uncompressed_size) + " bytes of messages");
  }
  const Buffer stored = content.slice(head->size, static_cast<std::size_t>(std::min<std::uint64_t>(
                                                      head->stored, content.size() - head->size)));
  if (part.salvaged) {
    if (head->compression.empty()) return stored;
    auto rest = unpacker_.salvage(head->compression, stored.bytes(), head->uncompressed_size);
    if (!rest) return fault(rest.error().code, at, rest.error().message);
    return rest;
  }
  Buffer data = stored;
  if (!head->compression.empty()) {
    auto unpacked = unpacker_.unpack(head->compression, stored.bytes(), head->uncompressed_size);
    if (!unpacked) return fault(unpacked.error().code, at, "a chunk: " + unpacked.error().message);
    data = std::move(*unpacked);
  } else if (stored.size() != head->uncompressed_size) {
    return fault(Code::corrupt, at, "the chunk has another size than its head states");
  }
  if (head->uncompressed_crc != 0 && mcap::crc32(0, data.bytes()) != head->uncompressed_crc) {
    return fault(Code::corrupt, at, "the checksum of the chunk is wrong");
  }
  return data;
}

// A record that does not fit ends the chunk: the position of the next one is unknown.
std::shared_ptr<const McapReader::Loaded> McapReader::parse(std::size_t part, Buffer data) {
  const bool first = !parts_[part].checked;  // report faults once
  const std::uint64_t offset = parts_[part].offset;
  std::uint64_t undefined = 0;
  auto entries = std::make_shared<std::vector<Entry>>();
  mcap::View left = data.bytes();
  while (!left.empty()) {
    const auto head = mcap::parse_record_head(left);
    const std::size_t at = data.size() - left.size();
    if (!head || head->length > left.size() - mcap::kRecordHead) {
      if (first && !parts_[part].salvaged) {
        report(offset, "a record in the chunk is cut off, " + std::to_string(at) +
                           " bytes after the start of its content");
      }
      break;
    }
    const auto size = static_cast<std::size_t>(head->length);
    const mcap::View content = left.subspan(mcap::kRecordHead, size);
    left = left.subspan(mcap::kRecordHead + size);
    if (head->op == mcap::Op::schema) {
      if (auto schema = mcap::parse_schema(content)) take(std::move(*schema), offset);
    } else if (head->op == mcap::Op::channel) {
      if (auto channel = mcap::parse_channel(content)) take(std::move(*channel), offset);
    } else if (head->op == mcap::Op::message) {
      const auto message = mcap::parse_message(content);
      if (!message) {
        if (first) report(offset, "a message of the chunk is too short");
      } else if (!channels_.contains(message->channel)) {
        ++undefined;
      } else {
        entries->push_back({message->log_time, static_cast<std::uint32_t>(at + mcap::kRecordHead),
                            static_cast<std::uint32_t>(size), message->channel});
      }
    }
  }
  if (first && undefined != 0) {
    report(offset, std::to_string(undefined) +
                       " messages of the chunk have a channel that the file does not define");
  }
  std::stable_sort(entries->begin(), entries->end(),
                   [](const Entry& a, const Entry& b) { return a.log_ns < b.log_ns; });
  check_times(part, *entries);
  auto loaded = std::make_shared<Loaded>();
  loaded->data = std::move(data);
  loaded->entries = std::move(entries);
  return loaded;
}

// The messages decide, not the index: later searches use their times.
void McapReader::check_times(std::size_t part, const std::vector<Entry>& entries) {
  Part& checked = parts_[part];
  if (std::exchange(checked.checked, true) || entries.empty()) return;
  const std::uint64_t first = entries.front().log_ns;
  const std::uint64_t last = entries.back().log_ns;
  if (checked.start_time <= first && checked.end_time >= last) return;
  report(checked.offset,
         "the index has other times than the messages of this chunk. Correct it "
         "with hyphos bag check --repair");
  checked.start_time = first;
  checked.end_time = last;
  start_ns_ = std::min(start_ns_, first);
  end_ns_ = std::max(end_ns_, last);
  by_start_ = by_end_ = nullptr;
}

void McapReader::report_overlap(std::uint64_t offset) {
  if (std::exchange(overlap_reported_, true)) return;
  report(offset, "more than " + std::to_string(kMaxOverlap) +
                     " chunks cover one instant. Some messages are left out");
}

StoredMessage McapReader::message_at(const Loaded& loaded, const Entry& entry) {
  const auto fields = mcap::parse_message(loaded.data.bytes().subspan(entry.at, entry.size));
  const std::size_t head = entry.size - fields->data.size();
  return {fields->channel, fields->sequence, fields->log_time, fields->publish_time,
          loaded.data.slice(entry.at + head, fields->data.size())};
}

// `best` holds at most `most` places in order of time.
void McapReader::take_last(std::size_t part, const ChannelSet& channels, std::uint64_t until_ns,
                           std::size_t most, std::vector<Place>& best) {
  const auto loaded = load(part);
  if (loaded == nullptr) return;
  const auto& entries = *loaded->entries;
  auto entry =
      std::upper_bound(entries.begin(), entries.end(), until_ns,
                       [](std::uint64_t time, const Entry& one) { return time < one.log_ns; });
  std::vector<Place> found;
  while (entry != entries.begin() && found.size() < most) {
    --entry;
    if (best.size() == most && entry->log_ns <= best.front().entry.log_ns) break;
    if (channels.contains(entry->channel)) found.push_back({*entry, part});
  }
  best.insert(best.begin(), found.rbegin(), found.rend());
  std::stable_sort(best.begin(), best.end(),
                   [](const Place& a, const Place& b) { return a.entry.log_ns < b.entry.log_ns; });
  if (best.size() > most) best.erase(best.begin(), best.end() - static_cast<std::ptrdiff_t>(most));
}

std::vector<StoredMessage> McapReader::last(const ChannelSet& channels, std::uint64_t until_ns,
                                            std::size_t most) {
  // Parts from the one that ends last. A part that ends before the earliest of the best has no
  // better one.
  std::vector<Place> best;
  sort();
  const Order order = by_end_;  // load() may reset it
  for (auto at = order->rbegin(); at != order->rend(); ++at) {
    const Part& part = parts_[*at];
    if (best.size() == most && part.end_time <= best.front().entry.log_ns) break;
    if (part.start_time > until_ns || part.bad || !may_contain(part, channels)) continue;
    take_last(*at, channels, until_ns, most, best);
  }
  std::vector<StoredMessage> out;
  for (const Place& place : best) {
    if (const auto loaded = load(place.part)) out.push_back(message_at(*loaded, place.entry));
  }
  return out;
}

McapCursor::McapCursor(McapReader& reader, ChannelSet channels, std::uint64_t from_ns)
    : reader_(reader), channels_(std::move(channels)), from_ns_(from_ns) {
  reader_.sort();
  order_ = reader_.by_start_;
}

void McapCursor::skip(Active& active) const {
  const auto& entries = *active.entries;
  while (active.at < entries.size() && (entries[active.at].log_ns < from_ns_ ||
                                        !channels_.contains(entries[active.at].channel))) {
    ++active.at;
  }
}

void McapCursor::activate(std::uint64_t until_ns) {
  for (; next_part_ < order_->size(); ++next_part_) {
    const std::size_t part = (*order_)[next_part_];
    const McapReader::Part& next = reader_.parts_[part];
    if (next.start_time > until_ns) return;
    if (!active_.empty() && next.start_time > active_.front().time()) return;
    if (active_.size() >= McapReader::kMaxOverlap) return reader_.report_overlap(next.offset);
    if (next.end_time < from_ns_ || next.bad || !McapReader::may_contain(next, channels_)) continue;
    const auto loaded = reader_.load(part);
    if (loaded != nullptr) {
      Active active{part, loaded->entries, 0};
      skip(active);
      if (active.at < active.entries->size()) {
        active_.push_back(std::move(active));
        std::push_heap(active_.begin(), active_.end(), kLater);
      }
    }
  }
}

std::optional<std::uint64_t> McapCursor::next_time() {
  activate(~std::uint64_t{0});
  if (active_.empty()) return std::nullopt;
  return active_.front().time();
}

std::optional<StoredMessage> McapCursor::next(std::uint64_t until_ns) {
  activate(until_ns);
  while (!active_.empty() && active_.front().time() <= until_ns) {
    std::pop_heap(active_.begin(), active_.end(), kLater);
    Active& active = active_.back();
    const std::size_t part = active.part;
    const McapReader::Entry entry = (*active.entries)[active.at];
    ++active.at;
    skip(active);
    if (active.at < active.entries->size()) {
      std::push_heap(active_.begin(), active_.end(), kLater);
    } else {
      active_.pop_back();
    }
    from_ns_ = std::max(from_ns_, entry.log_ns);
    // The chunk may have left the cache meanwhile.
    const auto loaded = reader_.load(part);
    if (loaded != nullptr) return McapReader::message_at(*loaded, entry);
    activate(until_ns);
  }
  return std::nullopt;
}

}  // namespace hyphos::record
