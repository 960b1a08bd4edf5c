#include "hyphos/synchronizer.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "bytes.hpp"
#include "handles.hpp"

namespace hyphos::python {
namespace {

using SyncHandle = Handle<Synchronizer>;

SyncRule parse_rule(const std::string& word) {
  if (word == "exact") return SyncRule::exact;
  if (word == "approximate") return SyncRule::approximate;
  throw nb::value_error(("unknown rule '" + word + "': give 'exact' or 'approximate'").c_str());
}

SyncOptions make_options(const std::string& rule, std::int64_t queue, std::int64_t max_interval_ns,
                         double age_penalty, const std::vector<std::int64_t>& min_spacing_ns,
                         bool local, const std::optional<Policy>& policy) {
  SyncOptions options;
  options.rule = parse_rule(rule);
  // Any other number is refused by the core as well.
  options.queue =
      queue < 0 || queue > kMaxSyncQueue ? kMaxSyncQueue + 1 : static_cast<std::uint32_t>(queue);
  if (max_interval_ns >= 0) options.max_interval = Duration{max_interval_ns};
  options.age_penalty = age_penalty;
  for (const std::int64_t ns : min_spacing_ns) options.min_spacing.push_back(Duration{ns});
  options.scope = local ? Scope::local : Scope::network;
  options.policy = policy;
  return options;
}

/// `decoders`: for each channel, a function of (payload, buffers) that returns (stamp_ns, value).
/// `callback` gets a list of one value of each channel.
Synchronizer synchronize(const Node& node, const std::vector<std::string>& channels,
                         const std::vector<TypeId>& types, const std::vector<Callable>& decoders,
                         const Callable& callback, const SyncOptions& options) {
  const auto deliver = [callback](const RawSynchronizer::Set& set) {
    if (closing()) return;
    nb::gil_scoped_acquire acquire;
    nb::list values;
    for (const auto& each : set) values.append(static_cast<const Callable*>(each.get())->object());
    callback(values);
  };
  const auto core = RawSynchronizer::make(node, channels, options, deliver);
  std::vector<Subscription> subscriptions;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    auto receive = [core, i, decode = decoders[i]](const Message<RawMessage>& message) {
      if (closing()) return;
      std::int64_t stamp_ns = 0;
      std::shared_ptr<const Callable> value;
      {
        nb::gil_scoped_acquire acquire;
        nb::list buffers;
        for (const Buffer& buffer : message->buffers) buffers.append(nb::cast(buffer));
        const nb::object decoded = decode.result(nb::cast(message->payload), buffers);
        if (!decoded.is_valid()) return;  // the interpreter ends
        stamp_ns = nb::cast<std::int64_t>(decoded[0]);
        value = std::make_shared<const Callable>(nb::object(decoded[1]));
      }
      core->add(i, stamp_ns, std::move(value));
    };
    auto opened =
        node.raw_subscribe(channels[i], types[i], core->subscription(), std::move(receive));
    if (!opened) {
      for (const Subscription& before : subscriptions) before.close();
      throw Exception(opened.error());
    }
    subscriptions.push_back(std::move(*opened));
  }
  core->start(std::move(subscriptions));
  return Synchronizer(core);
}

nb::dict reasons_of(const SyncCounts& counts) {
  nb::dict reasons;
  for (std::size_t why = 0; why < kUnmatchedReasons; ++why) {
    const std::string_view name = to_string(static_cast<Unmatched>(why));
    reasons[nb::str(name.data(), name.size())] = counts.reasons[why];
  }
  return reasons;
}

}  // namespace

void bind_synchronizer(nb::module_& module, nb::class_<Handle<Node>>& node) {
  nb::class_<SyncCounts>(module, "SyncCounts",
                         "Messages of one channel of a synchronizer. received = matched + "
                         "unmatched + waiting.")
      .def_ro("channel", &SyncCounts::channel)
      .def_ro("received", &SyncCounts::received)
      .def_ro("matched", &SyncCounts::matched)
      .def_ro("waiting", &SyncCounts::waiting)
      .def_prop_ro("unmatched", [](const SyncCounts& counts) { return counts.unmatched(); })
      .def_prop_ro("reasons", &reasons_of);

  nb::class_<SyncHandle>(module, "Synchronizer", "A handle. The node owns the subscriptions.")
      .def("counts", [](const SyncHandle& s) { return s.get().counts(); })
      .def("close", [](const SyncHandle& s) {
        if (s.is_inherited()) return;
        const auto synchronizer = s.get_open();
        nb::gil_scoped_release release;
        if (synchronizer) synchronizer->close();
      });

  node.def(
      "synchronize",
      [](const Handle<Node>& n, const std::vector<std::string>& channels,
         const std::vector<TypeId>& types, const nb::sequence& decoders, nb::object callback,
         const std::string& rule, std::int64_t queue, std::int64_t max_interval_ns,
         double age_penalty, const std::vector<std::int64_t>& min_spacing_ns, bool local,
         const std::optional<Policy>& policy) {
        const SyncOptions options =
            make_options(rule, queue, max_interval_ns, age_penalty, min_spacing_ns, local, policy);
        const Node from = n.get();
        const Callable call(std::move(callback));
        std::vector<Callable> decode;
        for (const nb::handle each : decoders) decode.emplace_back(nb::borrow<nb::object>(each));
        nb::gil_scoped_release release;
        return std::make_unique<SyncHandle>(
            synchronize(from, channels, types, decode, call, options));
      },
      nb::arg("channels"), nb::arg("types"), nb::arg("decoders"), nb::arg("callback"),
      nb::arg("rule"), nb::arg("queue"), nb::arg("max_interval_ns"), nb::arg("age_penalty"),
      nb::arg("min_spacing_ns"), nb::arg("local"), nb::arg("policy") = nb::none());
}

}  // namespace hyphos::python
