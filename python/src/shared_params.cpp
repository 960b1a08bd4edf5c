#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bindings.hpp"
#include "handles.hpp"
#include "hyphos/hyphos.hpp"
#include "param_values.hpp"

namespace hyphos::python {
namespace {

using SharedHandle = Handle<SharedParams>;
using TreeValues = std::vector<std::pair<std::string, nb::object>>;

constexpr int kMaxDepth = 32;

nb::object scalar_of(const ParamValue& value) {
  if (!value.quoted) {
    if (const auto whole = value.as_integer()) return nb::int_(*whole);
    if (const auto real = value.as_real()) return nb::float_(*real);
    if (const auto flag = value.as_boolean()) return nb::bool_(*flag);
  }
  return nb::str(value.text.c_str(), value.text.size());
}

/// dict, list, int, float, bool, str or None.
nb::object tree_of(const ParamValue& value) {
  switch (value.kind) {
    case ParamValue::Kind::null:
      return nb::none();
    case ParamValue::Kind::list: {
      nb::list list;
      for (const ParamValue& item : value.items) list.append(tree_of(item));
      return list;
    }
    case ParamValue::Kind::map: {
      nb::dict map;
      for (const ParamEntry& entry : value.entries) {
        map[nb::str(entry.key.c_str(), entry.key.size())] = tree_of(entry.value);
      }
      return map;
    }
    case ParamValue::Kind::scalar:
      break;
  }
  return scalar_of(value);
}

ParamValue to_tree(nb::handle value, int depth = 0) {
  ParamValue out;
  if (depth > kMaxDepth) throw nb::value_error("a shared parameter is nested too deeply");
  if (value.is_none()) return out;
  if (nb::isinstance<nb::dict>(value)) {
    out.kind = ParamValue::Kind::map;
    for (const auto [key, item] : nb::borrow<nb::dict>(value)) {
      if (!nb::isinstance<nb::str>(key)) {
        throw nb::type_error(
            ("a key of a shared parameter must be a str, not " + std::string(nb::repr(key).c_str()))
                .c_str());
      }
      out.entries.push_back({nb::cast<std::string>(key), to_tree(item, depth + 1)});
    }
    return out;
  }
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    out.kind = ParamValue::Kind::list;
    for (const nb::handle item : nb::borrow<nb::object>(value)) {
      out.items.push_back(to_tree(item, depth + 1));
    }
    return out;
  }
  if (nb::isinstance<nb::bytes>(value)) {
    throw nb::type_error("a shared parameter cannot be bytes: give text, numbers or lists");
  }
  // NumPy arrays of any number of dimensions.
  if (nb::hasattr(value, "tolist")) {
    const nb::object plain = value.attr("tolist")();
    if (!plain.type().is(value.type())) return to_tree(plain, depth + 1);
  }
  return to_param_value(to_param(value));
}

std::vector<std::pair<std::string, ParamValue>> to_trees(const TreeValues& values) {
  std::vector<std::pair<std::string, ParamValue>> out;
  for (const auto& [path, value] : values) out.emplace_back(path, to_tree(value));
  return out;
}

std::vector<std::pair<std::string, ParamValue>> of_root(ParamValue tree) {
  return {{"", std::move(tree)}};
}

void bind_handle(nb::module_& module) {
  nb::class_<SharedHandle>(module, "SharedParams")
      .def(
          "get",
          [](const SharedHandle& s, const std::string& path) {
            return tree_of(s.get().get<ParamValue>(path).or_throw());
          },
          nb::arg("path"))
      .def(
          "has",
          [](const SharedHandle& s, const std::string& path) {
            return path.empty() || s.get().tree()->find(path) != nullptr;
          },
          nb::arg("path"))
      .def(
          "yaml",
          [](const SharedHandle& s, const std::string& path) {
            return to_yaml(s.get().get<ParamValue>(path).or_throw());
          },
          nb::arg("path"))
      .def(
          "set",
          [](const SharedHandle& s, const TreeValues& values) {
            const SharedParams shared = s.get();
            const auto list = to_trees(values);
            nb::gil_scoped_release release;
            shared.set(list).or_throw();
          },
          nb::arg("values"))
      .def(
          "set_yaml",
          [](const SharedHandle& s, const std::vector<std::pair<std::string, std::string>>& lines) {
            const SharedParams shared = s.get();
            std::vector<std::pair<std::string, ParamValue>> values;
            for (const auto& [path, yaml] : lines) {
              values.emplace_back(path, parse_tree(yaml, path).or_throw());
            }
            nb::gil_scoped_release release;
            shared.set(values).or_throw();
          },
          nb::arg("lines"))
      .def(
          "set_file",
          [](const SharedHandle& s, const std::string& file) {
            const SharedParams shared = s.get();
            const auto values = of_root(read_tree(file).or_throw());
            nb::gil_scoped_release release;
            shared.set(values).or_throw();
          },
          nb::arg("file"))
      .def(
          "load",
          [](const SharedHandle& s, const std::string& file) {
            const SharedParams shared = s.get();
            nb::gil_scoped_release release;
            shared.load(file).or_throw();
          },
          nb::arg("file"))
      .def(
          "remove",
          [](const SharedHandle& s, const std::string& path) {
            const SharedParams shared = s.get();
            nb::gil_scoped_release release;
            shared.remove(path).or_throw();
          },
          nb::arg("path"))
      .def(
          "watch",
          [](const SharedHandle& s, const std::string& path, nb::object callback) {
            const SharedParams shared = s.get();
            auto call = [callable = Callable(std::move(callback))](
                            const std::vector<std::string>& changed) {
              if (closing()) return;
              nb::gil_scoped_acquire acquire;
              callable(nb::cast(changed));
            };
            nb::gil_scoped_release release;
            return std::make_unique<Handle<ParamWatch>>(shared.watch(path, std::move(call)));
          },
          nb::arg("path"), nb::arg("callback"))
      .def(
          "wait",
          [](const SharedHandle& s, std::int64_t timeout_ns) {
            const SharedParams shared = s.get();
            nb::gil_scoped_release release;
            shared.wait(Duration{timeout_ns}).or_throw();
          },
          nb::arg("timeout_ns"))
      .def(
          "settle",
          [](const SharedHandle& s, std::int64_t timeout_ns) {
            const SharedParams shared = s.get();
            nb::gil_scoped_release release;
            return shared.settle(Duration{timeout_ns}).or_throw();
          },
          nb::arg("timeout_ns"));
}

}  // namespace

void bind_shared_params(nb::module_& module) {
  bind_handle(module);
  module.def(
      "read_tree", [](const std::string& file) { return tree_of(read_tree(file).or_throw()); },
      nb::arg("file"), "Reads a plain YAML file of parameters.");
}

}  // namespace hyphos::python
