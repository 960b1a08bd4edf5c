#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "node/sync/matcher.hpp"

namespace hyphos::sync {
namespace {

using Limits = std::numeric_limits<std::int64_t>;

/// Stamps come from outside, so their difference saturates.
std::int64_t between(std::int64_t from, std::int64_t to) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(to, from, &difference)) return difference;
  return to > from ? Limits::max() : Limits::min();
}

std::int64_t later(std::int64_t stamp, std::int64_t by) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(stamp, by, &sum) ? Limits::max() : sum;
}

/// The adaptive algorithm of the policy ApproximateTime of ROS's message_filters, implemented from
/// its description, https://wiki.ros.org/message_filters/ApproximateTime.
///
/// A set has one message of each channel. Its size is the interval of its stamps. The *pivot* is
/// the channel of the latest message of the first set after the previous result: every later set
/// that uses this message is a candidate, and the smallest one is the result, with a penalty for
/// age. The search examines the candidates in the order of time. It ends as soon as no later
/// message can improve the result, so that no fixed tolerance is needed. `min_spacing` allows an
/// earlier end: it bounds the stamps of messages that have not arrived.
///
/// Invariants between calls:
///  (1) While there is a pivot, the first message of each queue is the best set so far.
///  (2) The first `examined` messages of a queue are not after the sets examined so far. Without a
///      pivot, `examined` is 0.
class Approximate final : public Matcher {
 public:
  Approximate(std::size_t channels, const SyncOptions& options)
      : Matcher(channels),
        limit_(options.queue),
        max_interval_ns_(options.max_interval.ns),
        weight_(1 + options.age_penalty),
        queues_(channels) {
    for (std::size_t i = 0; i < options.min_spacing.size(); ++i) {
      queues_[i].spacing_ns = options.min_spacing[i].ns;
    }
  }

 private:
  struct Entry {
    std::int64_t stamp_ns;
    Message message;
  };
  struct Queue {
    std::deque<Entry> items;
    std::size_t examined = 0;
    std::int64_t spacing_ns = 0;
    bool has_lost = false;  // a message that could have been in a better set was dropped

    [[nodiscard]] bool exhausted() const { return examined == items.size(); }
    [[nodiscard]] std::int64_t front() const { return items[examined].stamp_ns; }
  };
  /// The earliest and the latest message of a set.
  struct Interval {
    std::size_t first = 0;
    std::size_t last = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };

  void accept(std::size_t channel, std::int64_t stamp_ns, Message message) override {
    Queue& queue = queues_[channel];
    const bool was_exhausted = queue.exhausted();
    queue.items.push_back({stamp_ns, std::move(message)});
    if (was_exhausted) search();
    if (queue.items.size() > limit_) make_room(channel);
  }

  void drop_all(Unmatched why) override {
    for (std::size_t channel = 0; channel < queues_.size(); ++channel) {
      while (!queues_[channel].items.empty()) drop_first(channel, why);
      queues_[channel].examined = 0;
      queues_[channel].has_lost = false;
    }
    pivot_.reset();
  }

  /// The best set so far may lose a message, so the search starts again.
  void make_room(std::size_t channel) {
    start_again();
    drop_first(channel, Unmatched::queue_full);
    queues_[channel].has_lost = true;
    if (!pivot_) return;
    pivot_.reset();
    search();
  }

  void search() {
    while (!any_exhausted()) {
      const Interval now = interval([](const Queue& queue) { return queue.front(); });
      // No message lost before can be in a better set than the present messages of these channels.
      for (std::size_t i = 0; i < queues_.size(); ++i) {
        if (i != now.last) queues_[i].has_lost = false;
      }
      if (!pivot_) {
        if (between(now.start_ns, now.end_ns) > max_interval_ns_) {
          drop_first(now.first, Unmatched::too_far_apart);
          continue;
        }
        if (queues_[now.last].has_lost) {
          drop_first(now.first, Unmatched::after_loss);
          continue;
        }
        pivot_ = now.last;
        pivot_ns_ = now.end_ns;
        choose(now);
      } else if (weighted(between(best_.end_ns, now.end_ns)) <
                 between(best_.start_ns, now.start_ns)) {
        choose(now);
      }
      ++queues_[now.first].examined;
      if (now.first == *pivot_ || cannot_improve(now.end_ns)) {
        publish();
      } else if (any_exhausted()) {
        search_ahead();
      }
    }
  }

  /// Examines the best sets that future messages could form, to end the search before they arrive.
  void search_ahead() {
    std::array<std::size_t, kMaxSyncChannels> moved{};
    for (;;) {
      const Interval next = interval([this](const Queue& queue) { return earliest(queue); });
      if (cannot_improve(next.end_ns)) return publish();
      if (weighted(between(best_.end_ns, next.end_ns)) < between(best_.start_ns, next.start_ns)) {
        break;  // such a set would be better
      }
      ++queues_[next.first].examined;  // not exhausted: its message is before the pivot
      ++moved[next.first];
    }
    for (std::size_t i = 0; i < queues_.size(); ++i) queues_[i].examined -= moved[i];
  }

  /// The stamp of the next message, or a lower bound of it.
  [[nodiscard]] std::int64_t earliest(const Queue& queue) const {
    if (!queue.exhausted()) return queue.front();
    return std::max(later(queue.items.back().stamp_ns, queue.spacing_ns), pivot_ns_);
  }

  /// Every later candidate contains the interval from the pivot to `end_ns`.
  [[nodiscard]] bool cannot_improve(std::int64_t end_ns) const {
    return weighted(between(best_.end_ns, end_ns)) >= between(best_.start_ns, pivot_ns_);
  }

  /// The cost of a later end. Rounded to nanoseconds, as stamps are.
  [[nodiscard]] std::int64_t weighted(std::int64_t delay_ns) const {
    const double cost = static_cast<double>(delay_ns) * weight_;
    constexpr double kMost = 9.2e18;
    if (cost >= kMost) return Limits::max();
    return cost <= -kMost ? Limits::min() : std::llround(cost);
  }

  /// Makes the first messages that are not examined the best set.
  void choose(const Interval& now) {
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      while (queues_[i].examined > 0) {
        drop_first(i, Unmatched::superseded);
        --queues_[i].examined;
      }
    }
    best_ = now;
  }

  void publish() {
    Set set;
    for (Queue& queue : queues_) {
      set.push_back(std::move(queue.items.front().message));
      queue.items.pop_front();
      queue.examined = 0;
    }
    pivot_.reset();
    emit(std::move(set));
  }

  void start_again() {
    for (Queue& queue : queues_) queue.examined = 0;
  }

  void drop_first(std::size_t channel, Unmatched why) {
    Message message = std::move(queues_[channel].items.front().message);
    queues_[channel].items.pop_front();
    lose(channel, why, std::move(message));
  }

  [[nodiscard]] bool any_exhausted() const {
    return std::ranges::any_of(queues_, [](const Queue& queue) { return queue.exhausted(); });
  }

  /// Of equal stamps, the lowest channel is the first one, and the highest the last one.
  template <typename StampOf>
  [[nodiscard]] Interval interval(const StampOf& stamp_of) const {
    Interval found{0, 0, stamp_of(queues_[0]), stamp_of(queues_[0])};
    for (std::size_t i = 1; i < queues_.size(); ++i) {
      const std::int64_t stamp = stamp_of(queues_[i]);
      if (stamp < found.start_ns) {
        found.first = i;
        found.start_ns = stamp;
      }
      if (stamp >= found.end_ns) {
        found.last = i;
        found.end_ns = stamp;
      }
    }
    return found;
  }

  const std::size_t limit_;
  const std::int64_t max_interval_ns_;
  const double weight_;
  std::vector<Queue> queues_;
  std::optional<std::size_t> pivot_;  // if set, `pivot_ns_` and `best_` are valid
  std::int64_t pivot_ns_ = 0;
  Interval best_;
};

}  // namespace

std::unique_ptr<Matcher> make_approximate(std::size_t channels, const SyncOptions& options) {
  return std::make_unique<Approximate>(channels, options);
}

}  // namespace hyphos::sync
