#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/programs/header.hpp"

namespace hyphos::cosim {

enum class FlowKind {
  stream,         ///< messages at a fixed rate
  accelerometer,  ///< the messages of an inertial sensor
  recording,      ///< recorded messages
  file,           ///< one file, all chunks at once
  ping,           ///< requests with a reply in the instant of the read
};
enum class FlowTransport {
  plain,         ///< a message is a packet. The radio's transport applies
  acknowledged,  ///< the programs acknowledge, repeat and restore the order
};

[[nodiscard]] std::string_view to_string(FlowKind kind);
[[nodiscard]] std::string_view to_string(FlowTransport transport);

/// One message of a recording.
struct Recorded {
  Duration after{0};  ///< since the first message
  std::vector<std::byte> bytes;
};

struct FlowOptions {
  std::string name{};
  FlowKind kind = FlowKind::stream;
  FlowTransport transport = FlowTransport::plain;
  NodeId from = 0;
  NodeId to = 1;  ///< or kEveryone
  double rate_hz = 10;
  std::size_t bytes = 100;  ///< of a message with its header, or of the whole file
  std::size_t chunk_bytes = 1400;
  Time start{};
  bool drawn_phase = true;    ///< delays the first message by a random part of a period
  Duration lasts{kNever.ns};  ///< from `start`; then nothing is sent
  std::uint64_t count = 0;    ///< number of messages. 0: no limit
  std::vector<Recorded> recorded{};
};

/// The outcome of one message at one receiver.
struct Message {
  NodeId to = 0;
  std::size_t bytes = 0;
  Time sent;               ///< by the program
  Time delivered{kNever};  ///< by the network. If acknowledged: after all earlier messages
  Time read{kNever};       ///< by the receiving program. For a ping: the reply
  double distance_m = 0;   ///< at the time of the send
  double obstacles_db = 0;
  std::optional<DelayParts> parts{};  ///< from `sent` to `delivered`, if the network reports them
};

struct FlowResult {
  FlowOptions options;  ///< without the recorded messages
  std::vector<Message> messages{};
  std::uint64_t repeats = 0;  ///< repeated packets
  std::uint64_t acknowledgements = 0;
};

/// The view of a flow on an instant. Sends take the route that the traffic prescribes.
class Instant {
 public:
  Instant(Time now, std::span<const Pose> poses, const Scene& scene, Outbox& outbox,
          NodeId via = kEveryone)
      : now_(now), poses_(poses), scene_(scene), outbox_(outbox), via_(via) {}

  [[nodiscard]] Time now() const { return now_; }
  /// Writes the header over the first of `bytes`, and sends them.
  void send(const Header& header, std::vector<std::byte> bytes);
  [[nodiscard]] double distance_m(NodeId a, NodeId b) const;
  [[nodiscard]] double obstacles_db(NodeId a, NodeId b) const;

 private:
  Time now_;
  std::span<const Pose> poses_;
  const Scene& scene_;
  Outbox& outbox_;
  NodeId via_;  // kEveryone: direct
};

/// Messages from one robot to another or to everyone, and their outcomes.
class Flow {
 public:
  Flow(FlowOptions options, std::uint16_t number, std::uint32_t nodes);
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;
  virtual ~Flow() = default;

  /// Sends the messages that are due.
  virtual void step(Instant& at) = 0;
  virtual void receive(Instant& at, const Delivery& delivery, const Header& header) = 0;
  [[nodiscard]] virtual Time next_event_time() const = 0;

  [[nodiscard]] const FlowOptions& options() const { return result_.options; }
  [[nodiscard]] const FlowResult& result() const { return result_; }

 protected:
  /// A message leaves its program. Records one entry for each receiver.
  Header hand_over(const Instant& at, std::size_t bytes);
  /// Only the first copy of a message at a receiver counts.
  /// `parts` are those of its packets. The rest of the delay is added to `rest`.
  void arrived(std::uint32_t sequence, NodeId to, Time delivered, Time read,
               std::optional<DelayParts> parts, Duration DelayParts::* rest);
  [[nodiscard]] Header header(Header::Kind kind, NodeId from, NodeId to, std::uint32_t sequence,
                              Time sent) const {
    return {number_, kind, from, to, sequence, sent};
  }
  [[nodiscard]] std::uint32_t handed_over() const { return next_; }

  FlowResult result_;

 private:
  std::uint16_t number_;
  std::vector<NodeId> receivers_;
  std::uint32_t next_ = 0;
};

/// Errors: none. The scenario has validated the options.
[[nodiscard]] std::unique_ptr<Flow> make_flow(FlowOptions options, std::uint16_t number,
                                              std::uint32_t nodes, std::uint64_t seed);

}  // namespace hyphos::cosim
