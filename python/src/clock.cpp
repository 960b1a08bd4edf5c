#include "hyphos/clock.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <optional>

#include "bindings.hpp"
#include "handles.hpp"
#include "hyphos/sim_time.hpp"

namespace hyphos::python {
namespace {

using SimTimeHandle = Handle<std::shared_ptr<SimTime>>;

/// Lets Ctrl-C and other signals interrupt a sleeping main thread. Called without the GIL.
/// `give_up` is a further end condition of the caller, or None.
struct Signals {
  const nb::object& give_up;
  bool raised = false;  // a Python exception is set

  bool operator()() {
    nb::gil_scoped_acquire acquire;
    if (raised || PyErr_CheckSignals() != 0) return raised = true;
    if (give_up.is_none()) return false;
    PyObject* answer = PyObject_CallNoArgs(give_up.ptr());
    if (answer == nullptr) return raised = true;
    const int truth = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    raised = truth < 0;
    return truth != 0;
  }
};

/// Runs `sleep(give_up)` without the GIL, and rethrows the exception of a signal handler.
template <typename F>
bool interruptible(F sleep, const nb::object& give_up = nb::none()) {
  Signals signals{give_up};
  bool reached = false;
  {
    nb::gil_scoped_release release;
    reached = sleep([&signals] { return signals(); });
  }
  if (signals.raised) throw nb::python_error();
  return reached;
}

void bind_time(nb::module_& module) {
  nb::class_<ClockJump>(module, "ClockJump", "A jump of the clock to another time.")
      .def_prop_ro("before_ns", [](const ClockJump& jump) { return jump.before.ns; })
      .def_prop_ro("after_ns", [](const ClockJump& jump) { return jump.after.ns; })
      .def_prop_ro("delta_ns", [](const ClockJump& jump) { return jump.delta().ns; });

  nb::class_<Clock>(module, "Clock")
      .def("now_ns", [](const Clock& clock) { return clock.now().ns; })
      .def("base_ns", [](const Clock& clock) { return clock.base().ns; })
      .def("elapsed_ns", [](const Clock& clock) { return clock.elapsed().ns; })
      .def_prop_ro("mode", [](const Clock& clock) { return std::string(to_string(clock.mode())); })
      .def_prop_ro("ready", &Clock::ready)
      .def_prop_ro("paused", &Clock::paused)
      .def_prop_ro("speed", &Clock::speed)
      .def_prop_ro("jumps", &Clock::jumps)
      .def(
          "sleep_until_ns",
          [](const Clock& clock, std::int64_t time_ns) {
            return interruptible(
                [&](const auto& give_up) { return clock.sleep_until(Time{time_ns}, give_up); });
          },
          nb::arg("time_ns"))
      .def(
          "sleep_for_ns",
          [](const Clock& clock, std::int64_t span_ns) {
            return interruptible(
                [&](const auto& give_up) { return clock.sleep_for(Duration{span_ns}, give_up); });
          },
          nb::arg("span_ns"));

  nb::class_<Rate>(module, "Rate")
      .def(
          "__init__",
          [](Rate* self, const Clock& clock, std::int64_t period_ns) {
            new (self) Rate(clock, Duration{period_ns});
          },
          nb::arg("clock"), nb::arg("period_ns"))
      .def("sleep",
           [](Rate& rate) {
             return interruptible([&](const auto& give_up) { return rate.sleep(give_up); });
           })
      .def_prop_ro("skipped", &Rate::skipped)
      .def_prop_ro("period_ns", [](const Rate& rate) { return rate.period().ns; });
}

void bind_sim_time(nb::module_& module) {
  nb::class_<SimTimeHandle>(module, "SimTime")
      .def_static(
          "open",
          [](const Handle<Node>& node, std::optional<std::int64_t> start_ns,
             std::optional<double> speed, std::int64_t tick_ns, bool paused, bool manual,
             bool replayed, const std::string& channel) {
            SimTimeOptions options;
            if (start_ns) options.start = Time{*start_ns};
            options.speed = speed;
            options.tick = Duration{tick_ns};
            options.paused = paused;
            options.manual = manual;
            options.replayed = replayed;
            options.channel = channel;
            const Node copy = node.get();
            nb::gil_scoped_release release;
            return std::make_unique<SimTimeHandle>(
                std::make_shared<SimTime>(SimTime::open(copy, options).or_throw()));
          },
          nb::arg("node"), nb::kw_only(), nb::arg("start_ns").none(), nb::arg("speed").none(),
          nb::arg("tick_ns"), nb::arg("paused"), nb::arg("manual"), nb::arg("replayed"),
          nb::arg("channel"))
      .def(
          "pause", [](const SimTimeHandle& s) { s.get()->pause(); },
          nb::call_guard<nb::gil_scoped_release>())
      .def(
          "resume", [](const SimTimeHandle& s) { s.get()->resume(); },
          nb::call_guard<nb::gil_scoped_release>())
      .def(
          "step_ns",
          [](const SimTimeHandle& s, std::int64_t span_ns) {
            s.get()->step(Duration{span_ns}).or_throw();
          },
          nb::call_guard<nb::gil_scoped_release>(), nb::arg("span_ns"))
      .def(
          "advance_ns",
          [](const SimTimeHandle& s, std::int64_t span_ns, const nb::object& give_up) {
            const std::shared_ptr<SimTime> sim = s.get();
            return interruptible(
                [&](const auto& ask) { return sim->advance(Duration{span_ns}, ask); }, give_up);
          },
          nb::arg("span_ns"), nb::arg("give_up").none() = nb::none())
      .def(
          "set_speed",
          [](const SimTimeHandle& s, double speed) { s.get()->set_speed(speed).or_throw(); },
          nb::call_guard<nb::gil_scoped_release>(), nb::arg("speed"))
      .def(
          "jump_ns",
          [](const SimTimeHandle& s, std::int64_t time_ns) {
            s.get()->jump(Time{time_ns}).or_throw();
          },
          nb::call_guard<nb::gil_scoped_release>(), nb::arg("time_ns"))
      .def("now_ns", [](const SimTimeHandle& s) { return s.get()->now().ns; })
      .def("base_ns", [](const SimTimeHandle& s) { return s.get()->base().ns; })
      .def_prop_ro("paused", [](const SimTimeHandle& s) { return s.get()->paused(); })
      .def_prop_ro("speed", [](const SimTimeHandle& s) { return s.get()->speed(); })
      .def("close", &SimTimeHandle::reset);
}

}  // namespace

void bind_clock(nb::module_& module) {
  bind_time(module);
  bind_sim_time(module);
}

}  // namespace hyphos::python
