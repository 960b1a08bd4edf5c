#include <stdlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/log.hpp"
#include "shm/descriptor_ring.hpp"
#include "shm/segment.hpp"
#include "transport/shm/shm.hpp"

namespace {

using namespace hyphos;
using namespace hyphos::transport;

class In final : public ReceiveSink {
 public:
  bool deliver(Envelope& message, ReadyList*) override {
    // Reads all of the received bytes.
    std::uint64_t sum = 0;
    const auto add = [&](const Buffer& buffer) {
      for (const std::byte b : buffer.bytes()) sum += std::to_integer<std::uint64_t>(b);
    };
    add(message.payload);
    for (const Buffer& buffer : message.buffers) add(buffer);
    sink.store(sum);
    if (message.meta.sender == 1) {
      good.store(message.meta.sequence);
      good.notify_all();
    }
    message = {};
    return true;
  }
  void dropped(std::string_view, Drop, std::uint64_t) override {}
  void peer(std::string_view, std::string_view, std::uint64_t, bool) override {}
  void refused(std::string_view, const Error&) override {}
  std::atomic<std::uint64_t> sink{0};
  std::atomic<std::uint64_t> good{0};
};

class Out final : public SendEvents {
 public:
  void listeners(std::string_view, std::uint32_t count) override {
    receivers.store(count);
    receivers.notify_all();
  }
  void dropped(std::string_view, Drop, std::uint64_t) override {}
  void refused(std::string_view, const Error&) override {}
  std::atomic<std::uint32_t> receivers{0};
};

ChannelSpec channel(const char* name) {
  return {name, make_type_id("fuzz", Encoding::bytes), reliable_policy(8)};
}

/// A receiver, a well-behaved sender, and a sender whose files the fuzzer modifies.
class World {
 public:
  World() {
    log::set_level(log::Level::off);
    std::string name = "/dev/shm/hyphos-fuzz-XXXXXX";
    folder_ = mkdtemp(name.data());
    receiver_ = join();
    good_ = join();
    (void)receiver_->open(channel("good"), &good_in_, nullptr).or_throw();
    (void)receiver_->open(channel("bad"), &bad_in_, nullptr).or_throw();
    good_port_ = good_->open(channel("good"), nullptr, &good_out_).or_throw();
    while (good_out_.receivers.load() == 0) good_out_.receivers.wait(0);
  }
  ~World() {
    good_.reset();
    bad_.reset();
    receiver_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void play(const std::uint8_t* data, std::size_t size) {
    if (bad_ == nullptr) start_bad();
    const auto domain = shm::Domain::open(folder_, "0").or_throw();
    auto receiver = shm::Control::open(domain, receiver_->participant_id()).or_throw();
    auto bad = shm::Control::open(domain, bad_->participant_id());
    const auto segment = shm::Segment::open(domain, bad_->participant_id(), 0);
    std::optional<shm::DescriptorRing> ring;
    if (const auto rings = receiver.rings()) {
      for (const shm::RingRecord& record : *rings) {
        if (record.sender != bad_->participant_id()) continue;
        if (auto opened =
                shm::DescriptorRing::open(domain, receiver.id(), record.serial, record.sender)) {
          ring = std::move(*opened);
        }
      }
    }
    bool spoiled = false;
    // Six bytes each: file, offset, value.
    for (; size >= 6; data += 6, size -= 6) {
      std::uint16_t offset = 0;
      std::uint16_t value = 0;
      std::memcpy(&offset, data + 2, 2);
      std::memcpy(&value, data + 4, 2);
      const auto put = [&](void* base, std::size_t limit) {
        auto* at = static_cast<std::byte*>(base) + offset % (limit - 8);
        const std::uint64_t wide = data[1] % 2 == 0 ? value : ~std::uint64_t{value};
        std::memcpy(at, &wide, data[1] % 8 + 1);
      };
      switch (data[0] % 5) {
        case 0:
          if (segment)
            put(&(*segment)->message(data[1] % (*segment)->slots()), sizeof(shm::MessageHeader));
          break;
        case 1:
          if (ring) (void)ring->push({std::uint32_t{data[1]} % 4, value % 70U, false});
          break;
        case 2:
          if (ring) put(&ring->header(), shm::ring_size(ring->depth())), spoiled = true;
          break;
        case 3:
          if (segment) put(&(*segment)->control(0), sizeof(shm::SlotControl) * 4), spoiled = true;
          break;
        default:
          if (bad) {
            auto& endpoints = bad->chunk(0).endpoints;
            put(endpoints.data(), sizeof(endpoints[0]) * 2), spoiled = true;
            bad->header().table_version.fetch_add(1);
          }
      }
    }
    for (auto& ready : receiver.header().ready) ready.store(~std::uint64_t{0});
    shm::wake(receiver.header().asleep);
    const std::uint64_t sequence = ++sequence_;
    Envelope message;
    message.meta.sender = 1;
    message.meta.sequence = sequence;
    message.meta.type_hash = channel("good").type.hash;
    message.payload = Buffer::copy_of("served all the same");
    (void)good_->send(good_port_, message);
    for (std::uint64_t seen = good_in_.good.load(); seen < sequence; seen = good_in_.good.load()) {
      good_in_.good.wait(seen);
    }
    // A process that corrupts its own tables cannot be used for the next input.
    if (spoiled) bad_.reset();
  }

 private:
  [[nodiscard]] std::unique_ptr<ShmTransport> join() const {
    ShmConfig config;
    config.base_dir = folder_;
    config.pool_limit_bytes = 4 << 20;
    auto made = make_shm(config);
    made->start().or_throw();
    return made;
  }
  void start_bad() {
    bad_out_.receivers.store(0);
    bad_ = join();
    const PortId port = bad_->open(channel("bad"), nullptr, &bad_out_).or_throw();
    while (bad_out_.receivers.load() == 0) bad_out_.receivers.wait(0);
    Envelope message;
    message.meta.type_hash = channel("bad").type.hash;
    message.payload = Buffer::copy_of("to make a segment");
    (void)bad_->send(port, message);
  }

  std::filesystem::path folder_;
  In good_in_;
  In bad_in_;
  Out good_out_;
  Out bad_out_;
  std::unique_ptr<ShmTransport> receiver_;
  std::unique_ptr<ShmTransport> good_;
  std::unique_ptr<ShmTransport> bad_;
  PortId good_port_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace

/// For any modification of its shared memory by a broken process, the receiver neither crashes nor
/// hangs, and still serves the well-behaved sender.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static World world;
  world.play(data, size);
  return 0;
}
