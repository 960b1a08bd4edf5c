#include "cosim/nodes/robot_codec.hpp"

namespace hyphos::cosim {
namespace {

template <typename T, typename Put>
void put_list(Writer& writer, const std::vector<T>& list, Put put) {
  writer.put(static_cast<std::uint32_t>(list.size()));
  for (const T& item : list) put(item);
}

/// The count is not trusted: the list ends with the data.
template <typename Get>
auto get_list(Reader& reader, Get get) {
  std::vector<decltype(get())> list;
  const auto count = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) list.push_back(get());
  return list;
}

void put_type(Writer& writer, const TypeId& type) {
  writer.put_text(type.name);
  writer.put(type.encoding);
  writer.put(type.hash);
}

TypeId get_type(Reader& reader) {
  TypeId type;
  type.name = reader.get_text();
  type.encoding = reader.get<Encoding>();
  type.hash = reader.get<std::uint64_t>();
  return type;
}

void put_buffer(Writer& writer, const Buffer& buffer) { writer.put_block(buffer.bytes()); }
Buffer get_buffer(Reader& reader) { return Buffer::copy_of(reader.get_block()); }

}  // namespace

void put_channels(Writer& writer, const std::vector<OpenChannel>& channels) {
  put_list(writer, channels, [&](const OpenChannel& channel) {
    writer.put_text(channel.name);
    put_type(writer, channel.type);
  });
}

std::vector<OpenChannel> get_channels(Reader& reader) {
  return get_list(reader, [&] {
    std::string name = reader.get_text();
    return OpenChannel{std::move(name), get_type(reader)};
  });
}

void put_wiring(Writer& writer, const Wiring& wiring) {
  put_list(writer, wiring.outbound_channels,
           [&](const std::string& name) { writer.put_text(name); });
  put_list(writer, wiring.inbound_channels, [&](const Wiring::Inbound& inbound) {
    writer.put_text(inbound.sent_as);
    put_list(writer, inbound.from, [&](NodeId from) { writer.put(from); });
    writer.put_text(inbound.channel);
    put_type(writer, inbound.type);
  });
  put_list(writer, wiring.sensor_channels, [&](const SensorChannel& sensor) {
    writer.put_text(sensor.name);
    put_type(writer, sensor.type);
    writer.put(static_cast<std::uint8_t>(sensor.latched));
  });
  writer.put_text(wiring.pose_channel);
  writer.put_text(wiring.frame_channel);
  writer.put_text(wiring.command_channel);
}

Wiring get_wiring(Reader& reader) {
  Wiring wiring;
  wiring.outbound_channels = get_list(reader, [&] { return reader.get_text(); });
  wiring.inbound_channels = get_list(reader, [&] {
    Wiring::Inbound inbound;
    inbound.sent_as = reader.get_text();
    inbound.from = get_list(reader, [&] { return reader.get<NodeId>(); });
    inbound.channel = reader.get_text();
    inbound.type = get_type(reader);
    return inbound;
  });
  wiring.sensor_channels = get_list(reader, [&] {
    std::string name = reader.get_text();
    TypeId type = get_type(reader);
    return SensorChannel{std::move(name), std::move(type), reader.get<std::uint8_t>() != 0};
  });
  wiring.pose_channel = reader.get_text();
  wiring.frame_channel = reader.get_text();
  wiring.command_channel = reader.get_text();
  return wiring;
}

void put_input(Writer& writer, const RobotInput& input) {
  writer.put(input.now.ns);
  writer.put(static_cast<std::uint8_t>(input.pose.has_value()));
  if (input.pose) writer.put(*input.pose);
  put_list(writer, input.readings, [&](const Reading& reading) {
    writer.put(reading.sensor);
    put_buffer(writer, reading.message);
    put_list(writer, reading.attached, [&](const Buffer& buffer) { put_buffer(writer, buffer); });
  });
  put_list(writer, input.packets, [&](const RobotInput::Arrived& arrived) {
    writer.put(arrived.from);
    put_buffer(writer, arrived.packet);
  });
}

RobotInput get_input(Reader& reader) {
  RobotInput input;
  input.now.ns = reader.get<std::int64_t>();
  if (reader.get<std::uint8_t>() != 0) input.pose = reader.get<Pose>();
  input.readings = get_list(reader, [&] {
    Reading reading;
    reading.sensor = reader.get<std::uint32_t>();
    reading.message = get_buffer(reader);
    reading.attached = get_list(reader, [&] { return get_buffer(reader); });
    return reading;
  });
  input.packets = get_list(reader, [&] {
    const auto from = reader.get<NodeId>();
    return RobotInput::Arrived{from, get_buffer(reader)};
  });
  return input;
}

void put_output(Writer& writer, const RobotOutput& output) {
  put_list(writer, output.sent, [&](const RobotOutput::Sent& sent) {
    writer.put(sent.outbound);
    put_buffer(writer, sent.packet);
  });
  writer.put(static_cast<std::uint8_t>(output.motion.has_value()));
  if (output.motion) writer.put(*output.motion);
  writer.put(output.next.ns);
}

RobotOutput get_output(Reader& reader) {
  RobotOutput output;
  output.sent = get_list(reader, [&] {
    const auto outbound = reader.get<std::uint32_t>();
    return RobotOutput::Sent{outbound, get_buffer(reader)};
  });
  if (reader.get<std::uint8_t>() != 0) output.motion = reader.get<Motion>();
  output.next.ns = reader.get<std::int64_t>();
  return output;
}

void put_drops(Writer& writer, const std::vector<RobotDrops>& drops) {
  put_list(writer, drops, [&](const RobotDrops& drop) {
    writer.put_text(drop.channel);
    writer.put_text(drop.reason);
    writer.put(drop.count);
  });
}

std::vector<RobotDrops> get_drops(Reader& reader) {
  return get_list(reader, [&] {
    RobotDrops drop;
    drop.channel = reader.get_text();
    drop.reason = reader.get_text();
    drop.count = reader.get<std::uint64_t>();
    return drop;
  });
}

}  // namespace hyphos::cosim
