// Datagrams of MAVLink from a ground station, and the commands of a vehicle. The first byte selects
// the autopilot, and the reader of frames or messages without the checksum, which random bytes
// hardly ever have.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "cosim/mavlink/vehicle.hpp"

using namespace hyphos;
using namespace hyphos::cosim;
using namespace hyphos::cosim::mavlink;

namespace {

constexpr std::array kReceived{
    Id::set_mode,    Id::param_request_list, Id::mission_request_list,
    Id::command_int, Id::command_long,       Id::set_position_target_local_ned,
    Id::timesync};

/// A message of the first byte, with the rest as its payload. Returns the bytes that it took.
std::size_t take(std::span<const std::byte> bytes, Message& message) {
  message.id = kReceived[std::to_integer<std::size_t>(bytes[0]) % kReceived.size()];
  message.payload = Payload(known(static_cast<std::uint32_t>(message.id))->most);
  const auto to = message.payload.bytes();
  const std::size_t used = std::min(bytes.size() - 1, to.size());
  std::ranges::copy(bytes.subspan(1, used), to.begin());
  return used + 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  Vehicle vehicle((data[0] & 1) == 0 ? Autopilot::px4 : Autopilot::ardupilot, 1);
  Time now{};
  std::uint8_t sequence = 0;
  const Vehicle::Send send = [&](const Message& message) {
    // Every message that it sends is one that it can read.
    std::size_t read = 0;
    Ignored ignored;
    read_frames(
        frame(message, sequence++),
        [&](const Message& again) { read += again.id == message.id ? 1U : 0U; }, ignored);
    if (read != 1) std::abort();
  };
  const auto step = [&] {
    now = now + Duration::from_ms(20);
    vehicle.see(now, {});
    if (const auto motion = vehicle.control(); motion && !is_finite(motion->velocity)) std::abort();
    vehicle.report(send);
  };
  step();
  if ((data[0] & 2) == 0) {
    Ignored ignored;
    read_frames(bytes, [&](const Message& message) { vehicle.receive(message, send); }, ignored);
    step();
    return 0;
  }
  while (!bytes.empty()) {
    Message message;
    bytes = bytes.subspan(take(bytes, message));
    vehicle.receive(message, send);
    step();
  }
  return 0;
}
