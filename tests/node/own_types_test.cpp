// The types of a user's .proto files, which endpoints announce to tools.
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include "hyphos/msgs/std.pb.h"
#include "rover/safety.pb.h"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

using rover::Safety;
using rover::Zone;

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
