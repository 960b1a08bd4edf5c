#pragma once

#include <algorithm>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include "lab/common/clock.hpp"
#include "lab/common/peer.hpp"
#include "lab/common/schedule.hpp"
#include "lab/common/sheet.hpp"

namespace hyphos::lab {

/// The work of a child process: it opens its endpoints through the peer, waits for the other
/// processes, and then acts as source, hop or sink. It does not depend on the middleware.
class Role {
 public:
  Role(const Options& o, Peer& peer)
      : o_(o),
        peer_(peer),
        sheet_(o.sheet_fd, o, false),
        schedule_(o),
        work_ns_(static_cast<std::int64_t>(o.work_us * 1e3)) {
    use_precise_timers();
    struct sigaction wake{};
    wake.sa_handler = [](int) {};  // no SA_RESTART: a blocked wait returns and checks `stopped`
    sigaction(SIGUSR1, &wake, nullptr);
  }

  void run() {
    if (o_.role == "hop") {
      run_hop();
    } else if (o_.role == "sub") {
      open_sink(o_.edges() - 1);
      listen();
    } else {
      run_source();
    }
  }

 private:
  /// A source that is this late stops, because later messages give no new information.
  static constexpr std::int64_t kGiveUp = 5'000'000'000;
  static constexpr std::int64_t kNoProgress = 4'000'000'000;
  static constexpr std::int64_t kUncappedQuiet = 500'000'000;
  /// Messages that have not arrived this long after the last send are lost. Queues may hold hours.
  static constexpr std::int64_t kLongestDrain = 20'000'000'000;
  /// The final interval between warm-up messages that are not received. 256 sources then send 512
  /// messages per second.
  static constexpr std::int64_t kWarmUpPatience = 500'000'000;

  [[nodiscard]] bool echoes() const { return o_.shape == Shape::kEcho; }

  void run_hop() {
    const int in = echoes() ? 2 * o_.index : o_.index;
    peer_.open_publisher(make_edge(o_, in + 1, 0));
    peer_.open_subscriber(make_edge(o_, in, 0), [this](const void* data, std::size_t size) {
      compute(work_ns_);
      peer_.forward(data, size);
    });
    listen();
    if (echoes()) say_bye();  // to the source, which also receives
  }

  void listen() {
    sheet_.check_in();
    peer_.spin([this] { return sheet_.phase().reached(kStopping); });
    sheet_.phase().await(kStopping);
  }

  void run_source() {
    if (o_.role == "both") open_sink(0);
    std::jthread ear;
    peer_.open_publisher(make_edge(o_, echoes() ? 2 * o_.index : 0, o_.index));
    if (echoes()) {
      open_sink(2 * o_.index + 1);
      ear = std::jthread(
          [this] { peer_.spin([this] { return sheet_.phase().reached(kStopping); }); });
    }
    sheet_.check_in();
    send_all();
    sheet_.phase().await(kStopping);
    if (o_.role == "pub") say_bye();
  }

  void open_sink(int edge) {
    peer_.open_subscriber(make_edge(o_, edge, o_.role == "sub" ? o_.index : 0),
                          [this](const void* data, std::size_t size) {
                            const std::int64_t arrived = now_ns();
                            record(data, size, arrived);
                            compute(work_ns_);
                            stall(arrived);
                          });
  }

  /// The column of a message. -1: the message does not belong to this process.
  [[nodiscard]] int flow_of(const Header& header) const {
    if (header.source >= o_.sources()) return -1;
    if (o_.shape == Shape::kFanin) return header.source;
    if (echoes()) return header.source == o_.index ? o_.index : -1;
    return o_.role == "sub" ? o_.index : 0;
  }

  void record(const void* data, std::size_t size, std::int64_t arrived) const {
    Header header;
    int flow = -1;
    if (size >= sizeof header) {
      std::memcpy(&header, data, sizeof header);
      if (!o_.in_process()) touch(static_cast<const std::byte*>(data) + size - 1);
      flow = flow_of(header);
    }
    if (flow < 0 || header.sequence >= static_cast<std::uint64_t>(o_.count) ||
        size != schedule_.size(header.sequence)) {
      sheet_.head().flows[std::max(flow, 0)].corrupt.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    Sheet::Flow& seen = sheet_.head().flows[flow];
    if (header.kind == kWarmup) {
      if (seen.warm.fetch_add(1, std::memory_order_relaxed) + 1 == o_.warmup) sheet_.tell_parent();
    } else if (header.kind == kMeasured) {
      auto& slot = sheet_.latencies(flow)[header.sequence];
      const bool again = slot != 0 && !o_.uncapped();  // uncapped runs reuse slots
      if (again) seen.duplicates.fetch_add(1, std::memory_order_relaxed);
      slot = std::max<std::int64_t>(arrived - header.stamp_ns, 1);
      seen.last_receive_ns.store(arrived, std::memory_order_relaxed);
      seen.received.fetch_add(1, std::memory_order_release);
    } else if (header.kind != kBye) {
      seen.corrupt.fetch_add(1, std::memory_order_relaxed);
    }
  }

  /// Pauses the sink for a while. The measurement must show the pause.
  void stall(std::int64_t now) {
    if (o_.stall_ms <= 0 || !sheet_.phase().reached(kMeasuring)) return;
    const auto every = static_cast<std::int64_t>(o_.stall_every_ms * 1e6);
    if (next_stall_ns_ == 0) next_stall_ns_ = now + every / 2;
    if (now < next_stall_ns_) return;
    next_stall_ns_ += every;
    sleep_until(now + static_cast<std::int64_t>(o_.stall_ms * 1e6));
  }

  /// Returns the stamp in the message.
  std::int64_t send(std::uint16_t kind, std::int64_t sequence) {
    const Header header{now_ns(), static_cast<std::uint32_t>(sequence),
                        static_cast<std::uint16_t>(o_.index), kind};
    peer_.publish(schedule_.size(sequence), [&](std::byte* out) {
      schedule_.fill(out, sequence);
      std::memcpy(out, &header, sizeof header);
    });
    return header.stamp_ns;
  }

  [[nodiscard]] Sheet::Source& source() const { return sheet_.head().sources[o_.index]; }

  void send_all() {
    sheet_.phase().await(kWarmingUp);
    warm_up();
    source().warm.store(1);
    sheet_.tell_parent();
    sheet_.phase().await(kMeasuring);
    o_.floods() ? send_back_to_back() : send_on_schedule();
    drain();
    source().done.store(1);
    sheet_.tell_parent();
  }

  /// Publishes until the subscribers of every flow of this source have received enough messages.
  /// The warm-up covers discovery, connection, page faults and caches. Each message waits until the
  /// previous one was received or appears lost. The measurement therefore starts without a backlog,
  /// even if many sources share a path with less capacity than their load. If this takes too long,
  /// one received message is enough.
  void warm_up() {
    const auto period = static_cast<std::int64_t>(std::max(schedule_.period_ns(), 1e7));
    const std::int64_t begin = now_ns() + offset(period);
    const std::int64_t limit = begin + static_cast<std::int64_t>(o_.longest_warm_up_s() * 1e9);
    std::int64_t patience = period, sent = 0, sent_ns = 0, heard = 0;
    for (std::int64_t tick = begin; heard < o_.warmup && (heard == 0 || now_ns() < limit);
         tick += period) {
      if (now_ns() > limit) throw std::runtime_error("a subscriber did not receive the warm-up");
      sleep_until(tick);
      const std::int64_t before = std::exchange(heard, lowest_warm());
      if (sent > 0 && heard == before) {
        if (now_ns() - sent_ns < patience) continue;
        patience = std::max(period, std::min(2 * patience, kWarmUpPatience));
      }
      if (heard >= o_.warmup) break;
      send(kWarmup, 0);
      sent_ns = now_ns();
      ++sent;
    }
    settle(&Sheet::Flow::warm, sent, std::max<std::int64_t>(patience, 200'000'000), limit);
  }

  /// Offsets the sources within a period, so that their messages are not simultaneous.
  [[nodiscard]] std::int64_t offset(std::int64_t period) const {
    return period * o_.index / o_.sources();
  }

  void send_on_schedule() {
    const double period = schedule_.period_ns();
    const std::int64_t begin =
        sheet_.head().first_send_ns.load() + offset(static_cast<std::int64_t>(period));
    auto costs = sheet_.costs(o_.index);
    auto lateness = sheet_.lateness(o_.index);
    for (std::int64_t i = 0; i < o_.count; ++i) {
      const std::int64_t due = begin + schedule_.due(i);
      const std::int64_t now = now_ns();
      if (now < due) sleep_until(due);
      if (now - due > kGiveUp) return;  // the missing messages show the overload
      const std::int64_t stamp = send(kMeasured, i);
      costs[static_cast<std::size_t>(i)] = std::max<std::int64_t>(now_ns() - stamp, 1);
      lateness[static_cast<std::size_t>(i)] = stamp - due;
      if (static_cast<double>(stamp - due) > period) source().late_sends.fetch_add(1);
      source().sent.fetch_add(1, std::memory_order_relaxed);
    }
  }

  /// Sends a fixed number of messages, or until the time is over. In the second case sequences
  /// restart, because the number of slots is fixed.
  void send_back_to_back() {
    auto costs = sheet_.costs(o_.index);
    const std::int64_t end = sheet_.head().first_send_ns.load() +
                             static_cast<std::int64_t>((o_.uncapped() ? o_.seconds : 1e9) * 1e9);
    const std::int64_t most = o_.uncapped() ? INT64_MAX : o_.count;
    for (std::int64_t i = 0; i < most && now_ns() < end; ++i) {
      if (o_.uncapped()) await_room();
      const std::int64_t slot = i % o_.count;
      const std::int64_t stamp = send(kMeasured, slot);
      costs[static_cast<std::size_t>(slot)] = std::max<std::int64_t>(now_ns() - stamp, 1);
      source().sent.fetch_add(1, std::memory_order_relaxed);
    }
  }

  /// Uncapped: limits the messages in flight. Otherwise an unthrottled publisher would use a whole
  /// processor for messages that are dropped. The sheet is polled, because a notification would
  /// cost the subscriber time for each message. Messages without progress are lost.
  void await_room() {
    const std::int64_t sent = source().sent.load(), most = o_.size >= (8u << 20) ? 4 : 8;
    std::int64_t seen = total(&Sheet::Flow::received), progress = now_ns();
    while (sent - given_up_ - seen >= most) {
      sleep_until(now_ns() + 50'000);
      const std::int64_t now_seen = total(&Sheet::Flow::received);
      if (now_seen != seen) progress = now_ns();
      seen = now_seen;
      if (now_ns() - progress > kUncappedQuiet) given_up_ = sent - seen;
    }
  }

  /// Messages that have not arrived after the drain count as lost. A flood loses nothing and has no
  /// time limit.
  void drain() {
    const bool waits = o_.floods() && !o_.uncapped();
    const std::int64_t limit = waits ? INT64_MAX : now_ns() + kLongestDrain;
    const std::int64_t quiet = o_.uncapped() ? kUncappedQuiet : kNoProgress;
    settle(&Sheet::Flow::received, source().sent.load(), quiet, limit);
  }

  /// Waits until each flow here has `sent` messages, until nothing has arrived for `quiet`
  /// nanoseconds, or until the limit.
  void settle(std::atomic<std::int64_t> Sheet::Flow::* field, std::int64_t sent, std::int64_t quiet,
              std::int64_t limit) {
    const std::int64_t expected = sent * flows_here();
    std::int64_t seen = total(field);
    for (std::int64_t progress = now_ns(); seen < expected && now_ns() < limit;) {
      sleep_until(now_ns() + 5'000'000);
      const std::int64_t now_seen = total(field);
      if (now_seen != seen) progress = now_ns();
      if (now_ns() - progress > quiet) return;
      seen = now_seen;
    }
  }

  /// Wakes subscribers that block in the middleware, so that they notice the end.
  void say_bye() {
    for (int i = 0; i < 3; ++i) {
      send(kBye, 0);
      sleep_until(now_ns() + 20'000'000);
    }
  }

  [[nodiscard]] int flows_here() const { return o_.sources() == 1 ? o_.flows() : 1; }
  [[nodiscard]] int first_flow() const { return o_.sources() == 1 ? 0 : o_.index; }
  [[nodiscard]] std::int64_t total(std::atomic<std::int64_t> Sheet::Flow::* field) const {
    std::int64_t sum = 0;
    for (int i = 0; i < flows_here(); ++i) {
      sum += (sheet_.head().flows[first_flow() + i].*field).load();
    }
    return sum;
  }
  [[nodiscard]] std::int64_t lowest_warm() const {
    std::int64_t lowest = o_.warmup;
    for (int i = 0; i < flows_here(); ++i) {
      lowest = std::min(lowest, sheet_.head().flows[first_flow() + i].warm.load());
    }
    return lowest;
  }

  const Options& o_;
  Peer& peer_;
  Sheet sheet_;
  std::int64_t given_up_ = 0;  // uncapped: messages no longer in flight
  Schedule schedule_;
  std::int64_t work_ns_;
  std::int64_t next_stall_ns_ = 0;
};

}  // namespace hyphos::lab
