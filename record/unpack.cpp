#include "record/unpack.hpp"

#include <lz4frame.h>
#include <zstd.h>

#include <new>
#include <string>
#include <utility>

namespace hyphos::record {
namespace {

Error corrupt(std::string reason) { return {Code::corrupt, std::move(reason), {}}; }

}  // namespace

struct Unpacker::State {
  ZSTD_DCtx* zstd = nullptr;
  LZ4F_dctx* lz4 = nullptr;
  ~State() {
    ZSTD_freeDCtx(zstd);
    LZ4F_freeDecompressionContext(lz4);
  }

  // Both return the number of bytes in `out`. `whole`: an incomplete input is an error.
  Result<std::size_t> with_zstd(std::span<const std::byte> in, std::span<std::byte> out,
                                bool whole);
  Result<std::size_t> with_lz4(std::span<const std::byte> in, std::span<std::byte> out, bool whole);
};

Result<std::size_t> Unpacker::State::with_zstd(std::span<const std::byte> in,
                                               std::span<std::byte> out, bool whole) {
  if (zstd == nullptr) zstd = ZSTD_createDCtx();
  if (zstd == nullptr) return Error{Code::exhausted, "no memory for the decompressor", {}};
  if (whole) {
    const std::size_t made =
        ZSTD_decompressDCtx(zstd, out.data(), out.size(), in.data(), in.size());
    if (ZSTD_isError(made) != 0) {
      return corrupt(std::string("zstd: ") + ZSTD_getErrorName(made));
    }
    return made;
  }
  ZSTD_DCtx_reset(zstd, ZSTD_reset_session_only);
  ZSTD_inBuffer from{in.data(), in.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  while (from.pos < from.size && to.pos < to.size) {
    if (ZSTD_isError(ZSTD_decompressStream(zstd, &to, &from)) != 0) break;
  }
  return to.pos;
}

Result<std::size_t> Unpacker::State::with_lz4(std::span<const std::byte> in,
                                              std::span<std::byte> out, bool whole) {
  if (lz4 == nullptr && LZ4F_isError(LZ4F_createDecompressionContext(&lz4, LZ4F_VERSION)) != 0) {
    return Error{Code::exhausted, "no memory for the decompressor", {}};
  }
  LZ4F_resetDecompressionContext(lz4);
  std::size_t made = 0;
  std::size_t used = 0;
  std::size_t hint = 1;
  while (used < in.size()) {
    std::size_t from = in.size() - used;
    std::size_t to = out.size() - made;
    hint = LZ4F_decompress(lz4, out.data() + made, &to, in.data() + used, &from, nullptr);
    if (LZ4F_isError(hint) != 0) {
      if (!whole) break;
      return corrupt(std::string("lz4: ") + LZ4F_getErrorName(hint));
    }
    made += to;
    used += from;
    if (from == 0 && to == 0) break;  // no room, or no progress
  }
  if (whole && (used != in.size() || hint != 0)) return corrupt("lz4: the frame is incomplete");
  return made;
}

Unpacker::Unpacker() : state_(std::make_unique<State>()) {}
Unpacker::~Unpacker() = default;

Result<Buffer> Unpacker::run(std::string_view compression, std::span<const std::byte> stored,
                             std::uint64_t size, bool whole) {
  if (compression != "zstd" && compression != "lz4") {
    return Error{Code::unsupported,
                 "the compression '" + std::string(compression.substr(0, 64)) +
                     "' is unknown. Known are lz4 and zstd",
                 {}};
  }
  try {
    WritableBuffer out = WritableBuffer::on_heap(static_cast<std::size_t>(size));
    auto made = compression == "zstd" ? state_->with_zstd(stored, out.bytes(), whole)
                                      : state_->with_lz4(stored, out.bytes(), whole);
    if (!made) return made.error();
    if (whole && *made != size) {
      return corrupt("the chunk has " + std::to_string(*made) + " bytes, not " +
                     std::to_string(size));
    }
    return std::move(out).freeze(*made);
  } catch (const std::bad_alloc&) {
    return Error{Code::exhausted, "no memory for " + std::to_string(size) + " bytes", {}};
  }
}

Result<Buffer> Unpacker::unpack(std::string_view compression, std::span<const std::byte> stored,
                                std::uint64_t size) {
  return run(compression, stored, size, true);
}

Result<Buffer> Unpacker::salvage(std::string_view compression, std::span<const std::byte> stored,
                                 std::uint64_t size) {
  return run(compression, stored, size, false);
}

}  // namespace hyphos::record
