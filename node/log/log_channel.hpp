#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "graph/graph.hpp"
#include "hyphos/node.hpp"
#include "node/log/log_line.hpp"

namespace hyphos {

/// Publishes the log lines of a process: the lines of its nodes, and the lines of Hyphos itself.
///
/// A thread, started by the first line, opens the channel and publishes. So no line waits for a
/// subscriber, and no line is published while its writer holds a lock. A subscriber needs a moment
/// to find a newly opened channel, so the first lines wait for that moment: a tenth of a second,
/// and up to five seconds for a subscriber on this machine that stalls.
///
/// In lock-step there is no such thread. A node's lines are published directly by the writer. The
/// lines of Hyphos depend on the machine and are not published.
///
/// Thread-safe. After stop(), lines go only to stderr.
class LogChannel final : public std::enable_shared_from_this<LogChannel>, public log::Listener {
 public:
  static constexpr std::size_t kMaxWaiting = 1024;

  struct Options {
    std::string process;
    std::string domain;
    bool lockstep = false;
    bool alone = false;  ///< no process outside can subscribe, so there is no wait
  };
  LogChannel(graph::Graph& graph, std::shared_ptr<detail::ClockCore> clock, Options options);
  LogChannel(const LogChannel&) = delete;
  LogChannel& operator=(const LogChannel&) = delete;
  ~LogChannel() override { stop(); }

  /// From now on, lines of Hyphos are published, too.
  void start();
  /// Adds a node that may log on `channel`.
  [[nodiscard]] std::shared_ptr<Logger::Impl> add(const std::string& node, std::string channel);
  /// Ends the node's log: publishes its pending lines and then no more.
  void remove(const std::shared_ptr<Logger::Impl>& node);
  void publish(const std::shared_ptr<Logger::Impl>& node, log::Line line);
  void take(log::Level level, std::string_view room, std::string_view text) override;
  /// Publishes the pending lines and ends. Idempotent.
  void stop();

  [[nodiscard]] std::int64_t now_ns() const;

 private:
  /// A line. Without a line: the end of a node. Without a node: from Hyphos.
  struct Item {
    std::shared_ptr<Logger::Impl> node;
    std::optional<log::Line> line;
  };
  bool enqueue(Item item);
  void begin() HYPHOS_REQUIRES(mutex_);
  void run();
  void handle(const Item& item);
  void send(Logger::Impl& node, const log::Line& line) HYPHOS_REQUIRES(send_mutex_);
  void await_subscribers(const Logger::Impl& node) HYPHOS_REQUIRES(send_mutex_);
  [[nodiscard]] std::size_t subscribers(const std::string& channel) const;
  void end(Logger::Impl& node);

  graph::Graph& graph_;
  const std::shared_ptr<detail::ClockCore> clock_;
  const Options options_;

  Mutex mutex_;  // leaf: no other object is called under it
  Condition changed_;
  std::deque<Item> waiting_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Logger::Impl>> nodes_ HYPHOS_GUARDED_BY(mutex_);
  std::uint64_t lost_ HYPHOS_GUARDED_BY(mutex_) = 0;
  // Until then, lines of Hyphos wait for a node to publish them.
  bool had_node_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool stopping_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool listening_ = false;
  std::thread thread_ HYPHOS_GUARDED_BY(mutex_);

  Mutex send_mutex_;  // one sender at a time: the thread, or in lock-step the writer
  bool opened_ HYPHOS_GUARDED_BY(send_mutex_) = false;
  bool refused_ HYPHOS_GUARDED_BY(send_mutex_) = false;
};

class Logger::Impl {
 public:
  Impl(std::weak_ptr<LogChannel> log, std::string node_name, std::string channel_name)
      : to(std::move(log)), node(std::move(node_name)), channel(std::move(channel_name)) {}

  /// True if a line from this source location may be written now.
  bool allow(const char* file, unsigned line, std::int64_t period_ns, std::uint64_t& left_out);

  static constexpr std::uint8_t kOfProcess = 0xFF;
  const std::weak_ptr<LogChannel> to;
  const std::string node;
  const std::string channel;
  std::atomic<std::uint8_t> level{kOfProcess};

  bool removed = false;                              // under LogChannel::mutex_
  bool ended = false;                                // under LogChannel::send_mutex_
  std::shared_ptr<detail::PublisherCore> publisher;  // under LogChannel::send_mutex_

 private:
  struct Place {
    std::int64_t next_ns = 0;
    std::uint64_t left_out = 0;
  };
  Mutex places_mutex_;
  std::map<std::pair<std::string, unsigned>, Place> places_ HYPHOS_GUARDED_BY(places_mutex_);
};

}  // namespace hyphos
