#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cosim/core/simulator.hpp"

/// Messages between the engine and a simulator in another process on the same machine: a sequence
/// of numbers in memory representation.
namespace hyphos::cosim {

enum class Request : std::uint8_t { init, step, more, steer, save, restore, quit };

class Writer {
 public:
  void clear() { bytes_.clear(); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  void put_block(std::span<const std::byte> block) {
    put(static_cast<std::uint64_t>(block.size()));
    put_bytes(block);
  }
  void put_text(std::string_view text) { put_block(std::as_bytes(std::span(text))); }
  void put_bytes(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    const std::size_t at = bytes_.size();
    bytes_.resize(at + bytes.size());
    std::memcpy(bytes_.data() + at, bytes.data(), bytes.size());
  }
  /// Overwrites the value at `offset`.
  template <typename T>
  void replace(std::size_t offset, const T& value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads untrusted bytes in the format of Writer. After the first value that does not fit, failed()
/// is true and every further read returns an empty value.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <typename T>
  [[nodiscard]] T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    const auto from = get_bytes(sizeof value);
    if (!from.empty()) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::span<const std::byte> get_block() {
    const auto size = get<std::uint64_t>();
    return get_bytes(size);
  }
  [[nodiscard]] std::string get_text() {
    const auto block = get_block();
    return {reinterpret_cast<const char*>(block.data()), block.size()};
  }
  [[nodiscard]] std::span<const std::byte> get_bytes(std::uint64_t size) {
    if (size > left_.size()) {
      failed_ = true;
      left_ = {};
    }
    const auto taken = failed_ ? std::span<const std::byte>{} : left_.first(size);
    left_ = left_.subspan(taken.size());
    return taken;
  }
  [[nodiscard]] bool failed() const { return failed_; }
  /// True if all bytes were read and no read failed.
  [[nodiscard]] bool complete() const { return !failed_ && left_.empty(); }
  [[nodiscard]] std::size_t left() const { return left_.size(); }

 private:
  std::span<const std::byte> left_;
  bool failed_ = false;
};

void put_packet(Writer& writer, const Packet& packet);
[[nodiscard]] Packet get_packet(Reader& reader);
/// The size of a packet in a message.
[[nodiscard]] std::size_t packet_size(const Packet& packet);
void put_outcome(Writer& writer, const Outcome& outcome);
/// Returns nothing if the outcome is invalid.
[[nodiscard]] std::optional<Outcome> get_outcome(Reader& reader);
[[nodiscard]] std::size_t outcome_size(const Outcome& outcome);
void put_error(Writer& writer, const Error& error);
[[nodiscard]] Error get_error(Reader& reader);

}  // namespace hyphos::cosim
