#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

namespace hyphos::record {

/// Decompresses chunks: the inverse of Packer. Use one per thread, because it holds the
/// decompressors' state.
class Unpacker {
 public:
  Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  ~Unpacker();

  /// Decompresses `stored` to exactly `size` bytes. `compression` is the name in the format: "lz4",
  /// "zstd". Allocates `size` bytes, which the caller has bounded. Errors: unsupported (another
  /// name), corrupt, exhausted.
  [[nodiscard]] Result<Buffer> unpack(std::string_view compression,
                                      std::span<const std::byte> stored, std::uint64_t size);
  /// The same for a chunk whose end is missing: the bytes before the missing part, at most `size`.
  [[nodiscard]] Result<Buffer> salvage(std::string_view compression,
                                       std::span<const std::byte> stored, std::uint64_t size);

 private:
  struct State;
  Result<Buffer> run(std::string_view compression, std::span<const std::byte> stored,
                     std::uint64_t size, bool whole);
  std::unique_ptr<State> state_;
};

}  // namespace hyphos::record
