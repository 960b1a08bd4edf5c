#include "gateway/ros1/udpros_server.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cerrno>
#include <cstring>
#include <span>
#include <sstream>

#include "base/mutex.hpp"
#include "gateway/ros1/datagram.hpp"
#include "gateway/ros1/header.hpp"
#include "gateway/ros1/rosout.hpp"

namespace hyphos::gateway::ros1 {
namespace {

namespace asio = boost::asio;
using asio::ip::udp;
using Problem = boost::system::error_code;

/// As many as TCPROS has connections.
constexpr std::size_t kSubscribersPerClient = 32;
/// Characters of a host name (RFC 1035, 2.3.4).
constexpr std::size_t kLongestName = 255;

struct Target {
  udp::endpoint endpoint;
  std::size_t datagram = 0;  ///< bytes of the largest one
};

const Value::Array* request_of_datagrams(const Value& protocol) {
  const auto* words = protocol.get_if<Value::Array>();
  return words != nullptr && words->size() == 5 && words->front().text() == "UDPROS" ? words
                                                                                     : nullptr;
}

/// The address of `host`, if it is an address of the caller's machine. A host is never looked up
/// again after this check, so that a name server cannot change its address in between.
Result<net::Address> address_at_caller(const std::string& host, const UdprosServer::Caller& caller,
                                       const std::string& topic) {
  const net::Address& from = caller.origin.address;
  const auto number = net::numeric_address(host);
  const auto found = number ? std::vector{*number} : caller.origin.named;
  const auto equal = [&](const net::Address& one) { return one.same_host(from); };
  if (const auto at = std::ranges::find_if(found, equal); at != found.end()) return *at;
  if (from.is_own()) {
    const auto at = std::ranges::find_if(found, &net::Address::is_own);
    if (at != found.end()) return *at;
  }
  const std::string asks = caller.node + " at " + from.host() + " asks for datagrams to '" +
                           host.substr(0, kLongestName) + "', ";
  const std::string remedy =
      ". Set ROS_IP of that node to " + from.host() + ", or let it subscribe by TCPROS";
  if (found.empty()) return Error{Code::not_found, asks + "an unknown host" + remedy, topic};
  return Error{Code::permission, asks + "which is another machine" + remedy, topic};
}

Value header_value(const Header& header) {
  const std::vector<std::byte> bytes = write_header(header);
  const auto fields = std::span(bytes).subspan(4);  // without the length prefix
  return Binary{std::string(reinterpret_cast<const char*>(fields.data()), fields.size())};
}

}  // namespace

/// One subscriber of one topic.
class UdpSubscriber final : public net::Loop::Item,
                            public std::enable_shared_from_this<UdpSubscriber> {
 public:
  UdpSubscriber(const Context& context, std::int32_t id, Client client, std::string topic,
                std::string type, const Target& target)
      : facade_(context.facade),
        options_(context.options),
        loop_(context.loops.any()),
        id_(id),
        client_(std::move(client)),
        topic_(std::move(topic)),
        type_(std::move(type)),
        target_(target),
        socket_(loop_.context()) {}
  UdpSubscriber(const UdpSubscriber&) = delete;
  UdpSubscriber& operator=(const UdpSubscriber&) = delete;
  ~UdpSubscriber() override { loop_.remove(this); }

  void start() {
    if (!loop_.add(shared_from_this())) return;
    loop_.post([self = shared_from_this()] { self->open(); });
  }
  void stop() override {
    closed_ = true;
    loop_.post([self = shared_from_this()] {
      self->subscription_.reset();  // waits for a callback, which does not wait
      Problem ignored;
      self->socket_.close(ignored);
    });
  }
  [[nodiscard]] bool is_closed() const { return closed_; }
  [[nodiscard]] ConnectionInfo info() const {
    ConnectionInfo info;
    info.id = id_;
    info.topic = topic_;
    info.peer = client_.name;
    info.address = address();
    info.protocol = "UDPROS";
    info.connected = !closed_;
    info.messages = traffic_.messages;
    info.bytes = traffic_.bytes;
    info.dropped = traffic_.dropped;
    return info;
  }

 private:
  [[nodiscard]] std::string address() const {
    std::ostringstream text;
    text << target_.endpoint;
    return text.str();
  }

  void open() {
    if (closed_) return;
    Problem problem;
    socket_.open(target_.endpoint.protocol(), problem);
    if (!problem) socket_.connect(target_.endpoint, problem);
    if (problem) return fail("not_found", address() + ": " + problem.message());
    fd_ = socket_.native_handle();
    auto subscription = facade_.topics().open_subscription(
        client_, topic_, type_, Form::ros1, {.depth = options_.queue_depth},
        [weak = weak_from_this()](const OutgoingMessage& outgoing) {
          if (const auto self = weak.lock()) self->send(outgoing.bytes);
        });
    if (!subscription) {
      return fail(to_string(subscription.error().code), subscription.error().message);
    }
    subscription_ = std::move(*subscription);
  }

  void fail(std::string_view why, const std::string& text) {
    facade_.clients().count(client_, why, topic_ + ": " + text);
    closed_ = true;
  }

  void send(const EncodedMessage& body) {
    if (closed_) return;
    const std::size_t size = body.size() + 4;
    const auto blocks = count_datagrams(size, target_.datagram);
    if (!blocks || body.size() > options_.max_message) return drop("too_large");
    std::vector<std::byte> message(size);
    write_length(message, static_cast<std::uint32_t>(body.size()));
    std::byte* to = message.data() + 4;
    for (const auto part : body.parts()) to = std::ranges::copy(part, to).out;
    traffic_.add(body.size());
    const MutexLock lock(mutex_);
    if (++message_ == 0) ++message_;
    const std::size_t most = target_.datagram - kDatagramHead;
    for (std::uint16_t block = 0; block < *blocks; ++block) {
      auto head =
          write_datagram_head({id_, block == 0 ? DatagramKind::first : DatagramKind::further,
                               message_, block == 0 ? *blocks : block});
      const std::size_t at = block * most;
      std::array<iovec, 2> parts{
          {{head.data(), head.size()}, {message.data() + at, std::min(most, size - at)}}};
      msghdr datagram{};
      datagram.msg_iov = parts.data();
      datagram.msg_iovlen = parts.size();
      if (::sendmsg(fd_, &datagram, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) continue;
      // The kernel reports at the next datagram that the last one found no open port.
      if (errno == ECONNREFUSED) closed_ = true;
      return drop(errno == ECONNREFUSED ? "disconnected" : "queue");
    }
  }

  void drop(std::string_view why) {
    traffic_.dropped.fetch_add(1, std::memory_order_relaxed);
    facade_.clients().count(client_, why, topic_);
  }

  GraphFacade& facade_;
  const Options options_;
  net::Loop& loop_;
  const std::int32_t id_;
  const Client client_;
  const std::string topic_;
  const std::string type_;
  const Target target_;
  Traffic traffic_;
  std::atomic<bool> closed_ = false;
  // Used in the loop's thread. `fd_` is also used in callbacks of the subscription, during which
  // the socket is open.
  udp::socket socket_;
  int fd_ = -1;
  std::unique_ptr<ClientSubscription> subscription_;
  Mutex mutex_;
  std::uint8_t message_ HYPHOS_GUARDED_BY(mutex_) = 0;
};

std::string UdprosServer::name_to_look_up(const RpcCall& call, const TcprosServer& server) {
  if (call.method != "requestTopic" || call.params.size() != 3) return {};
  const auto* protocols = call.params[2].get_if<Value::Array>();
  if (protocols == nullptr || !server.topic(call.params[1].text())) return {};
  for (const Value& one : *protocols) {
    const auto* words = one.get_if<Value::Array>();
    if (words == nullptr || words->empty()) continue;
    if (words->front().text() == "TCPROS") return {};  // it precedes
    const auto* asked = request_of_datagrams(one);
    if (asked == nullptr) continue;
    const std::string& host = (*asked)[2].text();
    return host.size() > kLongestName || net::numeric_address(host) ? std::string() : host;
  }
  return {};
}

Result<Value::Array> UdprosServer::add(const Caller& caller, const std::string& topic,
                                       const TcprosServer::Topic& offered,
                                       const Value::Array& asked, const std::string& host) {
  const auto* fields = asked.size() == 5 ? asked[1].get_if<Binary>() : nullptr;
  const auto* port = asked.size() == 5 ? asked[3].get_if<std::int32_t>() : nullptr;
  const auto* datagram = asked.size() == 5 ? asked[4].get_if<std::int32_t>() : nullptr;
  if (fields == nullptr || port == nullptr || datagram == nullptr || *port < 1 || *port > 65535 ||
      *datagram <= static_cast<std::int32_t>(kDatagramHead)) {
    return Error{Code::corrupt, "UDPROS needs [header, host, port, size of a datagram]", topic};
  }
  const auto header = parse_header(std::as_bytes(std::span(fields->bytes)));
  if (!header) return header.error();
  const TypeInfo& type = offered.type;
  if (is_rosout(topic, type.name)) {
    return Error{Code::unsupported, "the gateway offers the log lines by TCPROS only", topic};
  }
  if (const std::string wrong = mismatch(*header, type.name, type.md5); !wrong.empty()) {
    return Error{Code::type_mismatch, wrong, topic};
  }
  const auto address = address_at_caller(asked[2].text(), caller, topic);
  if (!address) return address.error();
  const std::size_t most = context_.options.max_clients * kSubscribersPerClient;
  const std::pair key(topic, caller.node);
  if (subscribers_.size() >= most && !subscribers_.contains(key)) {
    return Error{Code::overloaded,
                 at_limit("the gateway", most, "subscribers by UDPROS", "--max-clients"), topic};
  }
  const auto size = std::min<std::int32_t>(*datagram, kMaxDatagram);
  const std::int32_t id = ++last_id_;
  Entry& entry = subscribers_[key];
  if (entry.subscriber) entry.subscriber->stop();
  Target target;
  target.datagram = static_cast<std::size_t>(size);
  target.endpoint.resize(address->size);
  std::memcpy(target.endpoint.data(), &address->storage, address->size);
  target.endpoint.port(static_cast<std::uint16_t>(*port));
  entry = {std::make_shared<UdpSubscriber>(context_, id, Client{caller.node, context_.group}, topic,
                                           type.name, target),
           true};
  entry.subscriber->start();
  // The port is that of incoming datagrams, which the gateway does not have.
  return Value::Array{"UDPROS",
                      host,
                      0,
                      id,
                      size,
                      header_value({{"callerid", context_.node},
                                    {"latching", offered.latched ? "1" : "0"},
                                    {"md5sum", type.md5},
                                    {"message_definition", type.text},
                                    {"topic", topic},
                                    {"type", type.name}})};
}

void UdprosServer::look(const GraphState& state, const TcprosServer& server) {
  for (auto at = subscribers_.begin(); at != subscribers_.end();) {
    auto& [key, entry] = *at;
    const bool is_new = std::exchange(entry.is_new, false);
    const bool left = !is_new && !GraphState::has(state.subscribers, key.first, key.second);
    const bool ends = left || !server.topic(key.first) || entry.subscriber->is_closed();
    if (ends) entry.subscriber->stop();
    at = ends ? subscribers_.erase(at) : std::next(at);
  }
}

void UdprosServer::stop() {
  for (const auto& [key, entry] : subscribers_) entry.subscriber->stop();
  subscribers_.clear();
}

std::vector<ConnectionInfo> UdprosServer::connections() const {
  std::vector<ConnectionInfo> list;
  for (const auto& [key, entry] : subscribers_) list.push_back(entry.subscriber->info());
  return list;
}

}  // namespace hyphos::gateway::ros1
