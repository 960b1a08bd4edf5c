#include "view/core/fields.hpp"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include <hyphos/msgs/nav.pb.h>
#include <hyphos/msgs/sensor.pb.h>
#include <hyphos/msgs/std.pb.h>
#include <hyphos/msgs/tf.pb.h>

namespace hyphos::view {
namespace {

namespace pb = google::protobuf;

std::string set_of(const std::string& text) {
  pb::FileDescriptorSet set;
  EXPECT_TRUE(pb::TextFormat::ParseFromString(text, &set));
  return set.SerializeAsString();
}

/// pkg.Every has one field of each kind, and contains itself.
std::string every_kind() {
  return set_of(R"(file {
    name: "pkg/every.proto" package: "pkg" syntax: "proto3"
    message_type { name: "Every"
      field { name: "d" number: 1 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
      field { name: "f" number: 2 type: TYPE_FLOAT label: LABEL_OPTIONAL }
      field { name: "i32" number: 3 type: TYPE_INT32 label: LABEL_OPTIONAL }
      field { name: "i64" number: 4 type: TYPE_INT64 label: LABEL_OPTIONAL }
      field { name: "u32" number: 5 type: TYPE_UINT32 label: LABEL_OPTIONAL }
      field { name: "u64" number: 6 type: TYPE_UINT64 label: LABEL_OPTIONAL }
      field { name: "s32" number: 7 type: TYPE_SINT32 label: LABEL_OPTIONAL }
      field { name: "s64" number: 8 type: TYPE_SINT64 label: LABEL_OPTIONAL }
      field { name: "x32" number: 9 type: TYPE_FIXED32 label: LABEL_OPTIONAL }
      field { name: "x64" number: 10 type: TYPE_FIXED64 label: LABEL_OPTIONAL }
      field { name: "sx32" number: 11 type: TYPE_SFIXED32 label: LABEL_OPTIONAL }
      field { name: "sx64" number: 12 type: TYPE_SFIXED64 label: LABEL_OPTIONAL }
      field { name: "b" number: 13 type: TYPE_BOOL label: LABEL_OPTIONAL }
      field { name: "level" number: 14 type: TYPE_ENUM type_name: ".pkg.Level" label: LABEL_OPTIONAL }
      field { name: "text" number: 15 type: TYPE_STRING label: LABEL_OPTIONAL }
      field { name: "blob" number: 16 type: TYPE_BYTES label: LABEL_OPTIONAL }
      field { name: "ints" number: 17 type: TYPE_SINT64 label: LABEL_REPEATED }
      field { name: "loose" number: 18 type: TYPE_INT32 label: LABEL_REPEATED options { packed: false } }
      field { name: "inner" number: 19 type: TYPE_MESSAGE type_name: ".pkg.Every" label: LABEL_OPTIONAL }
      field { name: "parts" number: 20 type: TYPE_MESSAGE type_name: ".pkg.Every" label: LABEL_REPEATED }
      field { name: "maybe" number: 21 type: TYPE_DOUBLE label: LABEL_OPTIONAL proto3_optional: true oneof_index: 0 }
      oneof_decl { name: "_maybe" }
    }
    enum_type { name: "Level" value { name: "LOW" number: 0 } value { name: "HIGH" number: 5 } }
  })");
}

class FieldsTest : public ::testing::Test {
 protected:
  void SetUp() override { types_.add(every_kind()).or_throw(); }

  [[nodiscard]] const pb::Descriptor& every() const { return *types_.find("pkg.Every"); }
  std::string encode(const std::string& text) {
    const std::unique_ptr<pb::Message> message(factory_.GetPrototype(&every())->New());
    EXPECT_TRUE(pb::TextFormat::ParseFromString(text, message.get()));
    return message->SerializeAsString();
  }
  std::optional<double> read(const std::string& path, const std::string& encoded) {
    const auto compiled = FieldPath::compile(every(), path);
    EXPECT_TRUE(compiled) << path;
    return compiled ? compiled.value().read(std::as_bytes(std::span(encoded))) : std::nullopt;
  }

  Types types_;
  pb::DynamicMessageFactory factory_;
};

TEST_F(FieldsTest, numbers_of_every_kind_are_read_by_path) {
  const std::string encoded = encode(R"(
    d: 1.5 f: -0.25 i32: -3 i64: -4000000000 u32: 4000000000 u64: 5000000000 s32: -7 s64: -8000000000
    x32: 9 x64: 10 sx32: -11 sx64: -12 b: true level: HIGH ints: [1, -2, 300] loose: [4, -5]
    inner { d: 2 parts { f: 3 } parts { f: 4 } } maybe: 6)");
  const std::map<std::string, double> expected = {{"d", 1.5},
                                                  {"f", -0.25},
                                                  {"i32", -3},
                                                  {"i64", -4e9},
                                                  {"u32", 4e9},
                                                  {"u64", 5e9},
                                                  {"s32", -7},
                                                  {"s64", -8e9},
                                                  {"x32", 9},
                                                  {"x64", 10},
                                                  {"sx32", -11},
                                                  {"sx64", -12},
                                                  {"b", 1},
                                                  {"level", 5},
                                                  {"ints[0]", 1},
                                                  {"ints[1]", -2},
                                                  {"ints[2]", 300},
                                                  {"loose[1]", -5},
                                                  {"inner.d", 2},
                                                  {"inner.parts[1].f", 4},
                                                  {"maybe", 6},
                                                  {"ints.length", 3},
                                                  {"inner.parts.length", 2},
                                                  {"loose.length", 2}};
  for (const auto& [path, value] : expected) EXPECT_EQ(read(path, encoded), value) << path;
}

TEST_F(FieldsTest, absent_fields_are_0_and_absent_elements_are_not) {
  for (const char* path : {"d", "level", "inner.d", "inner.inner.u64", "ints.length"}) {
    EXPECT_EQ(read(path, ""), 0) << path;
  }
  for (const char* path : {"ints[0]", "parts[0].d", "inner.ints[1]", "maybe", "inner.maybe"}) {
    EXPECT_EQ(read(path, ""), std::nullopt) << path;
  }
  EXPECT_EQ(read("parts[1].d", encode("parts {} parts {}")), 0);
}

TEST_F(FieldsTest, corrupt_bytes_have_no_value_and_do_not_crash) {
  const std::string whole =
      encode("d: 1 ints: [1, 2, 3] loose: [1] inner { parts { f: 1 } parts { d: 5 } } text: 'abc'");
  std::minstd_rand random(1);
  std::vector<FieldPath> paths;
  for (const char* path : {"d", "ints[2]", "loose[0]", "inner.parts[1].d", "ints.length"}) {
    paths.push_back(FieldPath::compile(every(), path).or_throw());
  }
  for (std::size_t i = 0; i < 20'000; ++i) {
    std::string bytes = whole.substr(0, random() % (whole.size() + 1));
    if (!bytes.empty()) bytes[random() % bytes.size()] = static_cast<char>(random());
    // In an exactly sized block, so that the sanitizer detects reads beyond it.
    const Buffer exact = Buffer::copy_of(bytes);
    for (const FieldPath& path : paths) (void)path.read(exact.bytes());
  }
  EXPECT_EQ(paths[0].read(std::as_bytes(std::span("\x09\x01", 2))), std::nullopt);
}

TEST_F(FieldsTest, a_wrong_path_names_the_fault_and_the_remedy) {
  const auto error = [&](const char* path) {
    const auto compiled = FieldPath::compile(every(), path);
    EXPECT_FALSE(compiled) << path;
    return compiled ? std::string() : compiled.error().to_string();
  };
  EXPECT_NE(error("inner.levl").find("did you mean 'level'?"), std::string::npos);
  EXPECT_NE(error("ints").find("'ints[0]'"), std::string::npos);
  EXPECT_NE(error("d[0]").find("is not repeated"), std::string::npos);
  EXPECT_NE(error("text").find("is no number"), std::string::npos);
  EXPECT_NE(error("inner").find("is no number"), std::string::npos);
  EXPECT_NE(error("d.x").find("has no fields"), std::string::npos);
  for (const char* path : {"", ".", "d.", "ints[", "ints[]", "ints[x]", "ints[1]x", "ints[-1]",
                           "ints[99999999999]", "ints.length.x"}) {
    EXPECT_FALSE(error(path).empty());
  }
}

TEST_F(FieldsTest, numeric_fields_are_listed_in_order) {
  const auto fields = numeric_fields(every());
  ASSERT_EQ(fields.size(), 17U) << "texts and bytes are left out, a type in itself is listed once";
  EXPECT_EQ(fields[0].path, "d");
  EXPECT_EQ(fields[13].path, "level");
  EXPECT_EQ(fields[13].type, "Level");
  EXPECT_EQ(fields[14].path, "ints[]");
  EXPECT_EQ(numeric_fields(every(), 3).size(), 3U);
  const auto odometry = numeric_fields(*types_.find("hyphos.msgs.Odometry"));
  const auto has = [&](const char* path) {
    return std::any_of(odometry.begin(), odometry.end(),
                       [&](const NumericField& one) { return one.path == path; });
  };
  EXPECT_TRUE(has("header.stamp_ns"));
  EXPECT_TRUE(has("pose.pose.orientation.w"));
  EXPECT_TRUE(has("twist.covariance[]"));
}

TEST_F(FieldsTest, a_path_reads_the_messages_of_generated_classes) {
  msgs::LaserScan scan;
  for (int i = 0; i < 720; ++i) scan.add_ranges(static_cast<float>(i) / 2);
  scan.mutable_header()->set_stamp_ns(5);
  const std::string bytes = scan.SerializeAsString();
  const auto path = FieldPath::compile(*types_.find("hyphos.msgs.LaserScan"), "ranges[719]");
  EXPECT_EQ(path.value().read(std::as_bytes(std::span(bytes))), 359.5);
}

Sample sample_of(std::string_view bytes) {
  Sample sample;
  sample.payload = Buffer::copy_of(bytes);
  return sample;
}

const FieldNode* child(const FieldNode& node, std::string_view name) {
  for (const FieldNode& one : node.children) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

TEST_F(FieldsTest, a_message_is_a_tree_of_names_and_values) {
  Decoder decoder(types_.pool());
  Channel channel{0, "state", "pkg.Every", Encoding::protobuf, false, 0, {}};
  Sample sample =
      sample_of(encode("d: 1.5 level: HIGH ints: [1, 2] text: 'a\\nb' blob: 'xyz' "
                       "inner { parts { f: 0.1 } }"));
  sample.buffers.push_back(Buffer::copy_of("pixels"));
  const FieldNode tree = field_tree(channel, sample, decoder);
  EXPECT_EQ(tree.name, "state");
  EXPECT_EQ(child(tree, "d")->value, "1.5");
  EXPECT_TRUE(child(tree, "d")->numeric);
  EXPECT_EQ(child(tree, "level")->value, "HIGH (5)");
  EXPECT_EQ(child(tree, "text")->value, "a b");
  EXPECT_FALSE(child(tree, "text")->numeric);
  EXPECT_EQ(child(tree, "blob")->value, "3 bytes: 78 79 7a");
  EXPECT_EQ(child(tree, "maybe")->value, "not set");
  EXPECT_EQ(child(tree, "ints")->type, "sint64[2]");
  EXPECT_EQ(child(tree, "ints")->value, "1, 2");
  const FieldNode* f = child(child(*child(tree, "inner"), "parts")->children[0], "f");
  EXPECT_EQ(f->path, "inner.parts[0].f");
  EXPECT_EQ(f->value, "0.1");
  EXPECT_EQ(read(f->path, std::string(sample.payload.text())), static_cast<double>(0.1F));
  EXPECT_EQ(child(tree, "buffer 0")->type, "6 bytes");
}

TEST_F(FieldsTest, the_tree_is_bounded) {
  Decoder decoder(types_.pool());
  const Channel channel{0, "scan", "hyphos.msgs.LaserScan", Encoding::protobuf, false, 0, {}};
  msgs::LaserScan scan;
  scan.mutable_header()->set_frame_id("laser");
  for (int i = 0; i < 10'000; ++i) scan.add_ranges(1);
  const Sample sample = sample_of(scan.SerializeAsString());
  const FieldNode tree = field_tree(channel, sample, decoder);
  EXPECT_EQ(child(tree, "ranges")->children.size(), 64U);
  EXPECT_EQ(child(tree, "ranges")->hidden, 9'936U);
  TreeLimits few;
  few.nodes = 5;
  const FieldNode small = field_tree(channel, sample, decoder, few);
  EXPECT_EQ(small.children.size(), 2U) << "header has three fields below it";
  EXPECT_EQ(small.hidden, 8U);
  std::string deep;
  for (int i = 0; i < 50; ++i) deep = "inner { " + deep + " }";
  const Channel every{0, "e", "pkg.Every", Encoding::protobuf, false, 0, {}};
  (void)field_tree(every, sample_of(encode(deep)), decoder);
}

TEST_F(FieldsTest, bytes_without_a_definition_are_shown_in_hexadecimal) {
  Decoder decoder(types_.pool());
  Channel channel{0, "raw", "Point", Encoding::structure, false, 0, {}};
  FieldNode tree = field_tree(channel, sample_of("\x01\xff"), decoder);
  EXPECT_EQ(tree.value, "struct");
  EXPECT_EQ(tree.children.at(0).value, "01 ff");
  channel = {0, "raw", "pkg.None", Encoding::protobuf, false, 0, {}};
  EXPECT_EQ(field_tree(channel, sample_of("x"), decoder).value, "no program defines this type");
  channel.type = "pkg.Every";
  tree = field_tree(channel, sample_of("\x09\x01"), decoder);
  EXPECT_NE(tree.value.find("no message of this type"), std::string::npos);
  EXPECT_EQ(tree.children.at(0).type, "2 bytes");
}

TEST(Types, a_definition_never_changes) {
  Types types;
  const std::string one =
      R"(file { name: "a.proto" package: "p" message_type { name: "A" field {
         name: "x" number: 1 type: TYPE_DOUBLE label: LABEL_OPTIONAL } } })";
  types.add(set_of(one)).or_throw();
  types.add(set_of(one)).or_throw();
  std::string other = one;
  other.replace(other.find("\"x\""), 3, "\"y\"");
  const auto added = types.add(set_of(other));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Code::type_mismatch);
  EXPECT_NE(added.error().to_string().find("a.proto"), std::string::npos);
  EXPECT_NE(types.find("p.A")->FindFieldByName("x"), nullptr);
}

TEST(Types, a_missing_import_costs_only_its_file) {
  Types types;
  const auto added = types.add(set_of(
      R"(file { name: "bad.proto" dependency: "none.proto" message_type { name: "Bad" } }
         file { name: "good.proto" dependency: "hyphos/msgs/geometry.proto" message_type {
           name: "Good" field { name: "p" number: 1 type: TYPE_MESSAGE
             type_name: ".hyphos.msgs.Pose" label: LABEL_OPTIONAL } } })"));
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().to_string().find("none.proto"), std::string::npos);
  EXPECT_EQ(types.find("Bad"), nullptr);
  ASSERT_NE(types.find("Good"), nullptr);
  EXPECT_EQ(types.find("Good")->field(0)->message_type(), types.find("hyphos.msgs.Pose"));
  EXPECT_EQ(types.add("no descriptor set").error().code, Code::corrupt);
}

TEST(Types, the_field_of_attached_buffers_is_left_out) {
  Types types;
  const std::string plain = R"(message_type { name: "M" FIELD } })";
  const auto file = [&](const std::string& field) {
    std::string text = R"(file { name: "m.proto" )" + plain;
    return set_of(text.replace(text.find("FIELD"), 5, field));
  };
  types
      .add(file(R"(field { name: "attached_buffers" number: 100000 type: TYPE_BYTES
                    label: LABEL_REPEATED })"))
      .or_throw();
  types.add(file("")).or_throw();
  EXPECT_EQ(types.find("M")->field_count(), 0);
}

}  // namespace
}  // namespace hyphos::view
