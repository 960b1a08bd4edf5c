#include "gateway/net/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.hpp"

namespace hyphos::gateway::net {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;

constexpr std::size_t kBlock = std::size_t{64} << 10;
// Rounds in both directions before other connections get their turn.
constexpr int kRoundsInTurn = 16;

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeSession {
  void operator()(SSL* session) const { SSL_free(session); }
};
using Session = std::unique_ptr<SSL, FreeSession>;

// OpenSSL's own socket BIO raises SIGPIPE when the client is gone, which would end the process.
int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int write_socket(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t put =
      ::send(socket_of(bio), bytes, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (put < 0 && would_block()) BIO_set_retry_write(bio);
  return static_cast<int>(put);
}

int read_socket(BIO* bio, char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = ::recv(socket_of(bio), bytes, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (got < 0 && would_block()) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long control_socket(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

struct FreeMethod {
  void operator()(BIO_METHOD* method) const { BIO_meth_free(method); }
};
using Method = std::unique_ptr<BIO_METHOD, FreeMethod>;

Method make_method() {
  Method method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "hyphos socket"));
  if (method == nullptr) return method;
  BIO_meth_set_write(method.get(), write_socket);
  BIO_meth_set_read(method.get(), read_socket);
  BIO_meth_set_ctrl(method.get(), control_socket);
  return method;
}

std::string library_error() {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return text.data();
}

/// Data in transit in one direction: filled, then emptied.
struct Block {
  std::vector<char> bytes = std::vector<char>(kBlock);
  std::size_t from = 0;
  std::size_t to = 0;
  [[nodiscard]] bool empty() const { return from == to; }
};

/// Moves bytes between the two sides, in one thread at a time.
class Pump final : public net::Loop::Item, public std::enable_shared_from_this<Pump> {
 public:
  /// `wire` is the BIO of the outer socket. The session takes ownership.
  Pump(net::Loop& loop, Session session, BIO* wire, net::Connection outer, int inner)
      : loop_(loop),
        session_(std::move(session)),
        place_(std::move(outer.place)),
        outer_(loop.context(), outer.fd.release()),
        inner_(loop.context(), inner) {
    SSL_set_bio(session_.get(), wire, wire);
    SSL_set_accept_state(session_.get());
  }

  void stop() override {
    const MutexLock lock(mutex_);
    end();
  }

  void run() {
    const MutexLock lock(mutex_);
    for (int i = 0; i < kRoundsInTurn; ++i) {
      wants_ = {};
      const bool inward = !ended_ && move_in();
      const bool outward = !ended_ && move_out();
      if (ended_) return;
      if (!inward && !outward) return wait();
    }
    loop_.post([self = shared_from_this()] { self->run(); });
  }

 private:
  struct Wants {
    bool read_outer = false;
    bool write_outer = false;
    bool read_inner = false;
    bool write_inner = false;
  };

  /// Records the event that an operation of the library waits for. Ends the pump if the operation
  /// failed.
  void want(int result) HYPHOS_REQUIRES(mutex_) {
    switch (SSL_get_error(session_.get(), result)) {
      case SSL_ERROR_WANT_READ:
        wants_.read_outer = true;
        break;
      case SSL_ERROR_WANT_WRITE:
        wants_.write_outer = true;
        break;
      default:
        end();
        break;
    }
    ERR_clear_error();
  }

  bool move_in() HYPHOS_REQUIRES(mutex_) {
    bool moved = false;
    if (in_.empty()) {
      in_.from = in_.to = 0;
      const int got = SSL_read(session_.get(), in_.bytes.data(), static_cast<int>(kBlock));
      if (got <= 0) {
        want(got);
        return false;
      }
      in_.to = static_cast<std::size_t>(got);
      moved = true;
    }
    const ssize_t put = ::send(inner_.native_handle(), in_.bytes.data() + in_.from,
                               in_.to - in_.from, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        wants_.write_inner = true;
      } else if (errno != EINTR) {
        end();
      }
      return moved;
    }
    in_.from += static_cast<std::size_t>(put);
    return true;
  }

  bool move_out() HYPHOS_REQUIRES(mutex_) {
    bool moved = false;
    if (out_.empty()) {
      out_.from = out_.to = 0;
      const ssize_t got = ::recv(inner_.native_handle(), out_.bytes.data(), kBlock, MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        wants_.read_inner = true;
        return false;
      }
      if (got <= 0) {
        SSL_shutdown(session_.get());
        end();
        return false;
      }
      out_.to = static_cast<std::size_t>(got);
      moved = true;
    }
    // After a partial write, OpenSSL requires the same bytes again. The Block keeps them.
    const int put = SSL_write(session_.get(), out_.bytes.data() + out_.from,
                              static_cast<int>(out_.to - out_.from));
    if (put <= 0) {
      want(put);
      return moved;
    }
    out_.from += static_cast<std::size_t>(put);
    return true;
  }

  // A pending wait is sufficient.
  void wait() HYPHOS_REQUIRES(mutex_) {
    wait_for(outer_, Descriptor::wait_read, wants_.read_outer, waiting_.read_outer);
    wait_for(outer_, Descriptor::wait_write, wants_.write_outer, waiting_.write_outer);
    wait_for(inner_, Descriptor::wait_read, wants_.read_inner, waiting_.read_inner);
    wait_for(inner_, Descriptor::wait_write, wants_.write_inner, waiting_.write_inner);
  }

  void wait_for(Descriptor& side, Descriptor::wait_type what, bool wanted, bool& waiting)
      HYPHOS_REQUIRES(mutex_) {
    if (!wanted || std::exchange(waiting, true)) return;
    side.async_wait(what, [self = shared_from_this(), &waiting](const auto&) {
      {
        const MutexLock lock(self->mutex_);
        waiting = false;
      }
      self->run();
    });
  }

  void end() HYPHOS_REQUIRES(mutex_) {
    if (std::exchange(ended_, true)) return;
    boost::system::error_code ignored;
    outer_.close(ignored);
    inner_.close(ignored);
    place_.reset();
    loop_.remove(this);
  }

  net::Loop& loop_;
  Mutex mutex_;
  Session session_ HYPHOS_GUARDED_BY(mutex_);
  std::shared_ptr<void> place_ HYPHOS_GUARDED_BY(mutex_);
  Descriptor outer_ HYPHOS_GUARDED_BY(mutex_);
  Descriptor inner_ HYPHOS_GUARDED_BY(mutex_);
  Block in_ HYPHOS_GUARDED_BY(mutex_);
  Block out_ HYPHOS_GUARDED_BY(mutex_);
  Wants wants_ HYPHOS_GUARDED_BY(mutex_);
  Wants waiting_ HYPHOS_GUARDED_BY(mutex_);
  bool ended_ HYPHOS_GUARDED_BY(mutex_) = false;
};

}  // namespace

struct TlsFront::Library {
  Method method;
  std::unique_ptr<SSL_CTX, FreeContext> context;
};

TlsFront::TlsFront(std::unique_ptr<Library> library) : library_(std::move(library)) {}
TlsFront::~TlsFront() = default;

Result<std::unique_ptr<TlsFront>> TlsFront::open(const Tls& files) {
  auto library = std::make_unique<Library>();
  library->context.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* const context = library->context.get();
  library->method = make_method();
  if (context == nullptr || library->method == nullptr) {
    return Error{Code::exhausted, library_error(), "TLS"};
  }
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return Error{Code::invalid_config,
                 "cannot use this certificate. It must be PEM: " + library_error(),
                 files.certificate};
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Error{Code::invalid_config,
                 "cannot use this key. It must be PEM, without a password, and belong to the "
                 "certificate: " +
                     library_error(),
                 files.key};
  }
  return std::unique_ptr<TlsFront>(new TlsFront(std::move(library)));
}

Result<net::Connection> TlsFront::wrap(net::Loop& loop, net::Connection outer) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    return Error{Code::exhausted, std::strerror(errno), outer.peer};
  }
  net::Connection plain;
  plain.fd = UniqueFd(pair[0]);
  plain.peer = outer.peer;
  UniqueFd inner(pair[1]);
  Session session(SSL_new(library_->context.get()));
  BIO* const wire = BIO_new(library_->method.get());
  if (session == nullptr || wire == nullptr) {
    BIO_free(wire);
    return Error{Code::exhausted, library_error(), outer.peer};
  }
  BIO_set_data(wire, reinterpret_cast<void*>(static_cast<std::intptr_t>(outer.fd.get())));
  BIO_set_init(wire, 1);
  const auto pump =
      std::make_shared<Pump>(loop, std::move(session), wire, std::move(outer), inner.release());
  if (loop.add(pump)) {
    loop.post([pump] { pump->run(); });
  } else {
    pump->stop();
  }
  return plain;
}

}  // namespace hyphos::gateway::net
