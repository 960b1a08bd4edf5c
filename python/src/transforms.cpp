#include "hyphos/transforms.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <tuple>

#include "bindings.hpp"
#include "handles.hpp"
#include "hyphos/future.hpp"
#include "hyphos/node.hpp"

namespace hyphos::python {
namespace {

using TransformsHandle = Handle<Transforms>;
using Numbers = nb::ndarray<nb::numpy, double>;
using Memory = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A new array that owns its memory.
template <std::size_t N>
Numbers array_of(const std::array<double, N>& values, std::initializer_list<std::size_t> shape) {
  auto memory = std::make_unique<double[]>(N);
  std::copy(values.begin(), values.end(), memory.get());
  double* const data = memory.release();
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return Numbers(data, shape, owner);
}

nb::object python_error(const Error& error) {
  return nb::module_::import_("hyphos._errors")
      .attr("Error")(std::string(to_string(error.code)), error.message, error.where,
                     std::string(advice(error.code)));
}

Transform named(const Transform& names, const Isometry& pose) {
  return {names.parent, names.child, names.stamp, pose.translation, pose.rotation};
}

/// Replaces the points in `memory`, `stride` bytes apart, by their positions in the parent.
template <typename T>
void move_points(const Isometry& by, std::uint8_t* first, std::size_t count, std::size_t stride) {
  T* const xyz = reinterpret_cast<T*>(first);
  by.transform(Points<const T>{xyz, count, stride}, Points<T>{xyz, count, stride});
}

void move_in_place(const Transform& by, const Memory& memory, std::size_t offset,
                   std::size_t stride, std::size_t count, bool is_double) {
  const std::size_t item = is_double ? sizeof(double) : sizeof(float);
  std::uint8_t* const first = memory.data() + offset;
  const bool fits = stride >= 3 * item && offset <= memory.size() &&
                    (count == 0 || (count - 1 <= (memory.size() - offset) / stride &&
                                    (count - 1) * stride + 3 * item <= memory.size() - offset));
  if (!fits || stride % item != 0 || reinterpret_cast<std::uintptr_t>(first) % item != 0) {
    throw nb::value_error("the points are not inside the memory");
  }
  const Isometry pose = by.isometry();
  nb::gil_scoped_release release;
  if (is_double) {
    move_points<double>(pose, first, count, stride);
  } else {
    move_points<float>(pose, first, count, stride);
  }
}

void bind_transform_values(nb::module_& module) {
  nb::class_<Transform>(module, "Transform")
      .def(
          "__init__",
          [](Transform* self, std::string parent, std::string child, std::int64_t stamp_ns,
             std::tuple<double, double, double> t, std::tuple<double, double, double, double> q) {
            new (self) Transform{std::move(parent),
                                 std::move(child),
                                 Time{stamp_ns},
                                 {std::get<0>(t), std::get<1>(t), std::get<2>(t)},
                                 {std::get<0>(q), std::get<1>(q), std::get<2>(q), std::get<3>(q)}};
          },
          nb::arg("parent"), nb::arg("child"), nb::arg("stamp_ns"), nb::arg("translation"),
          nb::arg("rotation"))
      .def_static(
          "from_matrix",
          [](std::string parent, std::string child, std::int64_t stamp_ns,
             const nb::ndarray<const double, nb::shape<4, 4>, nb::c_contig, nb::device::cpu>& m) {
            const Isometry pose =
                Isometry::from_matrix(std::span<const double, 16>(m.data(), 16)).or_throw();
            return Transform{std::move(parent), std::move(child), Time{stamp_ns}, pose.translation,
                             pose.rotation};
          },
          nb::arg("parent"), nb::arg("child"), nb::arg("stamp_ns"), nb::arg("matrix"))
      .def_static("quaternion",
                  [](double roll, double pitch, double yaw) {
                    const Quaternion q = to_quaternion({roll, pitch, yaw});
                    return std::tuple(q.x, q.y, q.z, q.w);
                  })
      .def_ro("parent", &Transform::parent)
      .def_ro("child", &Transform::child)
      .def_prop_ro("stamp_ns", [](const Transform& t) { return t.stamp.ns; })
      .def_prop_ro(
          "translation",
          [](const Transform& t) {
            return array_of<3>({t.translation.x, t.translation.y, t.translation.z}, {3});
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "rotation",
          [](const Transform& t) {
            const Quaternion& q = t.rotation;
            return array_of<4>({q.x, q.y, q.z, q.w}, {4});
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "matrix", [](const Transform& t) { return array_of<16>(t.isometry().matrix(), {4, 4}); },
          nb::rv_policy::move)
      .def_prop_ro("roll_pitch_yaw",
                   [](const Transform& t) {
                     const RollPitchYaw angles = to_roll_pitch_yaw(t.rotation);
                     return std::tuple(angles.roll, angles.pitch, angles.yaw);
                   })
      .def("inverse",
           [](const Transform& t) {
             Transform out = named(t, t.isometry().inverse());
             std::swap(out.parent, out.child);
             return out;
           })
      .def("compose",
           [](const Transform& outer, const Transform& inner) {
             Transform out = named(outer, outer.isometry() * inner.isometry());
             out.child = inner.child;
             return out;
           })
      .def("move_in_place", &move_in_place, nb::arg("memory"), nb::arg("offset"), nb::arg("stride"),
           nb::arg("count"), nb::arg("is_double"));

  nb::class_<TransformEdge>(module, "TransformEdge", "One frame and its pose in its parent.")
      .def_ro("parent", &TransformEdge::parent)
      .def_ro("child", &TransformEdge::child)
      .def_ro("is_static", &TransformEdge::is_static)
      .def_ro("samples", &TransformEdge::samples)
      .def_prop_ro("oldest_ns", [](const TransformEdge& e) { return e.oldest.ns; })
      .def_prop_ro("newest_ns", [](const TransformEdge& e) { return e.newest.ns; })
      .def_ro("accepted", &TransformEdge::accepted)
      .def_ro("sender", &TransformEdge::sender);
}

nb::dict dict_of(const TransformCounters& counters) {
  nb::dict out;
  out["accepted"] = counters.accepted;
  out["duplicates"] = counters.duplicates;
  out["stale"] = counters.stale;
  out["refused"] = counters.refused;
  out["replaced"] = counters.replaced;
  out["reparented"] = counters.reparented;
  out["shortened"] = counters.shortened;
  out["clock_jumps"] = counters.clock_jumps;
  return out;
}

/// Calls `done(transform, None)` or `done(None, error)` on the thread pool.
void wait_for(const TransformsHandle& handle, const std::string& target, const std::string& source,
              std::int64_t time_ns, std::int64_t timeout_ns, nb::object done) {
  const Transforms transforms = handle.get();
  const Callable callable(std::move(done));
  nb::gil_scoped_release release;
  transforms.wait(target, source, Time{time_ns}, Duration{timeout_ns},
                  [callable](const Result<Transform>& result) {
                    if (closing()) return;
                    nb::gil_scoped_acquire acquire;
                    if (result) {
                      callable(nb::cast(*result), nb::none());
                    } else {
                      callable(nb::none(), python_error(result.error()));
                    }
                  });
}

/// Blocks without the GIL, and handles Ctrl-C.
Transform get_within(const Transforms& transforms, const std::string& target,
                     const std::string& source, Time time, Duration timeout) {
  auto future = transforms.wait(target, source, time, timeout);
  const auto ready = [&future] {
    nb::gil_scoped_release release;
    return future.wait_for(std::chrono::milliseconds(100)) == std::future_status::ready;
  };
  while (!ready()) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return future.get().or_throw();
}

void bind_shared(nb::module_& module) {
  nb::class_<TransformsHandle>(module, "Transforms")
      .def(
          "set",
          [](const TransformsHandle& h, const std::vector<Transform>& all, bool is_static) {
            const Transforms transforms = h.get();
            nb::gil_scoped_release release;
            (is_static ? transforms.set_static(std::span(all)) : transforms.set(std::span(all)))
                .or_throw();
          },
          nb::arg("transforms"), nb::arg("is_static"))
      .def(
          "get",
          [](const TransformsHandle& h, const std::string& target, const std::string& source,
             std::int64_t time_ns, std::int64_t timeout_ns) {
            const Transforms transforms = h.get();
            if (timeout_ns <= 0) return transforms.get(target, source, Time{time_ns}).or_throw();
            return get_within(transforms, target, source, Time{time_ns}, Duration{timeout_ns});
          },
          nb::arg("target"), nb::arg("source"), nb::arg("time_ns"), nb::arg("timeout_ns"))
      .def(
          "get_between",
          [](const TransformsHandle& h, const std::string& target, std::int64_t target_time_ns,
             const std::string& source, std::int64_t source_time_ns, const std::string& fixed) {
            return h.get()
                .get(target, Time{target_time_ns}, source, Time{source_time_ns}, fixed)
                .or_throw();
          },
          nb::arg("target"), nb::arg("target_time_ns"), nb::arg("source"),
          nb::arg("source_time_ns"), nb::arg("fixed_frame"))
      .def("wait", &wait_for, nb::arg("target"), nb::arg("source"), nb::arg("time_ns"),
           nb::arg("timeout_ns"), nb::arg("done"))
      .def("chain",
           [](const TransformsHandle& h, const std::string& target, const std::string& source) {
             TransformChain chain = h.get().chain(target, source).or_throw();
             return std::pair(std::move(chain.frames), chain.ancestor);
           })
      .def("edges", [](const TransformsHandle& h) { return h.get().edges(); })
      .def("counters", [](const TransformsHandle& h) { return dict_of(h.get().counters()); })
      .def("clear", [](const TransformsHandle& h) { h.get().clear(); })
      .def_prop_ro("channel", [](const TransformsHandle& h) { return h.get().channel(); });
}

}  // namespace

void bind_transforms(nb::module_& module) {
  bind_transform_values(module);
  bind_shared(module);
  module.def(
      "open_transforms",
      [](const Handle<Node>& node, const std::string& prefix, std::int64_t history_ns,
         std::size_t max_samples, std::size_t max_frames, std::int64_t clock_jump_ns) {
        const Node of = node.get();
        TransformsOptions options;
        options.prefix = prefix;
        options.tree.history = Duration{history_ns};
        options.tree.max_samples = max_samples;
        options.tree.max_frames = max_frames;
        options.tree.clock_jump = Duration{clock_jump_ns};
        nb::gil_scoped_release release;
        return std::make_unique<TransformsHandle>(of.transforms(std::move(options)));
      },
      nb::arg("node"), nb::arg("prefix"), nb::arg("history_ns"), nb::arg("max_samples"),
      nb::arg("max_frames"), nb::arg("clock_jump_ns"));
}

}  // namespace hyphos::python
