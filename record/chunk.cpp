#include "record/chunk.hpp"

#include <algorithm>
#include <array>

namespace hyphos::record {
namespace {

// From here on a reference is cheaper than a copy, and a write of its own costs nothing.
constexpr std::size_t kHoldFrom = 16 << 10;

// `repeated bytes attached_buffers = 100000` of docs/reference/recording.md.
constexpr std::array<std::byte, 3> kAttachedTag{std::byte{0x82}, std::byte{0xea}, std::byte{0x30}};

std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  for (; value > 0x7f; value >>= 7) ++size;
  return size;
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  received += other.received;
  written += other.written;
  bytes += other.bytes;
  missing += other.missing;
  drop_queue += other.drop_queue;
  drop_disk += other.drop_disk;
  drop_convert += other.drop_convert;
  repeated += other.repeated;
  return *this;
}

Tally& at(Tallies& tallies, std::uint16_t channel) {
  if (tallies.size() <= channel) tallies.resize(channel + 1U);
  return tallies[channel];
}

std::size_t stored_size(const Buffer& payload, const BufferList& buffers) {
  std::size_t size = payload.size();
  for (const Buffer& buffer : buffers) {
    size += kAttachedTag.size() + varint_size(buffer.size()) + buffer.size();
  }
  return size;
}

void Chunk::begin(const MessageInfo& info, std::size_t data_size) {
  last_ = info;
  index_.push_back({info.channel, info.log_ns, size_});
  if (index_.size() == 1) start_ns_ = end_ns_ = info.log_ns;
  start_ns_ = std::min(start_ns_, info.log_ns);
  end_ns_ = std::max(end_ns_, info.log_ns);
  std::array<std::byte, mcap::kMessageHead> head;
  mcap::write_message_head(head.data(), info.channel, info.sequence, info.log_ns, info.publish_ns,
                           data_size);
  copy(head);
}

void Chunk::copy(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (pieces_.empty() || pieces_.back().kept.data() != nullptr) {
    pieces_.push_back({{}, arena_.size(), 0});
  }
  pieces_.back().size += bytes.size();
  arena_.insert(arena_.end(), bytes.begin(), bytes.end());
  size_ += bytes.size();
}

void Chunk::put(const Buffer& buffer, bool hold) {
  if (!hold || buffer.size() < kHoldFrom) return copy(buffer.bytes());
  pieces_.push_back({buffer, 0, buffer.size()});
  size_ += buffer.size();
  held_ += buffer.size();
}

void Chunk::add(const MessageInfo& info, const Buffer& payload, const BufferList& buffers,
                bool hold) {
  begin(info, stored_size(payload, buffers));
  put(payload, hold);
  for (const Buffer& buffer : buffers) {
    std::array<std::byte, kAttachedTag.size() + 10> head;
    auto end = std::copy(kAttachedTag.begin(), kAttachedTag.end(), head.begin());
    std::uint64_t rest = buffer.size();
    for (; rest > 0x7f; rest >>= 7) *end++ = static_cast<std::byte>((rest & 0x7f) | 0x80);
    *end++ = static_cast<std::byte>(rest);
    copy({head.begin(), end});
    put(buffer, hold);
  }
}

void Chunk::add(const MessageInfo& info, std::span<const std::byte> data) {
  begin(info, data.size());
  copy(data);
}

void Chunk::latch(std::uint64_t sender, std::uint32_t depth) {
  auto data = std::make_shared<mcap::Bytes>();
  // The data of the last message: all its pieces after its head.
  std::size_t left = size_ - index_.back().offset - mcap::kMessageHead;
  data->reserve(left);
  std::size_t first = pieces_.size();
  std::size_t found = 0;
  while (found < left) found += pieces_[--first].size;
  std::size_t skip = found - left;
  for (; first < pieces_.size(); ++first, skip = 0) {
    const Piece& piece = pieces_[first];
    const std::byte* bytes =
        piece.kept.data() != nullptr ? piece.kept.data() : arena_.data() + piece.offset;
    data->insert(data->end(), bytes + skip, bytes + piece.size);
  }
  const auto same = [&](const Latched& other) {
    return other.info.channel == last_.channel && other.sender == sender;
  };
  std::erase_if(latched_, [&](const Latched& other) {
    return same(other) && other.info.sequence == last_.sequence;
  });
  if (std::ranges::count_if(latched_, same) >= static_cast<std::ptrdiff_t>(depth)) {
    latched_.erase(std::ranges::find_if(latched_, same));
  }
  latched_.push_back({last_, sender, depth, std::move(data)});
}

}  // namespace hyphos::record
