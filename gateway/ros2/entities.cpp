#include "gateway/ros2/entities.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace hyphos::gateway::ros2 {
namespace {

constexpr std::size_t kEncapsulation = 4;

class EntitiesWriter {
 public:
  explicit EntitiesWriter(GidSize size) : gid_size_(static_cast<std::size_t>(size)) {
    constexpr std::byte kLittleEndian{1};
    bytes_ = {std::byte{0}, kLittleEndian, std::byte{0}, std::byte{0}};
  }
  void number(std::uint32_t value) {
    while ((bytes_.size() - kEncapsulation) % 4 != 0) bytes_.push_back(std::byte{0});
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes_.push_back(static_cast<std::byte>(value >> shift));
    }
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size() + 1));
    const auto* const data = reinterpret_cast<const std::byte*>(value.data());
    bytes_.insert(bytes_.end(), data, data + value.size());
    bytes_.push_back(std::byte{0});
  }
  void gid(const Gid& value) {
    for (const std::uint8_t byte : value) bytes_.push_back(std::byte{byte});
    bytes_.resize(bytes_.size() + gid_size_ - value.size());
  }
  void gids(const std::vector<Gid>& values) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const Gid& value : values) gid(value);
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  const std::size_t gid_size_;
  std::vector<std::byte> bytes_;
};

/// After the first value that does not fit, all values are 0 and failed() is true.
class EntitiesReader {
 public:
  EntitiesReader(std::span<const std::byte> bytes, GidSize size)
      : bytes_(bytes), gid_size_(static_cast<std::size_t>(size)) {
    if (bytes.size() < kEncapsulation || bytes[0] != std::byte{0} || bytes[1] > std::byte{1}) {
      failed_ = true;
      return;
    }
    big_endian_ = bytes[1] == std::byte{0};
    at_ = kEncapsulation;
  }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return !failed_ && bytes_.size() - at_ <= 3; }

  std::uint32_t number() {
    // alignment is unaffected, because the encapsulation header has the size of a number
    const std::size_t start = (at_ + 3) / 4 * 4;
    if (!reach(start + 4 - at_)) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t shift = 8 * (big_endian_ ? 3 - i : i);
      value |= std::to_integer<std::uint32_t>(bytes_[start + i]) << shift;
    }
    at_ = start + 4;
    return value;
  }
  std::string text() {
    const std::size_t size = number();
    if (size == 0 || !reach(size)) return fail<std::string>();
    const auto* const data = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += size;
    return {data, size - 1};
  }
  Gid gid() {
    if (!reach(gid_size_)) return {};
    Gid value;
    std::memcpy(value.data(), bytes_.data() + at_, value.size());
    at_ += gid_size_;
    return value;
  }
  std::vector<Gid> gids() {
    const std::size_t count = number();
    if (count > (bytes_.size() - at_) / gid_size_) return fail<std::vector<Gid>>();
    std::vector<Gid> values(count);
    for (Gid& value : values) value = gid();
    return values;
  }
  /// The number of elements of at least `least` bytes. 0 if that many cannot fit.
  std::size_t count(std::size_t least) {
    const std::size_t claimed = number();
    return claimed <= (bytes_.size() - at_) / least ? claimed : fail<std::size_t>();
  }

 private:
  bool reach(std::size_t size) {
    if (!failed_ && size <= bytes_.size() - at_) return true;
    failed_ = true;
    return false;
  }
  template <typename T>
  T fail() {
    failed_ = true;
    return T();
  }

  const std::span<const std::byte> bytes_;
  const std::size_t gid_size_;
  std::size_t at_ = 0;
  bool big_endian_ = false;
  bool failed_ = false;
};

std::optional<ParticipantEntities> read_as(std::span<const std::byte> bytes, GidSize size) {
  constexpr std::size_t kLeastNode = 4 * 4 + 2;  // four lengths, two empty strings
  EntitiesReader reader(bytes, size);
  ParticipantEntities entities;
  entities.gid = reader.gid();
  entities.nodes.resize(reader.count(kLeastNode));
  for (NodeEntities& node : entities.nodes) {
    node.name_space = reader.text();
    node.name = reader.text();
    node.readers = reader.gids();
    node.writers = reader.gids();
    if (reader.failed()) return std::nullopt;
  }
  if (!reader.at_end()) return std::nullopt;
  return entities;
}

}  // namespace

std::vector<std::byte> write_entities(const ParticipantEntities& entities, GidSize size) {
  EntitiesWriter writer(size);
  writer.gid(entities.gid);
  writer.number(static_cast<std::uint32_t>(entities.nodes.size()));
  for (const NodeEntities& node : entities.nodes) {
    writer.text(node.name_space);
    writer.text(node.name);
    writer.gids(node.readers);
    writer.gids(node.writers);
  }
  return writer.take();
}

std::optional<ParticipantEntities> read_entities(std::span<const std::byte> bytes, GidSize likely) {
  const GidSize other = likely == GidSize::iron ? GidSize::humble : GidSize::iron;
  if (auto entities = read_as(bytes, likely)) return entities;
  return read_as(bytes, other);
}

}  // namespace hyphos::gateway::ros2
