#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>

#include "bindings.hpp"
#include "bytes.hpp"
#include "handles.hpp"
#include "hyphos/hyphos.hpp"
#include "hyphos/inspect.hpp"

namespace hyphos::python {
namespace {

using NodeHandle = Handle<Node>;
using RuntimeHandle = Handle<Runtime>;
using PublisherHandle = Handle<RawPublisher>;
using SubscriptionHandle = Handle<Subscription>;
using TimerHandle = Handle<Timer>;

// Attached buffers below this size go through the heap. The transport copies them beside the head,
// which costs less than a separate slot.
constexpr std::size_t kSmallHead = 4096;

/// argv in C form. The strings live as long as this object.
class Arguments {
 public:
  explicit Arguments(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  [[nodiscard]] int count() const { return static_cast<int>(words_.size()); }
  [[nodiscard]] char** values() { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

RuntimeOptions make_options(const std::string& plan_file, const std::string& process,
                            std::vector<std::string> overrides, const std::string& domain,
                            int threads, bool offline, bool lockstep = false,
                            std::vector<std::string> lockstep_nodes = {},
                            const std::string& clock = "", const std::string& plan_text = "") {
  RuntimeOptions options;
  if (!plan_text.empty()) options.plan = plan_text;
  options.lockstep = lockstep;
  options.lockstep_nodes = std::move(lockstep_nodes);
  options.plan_file = plan_file;
  options.process = process;
  options.overrides = std::move(overrides);
  options.domain = domain;
  options.threads = threads;
  options.offline = offline;
  if (!clock.empty() && clock != "real" && clock != "sim") {
    throw nb::value_error(("unknown clock '" + clock + "': give 'real' or 'sim'").c_str());
  }
  if (!clock.empty()) options.clock = clock == "sim" ? ClockMode::sim : ClockMode::real;
  return options;
}

template <bool wait>
Published publish(const PublisherHandle& handle, nb::handle payload, const nb::sequence& buffers) {
  const RawPublisher publisher = handle.get();
  const std::size_t count = nb::len(buffers);
  if (count > kMaxAttachedBuffers) {
    throw nb::value_error("a message has at most 8 attached buffers");
  }
  // Checked before a useless copy. The length of a multi-dimensional array is less than its bytes.
  // The transport then refuses it later.
  if (count == 0) {
    const Py_ssize_t size = PyObject_Size(payload.ptr());
    if (size < 0) PyErr_Clear();
    const auto refused = publisher.too_large(size < 0 ? 0 : static_cast<std::size_t>(size));
    if (refused) return *refused;
  }
  // A loan of a `block` channel may wait for memory.
  const Lend lend = [&publisher](std::size_t size) {
    return wait ? publisher.loan_bytes(size) : WritableBuffer::on_heap(size);
  };
  BufferList list;
  for (std::size_t i = 0; i < count; ++i) {
    list.push_back(to_buffer(nb::object(buffers[i]), lend));
  }
  const bool head_only = count > 0 && nb::len(payload) < kSmallHead;
  const Buffer body = to_buffer(payload, head_only ? Lend(&WritableBuffer::on_heap) : lend);
  Published published;
  {
    nb::gil_scoped_release release;
    published = wait ? publisher.publish(body, list) : publisher.try_publish(body, list);
  }
  if (!published) {
    if (const auto ended = publisher.ended()) throw Exception(*ended);
  }
  return published;
}

/// Runs the Python handlers of pending signals. Throws the exception that a handler raises.
void run_signal_handlers() {
  nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Waits in slices, between which the handlers of signals run. Called with the GIL.
void wait_for_subscribers(const PublisherHandle& handle, std::uint32_t subscribers,
                          std::int64_t timeout_ns) {
  constexpr std::int64_t kSliceNs = 100'000'000;
  const RawPublisher publisher = handle.get();
  const Time end = monotonic_now() + Duration{timeout_ns};
  for (;;) {
    const Duration left = end - monotonic_now();
    Result<void> waited = success();
    {
      nb::gil_scoped_release release;
      waited =
          publisher.wait_for(subscribers, Duration{std::clamp<std::int64_t>(left.ns, 0, kSliceNs)});
    }
    if (waited) return;
    const Code code = waited.error().code;
    const bool may_come = code == Code::timeout || code == Code::type_mismatch;
    if (!may_come || monotonic_now() >= end) throw Exception(waited.error());
    run_signal_handlers();
  }
}

/// True if Python's default handler of Ctrl-C has raised KeyboardInterrupt.
bool is_plain_ctrl_c(nb::python_error& error) {
  if (!error.matches(PyExc_KeyboardInterrupt)) return false;
  const nb::module_ signal = nb::module_::import_("signal");
  return signal.attr("getsignal")(signal.attr("SIGINT")).is(signal.attr("default_int_handler"));
}

/// Called with the GIL. `wait` is spin() of a runtime or node.
int spin(Runtime runtime, const std::function<int()>& wait) {
  runtime.usable().or_throw();
  for (;;) {
    try {
      int code = 0;
      nb::gil_scoped_release release;
      {
        const Spinning here([runtime]() mutable { runtime.request_stop(); });
        code = wait();
      }
      // The interpreter is ending: Python would end this thread at an arbitrary point.
      while (closing()) ::pause();
      return code;
    } catch (nb::python_error& error) {
      if (!is_plain_ctrl_c(error)) throw;
      runtime.request_stop();  // the wait then ends at once
    }
  }
}

/// Data of a message besides its value.
struct MessageInfo {
  std::uint64_t sequence = 0;
  std::uint64_t sender = 0;
  bool replayed = false;
  Stamps stamps;
};

Subscription subscribe(const Node& node, const std::string& channel, const TypeId& type,
                       const SubscriptionOptions& options, nb::object function) {
  const Callable callable(std::move(function));
  auto deliver = [callable](const Message<RawMessage>& message) {
    if (closing()) return;
    nb::gil_scoped_acquire acquire;
    nb::list buffers;
    for (const Buffer& buffer : message->buffers) buffers.append(nb::cast(buffer));
    callable(nb::cast(message->payload), buffers,
             nb::cast(MessageInfo{message.sequence(), message.sender(), message.replayed(),
                                  message.stamps()}));
  };
  nb::gil_scoped_release release;
  return node.raw_subscribe(channel, type, options, std::move(deliver)).or_throw();
}

void bind_types(nb::module_& module) {
  nb::class_<Policy>(module, "Policy", "The policy of a channel. See `channels:` of the plan.")
      .def(
          "__init__",
          [](Policy* self, const std::string& reliability, const std::string& overflow,
             const std::string& priority, bool latched, std::int64_t depth,
             std::int64_t deadline_ms, std::int64_t block_timeout_ms, std::int64_t lifespan_ms,
             std::int64_t latched_depth) {
            constexpr std::int64_t kMaxDepth = 65536;  // as in a plan
            if (depth < 1 || depth > kMaxDepth) {
              throw nb::value_error("depth: expected 1 to 65536 messages");
            }
            if (deadline_ms < 0) throw nb::value_error("deadline_ms: expected 0 (off) or more");
            if (block_timeout_ms < 0) {
              throw nb::value_error("block_timeout_ms: expected 0 (no limit) or more");
            }
            if (lifespan_ms < 0)
              throw nb::value_error("lifespan_ms: expected 0 (no limit) or more");
            if (latched_depth < 1 || latched_depth > kMaxLatchedDepth) {
              throw nb::value_error("latched_depth: expected 1 to 256 messages");
            }
            new (self) Policy(make_policy(reliability, overflow, priority));
            self->lifespan_ms = lifespan_ms;
            self->latched_depth = static_cast<std::uint32_t>(latched_depth);
            self->latched = latched;
            self->depth = static_cast<std::uint32_t>(depth);
            self->deadline_ms = deadline_ms;
            self->block_timeout_ms = block_timeout_ms;
          },
          nb::kw_only(), nb::arg("reliability") = "best_effort", nb::arg("overflow") = "",
          nb::arg("priority") = "normal", nb::arg("latched") = false, nb::arg("depth") = 10,
          nb::arg("deadline_ms") = 0, nb::arg("block_timeout_ms") = 0, nb::arg("lifespan_ms") = 0,
          nb::arg("latched_depth") = 1)
      .def_prop_ro("reliability",
                   [](const Policy& p) { return std::string(to_string(p.reliability)); })
      .def_prop_ro("overflow", [](const Policy& p) { return std::string(to_string(p.overflow)); })
      .def_prop_ro("priority", [](const Policy& p) { return std::string(to_string(p.priority)); })
      .def_ro("latched", &Policy::latched)
      .def_ro("depth", &Policy::depth)
      .def_ro("deadline_ms", &Policy::deadline_ms)
      .def_ro("block_timeout_ms", &Policy::block_timeout_ms)
      .def_ro("lifespan_ms", &Policy::lifespan_ms)
      .def_ro("latched_depth", &Policy::latched_depth);

  nb::class_<CallbackGroup>(module, "CallbackGroup",
                            "Subscriptions of which at most one callback runs at a time.");

  nb::class_<TypeId>(module, "TypeId", "Identifies a message type in all processes and languages.")
      .def(
          "__init__",
          [](TypeId* self, const std::string& name, const std::string& encoding, std::size_t size) {
            new (self) TypeId(make_type_id(name, parse_encoding(encoding), size));
          },
          nb::arg("name"), nb::arg("encoding"), nb::arg("size") = 0)
      .def_static(
          "known",
          [](const std::string& name, const std::string& encoding, std::uint64_t hash) {
            return TypeId{name, parse_encoding(encoding), hash};
          },
          nb::arg("name"), nb::arg("encoding"), nb::arg("hash"),
          "The id from another process or a recording, without the size of the type.")
      .def_ro("name", &TypeId::name)
      .def_prop_ro("encoding", [](const TypeId& t) { return std::string(to_string(t.encoding)); })
      .def_ro("hash", &TypeId::hash);

  nb::class_<Published>(module, "Published", "The result of one publish(). False if it failed.")
      .def_ro("sequence", &Published::sequence)
      .def_ro("accepted", &Published::accepted)
      .def_ro("dropped", &Published::dropped)
      .def_prop_ro("failure",
                   [](const Published& p) -> std::optional<std::string> {
                     if (!p.failure) return std::nullopt;
                     return std::string(to_string(*p.failure));
                   })
      .def("__bool__", [](const Published& p) { return static_cast<bool>(p); })
      .def("__repr__", [](const Published& p) {
        return "Published(sequence=" + std::to_string(p.sequence) +
               ", accepted=" + std::to_string(p.accepted) +
               ", dropped=" + std::to_string(p.dropped) + ", failure=" +
               (p.failure ? "'" + std::string(to_string(*p.failure)) + "'" : "None") + ")";
      });

  nb::class_<MessageInfo>(module, "MessageInfo", "Data of a message besides its value.")
      .def_ro("sequence", &MessageInfo::sequence)
      .def_ro("sender", &MessageInfo::sender)
      .def_ro("replayed", &MessageInfo::replayed)
      .def_prop_ro("stamps", [](const MessageInfo& info) {
        nb::dict stamps;
        stamps["publish"] = info.stamps.publish;
        stamps["encoded"] = info.stamps.encoded;
        stamps["submitted"] = info.stamps.submitted;
        stamps["arrived"] = info.stamps.arrived;
        stamps["scheduled"] = info.stamps.scheduled;
        stamps["decoded"] = info.stamps.decoded;
        stamps["callback"] = info.stamps.callback;
        return stamps;
      });
}

void bind_ends(nb::module_& module) {
  nb::class_<PublisherHandle>(module, "Publisher")
      .def("publish", &publish<true>, nb::arg("payload"), nb::arg("buffers") = nb::list())
      .def("try_publish", &publish<false>, nb::arg("payload"), nb::arg("buffers") = nb::list())
      .def("wait_for", &wait_for_subscribers, nb::arg("subscribers"), nb::arg("timeout_ns"))
      .def(
          "loan",
          [](const PublisherHandle& p, std::size_t size) {
            return Loaned(p.get().loan_bytes(size));
          },
          nb::arg("size"))
      .def(
          "has_room",
          [](const PublisherHandle& p, std::size_t size) { return p.get().has_room(size); },
          nb::arg("size") = 0)
      .def_prop_ro("listeners", [](const PublisherHandle& p) { return p.get().listeners(); })
      .def_prop_ro("channel", [](const PublisherHandle& p) { return p.get().channel(); })
      .def("close", &PublisherHandle::reset);

  nb::class_<SubscriptionHandle>(module, "Subscription",
                                 "A handle. The node owns the subscription.")
      .def("close",
           [](const SubscriptionHandle& s) {
             if (s.is_inherited()) return;
             const auto subscription = s.get_open();
             nb::gil_scoped_release release;
             if (subscription) subscription->close();
           })
      .def_prop_ro("publishers", [](const SubscriptionHandle& s) { return s.get().publishers(); })
      .def_prop_ro("channel", [](const SubscriptionHandle& s) { return s.get().channel(); });

  nb::class_<TimerHandle>(module, "Timer", "A handle. The node owns the timer.")
      .def("close",
           [](const TimerHandle& t) {
             if (t.is_inherited()) return;
             const auto timer = t.get_open();
             nb::gil_scoped_release release;
             if (timer) timer->close();
           })
      .def_prop_ro("skipped", [](const TimerHandle& t) { return t.get().skipped(); });
}

nb::class_<RuntimeHandle> bind_runtime(nb::module_& module) {
  nb::class_<ChannelInfo>(module, "ChannelInfo", "A channel that is open in one process.")
      .def_ro("name", &ChannelInfo::name)
      .def_ro("type", &ChannelInfo::type)
      .def_ro("policy", &ChannelInfo::policy)
      .def_ro("publishers", &ChannelInfo::publishers);

  nb::class_<CallbackErrors>(module, "CallbackErrors",
                             "The exceptions that left callbacks of a process.")
      .def_ro("count", &CallbackErrors::count)
      .def_ro("first", &CallbackErrors::first,
              "The callback that raised first, and its exception.");

  nb::class_<RuntimeHandle> runtime_class(module, "Runtime");
  runtime_class
      .def_static(
          "open",
          [](std::vector<std::string> argv) {
            Arguments arguments(std::move(argv));
            nb::gil_scoped_release release;
            Runtime runtime = Runtime::open(arguments.count(), arguments.values()).or_throw();
            return std::make_unique<RuntimeHandle>(std::move(runtime));
          },
          nb::arg("argv"))
      .def_static(
          "open_with",
          [](const std::string& plan, const std::string& process,
             std::vector<std::string> overrides, const std::string& domain, int threads,
             bool offline, bool lockstep, std::vector<std::string> lockstep_nodes,
             const std::string& clock, const std::string& plan_text) {
            RuntimeOptions options =
                make_options(plan, process, std::move(overrides), domain, threads, offline,
                             lockstep, std::move(lockstep_nodes), clock, plan_text);
            nb::gil_scoped_release release;
            return std::make_unique<RuntimeHandle>(Runtime::open(std::move(options)).or_throw());
          },
          nb::arg("plan"), nb::arg("process"), nb::arg("overrides"), nb::arg("domain"),
          nb::arg("threads"), nb::arg("offline"), nb::arg("lockstep") = false,
          nb::arg("lockstep_nodes") = std::vector<std::string>(), nb::arg("clock") = "",
          nb::arg("plan_text") = "")
      .def(
          "settle",
          [](const RuntimeHandle& r, nb::object work) {
            Runtime runtime = r.get();
            std::function<void()> call;
            // Captured only by the call: a callable drops its function without the GIL.
            if (!work.is_none()) {
              call = [callable = Callable(std::move(work))] {
                if (closing()) return;
                nb::gil_scoped_acquire acquire;
                callable();
              };
            }
            nb::gil_scoped_release release;
            runtime.settle(std::move(call));
          },
          nb::arg("work") = nb::none())
      .def("channels", [](const RuntimeHandle& r) { return r.get().channels(); })
      .def("callback_errors", [](const RuntimeHandle& r) { return r.get().callback_errors(); })
      .def("next_timer_ns",
           [](const RuntimeHandle& r) -> std::optional<std::int64_t> {
             const auto due = r.get().next_timer();
             return due ? std::optional(due->ns) : std::nullopt;
           })
      .def("node",
           [](const RuntimeHandle& r, std::string name) {
             return std::make_unique<NodeHandle>(r.get().node(std::move(name)).or_throw());
           })
      .def("load_plugins",
           [](const RuntimeHandle& r) {
             Runtime runtime = r.get();
             nb::gil_scoped_release release;
             runtime.load_plugins().or_throw();
           })
      .def("spin",
           [](const RuntimeHandle& r) {
             const auto runtime = r.get_open();
             if (!runtime) return 0;  // it has been closed
             return spin(*runtime, [&] { return Runtime(*runtime).spin(run_signal_handlers); });
           })
      .def("ready", [](const RuntimeHandle& r) { r.get().ready(); })
      .def(
          "announce_types",
          [](const RuntimeHandle& r, const nb::bytes& descriptors) {
            r.get().announce_types({descriptors.c_str(), descriptors.size()}).or_throw();
          },
          nb::arg("descriptors"))
      .def("announced_types",
           [](const RuntimeHandle& r) {
             const std::string types = r.get().announced_types();
             return nb::bytes(types.data(), types.size());
           })
      .def("endpoints", [](const RuntimeHandle& r) { return r.get().endpoints(); })
      .def("request_stop", [](const RuntimeHandle& r) { r.get().request_stop(); })
      .def_prop_ro("stopping", [](const RuntimeHandle& r) { return r.get().stopping(); })
      .def_prop_ro("process", [](const RuntimeHandle& r) { return r.get().process(); })
      .def_prop_ro("domain", [](const RuntimeHandle& r) { return r.get().domain(); })
      .def("close", &RuntimeHandle::reset);
  return runtime_class;
}

void bind_node(nb::module_& module, nb::class_<RuntimeHandle>& runtime_class) {
  nb::class_<NodeHandle> node_class(module, "Node");
  node_class
      .def_static(
          "open",
          [](std::string name, std::vector<std::string> argv) {
            Arguments arguments(std::move(argv));
            nb::gil_scoped_release release;
            return std::make_unique<NodeHandle>(
                Node::open(std::move(name), arguments.count(), arguments.values()).or_throw());
          },
          nb::arg("name"), nb::arg("argv"))
      .def(
          "announce_types",
          [](const NodeHandle& n, const nb::bytes& descriptors) {
            n.get().runtime().announce_types({descriptors.c_str(), descriptors.size()}).or_throw();
          },
          nb::arg("descriptors"))
      .def(
          "publisher",
          [](const NodeHandle& n, const std::string& channel, const TypeId& type, bool local,
             const std::optional<Policy>& policy) {
            const Node node = n.get();
            nb::gil_scoped_release release;
            const PublisherOptions options{local ? Scope::local : Scope::network, policy};
            return std::make_unique<PublisherHandle>(
                node.raw_publisher(channel, type, options).or_throw());
          },
          nb::arg("channel"), nb::arg("type"), nb::arg("local"), nb::arg("policy") = nb::none())
      .def(
          "subscribe",
          [](const NodeHandle& n, const std::string& channel, const TypeId& type,
             nb::object callback, const std::string& mode, bool local,
             const std::optional<Policy>& policy, const std::optional<CallbackGroup>& group) {
            const SubscriptionOptions options{parse_mode(mode),
                                              local ? Scope::local : Scope::network, policy,
                                              group.value_or(CallbackGroup())};
            return std::make_unique<SubscriptionHandle>(
                subscribe(n.get(), channel, type, options, std::move(callback)));
          },
          nb::arg("channel"), nb::arg("type"), nb::arg("callback"), nb::arg("mode"),
          nb::arg("local"), nb::arg("policy") = nb::none(), nb::arg("group") = nb::none())
      .def("callback_group", [](const NodeHandle& n) { return n.get().callback_group(); })
      .def(
          "every",
          [](const NodeHandle& n, std::int64_t period_ns, nb::object callback) {
            const Callable callable(std::move(callback));
            return std::make_unique<TimerHandle>(n.get().every(Duration{period_ns}, [callable] {
              if (closing()) return;
              nb::gil_scoped_acquire acquire;
              callable();
            }));
          },
          nb::arg("period_ns"), nb::arg("callback"))
      .def_prop_ro("clock", [](const NodeHandle& n) { return n.get().clock(); })
      .def(
          "on_clock_jump",
          [](const NodeHandle& n, nb::object callback) {
            const Callable callable(std::move(callback));
            return std::make_unique<TimerHandle>(
                n.get().on_clock_jump([callable](const ClockJump& jump) {
                  if (closing()) return;
                  nb::gil_scoped_acquire acquire;
                  callable(nb::cast(jump));
                }));
          },
          nb::arg("callback"))
      .def("param_bool", [](const NodeHandle& n, const std::string& name,
                            bool fallback) { return n.get().param(name, fallback); })
      .def("param_int", [](const NodeHandle& n, const std::string& name,
                           std::int64_t fallback) { return n.get().param(name, fallback); })
      .def("param_float", [](const NodeHandle& n, const std::string& name,
                             double fallback) { return n.get().param(name, fallback); })
      .def("param_str", [](const NodeHandle& n, const std::string& name,
                           const std::string& fallback) { return n.get().param(name, fallback); })
      .def("params",
           [](const NodeHandle& n) { return std::make_unique<Handle<Params>>(n.get().params()); })
      .def(
          "remote_params",
          [](const NodeHandle& n, const std::string& node) {
            const Node from = n.get();
            nb::gil_scoped_release release;
            return std::make_unique<Handle<RemoteParams>>(from.remote_params(node));
          },
          nb::arg("node"))
      .def("shared_params",
           [](const NodeHandle& n) {
             const Node node = n.get();
             nb::gil_scoped_release release;
             return std::make_unique<Handle<SharedParams>>(node.shared_params());
           })
      .def_prop_ro("name", [](const NodeHandle& n) { return n.get().name(); })
      .def_prop_ro(
          "runtime",
          [](const NodeHandle& n) { return std::make_unique<RuntimeHandle>(n.get().runtime()); })
      .def("spin",
           [](const NodeHandle& n) {
             const auto node = n.get_open();
             if (!node) return 0;
             return spin(node->runtime(), [&] { return node->spin(run_signal_handlers); });
           })
      .def("close", [](const NodeHandle& n) {
        if (n.is_inherited()) return;
        const auto node = n.get_open();
        nb::gil_scoped_release release;
        if (node) node->close();
      });
  node_class
      .def("log_enabled",
           [](const NodeHandle& n, int level) {
             return n.get().log().enabled(static_cast<LogLevel>(level));
           })
      .def(
          "set_log_level",
          [](const NodeHandle& n, std::optional<int> level) {
            std::optional<LogLevel> wanted;
            if (level) wanted = static_cast<LogLevel>(*level);
            n.get().log().set_level(wanted);
          },
          nb::arg("level").none())
      .def(
          "log_line",
          [](const NodeHandle& n, int level, const std::string& text, const std::string& name,
             const std::string& file, const std::string& function, unsigned line, bool to_stderr) {
            const Logger log = n.get().log();
            nb::gil_scoped_release release;  // stderr may be a pipe that is full
            log.write_line(static_cast<LogLevel>(level), text, name, file, function, line,
                           to_stderr);
          },
          nb::arg("level"), nb::arg("text"), nb::arg("name"), nb::arg("file"), nb::arg("function"),
          nb::arg("line"), nb::arg("to_stderr"));
  bind_calls(module, node_class);
  bind_synchronizer(module, node_class);
  bind_channel_places(runtime_class, node_class);
  bind_groups(module, runtime_class, node_class);
}

}  // namespace

void bind_nodes(nb::module_& module) {
  bind_types(module);
  bind_ends(module);
  auto runtime_class = bind_runtime(module);
  bind_node(module, runtime_class);
  watch_forks();
  module.def("close_all", &close_all_handles);
  module.def("monotonic_ns", [] { return monotonic_now().ns; });
}

}  // namespace hyphos::python
