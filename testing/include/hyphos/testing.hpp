#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hyphos/inspect.hpp"
#include "hyphos/node.hpp"
#include "hyphos/plan.hpp"
#include "hyphos/runtime.hpp"
#include "hyphos/sim_time.hpp"
#include "hyphos/testing/evidence.hpp"
#include "hyphos/testing/intercepted.hpp"
#include "hyphos/testing/launched.hpp"

namespace hyphos::testing {

/// Options of Robot.
struct RobotOptions {
  std::filesystem::path plan = {};  ///< empty: only the nodes that the test adds, in lock-step
  /// Plug-ins of the plan run in the test, one callback at a time, on a simulated time. False: the
  /// processes of the plan run in real time, as with `hyphos run`.
  bool lockstep = true;
  std::vector<std::string> settings = {};  ///< "channels.scan.depth=3", as `--set`
  std::vector<std::string> nodes = {};  ///< in lock-step: only these nodes of the plan. Empty: all
  /// Channels for damage() and cut(). "scan:mapper" is the link of a channel to one subscriber.
  std::vector<std::string> intercept = {};
  bool allow_exceptions = false;          ///< exceptions in callbacks do not fail the test
  bool strict = true;                     ///< real time: channels must be used as planned
  Duration tick = Duration::from_ms(10);  ///< in lock-step: the largest step of the time
  Duration ready_within = Duration::from_seconds(60);
  std::size_t keep_messages = 1000;  ///< the newest of each channel
  std::string command = "hyphos";    ///< real time: the program that runs a plan
  /// The folder for the messages, the drawing and, in real time, the logs of a failed test.
  std::filesystem::path failures = "hyphos-failures";
};

namespace detail {

/// The messages of one channel. Thread-safe.
template <typename T>
class Inbox {
 public:
  explicit Inbox(std::size_t keep) : keep_(keep) {}

  void add(const Message<T>& message) {
    {
      const std::lock_guard lock(mutex_);
      kept_.push_back(message);
      ++total_;
      if (kept_.size() > keep_) kept_.pop_front();
    }
    changed_.notify_all();
  }
  /// The next message that no call has returned before, after at most `patience`.
  std::optional<Message<T>> next(std::chrono::nanoseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return cursor_ < total_; });
    if (cursor_ >= total_) return std::nullopt;
    const std::size_t first = total_ - kept_.size();
    cursor_ = std::max(cursor_, first);
    return kept_[cursor_++ - first];
  }
  [[nodiscard]] std::vector<Message<T>> all() const {
    const std::lock_guard lock(mutex_);
    return {kept_.begin(), kept_.end()};
  }
  [[nodiscard]] std::size_t total() const {
    const std::lock_guard lock(mutex_);
    return total_;
  }

 private:
  const std::size_t keep_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message<T>> kept_;
  std::size_t total_ = 0;   // also those that are not kept any more
  std::size_t cursor_ = 0;  // number of the next message to return
};

template <typename T>
std::string text_of(const T& value) {
  if constexpr (requires { value.ShortDebugString(); }) {
    return "{" + value.ShortDebugString() + "}";
  } else {
    return ::testing::PrintToString(value);
  }
}

inline std::string text_of_seconds(Duration span) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%g s", span.seconds());
  return text.data();
}

}  // namespace detail

/// A robot in a domain of its own, for one test of GoogleTest.
///
///     hyphos::testing::Robot robot({.plan = "robot.yaml"});
///     const auto stop = robot.expect<Bool>("stop", [](const Bool& m) { return m.data(); });
///     ASSERT_TRUE(stop);
///
/// A failed expectation is a failure of the test that continues it, as EXPECT_TRUE does. The
/// destructor fails the test if an exception left a callback, or in real time if a process failed
/// or a channel was used otherwise than planned. Messages of a channel are kept from the first call
/// that names the channel: watch(), expect() or messages(). Use it in one thread. The constructor
/// throws hyphos::Exception.
class Robot {
 public:
  explicit Robot(RobotOptions options = {}) : options_(std::move(options)) {
    options_.lockstep ? open_in_lockstep() : open_in_real_time();
  }
  Robot(const Robot&) = delete;
  Robot& operator=(const Robot&) = delete;
  ~Robot() { finish(); }

  /// In lock-step: constructs a node of the test's own, `N(node)`.
  template <typename N>
  N& add(const std::string& name) {
    const Node node = runtime_->node(name).or_throw();
    auto made = std::make_shared<std::optional<N>>();
    settle([&] { made->emplace(node); });
    nodes_.push_back(node);
    made_.push_back(made);
    connect_relays();
    return **made;
  }

  /// Keeps the messages of a channel from now on. In real time, waits until the test is connected
  /// to its publishers.
  template <typename T>
  void watch(const std::string& channel) {
    (void)inbox<T>(channel);
  }
  /// Waits for a message for which `predicate(message)` is true, for at most `within` of the
  /// robot's time. Each message is looked at once: the next call begins after the returned message.
  /// Fails the test and returns an empty message if none comes.
  template <typename T, typename P>
    requires std::predicate<P&, const T&>
  Message<T> expect(const std::string& channel, P predicate,
                    Duration within = Duration::from_seconds(5)) {
    std::size_t looked = 0;
    std::string last;
    Message<T> found = search<T>(channel, predicate, within, looked, last);
    if (!found) {
      ADD_FAILURE() << (looked == 0 ? "no message"
                                    : "none of " + std::to_string(looked) + " messages")
                    << " on '" << channel << "' within " << detail::text_of_seconds(within)
                    << (looked == 0 ? ends_text(channel)
                                    : " is the expected one, the last is " + last);
    }
    return found;
  }
  template <typename T>
  Message<T> expect(const std::string& channel, Duration within = Duration::from_seconds(5)) {
    return expect<T>(channel, [](const T&) { return true; }, within);
  }
  /// Waits for `during`, and fails the test on a message for which `predicate` is true.
  template <typename T, typename P>
    requires std::predicate<P&, const T&>
  void expect_none(const std::string& channel, P predicate,
                   Duration during = Duration::from_seconds(1)) {
    std::size_t looked = 0;
    std::string last;
    if (search<T>(channel, predicate, during, looked, last)) {
      ADD_FAILURE() << "a message on '" << channel << "' that must not come: " << last;
    }
  }
  /// The kept messages, the oldest first.
  template <typename T>
  std::vector<Message<T>> messages(const std::string& channel) {
    return inbox<T>(channel).all();
  }

  /// Publishes a message to the robot. In real time, waits until each subscriber is connected.
  template <typename T>
  void publish(const std::string& channel, T value, Duration within = Duration::from_seconds(5)) {
    const Publisher<T> publisher = publisher_of<T>(channel);
    if (!wait([&] { return all_connected(channel, publisher.listeners()); }, within)) {
      ADD_FAILURE() << "no subscriber of '" << channel << "' within "
                    << detail::text_of_seconds(within);
      return;
    }
    Published published;
    settle([&] { published = publisher.publish(std::move(value)); });
    EXPECT_TRUE(published) << "the message on '" << channel << "' was not delivered";
  }

  /// In lock-step: advances the time, and runs all timers and callbacks up to then.
  void step(Duration span) {
    (void)wait([] { return false; }, span);
  }
  /// In lock-step: the time since the start.
  [[nodiscard]] Duration elapsed() const { return time_->now() - kStart; }

  /// Changes all further messages of an intercepted channel, or with `to` of its link to one
  /// subscriber. `fault` returns the message to pass on, or nothing to lose it.
  template <typename T>
  void damage(const std::string& channel, std::function<std::optional<T>(const T&)> fault,
              const std::string& to = "") {
    detail::Relay& at = relay(channel, to);
    const Publisher<T> changed =
        node_->publisher<T>(detail::Interception{"", channel, to}.target());
    at.set([fault = std::move(fault), changed](const Message<RawMessage>& message) {
      const void* value = message.block()->value(type_support<T>());
      if (value == nullptr) return;  // corrupt bytes, which the subscribers would refuse
      if (auto made = fault(*static_cast<const T*>(value))) changed.publish(std::move(*made));
    });
  }
  /// Loses all further messages of an intercepted channel. With `to`, only this subscriber loses
  /// them.
  void cut(const std::string& channel, const std::string& to = "") {
    relay(channel, to).set([](const Message<RawMessage>&) {});
  }
  /// Ends the fault of a channel or link.
  void repair(const std::string& channel, const std::string& to = "") {
    relay(channel, to).set({});
  }
  /// In real time: kills a process of the plan with SIGKILL. Its `restart` then decides.
  void kill(const std::string& process) { launched_->kill(process); }

  /// The node of the test, for services, actions and timers.
  [[nodiscard]] const Node& node() const { return *node_; }
  [[nodiscard]] const std::string& domain() const { return domain_; }

 private:
  static constexpr Time kStart{1'000'000'000};  // a stamp of 0 often means "no stamp"
  static constexpr Duration kLook = Duration::from_ms(20);

  void open_in_lockstep() {
    RuntimeOptions how;
    how.plan_file = options_.plan;
    how.overrides = settings();
    how.lockstep = true;
    how.lockstep_nodes = options_.nodes;
    how.clock = ClockMode::sim;
    runtime_ = Runtime::open(std::move(how)).or_throw();
    node_ = runtime_->node("test").or_throw();
    SimTimeOptions time;
    time.start = kStart;
    time.manual = true;
    time_ = SimTime::open(*node_, time).or_throw();
    // In the pool, so that messages of constructors are in order, too.
    if (!options_.plan.empty()) settle([this] { runtime_->load_plugins().or_throw(); });
    connect_relays();
  }

  void open_in_real_time() {
    static std::atomic<int> number{0};
    domain_ = "gtest" + std::to_string(::getpid()) + "-" + std::to_string(number++);
    folder_ = std::filesystem::temp_directory_path() / ("hyphos-" + domain_);
    std::filesystem::create_directories(folder_);
    RuntimeOptions how;
    how.process = "test";
    how.domain = domain_;
    runtime_ = Runtime::open(std::move(how)).or_throw();
    node_ = runtime_->node("test").or_throw();
    runtime_->ready();
    launched_ = std::make_unique<detail::Launched>(options_.command, options_.plan, settings(),
                                                   domain_, folder_, options_.strict);
    if (!wait([this] { return launched_->ready(); }, options_.ready_within)) {
      ADD_FAILURE() << "the robot is not ready within "
                    << detail::text_of_seconds(options_.ready_within);
    }
    connect_relays();
  }

  [[nodiscard]] std::vector<std::string> settings() {
    std::vector<std::string> all = options_.settings;
    if (options_.intercept.empty()) return all;
    const Plan plan = load_plan(options_.plan, {options_.settings}).or_throw();
    std::map<std::string, std::vector<std::string>> others;
    for (const std::string& name : options_.intercept) {
      const detail::Interception one = detail::interception(plan, name);
      const ChannelPlan* channel = plan.channel(one.channel);
      if (channel != nullptr && channel->subscribers) {
        others.emplace(one.channel, *channel->subscribers);
      }
      detail::intercept(plan, one, others[one.channel], all);
      interceptions_.push_back(one);
    }
    return all;
  }

  /// The endpoints of the robot's nodes.
  [[nodiscard]] std::vector<EndpointInfo> ends() const {
    std::vector<EndpointInfo> found;
    if (options_.lockstep) {
      found = runtime_->endpoints();
    } else if (const auto processes = inspect(domain_)) {
      for (const ProcessInfo& one : *processes) {
        found.insert(found.end(), one.endpoints.begin(), one.endpoints.end());
      }
    }
    std::erase_if(found, [](const EndpointInfo& end) { return end.node == "test"; });
    return found;
  }

  /// The number of receivers of a publisher of the test: in lock-step subscriptions, in real time
  /// processes, because the subscriptions of one process are one connection.
  [[nodiscard]] std::ptrdiff_t receivers(const std::string& channel) const {
    const auto subscribes = [&](const EndpointInfo& end) {
      return end.channel == channel && !end.is_publisher && end.node != "test";
    };
    if (options_.lockstep) return std::ranges::count_if(runtime_->endpoints(), subscribes);
    const auto processes = inspect(domain_);
    if (!processes) return 0;
    return std::ranges::count_if(*processes, [&](const ProcessInfo& one) {
      return std::ranges::any_of(one.endpoints, subscribes);
    });
  }

  /// Connects the intercepted channels and links whose endpoints exist now. An endpoint of a node
  /// decides the type: the publisher of a channel, the subscriber of a link.
  void connect_relays() {
    if (relays_.size() == interceptions_.size()) return;
    const auto there = ends();
    for (const detail::Interception& one : interceptions_) {
      const bool is_link = !one.subscriber.empty();
      const std::string known = is_link ? one.target() : one.source();
      const auto end = std::ranges::find_if(there, [&](const EndpointInfo& info) {
        return info.channel == known && info.is_publisher != is_link;
      });
      if (relays_.contains(one.name) || end == there.end()) continue;
      const TypeId type{end->type_name, end->encoding, end->type_hash};
      PublisherOptions as_planned;
      as_planned.policy = end->policy;
      auto made = std::make_shared<detail::Relay>(
          node_->raw_publisher(one.target(), type, as_planned).or_throw());
      node_
          ->raw_subscribe(one.source(), type, subscription(),
                          [made](const Message<RawMessage>& message) { made->pass(message); })
          .or_throw();
      relays_[one.name] = std::move(made);
    }
  }
  /// True if the intercepted links of a channel reach their subscribers.
  [[nodiscard]] bool links_connected(const std::string& channel) {
    connect_relays();
    return std::ranges::all_of(interceptions_, [&](const detail::Interception& one) {
      if (one.channel != channel || one.subscriber.empty()) return true;
      const auto found = relays_.find(one.name);
      return found != relays_.end() && found->second->listeners() > 0;
    });
  }
  /// True if a publisher of the test with this many listeners reaches all subscribers of the robot.
  [[nodiscard]] bool all_connected(const std::string& channel, std::uint32_t listeners) {
    if (!links_connected(channel)) return false;
    const auto robots = receivers(channel);
    const auto links = std::ranges::count_if(interceptions_, [&](const detail::Interception& one) {
      return one.channel == channel && !one.subscriber.empty();
    });
    const auto own = links + (inboxes_.contains(channel) ? 1 : 0);
    return robots + links > 0 && std::cmp_greater_equal(listeners, robots + own);
  }
  detail::Relay& relay(const std::string& channel, const std::string& to) {
    connect_relays();
    const std::string name = to.empty() ? channel : channel + ":" + to;
    const auto found = relays_.find(name);
    if (found == relays_.end()) {
      Result<void>(Error{Code::invalid_config,
                         "'" + name +
                             "' is not intercepted, or has no endpoint: name it in "
                             "RobotOptions::intercept",
                         channel})
          .or_throw();
    }
    return *found->second;
  }

  [[nodiscard]] SubscriptionOptions subscription() const {
    SubscriptionOptions how;
    how.mode = Mode::inline_;  // no queue of the test loses a message
    // Best effort, because a test must not block the robot.
    if (!options_.lockstep) how.policy = Policy{.depth = 2048};
    return how;
  }

  /// In real time: waits until the test is connected to the robot's publishers of a channel, at
  /// most 5 s. The test never connects to a publisher with local scope.
  void wait_for_publishers(const std::string& channel, const Subscription& mine) {
    if (options_.lockstep) return;
    const auto publishes = [&](const EndpointInfo& end) {
      return end.channel == channel && end.is_publisher && end.node != "test";
    };
    const auto all = [&] {
      const auto there = inspect(domain_);
      if (!there) return false;
      std::uint32_t connections = 0;  // the publishers of one process are one connection
      for (const ProcessInfo& one : *there) {
        if (std::ranges::none_of(one.endpoints, publishes)) continue;
        ++connections;
        // The test finds a publisher before the publisher finds the test.
        const bool has_found = std::ranges::any_of(one.endpoints, [&](const EndpointInfo& end) {
          return publishes(end) && end.transports.find("shm") != std::string::npos;
        });
        if (!has_found) return false;
      }
      return mine.publishers() >= connections;
    };
    (void)wait(all, Duration::from_seconds(5));
  }

  template <typename T>
  detail::Inbox<T>& inbox(const std::string& channel) {
    std::shared_ptr<void>& place = inboxes_[channel];
    if (!place) {
      auto made = std::make_shared<detail::Inbox<T>>(options_.keep_messages);
      place = made;
      texts_[channel] = [made] {
        std::string text;
        for (const Message<T>& one : made->all()) {
          text += std::to_string(one.sequence()) + " " + detail::text_of<T>(*one) + "\n";
        }
        return text;
      };
      const Subscription mine = node_->subscribe<T>(
          channel, subscription(), [made](const Message<T>& message) { made->add(message); });
      wait_for_publishers(channel, mine);
    }
    return *static_cast<detail::Inbox<T>*>(place.get());
  }

  template <typename T>
  Publisher<T> publisher_of(const std::string& channel) {
    std::shared_ptr<void>& place = publishers_[channel];
    if (!place) place = std::make_shared<Publisher<T>>(node_->publisher<T>(channel));
    return *static_cast<Publisher<T>*>(place.get());
  }

  template <typename T, typename P>
  Message<T> search(const std::string& channel, P& predicate, Duration within, std::size_t& looked,
                    std::string& last) {
    detail::Inbox<T>& from = inbox<T>(channel);
    Message<T> found;
    const auto look = [&] {
      const auto patience = std::chrono::nanoseconds(options_.lockstep ? 0 : kLook.ns);
      while (auto next = from.next(patience)) {
        ++looked;
        last = detail::text_of<T>(**next);
        if (predicate(**next)) {
          found = *next;
          return true;
        }
      }
      return false;
    };
    (void)wait(look, within);
    return found;
  }

  /// Waits on the robot's clock. Ends early if the robot has failed.
  template <typename C>
  bool wait(const C& condition, Duration within) {
    const Time until = now() + within;
    while (!condition()) {
      if (failed() || now() >= until) return false;
      if (options_.lockstep) {
        advance(until);
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
    return true;
  }
  [[nodiscard]] Time now() const { return options_.lockstep ? time_->now() : monotonic_now(); }

  /// Advances to the next timer, or by a tick, so that each timer runs at its exact time.
  void advance(Time until) {
    const Time now = time_->now();
    Duration span = std::min(options_.tick, until - now);
    const auto due = runtime_->next_timer();
    if (due && *due > now) span = std::min(span, *due - now);
    settle([&] { time_->advance(span); });
  }
  void settle(const std::function<void()>& work) {
    options_.lockstep ? runtime_->settle(work) : work();
  }

  bool failed() {
    if (reported_) return true;
    std::string words;
    if (!options_.allow_exceptions) {
      const CallbackErrors errors = runtime_->callback_errors();
      if (errors.count > 0) words = errors.first;
    }
    if (launched_ && words.empty()) words = launched_->failure();
    if (words.empty()) return false;
    reported_ = true;
    ADD_FAILURE() << words;
    return true;
  }

  [[nodiscard]] std::string ends_text(const std::string& channel) const {
    std::string names;
    for (const EndpointInfo& end : ends()) {
      if (end.channel == channel && end.is_publisher) return ": " + end.node + " published nothing";
      if (end.is_publisher) names += (names.empty() ? "" : ", ") + end.channel;
    }
    return ", which has no publisher. The robot publishes " + (names.empty() ? "nothing" : names);
  }

  void finish() {
    (void)failed();
    const auto drawn = ends();  // they end with their processes
    if (launched_) {
      const std::string findings = launched_->stop();
      if (!findings.empty() && !reported_) ADD_FAILURE() << findings;
    }
    keep(drawn);
    for (const Node& node : nodes_) node.close();
    made_.clear();
    time_.reset();
    if (node_) node_->close();
  }
  /// Keeps the evidence of a failed test: the messages, a drawing and the logs.
  void keep(const std::vector<EndpointInfo>& drawn) {
    std::error_code ignored;
    if (reported_ || ::testing::Test::HasFailure()) {
      const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
      const std::string name =
          test == nullptr ? "test" : std::string(test->test_suite_name()) + "." + test->name();
      const auto kept = options_.failures / name;
      std::filesystem::remove_all(kept, ignored);
      std::filesystem::create_directories(kept, ignored);
      if (!folder_.empty()) {
        const auto how = std::filesystem::copy_options::recursive;
        std::filesystem::copy(folder_, kept, how, ignored);
      }
      detail::draw(drawn, kept / "graph.dot");
      std::ofstream messages(kept / "messages.txt");
      for (const auto& [channel, text] : texts_) messages << channel << "\n" << text() << "\n";
      std::printf("hyphos: %smessages and drawing of the robot are in %s\n",
                  folder_.empty() ? "" : "logs, ", kept.c_str());
    }
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  const RobotOptions options_;
  std::string domain_;
  std::filesystem::path folder_;  // real time: logs
  std::optional<Runtime> runtime_;
  std::optional<Node> node_;
  std::optional<SimTime> time_;
  std::unique_ptr<detail::Launched> launched_;
  std::vector<Node> nodes_;
  std::vector<std::shared_ptr<void>> made_;
  std::map<std::string, std::shared_ptr<void>> inboxes_;
  std::map<std::string, std::shared_ptr<void>> publishers_;
  std::vector<detail::Interception> interceptions_;
  std::map<std::string, std::shared_ptr<detail::Relay>> relays_;  // by name
  std::map<std::string, std::function<std::string()>> texts_;     // of the messages, by channel
  bool reported_ = false;
};

}  // namespace hyphos::testing
