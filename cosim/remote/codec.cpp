#include "cosim/remote/codec.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::size_t kPacketHead = 8 + 4 + 4 + 8 + 8;
constexpr std::size_t kPartsSize = 1 + 5 * 8;
constexpr std::size_t kOutcomeHead = 8 + 4 + 4 + 8 + 1 + 1 + 8 + 8 + kPartsSize + 8;

}  // namespace

void put_packet(Writer& writer, const Packet& packet) {
  writer.put(packet.id);
  writer.put(packet.from);
  writer.put(packet.to);
  writer.put(packet.stamp.ns);
  writer.put_block(packet.bytes.bytes());
}

Packet get_packet(Reader& reader) {
  Packet packet;
  packet.id = reader.get<PacketId>();
  packet.from = reader.get<NodeId>();
  packet.to = reader.get<NodeId>();
  packet.stamp.ns = reader.get<std::int64_t>();
  packet.bytes = Buffer::copy_of(reader.get_block());
  return packet;
}

std::size_t packet_size(const Packet& packet) { return kPacketHead + packet.bytes.size(); }

void put_outcome(Writer& writer, const Outcome& outcome) {
  writer.put(outcome.id);
  writer.put(outcome.to);
  writer.put(outcome.copies);
  writer.put(outcome.time.ns);
  writer.put(outcome.fate);
  writer.put(outcome.reason);
  writer.put(outcome.sampled.ns);
  writer.put(outcome.power_dbm);
  const DelayParts parts = outcome.parts.value_or(DelayParts{});
  writer.put(static_cast<std::uint8_t>(outcome.parts ? 1 : 0));
  for (const Duration part : {parts.processing, parts.queueing, parts.retransmission,
                              parts.transmission, parts.propagation}) {
    writer.put(part.ns);
  }
  writer.put_block(outcome.bytes.bytes());
}

std::optional<Outcome> get_outcome(Reader& reader) {
  Outcome outcome;
  outcome.id = reader.get<PacketId>();
  outcome.to = reader.get<NodeId>();
  outcome.copies = reader.get<std::uint32_t>();
  outcome.time.ns = reader.get<std::int64_t>();
  const auto fate = reader.get<std::uint8_t>();
  const auto reason = reader.get<std::uint8_t>();
  outcome.sampled.ns = reader.get<std::int64_t>();
  outcome.power_dbm = reader.get<double>();
  const bool known = reader.get<std::uint8_t>() != 0;
  DelayParts parts;
  for (Duration* const part : {&parts.processing, &parts.queueing, &parts.retransmission,
                               &parts.transmission, &parts.propagation}) {
    part->ns = reader.get<std::int64_t>();
  }
  if (known) outcome.parts = parts;
  const auto bytes = reader.get_block();
  if (reader.failed() || fate > static_cast<std::uint8_t>(Fate::dropped) ||
      reason >= kDropReasons) {
    return std::nullopt;
  }
  outcome.fate = static_cast<Fate>(fate);
  outcome.reason = static_cast<DropReason>(reason);
  if (outcome.fate == Fate::delivered) outcome.bytes = Buffer::copy_of(bytes);
  return outcome;
}

std::size_t outcome_size(const Outcome& outcome) { return kOutcomeHead + outcome.bytes.size(); }

void put_error(Writer& writer, const Error& error) {
  writer.put(static_cast<std::uint8_t>(error.code));
  writer.put_text(error.message);
  writer.put_text(error.where);
}

Error get_error(Reader& reader) {
  const auto code = reader.get<std::uint8_t>();
  Error error;
  error.message = reader.get_text();
  error.where = reader.get_text();
  const bool known = code <= static_cast<std::uint8_t>(kLastCode);
  if (!reader.complete() || !known) {
    return {Code::corrupt, "an unreadable error", "cosim"};
  }
  error.code = static_cast<Code>(code);
  return error;
}

}  // namespace hyphos::cosim
