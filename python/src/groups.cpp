#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <utility>

#include "bindings.hpp"
#include "handles.hpp"
#include "hyphos/node.hpp"
#include "hyphos/runtime.hpp"

namespace hyphos::python {
namespace {

using Action = GroupChange::Action;

Action parse_action(const std::string& word) {
  constexpr std::array<std::pair<const char*, Action>, 6> kActions = {{{"look", Action::look},
                                                                       {"start", Action::start},
                                                                       {"stop", Action::stop},
                                                                       {"move", Action::move},
                                                                       {"open", Action::open},
                                                                       {"close", Action::close}}};
  for (const auto& [name, action] : kActions) {
    if (word == name) return action;
  }
  throw nb::value_error(("unknown action '" + word + "'").c_str());
}

Result<GroupState> change(const Runtime& runtime, const GroupChange& change, Duration timeout) {
  switch (change.action) {
    case Action::start:
      return runtime.start_group(change.group, timeout);
    case Action::stop:
      return runtime.stop_group(change.group, timeout);
    case Action::move:
      return runtime.move_group(change.group, change.process, timeout);
    case Action::open:
    case Action::close:
      return runtime.set_group_open(change.group, change.action == Action::open, change.where,
                                    timeout);
    case Action::look:
      break;
  }
  return runtime.group_state(change.group, timeout);
}

GroupChange make_change(const std::string& group, const std::string& action,
                        const std::string& process, const std::string& where) {
  return {group, parse_action(action), process, parse_where(where)};
}

}  // namespace

void bind_groups(nb::module_& module, nb::class_<Handle<Runtime>>& runtime,
                 nb::class_<Handle<Node>>& node) {
  nb::class_<GroupState::Node>(module, "GroupNode", "A node of a group.")
      .def_ro("group", &GroupState::Node::group)
      .def_ro("node", &GroupState::Node::node)
      .def_ro("process", &GroupState::Node::process, "In which it runs, or would run.")
      .def_ro("running", &GroupState::Node::running)
      .def_ro("reachable", &GroupState::Node::reachable, "False: the process does not run.");
  nb::class_<GroupState::Channel>(module, "GroupChannel", "A channel of a group in one process.")
      .def_ro("process", &GroupState::Channel::process)
      .def_ro("channel", &GroupState::Channel::channel)
      .def_prop_ro("open", [](const GroupState::Channel& channel) {
        return std::string(to_string(channel.open));
      });
  nb::class_<GroupState>(module, "GroupState", "The nodes of a group, and its changed channels.")
      .def_ro("nodes", &GroupState::nodes)
      .def_ro("channels", &GroupState::channels);
  runtime
      .def(
          "change_group",
          [](const Handle<Runtime>& r, const std::string& group, const std::string& action,
             const std::string& process, const std::string& where, double timeout_ms) {
            const Runtime self = r.get();
            const GroupChange made = make_change(group, action, process, where);
            nb::gil_scoped_release release;
            return change(self, made, Duration::from_seconds(timeout_ms / 1e3)).or_throw();
          },
          nb::arg("group"), nb::arg("action"), nb::arg("process"), nb::arg("where"),
          nb::arg("timeout_ms"))
      .def(
          "hosts",
          [](const Handle<Runtime>& r, const std::string& name) { return r.get().hosts(name); },
          nb::arg("node"))
      .def(
          "set_node_host",
          [](const Handle<Runtime>& r, nb::object host) {
            Runtime self = r.get();
            std::function<std::string(const std::string&, bool)> call;
            if (!host.is_none()) {
              call = [callable = Callable(std::move(host))](const std::string& name, bool run) {
                if (closing()) return std::string("the interpreter ends");
                nb::gil_scoped_acquire acquire;
                return callable.ask(name, run);
              };
            }
            nb::gil_scoped_release release;
            self.set_node_host(std::move(call));
          },
          nb::arg("host").none());
  node.def(
      "change_group",
      [](const Handle<Node>& n, const std::string& asked, const std::string& group,
         const std::string& action, const std::string& process, const std::string& where,
         double timeout_ms) {
        const Node self = n.get();
        const GroupChange made = make_change(group, action, process, where);
        nb::gil_scoped_release release;
        return self.change_group(asked, made, Duration::from_seconds(timeout_ms / 1e3)).or_throw();
      },
      nb::arg("asked"), nb::arg("group"), nb::arg("action"), nb::arg("process"), nb::arg("where"),
      nb::arg("timeout_ms"));
}

}  // namespace hyphos::python
