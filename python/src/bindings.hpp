#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "hyphos/codec.hpp"
#include "hyphos/policy.hpp"

namespace hyphos {
class Node;
class Runtime;
}  // namespace hyphos

namespace hyphos::python {

/// Parse words of plans and of the command line. Throw ValueError with the valid words.
Mode parse_mode(const std::string& word);
Where parse_where(const std::string& word);
Encoding parse_encoding(const std::string& word);
/// An empty `overflow` selects the rule that the reliability implies.
Policy make_policy(const std::string& reliability, const std::string& overflow,
                   const std::string& priority);

void bind_nodes(nanobind::module_& module);
void bind_params(nanobind::module_& module);
void bind_shared_params(nanobind::module_& module);
void bind_recording(nanobind::module_& module);
void bind_tools(nanobind::module_& module);
void bind_clock(nanobind::module_& module);
template <typename T>
class Handle;
/// Binds services and actions, and adds their functions to the node.
void bind_calls(nanobind::module_& module, nanobind::class_<Handle<Node>>& node);
/// Binds synchronizers, and adds their function to the node.
void bind_synchronizer(nanobind::module_& module, nanobind::class_<Handle<Node>>& node);
/// Adds the functions that open and close channels.
void bind_channel_places(nanobind::class_<Handle<Runtime>>& runtime,
                         nanobind::class_<Handle<Node>>& node);
/// Binds groups, and adds their functions to the runtime and to the node.
void bind_groups(nanobind::module_& module, nanobind::class_<Handle<Runtime>>& runtime,
                 nanobind::class_<Handle<Node>>& node);
void bind_transforms(nanobind::module_& module);
void bind_convert(nanobind::module_& module);
void bind_cosim(nanobind::module_& module);

}  // namespace hyphos::python
