#include "gateway/ros1/left_out.hpp"

namespace hyphos::gateway::ros1 {

void report_left_out(const Context& context, LogOnce& logged, const std::string& kind,
                     const std::string& name, const Error& why) {
  if (!logged.first(kind + " " + name + " " + why.message)) return;
  context.facade.clients().note({.name = "ros1 " + name}, to_string(why.code),
                                "the " + kind + " is left out: " + why.to_string());
}

void report_left_out(const Context& context, LogOnce& logged, const std::string& kind,
                     const Nameless& info) {
  // such as the channels and services of parameters
  const bool hidden = info.name.find("/_") != std::string::npos;
  if (hidden || !logged.first(kind + " " + info.name + " " + info.carries)) return;
  const bool typeless = info.type.empty();
  context.facade.clients().note({.name = "ros1 " + info.name},
                                typeless ? "no_counterpart" : "unsupported",
                                "the " + kind + " is left out: it carries " +
                                    (info.carries.empty() ? info.type : info.carries) +
                                    (typeless ? ", which has no corresponding ROS type"
                                              : ", and its name is not a valid ROS name"));
}

}  // namespace hyphos::gateway::ros1
