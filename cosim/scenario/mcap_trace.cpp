#include "cosim/scenario/mcap_trace.hpp"

#include <algorithm>
#include <array>

#include "cosim/scenario/pose_json.hpp"
#include "cosim/scenario/scenario.hpp"
#include "wire/packet.hpp"

namespace hyphos::cosim {
namespace {

constexpr Duration kPoses = Duration::from_ms(100);

constexpr const char* kPacketSchema = R"({"type":"object","properties":{
"event":{"type":"string","enum":["sent","delivered","dropped"]},
"packet":{"type":"integer"},"from":{"type":"string"},"to":{"type":"string"},
"channel":{"type":"string"},"bytes":{"type":"integer"},"sent_ns":{"type":"integer"},
"delay_ms":{"type":"number"},"reason":{"type":"string"},"copies":{"type":"integer"}}})";

constexpr const char* kWindowSchema = R"({"type":"object","properties":{
"begin_ns":{"type":"integer"},"end_ns":{"type":"integer"},"length_ms":{"type":"number"}}})";

// Foxglove draws messages with this schema name and these fields.
constexpr const char* kPoseSchema = R"({"type":"object","properties":{
"timestamp":{"type":"object","properties":{"sec":{"type":"integer"},"nsec":{"type":"integer"}}},
"frame_id":{"type":"string"},
"pose":{"type":"object","properties":{
"position":{"type":"object","properties":{
"x":{"type":"number"},"y":{"type":"number"},"z":{"type":"number"}}},
"orientation":{"type":"object","properties":{
"x":{"type":"number"},"y":{"type":"number"},"z":{"type":"number"},"w":{"type":"number"}}}}}}})";

struct NamedSchema {
  const char* name;
  const char* text;
};
const std::array<NamedSchema, 5> kSchemas{{{"hyphos.cosim.Packet", kPacketSchema},
                                           {"hyphos.cosim.Window", kWindowSchema},
                                           {"foxglove.PoseInFrame", kPoseSchema},
                                           {"hyphos.cosim.Links", SceneLines::links_schema()},
                                           {"foxglove.SceneUpdate", SceneLines::scene_schema()}}};

std::string pose_line(Time now, const Pose& pose) {
  return JsonLine()
      .json("timestamp", time_json(now))
      .text("frame_id", "world")
      .json("pose", pose_json(pose.position, pose.orientation))
      .take();
}

}  // namespace

McapTrace::McapTrace(record::McapWriter writer, const Scenario& scenario, Of of)
    : writer_(std::move(writer)),
      robots_(scenario.robots),
      nodes_(of == Of::lock_step && !scenario.team.empty()),
      picture_(scenario) {}

Result<McapTrace> McapTrace::create(const std::filesystem::path& path, bool overwrite,
                                    const Scenario& scenario, Of of) {
  record::McapWriter::Options options;
  options.path = path;
  options.overwrite = overwrite;
  auto writer = record::McapWriter::create(options);
  if (!writer) return writer.error();
  McapTrace trace(std::move(*writer), scenario, of);
  if (auto opened = trace.open_channels(); !opened) return opened.error();
  auto said = trace.writer_.describe(
      "hyphos.cosim", {{"method", scenario.method}, {"seed", std::to_string(scenario.seed)}});
  if (!said) return said.error();
  return trace;
}

Result<void> McapTrace::open_channels() {
  const auto open = [&](const std::string& topic, std::uint16_t schema) {
    counts_.push_back(0);
    return writer_.add_channel(topic, "json", schema, {});
  };
  std::array<std::uint16_t, kSchemas.size()> schemas{};
  for (std::size_t i = 0; i < schemas.size(); ++i) {
    auto added = writer_.add_schema(kSchemas[i].name, "jsonschema", kSchemas[i].text);
    if (!added) return added.error();
    schemas[i] = *added;
  }
  auto packets = open("cosim/packets", schemas[0]);
  if (!packets) return packets.error();
  packets_ = *packets;
  auto windows = open("cosim/windows", schemas[1]);
  if (!windows) return windows.error();
  windows_ = *windows;
  for (const std::string& robot : robots_) {
    auto pose = open(robot + "/pose", schemas[2]);
    if (!pose) return pose.error();
    poses_.push_back(*pose);
  }
  auto links = open("cosim/links", schemas[3]);
  if (!links) return links.error();
  links_ = *links;
  auto scene = open("cosim/scene", schemas[4]);
  if (!scene) return scene.error();
  scene_ = *scene;
  lines_.push_back({Time{}, scene_, picture_.world()});
  return success();
}

std::string McapTrace::name_of(NodeId node) const {
  return node == kEveryone ? "everyone" : robots_[node];
}

JsonLine McapTrace::head(const char* event, const Packet& packet, NodeId to) const {
  JsonLine line;
  line.text("event", event).add("packet", packet.id);
  line.text("from", name_of(packet.from)).text("to", name_of(to));
  line.add("bytes", std::uint64_t{packet.bytes.size()});
  wire::Header header;
  if (nodes_ && wire::read_head(packet.bytes.bytes(), header)) {
    line.text("channel", header.channel);
  }
  return line;
}

void McapTrace::sent(const Packet& packet) {
  lines_.push_back({packet.stamp, packets_, head("sent", packet, packet.to).take()});
}

void McapTrace::outcome(const Outcome& outcome, const Packet& sent) {
  const bool arrived = outcome.fate == Fate::delivered;
  JsonLine line = head(arrived ? "delivered" : "dropped", sent, outcome.to);
  line.add("sent_ns", sent.stamp.ns).add("delay_ms", (outcome.time - sent.stamp).ms());
  if (!arrived) {
    line.text("reason", to_string(outcome.reason)).add("copies", std::uint64_t{outcome.copies});
    picture_.lost(sent, outcome.to, placed_);
  }
  lines_.push_back({outcome.time, packets_, line.take()});
}

void McapTrace::window(Time reached, std::span<const Pose> poses) {
  const std::string line = JsonLine()
                               .add("begin_ns", reached_.ns)
                               .add("end_ns", reached.ns)
                               .add("length_ms", (reached - reached_).ms())
                               .take();
  lines_.push_back({reached_, windows_, line});
  instant(reached, poses);
}

void McapTrace::instant(Time reached, std::span<const Pose> poses) {
  if (reached >= next_poses_) {
    next_poses_ = {(reached.ns / kPoses.ns + 1) * kPoses.ns};
    for (std::size_t i = 0; i < poses_.size(); ++i) {
      lines_.push_back({reached, poses_[i], pose_line(reached, poses[i])});
    }
    lines_.push_back({reached, links_, picture_.links(reached, poses)});
    lines_.push_back({reached, scene_, picture_.sample(reached, poses)});
  }
  placed_.assign(poses.begin(), poses.end());
  reached_ = reached;
  write_lines();
}

void McapTrace::write_lines() {
  std::ranges::stable_sort(lines_, {}, &Line::time);
  for (const Line& line : lines_) {
    if (!written_) break;
    record::MessageInfo info;
    info.channel = line.channel;
    info.sequence = ++counts_[line.channel - 1];
    info.log_ns = info.publish_ns = record::mcap::timestamp(line.time.ns);
    written_ = writer_.write(info, std::as_bytes(std::span(line.json)));
  }
  lines_.clear();
}

Result<void> McapTrace::close() {
  write_lines();
  auto closed = writer_.close();
  return written_ ? closed : written_;
}

}  // namespace hyphos::cosim
