// C++ types without a serializer, which pass within a process as pointers.
#include <gtest/gtest.h>

#include <map>

#include "tests/captured_stderr.hpp"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

struct Cloud {
  std::vector<float> xyz;
  std::string frame;
};

struct Frames {  // has a destructor and no copy, as a class of another library
  explicit Frames(int number) : count(std::make_unique<int>(number)) {}
  std::unique_ptr<int> count;
};

using Table = std::map<std::string, std::vector<int>>;

RuntimeOptions in(const std::string& domain, const std::string& process) {
  RuntimeOptions options;
  options.domain = domain;
  options.process = process;
  return options;
}

template <typename T>
class InsideTypes : public testing::Test {};
using Scopes = testing::Types<std::integral_constant<Scope, Scope::local>,
                              std::integral_constant<Scope, Scope::network>>;
TYPED_TEST_SUITE(InsideTypes, Scopes);

TYPED_TEST(InsideTypes, a_value_passes_as_a_pointer) {
  const Node node = Node::open("node", in(fresh_domain(), "main")).or_throw();
  constexpr Scope kScope = TypeParam::value;
  std::vector<const float*> seen;
  for (int i = 0; i < 2; ++i) {
    node.subscribe<Cloud>("cloud", {.mode = inline_, .scope = kScope},
                          [&](const Message<Cloud>& m) {
                            EXPECT_EQ(m->frame, "map");
                            seen.push_back(m->xyz.data());
                          });
  }
  const auto publisher = node.publisher<Cloud>("cloud", {.scope = kScope});
  Cloud cloud{{1, 2, 3}, "map"};
  const float* const data = cloud.xyz.data();
  EXPECT_TRUE(publisher.publish(std::move(cloud)));
  EXPECT_EQ(seen, (std::vector<const float*>{data, data}));
}

TEST(InsideTypes, every_movable_type_passes) {
  const Node node = Node::open("node", offline_options()).or_throw();
  int sum = 0;
  node.subscribe<Frames>("frames", inline_, [&](const Message<Frames>& m) { sum += *m->count; });
  node.subscribe<Table>("table", inline_,
                        [&](const Message<Table>& m) { sum += m->at("a").front(); });
  node.subscribe<std::shared_ptr<int>>("shared", inline_,
                                       [&](const Message<std::shared_ptr<int>>& m) { sum += **m; });
  EXPECT_TRUE(node.publisher<Frames>("frames").publish(Frames(1)));
  EXPECT_TRUE(node.publisher<Table>("table").publish(Table{{"a", {10}}}));
  EXPECT_TRUE(node.publisher<std::shared_ptr<int>>("shared").publish(std::make_shared<int>(100)));
  EXPECT_EQ(sum, 111);
}

TEST(InsideTypes, a_latched_value_reaches_a_late_subscription) {
  const Node node = Node::open("node", in(fresh_domain(), "main")).or_throw();
  Policy policy;
  policy.latched = true;
  EXPECT_TRUE(node.publisher<Cloud>("cloud", {.policy = policy}).publish(Cloud{{1}, "map"}));
  std::string frame;
  node.subscribe<Cloud>("cloud", {.mode = inline_, .policy = policy},
                        [&](const Message<Cloud>& m) { frame = m->frame; });
  EXPECT_EQ(frame, "map");
}

TEST(InsideTypes, one_subscription_takes_a_unique_pointer) {
  using Owned = std::unique_ptr<Cloud>;
  const Node node = Node::open("node", offline_options()).or_throw();
  Owned taken;
  const auto one = node.subscribe<Owned>("cloud", inline_, [&](const Message<Owned>& m) {
    taken = m.take();
    EXPECT_EQ(m.take(), nullptr);
  });
  const auto publisher = node.publisher<Owned>("cloud");
  auto cloud = std::make_unique<Cloud>(Cloud{{1, 2}, "map"});
  const Cloud* const address = cloud.get();
  EXPECT_TRUE(publisher.publish(std::move(cloud)));
  EXPECT_EQ(taken.get(), address);
  try {
    node.subscribe<Owned>("cloud", inline_, [](const Message<Owned>&) {});
    FAIL() << "a second subscription";
  } catch (const Exception& error) {
    EXPECT_EQ(error.error().code, Code::already_exists);
    EXPECT_NE(error.error().message.find("node 'node' has the one subscription"),
              std::string::npos);
  }
}

TEST(InsideTypes, the_place_of_the_one_subscription_becomes_free) {
  using Owned = std::unique_ptr<int>;
  const Node node = Node::open("node", offline_options()).or_throw();
  auto first = node.subscribe<Owned>("n", inline_, [](const Message<Owned>&) {});
  first.close();
  node.subscribe<Owned>("n", inline_, [](const Message<Owned>&) {});
}

TEST(InsideTypes, a_latched_unique_pointer_is_refused) {
  Policy policy;
  policy.latched = true;
  const Node node = Node::open("node", offline_options()).or_throw();
  try {
    (void)node.publisher<std::unique_ptr<int>>("n", {.policy = policy});
    FAIL() << "latched";
  } catch (const Exception& error) {
    EXPECT_EQ(error.error().code, Code::invalid_config);
  }
}

/// A subscription outside gets a clear error, and so does the publisher.
TYPED_TEST(InsideTypes, a_subscription_outside_is_an_error_on_both_sides) {
  const std::string domain = fresh_domain();
  const Node here = Node::open("here", in(domain, "a")).or_throw();
  const Node there = Node::open("there", in(domain, "b")).or_throw();
  const auto publisher = here.publisher<Cloud>("cloud", {.scope = TypeParam::value});
  const CapturedStderr logged;
  const auto outside =
      there.subscribe<Cloud>("cloud", {.mode = serial, .scope = TypeParam::value},
                             [](const Message<Cloud>&) { ADD_FAILURE() << "a message"; });
  Result<void> refused = success();
  ASSERT_TRUE(eventually([&] {
    refused = publisher.wait_for(1, Duration::from_ms(10));
    return !refused && refused.error().code == Code::type_mismatch;
  }));
  const std::string text = refused.error().to_string();
  for (const char* part : {"Cloud", "without a serializer", "process 'a'", "process 'b'"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_TRUE(eventually([&] {
    const std::string lines = logged.text();
    // One line of each side.
    return lines.find("'cloud': process 'a'") != std::string::npos &&
           lines.find("'cloud': process 'b'") != std::string::npos;
  })) << logged.text();
  EXPECT_TRUE(publisher.publish(Cloud{{1}, "map"})) << "no subscriber is no failure";
}

TEST(InsideTypes, tools_see_the_type_and_its_encoding) {
  const std::string domain = fresh_domain();
  const Node node = Node::open("node", in(domain, "a")).or_throw();
  const auto publisher = node.publisher<Cloud>("cloud");
  const auto all = inspect(domain).or_throw();
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].endpoints.size(), 1U);
  EXPECT_EQ(all[0].endpoints[0].encoding, Encoding::none);
  EXPECT_NE(all[0].endpoints[0].type_name.find("Cloud"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::test
