#include "cosim/emulate/devices.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hyphos::cosim {
namespace {

constexpr std::size_t kLargest = 65'536;
/// Packets taken from one device before the next device is read.
constexpr int kTurn = 32;

}  // namespace

Devices::Devices(const std::vector<lab::Host>& hosts, std::vector<lab::Tun> devices, Duration spin,
                 int signals, int parent)
    : hosts_(hosts),
      devices_(std::move(devices)),
      book_(hosts),
      spin_(spin),
      packet_(new std::byte[kLargest]) {
  for (const lab::Tun& device : devices_) watched_.push_back({device.fd(), POLLIN, 0});
  watched_.push_back({signals, POLLIN, 0});
  watched_.push_back({parent, POLLIN, 0});
}

/// Returns true if a packet or signal has arrived.
Result<bool> Devices::look(timespec timeout) {
  const int found = ::ppoll(watched_.data(), watched_.size(), &timeout, nullptr);
  if (found < 0 && errno != EINTR) {
    return Error{Code::io, std::string("ppoll: ") + std::strerror(errno), "hyphos-cosim-emulate"};
  }
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if ((watched_[i].revents & (POLLERR | POLLHUP)) != 0) {
      return Error{Code::disconnected, "the TUN device of this robot has disappeared",
                   hosts_[i].name_space};
    }
  }
  return found > 0;
}

Result<void> Devices::wait(Time until, bool exact) {
  for (;;) {
    const Duration left = until - now() - (exact ? spin_ : Duration{0});
    const std::int64_t sleep = std::max<std::int64_t>(0, left.ns);
    auto found = look({sleep / 1'000'000'000, sleep % 1'000'000'000});
    if (!found) return found.error();
    if (*found || now() >= until) return success();
  }
}

bool Devices::asked_to_end() const {
  return ((watched_[devices_.size()].revents | watched_[devices_.size() + 1].revents) & POLLIN) !=
         0;
}

void Devices::read(std::vector<Captured>& packets) {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if ((watched_[i].revents & POLLIN) == 0) continue;
    const auto from = static_cast<NodeId>(i);
    for (int turn = 0; turn < kTurn; ++turn) {
      const std::size_t size = devices_[i].read({packet_.get(), kLargest});
      if (size == 0) break;
      const std::span<const std::byte> bytes(packet_.get(), size);
      const auto station = book_.find(bytes);
      if (!station || *station == from) {
        ++to_nobody_;
        continue;
      }
      const NodeId to = *station == lab::kEveryone ? kEveryone : NodeId{*station};
      packets.push_back({from, to, Buffer::copy_of(bytes)});
    }
  }
}

std::uint64_t Devices::overrun() {
  std::uint64_t sum = 0;
  for (const lab::Tun& device : devices_) sum += device.overrun();
  return sum;
}

}  // namespace hyphos::cosim
