#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

/// The frames of MAVLink 1 and 2, and the few messages that a vehicle here sends and understands.
/// Source: https://mavlink.io/en/guide/serialization.html and the message set `common.xml`.
namespace hyphos::cosim::mavlink {

enum class Id : std::uint32_t {
  heartbeat = 0,
  sys_status = 1,
  set_mode = 11,
  param_request_list = 21,
  attitude = 30,
  local_position_ned = 32,
  global_position_int = 33,
  mission_request_list = 43,
  mission_count = 44,
  command_int = 75,
  command_long = 76,
  command_ack = 77,
  set_position_target_local_ned = 84,
  timesync = 111,
  extended_sys_state = 245,
  statustext = 253,
};

/// The length of a message and the byte that seeds its checksum.
struct Known {
  Id id;
  std::uint8_t size = 0;  ///< of the payload, without extensions
  std::uint8_t extra = 0;
  std::uint8_t most = 0;  ///< with extensions
};
[[nodiscard]] const Known* known(std::uint32_t id);

inline constexpr std::size_t kMostPayload = 255;

/// The fields of a message, little-endian, at the offsets of the wire.
class Payload {
 public:
  Payload() = default;
  explicit Payload(std::size_t size) : size_(size) {}

  template <typename T>
  [[nodiscard]] T get(std::size_t at) const {
    T value{};
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  template <typename T>
  void set(std::size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  [[nodiscard]] std::span<std::byte> bytes() { return std::span(bytes_).first(size_); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }

 private:
  std::array<std::byte, kMostPayload> bytes_{};  // missing bytes of a short payload are zeros
  std::size_t size_ = kMostPayload;
};

struct Message {
  Id id{};
  std::uint8_t system = 0;  ///< of the sender
  std::uint8_t component = 0;
  Payload payload{};
};

/// Bytes that were no message that this vehicle knows.
struct Ignored {
  std::uint64_t unknown = 0;   ///< messages with another number
  std::uint64_t corrupt = 0;   ///< a wrong checksum, or cut off
  std::uint64_t no_frame = 0;  ///< bytes before a start of a frame
};

/// Calls `f` for each message of a datagram.
void read_frames(std::span<const std::byte> datagram, const std::function<void(const Message&)>& f,
                 Ignored& ignored);

/// A message as a frame of MAVLink 2.
[[nodiscard]] std::vector<std::byte> frame(const Message& message, std::uint8_t sequence);

}  // namespace hyphos::cosim::mavlink
