// Prints the layout of shared memory in this build as JSON: the listing of `shm` or of `metrics`.
// The number of the layout must change whenever a line changes, because processes with equal
// numbers map each other's memory. The number of the metrics is in trace/area.hpp.

#include "shm/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>

#include "trace/record.hpp"

namespace {

bool first = true;

void line(std::string_view name, std::uint64_t value) {
  std::cout << (first ? "{\n" : ",\n") << '"' << name << "\": " << value;
  first = false;
}

void field(std::string_view name, std::size_t offset, std::size_t size) {
  std::cout << ",\n\"" << name << "\": \"" << size << " bytes at " << offset << '"';
}

#define STRUCT(type) line("struct " #type, sizeof(type))
#define FIELD(type, name) \
  field("field " #type "." #name, offsetof(type, name), sizeof(static_cast<type*>(nullptr)->name))
#define CONSTANT(name) line("constant " #name, static_cast<std::uint64_t>(name))

void print_shm() {
  using namespace hyphos::shm;
  line("number", kLayoutVersion);
  CONSTANT(kMagic);
  CONSTANT(kPage);
  CONSTANT(kCacheLine);
  CONSTANT(kGroupHolders);
  CONSTANT(kMaxHolderGroups);
  CONSTANT(kChunkRecords);
  CONSTANT(kMaxRings);
  CONSTANT(kMaxRefusals);
  CONSTANT(kMaxParts);
  CONSTANT(kLatchedCells);
  CONSTANT(FileKind::control);
  CONSTANT(FileKind::pool);
  CONSTANT(FileKind::ring);
  CONSTANT(kGuest);
  CONSTANT(kToolsOnly);
  CONSTANT(kKeepsLast);
  CONSTANT(kRefusedQueues);
  CONSTANT(kRefusedMemory);
  CONSTANT(kReplayed);
  CONSTANT(kSimple);
  CONSTANT(kCall);
  CONSTANT(kLatched);
  CONSTANT(kPublisherGone);
  STRUCT(FileHeader);
  FIELD(FileHeader, magic);
  FIELD(FileHeader, version);
  FIELD(FileHeader, kind);
  FIELD(FileHeader, owner);
  FIELD(FileHeader, size);
  STRUCT(EndpointRecord);
  STRUCT(Published<EndpointRecord>);
  FIELD(EndpointRecord, serial);
  FIELD(EndpointRecord, type_hash);
  FIELD(EndpointRecord, depth);
  FIELD(EndpointRecord, is_publisher);
  FIELD(EndpointRecord, encoding);
  FIELD(EndpointRecord, flags);
  FIELD(EndpointRecord, realm);
  FIELD(EndpointRecord, channel_hash);
  FIELD(EndpointRecord, channel);
  FIELD(EndpointRecord, type);
  STRUCT(RingRecord);
  STRUCT(Published<RingRecord>);
  FIELD(RingRecord, serial);
  FIELD(RingRecord, sender);
  FIELD(RingRecord, publication);
  FIELD(RingRecord, subscription);
  FIELD(RingRecord, refused);
  STRUCT(ControlHeader);
  FIELD(ControlHeader, file);
  FIELD(ControlHeader, pid);
  FIELD(ControlHeader, start);
  FIELD(ControlHeader, pid_namespace);
  FIELD(ControlHeader, process);
  FIELD(ControlHeader, host);
  FIELD(ControlHeader, table_version);
  FIELD(ControlHeader, segments);
  FIELD(ControlHeader, endpoints);
  FIELD(ControlHeader, rings);
  FIELD(ControlHeader, pool_waiters);
  FIELD(ControlHeader, asleep);
  FIELD(ControlHeader, ready);
  STRUCT(TableChunk);
  FIELD(TableChunk, endpoints);
  FIELD(TableChunk, rings);
  STRUCT(Part);
  FIELD(Part, owner);
  FIELD(Part, segment);
  FIELD(Part, slot);
  FIELD(Part, offset);
  FIELD(Part, size);
  STRUCT(MessageHeader);
  FIELD(MessageHeader, type_hash);
  FIELD(MessageHeader, sequence);
  FIELD(MessageHeader, sender);
  FIELD(MessageHeader, publish);
  FIELD(MessageHeader, encoded);
  FIELD(MessageHeader, submitted);
  FIELD(MessageHeader, parts);
  FIELD(MessageHeader, flags);
  FIELD(MessageHeader, simple_size);
  FIELD(MessageHeader, call_client);
  FIELD(MessageHeader, call_id);
  FIELD(MessageHeader, call_kind);
  FIELD(MessageHeader, part);
  STRUCT(SlotControl);
  FIELD(SlotControl, maybe);
  FIELD(SlotControl, adds);
  FIELD(SlotControl, more);
  FIELD(SlotControl, holds);
  FIELD(SlotControl, message);
  STRUCT(SlotHolds);
  FIELD(SlotHolds, maybe);
  FIELD(SlotHolds, holds);
  STRUCT(HolderEntry);
  FIELD(HolderEntry, state);
  FIELD(HolderEntry, receiver);
  FIELD(HolderEntry, via);
  STRUCT(SegmentHeader);
  FIELD(SegmentHeader, file);
  FIELD(SegmentHeader, number);
  FIELD(SegmentHeader, slots);
  FIELD(SegmentHeader, slot_size);
  FIELD(SegmentHeader, groups);
  FIELD(SegmentHeader, holders);
  STRUCT(HolderGroup);
  STRUCT(RingCell);
  FIELD(RingCell, where);
  FIELD(RingCell, flags);
  STRUCT(RingHeader);
  FIELD(RingHeader, file);
  FIELD(RingHeader, sender);
  FIELD(RingHeader, type_hash);
  FIELD(RingHeader, depth);
  FIELD(RingHeader, index);
  FIELD(RingHeader, channel);
  FIELD(RingHeader, tail);
  FIELD(RingHeader, head);
  FIELD(RingHeader, kept);
  FIELD(RingHeader, space_waiters);
  FIELD(RingHeader, refused);
  FIELD(RingHeader, drops);
  const SegmentLayout pool = *segment_layout(7, 384);
  line("pool of 7 slots of 384 bytes: control_offset", pool.control_offset);
  line("pool of 7 slots of 384 bytes: payload_offset", pool.payload_offset);
  line("pool of 7 slots of 384 bytes: size", pool.size);
  line("pool of 7 slots of 384 bytes: group_size", pool.group_size);
}

void print_metrics() {
  using namespace hyphos::trace;
  CONSTANT(Registry::kBlock);
  CONSTANT(Registry::kMinArea);
  CONSTANT(Recorder::kSlots);
  STRUCT(Recorder);
  CONSTANT(kCounters);
  CONSTANT(kMaxTransports);
  CONSTANT(kDropKinds);
  CONSTANT(kLayers);
  CONSTANT(Counter::call_stale);
  CONSTANT(Layer::callback);
  STRUCT(Record);
  FIELD(Record, state);
  FIELD(Record, timings);
  FIELD(Record, generation);
  FIELD(Record, channel);
  FIELD(Record, node);
  FIELD(Record, type_name);
  FIELD(Record, type_hash);
  FIELD(Record, encoding);
  FIELD(Record, is_publisher);
  FIELD(Record, mode);
  FIELD(Record, policy);
  FIELD(Record, transports);
  FIELD(Record, last_ns);
  FIELD(Record, counters);
  FIELD(Record, drops);
  STRUCT(Timings);
  FIELD(Timings, latency);
  FIELD(Timings, layers);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view part = argc == 2 ? argv[1] : "";
  if (part != "shm" && part != "metrics") {
    std::cerr << "usage: compat_layout shm | metrics\n";
    return 2;
  }
  part == "shm" ? print_shm() : print_metrics();
  std::cout << "\n}\n";
}
