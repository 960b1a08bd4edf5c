#include "shm/tools.hpp"

#include <algorithm>

#include "shm/control.hpp"
#include "shm/descriptor_ring.hpp"
#include "shm/segment.hpp"

namespace hyphos::shm {
namespace {

std::vector<std::string> chosen(const std::string& domain, const std::filesystem::path& base) {
  return domain.empty() ? domains(base) : std::vector<std::string>{domain};
}

void list_segment(const Domain& domain, std::uint64_t id, const std::string& file, Listing& into) {
  const std::string number = file.substr(17, file.size() - 17 - std::string(".pool").size());
  if (number.empty() || number.size() > 9 ||
      !std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return;
  }
  const auto segment = Segment::open(domain, id, static_cast<std::uint32_t>(std::stoul(number)));
  if (!segment) return;
  const Segment& from = **segment;
  SegmentInfo info{file, to_hex(id), from.file_size(), from.slots(), from.slot_size(), 0, 0};
  for (std::uint32_t slot = 0; slot < from.slots(); ++slot) info.used += from.is_held(slot) ? 1 : 0;
  info.holders = from.holders();
  into.segments.push_back(std::move(info));
}

void list_rings(const Domain& domain, Control& receiver, ParticipantInfo& info, Listing& into) {
  if (const auto ends = receiver.endpoints()) info.ends = static_cast<std::uint32_t>(ends->size());
  const auto records = receiver.rings();
  if (!records) return;
  info.queues = static_cast<std::uint32_t>(records->size());
  for (const RingRecord& record : *records) {
    if (record.refused != 0) continue;
    const auto ring = DescriptorRing::open(domain, receiver.id(), record.serial, record.sender);
    if (!ring) continue;
    RingInfo queue;
    queue.channel = get_text(ring->header().channel);
    queue.sender = to_hex(record.sender);
    queue.receiver = to_hex(receiver.id());
    queue.depth = ring->depth();
    queue.waiting = ring->waiting();
    for (const auto& count : ring->header().drops) queue.drops += count.load();
    into.rings.push_back(std::move(queue));
  }
}

}  // namespace

Result<Listing> list(const std::string& domain_name, const std::filesystem::path& base) {
  Listing listing;
  const Domain::Space space = Domain::space_at(base);
  listing.free_bytes = space.free;
  listing.total_bytes = space.total;
  for (const std::string& name : chosen(domain_name, base)) {
    auto domain = Domain::find(base, name);
    if (!domain && domain.error().code == Code::not_found) continue;  // removed, or never existed
    if (!domain) return domain.error();
    for (const std::uint64_t id : domain->participants()) {
      ParticipantInfo info;
      info.domain = name;
      info.id = to_hex(id);
      info.alive = !domain->is_dead(id);
      if (auto control = Control::open(*domain, id)) {
        info.pid = control->pid();
        info.process = control->process();
        info.host = control->host();
        info.version = kLayoutVersion;
        list_rings(*domain, *control, info, listing);
      }
      listing.participants.push_back(std::move(info));
    }
    for (const std::string& file : domain->files()) {
      if (file.ends_with(".pool") && owner_of(file) != 0) {
        list_segment(*domain, owner_of(file), file, listing);
      }
    }
  }
  return listing;
}

Result<std::vector<std::string>> clean(const std::string& domain_name,
                                       const std::filesystem::path& base) {
  std::vector<std::string> removed;
  for (const std::string& name : chosen(domain_name, base)) {
    auto domain = Domain::find(base, name);
    if (!domain && domain.error().code == Code::not_found) continue;
    if (!domain) return domain.error();
    for (const std::string& file : domain->clean()) removed.push_back(domain->path() + "/" + file);
    if (domain->remove_if_empty()) removed.push_back(domain->path());
  }
  return removed;
}

}  // namespace hyphos::shm
