#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "gateway/facade/graph_facade.hpp"
#include "gateway/facade/loan_budget.hpp"
#include "gateway/net/stream.hpp"
#include "gateway/ros_tcp/command.hpp"
#include "gateway/ros_tcp/frame.hpp"
#include "gateway/ros_tcp/requests.hpp"
#include "gateway/ros_tcp/unity_services.hpp"
#include "gateway/types/limits.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::ros_tcp {

struct Settings {
  bool ros2 = false;
  std::size_t max_message = 0;  ///< bytes of a payload, in each direction
  Duration service_timeout;
  Limits limits;
  net::Stream::Options stream;
  [[nodiscard]] Form form() const { return ros2 ? Form::cdr : Form::ros1; }
};

/// One client. It lives as long as its connection. Its functions are callbacks of the stream, which
/// run one at a time.
class Session final : public std::enable_shared_from_this<Session> {
 public:
  /// `advances` must outlive it.
  static void serve(GraphFacade& facade, net::Loop& loop, net::Connection connection,
                    const Settings& settings, std::shared_ptr<UnityServices> services,
                    LoanBudget& loan_budget);
  /// Sends the reason why this client cannot be served, and closes the connection.
  static void refuse(net::Loop& loop, net::Connection connection, const Settings& settings,
                     std::string_view why);

 private:
  /// State that outlives a callback. Pool threads use it too.
  struct Line {
    GraphFacade& facade;
    Client client;
    std::shared_ptr<net::Stream> stream;
    std::size_t max_message = 0;
    Form form = Form::ros1;
    std::size_t max_calls = 0;                ///< in flight, in each direction
    std::atomic<std::size_t> calls{0};        ///< calls of the client in flight
    Requests requests = Requests(max_calls);  ///< requests to the client

    void note(std::string_view kind, std::string_view text);
    /// The same within `limit`, with the number of notes of this kind that were left out.
    void note(std::string_view kind, log::OncePerSecond& limit, std::string text);
    void send(net::Key key, std::string_view what, net::Message message);
    /// `type` is the type of the service in the graph. Empty if unknown.
    void respond(const std::string& service, const std::string& type, std::int64_t id,
                 const Result<Buffer>& reply);
    /// The reply to a failed call.
    [[nodiscard]] Buffer blank_reply(const std::string& type) const;
  };
  struct Publisher {
    std::string type;
    bool latched = false;
    std::uint32_t depth = 0;
    std::unique_ptr<ClientPublisher> publisher;
    std::uint64_t overruns = 0;  ///< overruns already reported to the client
    struct Limits {
      log::OncePerSecond failure;
      log::OncePerSecond slow;
    };
    std::unique_ptr<Limits> limits = std::make_unique<Limits>();
  };
  struct Subscriber {
    std::string type;
    std::unique_ptr<ClientSubscription> subscription;
  };
  /// Announces that the next frame is a call or a reply.
  struct Announced {
    bool call = false;
    std::int64_t id = 0;
  };

  Session(std::shared_ptr<Line> line, const Settings& settings,
          std::shared_ptr<UnityServices> services, LoanBudget& loan_budget);

  void begin();
  void take(const Buffer& unit);
  /// Memory for a large frame of `size` bytes that begins with `begin`.
  [[nodiscard]] WritableBuffer lend(std::span<const std::byte> begin, std::size_t size);
  void obey(std::string_view name, std::span<const std::byte> json);
  void publish(const Frame& frame, const Buffer& unit);
  [[nodiscard]] bool ready();
  void lost(const std::string& topic, Publisher& publisher, const Error& error);
  /// Warns the client of messages that a slow subscriber has lost.
  void warn_of_overruns(const std::string& topic, Publisher& publisher);
  /// The type of a service in the graph. Empty if ROS has no such type, or the service has no
  /// server.
  [[nodiscard]] std::string type_of_service(const std::string& service) const;
  void call(const Frame& frame, std::int64_t id);
  void answer(const Frame& frame, std::int64_t id, const Buffer& unit);
  void announce(const Announced& announced);
  void end();

  Result<std::unique_ptr<ClientPublisher>> open_publisher(const std::string& topic,
                                                          const Publisher& as);
  Result<std::unique_ptr<ClientSubscription>> open_subscription(const std::string& topic,
                                                                const std::string& type);
  /// Opens the replacement of `mine`, if there is one. `mine` ends first if only it blocks the
  /// replacement. After an error, `mine` is unchanged, or null if it could not be reopened.
  template <typename End, typename Open, typename Again>
  Result<std::unique_ptr<End>> replace(const std::string& topic, std::unique_ptr<End>* mine,
                                       Open open, Again open_again);
  void add_publisher(const Command& command);
  void add_subscriber(const Command& command);
  void add_ros_service(const Command& command);
  void add_unity_service(const Command& command);
  void remove(std::string_view kind, const std::string& name, bool was_there);
  void list_topics();

  /// Returns false, and notifies the client, if it has registered too much.
  [[nodiscard]] bool may_register(const Command& command);
  /// True if this client, with a single endpoint, is the only user of a topic.
  [[nodiscard]] bool alone_uses(const std::string& topic) const;
  void log_error(const std::string& doing, const Error& error);
  [[nodiscard]] std::string type_in_graph(const std::string& type, bool service) const;

  const std::shared_ptr<Line> line_;
  const Settings settings_;
  const std::shared_ptr<UnityServices> unity_services_;  ///< of all clients
  LoanBudget& loan_budget_;
  LoanBudget::Share share_;  ///< share of the loan budget
  std::map<std::string, Publisher, std::less<>> publishers_;
  std::map<std::string, Subscriber, std::less<>> subscribers_;
  std::map<std::string, std::string, std::less<>> ros_services_;  ///< name and type in the graph
  std::optional<Announced> announced_;
  std::string waiting_;  ///< the topic whose client publisher keeps a message
  net::Key next_key_ = 1;
  log::OncePerSecond unknown_topic_;
};

}  // namespace hyphos::gateway::ros_tcp
