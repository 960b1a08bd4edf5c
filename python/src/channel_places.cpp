#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "handles.hpp"
#include "hyphos/node.hpp"
#include "hyphos/runtime.hpp"

namespace hyphos::python {

void bind_channel_places(nb::class_<Handle<Runtime>>& runtime_class,
                         nb::class_<Handle<Node>>& node_class) {
  runtime_class
      .def(
          "set_channel_open",
          [](const Handle<Runtime>& r, const std::string& channel, bool open,
             const std::string& where, const std::optional<std::string>& peer) {
            Runtime runtime = r.get();
            nb::gil_scoped_release release;
            (peer ? runtime.set_channel_open(channel, *peer, open)
                  : runtime.set_channel_open(channel, open, parse_where(where)))
                .or_throw();
          },
          nb::arg("channel"), nb::arg("open"), nb::arg("where") = "both",
          nb::arg("peer") = nb::none())
      .def(
          "open_channel_only",
          [](const Handle<Runtime>& r, const std::string& channel, const std::string& where) {
            Runtime runtime = r.get();
            nb::gil_scoped_release release;
            runtime.open_channel_only(channel, parse_where(where)).or_throw();
          },
          nb::arg("channel"), nb::arg("where"))
      .def(
          "channel_open",
          [](const Handle<Runtime>& r, const std::string& channel) {
            return std::string(to_string(r.get().channel_open(channel).or_throw()));
          },
          nb::arg("channel"));
  node_class.def(
      "change_channel",
      [](const Handle<Node>& n, std::uint64_t participant, const std::string& channel, bool open,
         const std::string& where, bool only, const std::string& peer, double timeout_ms) {
        const Node node = n.get();
        const ChannelChange change{channel, open, parse_where(where), only, peer};
        nb::gil_scoped_release release;
        return std::string(to_string(
            node.change_channel(participant, change, Duration::from_seconds(timeout_ms / 1e3))
                .or_throw()));
      },
      nb::arg("participant"), nb::arg("channel"), nb::arg("open"), nb::arg("where"),
      nb::arg("only"), nb::arg("peer"), nb::arg("timeout_ms"));
}

}  // namespace hyphos::python
