#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "gateway/facade/hyphos_graph.hpp"
#include "hyphos/hyphos.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "tests/gateway/convert/sample.hpp"

namespace hyphos::gateway {
namespace {

/// The view of the graph facade on the actions of a graph.
class ActionsTest : public testing::Test {
 protected:
  static RuntimeOptions in(const std::string& domain) {
    RuntimeOptions options;
    options.domain = domain;
    return options;
  }
  static std::optional<ActionInfo> find(const HyphosGraph& facade, const std::string& name) {
    const auto actions = facade.actions().list();
    const auto at = std::ranges::find(actions, name, &ActionInfo::name);
    return at == actions.end() ? std::nullopt : std::optional(*at);
  }
  static std::unique_ptr<ActionServer> serve(HyphosGraph& facade, const std::string& name) {
    ActionCallbacks callbacks{[](const Buffer&, const ServedGoalRef&) {},
                              [](const ServedGoalRef&) {}};
    return facade.actions()
        .open_server({"rosbridge 10.0.0.5:4000"}, name, "made/Count", Form::json,
                     std::move(callbacks))
        .or_throw();
  }

  const std::string domain_ = "actions" + std::to_string(::getpid());
  Node robot_ = Node::open("robot", in(domain_)).or_throw();
  const std::shared_ptr<Types> types_ = sample_types();
  HyphosGraph facade_{robot_.runtime().node("gateway").or_throw(), types_, {}};
};

TEST_F(ActionsTest, actions_of_nodes_and_of_clients_are_listed) {
  EXPECT_TRUE(facade_.actions().list().empty());
  const auto dock = robot_.action<msgs::LaserScan, msgs::LaserScan, msgs::LaserScan>(
      "arm/dock", {}, [](const auto& goal) { return *goal; });
  auto server = serve(facade_, "/count");
  HyphosGraph elsewhere(Node::open("base", in(domain_)).or_throw(), types_, {});
  for (const HyphosGraph* const facade : {&facade_, &elsewhere}) {
    ASSERT_EQ(facade->actions().list().size(), 2U);
    const auto count = find(*facade, "/count");
    ASSERT_TRUE(count);
    EXPECT_EQ(count->type, "made/Count");
    EXPECT_EQ(count->node, "/gateway");
    const auto docking = find(*facade, "/arm/dock");
    ASSERT_TRUE(docking);
    EXPECT_EQ(docking->type, "") << "these types form no ROS action";
    EXPECT_EQ(docking->node, "/robot");
    EXPECT_TRUE(facade->services().list().empty()) << "an action is not a service";
  }
  server.reset();
  EXPECT_FALSE(find(facade_, "/count"));
  dock.close();
  EXPECT_TRUE(facade_.actions().list().empty());
}

TEST_F(ActionsTest, rules_decide_which_clients_may_use_an_action) {
  Rules rules;
  rules.call.deny = {"dock"};
  rules.subscribe.allow = {"scan"};
  Rules driver;
  driver.publish.deny = {"*"};
  driver.serve.deny = {"count"};
  rules.clients = {{"rosbridge*10.0.0.5:*", driver}};
  const HyphosGraph facade(robot_.runtime().node("other").or_throw(), types_, rules);
  const Client anybody{"rosbridge 10.0.0.6:4000"};
  const Client driving{"rosbridge 10.0.0.5:4000"};
  EXPECT_FALSE(facade.clients().lets(anybody, Use::call, "/dock"));
  EXPECT_FALSE(facade.clients().lets(anybody, Use::call, "dock"));
  EXPECT_TRUE(facade.clients().lets(anybody, Use::serve, "/dock"));
  EXPECT_TRUE(facade.clients().lets(anybody, Use::subscribe, "/scan"));
  EXPECT_FALSE(facade.clients().lets(anybody, Use::subscribe, "/map"));
  EXPECT_TRUE(facade.clients().lets(anybody, Use::publish, "/map"));
  EXPECT_TRUE(facade.clients().lets(driving, Use::call, "/dock"));
  EXPECT_FALSE(facade.clients().lets(driving, Use::publish, "/map"));
  EXPECT_FALSE(facade.clients().lets(driving, Use::serve, "/count"));
}

TEST_F(ActionsTest, interfaces_have_their_usual_names) {
  const auto names = facade_.types().interfaces();
  EXPECT_EQ(names, (std::vector<std::string>{
                       "made/Add", "made/All", "made/Count", "made/CountFeedback", "made/CountGoal",
                       "made/CountResult", "made/Many", "made/Nothing", "made/Part",
                       "made/action/Count", "made/msg/All", "made/msg/Many", "made/msg/Nothing",
                       "made/msg/Part", "made/srv/Add"}));
  EXPECT_EQ(facade_.types().ros_version(), 1) << "ROS 1 types are known";
}

}  // namespace
}  // namespace hyphos::gateway
