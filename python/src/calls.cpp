#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "bindings.hpp"
#include "bytes.hpp"
#include "handles.hpp"
#include "hyphos/hyphos.hpp"

// Services and actions for Python: bytes in, bytes out. hyphos/service.py and hyphos/action.py add
// the types.
namespace hyphos::python {
namespace {

using detail::CallKind;
using detail::Delivery;
using ClientRef = std::shared_ptr<detail::CallClient>;
using ServerRef = std::shared_ptr<detail::CallServer>;
using ClientGoalRef = std::shared_ptr<detail::ClientGoal>;
using ClientHandle = Handle<ClientRef>;
using ServerHandle = Handle<ServerRef>;
using ExchangeHandle = Handle<detail::ExchangeRef>;
using ServerGoalHandle = Handle<detail::ServerGoalRef>;
using ClientGoalHandle = Handle<ClientGoalRef>;

TypeSupport raw_support(const TypeId& id) {
  TypeSupport support;
  support.id = id;
  return support;
}

detail::CallTypes make_types(const TypeId& request, const std::optional<TypeId>& feedback,
                             const TypeId& reply) {
  return feedback ? detail::action_types(raw_support(request), raw_support(*feedback),
                                         raw_support(reply))
                  : detail::service_types(raw_support(request), raw_support(reply));
}

nb::object to_python(const Error& error) {
  return nb::module_::import_("hyphos._errors")
      .attr("Error")(std::string(to_string(error.code)), error.message, error.where,
                     std::string(advice(error.code)));
}

Code parse_code(const std::string& word) {
  if (const auto code = code_named(word)) return *code;
  throw nb::value_error(("'" + word + "' is not a Hyphos error code, e.g. unsupported").c_str());
}

/// A block with bytes from Python. Called with the GIL held. Large copies run without it.
detail::BlockRef fill(detail::PublisherCore& core, bool travels, nb::handle payload,
                      const nb::sequence& buffers) {
  const std::size_t count = nb::len(buffers);
  if (count > kMaxAttachedBuffers) {
    throw nb::value_error("a message has at most 8 attached buffers");
  }
  const Lend lend = [&](std::size_t size) {
    WritableBuffer memory = travels ? core.loan(size) : WritableBuffer();
    return memory.empty() ? WritableBuffer::on_heap(size) : std::move(memory);
  };
  BufferList list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(to_buffer(nb::object(buffers[i]), lend));
  const Buffer body = to_buffer(payload, lend);
  detail::BlockRef block = core.block();
  block->set_encoded(body, list);
  return block;
}

/// (payload, [buffers]) of a message. Called with the GIL held.
nb::tuple contents(const Delivery& delivery) {
  nb::list buffers;
  const Envelope* const envelope = delivery.block->encoded();
  if (envelope == nullptr) return nb::make_tuple(nb::cast(Buffer()), buffers);
  for (const Buffer& buffer : envelope->buffers) buffers.append(nb::cast(buffer));
  return nb::make_tuple(nb::cast(envelope->payload), buffers);
}

class PythonListener final : public detail::CallListener {
 public:
  PythonListener(ClientRef client, Callable callable)
      : client_(std::move(client)), callable_(std::move(callable)) {}
  void heard(CallKind kind, const Delivery& message) override {
    if (detail::is_final(kind)) finish(message);
  }
  void failed(const Error& error) override { finish(error); }

 private:
  // Runs on the pool: the thread that receives the reply must not wait for the GIL.
  void finish(Result<Delivery> end) {
    auto client = std::move(client_);
    detail::CallClient* const pool = client.get();
    pool->post([client = std::move(client), callable = callable_, end = std::move(end)] {
      if (closing()) return;
      nb::gil_scoped_acquire acquire;
      if (end) {
        callable(contents(*end), nb::none());
      } else {
        callable(nb::none(), to_python(end.error()));
      }
    });
  }
  ClientRef client_;
  const Callable callable_;
};

nb::tuple call(const ClientHandle& handle, nb::handle payload, const nb::sequence& buffers,
               std::int64_t timeout_ns) {
  const ClientRef client = handle.get();
  detail::BlockRef block = fill(client->sender(), client->travels(), payload, buffers);
  std::optional<Result<Delivery>> end;
  {
    nb::gil_scoped_release release;
    end = detail::CallWaiter::run(*client, std::move(block), Duration{timeout_ns});
  }
  return contents(std::move(*end).or_throw());
}

std::uint64_t call_async(const ClientHandle& handle, nb::handle payload,
                         const nb::sequence& buffers, std::int64_t timeout_ns,
                         nb::object callback) {
  const ClientRef client = handle.get();
  detail::BlockRef block = fill(client->sender(), client->travels(), payload, buffers);
  auto listener = std::make_shared<PythonListener>(client, Callable(std::move(callback)));
  nb::gil_scoped_release release;
  return client->start(std::move(block), (monotonic_now() + Duration{timeout_ns}).ns,
                       std::move(listener));
}

std::unique_ptr<ClientGoalHandle> send_goal(const ClientHandle& handle, nb::handle payload,
                                            const nb::sequence& buffers,
                                            std::int64_t accept_timeout_ns, nb::object feedback) {
  const ClientRef client = handle.get();
  detail::BlockRef block = fill(client->sender(), client->travels(), payload, buffers);
  detail::ClientGoal::Feedback hear;
  if (!feedback.is_none()) {
    hear = [callable = Callable(std::move(feedback))](const Delivery& delivery) {
      if (closing()) return;
      nb::gil_scoped_acquire acquire;
      callable(contents(delivery));
    };
  }
  nb::gil_scoped_release release;
  return std::make_unique<ClientGoalHandle>(
      detail::send_goal(client, std::move(block), Duration{accept_timeout_ns}, std::move(hear)));
}

/// The state "succeeded", "canceled" or "aborted", the payload and the buffers.
nb::tuple goal_end(const Delivery& delivery) {
  const CallKind kind = detail::kind_of(delivery);
  const GoalState state = kind == CallKind::canceled  ? GoalState::canceled
                          : kind == CallKind::aborted ? GoalState::aborted
                                                      : GoalState::succeeded;
  const nb::tuple bytes = contents(delivery);
  return nb::make_tuple(std::string(to_string(state)), bytes[0], bytes[1]);
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
             const ClientRef client = c.get();
             nb::gil_scoped_release release;
             client->wait_for_server(Duration{timeout_ns}).or_throw();
           })
      .def("cancel",
           [](const ClientHandle& c, std::uint64_t id) {
             const ClientRef client = c.get();
             nb::gil_scoped_release release;
             if (id != 0) client->expire(id);
           })
      .def_prop_ro("ready", [](const ClientHandle& c) { return c.get()->ready(); })
      .def_prop_ro("name", [](const ClientHandle& c) { return c.get()->name(); })
      .def("close", &ClientHandle::reset);

  nb::class_<ClientGoalHandle>(module, "ClientGoal")
      .def("accepted",
           [](const ClientGoalHandle& g, std::int64_t timeout_ns) {
             const ClientGoalRef goal = g.get();
             nb::gil_scoped_release release;
             goal->wait_accepted((monotonic_now() + Duration{timeout_ns}).ns).or_throw();
           })
      .def("result",
           [](const ClientGoalHandle& g, std::int64_t timeout_ns) {
             const ClientGoalRef goal = g.get();
             std::optional<Result<Delivery>> end;
             {
               nb::gil_scoped_release release;
               end = goal->wait_end((monotonic_now() + Duration{timeout_ns}).ns);
             }
             return goal_end(std::move(*end).or_throw());
           })
      .def("on_end",
           [](const ClientGoalHandle& g, nb::object callback) {
             const Callable callable(std::move(callback));
             const ClientGoalRef goal = g.get();
             nb::gil_scoped_release release;
             goal->on_end([callable](const Result<Delivery>& end) {
               if (closing()) return;
               nb::gil_scoped_acquire acquire;
               if (end) {
                 callable(goal_end(*end), nb::none());
               } else {
                 callable(nb::none(), to_python(end.error()));
               }
             });
           })
      .def("cancel",
           [](const ClientGoalHandle& g) {
             const ClientGoalRef goal = g.get();
             nb::gil_scoped_release release;
             goal->cancel();
           })
      .def_prop_ro(
          "state",
          [](const ClientGoalHandle& g) { return std::string(to_string(g.get()->state())); })
      .def_prop_ro("feedback_dropped",
                   [](const ClientGoalHandle& g) { return g.get()->feedback_dropped(); });
}

void send(detail::Exchange& exchange, nb::handle payload, const nb::sequence& buffers,
          const std::function<Result<void>(detail::BlockRef)>& how) {
  detail::BlockRef block = fill(exchange.sender(), exchange.travels(), payload, buffers);
  nb::gil_scoped_release release;
  how(std::move(block)).or_throw();
}

void bind_server(nb::module_& module) {
  nb::class_<ServerHandle>(module, "CallServer", "A handle. The node owns the service.")
      .def("close",
           [](const ServerHandle& s) {
             const ServerRef server = s.get();
             nb::gil_scoped_release release;
             server->close();
           })
      .def_prop_ro("pending", [](const ServerHandle& s) { return s.get()->pending(); })
      .def_prop_ro("name", [](const ServerHandle& s) { return s.get()->name(); });

  nb::class_<ExchangeHandle>(module, "Exchange")
      .def("contents", [](const ExchangeHandle& e) { return contents(e.get()->request()); })
      .def("reply",
           [](const ExchangeHandle& e, nb::handle payload, const nb::sequence& buffers) {
             const detail::ExchangeRef exchange = e.get();
             send(*exchange, payload, buffers, [&](detail::BlockRef block) {
               return exchange->send(CallKind::reply, std::move(block));
             });
           })
      .def("refuse",
           [](const ExchangeHandle& e, const std::string& code, const std::string& message,
              const std::string& where) {
             const detail::ExchangeRef exchange = e.get();
             const Error error{parse_code(code), message, where};
             nb::gil_scoped_release release;
             exchange->fail(error).or_throw();
           })
      .def_prop_ro("answered", [](const ExchangeHandle& e) { return e.get()->answered(); })
      .def_prop_ro("canceled", [](const ExchangeHandle& e) { return e.get()->canceled(); });

  nb::class_<ServerGoalHandle>(module, "ServerGoal")
      .def("contents",
           [](const ServerGoalHandle& g) { return contents(g.get()->exchange().request()); })
      .def("feedback",
           [](const ServerGoalHandle& g, nb::handle payload, const nb::sequence& buffers) {
             const detail::ServerGoalRef goal = g.get();
             send(goal->exchange(), payload, buffers, [&](detail::BlockRef block) {
               return goal->exchange().send(CallKind::feedback, std::move(block));
             });
           })
      .def("finish",
           [](const ServerGoalHandle& g, const std::string& state, nb::handle payload,
              const nb::sequence& buffers) {
             const detail::ServerGoalRef goal = g.get();
             const GoalState end = state == "canceled"  ? GoalState::canceled
                                   : state == "aborted" ? GoalState::aborted
                                                        : GoalState::succeeded;
             send(goal->exchange(), payload, buffers,
                  [&](detail::BlockRef block) { return goal->finish(end, std::move(block)); });
           })
      .def("fail",
           [](const ServerGoalHandle& g, const std::string& code, const std::string& message,
              const std::string& where) {
             const detail::ServerGoalRef goal = g.get();
             const Error error{parse_code(code), message, where};
             nb::gil_scoped_release release;
             goal->fail(error).or_throw();
           })
      .def("wait_for",
           [](const ServerGoalHandle& g, std::int64_t time_ns) {
             const detail::ServerGoalRef goal = g.get();
             nb::gil_scoped_release release;
             return goal->wait_for(Duration{time_ns});
           })
      .def("on_cancel",
           [](const ServerGoalHandle& g, nb::object callback) {
             const Callable callable(std::move(callback));
             const detail::ServerGoalRef goal = g.get();
             nb::gil_scoped_release release;
             goal->on_cancel([callable] {
               if (closing()) return;
               nb::gil_scoped_acquire acquire;
               callable();
             });
           })
      .def_prop_ro("preempted", [](const ServerGoalHandle& g) { return g.get()->preempted(); })
      .def_prop_ro("state", [](const ServerGoalHandle& g) {
        return std::string(to_string(g.get()->state()));
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
  auto answer = [callable](const detail::ExchangeRef& exchange) {
    if (closing()) return;
    nb::gil_scoped_acquire acquire;
    callable(nb::cast(std::make_unique<ExchangeHandle>(exchange)));
  };
  nb::gil_scoped_release release;
  return std::make_unique<ServerHandle>(
      node.open_server(name, make_types(request, {}, reply), options, std::move(answer))
          .or_throw());
}

std::unique_ptr<ServerHandle> open_action(const Node& node, const std::string& name,
                                          const TypeId& goal, const TypeId& feedback,
                                          const TypeId& result, nb::object execute,
                                          nb::object accept, const std::string& policy, bool local,
                                          std::uint32_t depth, bool cancel_if_unwatched) {
  const ActionOptions options{parse_policy(policy), local ? Scope::local : Scope::network, depth,
                              cancel_if_unwatched};
  detail::ActionCallbacks callbacks;
  callbacks.execute = [callable =
                           Callable(std::move(execute))](const detail::ServerGoalRef& goal_ref) {
    if (closing()) return;
    nb::gil_scoped_acquire acquire;
    callable(nb::cast(std::make_unique<ServerGoalHandle>(goal_ref)));
  };
  if (!accept.is_none()) {
    callbacks.accept = [callable = Callable(std::move(accept))](
                           const detail::ExchangeRef& exchange) -> Result<void> {
      if (closing()) return Error{Code::disconnected, "the process is ending", ""};
      nb::gil_scoped_acquire acquire;
      // The function refuses through the exchange. An exception also refuses.
      callable(nb::cast(std::make_unique<ExchangeHandle>(exchange)));
      if (!exchange->answered()) return success();
      return Error{Code::canceled, "rejected", ""};
    };
  }
  nb::gil_scoped_release release;
  return std::make_unique<ServerHandle>(
      node.open_action(name, make_types(goal, feedback, result), options, std::move(callbacks))
          .or_throw());
}

std::unique_ptr<ClientHandle> open_client(const Node& node, const std::string& name,
                                          const TypeId& request,
                                          const std::optional<TypeId>& feedback,
                                          const TypeId& reply, const std::optional<TypeId>& known,
                                          bool local, std::uint32_t max_pending) {
  detail::CallTypes types = make_types(request, feedback, reply);
  // A tool knows the id of the whole from the other side, but only the names of the parts.
  if (known) types.request.id = types.reply.id = *known;
  nb::gil_scoped_release release;
  return std::make_unique<ClientHandle>(
      node.open_client(name, types,
                       ClientOptions{local ? Scope::local : Scope::network, max_pending})
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
