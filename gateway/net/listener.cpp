#include "gateway/net/listener.hpp"

#include <sys/socket.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/mutex.hpp"
#include "gateway/net/address.hpp"

namespace hyphos::gateway::net {
namespace {

namespace asio = boost::asio;

/// Connections accepted per turn, so that a flood of connections does not keep the loop from other
/// work.
constexpr int kAcceptsInTurn = 16;
/// The pause when descriptors or memory are exhausted, until other connections end.
constexpr Duration kPause = Duration::from_ms(100);
/// Refused clients that may be open at once to receive an error. Beyond it, a client is closed
/// without one.
constexpr std::size_t kMostRefused = 16;

using Count = std::shared_ptr<std::atomic<std::size_t>>;

Count make_count() { return std::make_shared<std::atomic<std::size_t>>(0); }

/// Counts one more until the handle is dropped. Null if that would exceed `most`.
std::shared_ptr<void> take_place(const Count& count, std::size_t most) {
  if (count->fetch_add(1) >= most) {
    count->fetch_sub(1);
    return nullptr;
  }
  return {count.get(), [count](void*) { count->fetch_sub(1); }};
}

Error cannot_bind(const Listener::Options& options, int failed) {
  const std::string where = options.host + ":" + std::to_string(options.port);
  if (failed == EADDRINUSE) {
    const std::string owner = who_listens(options.port);
    return {Code::already_exists,
            "port " + std::to_string(options.port) + " is in use" +
                (owner.empty() ? std::string() : " by " + owner) +
                ". Stop that program, or choose another port",
            where};
  }
  if (failed == EACCES) {
    return {Code::permission,
            "port " + std::to_string(options.port) + " needs privileges. Choose a port above 1023",
            where};
  }
  return {Code::io,
          "cannot listen on port " + std::to_string(options.port) + ": " + std::strerror(failed),
          where};
}

Result<UniqueFd> bind_one(const Listener::Options& options) {
  const auto addresses = resolve(options.host, options.port, true);
  if (!addresses) return addresses.error();
  int failed = EADDRNOTAVAIL;
  for (const Address& address : *addresses) {
    UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd.valid()) {
      failed = errno;
      continue;
    }
    const int yes = 1;
    // SO_REUSEADDR allows a restart while connections of the last run are still in TIME_WAIT. It
    // does not share the port, which Linux refuses anyway.
    (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(fd.get(), address.get(), address.size) == 0 && ::listen(fd.get(), SOMAXCONN) == 0) {
      return fd;
    }
    failed = errno;
  }
  return cannot_bind(options, failed);
}

}  // namespace

class Listener::State final : public Loop::Item, public std::enable_shared_from_this<State> {
 public:
  State(Loop& loop, const Options& options, Callbacks callbacks, UniqueFd fd)
      : loop_(loop),
        max_clients_(options.max_clients),
        callbacks_(std::move(callbacks)),
        address_(local_address(fd.get())) {
    descriptor_.emplace(loop.context(), fd.release());
  }

  void start() {
    const MutexLock lock(mutex_);
    if (loop_.add(shared_from_this())) {
      wait();
    } else {
      descriptor_.reset();
    }
  }

  /// When it returns, no callback is running, unless a callback called it.
  void stop() override {
    {
      const MutexLock lock(mutex_);
      if (!std::exchange(stopped_, true) && descriptor_) {
        descriptor_.reset();  // its wait ends with an error, which ends the chain of waits
        pause_ = {};
        loop_.remove(this);
      }
    }
    if (running_in_ == std::this_thread::get_id()) return;
    const MutexLock idle(running_);
  }

  [[nodiscard]] const Address& address() const { return address_; }
  [[nodiscard]] std::size_t clients() const { return *clients_; }

 private:
  void wait() HYPHOS_REQUIRES(mutex_) {
    descriptor_->async_wait(
        asio::posix::stream_descriptor::wait_read,
        [self = shared_from_this()](const boost::system::error_code&) { self->accept(); });
  }

  void resume() {
    const MutexLock lock(mutex_);
    if (!stopped_) wait();
  }

  void accept() {
    const MutexLock running(running_);
    running_in_ = std::this_thread::get_id();
    bool pause = false;
    for (int i = 0; i < kAcceptsInTurn; ++i) {
      UniqueFd fd = next(pause);
      if (!fd.valid()) break;
      hand_out(std::move(fd));
    }
    running_in_ = std::thread::id();
    const MutexLock lock(mutex_);
    if (stopped_) return;
    if (!pause) return wait();
    pause_ = loop_.after(kPause, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->resume();
    });
  }

  UniqueFd next(bool& pause) {
    const MutexLock lock(mutex_);
    while (!stopped_) {
      UniqueFd fd(
          ::accept4(descriptor_->native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd.valid()) return fd;
      if (errno == EINTR || errno == ECONNABORTED) continue;
      pause = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      break;
    }
    return {};
  }

  void hand_out(UniqueFd fd) {
    Connection made;
    prepare(fd.get());
    made.peer = peer_address(fd.get()).text();
    made.fd = std::move(fd);
    made.place = take_place(clients_, max_clients_);
    if (made.place == nullptr) {
      made.place = take_place(refused_, kMostRefused);
      if (made.place != nullptr && callbacks_.refused) callbacks_.refused(std::move(made));
      return;
    }
    callbacks_.accepted(std::move(made));
  }

  Loop& loop_;
  const std::size_t max_clients_;
  const Callbacks callbacks_;
  const Address address_;
  const Count clients_ = make_count();
  const Count refused_ = make_count();

  Mutex running_;  ///< held while callbacks run
  std::atomic<std::thread::id> running_in_;

  Mutex mutex_;
  std::optional<asio::posix::stream_descriptor> descriptor_ HYPHOS_GUARDED_BY(mutex_);
  Timer pause_ HYPHOS_GUARDED_BY(mutex_);
  bool stopped_ HYPHOS_GUARDED_BY(mutex_) = false;
};

Result<std::unique_ptr<Listener>> Listener::open(Loop& loop, const Options& options,
                                                 Callbacks callbacks) {
  auto fd = bind_one(options);
  if (!fd) return fd.error();
  auto state = std::make_shared<State>(loop, options, std::move(callbacks), std::move(*fd));
  state->start();
  return std::unique_ptr<Listener>(new Listener(std::move(state)));
}

Listener::Listener(std::shared_ptr<State> state) : state_(std::move(state)) {}
Listener::~Listener() { state_->stop(); }

std::uint16_t Listener::port() const { return state_->address().port(); }
std::string Listener::address() const { return state_->address().text(); }
std::size_t Listener::clients() const { return state_->clients(); }

}  // namespace hyphos::gateway::net
