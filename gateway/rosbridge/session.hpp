#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gateway/rosbridge/calls.hpp"
#include "gateway/rosbridge/context.hpp"
#include "gateway/rosbridge/fragments.hpp"
#include "gateway/rosbridge/goals.hpp"
#include "gateway/rosbridge/outbound_topic.hpp"
#include "gateway/rosbridge/publications.hpp"
#include "gateway/rosbridge/request.hpp"
#include "gateway/rosbridge/served_actions.hpp"
#include "gateway/rosbridge/served_services.hpp"

namespace hyphos::gateway::rosbridge {

/// Rosbridge v2 with one client, without its socket. Messages are passed in, and frames are sent to
/// the sink.
///
/// For use by one thread at a time. The destructor ends all activity of the client. After it
/// returns, no callback runs.
class Session {
 public:
  /// `authorized`: the client has already sent a token, which is in `client`, or needs none.
  Session(GraphFacade& facade, NodeParams& params, Client client, const Options& options,
          Sink& sink, bool authorized);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Processes a WebSocket message. It must be followed by kPadding readable bytes. `decoded` may
  /// be null, or a string of the message that was decoded while it arrived.
  void text(std::string_view json, const DecodedText* decoded = nullptr);
  void binary(std::span<const std::byte> bytes, const DecodedText* decoded = nullptr);
  /// Processes a document of BSON.
  void document(std::span<const std::byte> bytes);
  /// Memory for such a string. Empty: decoding early is not worthwhile.
  [[nodiscard]] WritableBuffer loan(std::size_t size) { return publications_.loan(size); }
  /// True if the next message may be processed.
  [[nodiscard]] bool ready() { return publications_.ready(); }
  /// Called at the time that Sink::wake_at() requested.
  void tick();
  [[nodiscard]] bool authorized() const { return authorized_; }

 private:
  /// The container in which a text arrived.
  enum class Origin : std::uint8_t { client, fragments, png };
  using Operation = Result<void> (Session::*)(const Request&);
  struct Entry {
    std::string_view op;
    Operation run;
  };
  static const Entry kEntries[];

  void handle(std::string_view json, Origin origin, const DecodedText* decoded = nullptr);
  void fragment(Request&& request, Origin origin);
  void png(Request&& request, Origin origin);
  /// Adds a piece. Returns the whole text if this was the last piece.
  std::optional<std::string> joined(Request&& piece);

  Result<void> advertise(const Request& request) { return publications_.advertise(request); }
  Result<void> unadvertise(const Request& request) { return publications_.unadvertise(request); }
  Result<void> publish(const Request& request) { return publications_.publish(request); }
  Result<void> subscribe(const Request& request);
  Result<void> unsubscribe(const Request& request);
  Result<void> call_service(const Request& request) { return calls_.call(request); }
  Result<void> advertise_service(const Request& request) {
    return served_services_.advertise(request);
  }
  Result<void> unadvertise_service(const Request& request) {
    return served_services_.unadvertise(request);
  }
  Result<void> service_response(const Request& request) {
    return served_services_.respond(request);
  }
  Result<void> send_action_goal(const Request& request) { return goals_.send(request); }
  Result<void> cancel_action_goal(const Request& request) { return goals_.cancel(request); }
  Result<void> advertise_action(const Request& request) {
    return served_actions_.advertise(request);
  }
  Result<void> unadvertise_action(const Request& request) {
    return served_actions_.unadvertise(request);
  }
  Result<void> action_feedback(const Request& request) { return served_actions_.feedback(request); }
  Result<void> action_result(const Request& request) { return served_actions_.result(request); }
  Result<void> set_level(const Request& request);
  Result<void> auth(const Request& request);

  Context context_;
  const std::shared_ptr<ContextGate> gate_;
  bool authorized_;
  RequestParser parser_;
  Fragments fragments_;
  Publications publications_;
  std::map<std::string, std::unique_ptr<OutboundTopic>>
      outbound_topics_;  // by the topic name as the client wrote it
  OutputClass next_output_class_ = kFeedbackOutput + 1;
  Calls calls_;
  ServedServices served_services_;
  Goals goals_;
  ServedActions served_actions_;
};

/// The token that a client has sent, or null. The time of the comparison reveals nothing about the
/// tokens.
[[nodiscard]] const Token* find_token(std::span<const Token> tokens, std::string_view shown);

}  // namespace hyphos::gateway::rosbridge
