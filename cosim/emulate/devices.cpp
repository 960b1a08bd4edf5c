#include "cosim/emulate/devices.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "cosim/realtime/frames.hpp"
#include "netem/bucket.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::size_t kLargest = 65'536;
/// Packets taken from one device before the next device is read.
constexpr std::uint32_t kTurn = 32;
/// Packets that wait in front of a device, as many as in front of a network card.
constexpr std::uint32_t kWaiting = 1000;
constexpr double kBurst = 1e-3;  // seconds

}  // namespace

Devices::Devices(std::vector<lab::Tun> devices, const Setup& setup)
    : setup_(setup), packet_(new std::byte[kLargest]) {
  for (lab::Tun& device : devices) {
    watched_.push_back({device.fd(), POLLIN, 0});
    ports_.push_back(Port{std::move(device)});
  }
  watched_.push_back({setup.signals, POLLIN, 0});
  watched_.push_back({setup.parent, POLLIN, 0});
}

/// Returns true if a packet or signal has arrived.
Result<bool> Devices::look(timespec timeout) {
  const int found = ::ppoll(watched_.data(), watched_.size(), &timeout, nullptr);
  if (found < 0 && errno != EINTR) {
    return Error{Code::io, std::string("ppoll: ") + std::strerror(errno), "hyphos-cosim-emulate"};
  }
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if ((watched_[i].revents & (POLLERR | POLLHUP)) != 0) {
      return Error{Code::disconnected,
                   "the device '" + ports_[i].device.name() + "' of robot '" + setup_.names[i] +
                       "' has disappeared: a program on the robot or on this machine has removed "
                       "it",
                   "hyphos-cosim-emulate"};
    }
  }
  return found > 0;
}

Result<void> Devices::wait(Time until, bool exact) {
  for (;;) {
    const Duration left = until - now() - (exact ? setup_.spin : Duration{0});
    const std::int64_t sleep = std::max<std::int64_t>(0, left.ns);
    auto found = look({sleep / 1'000'000'000, sleep % 1'000'000'000});
    if (!found) return found.error();
    if (*found || now() >= until) return success();
  }
}

bool Devices::asked_to_end() const {
  return ((watched_[ports_.size()].revents | watched_[ports_.size() + 1].revents) & POLLIN) != 0;
}

void Devices::set_room(NodeId from, std::uint32_t packets) {
  Port& port = ports_[from];
  port.room = packets;
  watched_[from].events = packets > 0 ? POLLIN : 0;
  if (packets > 0 || port.pressed) return;
  port.pressed = true;
  port.lost_before = port.device.overrun();
}

void Devices::set_rate(NodeId from, double bytes_per_second) {
  const std::uint32_t largest =
      static_cast<std::uint32_t>(setup_.mtu + kEthernetBytes) + setup_.overhead;
  lab::Bucket bucket;
  bucket.bytes_per_second = bytes_per_second;
  bucket.burst = std::max(2 * largest, static_cast<std::uint32_t>(bytes_per_second * kBurst));
  bucket.limit = kWaiting * largest;
  bucket.overhead = setup_.overhead;
  const lab::Tun& device = ports_[from].device;
  const auto set = lab::set_bucket(device.route(), device.index(), bucket);
  if (set || std::exchange(warned_, true)) return;
  std::fprintf(stderr,
               "%s: programs that send more than the radio can are not held back, and their "
               "packets are dropped by the device\n",
               set.error().to_string().c_str());
}

void Devices::release(Port& port) {
  port.full += port.device.overrun() - port.lost_before;
  port.pressed = false;
}

void Devices::read(std::vector<Captured>& packets) {
  for (NodeId from = 0; from < ports_.size(); ++from) {
    if ((watched_[from].revents & POLLIN) != 0) read(from, packets);
  }
}

void Devices::read(NodeId from, std::vector<Captured>& packets) {
  Port& port = ports_[from];
  const std::uint32_t most = std::min(kTurn, port.room);
  for (std::uint32_t turn = 0; turn < most; ++turn) {
    const std::size_t size = port.device.read({packet_.get(), kLargest});
    if (size == 0) {
      if (port.pressed) release(port);
      return;
    }
    take(from, {packet_.get(), size}, packets);
  }
}

void Devices::take(NodeId from, std::span<const std::byte> frame, std::vector<Captured>& packets) {
  const Destination to = destination_of(frame, from, ports_.size(), setup_.mtu);
  switch (to.kind) {
    case Destination::Kind::robot:
    case Destination::Kind::everyone:
      packets.push_back({from, to.robot, Buffer::copy_of(frame)});
      return;
    case Destination::Kind::nobody:
      ++read_.to_nobody;
      return;
    case Destination::Kind::malformed:
      ++read_.malformed;
      return;
  }
}

Outside::Losses Devices::losses() {
  Losses all = read_;
  for (const Port& port : ports_) {
    const std::uint64_t lost = port.device.overrun();
    const std::uint64_t full = port.full + (port.pressed ? lost - port.lost_before : 0);
    all.device_full += full;
    all.overrun += lost - full;
  }
  return all;
}

}  // namespace hyphos::cosim
