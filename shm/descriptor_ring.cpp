#include "shm/descriptor_ring.hpp"

#include "base/hot.hpp"

namespace hyphos::shm {

Result<DescriptorRing> DescriptorRing::create(const Domain& domain, std::uint64_t receiver,
                                              std::uint64_t serial, std::uint64_t sender,
                                              std::uint32_t depth, std::uint32_t index,
                                              std::uint64_t type_hash, std::string_view channel) {
  const std::string name = ring_name(receiver, serial);
  const std::uint64_t size = ring_size(depth);
  auto file = domain.create(size, name);
  if (!file) return file.error();
  auto mapping = Mapping::map(file->get(), 0, size, Mapping::Access::write, true);
  if (!mapping) return mapping.error();
  DescriptorRing ring;
  ring.mapping_ = std::move(*mapping);
  ring.depth_ = depth;
  ring.index_ = index;
  RingHeader& header = ring.header();
  header.file = {kMagic, kLayoutVersion, FileKind::ring, receiver, size};
  header.sender = sender;
  header.type_hash = type_hash;
  header.depth = depth;
  header.index = index;
  put_text(header.channel, channel);
  if (auto linked = domain.publish(*file, name); !linked) return linked.error();
  return ring;
}

Result<DescriptorRing> DescriptorRing::open(const Domain& domain, std::uint64_t receiver,
                                            std::uint64_t serial, std::uint64_t sender) {
  const std::string name = ring_name(receiver, serial);
  std::uint64_t size = 0;
  auto file = domain.open_file(name, size);
  if (!file) return file.error();
  const Error bad{Code::corrupt, "is not a queue of this sender", domain.path() + "/" + name};
  if (size < sizeof(RingHeader)) return bad;
  auto mapping = Mapping::map(file->get(), 0, size, Mapping::Access::write, true);
  if (!mapping) return mapping.error();
  DescriptorRing ring;
  ring.mapping_ = std::move(*mapping);
  ring.depth_ = check_ring(ring.header(), receiver, sender, size);
  ring.index_ = ring.header().index % kMaxRings;
  if (ring.depth_ == 0) return bad;
  return ring;
}

HYPHOS_HOT std::uint64_t DescriptorRing::waiting() const {
  // Read head first: it never overtakes tail, so the difference is never negative in a sound ring.
  const std::uint64_t head = header().head.load(std::memory_order_acquire);
  return header().tail.load(std::memory_order_acquire) - head;
}

HYPHOS_HOT DescriptorRing::Outcome DescriptorRing::push(const Descriptor& message) {
  const std::uint64_t tail = header().tail.load(std::memory_order_relaxed);
  // Sequentially consistent for wake(): a waiting sender checks this once more.
  const std::uint64_t used = tail - header().head.load(std::memory_order_seq_cst);
  if (used == depth_) return Outcome::full;
  if (used > depth_) return Outcome::corrupt;
  RingCell& at = cell(tail);
  at.where.store(std::uint64_t{message.segment} << 32 | message.slot, std::memory_order_relaxed);
  at.flags.store(message.replayed ? kReplayed : 0, std::memory_order_relaxed);
  header().tail.store(tail + 1, std::memory_order_release);
  return Outcome::ok;
}

}  // namespace hyphos::shm
