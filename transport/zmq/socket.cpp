#include "transport/zmq/socket.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/mutex.hpp"

namespace hyphos::transport::zmq {

Frame Frame::of_size(std::size_t size) {
  Frame frame;
  if (zmq_msg_init_size(&frame.msg_, size) != 0) throw std::bad_alloc();
  return frame;
}

Frame Frame::copy_of(std::span<const std::byte> bytes) {
  Frame frame = of_size(bytes.size());
  if (!bytes.empty()) std::memcpy(frame.data(), bytes.data(), bytes.size());
  return frame;
}

Frame Frame::of(const Buffer& buffer) {
  if (buffer.size() < kCopyBelow) return copy_of(buffer.bytes());
  Frame frame;
  BufferOwner* owner = buffer.owner();
  if (owner != nullptr) owner->add_ref();
  // libzmq only reads sent data, although its interface is not const.
  auto* data = const_cast<std::byte*>(buffer.data());
  const auto release = [](void*, void* hint) {
    if (hint != nullptr) static_cast<BufferOwner*>(hint)->drop_ref();
  };
  if (zmq_msg_init_data(&frame.msg_, data, buffer.size(), release, owner) != 0) {
    if (owner != nullptr) owner->drop_ref();
    throw std::bad_alloc();
  }
  return frame;
}

Frame Frame::share() {
  Frame other;
  zmq_msg_copy(&other.msg_, &msg_);
  return other;
}

/// Lives until the pool and all outstanding owners are gone.
struct FramePool::Shared {
  Mutex mutex;
  Owner* free HYPHOS_GUARDED_BY(mutex) = nullptr;
  std::size_t free_count HYPHOS_GUARDED_BY(mutex) = 0;
  std::atomic<std::size_t> refs{1};

  static constexpr std::size_t kMaxFree = 256;

  ~Shared();
  void drop() noexcept;
};

class FramePool::Owner final : public BufferOwner {
 public:
  explicit Owner(Shared* shared) : shared_(shared) {}
  ~Owner() override = default;

  void hold(Frame frame) {
    reset_refs();
    frame_ = std::move(frame);
    shared_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] const Frame& frame() const { return frame_; }

  Owner* next = nullptr;

 protected:
  void release() noexcept override {
    frame_ = Frame();
    Shared* shared = shared_;
    bool kept = false;
    {
      const MutexLock lock(shared->mutex);
      if (shared->free_count < Shared::kMaxFree) {
        next = std::exchange(shared->free, this);
        ++shared->free_count;
        kept = true;
      }
    }
    if (!kept) delete this;
    shared->drop();
  }

 private:
  Shared* shared_;
  Frame frame_;
};

void FramePool::Shared::drop() noexcept {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

FramePool::Shared::~Shared() {
  while (free != nullptr) delete std::exchange(free, free->next);
}

FramePool::FramePool() : shared_(new Shared()) {}
FramePool::~FramePool() { shared_->drop(); }

Buffer FramePool::take(Frame frame) {
  const std::span<const std::byte> bytes = frame.bytes();
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment != 0) {
    return Buffer::copy_of(bytes);
  }
  Owner* owner = nullptr;
  {
    const MutexLock lock(shared_->mutex);
    if (shared_->free != nullptr) {
      owner = std::exchange(shared_->free, shared_->free->next);
      --shared_->free_count;
    }
  }
  if (owner == nullptr) owner = new Owner(shared_);
  owner->hold(std::move(frame));
  // Read again: a very small frame is inside the zmq_msg_t itself and has moved with it.
  const std::span<const std::byte> held = owner->frame().bytes();
  return {held.data(), held.size(), owner};
}

int Socket::fd() const {
  int fd = -1;
  std::size_t size = sizeof fd;
  zmq_getsockopt(raw_, ZMQ_FD, &fd, &size);
  return fd;
}

bool Socket::readable() const {
  int events = 0;
  std::size_t size = sizeof events;
  return zmq_getsockopt(raw_, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN) != 0;
}

std::string Socket::last_endpoint() const {
  char text[512] = {};
  std::size_t size = sizeof text;
  if (zmq_getsockopt(raw_, ZMQ_LAST_ENDPOINT, text, &size) != 0) return {};
  return text;
}

Error last_error(std::string what, std::string endpoint) {
  const int error = zmq_errno();
  Code code = Code::io;
  switch (error) {
    case EADDRINUSE:
      code = Code::already_exists;
      break;
    case EACCES:
    case EPERM:
      code = Code::permission;
      break;
    case EINVAL:
    case ENODEV:
    case EADDRNOTAVAIL:
    case ENOENT:
    case EPROTONOSUPPORT:
      code = Code::invalid_config;
      break;
    case EMFILE:
    case ENOMEM:
      code = Code::exhausted;
      break;
    default:
      break;
  }
  return {code, std::move(what) + ": " + zmq_strerror(error), std::move(endpoint)};
}

void set_common(Socket& socket, std::int64_t heartbeat_ms) {
  socket.set(ZMQ_SNDHWM, 0);  // the windows of the streams bound it instead
  socket.set(ZMQ_RCVHWM, kReceiveHighWater);
  socket.set(ZMQ_LINGER, 0);
  socket.set(ZMQ_HANDSHAKE_IVL, 5000);
  socket.set(ZMQ_IPV6, 1);
  if (heartbeat_ms > 0) {
    const int interval = static_cast<int>(heartbeat_ms);
    socket.set(ZMQ_HEARTBEAT_IVL, interval);
    socket.set(ZMQ_HEARTBEAT_TIMEOUT, 3 * interval);
    socket.set(ZMQ_HEARTBEAT_TTL, 3 * interval);
  }
  // Socket buffers keep their defaults: the kernel tunes those of TCP itself, and larger ones for
  // Unix sockets made messages of 1 KB to 4 MB no faster (measured).
}

}  // namespace hyphos::transport::zmq
