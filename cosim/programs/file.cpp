#include <algorithm>

#include "cosim/programs/source.hpp"

namespace hyphos::cosim {
namespace {

/// A file in chunks that are all due at once. The bytes of a chunk are part of the file and follow
/// the flow header. The file has arrived when every chunk has.
class File final : public Source {
 public:
  explicit File(const FlowOptions& options)
      : start_(options.start), left_(options.bytes), chunk_(options.chunk_bytes) {}

  Time due() const override { return left_ == 0 ? kNever : start_; }

  std::vector<std::byte> take() override {
    const std::size_t size = std::min(left_, chunk_);
    std::vector<std::byte> bytes(kHeaderBytes + size);
    for (std::size_t i = 0; i < size; ++i) {
      bytes[kHeaderBytes + i] = static_cast<std::byte>((left_ - i) * 2654435761U >> 13);
    }
    left_ -= size;
    return bytes;
  }

 private:
  Time start_;
  std::size_t left_;
  std::size_t chunk_;
};

}  // namespace

namespace make {
std::unique_ptr<Source> file(const FlowOptions& options) { return std::make_unique<File>(options); }
}  // namespace make

}  // namespace hyphos::cosim
