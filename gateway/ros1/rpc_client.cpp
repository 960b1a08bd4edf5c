#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "gateway/ros1/names.hpp"
#include "gateway/ros1/rpc.hpp"

namespace hyphos::gateway::ros1 {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

struct RpcClient::State {
  explicit State(net::Loop& its_loop) : loop(its_loop) {}
  net::Loop& loop;
  std::unordered_map<std::string, std::shared_ptr<Line>> lines;
};

// A queue of calls to one server, with a connection. The connection is reused for the next call if
// the server keeps it open. The object exists while calls are waiting.
class RpcClient::Line final : public net::Loop::Item, public std::enable_shared_from_this<Line> {
 public:
  Line(std::shared_ptr<State> state, std::string name, Uri uri)
      : state_(std::move(state)),
        name_(std::move(name)),
        uri_(std::move(uri)),
        stream_(state_->loop.context()),
        resolver_(state_->loop.context()) {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() override { state_->loop.remove(this); }

  struct Waiting {
    std::string body;
    CallOptions options;
    Done done;
  };

  void push(Waiting call) {
    if (!call.options.replaces.empty()) {
      // The first call is already in flight.
      for (std::size_t at = busy_ ? 1 : 0; at < waiting_.size(); ++at) {
        if (waiting_[at].options.replaces != call.options.replaces) continue;
        bytes_ += call.body.size() - waiting_[at].body.size();
        std::swap(waiting_[at], call);
        return end_later(
            std::move(call),
            {Code::canceled, "a later call with the same key replaced this one", name_});
      }
    }
    if (waiting_.size() >= kMaxWaiting || bytes_ + call.body.size() > kMaxWaitingBytes) {
      return end_later(std::move(call),
                       {Code::overloaded,
                        std::to_string(waiting_.size()) + " calls with " + std::to_string(bytes_) +
                            " bytes already wait for this server",
                        name_});
    }
    bytes_ += call.body.size();
    waiting_.push_back(std::move(call));
    if (!busy_) begin();
  }

  void stop() override {
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      self->stopped_ = true;
      self->resolver_.cancel();
      self->stream_.close();
      self->waiting_.clear();
      self->retire();
    });
  }

 private:
  static void end_of(const Waiting& call, Result<Value> result) {
    if (call.done) call.done(std::move(result));
  }
  // Posted, so that it does not run on the caller's stack.
  void end_later(Waiting call, Error error) {
    state_->loop.post([call = std::move(call), error = std::move(error)] { end_of(call, error); });
  }

  void begin() {
    if (stopped_) return;
    busy_ = true;
    if (stream_.socket().is_open()) {
      reused_ = true;
      return write();
    }
    connect();
  }

  void connect() {
    reused_ = false;
    boost::system::error_code not_a_number;
    const auto address = asio::ip::make_address(uri_.host, not_a_number);
    if (!not_a_number) return connect_to(tcp::endpoint(address, uri_.port));
    resolver_.async_resolve(uri_.host, std::to_string(uri_.port),
                            [self = shared_from_this()](beast::error_code problem,
                                                        const tcp::resolver::results_type& found) {
                              if (problem)
                                return self->fail_all(Code::not_found, "unknown host name",
                                                      problem);
                              self->connect_to(found);
                            });
  }

  template <typename Where>
  void connect_to(const Where& where) {
    if (stopped_) return;
    expire();
    const auto then = [self = shared_from_this()](beast::error_code problem, const auto&...) {
      if (!problem) return self->write();
      const Code code = problem == asio::error::connection_refused ? Code::disconnected : Code::io;
      self->fail_all(problem == beast::error::timeout ? Code::timeout : code, "cannot connect",
                     problem);
    };
    stream_.async_connect(where, then);
  }

  void expire() {
    stream_.expires_after(std::chrono::nanoseconds(waiting_.front().options.timeout.ns));
  }

  void write() {
    if (stopped_) return;
    parser_.reset();
    request_ = {http::verb::post, "/", 11};
    request_.set(http::field::host, uri_.host + ":" + std::to_string(uri_.port));
    request_.set(http::field::user_agent, "Hyphos");
    request_.set(http::field::content_type, "text/xml");
    // Spelled as the ROS clients do, because not every ROS server ignores case.
    request_.set("Content-length", std::to_string(waiting_.front().body.size()));
    request_.body() = waiting_.front().body;
    expire();
    http::async_write(stream_, request_,
                      [self = shared_from_this()](beast::error_code problem, std::size_t) {
                        if (problem) return self->broken(problem);
                        self->read();
                      });
  }

  void read() {
    parser_.emplace();
    parser_->body_limit(kMaxXml);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code problem, std::size_t) {
                       if (problem) return self->broken(problem);
                       self->got();
                     });
  }

  // The server may have closed a reused connection just before the request arrived. It has then not
  // seen the call, and the call is sent again.
  void broken(beast::error_code problem) {
    if (stopped_) return;
    const bool unseen = reused_ && problem != beast::error::timeout && buffer_.size() == 0 &&
                        !(parser_ && parser_->is_header_done());
    stream_.close();
    buffer_.clear();
    if (unseen) return connect();
    if (problem == beast::error::timeout) {
      return finish(Error{Code::timeout, "the server did not reply in time", name_});
    }
    finish(Error{Code::io, "the connection broke: " + problem.message(), name_});
  }

  void got() {
    if (stopped_) return;
    const auto& reply = parser_->get();
    if (!reply.keep_alive()) stream_.close();
    if (reply.result() != http::status::ok) {
      return finish(Error{
          Code::io, "the server replied with HTTP status " + std::to_string(reply.result_int()),
          name_});
    }
    Result<Value> value = parse_reply(reply.body());
    if (value) return finish(std::move(*value));
    Error error = value.error();
    error.where = name_;
    finish(std::move(error));
  }

  void fail_all(Code code, std::string what, beast::error_code problem) {
    stream_.close();
    if (stopped_) return;
    const Error error{code, what.append(": ").append(problem.message()), name_};
    const std::deque<Waiting> all = std::exchange(waiting_, {});
    bytes_ = 0;
    busy_ = false;
    retire();
    for (const Waiting& call : all) end_of(call, error);
  }

  void finish(Result<Value> result) {
    const Waiting call = std::move(waiting_.front());
    waiting_.pop_front();
    bytes_ -= call.body.size();
    busy_ = false;
    if (!waiting_.empty()) {
      begin();
    } else {
      retire();
    }
    end_of(call, std::move(result));
  }

  // The next call opens a new connection. No state is kept for idle servers.
  void retire() {
    stream_.close();
    const auto mine = state_->lines.find(name_);
    if (mine != state_->lines.end() && mine->second.get() == this) state_->lines.erase(mine);
  }

  std::shared_ptr<State> state_;
  const std::string name_;
  const Uri uri_;
  beast::tcp_stream stream_;
  tcp::resolver resolver_;
  beast::flat_buffer buffer_{std::size_t{64} << 10};
  http::request<http::string_body> request_;
  std::optional<http::response_parser<http::string_body>> parser_;
  std::deque<Waiting> waiting_;
  std::size_t bytes_ = 0;  ///< size of the request bodies
  bool busy_ = false;
  bool reused_ = false;
  bool stopped_ = false;
};

RpcClient::RpcClient(net::Loop& loop) : state_(std::make_shared<State>(loop)) {}
RpcClient::~RpcClient() = default;

void RpcClient::call(const std::string& uri, const std::string& method,
                     const std::vector<Value>& params, const CallOptions& options, Done done) {
  auto& line = state_->lines[uri];
  if (line == nullptr) {
    Result<Uri> where = Uri::parse(uri);
    if (where && where->scheme != "http") {
      where = Error{Code::corrupt, "'" + where->scheme + "' is not supported, only http", uri};
    }
    if (!where) {
      state_->lines.erase(uri);
      state_->loop.post([done = std::move(done), error = where.error()] { done(error); });
      return;
    }
    line = std::make_shared<Line>(state_, uri, std::move(*where));
    if (!state_->loop.add(line)) {
      state_->lines.erase(uri);
      return;
    }
  }
  const std::shared_ptr<Line> kept = line;
  kept->push({write_call(method, params), options, std::move(done)});
}

}  // namespace hyphos::gateway::ros1
