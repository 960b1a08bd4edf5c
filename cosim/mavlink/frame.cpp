#include "cosim/mavlink/frame.hpp"

#include <algorithm>

namespace hyphos::cosim::mavlink {
namespace {

constexpr std::uint8_t kStart1 = 0xFE;
constexpr std::uint8_t kStart2 = 0xFD;
constexpr std::size_t kHead1 = 6;
constexpr std::size_t kHead2 = 10;
constexpr std::size_t kCheck = 2;
constexpr std::size_t kSignature = 13;

constexpr std::array kMessages{
    Known{Id::heartbeat, 9, 50, 9},
    Known{Id::sys_status, 31, 124, 43},
    Known{Id::set_mode, 6, 89, 6},
    Known{Id::param_request_list, 2, 159, 2},
    Known{Id::attitude, 28, 39, 28},
    Known{Id::local_position_ned, 28, 185, 28},
    Known{Id::global_position_int, 28, 104, 28},
    Known{Id::mission_request_list, 2, 132, 3},
    Known{Id::mission_count, 4, 221, 9},
    Known{Id::command_int, 35, 158, 35},
    Known{Id::command_long, 33, 152, 33},
    Known{Id::command_ack, 3, 143, 10},
    Known{Id::set_position_target_local_ned, 53, 143, 53},
    Known{Id::timesync, 16, 34, 18},
    Known{Id::extended_sys_state, 2, 130, 2},
    Known{Id::statustext, 51, 83, 54},
};

/// CRC-16/MCRF4XX, as in MAVLink.
std::uint16_t checksum(std::span<const std::byte> bytes, std::uint8_t extra) {
  std::uint16_t crc = 0xFFFF;
  const auto add = [&crc](std::uint8_t byte) {
    auto part = static_cast<std::uint8_t>(byte ^ (crc & 0xFF));
    part = static_cast<std::uint8_t>(part ^ (part << 4));
    crc = static_cast<std::uint16_t>((crc >> 8) ^ (part << 8) ^ (part << 3) ^ (part >> 4));
  };
  for (const std::byte byte : bytes) add(std::to_integer<std::uint8_t>(byte));
  add(extra);
  return crc;
}

std::uint8_t at(std::span<const std::byte> bytes, std::size_t place) {
  return std::to_integer<std::uint8_t>(bytes[place]);
}

/// Reads one frame at the start of `bytes`. Returns its length, or 0 if it is cut off.
std::size_t read_frame(std::span<const std::byte> bytes,
                       const std::function<void(const Message&)>& f, Ignored& ignored) {
  const bool second = at(bytes, 0) == kStart2;
  const std::size_t head = second ? kHead2 : kHead1;
  if (bytes.size() < head) return 0;
  const std::size_t size = at(bytes, 1);
  const bool is_signed = second && (at(bytes, 2) & 1) != 0;
  const std::size_t whole = head + size + kCheck + (is_signed ? kSignature : 0);
  if (bytes.size() < whole) return 0;
  Message message;
  message.system = at(bytes, second ? 5 : 3);
  message.component = at(bytes, second ? 6 : 4);
  std::uint32_t id = at(bytes, second ? 7 : 5);
  if (second) id |= at(bytes, 8) << 8U | static_cast<std::uint32_t>(at(bytes, 9)) << 16U;
  const Known* const type = known(id);
  if (type == nullptr) {
    ++ignored.unknown;
    return whole;
  }
  const auto told =
      static_cast<std::uint16_t>(at(bytes, head + size) | at(bytes, head + size + 1) << 8);
  if (told != checksum(bytes.subspan(1, head - 1 + size), type->extra)) {
    ++ignored.corrupt;
    return whole;
  }
  message.id = type->id;
  message.payload = Payload(type->most);
  const std::size_t used = std::min<std::size_t>(size, type->most);
  std::ranges::copy(bytes.subspan(head, used), message.payload.bytes().begin());
  f(message);
  return whole;
}

}  // namespace

const Known* known(std::uint32_t id) {
  const auto found = std::ranges::find(kMessages, static_cast<Id>(id), &Known::id);
  return found == kMessages.end() ? nullptr : &*found;
}

void read_frames(std::span<const std::byte> datagram, const std::function<void(const Message&)>& f,
                 Ignored& ignored) {
  while (!datagram.empty()) {
    const std::uint8_t first = at(datagram, 0);
    if (first != kStart1 && first != kStart2) {
      ++ignored.no_frame;
      datagram = datagram.subspan(1);
      continue;
    }
    const std::size_t length = read_frame(datagram, f, ignored);
    if (length == 0) {
      ++ignored.corrupt;
      return;
    }
    datagram = datagram.subspan(length);
  }
}

std::vector<std::byte> frame(const Message& message, std::uint8_t sequence) {
  const Known& type = *known(static_cast<std::uint32_t>(message.id));
  auto payload = message.payload.bytes().first(type.size);
  while (payload.size() > 1 && payload.back() == std::byte{0}) {
    payload = payload.first(payload.size() - 1);
  }
  const auto id = static_cast<std::uint32_t>(message.id);
  std::vector<std::byte> bytes;
  for (const std::size_t value :
       {std::size_t{kStart2}, payload.size(), std::size_t{0}, std::size_t{0}, std::size_t{sequence},
        std::size_t{message.system}, std::size_t{message.component}, std::size_t{id & 0xFF},
        std::size_t{id >> 8 & 0xFF}, std::size_t{id >> 16 & 0xFF}}) {
    bytes.push_back(static_cast<std::byte>(value));
  }
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  const std::uint16_t check = checksum(std::span(bytes).subspan(1), type.extra);
  bytes.push_back(static_cast<std::byte>(check & 0xFF));
  bytes.push_back(static_cast<std::byte>(check >> 8));
  return bytes;
}

}  // namespace hyphos::cosim::mavlink
