#include "shm/tools.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hyphos/inspect.hpp"
#include "hyphos/plan.hpp"
#include "transport/zmq/zmq.hpp"

namespace nb = nanobind;

namespace hyphos::python {
namespace {

void bind_inspect(nb::module_& module) {
  nb::class_<HistogramSnapshot>(module, "Histogram", "A live copy of a histogram of nanoseconds.")
      .def(nb::init<>())
      .def_ro("count", &HistogramSnapshot::count)
      .def_ro("min_ns", &HistogramSnapshot::min_ns)
      .def_ro("max_ns", &HistogramSnapshot::max_ns)
      .def_ro("mean_ns", &HistogramSnapshot::mean_ns)
      .def_ro("buckets", &HistogramSnapshot::buckets,
              "(upper edge in ns, count) of every non-empty bucket.")
      .def("percentile_ns", &HistogramSnapshot::percentile_ns, nb::arg("fraction"))
      .def("since", &HistogramSnapshot::since, nb::arg("earlier"));

  nb::class_<EndpointInfo>(module, "EndpointInfo", "One endpoint of one channel in one process.")
      .def_ro("channel", &EndpointInfo::channel)
      .def_ro("node", &EndpointInfo::node)
      .def_ro("type_name", &EndpointInfo::type_name)
      .def_prop_ro("encoding",
                   [](const EndpointInfo& e) { return std::string(to_string(e.encoding)); })
      .def_ro("type_hash", &EndpointInfo::type_hash)
      .def_ro("is_publisher", &EndpointInfo::is_publisher)
      .def_ro("policy", &EndpointInfo::policy)
      .def_prop_ro("mode", [](const EndpointInfo& e) { return std::string(to_string(e.mode)); })
      .def_ro("transports", &EndpointInfo::transports)
      .def_ro("last_ns", &EndpointInfo::last_ns)
      .def_ro("counters", &EndpointInfo::counters)
      .def(
          "counter", [](const EndpointInfo& e, const std::string& name) { return e.counter(name); },
          nb::arg("name"))
      .def_ro("latency", &EndpointInfo::latency)
      .def_ro("layers", &EndpointInfo::layers)
      .def_ro("id", &EndpointInfo::id);

  nb::class_<ClockStatus>(module, "ClockStatus", "The clock of a process.")
      .def_prop_ro("mode", [](const ClockStatus& s) { return std::string(to_string(s.mode)); })
      .def_ro("channel", &ClockStatus::channel)
      .def_ro("ready", &ClockStatus::ready)
      .def_ro("paused", &ClockStatus::paused)
      .def_ro("replayed", &ClockStatus::replayed)
      .def_ro("speed", &ClockStatus::speed)
      .def_ro("now_ns", &ClockStatus::now_ns)
      .def_ro("base_ns", &ClockStatus::base_ns)
      .def_ro("jumps", &ClockStatus::jumps);

  nb::class_<PeerClock>(module, "PeerClock", "The measured clock of another machine.")
      .def_ro("process", &PeerClock::process)
      .def_ro("endpoint", &PeerClock::endpoint)
      .def_ro("host", &PeerClock::host)
      .def_ro("offset_ns", &PeerClock::offset_ns)
      .def_ro("wall_ahead_ns", &PeerClock::wall_ahead_ns)
      .def_ro("uncertainty_ns", &PeerClock::uncertainty_ns)
      .def_ro("round_trip_ns", &PeerClock::round_trip_ns)
      .def_ro("drift_ppm", &PeerClock::drift_ppm)
      .def_ro("samples", &PeerClock::samples)
      .def_ro("measured_ns", &PeerClock::measured_ns);

  nb::class_<ProcessInfo>(module, "ProcessInfo", "One Hyphos process of this machine.")
      .def_ro("name", &ProcessInfo::name)
      .def_ro("host", &ProcessInfo::host)
      .def_ro("pid", &ProcessInfo::pid)
      .def_ro("participant", &ProcessInfo::participant)
      .def_prop_ro("state", [](const ProcessInfo& p) { return std::string(to_string(p.state)); })
      .def_ro("heartbeat_ns", &ProcessInfo::heartbeat_ns)
      .def_ro("endpoints", &ProcessInfo::endpoints)
      .def_ro("clock", &ProcessInfo::clock)
      .def_ro("peer_clocks", &ProcessInfo::peer_clocks);

  module.def(
      "make_curve_keys",
      [] {
        const auto keys = transport::make_curve_keys().or_throw();
        return std::make_pair(keys.public_key, keys.secret_key);
      },
      "A fresh pair of CURVE keys in Z85: (public, secret).");
  nb::class_<AnnouncedTypes>(module, "AnnouncedTypes", "The protobuf types of one process.")
      .def_ro("participant", &AnnouncedTypes::participant)
      .def_ro("pid", &AnnouncedTypes::pid)
      .def_ro("process", &AnnouncedTypes::process)
      .def_prop_ro("descriptors", [](const AnnouncedTypes& types) {
        return nb::bytes(types.descriptors.data(), types.descriptors.size());
      });
  module.def(
      "announced_types",
      [](const std::string& domain) {
        nb::gil_scoped_release release;
        return announced_types(domain).or_throw();
      },
      nb::arg("domain") = "0");
  module.def(
      "inspect",
      [](const std::string& domain) {
        nb::gil_scoped_release release;
        return inspect(domain).or_throw();
      },
      nb::arg("domain") = "0");
}

void bind_events(nb::module_& module) {
  nb::class_<RecordedEnd>(module, "RecordedEnd", "An endpoint of a channel with recorded events.")
      .def_ro("id", &RecordedEnd::id)
      .def_ro("channel", &RecordedEnd::channel)
      .def_ro("node", &RecordedEnd::node)
      .def_ro("is_publisher", &RecordedEnd::is_publisher);
  nb::class_<RecordedEvents>(module, "RecordedEvents",
                             "Events of one process since the last snapshot.")
      .def_ro("process", &RecordedEvents::process)
      .def_ro("pid", &RecordedEvents::pid)
      .def_ro("participant", &RecordedEvents::participant)
      .def_ro("next", &RecordedEvents::next)
      .def_ro("missed", &RecordedEvents::missed)
      .def_ro("ends", &RecordedEvents::ends)
      .def_prop_ro(
          "events",
          [](const RecordedEvents& batch) {
            return nb::bytes(batch.events.data(), batch.events.size() * sizeof(MessageEvent));
          },
          "Bytes: consecutive words of MessageEvent (hyphos.lab.profile.events.EVENT).");
  module.def(
      "recorded_events",
      [](const std::string& domain, const std::map<std::uint64_t, std::uint64_t>& since) {
        nb::gil_scoped_release release;
        return recorded_events(domain, since).or_throw();
      },
      nb::arg("domain") = "0", nb::arg("since") = std::map<std::uint64_t, std::uint64_t>());
}

void bind_plan(nb::module_& module) {
  nb::class_<Plan>(module, "Plan", "A checked robot.yaml.")
      .def_static(
          "load",
          [](const std::string& path, std::vector<std::string> overrides, bool check_files,
             std::vector<std::string> check_hosts) {
            return load_plan(path, {std::move(overrides), check_files, std::move(check_hosts)})
                .or_throw();
          },
          nb::arg("path"), nb::arg("overrides"), nb::arg("check_files"),
          nb::arg("check_hosts") = std::vector<std::string>())
      .def("text", [](const Plan& plan) { return to_text(plan); })
      .def("json", [](const Plan& plan) { return to_json(plan); })
      .def("dot", [](const Plan& plan) { return to_dot(plan); })
      .def("program_file",
           [](const Plan& plan, const std::string& name) {
             const NodePlan* node = plan.node(name);
             if (node == nullptr) throw nb::key_error(name.c_str());
             return plan.program_file(*node).string();
           })
      .def(
          "route",
          [](const Plan& plan, const std::string& channel, const std::string& from,
             const std::string& to) {
            const ChannelPlan* planned = plan.channel(channel);
            ChannelPlan unnamed;  // by pointer and shared memory, never to another machine
            unnamed.reach = Reach::machine;
            return std::string(route(plan, planned ? *planned : unnamed, from, to));
          },
          nb::arg("channel"), nb::arg("from_process"), nb::arg("to_process"))
      .def_ro("warnings", &Plan::warnings);
}

void bind_shm(nb::module_& module) {
  nb::class_<shm::ParticipantInfo>(module, "Participant")
      .def_ro("domain", &shm::ParticipantInfo::domain)
      .def_ro("id", &shm::ParticipantInfo::id)
      .def_ro("pid", &shm::ParticipantInfo::pid)
      .def_ro("alive", &shm::ParticipantInfo::alive)
      .def_ro("process", &shm::ParticipantInfo::process)
      .def_ro("host", &shm::ParticipantInfo::host)
      .def_ro("version", &shm::ParticipantInfo::version)
      .def_ro("ends", &shm::ParticipantInfo::ends)
      .def_ro("queues", &shm::ParticipantInfo::queues);
  nb::class_<shm::SegmentInfo>(module, "Segment")
      .def_ro("file", &shm::SegmentInfo::file)
      .def_ro("participant", &shm::SegmentInfo::participant)
      .def_ro("bytes", &shm::SegmentInfo::bytes)
      .def_ro("slots", &shm::SegmentInfo::slots)
      .def_ro("slot_size", &shm::SegmentInfo::slot_size)
      .def_ro("used", &shm::SegmentInfo::used)
      .def_ro("holders", &shm::SegmentInfo::holders);
  nb::class_<shm::RingInfo>(module, "DescriptorRing")
      .def_ro("channel", &shm::RingInfo::channel)
      .def_ro("sender", &shm::RingInfo::sender)
      .def_ro("receiver", &shm::RingInfo::receiver)
      .def_ro("depth", &shm::RingInfo::depth)
      .def_ro("waiting", &shm::RingInfo::waiting)
      .def_ro("drops", &shm::RingInfo::drops);
  nb::class_<shm::Listing>(module, "Listing")
      .def_ro("participants", &shm::Listing::participants)
      .def_ro("segments", &shm::Listing::segments)
      .def_ro("lanes", &shm::Listing::rings)
      .def_ro("free_bytes", &shm::Listing::free_bytes)
      .def_ro("total_bytes", &shm::Listing::total_bytes);
  module.def(
      "shm_list", [](const std::string& domain) { return shm::list(domain).or_throw(); },
      nb::arg("domain") = "");
  module.def(
      "shm_clean", [](const std::string& domain) { return shm::clean(domain).or_throw(); },
      nb::arg("domain") = "");
}

}  // namespace

void bind_tools(nb::module_& module) {
  bind_inspect(module);
  bind_events(module);
  bind_plan(module);
  bind_shm(module);
}

}  // namespace hyphos::python
