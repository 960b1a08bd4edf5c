#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/node/harness.hpp"

/// Tests the rule of latched channels with generated orders of endpoint events. A subscription gets
/// the last values of each live publisher once and in order, and all later values, in every order
/// in which endpoints open and close.
namespace hyphos::test {

/// The endpoints of one channel, in any process and language. Publishers and subscriptions are
/// numbered in the order of their creation.
class LatchedEnds {
 public:
  virtual ~LatchedEnds() = default;
  virtual void open_publisher() = 0;
  virtual void publish(std::size_t publisher, std::int64_t value) = 0;
  virtual void close_publisher(std::size_t publisher) = 0;
  virtual void subscribe() = 0;
  virtual void unsubscribe(std::size_t subscription) = 0;
  virtual std::vector<std::int64_t> heard(std::size_t subscription) = 0;
  /// The number of publishers that an open subscription knows.
  virtual std::uint32_t publishers(std::size_t subscription) = 0;
  /// The number of listeners that an open publisher knows.
  virtual std::uint32_t listeners(std::size_t publisher) = 0;
};

/// Runs steps, and computes the messages that each subscription must get. 'P': a publisher opens
/// and publishes. 'O': a publisher opens. 'p': an open publisher publishes. 'X': a publisher
/// closes. 'S': a subscription opens. 'C': a subscription closes.
class LatchedModel {
 public:
  /// `one_process`: there, the last publisher's values stay until another one publishes. `depth`:
  /// the values of each publisher for a late subscription.
  LatchedModel(LatchedEnds& ends, bool one_process, std::uint64_t seed, std::size_t depth = 1)
      : ends_(ends), one_process_(one_process), random_(seed), depth_(depth) {}

  void run(const std::string& steps) {
    for (std::size_t at = 0; at < steps.size(); ++at) {
      SCOPED_TRACE("step " + std::to_string(at) + " of " + steps);
      step(steps[at]);
      settle();
      if (::testing::Test::HasFailure()) return;
    }
    SCOPED_TRACE("after " + steps);
    step('P');  // after all messages in flight
    settle();
    for (const std::size_t s : open_subscriptions_) {
      EXPECT_EQ(by_publisher(ends_.heard(s)), expected_[s]) << "subscription " << s;
    }
  }

 private:
  using Heard = std::map<std::size_t, std::vector<std::int64_t>>;  // in order, by publisher

  static Heard by_publisher(const std::vector<std::int64_t>& values) {
    Heard heard;
    for (const std::int64_t value : values) {
      heard[static_cast<std::size_t>(value / kPerPublisher)].push_back(value);
    }
    return heard;
  }

  std::size_t any(const std::vector<std::size_t>& of) { return of[random_() % of.size()]; }

  void step(char what) {
    switch (what) {
      case 'P':
      case 'O':
        ends_.open_publisher();
        living_.push_back(opened_++);
        if (what == 'P') settle(), publish(living_.back());
        break;
      case 'p':
        if (!living_.empty()) publish(any(living_));
        break;
      case 'X':
        if (!living_.empty()) close_publisher(any(living_));
        break;
      case 'S':
        ends_.subscribe();
        open_subscriptions_.push_back(expected_.size());
        expected_.emplace_back();
        expected_.back() = last_;
        break;
      default:
        if (open_subscriptions_.empty()) break;
        const std::size_t closed = any(open_subscriptions_);
        ends_.unsubscribe(closed);
        std::erase(open_subscriptions_, closed);
    }
  }

  void publish(std::size_t publisher) {
    if (left_behind_) last_.clear();
    left_behind_ = false;
    const auto value =
        static_cast<std::int64_t>(publisher) * kPerPublisher + ++published_[publisher];
    last_[publisher].push_back(value);
    if (last_[publisher].size() > depth_) last_[publisher].erase(last_[publisher].begin());
    for (const std::size_t s : open_subscriptions_) expected_[s][publisher].push_back(value);
    ends_.publish(publisher, value);
  }

  void close_publisher(std::size_t publisher) {
    ends_.close_publisher(publisher);
    std::erase(living_, publisher);
    left_behind_ = living_.empty() && one_process_;
    if (!left_behind_) last_.erase(publisher);
    if (open_subscriptions_.empty()) return;
    if (living_.empty()) {
      if (one_process_) return;
      EXPECT_TRUE(eventually([&] { return ends_.publishers(open_subscriptions_.front()) == 0; }));
    } else {
      publish(living_.front());  // after the end of the other
    }
  }

  void settle() {
    EXPECT_TRUE(eventually([&] {
      return std::ranges::all_of(living_, [&](std::size_t p) {
        return open_subscriptions_.empty() || ends_.listeners(p) > 0;
      });
    })) << "the ends do not find each other";
    for (const std::size_t s : open_subscriptions_) {
      const auto all_there = [&] {
        const Heard heard = by_publisher(ends_.heard(s));
        return std::ranges::all_of(expected_[s], [&](const auto& one) {
          const auto found = heard.find(one.first);
          return found != heard.end() && found->second.size() >= one.second.size();
        });
      };
      EXPECT_TRUE(eventually(all_there, std::chrono::seconds(20)))
          << "subscription " << s << " received " << ::testing::PrintToString(ends_.heard(s))
          << " instead of " << ::testing::PrintToString(expected_[s]);
    }
  }

  static constexpr std::int64_t kPerPublisher = 1000;
  LatchedEnds& ends_;
  const bool one_process_;
  std::mt19937_64 random_;
  const std::size_t depth_;
  std::size_t opened_ = 0;
  std::vector<std::size_t> living_;
  std::vector<std::size_t> open_subscriptions_;
  std::map<std::size_t, std::int64_t> published_;  // the number, by publisher
  Heard last_;                                     // the values that a late subscription gets
  bool left_behind_ = false;
  std::vector<Heard> expected_;
};

/// Every order of these steps, each once.
inline std::vector<std::string> orders_of(std::string steps) {
  std::vector<std::string> all;
  std::ranges::sort(steps);
  do {
    all.push_back(steps);
  } while (std::ranges::next_permutation(steps).found);
  return all;
}

inline std::string random_steps(std::uint64_t seed, std::size_t length) {
  constexpr std::string_view kSteps = "PPOpppXXSSSCC";
  std::mt19937_64 random(seed);
  std::string steps;
  while (steps.size() < length) steps += kSteps[random() % kSteps.size()];
  return steps;
}

}  // namespace hyphos::test
