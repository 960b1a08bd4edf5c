#include "graph/type_definitions.hpp"

#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <vector>

#include "shm/type_files.hpp"

namespace hyphos::graph {
namespace {

using google::protobuf::FileDescriptorSet;

std::string set_of(const std::vector<std::string>& names, std::size_t size = 1) {
  FileDescriptorSet set;
  for (const std::string& name : names) {
    set.add_file()->set_name(name);
    set.mutable_file()->rbegin()->set_package(std::string(size, 'p'));
  }
  return set.SerializeAsString();
}

std::vector<std::string> names_in(const std::string& set) {
  std::vector<std::string> names;
  FileDescriptorSet parsed;
  EXPECT_TRUE(parsed.ParseFromString(set));
  for (const auto& file : parsed.file()) names.push_back(file.name());
  return names;
}

TEST(TypeDefinitions, each_file_is_published_once) {
  std::vector<std::string> published;
  TypeDefinitions types([&](std::string_view files) {
    published.emplace_back(files);
    return success();
  });
  ASSERT_TRUE(types.add(set_of({"a.proto", "b.proto", "hyphos/msgs/std.proto"})).ok());
  ASSERT_TRUE(types.add(set_of({"b.proto", "c.proto", "google/protobuf/any.proto"})).ok());
  ASSERT_TRUE(types.add(set_of({"a.proto"})).ok());
  ASSERT_EQ(published.size(), 2U);
  EXPECT_EQ(names_in(published[0]), (std::vector<std::string>{"a.proto", "b.proto"}));
  EXPECT_EQ(names_in(published[1]), std::vector<std::string>{"c.proto"});
  EXPECT_EQ(names_in(types.all()), (std::vector<std::string>{"a.proto", "b.proto", "c.proto"}));
}

TEST(TypeDefinitions, each_layout_of_a_struct_is_published_once) {
  std::vector<std::string> published;
  TypeDefinitions types([&](std::string_view files) {
    published.emplace_back(files);
    return success();
  });
  const std::string pose = FieldList().definition("demo.Pose", 8);
  const std::string other = FieldList().definition("demo.Pose", 16);
  ASSERT_TRUE(types.add(pose).ok());
  ASSERT_TRUE(types.add(pose + other + set_of({"a.proto"})).ok());
  ASSERT_TRUE(types.add(set_of({"a.proto"}) + other).ok());
  EXPECT_EQ(published, (std::vector<std::string>{pose, set_of({"a.proto"}) + other}));
  EXPECT_EQ(types.all(), pose + set_of({"a.proto"}) + other);
}

TEST(TypeDefinitions, a_type_is_asked_once) {
  static int asked = 0;  // the definition is a function without captures
  asked = 0;
  TypeDefinitions types;
  const TypeDefinition definition = [] {
    ++asked;
    return set_of({"a.proto"});
  };
  for (int i = 0; i < 3; ++i) types.add(definition);
  types.add(TypeDefinition(nullptr));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(names_in(types.all()), std::vector<std::string>{"a.proto"});
}

TEST(TypeDefinitions, what_cannot_be_published_may_be_tried_again) {
  bool full = true;
  TypeDefinitions types([&](std::string_view) -> Result<void> {
    if (full) return Error{Code::exhausted, "full", ""};
    return success();
  });
  EXPECT_EQ(types.add(set_of({"a.proto"})).error().code, Code::exhausted);
  EXPECT_TRUE(types.all().empty());
  full = false;
  EXPECT_TRUE(types.add(set_of({"a.proto"})).ok());
  EXPECT_EQ(names_in(types.all()), std::vector<std::string>{"a.proto"});
}

TEST(TypeDefinitions, bytes_that_are_no_files_are_refused) {
  TypeDefinitions types;
  EXPECT_EQ(types.add(std::string_view("\xff\xff")).error().code, Code::corrupt);
  EXPECT_EQ(types.add(set_of({"a.proto"}, shm::kMaxTypeBytes)).error().code, Code::exhausted);
  EXPECT_TRUE(types.all().empty());
}

}  // namespace
}  // namespace hyphos::graph
