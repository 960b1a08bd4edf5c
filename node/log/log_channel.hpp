#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "graph/graph.hpp"
#include "hyphos/node.hpp"
#include "node/log/log_line.hpp"

namespace hyphos {

/// Publishes the lines of a process: those of its nodes, and those of Hyphos itself.
///
/// A thread, which begins with the first line, opens the channel and publishes, so that no line
/// waits for a listener, and none is published while its writer holds a lock. Whoever listens needs
/// a moment to find a channel that has just been opened; the first lines wait for that moment.
///
/// In lock-step there is no such thread: a node's lines are published where they are written, and
/// those of Hyphos, which depend on the machine, are not.
///
/// Thread-safe. After stop() lines go to stderr alone.
class LogChannel final : public std::enable_shared_from_this<LogChannel>, public log::Listener {
 public:
  static constexpr std::size_t kMaxWaiting = 1024;

  struct Options {
    std::string process;
    bool lockstep = false;
    bool alone = false;  ///< nobody outside can listen: there is nothing to wait for
  };
  LogChannel(graph::Graph& graph, std::shared_ptr<detail::ClockCore> clock, Options options);
  LogChannel(const LogChannel&) = delete;
  LogChannel& operator=(const LogChannel&) = delete;
  ~LogChannel() override { stop(); }

  /// From now on, lines of Hyphos are taken as well.
  void start();
  /// A node that may log on `channel`.
  [[nodiscard]] std::shared_ptr<Logger::Impl> add(const std::string& node, std::string channel);
  /// The node ends: what it has said is published, then it publishes no more.
  void remove(const std::shared_ptr<Logger::Impl>& node);
  void publish(const std::shared_ptr<Logger::Impl>& node, log::Line line);
  void take(log::Level level, std::string_view room, std::string_view text) override;
  /// Publishes what waits and ends. Idempotent.
  void stop();

  [[nodiscard]] std::int64_t now_ns() const;

 private:
  /// A line; without one, the end of a node. Without a node, of Hyphos.
  struct Item {
    std::shared_ptr<Logger::Impl> node;
    std::optional<log::Line> line;
  };
  bool enqueue(Item item);
  void begin();
  void run();
  void handle(const Item& item);
  void send(Logger::Impl& node, const log::Line& line);
  void end(Logger::Impl& node);

  graph::Graph& graph_;
  const std::shared_ptr<detail::ClockCore> clock_;
  const Options options_;

  std::mutex mutex_;  // leaf: nothing is called while it is held
  std::condition_variable changed_;
  std::deque<Item> waiting_;
  std::vector<std::shared_ptr<Logger::Impl>> nodes_;
  std::uint64_t lost_ = 0;
  bool had_node_ = false;  // until then lines of Hyphos wait for somebody to publish them
  bool stopping_ = false;
  bool listening_ = false;
  std::thread thread_;

  std::mutex send_mutex_;  // one sender at a time: the thread, or in lock-step whoever writes
  bool opened_ = false;
  bool refused_ = false;
};

class Logger::Impl {
 public:
  Impl(std::weak_ptr<LogChannel> log, std::string node_name, std::string channel_name)
      : to(std::move(log)), node(std::move(node_name)), channel(std::move(channel_name)) {}

  /// Whether a line at this place may be written now.
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
  std::mutex places_mutex_;
  std::map<std::pair<std::string, unsigned>, Place> places_;
};

}  // namespace hyphos
