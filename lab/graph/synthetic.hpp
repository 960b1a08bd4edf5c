#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hyphos/hyphos.hpp"
#include "hyphos/plan.hpp"
#include "lab/graph/options.hpp"
#include "lab/graph/sheet.hpp"

namespace hyphos::lab::graph {

/// One process of a plan with synthetic nodes in place of the real ones. The nodes publish messages
/// of the given size at the given rate, compute for the given time on received messages, and reply
/// to them.
class Synthetic {
 public:
  explicit Synthetic(const Options& options);
  Synthetic(const Synthetic&) = delete;
  Synthetic& operator=(const Synthetic&) = delete;
  ~Synthetic();

  /// Runs until the parent ends the run.
  void run();

 private:
  /// A channel that a node publishes.
  struct Source {
    const ChannelLoad* load;
    Publisher<Buffer> publisher;
    Sheet::Source* row;
    std::size_t size;
    double rate_hz;        ///< 0: sends replies
    double phase;          ///< start within its period, 0 to 1
    std::uint16_t number;  ///< index in the whole graph
    std::atomic<std::int64_t> heard{0};
    std::uint32_t sequence = 0;  ///< for the one thread that publishes after the warm-up
  };
  struct Header {
    std::int64_t due_ns, first_ns;  ///< of the first message of the chain
    std::int64_t stamp_ns;          ///< of this message
    std::uint32_t sequence;
    std::uint16_t source, measured;
  };
  static_assert(sizeof(Header) == 32);
  /// The subscription of a node to one channel. One callback runs at a time.
  struct Ear {
    Sheet::Flow* row;
    Sheet::Chain* chain;  ///< null if there is a reply, or without figures
    std::size_t size;
    std::int64_t work_ns;
    std::vector<Source*> answers;
    std::vector<std::uint32_t> heard;  ///< by source: the last sequence number
  };

  void open_source(const Node& node, std::size_t index);
  void open_flow(const Node& node, std::size_t index);
  void on_message(const Buffer& message, Ear& ear);
  void record(const Header& header, std::int64_t now, Ear& ear) const;
  /// Sends the first message of a chain if `cause` is null, otherwise a reply to `cause`. Returns
  /// the stamp of the message.
  std::int64_t send(Source& source, std::int64_t due_ns, bool measured,
                    const Header* cause = nullptr) const;
  void play(Source& source) const;
  void warm_up(Source& source) const;

  const Options& options_;
  Runtime runtime_;
  const Plan& plan_;
  Ends ends_;
  Sheet sheet_;
  std::vector<std::pair<std::string, std::unique_ptr<Source>>> sources_;  ///< by node
  std::vector<std::unique_ptr<Ear>> ears_;
  std::vector<Node> nodes_;
  std::vector<std::jthread> players_;
};

}  // namespace hyphos::lab::graph
