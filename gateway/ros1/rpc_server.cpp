#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "gateway/net/address.hpp"
#include "gateway/net/listener.hpp"
#include "gateway/ros1/rpc.hpp"

namespace hyphos::gateway::ros1 {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

/// Timeout for a whole call, and for the pause between two calls of a kept connection.
constexpr std::chrono::seconds kRequestPatience{60};

bool is_garbage(beast::error_code problem) {
  return problem.category() == make_error_code(http::error::bad_method).category() &&
         problem != http::error::end_of_stream && problem != http::error::partial_message;
}

// One connection: calls one after another, while both sides keep it open.
class Session final : public net::Loop::Item, public std::enable_shared_from_this<Session> {
 public:
  Session(net::Loop& loop, net::Connection connection, RpcHandler handler)
      : loop_(loop),
        context_(std::move(connection.place)),
        stream_(loop.context()),
        peer_(net::peer_address(connection.fd.get())),
        handler_(std::move(handler)) {
    const bool ipv6 = net::local_address(connection.fd.get()).storage.ss_family == AF_INET6;
    boost::system::error_code ignored;
    stream_.socket().assign(ipv6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(),
                            connection.fd.release(), ignored);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() override { loop_.remove(this); }

  void read() {
    parser_.emplace();
    parser_->body_limit(kMaxXml);
    stream_.expires_after(kRequestPatience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code problem, std::size_t) {
                       self->got(problem);
                     });
  }

  void stop() override {
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->close(); });
  }

 private:
  void close() {
    boost::system::error_code ignored;
    stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

  void got(beast::error_code problem) {
    if (problem == http::error::body_limit) return refuse(http::status::payload_too_large);
    if (problem == http::error::header_limit) {
      return refuse(http::status::request_header_fields_too_large);
    }
    if (problem && is_garbage(problem)) return refuse(http::status::bad_request);
    if (problem) return close();
    const auto& request = parser_->get();
    if (request.method() != http::verb::post) return refuse(http::status::method_not_allowed);
    // Browsers send the origin of the page, and ROS nodes do not. A web page must not be able to
    // shut nodes down.
    if (request.find(http::field::origin) != request.end()) {
      return refuse(http::status::forbidden);
    }
    const bool keep = request.keep_alive();
    const Result<RpcCall> call = parse_call(request.body());
    if (!call) return answer(http::status::ok, write_fault(1, call.error().to_string()), keep);
    handler_(*call, peer_, [self = shared_from_this(), keep](const Result<Value>& result) {
      self->answer(http::status::ok,
                   result ? write_reply(*result) : write_fault(1, result.error().message), keep);
    });
  }

  void refuse(http::status status) {
    answer(status, std::string(http::obsolete_reason(status)) + "\n", false);
  }

  void answer(http::status status, std::string body, bool keep) {
    response_ = {};
    response_.version(parser_->get().version() == 10 ? 10 : 11);
    response_.result(status);
    response_.set(http::field::server, "Hyphos");
    response_.set(http::field::content_type,
                  status == http::status::ok ? "text/xml" : "text/plain");
    if (status == http::status::method_not_allowed) response_.set(http::field::allow, "POST");
    // Spelled as the ROS servers do, because not every ROS client ignores case.
    response_.set("Content-length", std::to_string(body.size()));
    response_.keep_alive(keep);
    response_.body() = std::move(body);
    stream_.expires_after(kRequestPatience);
    http::async_write(stream_, response_,
                      [self = shared_from_this(), keep](beast::error_code problem, std::size_t) {
                        if (problem || !keep) return self->close();
                        self->read();
                      });
  }

  net::Loop& loop_;
  std::shared_ptr<void> context_;
  beast::tcp_stream stream_;
  const net::Address peer_;
  RpcHandler handler_;
  beast::flat_buffer buffer_{std::size_t{64} << 10};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
};

}  // namespace

class RpcServer::State {
 public:
  std::unique_ptr<net::Listener> listener;
};

Result<std::unique_ptr<RpcServer>> RpcServer::open(net::Loop& loop, const Options& options,
                                                   RpcHandler handler) {
  net::Listener::Callbacks callbacks;
  callbacks.accepted = [&loop, handler = std::move(handler)](net::Connection connection) {
    const auto session = std::make_shared<Session>(loop, std::move(connection), handler);
    if (loop.add(session)) session->read();
  };
  auto listener = net::Listener::open(
      loop, {.host = options.host, .port = options.port, .max_clients = kMaxClients},
      std::move(callbacks));
  if (!listener) return listener.error();
  auto state = std::make_shared<State>();
  state->listener = std::move(*listener);
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(state)));
}

RpcServer::RpcServer(std::shared_ptr<State> state) : state_(std::move(state)) {}
RpcServer::~RpcServer() = default;
std::uint16_t RpcServer::port() const { return state_->listener->port(); }

}  // namespace hyphos::gateway::ros1
