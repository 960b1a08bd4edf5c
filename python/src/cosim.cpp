#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "bindings.hpp"
#include "cosim/nodes/local_robot.hpp"
#include "cosim/nodes/remote_robot.hpp"
#include "handles.hpp"

namespace nb = nanobind;

namespace hyphos::python {
namespace {

using cosim::LocalRobot;
using cosim::RobotOptions;

/// A Python exception as one line.
Error as_error(const nb::python_error& error, const std::string& where) {
  const std::string type = nb::cast<std::string>(error.type().attr("__name__"));
  return {Code::invalid_config, type + ": " + nb::str(error.value()).c_str(), where};
}

Result<std::unique_ptr<LocalRobot>> make_robot(const RobotOptions& options,
                                               const nb::object& make) {
  auto robot = [&] {
    nb::gil_scoped_release release;
    return LocalRobot::open(options);
  }();
  if (!robot) return robot;
  try {
    make(nb::cast(std::make_unique<Handle<Runtime>>((*robot)->runtime())));
  } catch (const nb::python_error& error) {
    return as_error(error, options.plan.string());
  }
  nb::gil_scoped_release release;
  if (auto loaded = (*robot)->load(); !loaded) return loaded.error();
  return robot;
}

/// Runs a robot of the co-simulator in this process until its engine ends it. `make` receives the
/// Runtime and creates the nodes in Python.
void serve_robot(int link_fd, const std::string& name, const std::string& plan,
                 std::vector<std::string> settings, std::vector<std::string> nodes,
                 const nb::object& make) {
  auto channel = cosim::IpcChannel::open(UniqueFd(link_fd)).or_throw();
  auto robot = make_robot({name, plan, std::move(settings), std::move(nodes)}, make);
  nb::gil_scoped_release release;
  if (!robot) return cosim::serve_failure(channel, robot.error());
  cosim::serve(channel, **robot);
  robot->reset();
}

}  // namespace

void bind_cosim(nb::module_& module) {
  module.def("serve_robot", &serve_robot, nb::arg("link_fd"), nb::arg("name"), nb::arg("plan"),
             nb::arg("settings"), nb::arg("nodes"), nb::arg("make"));
}

}  // namespace hyphos::python
