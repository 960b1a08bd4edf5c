#include "gateway/ros1/connect.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace hyphos::gateway::ros1 {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Problem = boost::system::error_code;

// All members are used in the loop's thread only.
class Attempt final : public net::Loop::Item, public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(net::Loop& loop, const std::string& host, std::uint16_t port,
          std::function<void(Result<net::Connection>)> done)
      : loop_(loop),
        host_(host),
        port_(port),
        done_(std::move(done)),
        resolver_(loop.context()),
        socket_(loop.context()) {}
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() override { loop_.remove(this); }

  void start(Duration timeout) {
    timer_ = loop_.after(timeout, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->cut_later(Code::timeout);
    });
    loop_.post([self = shared_from_this()] { self->resolve(); });
  }

  void stop() override { cut_later(Code::canceled); }

 private:
  void resolve() {
    if (cut_) return end({}, Code::io);
    Problem not_a_number;
    const auto address = asio::ip::make_address(host_, not_a_number);
    if (!not_a_number) {
      socket_.async_connect(
          tcp::endpoint(address, port_),
          [self = shared_from_this()](Problem problem) { self->end(problem, Code::io); });
      return;
    }
    resolver_.async_resolve(
        host_, std::to_string(port_),
        [self = shared_from_this()](Problem problem, const tcp::resolver::results_type& found) {
          self->resolved(problem, found);
        });
  }

  void resolved(Problem problem, const tcp::resolver::results_type& found) {
    if (problem || cut_) return end(problem, Code::not_found);
    asio::async_connect(socket_, found,
                        [self = shared_from_this()](Problem failed, const tcp::endpoint&) {
                          self->end(failed, Code::io);
                        });
  }

  // The pending operation ends with an error, and the attempt reports this one.
  void cut_later(Code code) {
    loop_.post([self = shared_from_this(), code] {
      if (self->cut_) return;
      self->cut_ = code;
      self->resolver_.cancel();
      Problem ignored;
      self->socket_.close(ignored);
    });
  }

  void end(Problem problem, Code code) {
    timer_ = {};
    const std::string where = host_ + ":" + std::to_string(port_);
    if (cut_ == Code::canceled) return;
    if (cut_) return done_(Error{*cut_, "cannot connect: the host did not reply in time", where});
    cut_ = Code::canceled;
    if (problem == asio::error::connection_refused) code = Code::disconnected;
    if (problem) return done_(Error{code, "cannot connect: " + problem.message(), where});
    Problem not_released;
    const int fd = socket_.release(not_released);
    if (not_released) return done_(Error{Code::io, not_released.message(), where});
    net::prepare(fd);
    done_(net::Connection{UniqueFd(fd), where, nullptr});
  }

  net::Loop& loop_;
  const std::string host_;
  const std::uint16_t port_;
  const std::function<void(Result<net::Connection>)> done_;
  tcp::resolver resolver_;
  tcp::socket socket_;
  net::Timer timer_;
  std::optional<Code> cut_;
};

// All members are used in the loop's thread only.
class Lookup final : public net::Loop::Item, public std::enable_shared_from_this<Lookup> {
 public:
  using Done = std::function<void(Result<std::vector<net::Address>>)>;

  Lookup(net::Loop& loop, std::string host, Done done)
      : loop_(loop), host_(std::move(host)), done_(std::move(done)), resolver_(loop.context()) {}
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;
  ~Lookup() override { loop_.remove(this); }

  void start(Duration timeout) {
    timer_ = loop_.after(timeout, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->end(Error{Code::timeout, "no name server replied in time", self->host_});
      }
    });
    loop_.post([self = shared_from_this()] {
      if (!self->done_) return;
      self->resolver_.async_resolve(
          self->host_, "", [self](Problem problem, const tcp::resolver::results_type& found) {
            if (problem) return self->end(Error{Code::not_found, problem.message(), self->host_});
            std::vector<net::Address> addresses;
            for (const auto& one : found) {
              net::Address& address = addresses.emplace_back();
              address.size = static_cast<socklen_t>(one.endpoint().size());
              std::memcpy(&address.storage, one.endpoint().data(), address.size);
            }
            self->end(std::move(addresses));
          });
    });
  }
  void stop() override {
    loop_.post([self = shared_from_this()] {
      self->done_ = nullptr;
      self->resolver_.cancel();
    });
  }

 private:
  void end(Result<std::vector<net::Address>> result) {
    timer_ = {};
    if (const Done done = std::exchange(done_, nullptr)) done(std::move(result));
  }

  net::Loop& loop_;
  const std::string host_;
  Done done_;  ///< null: it has been called, or never will be
  tcp::resolver resolver_;
  net::Timer timer_;
};

}  // namespace

void connect_later(net::Loop& loop, const std::string& host, std::uint16_t port, Duration timeout,
                   std::function<void(Result<net::Connection>)> done) {
  const auto attempt = std::make_shared<Attempt>(loop, host, port, std::move(done));
  if (loop.add(attempt)) attempt->start(timeout);
}

void resolve_later(net::Loop& loop, const std::string& host, Duration timeout, Lookup::Done done) {
  const auto lookup = std::make_shared<Lookup>(loop, host, std::move(done));
  if (loop.add(lookup)) lookup->start(timeout);
}

}  // namespace hyphos::gateway::ros1
