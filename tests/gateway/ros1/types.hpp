#pragma once

#include "tests/gateway/fake_graph.hpp"

namespace hyphos::gateway::ros1 {

/// Adds the ROS types that the tests use.
inline void add_types(FakeGraph& facade) {
  facade.types().add_message({.name = "std_msgs/String",
                              .md5 = "992ce8a1687cec8c8bd883ec73ca41d1",
                              .type_hash = {},
                              .text = "string data\n"});
  facade.types().add_message({.name = "std_msgs/Int32",
                              .md5 = "da5909fbe378aeaf85e547e830cc1bb7",
                              .type_hash = {},
                              .text = "int32 data"});
  facade.types().add_message({.name = "std_msgs/Empty",
                              .md5 = "d41d8cd98f00b204e9800998ecf8427e",
                              .type_hash = {},
                              .text = {}});
  facade.types().add_service({.name = "std_srvs/SetBool",
                              .md5 = "09fb03525b03e7ea1fd3992bafd87e16",
                              .type_hash = {},
                              .request = "std_srvs/SetBoolRequest",
                              .reply = "std_srvs/SetBoolResponse"});
  facade.types().add_service({.name = "std_srvs/Trigger",
                              .md5 = "937c9679a518e3a18d831e57125ea522",
                              .type_hash = {},
                              .request = "std_srvs/TriggerRequest",
                              .reply = "std_srvs/TriggerResponse"});
}

}  // namespace hyphos::gateway::ros1
