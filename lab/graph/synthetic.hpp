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

/// One process of a plan with nodes that stand in for the real ones: they publish messages of the
/// given size at the given rate, compute for the given time on what they receive, and answer it.
class Synthetic {
 public:
  explicit Synthetic(const Options& options);
  Synthetic(const Synthetic&) = delete;
  Synthetic& operator=(const Synthetic&) = delete;
  ~Synthetic();

  /// Until the parent ends the run.
  void run();

 private:
  /// A channel that a node publishes.
  struct Source {
    const ChannelLoad* load;
    Publisher<Buffer> publisher;
    Sheet::Source* row;
    std::size_t size;
    double rate_hz;        ///< 0: it answers
    double phase;          ///< where in its period it starts, 0 to 1
    std::uint16_t number;  ///< among all of the graph
    std::atomic<std::int64_t> heard{0};
    std::uint32_t sequence = 0;  ///< of the one thread that publishes it after the warm-up
  };
  struct Header {
    std::int64_t due_ns, first_ns;  ///< of the first message of the chain
    std::int64_t stamp_ns;          ///< of this one
    std::uint32_t sequence;
    std::uint16_t source, measured;
  };
  static_assert(sizeof(Header) == 32);
  /// What a node hears of one channel; one callback at a time.
  struct Ear {
    Sheet::Flow* row;
    Sheet::Chain* chain;  ///< null where it is answered, and without figures
    std::size_t size;
    std::int64_t work_ns;
    std::vector<Source*> answers;
    std::vector<std::uint32_t> heard;  ///< by source: the last sequence number
  };

  void open_source(const Node& node, std::size_t index);
  void open_flow(const Node& node, std::size_t index);
  void on_message(const Buffer& message, Ear& ear);
  void record(const Header& header, std::int64_t now, Ear& ear) const;
  /// The first of a chain where `cause` is null, else an answer to that. When it was stamped.
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
