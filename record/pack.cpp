#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "record/chunk.hpp"

namespace hyphos::record {
namespace {

constexpr int kZstdLevel = 1;  // several hundred MB/s per core
// LZ4F requires room for a whole block at every call, even if it needs less.
constexpr std::size_t kLz4Slack = 1 << 20;

}  // namespace

std::string_view to_string(Compression compression) {
  switch (compression) {
    case Compression::lz4:
      return "lz4";
    case Compression::zstd:
      return "zstd";
    case Compression::none:
      break;
  }
  return "";
}

struct Packer::State {
  ZSTD_CCtx* zstd = nullptr;
  LZ4F_cctx* lz4 = nullptr;
  ~State() {
    ZSTD_freeCCtx(zstd);
    LZ4F_freeCompressionContext(lz4);
  }

  /// Returns the number of bytes written to `out.memory`, or 0 on failure.
  std::size_t with_zstd(Packed& out);
  std::size_t with_lz4(Packed& out);
};

std::size_t Packer::State::with_zstd(Packed& out) {
  if (zstd == nullptr) zstd = ZSTD_createCCtx();
  if (zstd == nullptr) return 0;
  ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
  ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, kZstdLevel);
  ZSTD_CCtx_setPledgedSrcSize(zstd, out.uncompressed_size);
  const std::size_t bound = ZSTD_compressBound(out.uncompressed_size);
  out.memory = std::make_unique_for_overwrite<std::byte[]>(bound);
  ZSTD_outBuffer to{out.memory.get(), bound, 0};
  for (std::size_t i = 0; i < out.body.size(); ++i) {
    const bool last = i + 1 == out.body.size();
    ZSTD_inBuffer from{out.body[i].data(), out.body[i].size(), 0};
    std::size_t left = 0;
    do {
      left = ZSTD_compressStream2(zstd, &to, &from, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0 || (left != 0 && to.pos == to.size)) return 0;
    } while (from.pos < from.size || (last && left != 0));
  }
  return to.pos;
}

std::size_t Packer::State::with_lz4(Packed& out) {
  if (lz4 == nullptr && LZ4F_isError(LZ4F_createCompressionContext(&lz4, LZ4F_VERSION)) != 0) {
    return 0;
  }
  LZ4F_preferences_t wish{};
  wish.frameInfo.blockSizeID = LZ4F_max256KB;
  wish.frameInfo.contentSize = out.uncompressed_size;
  const std::size_t bound = LZ4F_compressFrameBound(out.uncompressed_size, &wish) + kLz4Slack;
  out.memory = std::make_unique_for_overwrite<std::byte[]>(bound);
  std::size_t used = LZ4F_compressBegin(lz4, out.memory.get(), bound, &wish);
  if (LZ4F_isError(used) != 0) return 0;
  for (const auto part : out.body) {
    const std::size_t more = LZ4F_compressUpdate(lz4, out.memory.get() + used, bound - used,
                                                 part.data(), part.size(), nullptr);
    if (LZ4F_isError(more) != 0) return 0;
    used += more;
  }
  const std::size_t end = LZ4F_compressEnd(lz4, out.memory.get() + used, bound - used, nullptr);
  return LZ4F_isError(end) != 0 ? 0 : used + end;
}

Packer::Packer() : state_(std::make_unique<State>()) {}
Packer::~Packer() = default;

// Returns true if the chunk became smaller. `out.memory` then holds the compressed chunk.
bool Packer::squeeze(Packed& out, Compression compression) {
  if (compression == Compression::none || out.uncompressed_size == 0) return false;
  const std::size_t size =
      compression == Compression::zstd ? state_->with_zstd(out) : state_->with_lz4(out);
  if (size == 0 || size > out.uncompressed_size - out.uncompressed_size / 32) return false;
  out.compression = to_string(compression);
  out.stored = size;
  return true;
}

Packed Packer::pack(Chunk chunk, Compression compression, bool flatten) {
  Packed out;
  out.source = std::move(chunk);
  Chunk& from = out.source;
  out.messages = from.index_.size();
  out.start_time = from.start_ns_;
  out.end_time = from.end_ns_;
  out.uncompressed_size = out.stored = from.size_;
  out.tallies = std::move(from.tallies_);
  out.latched = std::move(from.latched_);
  out.body.reserve(from.pieces_.size());
  for (const Chunk::Piece& piece : from.pieces_) {
    const std::byte* data =
        piece.kept.data() != nullptr ? piece.kept.data() : from.arena_.data() + piece.offset;
    out.body.emplace_back(data, piece.size);
    out.uncompressed_crc = mcap::crc32(out.uncompressed_crc, out.body.back());
  }
  // Sorted by channel, and by time within a channel: readers merge the channels and search in each.
  std::stable_sort(from.index_.begin(), from.index_.end(), [](const auto& a, const auto& b) {
    return a.channel != b.channel ? a.channel < b.channel : a.time < b.time;
  });
  std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;
  for (std::size_t i = 0; i < from.index_.size();) {
    const std::uint16_t channel = from.index_[i].channel;
    entries.clear();
    for (; i < from.index_.size() && from.index_[i].channel == channel; ++i) {
      entries.emplace_back(from.index_[i].time, from.index_[i].offset);
    }
    out.index_offsets.emplace_back(channel, out.indexes.size());
    mcap::put_message_index(out.indexes, channel, entries);
  }
  const bool smaller = squeeze(out, compression);
  if (smaller && flatten) {  // an exact allocation, because the chunk may be kept for long
    auto exact = std::make_unique_for_overwrite<std::byte[]>(out.stored);
    std::memcpy(exact.get(), out.memory.get(), out.stored);
    out.memory = std::move(exact);
  } else if (!smaller && flatten) {
    out.memory = std::make_unique_for_overwrite<std::byte[]>(out.stored);
    std::size_t used = 0;
    for (const auto part : out.body) {
      std::memcpy(out.memory.get() + used, part.data(), part.size());
      used += part.size();
    }
  }
  if (smaller || flatten) {
    out.body.assign(1, {out.memory.get(), static_cast<std::size_t>(out.stored)});
    out.source = Chunk();  // releases the messages' memory
  } else {
    out.memory.reset();
  }
  return out;
}

}  // namespace hyphos::record
