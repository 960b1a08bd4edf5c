#include "gateway/ros1/inbound_topic.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "gateway/ros1/connect.hpp"
#include "gateway/ros1/frame.hpp"
#include "gateway/ros1/methods.hpp"
#include "gateway/ros1/rosout.hpp"

namespace hyphos::gateway::ros1 {
namespace {

constexpr Duration kConnectPatience = Duration::from_seconds(5);

std::int32_t next_id() {
  // distinct from the ids of incoming connections
  static std::atomic<std::int32_t> last{1'000'000};
  return ++last;
}

}  // namespace

InboundTopic::InboundTopic(const Context& context, net::Loop& calls, RpcClient& client,
                           std::string topic, TypeInfo type, std::string uri)
    : context_(context),
      calls_(calls),
      client_(client),
      topic_(std::move(topic)),
      type_(std::move(type)),
      uri_(std::move(uri)),
      id_(next_id()) {
  publisher_ = {uri_, context_.group};
}

void InboundTopic::start() { ask(); }

void InboundTopic::stop() {
  stopped_ = true;
  timer_ = {};
  const MutexLock lock(mutex_);
  if (stream_) stream_->close();
}

Client InboundTopic::known_publisher() const {
  const MutexLock lock(mutex_);
  return publisher_;
}

std::string InboundTopic::publisher() const { return known_publisher().name; }

ConnectionInfo InboundTopic::info() const {
  const MutexLock lock(mutex_);
  return {id_,
          topic_,
          uri_,
          stream_ ? stream_->peer() : std::string(),
          true,
          connected_,
          traffic_.messages,
          traffic_.bytes,
          traffic_.dropped};
}

void InboundTopic::ask() {
  client_.call(uri_, "requestTopic", {context_.node, topic_, list_of(list_of("TCPROS"))},
               {.timeout = kConnectPatience}, [self = shared_from_this()](Result<Value> answer) {
                 self->asked(value_of(std::move(answer)));
               });
}

void InboundTopic::asked(const Result<Value>& answer) {
  if (stopped_) return;
  if (!answer) return again(answer.error().message);
  const auto* protocol = answer->get_if<Value::Array>();
  const bool complete =
      protocol != nullptr && protocol->size() >= 3 && (*protocol)[0].text() == "TCPROS";
  const std::int32_t* port = complete ? (*protocol)[2].get_if<std::int32_t>() : nullptr;
  if (port == nullptr || *port <= 0 || *port > 65535)
    return again("the publisher does not offer TCPROS");
  connect_later(context_.loops.any(), (*protocol)[1].text(), static_cast<std::uint16_t>(*port),
                kConnectPatience, [self = shared_from_this()](Result<net::Connection> connection) {
                  // shared_ptr, because a std::function must be copyable
                  auto moved = std::make_shared<Result<net::Connection>>(std::move(connection));
                  self->calls_.post([self, moved] { self->begin(std::move(*moved)); });
                });
}

void InboundTopic::begin(Result<net::Connection> connection) {
  if (stopped_) return;
  if (!connection) return again(connection.error().message);
  const auto stream = net::Stream::open(context_.loops.next(), std::move(*connection), {});
  {
    const MutexLock lock(mutex_);
    stream_ = stream;
  }
  stream->send(net::kControl,
               net::Message(Buffer::adopt(write_header({{"callerid", context_.node},
                                                        {"md5sum", type_.md5},
                                                        {"message_definition", type_.text},
                                                        {"tcp_nodelay", "1"},
                                                        {"topic", topic_},
                                                        {"type", type_.name}}))));
  // A publisher that accepts and then stays silent is treated as unreachable.
  timer_ = calls_.after(kConnectPatience, [weak = weak_from_this(), stream] {
    const auto self = weak.lock();
    if (self && !self->connected_) stream->close();
  });
  stream->start(
      {.measure =
           [self = shared_from_this()](auto bytes) {
             return measure_frame(bytes, self->graph_publisher_ ? self->context_.options.max_message
                                                                : std::size_t{kMaxHeader});
           },
       .unit =
           // the stream owns its callbacks
       [self = shared_from_this(), from = stream.get()](const Buffer& unit) {
         if (self->graph_publisher_) return self->take(unit, from->arrived());
         self->greeted(unit.bytes().subspan(4));
       },
       .memory = [self = shared_from_this()](auto, auto size) { return self->lend(size); },
       .ready = [self = shared_from_this()] { return self->ready(); },
       .refused = [self = shared_from_this()](
                      const Error& error) { self->refused("too_large", error.message); },
       .closed =
           [self = shared_from_this()] {
             self->graph_publisher_.reset();
             self->share_ = {};
             self->connected_ = false;
             self->calls_.post([self] { self->ended(); });
           }});
}

void InboundTopic::greeted(std::span<const std::byte> bytes) {
  const Result<Header> header = parse_header(bytes);
  if (!header) return refused("corrupt", header.error().message);
  {
    const MutexLock lock(mutex_);
    const std::string_view name = field(*header, "callerid");
    if (!name.empty()) publisher_.name = name;
  }
  if (header->contains("error")) {
    return refused("refused", "the publisher refused the subscription: " +
                                  std::string(field(*header, "error")));
  }
  const std::string wrong = mismatch(*header, type_.name, type_.md5);
  if (!wrong.empty()) {
    return refused("type_mismatch", "the publisher sends " + std::string(field(*header, "type")) +
                                        " with md5sum " + std::string(field(*header, "md5sum")) +
                                        ", but the gateway has " + type_.name + " with " +
                                        type_.md5);
  }
  auto publisher = is_rosout(topic_, type_.name)
                       ? context_.facade.topics().open_publisher(
                             known_publisher(), std::string(kLogTopic), std::string(kLogType),
                             Form::ros1, {.spread = true})
                       : context_.facade.topics().open_publisher(
                             known_publisher(), topic_, type_.name, Form::ros1,
                             {.latched = is_set(*header, "latching"), .spread = true});
  if (!publisher) return refused(to_string(publisher.error().code), publisher.error().message);
  graph_publisher_ = std::move(*publisher);
  connected_ = true;
  calls_.post([self = shared_from_this()] {
    self->logged_ = false;
    self->pause_ = kFirstPause;
    self->timer_ = {};
  });
}

void InboundTopic::take(const Buffer& unit, Time arrived) {
  const auto message = unit.bytes().subspan(4);
  traffic_.add(message.size());
  share_ = {};
  if (is_rosout(topic_, type_.name)) return take_line(message, arrived);
  // The graph counts refused messages by their reason.
  if (!graph_publisher_->publish(message, {unit, arrived}))
    traffic_.dropped.fetch_add(1, std::memory_order_relaxed);
}

void InboundTopic::take_line(std::span<const std::byte> message, Time arrived) {
  const auto line = line_of_ros1(message);
  if (!line) {
    context_.facade.clients().count(known_publisher(), "corrupt", line.error().to_string());
  }
  if (!line || !graph_publisher_->publish(line->bytes(), {Buffer(), arrived})) {
    traffic_.dropped.fetch_add(1, std::memory_order_relaxed);
  }
}

WritableBuffer InboundTopic::lend(std::size_t size) {
  if (!graph_publisher_ || is_rosout(topic_, type_.name)) return {};
  share_ = context_.loan_budget.take(size);
  return share_ ? graph_publisher_->loan(size) : WritableBuffer();
}

bool InboundTopic::ready() {
  if (!graph_publisher_ || !graph_publisher_->keeps()) return true;
  const auto flushed = graph_publisher_->flush();
  if (!flushed) traffic_.dropped.fetch_add(1, std::memory_order_relaxed);
  return !flushed || *flushed;
}

void InboundTopic::refused(std::string_view why, const std::string& text) {
  context_.facade.clients().count(known_publisher(), why, topic_ + ": " + text);
  calls_.post([self = shared_from_this()] { self->pause_ = kPauseAfterRefusal; });
  const MutexLock lock(mutex_);
  stream_->close();
}

void InboundTopic::ended() {
  {
    const MutexLock lock(mutex_);
    stream_.reset();
  }
  // The end of a publisher is no log entry. A publisher that exists but is unreachable is.
  if (!stopped_) ask_later();
}

void InboundTopic::again(const std::string& why) {
  if (!std::exchange(logged_, true)) {
    log::info("ros1", topic_ + " of " + uri_ + ": " + why + ". Trying again");
  }
  ask_later();
}

void InboundTopic::ask_later() {
  timer_ = calls_.after(pause_, [self = shared_from_this()] {
    if (!self->stopped_) self->ask();
  });
  pause_ = std::min(pause_ * 2, kLongestPause);
}

}  // namespace hyphos::gateway::ros1
