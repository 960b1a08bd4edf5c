#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.hpp"
#include "gateway/convert/arriving_text.hpp"
#include "gateway/facade/graph_facade.hpp"
#include "gateway/facade/loan_budget.hpp"
#include "gateway/facade/protocol.hpp"
#include "gateway/net/handshake.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/net/stream.hpp"
#include "gateway/net/web_socket.hpp"
#include "gateway/rosbridge/session.hpp"
#include "gateway/rosbridge/sink.hpp"
#include "gateway/types/rules.hpp"

namespace hyphos::gateway::rosbridge {

/// The WebSocket of one client: its handshake, frames, pings, and the session inside.
///
/// A client that begins with a document of BSON instead of an HTTP request gets the other transport
/// of rosbridge: documents of BSON, one after the other, without frames and pings.
///
/// Lives as long as its stream is open. Lock order: session_mutex_ comes before all other locks.
/// Callbacks of the graph facade, which send, hold none of these locks.
class Connection final : public Sink, public std::enable_shared_from_this<Connection> {
 public:
  struct Setup {
    GraphFacade& facade;
    NodeParams& params;
    const Options& options;
    net::Loops& loops;
    Duration ping;
    const Patterns& origins;  ///< see may_enter()
    LoanBudget& loan_budget;
  };
  static std::shared_ptr<Connection> start(const Setup& setup, net::Connection connection);
  /// Sets the timeout of a TCP socket: unacknowledged data of this age ends the connection.
  static void limit_silence(int fd, Duration ping);

  Connection(const Setup& setup, const std::string& peer);

  std::size_t send(OutputClass output_class, std::uint32_t depth,
                   std::span<const Frame> unit) override;
  void close(net::CloseCode code, std::string_view why) override;
  void wake_at(std::int64_t monotonic_ns) override;
  [[nodiscard]] bool prefers_cbor() const override { return bson_; }
  [[nodiscard]] Time arrived() const override { return stream_->arrived(); }

 private:
  Result<net::Measured> measure(std::span<const std::byte> bytes);
  void unmask(net::UnitReader::Part part);
  [[nodiscard]] WritableBuffer lend(std::size_t size);
  [[nodiscard]] std::optional<DecodedText> read_early();
  void take(const Buffer& unit);
  [[nodiscard]] bool ready();
  void refuse(const Error& error);
  void closed();

  void open(std::string_view request);
  void begin_session(const Token* token);
  [[nodiscard]] Result<net::Measured> measure_document(std::span<const std::byte> bytes) const;
  [[nodiscard]] net::Message as_documents(std::span<const Frame> unit) const;
  /// The response that refuses the client. Empty if the client may connect.
  [[nodiscard]] std::string refusal_of(const net::Handshake& handshake, bool has_token) const;
  void take_frame(const Buffer& unit);
  void take_control(const net::FrameHead& head, std::span<const std::byte> payload);
  void take_message(const net::MessageJoiner::Message& message, const DecodedText* decoded);
  void send_control(net::Opcode opcode, std::span<const std::byte> payload);

  void check_entry();
  void pulse();
  void wake();

  GraphFacade& facade_;
  NodeParams& params_;
  const Options options_;
  net::Loop& loop_;
  const Duration ping_;
  const Patterns& origins_;
  LoanBudget& loan_budget_;
  const Client client_;
  std::shared_ptr<net::Stream> stream_;

  // Owned by the stream's callbacks, which run one at a time.
  net::MessageJoiner joiner_;
  net::FrameHead coming_;            // from the last measure(): head of the next frame
  bool plain_ = false;               // its payload is already unmasked
  ArrivingText arriving_;            // decodes that frame
  LoanBudget::Share share_;          // share of the loan budget for that frame
  std::atomic<bool> opened_{false};  // the handshake is complete
  std::atomic<bool> bson_{false};    // documents of BSON, set before the session begins

  Mutex session_mutex_ HYPHOS_ACQUIRED_BEFORE(timer_mutex_);
  std::unique_ptr<Session> session_ HYPHOS_GUARDED_BY(session_mutex_);

  net::Timer entry_;

  // Owned by pulse(), which runs one at a time.
  Time heard_;
  std::int64_t asked_ = 0;  // pings since then

  Mutex timer_mutex_;
  net::Timer pulse_ HYPHOS_GUARDED_BY(timer_mutex_);
  net::Timer wake_ HYPHOS_GUARDED_BY(timer_mutex_);
  std::int64_t wake_ns_ HYPHOS_GUARDED_BY(timer_mutex_) = 0;  // 0: no wake-up is scheduled
  bool closed_ HYPHOS_GUARDED_BY(timer_mutex_) = false;
};

}  // namespace hyphos::gateway::rosbridge
