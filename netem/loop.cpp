#include "netem/loop.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace hyphos::lab {
namespace {

/// Packets in flight outside the queues, for example 80 ms at 200,000 packets per second.
constexpr std::uint32_t kInFlight = 16'384;
/// Packets taken from one device before the next device is read.
constexpr int kTurn = 64;

std::uint32_t buffers_for(const Options& options) {
  const auto queues = static_cast<std::uint32_t>(2 * options.hosts.size());
  return queues * options.wired.queue.packets + kInFlight;
}

timespec span_of(Duration duration) {
  return {duration.ns / 1'000'000'000, duration.ns % 1'000'000'000};
}

void append(std::string& text, std::string_view name, std::uint64_t value) {
  text.append(1, '"').append(name).append("\":").append(std::to_string(value)).append(",");
}

}  // namespace

Loop::Loop(const Options& options, std::vector<Tun> devices)
    : options_(options),
      devices_(std::move(devices)),
      book_(options.hosts),
      buffers_(buffers_for(options)),
      // Not zeroed, so that pages without packets take no memory.
      memory_(new std::byte[std::size_t{buffers_for(options)} * options.mtu]) {
  const auto stations = static_cast<Station>(options.hosts.size());
  if (options.wifi) {
    network_ = std::make_unique<Wifi>(stations, options.air, buffers_, *this);
  } else {
    network_ = std::make_unique<Wired>(stations, options.wired, buffers_, *this);
  }
}

std::span<std::byte> Loop::bytes_of(std::uint32_t buffer) {
  return {memory_.get() + std::size_t{buffer} * options_.mtu, options_.mtu};
}

bool Loop::deliver(const Packet& packet, Station to) {
  return devices_[to].write(bytes_of(packet.buffer).first(packet.bytes));
}

void Loop::take(Station from, std::uint32_t buffer, std::size_t bytes) {
  const auto to = book_.find(bytes_of(buffer).first(bytes));
  if (to && *to != from) {
    network_->send(monotonic_now(), {buffer, static_cast<std::uint32_t>(bytes), from, *to});
    return;
  }
  buffers_.release(buffer);
  Counters& mine = network_->counters(from);
  ++mine.packets;
  ++mine.copies;
  mine.bytes += bytes;
  mine.drop(Drop::no_host);
}

void Loop::read_some(Station station) {
  for (int i = 0; i < kTurn; ++i) {
    const auto buffer = buffers_.acquire();
    if (!buffer) {
      // Read packets without a buffer as well, so that they are counted here and not delayed.
      std::byte rest[1];
      if (devices_[station].read(rest) == 0) return;
      Counters& mine = network_->counters(station);
      ++mine.packets;
      ++mine.copies;
      mine.drop(Drop::buffers);
      continue;
    }
    const std::size_t bytes = devices_[station].read(bytes_of(*buffer));
    if (bytes == 0) return buffers_.release(*buffer);
    take(station, *buffer, bytes);
  }
}

bool Loop::obey(int signals) {
  signalfd_siginfo signal{};
  if (read(signals, &signal, sizeof signal) != sizeof signal) return true;
  if (signal.ssi_signo != SIGUSR1) return false;
  std::puts(counters().c_str());
  std::fflush(stdout);
  return true;
}

Result<void> Loop::run(int signals, int parent) {
  std::vector<pollfd> watched;
  watched.reserve(devices_.size() + 2);
  for (const Tun& device : devices_) watched.push_back({device.fd(), POLLIN, 0});
  watched.push_back({signals, POLLIN, 0});
  watched.push_back({parent, POLLIN, 0});
  const pollfd& signaled = watched[devices_.size()];
  const pollfd& orphaned = watched[devices_.size() + 1];
  for (;;) {
    const Time due = network_->next();
    timespec wait{};
    if (due != kNever) {
      const Duration left = due - monotonic_now() - options_.spin;
      if (left.ns > 0) wait = span_of(left);
    }
    if (ppoll(watched.data(), watched.size(), due == kNever ? nullptr : &wait, nullptr) < 0 &&
        errno != EINTR) {
      return Error{Code::io, std::string("ppoll: ") + std::strerror(errno), "hyphos-link"};
    }
    for (Station i = 0; i < network_->stations(); ++i) {
      if ((watched[i].revents & POLLIN) != 0) read_some(i);
      if ((watched[i].revents & (POLLERR | POLLHUP)) != 0) {
        return Error{Code::disconnected, "the TUN device of this host has disappeared",
                     options_.hosts[i].name_space};
      }
    }
    network_->advance(monotonic_now());
    if ((orphaned.revents & POLLIN) != 0) return success();
    if ((signaled.revents & POLLIN) != 0 && !obey(signals)) return success();
  }
}

std::string Loop::counters() const {
  std::string text = "{";
  append(text, "inside", network_->inside());
  text += "\"hosts\":[";
  for (Station i = 0; i < network_->stations(); ++i) {
    const Counters& mine = network_->counters(i);
    text += "{\"namespace\":\"" + options_.hosts[i].name_space + "\",\"address\":\"" +
            options_.hosts[i].address + "\",";
    append(text, "packets", mine.packets);
    append(text, "bytes", mine.bytes);
    append(text, "copies", mine.copies);
    append(text, "delivered", mine.delivered);
    append(text, "received", mine.received);
    append(text, "received_bytes", mine.received_bytes);
    if (options_.wifi) {
      append(text, "attempts", mine.attempts);
      append(text, "collisions", mine.collisions);
      append(text, "airtime_ns", static_cast<std::uint64_t>(mine.airtime.ns));
    }
    // Dropped before the program received them, so not part of its packets.
    append(text, "device_overrun", devices_[i].overrun());
    text += "\"drops\":{";
    for (std::size_t why = 0; why < kDrops; ++why) {
      append(text, to_string(static_cast<Drop>(why)), mine.drops[why]);
    }
    text.back() = '}';
    text += "},";
  }
  text.back() = ']';
  return text + "}";
}

}  // namespace hyphos::lab
