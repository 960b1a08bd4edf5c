#include <gtest/gtest.h>

#include "gateway/ros1/param_server.hpp"
#include "gateway/ros1/param_tree.hpp"

using namespace hyphos;
using namespace hyphos::gateway::ros1;

TEST(Params, parameters_form_a_tree) {
  ParamTree tree;
  ASSERT_TRUE(tree.set("/a/b", 1).ok());
  ASSERT_TRUE(tree.set("/a/c/d", "x").ok());
  EXPECT_EQ(*tree.get("/a/b"), Value(1));
  EXPECT_EQ(*tree.get("/a"), (Value::Struct{{"b", 1}, {"c", Value::Struct{{"d", "x"}}}}));
  EXPECT_EQ(tree.names(), (std::vector<std::string>{"/a/b", "/a/c/d"}));
  EXPECT_EQ(tree.get("/a/b/c"), nullptr);
  EXPECT_EQ(tree.get("/b"), nullptr);
}

TEST(Params, structs_and_values_replace_each_other) {
  ParamTree tree;
  ASSERT_TRUE(tree.set("/a", Value::Struct{{"x", 1}, {"y", 2}}).ok());
  ASSERT_TRUE(tree.set("/a", Value::Struct{{"z", 3}}).ok());
  EXPECT_EQ(tree.names(), std::vector<std::string>{"/a/z"});
  ASSERT_TRUE(tree.set("/a/z/deep", 4).ok());
  EXPECT_EQ(*tree.get("/a/z/deep"), Value(4));
  EXPECT_EQ(tree.set("/", 5).error().code, Code::invalid_config);
  ASSERT_TRUE(tree.set("/", Value::Struct{{"only", 1}}).ok());
  EXPECT_EQ(tree.names(), std::vector<std::string>{"/only"});
}

TEST(Params, erasing_a_namespace_erases_its_parameters) {
  ParamTree tree;
  ASSERT_TRUE(tree.set("/a/b/c", 1).ok());
  EXPECT_TRUE(tree.erase("/a/b"));
  EXPECT_FALSE(tree.erase("/a/b"));
  EXPECT_NE(tree.get("/a"), nullptr);
  EXPECT_TRUE(tree.erase("/"));
  EXPECT_NE(tree.get("/"), nullptr);
  EXPECT_TRUE(tree.names().empty());
}

TEST(Params, parameters_are_searched_upwards) {
  ParamTree tree;
  ASSERT_TRUE(tree.set("/robot/speed", 1).ok());
  ASSERT_TRUE(tree.set("/speed", 2).ok());
  ASSERT_TRUE(tree.set("/robot/arm/pid", Value::Struct{{"p", 1}}).ok());
  EXPECT_EQ(tree.search("/robot/node", "speed"), "/robot/speed");
  EXPECT_EQ(tree.search("/other/node", "speed"), "/speed");
  EXPECT_EQ(tree.search("/robot/arm/node", "pid/i"), "/robot/arm/pid/i");
  EXPECT_EQ(tree.search("/robot/node", "nothing"), std::nullopt);
  EXPECT_EQ(tree.search("/robot/node", "/speed"), "/speed");
}

TEST(Params, size_and_depth_are_limited) {
  ParamTree tree;
  const std::string half(ParamTree::kMaxBytes / 2, 'x');
  ASSERT_TRUE(tree.set("/a", half).ok());
  EXPECT_EQ(tree.set("/b", half).error().code, Code::overloaded);
  ASSERT_TRUE(tree.set("/a", half).ok()) << "a replaced value does not count";
  EXPECT_TRUE(tree.erase("/a"));
  EXPECT_TRUE(tree.set("/b", half).ok());
  std::string deep;
  for (int level = 0; level < 33; ++level) deep += "/d";
  EXPECT_EQ(tree.set(deep, 1).error().code, Code::invalid_config);
}

TEST(Params, a_watcher_gets_only_updates_of_its_key) {
  using Update = std::optional<std::pair<std::string, Value>>;
  const Value value = Value::Struct{{"b", 1}};
  EXPECT_EQ(ParamServer::update_for("/a", "/a", value), Update({"/a", value}));
  EXPECT_EQ(ParamServer::update_for("/", "/a", value), Update({"/a", value}));
  EXPECT_EQ(ParamServer::update_for("/a", "/a/c", 2), Update({"/a/c", 2}));
  EXPECT_EQ(ParamServer::update_for("/a/b", "/a", value), Update({"/a/b", 1}));
  EXPECT_EQ(ParamServer::update_for("/a/x", "/a", value), Update({"/a/x", Value::Struct()}));
  EXPECT_EQ(ParamServer::update_for("/a", "/ab", 1), std::nullopt);
  EXPECT_EQ(ParamServer::update_for("/ab", "/a", value), std::nullopt);
}
