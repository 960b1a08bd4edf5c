#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "record/mcap_writer.hpp"
#include "source_sink.hpp"
#include "view/core/types.hpp"
#include "view/sources/open.hpp"
#include "view/sources/ros_message.hpp"
#include <hyphos/msgs/nav.pb.h>
#include <hyphos/msgs/sensor.pb.h>
#include <hyphos/msgs/std.pb.h>
#include <hyphos/msgs/tf.pb.h>

namespace hyphos::view::ros {
namespace {

const std::string kLine(80, '=');
const std::string kHeader = "\n" + kLine +
                            "\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\n"
                            "string frame_id\n" +
                            kLine + "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n";
const std::string kScan =
    "# one sweep\nstd_msgs/Header header\n\nfloat32 angle_min # rad\nfloat32 angle_max\n"
    "float32 angle_increment\nfloat32 time_increment\nfloat32 scan_time\nfloat32 range_min\n"
    "float32 range_max\n\nfloat32[] ranges\nfloat32[] intensities\n" +
    kHeader;

/// Writes CDR, little endian, or ROS 1.
class Out {
 public:
  explicit Out(Wire wire) : cdr_(wire == Wire::cdr) {
    if (cdr_) bytes_ = std::string("\0\1\0\0", 4);
  }
  template <typename T>
  Out& put(T value) {
    while (cdr_ && (bytes_.size() - 4) % sizeof(T) != 0) bytes_ += '\0';
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  Out& text(const std::string& value) {
    put(static_cast<std::uint32_t>(value.size() + (cdr_ ? 1 : 0)));
    bytes_ += value;
    if (cdr_) bytes_ += '\0';
    return *this;
  }
  template <typename T>
  Out& array(const std::vector<T>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (const T value : values) put(value);
    return *this;
  }
  Out& header(Wire wire) {
    if (wire == Wire::ros1) put(std::uint32_t{7});
    return put(std::int32_t{5}).put(std::uint32_t{6}).text("laser");
  }
  [[nodiscard]] Buffer done() const { return Buffer::copy_of(bytes_); }

 private:
  bool cdr_;
  std::string bytes_;
};

Out scan_of(Wire wire) {
  Out out(wire);
  out.header(wire);
  for (const float value : {-1.5F, 1.5F, 0.5F, 0.F, 0.1F, 0.2F, 30.F}) out.put(value);
  return out.array<float>({1, 2.5, 3}).array<float>({});
}

template <typename T>
T parse(const Buffer& head) {
  T message;
  EXPECT_TRUE(message.ParseFromArray(head.data(), static_cast<int>(head.size())));
  return message;
}

TEST(RosMessage, a_standard_type_becomes_that_of_hyphos) {
  for (const Wire wire : {Wire::cdr, Wire::ros1}) {
    Types types;
    std::string text = kScan;
    if (wire == Wire::ros1)
      text.replace(text.find("builtin_interfaces/Time stamp"), 29, "uint32 seq\ntime stamp");
    const auto ros = RosMessage::make("sensor_msgs/msg/LaserScan", text, wire, types).or_throw();
    EXPECT_EQ(ros->type(), "hyphos.msgs.LaserScan");
    EXPECT_FALSE(ros->attached());
    const auto made = ros->convert(scan_of(wire).done());
    ASSERT_TRUE(made);
    const auto scan = parse<msgs::LaserScan>(made->head);
    EXPECT_EQ(scan.header().stamp_ns(), 5'000'000'006);
    EXPECT_EQ(scan.header().frame_id(), "laser");
    EXPECT_EQ(scan.header().seq(), wire == Wire::ros1 ? 7U : 0U);
    EXPECT_EQ(scan.angle_min(), -1.5F);
    EXPECT_EQ(scan.range_max(), 30.F);
    ASSERT_EQ(scan.ranges_size(), 3);
    EXPECT_EQ(scan.ranges(1), 2.5F);
    EXPECT_EQ(scan.intensities_size(), 0);
  }
}

TEST(RosMessage, data_of_an_image_is_attached_without_a_copy) {
  Types types;
  const auto ros = RosMessage::make("sensor_msgs/msg/Image",
                                    "std_msgs/Header header\nuint32 height\nuint32 width\n"
                                    "string encoding\nuint8 is_bigendian\nuint32 step\n"
                                    "uint8[] data\n" +
                                        kHeader,
                                    Wire::cdr, types)
                       .or_throw();
  EXPECT_TRUE(ros->attached());
  Out out(Wire::cdr);
  out.header(Wire::cdr).put(std::uint32_t{2}).put(std::uint32_t{3}).text("mono8");
  out.put(std::uint8_t{0}).put(std::uint32_t{3}).array<std::uint8_t>({1, 2, 3, 4, 5, 6});
  const Buffer bytes = out.done();
  const auto made = ros->convert(bytes);
  ASSERT_TRUE(made);
  EXPECT_EQ(parse<msgs::Image>(made->head).width(), 3U);
  ASSERT_EQ(made->buffers.size(), 1U);
  EXPECT_EQ(made->buffers[0].size(), 6U);
  EXPECT_EQ(made->buffers[0].data(), bytes.data() + bytes.size() - 6);
}

TEST(RosMessage, arrays_of_messages_and_fixed_arrays_are_read) {
  Types types;
  const std::string text =
      "geometry_msgs/TransformStamped[] transforms\n" + kLine +
      "\nMSG: geometry_msgs/TransformStamped\nstd_msgs/Header header\nstring child_frame_id\n"
      "geometry_msgs/Transform transform\n" +
      kLine + "\nMSG: geometry_msgs/Transform\nVector3 translation\nQuaternion rotation\n" + kLine +
      "\nMSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n" + kLine +
      "\nMSG: geometry_msgs/Quaternion\nfloat64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1" +
      kHeader;
  const auto ros = RosMessage::make("tf2_msgs/msg/TFMessage", text, Wire::cdr, types).or_throw();
  EXPECT_EQ(ros->type(), "hyphos.msgs.TfMessage");
  Out out(Wire::cdr);
  out.put(std::uint32_t{2});
  for (const std::string child : {"a", "bb"}) {
    out.header(Wire::cdr).text(child);
    for (const double value : {1., 2., 3., 0., 0., 0., 1.}) out.put(value);
  }
  const auto made = ros->convert(out.done());
  ASSERT_TRUE(made);
  const auto message = parse<msgs::TfMessage>(made->head);
  ASSERT_EQ(message.transforms_size(), 2);
  EXPECT_EQ(message.transforms(1).child_frame_id(), "bb");
  EXPECT_EQ(message.transforms(1).transform().translation().z(), 3);
  EXPECT_EQ(message.transforms(1).transform().rotation().w(), 1);
}

// 2^27 and 4096^3 messages, which have no byte.
TEST(RosMessage, empty_messages_cannot_be_nested_without_end) {
  std::string pairs = "T1 a\nT1 b\n";
  for (int i = 1; i < 27; ++i) {
    const std::string below = "T" + std::to_string(i + 1);
    pairs +=
        kLine + "\nMSG: my_msgs/T" + std::to_string(i) + "\n" + below + " a\n" + below + " b\n";
  }
  pairs += kLine + "\nMSG: my_msgs/T27\n";
  const std::string arrays = "T1[4096] a\n" + kLine + "\nMSG: my_msgs/T1\nT2[4096] a\n" + kLine +
                             "\nMSG: my_msgs/T2\nT3[4096] a\n" + kLine + "\nMSG: my_msgs/T3\n";
  for (const std::string& text : {pairs, arrays}) {
    Types types;
    const auto ros = RosMessage::make("my_msgs/Tree", text, Wire::ros1, types).or_throw();
    EXPECT_FALSE(ros->convert(Buffer::copy_of(std::string(4096, '\0'))));
  }
  Types types;
  const std::string few = "E[] many\nE one\n" + kLine + "\nMSG: my_msgs/E\n";
  const auto ros = RosMessage::make("my_msgs/Few", few, Wire::ros1, types).or_throw();
  EXPECT_TRUE(ros->convert(Out(Wire::ros1).put(std::uint32_t{3}).done()));
}

TEST(RosMessage, another_type_gets_a_definition_with_its_fields) {
  Types types;
  const std::string text =
      "uint8 HIGH=3\nstring NAME = 'a # b'\nint8 level 2\nfloat64[3] gains\nstring<=5[<=2] names\n"
      "my_msgs/Part[] parts\nbuiltin_interfaces/Duration left\nuint8[] blob\nbool ok\n"
      "int64[] numbers\nPose2 near\n" +
      kLine + "\nMSG: my_msgs/Part\nuint16 n\ngeometry_msgs/Point at\n" + kLine +
      "\nMSG: my_msgs/Pose2\nuint8 structure_needs_at_least_one_member\n" + kLine +
      "\nMSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n";
  const auto ros = RosMessage::make("my_msgs/msg/State", text, Wire::cdr, types).or_throw();
  EXPECT_EQ(ros->type(), "my_msgs.State");
  Out out(Wire::cdr);
  out.put(std::int8_t{-2}).put(1.0).put(2.0).put(3.0);
  out.put(std::uint32_t{2}).text("x").text("yy");
  out.put(std::uint32_t{1}).put(std::uint16_t{9}).put(4.0).put(5.0).put(6.0);
  out.put(std::int32_t{-1}).put(std::uint32_t{500'000'000});
  out.array<std::uint8_t>({7, 8}).put(std::uint8_t{1});
  out.array<std::int64_t>({-1, 300}).put(std::uint8_t{0});
  const auto made = ros->convert(out.done());
  ASSERT_TRUE(made);
  Decoder decoder(types.pool());
  const auto message = decoder.parse("my_msgs.State", made->head.bytes()).or_throw();
  const std::string shown = message->ShortDebugString();
  EXPECT_EQ(
      shown,
      "level: -2 gains: 1 gains: 2 gains: 3 names: \"x\" names: \"yy\" parts { n: 9 at { x: 4 "
      "y: 5 z: 6 } } left_ns: -500000000 blob: \"\\007\\010\" ok: true numbers: -1 "
      "numbers: 300 near { }");
}

TEST(RosMessage, wrong_bytes_of_a_text_are_replaced) {
  Types types;
  const auto ros =
      RosMessage::make("std_msgs/msg/String", "string data", Wire::cdr, types).or_throw();
  const auto converted = [&](const std::string& text) {
    return parse<msgs::String>(ros->convert(Out(Wire::cdr).text(text).done())->head).data();
  };
  EXPECT_EQ(converted("gr\xc3\xbcn \xe2\x82\xac \xf0\x9f\x98\x80"),
            "gr\xc3\xbcn \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(converted("gr\xfcn"), "gr\xef\xbf\xbdn");
  EXPECT_EQ(converted("a\xc3"), "a\xef\xbf\xbd");
  EXPECT_EQ(converted("\xed\xa0\x80x").substr(9), "x") << "a surrogate";
  EXPECT_EQ(converted(""), "");
}

TEST(RosMessage, a_definition_that_cannot_be_used_names_the_reason) {
  Types types;
  const auto error = [&](const std::string& text) {
    const auto made = RosMessage::make("p/msg/A", text, Wire::cdr, types);
    EXPECT_FALSE(made) << text;
    return made ? std::string() : made.error().to_string();
  };
  EXPECT_NE(error("wstring x\n").find("wide strings"), std::string::npos);
  EXPECT_NE(error("float64\n").find("float64"), std::string::npos);
  EXPECT_NE(error("p/B b\n").find("p/B"), std::string::npos);
  EXPECT_NE(error("A a\n").find("contains itself"), std::string::npos);
  EXPECT_NE(error("float64[x] a\n").find("float64[x]"), std::string::npos);
  EXPECT_NE(error("float64[99999999999] a\n").find("cannot be read"), std::string::npos);
  EXPECT_NE(error("int8 a\n---\nint8 b\n").find("---"), std::string::npos);
  EXPECT_FALSE(RosMessage::make("noslash", "int8 a\n", Wire::cdr, types));
}

TEST(RosMessage, a_message_cut_anywhere_is_refused) {
  for (const Wire wire : {Wire::cdr, Wire::ros1}) {
    Types types;
    std::string text = kScan;
    if (wire == Wire::ros1)
      text.replace(text.find("builtin_interfaces/Time stamp"), 29, "uint32 seq\ntime stamp");
    const auto ros = RosMessage::make("sensor_msgs/LaserScan", text, wire, types).or_throw();
    const Buffer whole = scan_of(wire).done();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(ros->convert(Buffer::copy_of(whole.bytes().first(size)))) << size;
    }
    std::minstd_rand random(1);
    for (int i = 0; i < 20'000; ++i) {
      std::string changed(whole.text());
      changed[random() % changed.size()] = static_cast<char>(random());
      (void)ros->convert(Buffer::copy_of(changed));
    }
  }
  Types types;
  const auto ros = RosMessage::make("sensor_msgs/LaserScan", kScan, Wire::cdr, types).or_throw();
  std::string big_endian(scan_of(Wire::cdr).done().text());
  big_endian[1] = 0;
  EXPECT_FALSE(ros->convert(Buffer::copy_of(big_endian)));
}

TEST(RosMessage, a_recording_of_ros_2_is_shown) {
  const Folder folder;
  record::McapWriter::Options options;
  options.path = folder / "ros.mcap";
  options.profile = "ros2";
  auto out = record::McapWriter::create(options).or_throw();
  const auto schema = out.add_schema("sensor_msgs/msg/LaserScan", "ros2msg", kScan).or_throw();
  const auto good =
      out.add_channel("/scan", "cdr", schema,
                      {{"offered_qos_profiles", "- history: 1\n  durability: 1\n  depth: 5\n"}})
          .or_throw();
  const auto odd = out.add_schema("p/msg/W", "ros2msg", "wstring x").or_throw();
  (void)out.add_channel("/odd", "cdr", odd, {}).or_throw();
  const Buffer scan = scan_of(Wire::cdr).done();
  out.write({good, 1, 1'000, 900}, scan.bytes()).or_throw();
  out.write({good, 2, 2'000, 1'900}, scan.bytes().first(20)).or_throw();
  out.close().or_throw();
  const auto source = open_source(folder / "ros.mcap").or_throw();
  const Channel* channel = find(*source, "/scan");
  EXPECT_EQ(channel->type, "hyphos.msgs.LaserScan");
  EXPECT_EQ(channel->encoding, Encoding::protobuf);
  EXPECT_EQ(channel->problem, "");
  EXPECT_TRUE(channel->latched) << "transient local";
  EXPECT_NE(find(*source, "/odd")->problem.find("wide strings"), std::string::npos);
  source->select({"/scan", "/odd"});
  Collector sink;
  source->seek(5'000, 10'000, sink).or_throw();
  ASSERT_EQ(sink.samples.size(), 1U);
  EXPECT_EQ(parse<msgs::LaserScan>(sink.samples[0].payload).ranges(2), 3.F);
  EXPECT_EQ(source->loss(channel->id).corrupt, 1U);
}

}  // namespace
}  // namespace hyphos::view::ros
