#include "gateway/ros1/tcpros_server.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/mutex.hpp"
#include "gateway/net/listener.hpp"
#include "gateway/net/stream.hpp"
#include "gateway/ros1/frame.hpp"
#include "gateway/ros1/header.hpp"
#include "gateway/ros1/rosout.hpp"

namespace hyphos::gateway::ros1 {
namespace {

/// Timeout for a client that has not sent its header.
constexpr Duration kHandshakePatience = Duration::from_seconds(10);
/// Delay before the server closes a connection for a single call that the client left open. A
/// roscpp client starts to read only after it has written its request. If the connection closed
/// together with the reply, the close could arrive first, and the call would fail.
constexpr Duration kGrace = Duration::from_seconds(1);
/// Maximum number of waiting requests of one client.
constexpr std::size_t kMaxRequests = 64;
/// A node has one connection per topic.
constexpr std::size_t kConnectionsPerClient = 32;

}  // namespace

class Incoming;

// The tables that connections read. The gateway's own thread changes them.
class TcprosServer::Shared {
 public:
  explicit Shared(Context its_place) : context(std::move(its_place)) {}

  [[nodiscard]] std::optional<Topic> topic(std::string_view name) {
    const MutexLock lock(mutex);
    const auto found = topics.find(name);
    return found == topics.end() ? std::nullopt : std::optional(found->second);
  }

  const Context context;
  std::unique_ptr<net::Listener> listener;

  Mutex mutex;
  std::map<std::string, Topic, std::less<>> topics HYPHOS_GUARDED_BY(mutex);
  std::map<std::string, ServiceTypeInfo, std::less<>> services HYPHOS_GUARDED_BY(mutex);
  std::map<std::int32_t, std::weak_ptr<Incoming>> connections HYPHOS_GUARDED_BY(mutex);
  std::int32_t last_id HYPHOS_GUARDED_BY(mutex) = 0;
};

// One incoming connection: a header, then nothing from a subscriber, or requests from a client.
class Incoming final : public std::enable_shared_from_this<Incoming> {
 public:
  using Shared = TcprosServer::Shared;

  Incoming(std::shared_ptr<Shared> shared, net::Connection connection, std::int32_t id)
      : shared_(std::move(shared)),
        id_(id),
        loop_(shared_->context.loops.next()),
        stream_(net::Stream::open(loop_, std::move(connection),
                                  {.queue = {.depth = shared_->context.options.queue_depth,
                                             .bytes = shared_->context.options.queue_bytes}})) {}

  void start() {
    patience_ = loop_.after(kHandshakePatience, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && self->phase_ == Phase::header) self->stream_->close();
    });
    stream_->start(
        {.measure = [self = shared_from_this()](auto bytes) { return self->measure(bytes); },
         .unit = [self = shared_from_this()](const Buffer& unit) { self->take(unit); },
         .refused = [self = shared_from_this()](
                        const Error& error) { self->refuse("too_large", error.message); },
         .closed = [self = shared_from_this()] { self->closed(); }});
  }

  void close() { stream_->close(); }
  [[nodiscard]] bool has_topic(const std::string& topic) const {
    return phase_ == Phase::subscriber && name_ == topic;
  }
  [[nodiscard]] bool has_service(const std::string& service) const {
    return phase_ == Phase::client && name_ == service;
  }
  [[nodiscard]] std::optional<ConnectionInfo> info() const {
    if (phase_ != Phase::subscriber) return std::nullopt;
    ConnectionInfo info;
    info.id = id_;
    info.topic = name_;
    info.peer = client_.name;
    info.address = stream_->peer();
    info.connected = greeted_ && stream_->is_open();
    info.messages = traffic_->messages;
    info.bytes = traffic_->bytes;
    info.dropped = traffic_->dropped;
    return info;
  }

 private:
  // name_ and client_ are written before phase_ changes, and read only after that.
  enum class Phase : std::uint8_t { header, subscriber, client };

  Result<net::Measured> measure(std::span<const std::byte> bytes) const {
    const std::size_t most =
        phase_ == Phase::header ? kMaxHeader : shared_->context.options.max_message;
    return measure_frame(bytes, most);
  }

  void take(const Buffer& unit) {
    switch (phase_.load()) {
      case Phase::header:
        return open(unit.bytes().subspan(4));
      case Phase::subscriber:
        return;  // a subscriber sends no data
      case Phase::client:
        return request(unit);
    }
  }

  void open(std::span<const std::byte> bytes) {
    patience_ = {};
    const Result<Header> header = parse_header(bytes);
    if (!header) return refuse("corrupt", header.error().message);
    client_ = {std::string(field(*header, "callerid")), shared_->context.group};
    if (client_.name.empty()) client_.name = stream_->peer();
    if (header->contains("service")) return open_service(*header);
    if (header->contains("topic")) return open_topic(*header);
    refuse("corrupt", "the header has neither topic nor service");
  }

  void open_topic(const Header& header) {
    name_ = field(header, "topic");
    const auto topic = shared_->topic(name_);
    if (!topic) return refuse("unknown", shared_->context.node + " does not publish " + name_);
    const TypeInfo* const type = &topic->type;
    const std::string wrong = mismatch(header, type->name, type->md5);
    if (!wrong.empty()) return refuse("type_mismatch", name_ + ": " + wrong);
    phase_ = Phase::subscriber;
    if (!is_offered(&Shared::topics)) return stream_->close();
    const bool log = is_rosout(name_, type->name);
    const auto greet = greeting(*topic);
    auto send = [greet, stream = stream_, traffic = traffic_, &facade = shared_->context.facade,
                 client = client_, name = name_](const EncodedMessage& body) {
      greet();
      const std::size_t dropped = stream->send(0, frame(body));
      traffic->add(body.size());
      if (dropped == 0) return;
      traffic->dropped.fetch_add(dropped, std::memory_order_relaxed);
      for (std::size_t at = 0; at < dropped; ++at) facade.clients().count(client, "queue", name);
    };
    auto subscription = shared_->context.facade.topics().open_subscription(
        client_, log ? std::string(kLogTopic) : name_, log ? std::string(kLogType) : type->name,
        Form::ros1, {.depth = shared_->context.options.queue_depth},
        [send = std::move(send), &facade = shared_->context.facade, client = client_, name = name_,
         log, most = shared_->context.options.max_message](const OutgoingMessage& outgoing) {
          if (outgoing.bytes.size() > most)
            return facade.clients().count(client, "too_large", name);
          if (!log) return send(outgoing.bytes);
          const auto line = line_to_ros1(outgoing.bytes.joined().bytes());
          if (!line) return facade.clients().count(client, "corrupt", line.error().to_string());
          send(*line);
        });
    if (!subscription) {
      return refuse(to_string(subscription.error().code), subscription.error().message);
    }
    subscription_ = std::move(*subscription);
    greet();
    greeted_ = true;
  }

  /// Sends the header once, before the first message. A subscriber with the header counts as
  /// connected: a client of actionlib then sends its goals. So the header is sent only after the
  /// graph has the subscription.
  std::function<void()> greeting(const TcprosServer::Topic& topic) {
    Buffer header = Buffer::adopt(write_header({{"callerid", shared_->context.node},
                                                {"latching", topic.latched ? "1" : "0"},
                                                {"md5sum", topic.type.md5},
                                                {"message_definition", topic.type.text},
                                                {"topic", name_},
                                                {"type", topic.type.name}}));
    return
        [stream = stream_, header = std::move(header), once = std::make_shared<std::once_flag>()] {
          std::call_once(*once, [&] { stream->send(net::kControl, net::Message(header)); });
        };
  }

  void open_service(const Header& header) {
    name_ = field(header, "service");
    std::optional<ServiceTypeInfo> type;
    {
      const MutexLock lock(shared_->mutex);
      const auto found = shared_->services.find(name_);
      if (found != shared_->services.end()) type = found->second;
    }
    if (!type) return refuse("unknown", shared_->context.node + " does not serve " + name_);
    const std::string wrong = mismatch(header, type->name, type->md5);
    if (!wrong.empty()) return refuse("type_mismatch", name_ + ": " + wrong);
    service_type_ = type->name;
    persistent_ = is_set(header, "persistent");
    stream_->send(net::kControl,
                  net::Message(Buffer::adopt(write_header({{"callerid", shared_->context.node},
                                                           {"md5sum", type->md5},
                                                           {"request_type", type->request},
                                                           {"response_type", type->reply},
                                                           {"type", type->name}}))));
    phase_ = Phase::client;
    if (!is_offered(&Shared::services)) stream_->close();
  }

  // The thread that withdraws a name closes the connections that have a phase by then. This check
  // covers the others.
  template <typename Table>
  [[nodiscard]] bool is_offered(Table Shared::* table) const {
    const MutexLock lock(shared_->mutex);
    return (shared_.get()->*table).contains(name_);
  }

  void request(const Buffer& unit) {
    {
      const MutexLock lock(mutex_);
      if (requests_.size() >= kMaxRequests) {
        return refuse(
            "overloaded",
            name_ + ": too many requests wait for a reply. Wait for replies before sending more");
      }
      requests_.push_back(unit);
      if (std::exchange(asking_, true)) return;
    }
    ask();
  }

  // Replies are sent in the order of the requests, so the calls run one after another.
  void ask() {
    Buffer next;
    {
      const MutexLock lock(mutex_);
      if (requests_.empty() || !stream_->is_open()) {
        asking_ = false;
        return;
      }
      next = std::move(requests_.front());
      requests_.pop_front();
    }
    traffic_->add(next.size());
    const Context& context = shared_->context;
    context.facade.services().call(client_, name_, service_type_, Form::ros1,
                                   next.bytes().subspan(4), context.call_timeout,
                                   [self = shared_from_this(), next](Result<Buffer> answer) {
                                     self->answer(std::move(answer));
                                   });
  }

  void answer(Result<Buffer> answer) {
    const bool fits = answer && answer->size() <= shared_->context.options.max_message;
    if (answer && !fits) {
      answer = Error{Code::overloaded,
                     "the reply has " + std::to_string(answer->size()) +
                         " bytes, more than the limit. Raise --max-message",
                     name_};
    }
    if (!answer) shared_->context.facade.clients().count(client_, "call", answer.error().message);
    stream_->send(
        net::kControl,
        fits ? reply_frame(true, std::move(*answer))
             : reply_frame(false, Buffer::copy_of(std::string_view(answer.error().to_string()))));
    if (!persistent_) return finish_soon();
    ask();  // recursion is bounded by kMaxRequests, even if the graph refuses all calls at once
  }

  void finish_soon() {
    const MutexLock lock(mutex_);
    grace_ = loop_.after(kGrace, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->stream_->finish();
    });
  }

  void refuse(std::string_view why, const std::string& text) {
    shared_->context.facade.clients().count(client_, why, text);
    if (phase_ != Phase::client) {
      stream_->send(net::kControl, net::Message(Buffer::adopt(write_header({{"error", text}}))));
    }
    stream_->finish();
  }

  void closed() {
    patience_ = {};
    subscription_.reset();
    const MutexLock lock(shared_->mutex);
    shared_->connections.erase(id_);
  }

  const std::shared_ptr<Shared> shared_;
  const std::int32_t id_;
  net::Loop& loop_;
  const std::shared_ptr<net::Stream> stream_;
  const std::shared_ptr<Traffic> traffic_ = std::make_shared<Traffic>();
  net::Timer patience_;
  std::atomic<Phase> phase_ = Phase::header;
  std::atomic<bool> greeted_ = false;  ///< the subscriber gets the messages of its topic
  std::string name_;                   ///< of the topic or service
  Client client_;
  std::unique_ptr<ClientSubscription> subscription_;
  std::string service_type_;
  bool persistent_ = false;

  Mutex mutex_;
  net::Timer grace_ HYPHOS_GUARDED_BY(mutex_);
  std::deque<Buffer> requests_ HYPHOS_GUARDED_BY(mutex_);
  bool asking_ HYPHOS_GUARDED_BY(mutex_) = false;
};

Result<std::unique_ptr<TcprosServer>> TcprosServer::open(const Context& context) {
  auto shared = std::make_shared<Shared>(context);
  net::Listener::Callbacks callbacks;
  callbacks.accepted = [weak = std::weak_ptr(shared)](net::Connection connection) {
    const auto found = weak.lock();
    if (!found) return;
    std::shared_ptr<Incoming> incoming;
    {
      const MutexLock lock(found->mutex);
      const std::int32_t id = ++found->last_id;
      incoming = std::make_shared<Incoming>(found, std::move(connection), id);
      found->connections.emplace(id, incoming);
    }
    incoming->start();
  };
  callbacks.refused = [weak = std::weak_ptr(shared)](const net::Connection& connection) {
    if (const auto found = weak.lock()) {
      const std::size_t most = found->context.options.max_clients * kConnectionsPerClient;
      found->context.facade.clients().count(
          {connection.peer, found->context.group}, "clients",
          at_limit("the gateway", most, "connections", "--max-clients"));
    }
  };
  auto listener =
      net::Listener::open(context.loops.any(),
                          {.host = context.options.host,
                           .port = 0,
                           .max_clients = context.options.max_clients * kConnectionsPerClient},
                          std::move(callbacks));
  if (!listener) return listener.error();
  shared->listener = std::move(*listener);
  return std::unique_ptr<TcprosServer>(new TcprosServer(std::move(shared)));
}

TcprosServer::TcprosServer(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
TcprosServer::~TcprosServer() = default;

std::uint16_t TcprosServer::port() const { return shared_->listener->port(); }

void TcprosServer::offer_topic(const std::string& topic, const TypeInfo& type, bool latched) {
  const MutexLock lock(shared_->mutex);
  shared_->topics.insert_or_assign(topic, Topic{type, latched});
}

void TcprosServer::offer_service(const std::string& service, const ServiceTypeInfo& type) {
  const MutexLock lock(shared_->mutex);
  shared_->services.insert_or_assign(service, type);
}

void TcprosServer::withdraw_topic(const std::string& topic) {
  const MutexLock lock(shared_->mutex);
  shared_->topics.erase(topic);
  for (const auto& [id, weak] : shared_->connections) {
    const auto incoming = weak.lock();
    if (incoming && incoming->has_topic(topic)) incoming->close();
  }
}

void TcprosServer::withdraw_service(const std::string& service) {
  const MutexLock lock(shared_->mutex);
  shared_->services.erase(service);
  for (const auto& [id, weak] : shared_->connections) {
    const auto incoming = weak.lock();
    if (incoming && incoming->has_service(service)) incoming->close();
  }
}

std::optional<TcprosServer::Topic> TcprosServer::topic(std::string_view name) const {
  return shared_->topic(name);
}

std::vector<ConnectionInfo> TcprosServer::connections() const {
  std::vector<ConnectionInfo> list;
  const MutexLock lock(shared_->mutex);
  for (const auto& [id, weak] : shared_->connections) {
    const auto incoming = weak.lock();
    if (!incoming) continue;
    if (auto info = incoming->info()) list.push_back(std::move(*info));
  }
  return list;
}

}  // namespace hyphos::gateway::ros1
