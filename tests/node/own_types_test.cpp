// The types of a user's .proto files, which endpoints announce to tools.
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "hyphos/msgs/std.pb.h"
#include "rover/safety.pb.h"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

using rover::Safety;
using rover::Zone;

enum class Mode : std::uint8_t { idle, drive };

struct Point {
  float x, y;
  static void hyphos_fields(auto&& field) {
    field("x", &Point::x);
    field("y", &Point::y);
  }
};

struct Opaque {
  int a, b;
};

struct State {
  static constexpr std::string_view hyphos_type = "test.State";
  double speed;
  bool moves;
  Mode mode;
  char name[16];
  std::int16_t grid[2][3];
  std::array<Point, 4> corners;
  std::array<char, 3> code;
  const std::uint64_t number;
  Opaque opaque;

  static void hyphos_fields(auto&& field) {
    field("speed", &State::speed);
    field("moves", &State::moves);
    field("mode", &State::mode);
    field("name", &State::name);
    field("grid", &State::grid);
    field("corners", &State::corners);
    field("code", &State::code);
    field("number", &State::number);
    field("opaque", &State::opaque);
  }
};

std::vector<std::string> files_in(const std::string& descriptors) {
  google::protobuf::FileDescriptorSet set;
  EXPECT_TRUE(set.ParseFromString(descriptors));
  std::vector<std::string> names;
  for (const auto& file : set.file()) names.push_back(file.name());
  return names;
}

const std::vector<std::string> kBoth = {"rover/zone.proto", "rover/safety.proto"};

TEST(OwnTypes, a_publisher_announces_its_type_and_the_imports) {
  const std::string domain = fresh_domain();
  Runtime runtime = open_runtime(domain, "body");
  Node node = runtime.node("body").or_throw();
  EXPECT_TRUE(announced_types(domain).or_throw().empty());
  const auto publisher = node.publisher<Safety>("safety");
  const auto found = announced_types(domain).or_throw();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].process, "body");
  EXPECT_EQ(found[0].pid, getpid());
  EXPECT_EQ(files_in(found[0].descriptors), kBoth);
  EXPECT_EQ(runtime.announced_types(), found[0].descriptors);
}

TEST(OwnTypes, the_announced_definition_is_the_compiled_one) {
  const std::string set = type_support<Safety>().definition();
  google::protobuf::FileDescriptorSet parsed;
  ASSERT_TRUE(parsed.ParseFromString(set));
  google::protobuf::FileDescriptorProto compiled;
  Safety::descriptor()->file()->CopyTo(&compiled);
  EXPECT_EQ(parsed.file(1).SerializeAsString(), compiled.SerializeAsString());
}

TEST(OwnTypes, every_kind_of_endpoint_announces) {
  RuntimeOptions options = offline_options();
  const auto announced_by = [&](auto open) {
    Runtime runtime = Runtime::open(options).or_throw();
    Node node = runtime.node("n").or_throw();
    open(node);
    return files_in(runtime.announced_types());
  };
  const std::vector<std::string> zone = {"rover/zone.proto"};
  EXPECT_EQ(announced_by([](Node& node) {
              node.subscribe<Safety>("s", serial, [](const Message<Safety>&) {});
            }),
            kBoth);
  EXPECT_EQ(announced_by([](Node& node) { (void)node.publisher<Attached<Safety>>("s"); }), kBoth);
  EXPECT_EQ(announced_by([](Node& node) {
              (void)node.service<Zone, msgs::String>("s",
                                                     [](const Zone&) { return msgs::String(); });
            }),
            zone);
  EXPECT_EQ(announced_by([](Node& node) { (void)node.client<msgs::String, Zone>("s"); }), zone);
  EXPECT_EQ(announced_by([](Node& node) {
              (void)node.action_client<msgs::String, Zone, msgs::String>("s");
            }),
            zone);
}

TEST(OwnTypes, standard_types_and_structs_announce_nothing) {
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  Node node = runtime.node("n").or_throw();
  (void)node.publisher<msgs::String>("a");
  (void)node.publisher<Number>("b");
  (void)node.publisher<Buffer>("c");
  EXPECT_TRUE(runtime.announced_types().empty());
}

TEST(OwnTypes, a_struct_that_lists_its_fields_announces_its_layout) {
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  Node node = runtime.node("n").or_throw();
  (void)node.publisher<State>("a");
  const std::string found = runtime.announced_types();
  // The JSON follows the tag of field 1000 and a length of two bytes each.
  ASSERT_GT(found.size(), 4U);
  EXPECT_EQ(found.substr(4),
            R"({"name":"test.State","size":96,"fields":[)"
            R"({"name":"speed","offset":0,"type":"<f8"},)"
            R"({"name":"moves","offset":8,"type":"|b1"},)"
            R"({"name":"mode","offset":9,"type":"|u1"},)"
            R"({"name":"name","offset":10,"type":"|S16"},)"
            R"({"name":"grid","offset":26,"type":"<i2","shape":[2,3]},)"
            R"({"name":"corners","offset":40,"size":8,"fields":[)"
            R"({"name":"x","offset":0,"type":"<f4"},{"name":"y","offset":4,"type":"<f4"}],)"
            R"("shape":[4]},)"
            R"({"name":"code","offset":72,"type":"|S3"},)"
            R"({"name":"number","offset":80,"type":"<u8"},)"
            R"({"name":"opaque","offset":88,"type":"|V8"}]})");
  static_assert(offsetof(State, opaque) == 88 && sizeof(State) == 96);
  EXPECT_EQ(type_support<State>().definition(), found);
}

TEST(OwnTypes, a_reader_builds_the_type_from_the_announcement) {
  google::protobuf::FileDescriptorSet set;
  ASSERT_TRUE(set.ParseFromString(type_support<Safety>().definition()));
  google::protobuf::DescriptorPool pool(google::protobuf::DescriptorPool::generated_pool());
  // The underlay has the files already, so they are built under other names.
  for (auto file : set.file()) {
    for (auto& needed : *file.mutable_dependency()) {
      if (needed == "rover/zone.proto") needed = "copy/zone.proto";
    }
    file.set_name("copy/" + file.name().substr(6));
    EXPECT_FALSE(is_standard_file(file.name()));
    file.set_package("copy");
    for (auto& field : *file.mutable_message_type(0)->mutable_field()) {
      if (field.type_name() == ".rover.Zone") field.set_type_name(".copy.Zone");
    }
    ASSERT_NE(pool.BuildFile(file), nullptr);
  }
  google::protobuf::DynamicMessageFactory factory(&pool);
  const std::unique_ptr<google::protobuf::Message> message(
      factory.GetPrototype(pool.FindMessageTypeByName("copy.Safety"))->New());
  Safety safety;
  safety.mutable_header()->set_frame_id("base");
  safety.add_zones()->set_radius(2.5);
  ASSERT_TRUE(message->ParseFromString(safety.SerializeAsString()));
  EXPECT_EQ(message->ShortDebugString(), safety.ShortDebugString());
}

}  // namespace
}  // namespace hyphos::test
