#include "gateway/net/stream.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cassert>
#include <cerrno>
#include <new>
#include <span>
#include <utility>

// Ownership, and the reason why no lock is held while bytes move:
//  1. Reading is a chain: a wait for the socket leads to read(), which starts the next wait. Only
//     the chain accesses callbacks_ and reader_, so callbacks are never concurrent. While the peer
//     is paused, no chain exists: a timer starts the next one.
//  2. Writing belongs to the thread that set writing_ (under the lock, when it was false): the
//     sender of a message, or the loop after a wait for the socket. Only that thread accesses
//     sending_ and sent_.
//  3. close() shuts the socket down, which ends both: the chain reads 0 bytes, and the writer gets
//     EPIPE. The later of the two closes the socket. So no descriptor number is used after another
//     connection received it.

namespace hyphos::gateway::net {
namespace {

namespace asio = boost::asio;

/// Bytes read or written for one connection before other connections get their turn.
constexpr std::size_t kBytesInTurn = std::size_t{1} << 20;
/// Bytes of a large unit that wake its reader. Loopback delivers 64 KB at a time. A wake-up for
/// each of these would cost the sender more than copying them.
constexpr std::size_t kGulp = std::size_t{256} << 10;
/// A read below this size may be all data so far: the peer may hold back more until an
/// acknowledgement.
constexpr std::size_t kSmall = std::size_t{16} << 10;
/// Longest interval between two checks whether a paused peer may continue.
constexpr Duration kLongestPause = Duration::from_ms(16);
/// Messages that one system call writes, up to this many bytes.
constexpr std::size_t kTogether = 16;
constexpr std::size_t kTogetherBytes = std::size_t{64} << 10;

/// Lists the parts of `messages` that remain after `sent` bytes.
std::size_t fill(const std::vector<Message>& messages, std::size_t sent, std::span<iovec> parts) {
  std::size_t count = 0;
  for (const Message& message : messages) {
    for (const Buffer& part : message.parts()) {
      if (part.size() <= sent) {
        sent -= part.size();
        continue;
      }
      if (count == parts.size()) return count;
      // The const_cast is safe: sendmsg() does not write to it.
      parts[count++] = {const_cast<std::byte*>(part.data()) + sent, part.size() - sent};
      sent = 0;
    }
  }
  return count;
}

void acknowledge(int fd) {
  const int now = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &now, sizeof now);
}

}  // namespace

class Stream::Socket {
 public:
  Socket(Loop& loop, UniqueFd fd) : descriptor_(loop.context(), fd.release()) {}

  template <typename Handler>
  void wait_to_read(Handler handler) {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, std::move(handler));
  }
  template <typename Handler>
  void wait_to_write(Handler handler) {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_write, std::move(handler));
  }
  void wake_at(int bytes) {
    ::setsockopt(descriptor_.native_handle(), SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes);
  }
  void shut(int how) { ::shutdown(descriptor_.native_handle(), how); }

 private:
  asio::posix::stream_descriptor descriptor_;
};

std::shared_ptr<Stream> Stream::open(Loop& loop, Connection connection, const Options& options) {
  std::shared_ptr<Stream> stream(new Stream(loop, std::move(connection), options));
  if (!loop.add(stream)) stream->close();
  return stream;
}

Stream::Stream(Loop& loop, Connection connection, const Options& options)
    : loop_(loop),
      options_(options),
      connection_(std::move(connection)),
      fd_(connection_.fd.get()),
      socket_(std::make_unique<Socket>(loop, std::move(connection_.fd))),
      queue_(options.queue) {}

Stream::~Stream() {
  // Only a stream that was never started is destroyed before its end.
  if (state_ == State::ended) return;
  linger_ = {};
  socket_.reset();
  loop_.remove(this);
}

void Stream::start(Callbacks callbacks) {
  const MutexLock lock(mutex_);
  assert(!reading_);
  if (state_ == State::ended) {
    if (callbacks.closed) loop_.post(std::move(callbacks.closed));
    return;
  }
  callbacks_ = std::move(callbacks);
  reading_ = true;
  wait_to_read();
}

void Stream::read() {
  try {
    if (holds_up_) {
      deliver();
    } else {
      arrived_ns_ = monotonic_now().ns;
    }
    std::size_t budget = kBytesInTurn;
    while (state_ < State::closing && !holds_up_ && read_some(budget)) {
    }
  } catch (const std::bad_alloc&) {
    at_end_ = true;
  }
  const MutexLock lock(mutex_);
  if (state_ < State::closing && !at_end_) return holds_up_ ? ask_again() : wait_to_read();
  reading_ = false;
  cut();
  end_if_over();
}

void Stream::wait_to_read() {
  const int gulp = static_cast<int>(std::clamp(reader_.missing(), std::size_t{1}, kGulp));
  if (gulp != gulp_) socket_->wake_at(gulp_ = gulp);
  socket_->wait_to_read([self = shared_from_this()](const auto&) { self->read(); });
}

void Stream::ask_again() {
  reading_ = false;
  held_ = true;
  again_ = loop_.after(pause_, [self = shared_from_this()] { self->go_on(); });
  pause_ = std::min(pause_ * 2, kLongestPause);
}

void Stream::go_on() {
  {
    const MutexLock lock(mutex_);
    if (!held_ || state_ >= State::closing) return;
    held_ = false;
    reading_ = true;
  }
  read();
}

bool Stream::read_some(std::size_t& budget) {
  std::array<iovec, 2> space = reader_.space();
  msghdr header{};
  header.msg_iov = space.data();
  header.msg_iovlen = space.size();
  const ssize_t got = ::recvmsg(fd_, &header, MSG_DONTWAIT);
  if (got <= 0) {
    if (got < 0 && errno == EINTR) return true;
    at_end_ = got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    return false;
  }
  const auto size = static_cast<std::size_t>(got);
  // A peer with Nagle's algorithm sends its next small message after the acknowledgement of this
  // one. The kernel delays that by 40 ms, and then all of them arrive together. The kernel resets
  // the option, so each small read sets it again.
  if (size < kSmall) acknowledge(fd_);
  reader_.filled(size);
  heard_ns_.store(monotonic_now().ns, std::memory_order_relaxed);
  deliver();
  if (size < space[0].iov_len + space[1].iov_len || size >= budget) return false;
  budget -= size;
  return true;
}

void Stream::deliver() {
  if (callbacks_.part) {
    if (const UnitReader::Part part = reader_.arrived(); !part.bytes.empty()) callbacks_.part(part);
  }
  while (state_ == State::open) {
    if (callbacks_.ready && !callbacks_.ready()) {
      holds_up_ = true;
      return;
    }
    if (holds_up_) {
      pause_ = kFirstPause;
      // A paused peer could not send more. The time must be set before holds_up_ is cleared.
      heard_ns_ = monotonic_now().ns;
      holds_up_ = false;
    }
    const auto unit = reader_.next(callbacks_.measure, callbacks_.memory);
    if (!unit) {
      if (callbacks_.refused) callbacks_.refused(unit.error());
      finish();
      break;
    }
    if (!unit->has_value()) return;
    callbacks_.unit(**unit);
  }
  holds_up_ = false;
  reader_.discard();
}

std::size_t Stream::send(Key key, Message message, std::size_t depth) {
  std::vector<Message> dropped;  // freed after the lock is released
  {
    UniqueLock lock(mutex_);
    if (writing_ && message.is_lent()) {
      lock.unlock();  // released during the copy
      message.keep();
      lock.lock();
    }
    if (state_ != State::open) return 0;
    if (writing_) {
      const bool taken = queue_.push(key, std::move(message), dropped, depth);
      if (!taken && key == kControl) cut();
      return dropped.size();
    }
    writing_ = true;
    to_send_ = message.size();
    sending_.push_back(std::move(message));
  }
  write(kBytesInTurn);
  return 0;
}

void Stream::write(std::size_t budget) {
  while (next_to_write()) {
    if (budget == 0) return wait_to_write();
    std::array<iovec, kTogether * Message::kMostParts> parts;
    msghdr header{};
    header.msg_iov = parts.data();
    header.msg_iovlen = fill(sending_, sent_, parts);
    const ssize_t done = ::sendmsg(fd_, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return wait_to_write();
      sending_.clear();
      const MutexLock lock(mutex_);
      cut();
      continue;
    }
    const auto size = static_cast<std::size_t>(done);
    sent_ += size;
    if (sent_ == to_send_) sending_.clear();
    budget -= std::min(budget, size);
  }
}

/// Ensures that sending_ has data. Returns false if there is none. The caller is then no longer the
/// writer.
bool Stream::next_to_write() {
  if (!sending_.empty()) return true;
  sent_ = to_send_ = 0;
  const MutexLock lock(mutex_);
  if (state_ < State::closing && !queue_.empty()) {
    while (!queue_.empty() && sending_.size() < kTogether && to_send_ < kTogetherBytes) {
      sending_.push_back(queue_.pop());
      to_send_ += sending_.back().size();
    }
    return true;
  }
  writing_ = false;
  if (state_ == State::finishing) socket_->shut(SHUT_WR);
  end_if_over();
  return false;
}

void Stream::wait_to_write() {
  const MutexLock lock(mutex_);
  socket_->wait_to_write([self = shared_from_this()](const auto&) { self->write(kBytesInTurn); });
}

void Stream::finish() {
  const MutexLock lock(mutex_);
  if (state_ != State::open) return;
  state_ = State::finishing;
  if (!writing_) socket_->shut(SHUT_WR);
  linger_ = loop_.after(options_.linger, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->close();
  });
}

void Stream::close() {
  const MutexLock lock(mutex_);
  cut();
  end_if_over();
}

std::size_t Stream::waiting() const {
  const MutexLock lock(mutex_);
  return queue_.bytes();
}

// The socket may hold bytes that are too few to wake the reader, so this asks the kernel. The
// kernel counts in ticks. A time that is only slightly later than the known one is treated as
// equal. A stall between the kernel's answer and the look at the clock would make the time later,
// so the question is then repeated.
Time Stream::heard() {
  constexpr std::int64_t kTicks = 20'000'000;
  const MutexLock lock(mutex_);
  tcp_info told{};
  socklen_t size = sizeof told;
  while (socket_) {
    const std::int64_t asked = monotonic_now().ns;
    if (::getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &told, &size) != 0) break;
    const std::int64_t now = monotonic_now().ns;
    if (now - asked > kTicks) continue;
    const std::int64_t last = now - told.tcpi_last_data_recv * 1'000'000LL;
    std::int64_t known = heard_ns_;
    while (last > known + kTicks && !heard_ns_.compare_exchange_weak(known, last)) {
    }
    break;
  }
  return {heard_ns_};
}

void Stream::cut() {
  if (state_ >= State::closing) return;
  state_ = State::closing;
  socket_->shut(SHUT_RDWR);
}

void Stream::end_if_over() {
  if (reading_ || writing_ || state_ != State::closing) return;
  state_ = State::ended;
  loop_.post([self = shared_from_this()] { self->end(); });
}

void Stream::end() {
  Timer linger;
  Timer again;
  Callbacks callbacks;
  SendQueue queue(options_.queue);
  {
    const MutexLock lock(mutex_);
    socket_.reset();
    std::swap(linger, linger_);
    std::swap(again, again_);
    std::swap(queue, queue_);
    std::swap(callbacks, callbacks_);
  }
  reader_ = {};
  connection_.place.reset();
  loop_.remove(this);
  if (callbacks.closed) callbacks.closed();
}

}  // namespace hyphos::gateway::net
