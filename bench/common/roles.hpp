#pragma once

#include <algorithm>
#include <csignal>
#include <memory>
#include <stdexcept>

#include "bench/common/clock.hpp"
#include "bench/common/peer.hpp"
#include "bench/common/sheet.hpp"

namespace hyphos::bench {

// What a child process does: it opens its ends through the peer, waits for the others, and then
// plays source, hop or sink. Nothing here knows which middleware it drives.
class Role {
 public:
  Role(const Options& o, Peer& peer) : o_(o), peer_(peer), sheet_(o.sheet_fd, o, false) {
    use_precise_timers();
    struct sigaction wake{};
    wake.sa_handler = [](int) {};  // no SA_RESTART: a blocked wait returns and asks `stopped`
    sigaction(SIGUSR1, &wake, nullptr);
  }

  void run() {
    if (o_.role == "pub" || o_.role == "both") {
      if (o_.role == "both") open_sink();
      peer_.open_publisher(edge(0));
      sheet_.check_in();
      send_all();
    } else {
      if (o_.role == "hop") {
        peer_.open_publisher(edge(o_.index + 1));
        peer_.open_subscriber(edge(o_.index), [this](const void* data, std::size_t size) {
          peer_.forward(data, size);
        });
      } else {
        open_sink();
      }
      sheet_.check_in();
      peer_.spin([this] { return sheet_.reached(kStopping); });
    }
    sheet_.await(kStopping);
    if (o_.role == "pub") say_bye();
  }

 private:
  [[nodiscard]] Edge edge(int index) const {
    Edge e;
    e.index = index;
    e.subscribers = o_.sinks();
    e.subscriber = o_.role == "sub" ? o_.index : 0;
    e.block = o_.floods();
    e.name = "hyphos_bench_" + std::to_string(o_.run_id) + "_" + std::to_string(index);
    e.path = o_.run_dir + "/edge" + std::to_string(index);
    e.host = o_.pub_addr;
    e.port = static_cast<std::uint16_t>(20000 + o_.run_id % 1000 * 32 + index);
    return e;
  }

  void open_sink() {
    auto& sink = sheet_.head().sinks[o_.index];
    auto latencies = sheet_.latencies(o_.index);
    peer_.open_subscriber(edge(o_.edges() - 1),
                          [this, &sink, latencies](const void* data, std::size_t size) {
                            const std::int64_t arrived = now_ns();
                            record(sink, latencies, data, size, arrived);
                          });
  }

  void record(Sheet::Sink& sink, std::span<std::int64_t> latencies, const void* data,
              std::size_t size, std::int64_t arrived) const {
    Header header;
    if (size != o_.size) {
      sink.corrupt.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    std::memcpy(&header, data, sizeof header);
    if (!o_.in_process()) touch(static_cast<const std::byte*>(data) + size - 1);
    if (header.sequence == kWarmup) {
      sink.warm.fetch_add(1, std::memory_order_relaxed);
    } else if (header.sequence >= 0 && header.sequence < o_.count) {
      auto& slot = latencies[static_cast<std::size_t>(header.sequence)];
      if (slot != 0) sink.duplicates.fetch_add(1, std::memory_order_relaxed);
      slot = std::max<std::int64_t>(arrived - header.stamp_ns, 1);
      sink.last_receive_ns.store(arrived, std::memory_order_relaxed);
      sink.received.fetch_add(1, std::memory_order_release);
    } else if (header.sequence != kBye) {
      sink.corrupt.fetch_add(1, std::memory_order_relaxed);
    }
  }

  // Returns the stamp put into the message.
  std::int64_t send(std::int64_t sequence) {
    const Header header{now_ns(), sequence};
    peer_.publish(o_.size, [&](std::byte* out) { std::memcpy(out, &header, sizeof header); });
    return header.stamp_ns;
  }

  void send_all() {
    sheet_.await(kWarmingUp);
    warm_up();
    sheet_.enter(kWarm);
    sheet_.await(kMeasuring);
    if (o_.floods()) {
      send_back_to_back();
    } else {
      send_on_schedule();
    }
    drain();
    sheet_.enter(kDrained);
  }

  // Publishes until every subscriber has heard enough: this covers discovery, connection, page
  // faults and caches alike. What is still under way when the last one is content is waited for.
  void warm_up() {
    const auto period = static_cast<std::int64_t>(1e9 / std::min(o_.rate_hz, 100.0));
    const std::int64_t begin = now_ns();
    const std::int64_t limit = begin + 30'000'000'000 + 2 * o_.warmup * period;
    for (std::int64_t tick = begin; lowest_warm() < o_.warmup; tick += period) {
      if (now_ns() > limit) throw std::runtime_error("a subscriber did not hear the warm-up");
      sleep_until(tick);
      send(kWarmup);
    }
    for (std::int64_t before = -1, seen = total(&Sheet::Sink::warm); before != seen;) {
      before = seen;
      sleep_until(now_ns() + 200'000'000);
      seen = total(&Sheet::Sink::warm);
    }
  }

  void send_on_schedule() {
    const auto period = static_cast<std::int64_t>(1e9 / o_.rate_hz);
    const std::int64_t begin = now_ns() + 20'000'000;
    sheet_.head().first_send_ns.store(begin);
    auto costs = sheet_.costs();
    auto lateness = sheet_.lateness();
    for (std::int64_t i = 0; i < o_.count; ++i) {
      const std::int64_t due = begin + i * period;
      sleep_until(due);
      const std::int64_t stamp = send(i);
      costs[static_cast<std::size_t>(i)] = now_ns() - stamp;
      lateness[static_cast<std::size_t>(i)] = stamp - due;
      if (stamp - due > period) sheet_.head().late_sends.fetch_add(1);
      sheet_.head().sent.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void send_back_to_back() {
    sheet_.head().first_send_ns.store(now_ns());
    auto costs = sheet_.costs();
    for (std::int64_t i = 0; i < o_.count; ++i) {
      const std::int64_t stamp = send(i);
      costs[static_cast<std::size_t>(i)] = now_ns() - stamp;
      sheet_.head().sent.fetch_add(1, std::memory_order_relaxed);
    }
  }

  // Until everything arrived, or nothing has for a second (lost, and counted so).
  void drain() {
    const std::int64_t expected = o_.count * o_.sinks();
    std::int64_t seen = total(&Sheet::Sink::received);
    for (std::int64_t last_progress = now_ns(); seen < expected;) {
      sleep_until(now_ns() + 5'000'000);
      const std::int64_t now_seen = total(&Sheet::Sink::received);
      if (now_seen != seen) last_progress = now_ns();
      if (now_ns() - last_progress > 1'000'000'000) return;
      seen = now_seen;
    }
  }

  // Wakes subscribers that block in the middleware, so that they see the end.
  void say_bye() {
    for (int i = 0; i < 3; ++i) {
      send(kBye);
      sleep_until(now_ns() + 20'000'000);
    }
  }

  [[nodiscard]] std::int64_t total(std::atomic<std::int64_t> Sheet::Sink::* field) const {
    std::int64_t sum = 0;
    for (int i = 0; i < o_.sinks(); ++i) sum += (sheet_.head().sinks[i].*field).load();
    return sum;
  }
  [[nodiscard]] std::int64_t lowest_warm() const {
    std::int64_t lowest = o_.warmup;
    for (int i = 0; i < o_.sinks(); ++i) {
      lowest = std::min(lowest, sheet_.head().sinks[i].warm.load());
    }
    return lowest;
  }

  const Options& o_;
  Peer& peer_;
  Sheet sheet_;
};

}  // namespace hyphos::bench
