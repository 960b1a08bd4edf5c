// The floor between processes: a ring in mapped memory and one futex call per message. Nothing is
// copied except the header (and recorded bytes), nothing is checked, and no process may die. A
// chain of these edges is the floor of the pipelines.

#include "base/futex.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "lab/common/main.hpp"

namespace hyphos::lab {
namespace {

constexpr std::uint32_t kSlots = 8;

struct alignas(64) Control {
  alignas(64) std::atomic<std::uint32_t> head;      // messages written
  alignas(64) std::atomic<std::uint32_t> sleepers;  // subscribers about to wait on head
  alignas(64) std::atomic<std::uint32_t> tail;      // messages read (flood only: one subscriber)
  alignas(64) std::atomic<std::uint32_t> blocked;   // publisher about to wait on tail
  std::size_t sizes[kSlots];                        // written before head
};

class FutexEdge {
 public:
  FutexEdge(const Edge& edge, std::size_t size)
      : block_(edge.block), stride_((size + 4095) / 4096 * 4096) {
    const int fd = open(edge.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const std::size_t length = 4096 + kSlots * stride_;
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(length)) != 0) {
      throw std::runtime_error("cannot make " + edge.path);
    }
    void* base = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (base == MAP_FAILED) throw std::runtime_error("cannot map " + edge.path);
    control_ = static_cast<Control*>(base);
    slots_ = static_cast<std::byte*>(base) + 4096;
    seen_ = control_->head.load();
  }

  void publish(std::size_t size, Fill fill) {
    auto& c = *control_;
    const std::uint32_t head = c.head.load(std::memory_order_relaxed);
    for (std::uint32_t tail; block_ && head - (tail = c.tail.load()) >= kSlots;) {
      c.blocked.store(1);
      futex::wait_for(c.tail, tail, 100'000'000, futex::Scope::shared);
      c.blocked.store(0);
    }
    fill(slots_ + head % kSlots * stride_);
    c.sizes[head % kSlots] = size;
    c.head.store(head + 1);
    if (c.sleepers.load() > 0) futex::wake_all(c.head, futex::Scope::shared);
  }

  void receive(const OnMessage& on_message) {
    auto& c = *control_;
    if (c.head.load() == seen_) {
      c.sleepers.fetch_add(1);
      futex::wait(c.head, seen_, futex::Scope::shared);
      c.sleepers.fetch_sub(1);
    }
    for (std::uint32_t head; seen_ != (head = c.head.load());) {
      // A subscriber that fell behind has lost the messages in slots that are used again. The
      // publisher may be writing the oldest of these slots now.
      if (!block_ && head - seen_ >= kSlots) seen_ = head - kSlots + 1;
      on_message(slots_ + seen_ % kSlots * stride_, c.sizes[seen_ % kSlots]);
      ++seen_;
      if (!block_) continue;
      c.tail.store(seen_);
      if (c.blocked.load() != 0) futex::wake_all(c.tail, futex::Scope::shared);
    }
  }

 private:
  bool block_;
  std::size_t stride_;
  Control* control_ = nullptr;  // mapped for the life of the process
  std::byte* slots_ = nullptr;
  std::uint32_t seen_ = 0;
};

class FutexPeer : public Peer {
 public:
  static constexpr const char* kName = "futex";
  static std::vector<Variant> variants() {
    return {{"",
             {Shape::kPair, Shape::kEcho, Shape::kPipeline, Shape::kFanout, Shape::kFlood},
             1u << 30,
             true}};
  }

  using Peer::Peer;
  void open_publisher(const Edge& edge) override {
    out_ = std::make_unique<FutexEdge>(edge, options_.size);
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    in_ = std::make_unique<FutexEdge>(edge, options_.size);
    on_message_ = std::move(on_message);
  }
  void publish(std::size_t size, Fill fill) override { out_->publish(size, fill); }
  void forward(const void* data, std::size_t size) override {
    const std::size_t copied = options_.recorded.empty() ? sizeof(Header) : size;
    out_->publish(size, [&](std::byte* out) { std::memcpy(out, data, copied); });
  }
  void spin(const std::function<bool()>& stopped) override {
    while (!stopped()) in_->receive(on_message_);
  }

 private:
  std::unique_ptr<FutexEdge> out_, in_;
  OnMessage on_message_;
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  return hyphos::lab::lab_main<hyphos::lab::FutexPeer>(argc, argv);
}
