#include "cosim/remote/ipc_channel.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>

namespace hyphos::cosim {
namespace {

constexpr std::uint64_t kMagic = 0x316d69736f637968U;  // "hycosim1"
constexpr std::size_t kPage = 4096;
constexpr Duration kSpin = Duration::from_us(50);
constexpr Duration kSlice = Duration::from_ms(20);

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

Error unasked() { return {Code::corrupt, "replies without a request", "cosim"}; }

}  // namespace

std::size_t IpcChannel::size_for(std::size_t capacity) { return kPage + 2 * capacity; }

Result<IpcChannel> IpcChannel::create(std::size_t capacity) {
  capacity = (capacity + kPage - 1) / kPage * kPage;
  IpcChannel channel;
  channel.fd_ = UniqueFd(::memfd_create("hyphos-cosim", MFD_CLOEXEC));
  if (!channel.fd_.valid()) return shm::os_error(errno, "cannot create shared memory", "cosim");
  const std::size_t size = size_for(capacity);
  if (::ftruncate(channel.fd_.get(), static_cast<off_t>(size)) != 0) {
    return shm::os_error(errno, "cannot create shared memory", "cosim");
  }
  auto mapping = shm::Mapping::map(channel.fd_.get(), 0, size, shm::Mapping::Access::write, false);
  if (!mapping) return mapping.error();
  channel.mapping_ = std::move(*mapping);
  channel.capacity_ = capacity;
  channel.header().magic = kMagic;
  channel.header().capacity = capacity;
  return channel;
}

Result<IpcChannel> IpcChannel::open(UniqueFd fd) {
  static_assert(sizeof(Header) <= kPage);
  IpcChannel channel;
  channel.fd_ = std::move(fd);
  channel.end_ = End::worker;
  struct stat info{};
  if (::fstat(channel.fd_.get(), &info) != 0) {
    return shm::os_error(errno, "the file descriptor is not shared memory of a co-simulation",
                         "cosim");
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  const Error bad{Code::corrupt, "the file descriptor is not shared memory of a co-simulation",
                  "cosim"};
  if (size < size_for(kPage)) return bad;
  auto mapping = shm::Mapping::map(channel.fd_.get(), 0, size, shm::Mapping::Access::write, false);
  if (!mapping) return mapping.error();
  channel.mapping_ = std::move(*mapping);
  channel.capacity_ = channel.header().capacity;
  if (channel.header().magic != kMagic || channel.capacity_ > size ||
      size_for(channel.capacity_) != size) {
    return bad;
  }
  return channel;
}

IpcChannel::Mailbox& IpcChannel::outgoing() const {
  return end_ == End::engine ? header().request : header().answer;
}

IpcChannel::Mailbox& IpcChannel::incoming() const {
  return end_ == End::engine ? header().answer : header().request;
}

std::byte* IpcChannel::area(End of_writer) const {
  return mapping_.data() + kPage + (of_writer == End::engine ? 0 : capacity_);
}

Result<void> IpcChannel::send(std::span<const std::byte> message) {
  if (message.size() > capacity_) {
    return Error{Code::exhausted,
                 "a message of " + std::to_string(message.size()) +
                     " bytes does not fit into shared memory of " + std::to_string(capacity_),
                 "cosim"};
  }
  // Otherwise that reply would be taken for the reply to this message.
  if (incoming().turn.load(std::memory_order_acquire) != received_) return unasked();
  std::ranges::copy(message, area(end_));
  Mailbox& box = outgoing();
  box.size.store(static_cast<std::uint32_t>(message.size()), std::memory_order_relaxed);
  box.turn.fetch_add(1, std::memory_order_seq_cst);  // L2
  shm::wake(box.sleeping);
  return success();
}

Result<void> IpcChannel::receive(std::vector<std::byte>& message, Time deadline,
                                 const std::function<Result<void>()>& check) {
  Mailbox& box = incoming();
  const auto arrived = [&] { return box.turn.load(std::memory_order_acquire) != received_; };
  // With one processor the other process cannot run while this one spins.
  static const bool alone = std::thread::hardware_concurrency() < 2;
  const Time start = monotonic_now();
  while (!arrived() && !alone && monotonic_now() - start < kSpin) {
    for (int i = 0; i < 64 && !arrived(); ++i) relax();
  }
  while (!arrived()) {
    const Time now = monotonic_now();
    if (now >= deadline) return Error{Code::timeout, "no reply in time", "cosim"};
    if (check) {
      if (auto useful = check(); !useful) return useful;
    }
    box.sleeping.store(1, std::memory_order_seq_cst);
    if (arrived()) break;
    shm::futex_wait(box.sleeping, 1, check ? std::min(deadline, now + kSlice).ns : deadline.ns);
  }
  const std::uint32_t turn = box.turn.load(std::memory_order_acquire);
  if (turn != received_ + 1) return unasked();
  received_ = turn;
  const std::size_t size = box.size.load(std::memory_order_relaxed);
  if (size > capacity_) {
    return Error{Code::corrupt, "a reply that claims " + std::to_string(size) + " bytes", "cosim"};
  }
  const End writer = end_ == End::engine ? End::worker : End::engine;
  message.assign(area(writer), area(writer) + size);  // L3
  return success();
}

}  // namespace hyphos::cosim
