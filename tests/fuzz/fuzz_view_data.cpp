#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "view/core/fields.hpp"
#include "view/core/frames.hpp"
#include "view/core/types.hpp"
#include "view/sources/ros_message.hpp"
#include "view/sources/stored.hpp"

namespace {

using namespace hyphos;
using namespace hyphos::view;

constexpr const char* kDefinition =
    "int8 level\nfloat64[3] gains\nstring[] names\nPart[] parts\nbuiltin_interfaces/Time at\n"
    "uint8[] data\nbool ok\n====================\nMSG: p/Part\nuint16 n\nint64[] many\n";

void convert(const Buffer& bytes, ros::Wire wire) {
  Types types;
  const auto ros = ros::RosMessage::make("p/msg/State", kDefinition, wire, types).or_throw();
  const auto made = ros->convert(bytes);
  if (!made) return;
  // A converted message is a message of the type.
  Decoder decoder(types.pool());
  if (!decoder.parse(ros->type(), made->head.bytes())) std::abort();
}

void define(std::string_view text) {
  Types types;
  const auto ros = ros::RosMessage::make("p/msg/State", text, ros::Wire::cdr, types);
  if (ros && types.find((*ros.value()).type()) == nullptr) std::abort();
}

void read_fields(const Buffer& bytes) {
  static Types types;
  static Decoder decoder(types.pool());
  Channel channel;
  channel.encoding = Encoding::attached;
  Sample sample;
  sample.payload = bytes;
  for (const char* type : {"hyphos.msgs.TfMessage", "hyphos.msgs.LaserScan", "hyphos.msgs.Image"}) {
    channel.type = type;
    const FieldNode tree = field_tree(channel, sample, decoder);
    for (const NumericField& field : numeric_fields(*types.find(type), 20)) {
      std::string path = field.path;
      for (std::size_t at = 0; (at = path.find("[]", at)) != std::string::npos;)
        path.insert(at + 1, "1");
      (void)FieldPath::compile(*types.find(type), path).or_throw().read(bytes.bytes());
    }
  }
  Frames frames;
  channel = {0, "tf", "hyphos.msgs.TfMessage", Encoding::protobuf, false, 0, {}};
  frames.take(channel, sample);
  (void)frames.frames();
  (void)frames.root();
}

void split(const Buffer& bytes) {
  const auto parts = split_attached(bytes);
  if (!parts) return;
  std::size_t size = parts->head.size();
  for (const Buffer& buffer : parts->buffers) size += buffer.size();
  if (size > bytes.size()) std::abort();
}

}  // namespace

/// Outside data of the viewer: definitions and messages of ROS, stored messages, fields, paths and
/// definitions of types. The first byte selects the parser.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const Buffer bytes = Buffer::copy_of(std::as_bytes(std::span(data, size)).subspan(1));
  switch (data[0] % 7) {
    case 0:
      define(bytes.text());
      break;
    case 1:
      convert(bytes, ros::Wire::cdr);
      break;
    case 2:
      convert(bytes, ros::Wire::ros1);
      break;
    case 3:
      split(bytes);
      break;
    case 4:
      read_fields(bytes);
      break;
    case 5: {
      Types types;
      (void)types.add(bytes.text());
      break;
    }
    default: {
      Types types;
      (void)FieldPath::compile(*types.find("hyphos.msgs.Odometry"), bytes.text());
    }
  }
  return 0;
}
