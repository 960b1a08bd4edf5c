#include "cosim/realtime/frames.hpp"

#include <algorithm>

#include "cosim/realtime/options.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::size_t kSource = 6;  // offset of the MAC address of the sender
constexpr std::size_t kVlanBytes = 4;
constexpr auto kGroup = std::byte{1};  // bit of the first byte of a MAC address

}  // namespace

Destination destination_of(std::span<const std::byte> frame, NodeId from, std::size_t robots,
                           std::size_t mtu) {
  using Kind = Destination::Kind;
  if (frame.size() < kEthernetBytes || frame.size() > mtu + kEthernetBytes + kVlanBytes ||
      (frame[kSource] & kGroup) != std::byte{0}) {
    return {Kind::malformed};
  }
  if ((frame[0] & kGroup) != std::byte{0}) return {Kind::everyone, kEveryone};
  std::size_t number = 0;
  for (std::size_t i = 3; i < kSource; ++i) {
    number = number << 8 | std::to_integer<std::size_t>(frame[i]);
  }
  if (number == 0 || number > robots || number - 1 == from) return {Kind::nobody};
  const auto mac = RealTimeOptions::mac(number - 1);
  const bool ours = std::ranges::equal(
      mac, frame.first(kSource), [](std::uint8_t a, std::byte b) { return std::byte{a} == b; });
  if (!ours) return {Kind::nobody};
  return {Kind::robot, static_cast<NodeId>(number - 1)};
}

}  // namespace hyphos::cosim
