#include "gateway/ros1/service_proxy.hpp"

#include <algorithm>
#include <utility>

#include "gateway/ros1/connect.hpp"
#include "gateway/ros1/frame.hpp"
#include "gateway/ros1/reply_reader.hpp"

namespace hyphos::gateway::ros1 {
namespace {

constexpr Duration kServicePatience = Duration::from_seconds(5);
/// Maximum number of idle connections that stay open.
constexpr std::size_t kMaxIdle = 4;

// Exchanges one header in each direction.
class Probe final : public std::enable_shared_from_this<Probe> {
 public:
  explicit Probe(std::function<void(Result<Header>)> done) : done_(std::move(done)) {}

  void start(const Context& context, const std::string& service,
             Result<net::Connection> connection) {
    if (!connection) return end(connection.error());
    net::Loop& loop = context.loops.next();
    const auto stream = net::Stream::open(loop, std::move(*connection), {});
    stream->send(
        net::kControl,
        net::Message(Buffer::adopt(write_header(
            {{"callerid", context.node}, {"md5sum", "*"}, {"probe", "1"}, {"service", service}}))));
    timer_ = loop.after(kServicePatience, [stream] { stream->close(); });
    stream->start(
        {.measure = [](auto bytes) { return measure_frame(bytes, kMaxHeader); },
         .unit =
             [self = shared_from_this(), stream](const Buffer& unit) {
               self->end(parse_header(unit.bytes().subspan(4)));
               stream->close();
             },
         .refused = [self = shared_from_this()](const Error& error) { self->end(error); },
         .closed =
             [self = shared_from_this()] {
               self->timer_ = {};
               self->end(Error{Code::io,
                               "the server closed the connection without a header for the service",
                               ""});
             }});
  }

 private:
  void end(Result<Header> result) {
    if (const auto done = std::exchange(done_, nullptr)) done(std::move(result));
  }

  std::function<void(Result<Header>)> done_;
  net::Timer timer_;
};

}  // namespace

void probe_service(const Context& context, const std::string& service, const Uri& uri,
                   std::function<void(Result<Header>)> done) {
  const auto probe = std::make_shared<Probe>(std::move(done));
  connect_later(context.loops.any(), uri.host, uri.port, kServicePatience,
                [probe, &context, service](Result<net::Connection> connection) {
                  probe->start(context, service, std::move(connection));
                });
}

// One connection, with at most one call at a time.
class ServiceProxy::Line final : public std::enable_shared_from_this<Line> {
 public:
  Line(std::shared_ptr<ServiceProxy> proxy, bool framed)
      : proxy_(std::move(proxy)), framed_(framed), reader_(proxy_->context_.options.max_message) {}

  /// From here on the call is in flight. It ends with a reply, an error or a timeout.
  void take(Buffer request, Answer answer) {
    const MutexLock lock(mutex_);
    request_ = std::move(request);
    answer_ = std::move(answer);
    timer_ = proxy_->context_.loops.any().after(
        proxy_->context_.call_timeout, [weak = weak_from_this()] {
          const auto self = weak.lock();
          if (!self) return;
          self->end(
              Error{Code::timeout, "the server did not reply in time", self->proxy_->service_});
          self->close();
        });
  }

  /// From here on close() closes the connection.
  void adopt(std::shared_ptr<net::Stream> stream) {
    const MutexLock lock(mutex_);
    stream_ = std::move(stream);
  }

  void start(const std::shared_ptr<net::Stream>& stream) {
    stream->send(net::kControl,
                 net::Message(Buffer::adopt(write_header(proxy_->greeting(framed_)))));
    stream->start(
        {.measure = [self = shared_from_this()](auto bytes) { return self->measure(bytes); },
         .unit = [self = shared_from_this()](const Buffer& unit) { self->got(unit); },
         .refused = [self = shared_from_this()](const Error& error) { self->end(error); },
         .closed = [self = shared_from_this()] { self->closed(); }});
  }

  /// For a connection that is already established.
  void send() {
    const MutexLock lock(mutex_);
    stream_->send(net::kControl, frame(std::exchange(request_, {})));
  }

  void close() {
    const MutexLock lock(mutex_);
    if (stream_) stream_->close();
  }

  void end(Result<Buffer> result) {
    if (const Answer call_client = asked_by()) call_client(std::move(result));
  }

  [[nodiscard]] bool is_open() {
    const MutexLock lock(mutex_);
    return stream_ && stream_->is_open();
  }

 private:
  // Takes the callback, so that no later event can reach the caller.
  Answer asked_by() {
    const MutexLock lock(mutex_);
    timer_ = {};
    return std::exchange(answer_, nullptr);
  }

  // The first reply reveals if the server sends a length. Until then, bytes are accepted as they
  // arrive.
  Result<net::Measured> measure(std::span<const std::byte> bytes) const {
    if (!greeted_) return measure_frame(bytes, kMaxHeader);
    if (!framed_) return net::Measured::unit(bytes.size());
    if (bytes.size() < 5) return net::Measured::at_least(5);
    const auto measured = measure_frame(bytes.subspan(1), proxy_->context_.options.max_message);
    if (!measured) return measured.error();
    return net::Measured::unit(measured->size + 1);
  }

  void got(const Buffer& unit) {
    if (!std::exchange(greeted_, true)) return greeted(unit.bytes().subspan(4));
    const Result<bool> whole = reader_.take(unit.bytes());
    if (!whole) {
      end(whole.error());
      return close();
    }
    if (!*whole) return;
    Result<Buffer> answer = reader_.finish();
    const Answer call_client = asked_by();
    if (!call_client) return close();  // no call is in flight
    // Done before the reply is delivered, because the receiver may call again at once.
    if (framed_) {
      proxy_->idle(shared_from_this());
    } else {
      proxy_->is_framed();
      close();
    }
    call_client(std::move(answer));
  }

  void greeted(std::span<const std::byte> bytes) {
    const Result<Header> header = parse_header(bytes);
    std::string wrong;
    if (!header) {
      wrong = header.error().message;
    } else if (header->contains("error")) {
      wrong = "the server refused the connection: " + std::string(field(*header, "error"));
    }
    if (wrong.empty()) return send();
    end(Error{Code::type_mismatch, wrong, proxy_->service_});
    close();
  }

  void closed() {
    if (!reader_.empty() && !framed_) end(reader_.finish());
    end(Error{Code::disconnected, "the server closed the connection without a reply",
              proxy_->service_});
    proxy_->ended(shared_from_this());
  }

  const std::shared_ptr<ServiceProxy> proxy_;
  const bool framed_;

  Mutex mutex_;
  std::shared_ptr<net::Stream> stream_ HYPHOS_GUARDED_BY(mutex_);
  Buffer request_ HYPHOS_GUARDED_BY(mutex_);
  Answer answer_ HYPHOS_GUARDED_BY(mutex_);
  net::Timer timer_ HYPHOS_GUARDED_BY(mutex_);

  // Owned by the stream's callbacks:
  bool greeted_ = false;
  ReplyReader reader_;
};

ServiceProxy::ServiceProxy(const Context& context, std::string service, ServiceTypeInfo type,
                           std::string node, Uri uri, std::function<void()> gone)
    : context_(context),
      service_(std::move(service)),
      type_(std::move(type)),
      node_{std::move(node), context.group},
      uri_(std::move(uri)),
      gone_(std::move(gone)) {}

Header ServiceProxy::greeting(bool persistent) const {
  Header header{{"callerid", context_.node}, {"md5sum", type_.md5}, {"service", service_}};
  if (persistent) header["persistent"] = "1";
  return header;
}

void ServiceProxy::call(const Buffer& request, Answer answer) {
  if (const std::shared_ptr<Line> kept = take_idle(request, answer)) {
    kept->send();
    // The connection may have ended before this call took it. No callback reports that, so it is
    // reported here.
    if (!kept->is_open())
      kept->end(Error{Code::disconnected, "the service is no longer available", service_});
    return;
  }
  Error refusal{Code::disconnected, "the service is no longer available", service_};
  {
    const MutexLock lock(mutex_);
    const std::size_t most = context_.options.limits.client_calls;
    if (!stopped_ && lines_.size() < most) {
      const auto line = std::make_shared<Line>(shared_from_this(), framed_);
      lines_.insert(line);
      line->take(request, std::move(answer));
      return connect_later(context_.loops.any(), uri_.host, uri_.port, kServicePatience,
                           [self = shared_from_this(), line](Result<net::Connection> connection) {
                             self->connected(line, std::move(connection));
                           });
    }
    if (!stopped_) {
      refusal = {
          Code::overloaded,
          at_limit("the service of ROS 1", most, "calls in flight", "--max-calls-per-client"),
          service_};
    }
  }
  answer(std::move(refusal));
}

std::shared_ptr<ServiceProxy::Line> ServiceProxy::take_idle(const Buffer& request, Answer& answer) {
  const MutexLock lock(mutex_);
  while (!idle_.empty()) {
    std::shared_ptr<Line> line = std::move(idle_.back());
    idle_.pop_back();
    if (!line->is_open()) continue;
    line->take(request, std::move(answer));
    return line;
  }
  return nullptr;
}

void ServiceProxy::connected(const std::shared_ptr<Line>& line,
                             Result<net::Connection> connection) {
  if (!connection) {
    line->end(connection.error());
    ended(line);
    if (connection.error().code == Code::disconnected) gone_();
    return;
  }
  const auto stream = net::Stream::open(context_.loops.next(), std::move(*connection), {});
  {
    const MutexLock lock(mutex_);
    if (stopped_) return;
    line->adopt(stream);  // under the lock, so that stop() closes it
  }
  line->start(stream);
}

void ServiceProxy::is_framed() {
  const MutexLock lock(mutex_);
  framed_ = true;
}

void ServiceProxy::idle(const std::shared_ptr<Line>& line) {
  {
    const MutexLock lock(mutex_);
    if (!stopped_ && idle_.size() < kMaxIdle) {
      idle_.push_back(line);
      return;
    }
  }
  line->close();
}

void ServiceProxy::ended(const std::shared_ptr<Line>& line) {
  const MutexLock lock(mutex_);
  lines_.erase(line);
  std::erase(idle_, line);
}

void ServiceProxy::stop() {
  std::set<std::shared_ptr<Line>> lines;
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    lines.swap(lines_);
    idle_.clear();
  }
  for (const auto& line : lines) {
    line->end(Error{Code::disconnected, "the service is no longer available", service_});
    line->close();
  }
}

}  // namespace hyphos::gateway::ros1
