#include "hyphos/params.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <tuple>

#include "bindings.hpp"
#include "handles.hpp"
#include "hyphos/hyphos.hpp"
#include "param_values.hpp"

namespace hyphos::python {
namespace {

using ParamsHandle = Handle<Params>;
using RemoteHandle = Handle<RemoteParams>;
using WatchHandle = Handle<ParamWatch>;
using Values = std::vector<std::pair<std::string, nb::object>>;
using Line = std::tuple<std::string, std::string, std::string, std::string>;

/// A declared parameter for Python. Not a Handle: it needs neither graph nor threads.
struct ParamCell {
  AnyParam param;
};

nb::object range_of(const ParamInfo& info) {
  if (const auto* real = std::get_if<ParamRange<double>>(&info.range)) {
    return nb::make_tuple(real->least, real->most, real->step);
  }
  if (const auto* whole = std::get_if<ParamRange<std::int64_t>>(&info.range)) {
    return nb::make_tuple(whole->least, whole->most, whole->step);
  }
  return nb::none();
}

template <typename T>
void set_range(ParamInfo& info, nb::handle least, nb::handle most, nb::handle step) {
  ParamRange<T> range;
  if (!least.is_none()) range.least = nb::cast<T>(least);
  if (!most.is_none()) range.most = nb::cast<T>(most);
  if (!step.is_none()) range.step = nb::cast<T>(step);
  info.range = range;
}

/// `range`: None, (least, most) or (least, most, step), each number or None.
void read_range(ParamInfo& info, nb::handle range) {
  if (range.is_none()) return;
  const ParamType type = type_of(info.standard);
  const bool whole = type == ParamType::integer || type == ParamType::integers;
  if (!whole && type != ParamType::real && type != ParamType::reals) {
    throw nb::type_error((info.name + ": only numbers have a range").c_str());
  }
  std::array<nb::object, 3> ends = {nb::none(), nb::none(), nb::none()};
  const std::size_t count = nb::len(range);
  if (count < 2 || count > 3) {
    throw nb::value_error(
        (info.name + ": a range must be (least, most) or (least, most, step)").c_str());
  }
  for (std::size_t i = 0; i < count; ++i) ends[i] = range[i];
  if (whole) {
    set_range<std::int64_t>(info, ends[0], ends[1], ends[2]);
  } else {
    set_range<double>(info, ends[0], ends[1], ends[2]);
  }
}

/// `type` is a word of to_string(ParamType) to which `standard` is converted, or "" for its own.
ParamVariant default_of(const std::string& name, nb::handle standard, const std::string& type) {
  ParamVariant value = to_param(standard);
  if (type.empty() || to_string(type_of(value)) == type) return value;
  auto read = parse_param(parse_param_type(type), to_yaml(value));
  if (!read) throw nb::type_error((name + ": the default is not a " + type).c_str());
  return *read;
}

ParamCell declare(const ParamsHandle& handle, const std::string& name, nb::handle standard,
                  const std::string& type, const std::string& unit, const std::string& description,
                  nb::handle range, std::vector<std::string> choices, bool read_only,
                  nb::object check) {
  ParamInfo info;
  info.name = name;
  info.standard = default_of(name, standard, type);
  info.unit = unit;
  info.description = description;
  info.choices = std::move(choices);
  info.read_only = read_only;
  read_range(info, range);
  Params::Check ask;
  if (!check.is_none()) {
    ask = [callable = Callable(std::move(check))](const ParamVariant& value) {
      if (closing()) return std::string("the process is ending");
      nb::gil_scoped_acquire acquire;
      return callable.ask(to_python(value));
    };
  }
  const Params params = handle.get();
  nb::gil_scoped_release release;
  return {params.declare_any(std::move(info), std::move(ask))};
}

std::function<void(const ParamSet&)> watcher(nb::object function) {
  return [callable = Callable(std::move(function))](const ParamSet& now) {
    if (closing()) return;
    nb::gil_scoped_acquire acquire;
    callable(nb::cast(now));
  };
}

void bind_param_values(nb::module_& module) {
  nb::class_<ParamInfo>(module, "ParamInfo",
                        "One parameter: its current value and its declaration.")
      .def_ro("name", &ParamInfo::name)
      .def_prop_ro("type", [](const ParamInfo& i) { return std::string(to_string(i.type())); })
      .def_prop_ro("value", [](const ParamInfo& i) { return to_python(i.value); })
      .def_prop_ro("default", [](const ParamInfo& i) { return to_python(i.standard); })
      .def_prop_ro("yaml", [](const ParamInfo& i) { return to_yaml(i.value); })
      .def_prop_ro("default_yaml", [](const ParamInfo& i) { return to_yaml(i.standard); })
      .def_ro("unit", &ParamInfo::unit)
      .def_ro("description", &ParamInfo::description)
      .def_prop_ro("range", &range_of)
      .def_ro("choices", &ParamInfo::choices)
      .def_prop_ro("allowed", &ParamInfo::allowed)
      .def_ro("read_only", &ParamInfo::read_only)
      .def_prop_ro("origin", [](const ParamInfo& i) { return std::string(to_string(i.origin)); });

  nb::class_<ParamSet>(module, "ParamSet", "All parameters of a node at one instant.")
      .def_prop_ro("infos",
                   [](const ParamSet& set) {
                     nb::list list;
                     for (const auto& info : set.infos()) list.append(nb::cast(ParamInfo(*info)));
                     return list;
                   })
      .def("find",
           [](const ParamSet& set, const std::string& name) -> std::optional<ParamInfo> {
             const ParamInfo* info = set.find(name);
             return info == nullptr ? std::nullopt : std::optional(*info);
           })
      .def("__getitem__",
           [](const ParamSet& set, const std::string& name) {
             const ParamInfo* info = set.find(name);
             if (info != nullptr) return to_python(info->value);
             throw nb::key_error(("no parameter '" + name + "'" + set.suggestion(name)).c_str());
           })
      .def("__contains__",
           [](const ParamSet& set, const std::string& name) { return set.find(name) != nullptr; })
      .def("__len__", &ParamSet::size)
      .def("__iter__",
           [](const ParamSet& set) {
             nb::list names;
             for (const auto& info : set.infos()) names.append(nb::cast(info->name));
             return nb::iter(names);
           })
      .def_prop_ro("version", &ParamSet::version)
      .def_prop_ro("changed", [](const ParamSet& set) { return set.changed(); })
      .def("suggestion",
           [](const ParamSet& set, const std::string& name) { return set.suggestion(name); });

  nb::class_<ParamCell>(module, "ParamCell")
      .def_prop_ro("value", [](const ParamCell& cell) { return cell.param.read(&to_python); })
      .def_prop_ro("name", [](const ParamCell& cell) { return cell.param.name(); });

  nb::class_<WatchHandle>(module, "ParamWatch", "A handle. The node owns the watch.")
      .def("close",
           [](const WatchHandle& w) {
             const ParamWatch watch = w.get();
             nb::gil_scoped_release release;
             watch.close();
           })
      .def_prop_ro("merged", [](const WatchHandle& w) { return w.get().merged(); });
}

void bind_own(nb::module_& module) {
  nb::class_<ParamsHandle>(module, "Params")
      .def("declare", &declare, nb::arg("name"), nb::arg("default"), nb::arg("type"),
           nb::arg("unit"), nb::arg("description"), nb::arg("range").none(), nb::arg("choices"),
           nb::arg("read_only"), nb::arg("check").none())
      .def("set",
           [](const ParamsHandle& p, const Values& values) {
             const Params params = p.get();
             auto list = to_assignments(values);
             nb::gil_scoped_release release;
             params.set(std::move(list)).or_throw();
           })
      .def("values", [](const ParamsHandle& p) { return p.get().values(); })
      .def("check",
           [](const ParamsHandle& p, nb::object check) {
             const Params params = p.get();
             auto ask = [callable = Callable(std::move(check))](const ParamSet& next) {
               if (closing()) return std::string("the process is ending");
               nb::gil_scoped_acquire acquire;
               return callable.ask(nb::cast(next));
             };
             nb::gil_scoped_release release;
             params.check(std::move(ask));
           })
      .def(
          "watch",
          [](const ParamsHandle& p, const std::string& name, nb::object callback) {
            const Params params = p.get();
            auto call = watcher(std::move(callback));
            nb::gil_scoped_release release;
            return std::make_unique<WatchHandle>(
                name.empty() ? params.watch(std::move(call)) : params.watch(name, std::move(call)));
          },
          nb::arg("name"), nb::arg("callback"))
      .def("done", [](const ParamsHandle& p) {
        const Params params = p.get();
        nb::gil_scoped_release release;
        params.done();
      });
}

void bind_remote(nb::module_& module) {
  nb::class_<RemoteHandle>(module, "RemoteParams")
      .def("wait",
           [](const RemoteHandle& r, std::int64_t timeout_ns) {
             const RemoteParams remote = r.get();
             nb::gil_scoped_release release;
             return remote.wait(Duration{timeout_ns}).or_throw();
           })
      .def("values", [](const RemoteHandle& r) { return r.get().values(); })
      .def("set",
           [](const RemoteHandle& r, const Values& values, std::int64_t timeout_ns) {
             const RemoteParams remote = r.get();
             const auto list = to_assignments(values);
             nb::gil_scoped_release release;
             remote.set(list, Duration{timeout_ns}).or_throw();
           })
      .def("watch",
           [](const RemoteHandle& r, nb::object callback) {
             const RemoteParams remote = r.get();
             auto call = watcher(std::move(callback));
             nb::gil_scoped_release release;
             return std::make_unique<WatchHandle>(remote.watch(std::move(call)));
           })
      .def_prop_ro("node", [](const RemoteHandle& r) { return r.get().node(); })
      .def_prop_ro("present", [](const RemoteHandle& r) { return r.get().present(); })
      .def_prop_ro("process", [](const RemoteHandle& r) { return r.get().process(); })
      .def_prop_ro("undeclared", [](const RemoteHandle& r) { return r.get().undeclared(); })
      .def("close", [](const RemoteHandle& r) {
        const RemoteParams remote = r.get();
        nb::gil_scoped_release release;
        remote.close();
      });
}

std::vector<ParamLine> to_lines(const std::vector<Line>& lines) {
  std::vector<ParamLine> out;
  for (const auto& [node, name, yaml, comment] : lines) {
    out.push_back({node, name, yaml, "", comment});
  }
  return out;
}

void bind_files(nb::module_& module) {
  module.def(
      "parse_param",
      [](const std::string& type, const std::string& text) {
        return to_python(parse_param(parse_param_type(type), text).or_throw());
      },
      nb::arg("type"), nb::arg("text"), "Parses YAML as a value of the type.");
  module.def(
      "nodes_with_params",
      [](const std::string& domain) { return nodes_with_params(domain).or_throw(); },
      nb::arg("domain"));
  module.def(
      "read_params",
      [](const std::string& file, const std::string& plain_node) {
        std::vector<Line> out;
        for (ParamLine& line : read_params(file, plain_node).or_throw()) {
          out.emplace_back(line.node, line.name, line.yaml, line.where);
        }
        return out;
      },
      nb::arg("file"), nb::arg("plain_node") = "",
      "(node, name, YAML, FILE:LINE) of every value in a file.");
  module.def(
      "params_text",
      [](const std::vector<Line>& lines, const std::string& heading) {
        return params_text(to_lines(lines), heading);
      },
      nb::arg("lines"), nb::arg("heading"), "The text of a file with (node, name, YAML, comment).");
  module.def(
      "save_params",
      [](const std::string& file, const std::vector<Line>& lines) {
        save_params(file, to_lines(lines)).or_throw();
      },
      nb::arg("file"), nb::arg("lines"), "Replaces or adds these values in a file.");
}

}  // namespace

void bind_params(nb::module_& module) {
  bind_param_values(module);
  bind_own(module);
  bind_remote(module);
  bind_files(module);
}

}  // namespace hyphos::python
