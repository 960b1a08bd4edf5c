#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "graph/graph.hpp"
#include "graph/subscriber.hpp"
#include "hyphos/node.hpp"

namespace hyphos::graph::test {

/// Counts events. A test can wait for a number of them without sleeping.
class Arrivals {
 public:
  void add(std::int64_t value = 0) {
    const std::lock_guard lock(mutex_);
    values_.push_back(value);
    changed_.notify_all();
  }
  /// Waits until at least `count` events have arrived. Returns false after a minute, which only
  /// happens in a broken build.
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60),
                             [&] { return values_.size() >= count; });
  }
  std::vector<std::int64_t> values() {
    const std::lock_guard lock(mutex_);
    return values_;
  }
  std::size_t count() { return values().size(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> values_;
};

/// Callbacks wait at this gate until the test opens it.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    --waiting_;
  }
  void wait_for_waiting(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

/// A graph without a plan: every channel has the policy of its first endpoint.
class OneGraph {
 public:
  explicit OneGraph(int threads = 2, std::vector<std::string> transports = {})
      : registry(std::make_shared<trace::Registry>(std::span<std::byte>{}, nullptr, "test", 1)),
        graph(threads, registry, [transports](const std::string&, const Policy& wish) {
          return ChannelRules{wish, Where::both, transports};
        }) {}
  ~OneGraph() {
    for (const auto& subscriber : subscribers) subscriber->close();
    graph.stop(0);
  }

  template <typename T>
  Publisher<T> publisher(const std::string& channel, Policy policy = {},
                         Scope scope = Scope::network) {
    return Publisher<T>(
        graph.publisher(channel, type_support<T>(), policy, scope, "node").or_throw());
  }
  template <typename T, typename F>
  std::shared_ptr<Subscriber> subscribe(const std::string& channel, Mode mode, F callback,
                                        Policy policy = {}, Scope scope = Scope::network) {
    auto made = graph.subscribe(channel, type_support<T>(), policy, scope, mode, false, "node",
                                detail::typed_callback<T>(std::move(callback)));
    subscribers.push_back(std::move(made).or_throw());
    return subscribers.back();
  }

  std::shared_ptr<trace::Registry> registry;
  Graph graph;
  std::vector<std::shared_ptr<Subscriber>> subscribers;
};

inline Policy policy(Overflow overflow, std::uint32_t depth) {
  Policy p;
  p.overflow = overflow;
  p.depth = depth;
  return p;
}

inline std::uint64_t counter(Subscriber& subscriber, std::string_view name) {
  return subscriber.trace().info().counter(name);
}

}  // namespace hyphos::graph::test
