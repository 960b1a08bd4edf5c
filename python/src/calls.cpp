#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <variant>

#include "bindings.hpp"
#include "bytes.hpp"
#include "handles.hpp"
#include "hyphos/hyphos.hpp"

// Services and actions for Python: bytes in, bytes out. hyphos/service.py and hyphos/action.py add
// the types.
namespace hyphos::python {
namespace {

using ClientHandle = Handle<RawClient>;
using ServerHandle = Handle<std::variant<Service, Action>>;
using ExchangeHandle = Handle<RawRequest>;
using ServerGoalHandle = Handle<RawGoalHandle>;
using ClientGoalHandle = Handle<RawSentGoal>;

CallType make_type(const TypeId& request, const std::optional<TypeId>& feedback,
                   const TypeId& reply) {
  return feedback ? action_type(request, *feedback, reply) : service_type(request, reply);
}

nb::object error_object(const Error& error) {
  return nb::module_::import_("hyphos._errors")
      .attr("Error")(std::string(to_string(error.code)), error.message, error.where,
                     std::string(advice(error.code)));
}

Code parse_code(const std::string& word) {
  if (const auto code = code_named(word)) return *code;
  throw nb::value_error(("'" + word + "' is not a Hyphos error code, e.g. unsupported").c_str());
}

/// A message with bytes from Python. Called with the GIL held. Large copies run without it.
RawMessage fill(const CallMemory& memory, nb::handle payload, const nb::sequence& buffers) {
  const std::size_t count = nb::len(buffers);
  if (count > kMaxAttachedBuffers) {
    throw nb::value_error("a message has at most 8 attached buffers");
  }
  const Lend lend = [&](std::size_t size) { return memory.loan_bytes(size); };
  RawMessage message;
  for (std::size_t i = 0; i < count; ++i) {
    message.buffers.push_back(to_buffer(nb::object(buffers[i]), lend));
  }
  message.payload = to_buffer(payload, lend);
  return message;
}

/// (payload, [buffers]) of a message. Called with the GIL held.
nb::tuple contents(const MessageRef& message) {
  nb::list buffers;
  const Envelope* const envelope = message.encoded();
  if (envelope == nullptr) return nb::make_tuple(nb::cast(Buffer()), buffers);
  for (const Buffer& buffer : envelope->buffers) buffers.append(nb::cast(buffer));
  return nb::make_tuple(nb::cast(envelope->payload), buffers);
}

nb::tuple call(const ClientHandle& handle, nb::handle payload, const nb::sequence& buffers,
               std::int64_t timeout_ns) {
  const RawClient client = handle.get();
  RawMessage request = fill(client.memory(), payload, buffers);
  std::optional<Result<MessageRef>> end;
  {
    nb::gil_scoped_release release;
    end = client.call(std::move(request), Duration{timeout_ns});
  }
  return contents(std::move(*end).or_throw());
}

std::uint64_t call_async(const ClientHandle& handle, nb::handle payload,
                         const nb::sequence& buffers, std::int64_t timeout_ns,
                         nb::object callback) {
  const RawClient client = handle.get();
  RawMessage request = fill(client.memory(), payload, buffers);
  // Runs on the pool: the thread that receives the reply must not wait for the GIL.
  auto finish = [callable = Callable(std::move(callback))](const Result<MessageRef>& end) {
    if (closing()) return;
    nb::gil_scoped_acquire acquire;
    if (end) {
      callable(contents(*end), nb::none());
    } else {
      callable(nb::none(), error_object(end.error()));
    }
  };
  nb::gil_scoped_release release;
  return client.call_async(std::move(request), Duration{timeout_ns}, std::move(finish));
}

std::unique_ptr<ClientGoalHandle> send_goal(const ClientHandle& handle, nb::handle payload,
                                            const nb::sequence& buffers,
                                            std::int64_t accept_timeout_ns, nb::object feedback) {
  const RawActionClient client(handle.get());
  RawMessage goal = fill(client.memory(), payload, buffers);
  const Duration accept_timeout{accept_timeout_ns};
  if (feedback.is_none()) {
    nb::gil_scoped_release release;
    return std::make_unique<ClientGoalHandle>(client.send(std::move(goal), accept_timeout));
  }
  auto progress = [callable = Callable(std::move(feedback))](const MessageRef& message) {
    if (closing()) return;
    nb::gil_scoped_acquire acquire;
    callable(contents(message));
  };
  nb::gil_scoped_release release;
  return std::make_unique<ClientGoalHandle>(
      client.send(std::move(goal), std::move(progress), accept_timeout));
}

/// The state "succeeded", "canceled" or "aborted", the payload and the buffers.
nb::tuple goal_end(const GoalResult<MessageRef>& end) {
  const nb::tuple bytes = contents(end.value);
  return nb::make_tuple(std::string(to_string(end.state)), bytes[0], bytes[1]);
}

void bind_client(nb::module_& module) {
  nb::class_<ClientHandle>(module, "CallClient")
      .def("call", &call, nb::arg("payload"), nb::arg("buffers"), nb::arg("timeout_ns"))
      .def("call_async", &call_async, nb::arg("payload"), nb::arg("buffers"), nb::arg("timeout_ns"),
           nb::arg("callback"))
      .def("send_goal", &send_goal, nb::arg("payload"), nb::arg("buffers"),
           nb::arg("accept_timeout_ns"), nb::arg("feedback").none())
      .def("wait_for_server",
           [](const ClientHandle& c, std::int64_t timeout_ns) {
             const RawClient client = c.get();
             nb::gil_scoped_release release;
             client.wait_for_server(Duration{timeout_ns}).or_throw();
           })
      .def("cancel",
           [](const ClientHandle& c, std::uint64_t id) {
             const RawClient client = c.get();
             nb::gil_scoped_release release;
             client.give_up(id);
           })
      .def_prop_ro("ready", [](const ClientHandle& c) { return c.get().ready(); })
      .def_prop_ro("name", [](const ClientHandle& c) { return c.get().name(); })
      .def("close", &ClientHandle::reset);

  nb::class_<ClientGoalHandle>(module, "ClientGoal")
      .def("accepted",
           [](const ClientGoalHandle& g, std::int64_t timeout_ns) {
             const RawSentGoal goal = g.get();
             nb::gil_scoped_release release;
             goal.accepted(Duration{timeout_ns}).or_throw();
           })
      .def("result",
           [](const ClientGoalHandle& g, std::int64_t timeout_ns) {
             const RawSentGoal goal = g.get();
             std::optional<Result<GoalResult<MessageRef>>> end;
             {
               nb::gil_scoped_release release;
               end = goal.result(Duration{timeout_ns});
             }
             return goal_end(std::move(*end).or_throw());
           })
      .def("on_end",
           [](const ClientGoalHandle& g, nb::object callback) {
             const Callable callable(std::move(callback));
             const RawSentGoal goal = g.get();
             nb::gil_scoped_release release;
             goal.on_result([callable](const Result<GoalResult<MessageRef>>& end) {
               if (closing()) return;
               nb::gil_scoped_acquire acquire;
               if (end) {
                 callable(goal_end(*end), nb::none());
               } else {
                 callable(nb::none(), error_object(end.error()));
               }
             });
           })
      .def("cancel",
           [](const ClientGoalHandle& g) {
             const RawSentGoal goal = g.get();
             nb::gil_scoped_release release;
             goal.cancel();
           })
      .def_prop_ro(
          "state",
          [](const ClientGoalHandle& g) { return std::string(to_string(g.get().state())); })
      .def_prop_ro("feedback_dropped",
                   [](const ClientGoalHandle& g) { return g.get().feedback_dropped(); });
}

void send(const CallMemory& memory, nb::handle payload, const nb::sequence& buffers,
          const std::function<Result<void>(RawMessage)>& how) {
  RawMessage message = fill(memory, payload, buffers);
  nb::gil_scoped_release release;
  how(std::move(message)).or_throw();
}

void bind_server(nb::module_& module) {
  nb::class_<ServerHandle>(module, "CallServer", "A handle. The node owns the service.")
      .def("close",
           [](const ServerHandle& s) {
             const auto server = s.get();
             nb::gil_scoped_release release;
             std::visit([](const auto& one) { one.close(); }, server);
           })
      .def_prop_ro("pending",
                   [](const ServerHandle& s) {
                     return std::visit([](const auto& one) { return one.pending(); }, s.get());
                   })
      .def_prop_ro("name", [](const ServerHandle& s) {
        return std::visit([](const auto& one) { return one.name(); }, s.get());
      });

  nb::class_<ExchangeHandle>(module, "Exchange")
      .def("contents", [](const ExchangeHandle& e) { return contents(e.get().message()); })
      .def("reply",
           [](const ExchangeHandle& e, nb::handle payload, const nb::sequence& buffers) {
             const RawRequest request = e.get();
             send(request.memory(), payload, buffers,
                  [&](RawMessage reply) { return request.reply(std::move(reply)); });
           })
      .def("refuse",
           [](const ExchangeHandle& e, const std::string& code, const std::string& message,
              const std::string& where) {
             const RawRequest request = e.get();
             const Error error{parse_code(code), message, where};
             nb::gil_scoped_release release;
             request.refuse(error).or_throw();
           })
      .def_prop_ro("answered", [](const ExchangeHandle& e) { return e.get().answered(); })
      .def_prop_ro("canceled", [](const ExchangeHandle& e) { return e.get().canceled(); });

  nb::class_<ServerGoalHandle>(module, "ServerGoal")
      .def("contents", [](const ServerGoalHandle& g) { return contents(g.get().message()); })
      .def("feedback",
           [](const ServerGoalHandle& g, nb::handle payload, const nb::sequence& buffers) {
             const RawGoalHandle goal = g.get();
             send(goal.memory(), payload, buffers,
                  [&](RawMessage feedback) { return goal.feedback(std::move(feedback)); });
           })
      .def("finish",
           [](const ServerGoalHandle& g, const std::string& state, nb::handle payload,
              const nb::sequence& buffers) {
             const RawGoalHandle goal = g.get();
             const GoalState end = state == "canceled"  ? GoalState::canceled
                                   : state == "aborted" ? GoalState::aborted
                                                        : GoalState::succeeded;
             send(goal.memory(), payload, buffers,
                  [&](RawMessage result) { return goal.finish(end, std::move(result)); });
           })
      .def("fail",
           [](const ServerGoalHandle& g, const std::string& code, const std::string& message,
              const std::string& where) {
             const RawGoalHandle goal = g.get();
             const Error error{parse_code(code), message, where};
             nb::gil_scoped_release release;
             goal.abort(error).or_throw();
           })
      .def("wait_for",
           [](const ServerGoalHandle& g, std::int64_t time_ns) {
             const RawGoalHandle goal = g.get();
             nb::gil_scoped_release release;
             return goal.wait_for(Duration{time_ns});
           })
      .def("on_cancel",
           [](const ServerGoalHandle& g, nb::object callback) {
             const Callable callable(std::move(callback));
             const RawGoalHandle goal = g.get();
             nb::gil_scoped_release release;
             goal.on_cancel([callable] {
               if (closing()) return;
               nb::gil_scoped_acquire acquire;
               callable();
             });
           })
      .def_prop_ro("preempted", [](const ServerGoalHandle& g) { return g.get().preempted(); })
      .def_prop_ro("state", [](const ServerGoalHandle& g) {
        return std::string(to_string(g.get().state()));
      });
}

GoalPolicy parse_policy(const std::string& word) {
  for (const GoalPolicy policy :
       {GoalPolicy::queue, GoalPolicy::preempt, GoalPolicy::reject, GoalPolicy::parallel}) {
    if (word == to_string(policy)) return policy;
  }
  throw nb::value_error(("unknown policy '" + word +
                         "': give one of 'queue', 'preempt', 'reject', "
                         "'parallel'")
                            .c_str());
}

std::unique_ptr<ServerHandle> open_service(const Node& node, const std::string& name,
                                           const TypeId& request, const TypeId& reply,
                                           nb::object callback, const std::string& mode, bool local,
                                           std::uint32_t depth, std::uint32_t max_pending) {
  const ServiceOptions options{parse_mode(mode), local ? Scope::local : Scope::network, depth,
                               max_pending};
  const Callable callable(std::move(callback));
  auto answer = [callable](const RawRequest& received) {
    if (closing()) return;
    nb::gil_scoped_acquire acquire;
    callable(nb::cast(std::make_unique<ExchangeHandle>(received)));
  };
  nb::gil_scoped_release release;
  return std::make_unique<ServerHandle>(
      node.raw_service(name, make_type(request, {}, reply), options, std::move(answer)).or_throw());
}

std::unique_ptr<ServerHandle> open_action(const Node& node, const std::string& name,
                                          const TypeId& goal, const TypeId& feedback,
                                          const TypeId& result, nb::object execute,
                                          nb::object accept, const std::string& policy, bool local,
                                          std::uint32_t depth, bool cancel_if_unwatched) {
  const ActionOptions options{parse_policy(policy), local ? Scope::local : Scope::network, depth,
                              cancel_if_unwatched};
  auto run = [callable = Callable(std::move(execute))](const RawGoalHandle& handle) {
    if (closing()) return;
    nb::gil_scoped_acquire acquire;
    callable(nb::cast(std::make_unique<ServerGoalHandle>(handle)));
  };
  std::function<Result<void>(const RawRequest&)> check;
  if (!accept.is_none()) {
    check = [callable = Callable(std::move(accept))](const RawRequest& received) -> Result<void> {
      if (closing()) return Error{Code::disconnected, "the process is ending", ""};
      nb::gil_scoped_acquire acquire;
      // The function refuses through the request. An exception also refuses.
      callable(nb::cast(std::make_unique<ExchangeHandle>(received)));
      if (!received.answered()) return success();
      return Error{Code::canceled, "rejected", ""};
    };
  }
  nb::gil_scoped_release release;
  return std::make_unique<ServerHandle>(node.raw_action(name, make_type(goal, feedback, result),
                                                        options, std::move(run), std::move(check))
                                            .or_throw());
}

std::unique_ptr<ClientHandle> open_client(const Node& node, const std::string& name,
                                          const TypeId& request,
                                          const std::optional<TypeId>& feedback,
                                          const TypeId& reply, const std::optional<TypeId>& known,
                                          bool local, std::uint32_t max_pending) {
  CallType type = make_type(request, feedback, reply);
  // A tool knows the id of the whole from the other side, but only the names of the parts.
  if (known) type.id = *known;
  nb::gil_scoped_release release;
  return std::make_unique<ClientHandle>(
      node.raw_client(name, type, ClientOptions{local ? Scope::local : Scope::network, max_pending})
          .or_throw());
}

}  // namespace

void bind_calls(nb::module_& module, nb::class_<Handle<Node>>& node) {
  bind_client(module);
  bind_server(module);
  node.def(
      "service",
      [](const Handle<Node>& n, const std::string& name, const TypeId& request, const TypeId& reply,
         nb::object callback, const std::string& mode, bool local, std::uint32_t depth,
         std::uint32_t max_pending) {
        return open_service(n.get(), name, request, reply, std::move(callback), mode, local, depth,
                            max_pending);
      },
      nb::arg("name"), nb::arg("request"), nb::arg("reply"), nb::arg("callback"), nb::arg("mode"),
      nb::arg("local"), nb::arg("depth"), nb::arg("max_pending"));
  node.def(
      "action",
      [](const Handle<Node>& n, const std::string& name, const TypeId& goal, const TypeId& feedback,
         const TypeId& result, nb::object execute, nb::object accept, const std::string& policy,
         bool local, std::uint32_t depth, bool cancel_if_unwatched) {
        return open_action(n.get(), name, goal, feedback, result, std::move(execute),
                           std::move(accept), policy, local, depth, cancel_if_unwatched);
      },
      nb::arg("name"), nb::arg("goal"), nb::arg("feedback"), nb::arg("result"), nb::arg("execute"),
      nb::arg("accept").none(), nb::arg("policy"), nb::arg("local"), nb::arg("depth"),
      nb::arg("cancel_if_unwatched"));
  node.def(
      "client",
      [](const Handle<Node>& n, const std::string& name, const TypeId& request,
         const std::optional<TypeId>& feedback, const TypeId& reply,
         const std::optional<TypeId>& known, bool local, std::uint32_t max_pending) {
        return open_client(n.get(), name, request, feedback, reply, known, local, max_pending);
      },
      nb::arg("name"), nb::arg("request"), nb::arg("feedback").none(), nb::arg("reply"),
      nb::arg("known").none(), nb::arg("local"), nb::arg("max_pending"));
}

}  // namespace hyphos::python
