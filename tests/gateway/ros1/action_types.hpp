#pragma once

#include <string>
#include <string_view>

#include "tests/gateway/action_ends.hpp"
#include "tests/gateway/ros1/types.hpp"

namespace hyphos::gateway::ros1 {

inline const std::string kCount = "made/Count";

inline std::string same(std::string_view text) { return std::string(text); }

inline void add_action_types(FakeGraph& facade) {
  facade.types().add_action({kCount, "made/CountGoal", "made/CountFeedback", "made/CountResult"});
  for (const char* name :
       {"made/CountActionGoal", "made/CountActionFeedback", "made/CountActionResult",
        "actionlib_msgs/GoalID", "actionlib_msgs/GoalStatusArray"}) {
    facade.types().add_message(
        {.name = name, .md5 = std::string(32, 'a'), .type_hash = {}, .text = {}});
  }
}

}  // namespace hyphos::gateway::ros1
