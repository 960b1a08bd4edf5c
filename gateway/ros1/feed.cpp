#include "gateway/ros1/feed.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "gateway/ros1/connect.hpp"
#include "gateway/ros1/frame.hpp"
#include "gateway/ros1/methods.hpp"

namespace hyphos::gateway::ros1 {
namespace {

constexpr Duration kPatience = Duration::from_seconds(5);

std::int32_t next_id() {
  static std::atomic<std::int32_t> last{1'000'000};  // apart from those of who comes to us
  return ++last;
}

}  // namespace

Feed::Feed(const Place& place, net::Loop& calls, RpcClient& client, std::string topic,
           TypeInfo type, std::string uri)
    : place_(place),
      calls_(calls),
      client_(client),
      topic_(std::move(topic)),
      type_(std::move(type)),
      uri_(std::move(uri)),
      id_(next_id()) {
  publisher_ = {uri_, place_.group};
}

void Feed::start() { ask(); }

void Feed::stop() {
  stopped_ = true;
  timer_ = {};
  const std::lock_guard lock(mutex_);
  if (stream_) stream_->close();
}

std::string Feed::publisher() const {
  const std::lock_guard lock(mutex_);
  return publisher_.name;
}

ConnectionInfo Feed::info() const {
  const std::lock_guard lock(mutex_);
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

void Feed::ask() {
  client_.call(uri_, "requestTopic", {place_.node, topic_, list_of(list_of("TCPROS"))},
               {.timeout = kPatience}, [self = shared_from_this()](Result<Value> answer) {
                 self->asked(value_of(std::move(answer)));
               });
}

void Feed::asked(const Result<Value>& answer) {
  if (stopped_) return;
  if (!answer) return again(answer.error().message);
  const auto* protocol = answer->get_if<Value::Array>();
  const bool complete =
      protocol != nullptr && protocol->size() >= 3 && (*protocol)[0].text() == "TCPROS";
  const std::int32_t* port = complete ? (*protocol)[2].get_if<std::int32_t>() : nullptr;
  if (port == nullptr || *port <= 0 || *port > 65535) return again("it does not offer TCPROS");
  connect_later(place_.loops.any(), (*protocol)[1].text(), static_cast<std::uint16_t>(*port),
                kPatience, [self = shared_from_this()](Result<net::Connection> connection) {
                  // shared_ptr, since a function has to be copyable
                  auto moved = std::make_shared<Result<net::Connection>>(std::move(connection));
                  self->calls_.post([self, moved] { self->begin(std::move(*moved)); });
                });
}

void Feed::begin(Result<net::Connection> connection) {
  if (stopped_) return;
  if (!connection) return again(connection.error().message);
  const auto stream = net::Stream::open(place_.loops.next(), std::move(*connection), {});
  {
    const std::lock_guard lock(mutex_);
    stream_ = stream;
  }
  stream->send(net::kControl,
               net::Message(Buffer::adopt(write_header({{"callerid", place_.node},
                                                        {"md5sum", type_.md5},
                                                        {"message_definition", type_.text},
                                                        {"tcp_nodelay", "1"},
                                                        {"topic", topic_},
                                                        {"type", type_.name}}))));
  // One that accepts and says nothing is as good as none.
  timer_ = calls_.after(kPatience, [weak = weak_from_this(), stream] {
    const auto self = weak.lock();
    if (self && !self->connected_) stream->close();
  });
  stream->start(
      {.measure =
           [self = shared_from_this()](auto bytes) {
             return measure_frame(
                 bytes, self->inlet_ ? self->place_.options.max_message : std::size_t{kMaxHeader});
           },
       .unit =
           [self = shared_from_this()](const Buffer& unit) {
             if (self->inlet_) return self->take(unit);
             self->greeted(unit.bytes().subspan(4));
           },
       .memory = [self = shared_from_this()](auto, auto size) { return self->lend(size); },
       .ready = [self = shared_from_this()] { return self->ready(); },
       .refused = [self = shared_from_this()](
                      const Error& error) { self->refused("too_large", error.message); },
       .closed =
           [self = shared_from_this()] {
             self->inlet_.reset();
             self->share_ = {};
             self->connected_ = false;
             self->calls_.post([self] { self->ended(); });
           }});
}

void Feed::greeted(std::span<const std::byte> bytes) {
  const Result<Header> header = parse_header(bytes);
  if (!header) return refused("corrupt", header.error().message);
  {
    const std::lock_guard lock(mutex_);
    const std::string_view name = field(*header, "callerid");
    if (!name.empty()) publisher_.name = name;
  }
  if (header->contains("error")) {
    return refused("refused", "the publisher says: " + std::string(field(*header, "error")));
  }
  const std::string wrong = mismatch(*header, type_.name, type_.md5);
  if (!wrong.empty()) {
    return refused("type_mismatch", "it publishes " + std::string(field(*header, "type")) +
                                        " with md5sum " + std::string(field(*header, "md5sum")) +
                                        ", which is not our " + type_.name + " with " + type_.md5);
  }
  auto inlet = place_.door.open_inlet(publisher_, topic_, type_.name, Form::ros1,
                                      {.latched = is_set(*header, "latching"), .spread = true});
  if (!inlet) return refused(to_string(inlet.error().code), inlet.error().message);
  inlet_ = std::move(*inlet);
  connected_ = true;
  calls_.post([self = shared_from_this()] {
    self->told_ = false;
    self->pause_ = kFirstPause;
    self->timer_ = {};
  });
}

void Feed::take(const Buffer& unit) {
  const auto message = unit.bytes().subspan(4);
  traffic_.add(message.size());
  share_ = {};
  // The graph counts, by its reason, what it does not take.
  if (!inlet_->publish(message, unit)) traffic_.dropped.fetch_add(1, std::memory_order_relaxed);
}

WritableBuffer Feed::lend(std::size_t size) {
  if (!inlet_) return {};
  share_ = place_.advances.take(size);
  return share_ ? inlet_->loan(size) : WritableBuffer();
}

bool Feed::ready() {
  if (!inlet_ || !inlet_->keeps()) return true;
  const auto flushed = inlet_->flush();
  if (!flushed) traffic_.dropped.fetch_add(1, std::memory_order_relaxed);
  return !flushed || *flushed;
}

void Feed::refused(std::string_view why, const std::string& text) {
  place_.door.count(publisher_, why, topic_ + ": " + text);
  calls_.post([self = shared_from_this()] { self->pause_ = kPauseAfterRefusal; });
  const std::lock_guard lock(mutex_);
  stream_->close();
}

void Feed::ended() {
  {
    const std::lock_guard lock(mutex_);
    stream_.reset();
  }
  // A publisher that ends is no news; one that is there and cannot be reached is.
  if (!stopped_) ask_later();
}

void Feed::again(const std::string& why) {
  if (!std::exchange(told_, true)) {
    log::info("ros1", topic_ + " of " + uri_ + ": " + why + "; trying again");
  }
  ask_later();
}

void Feed::ask_later() {
  timer_ = calls_.after(pause_, [self = shared_from_this()] {
    if (!self->stopped_) self->ask();
  });
  pause_ = std::min(pause_ * 2, kLongestPause);
}

}  // namespace hyphos::gateway::ros1
