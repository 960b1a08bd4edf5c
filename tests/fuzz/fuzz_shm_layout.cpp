#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "shm/domain.hpp"
#include "shm/layout.hpp"

namespace {

namespace shm = hyphos::shm;

void require(bool condition) {
  if (!condition) std::abort();
}

// The bytes as an object of T, padded with zeros.
template <typename T>
struct Image {
  alignas(64) std::byte memory[sizeof(T)] = {};
  Image(const std::uint8_t* data, std::size_t size) {
    std::memcpy(memory, data, size < sizeof(T) ? size : sizeof(T));
  }
  [[nodiscard]] const T& get() const { return *reinterpret_cast<const T*>(memory); }
};

}  // namespace

/// Any bytes in place of a header are refused, or give numbers that stay within the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t file_size = 0;
  std::memcpy(&file_size, data, size < 8 ? size : 8);
  const Image<shm::SegmentHeader> segment(data, size);
  const auto& file = segment.get().file;
  for (const std::uint64_t actual : {file_size, file.size}) {
    if (const auto layout =
            shm::check_segment(segment.get(), file.owner, segment.get().number, actual)) {
      require(layout->slots > 0 && layout->slot_size % shm::kCacheLine == 0);
      require(layout->control_offset + layout->slots * sizeof(shm::SlotControl) <=
              layout->payload_offset);
      require(layout->payload_offset + layout->slots * layout->slot_size <= layout->size);
      require(layout->size <= actual && (actual - layout->size) % layout->group_size == 0);
      require(layout->group_size >=
              sizeof(shm::HolderGroup) + layout->slots * sizeof(shm::SlotHolds));
    }
  }
  const Image<shm::RingHeader> ring(data, size);
  for (const std::uint64_t actual : {file_size, ring.get().file.size}) {
    const std::uint32_t depth =
        shm::check_ring(ring.get(), ring.get().file.owner, ring.get().sender, actual);
    require(depth <= shm::kMaxDepth);
    if (depth != 0) require(sizeof(shm::RingHeader) + depth * sizeof(shm::RingCell) <= actual);
  }
  const Image<shm::MessageHeader> message(data, size);
  shm::MessageHeader copy;
  if (shm::read_message(message.get(), copy)) {
    require(copy.parts >= 1 && copy.parts <= shm::kMaxParts);
    require((copy.flags & shm::kSimple) == 0 || copy.part[0].size == copy.simple_size);
    require((copy.flags & shm::kSimple) != 0 ||
            std::memcmp(copy.part.data(), message.get().part.data(),
                        copy.parts * sizeof(shm::Part)) == 0);
  }
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  if (const std::uint64_t id = shm::owner_of(name); id != 0) {
    require(name.starts_with(shm::to_hex(id) + "."));
  }
  return 0;
}
