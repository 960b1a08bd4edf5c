#include "gateway/rosbridge/served_services.hpp"

#include <algorithm>
#include <utility>

#include "gateway/rosbridge/json_text.hpp"

namespace hyphos::gateway::rosbridge {

std::optional<ServedServices::Call> ServedServices::Pending::add(Call call, std::size_t most) {
  const MutexLock lock(mutex);
  calls.push_back(std::move(call));
  if (calls.size() <= most) return std::nullopt;
  Call oldest = std::move(calls.front());
  calls.pop_front();
  return oldest;
}

std::deque<ServedServices::Call> ServedServices::Pending::take_all(const std::string& service) {
  const MutexLock lock(mutex);
  std::deque<Call> out;
  std::erase_if(calls, [&](Call& call) {
    if (!service.empty() && call.service != service) return false;
    out.push_back(std::move(call));
    return true;
  });
  return out;
}

void ServedServices::end() {
  servers_.clear();
  fail_all("");
}

void ServedServices::fail_all(const std::string& service) {
  for (Call& call : pending_->take_all(service)) {
    call.answer(
        Error{Code::disconnected, "the client that serves it has disconnected", call.service});
  }
}

Result<void> ServedServices::advertise(const Request& request) {
  if (auto given = required(request.service, "service"); !given) return given;
  if (auto given = required(request.type, "type", request.service); !given) return given;
  const std::string name = absolute(request.service);
  const std::size_t most = context_.options.limits.client_topics;
  if (servers_.size() >= most && !servers_.contains(name)) {
    return Error{Code::overloaded,
                 at_limit("this client", most, "served services", "--max-topics-per-client"), name};
  }
  servers_.erase(name);
  fail_all(name);
  auto server = context_.facade.services().open_server(
      context_.client, name, request.type, {Form::json, context_.form()},
      [gate = gate_, pending = pending_, service = request.service](const Buffer& asked,
                                                                    const Answer& answer) {
        take(gate, pending, service, asked, answer);
      });
  if (!server) return server.error();
  servers_[name] = *std::move(server);
  return success();
}

void ServedServices::take(const std::shared_ptr<ContextGate>& gate,
                          const std::shared_ptr<Pending>& pending, const std::string& service,
                          const Buffer& request, const Answer& answer) {
  bool inside = false;
  std::size_t most = 0;
  std::optional<Call> displaced;
  gate->pass([&](Context& context) {
    inside = true;
    std::string id;
    {
      const MutexLock lock(pending->mutex);
      id = json_string("service_request:" + std::to_string(pending->next++));
    }
    most = context.options.limits.client_calls;
    displaced = pending->add({id, absolute(service), answer}, most);
    const std::string head = R"({"op":"call_service","id":)" + id + R"(,"service":)" +
                             json_string(service) + R"(,"args":)";
    const Frame frame = frame_around(head, "args", request, context.form(), "}");
    (void)context.sink.send(kControlOutput, 0, {&frame, 1});
  });
  // Reply callbacks run code of the graph facade, so they are called outside the call gate.
  if (!inside)
    answer(Error{Code::disconnected, "the client that serves it has disconnected", service});
  if (displaced) {
    displaced->answer(Error{Code::timeout,
                            at_limit("the client that serves it has not replied, and", most,
                                     "later requests without a reply", "--max-calls-per-client"),
                            displaced->service});
  }
}

Result<void> ServedServices::unadvertise(const Request& request) {
  if (auto given = required(request.service, "service"); !given) return given;
  const std::string name = absolute(request.service);
  if (servers_.erase(name) == 0) {
    context_.status(Level::warning, "unadvertise_service: " + name + " is not advertised",
                    request.id);
  }
  fail_all(name);
  return success();
}

Result<void> ServedServices::respond(const Request& request) {
  std::optional<Call> call;
  {
    const MutexLock lock(pending_->mutex);
    const auto at = std::ranges::find(pending_->calls, request.id, &Call::id);
    if (at != pending_->calls.end()) {
      call = std::move(*at);
      pending_->calls.erase(at);
    }
  }
  if (!call) {
    return Error{Code::not_found, "no call with this id waits for a reply", request.service};
  }
  const bool has_values = !request.values.empty() && request.values != "null";
  // Without `result`, an object in `values` counts as success, because callbacks that return
  // nothing reply so.
  if (request.result.value_or(has_values && request.values.starts_with('{'))) {
    const std::string quoted = with_quoted_specials(request.values);
    const std::string_view given = quoted.empty() ? request.values : std::string_view(quoted);
    call->answer(Buffer::copy_of(has_values ? given : std::string_view("{}")));
  } else {
    const std::string why = has_values ? plain_text(request.values) : "no reason given";
    call->answer(Error{Code::canceled, "the service failed: " + why, call->service});
  }
  return success();
}

}  // namespace hyphos::gateway::rosbridge
