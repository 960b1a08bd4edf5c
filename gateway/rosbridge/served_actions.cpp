#include "gateway/rosbridge/served_actions.hpp"

#include <algorithm>
#include <utility>

#include "gateway/rosbridge/goal_status.hpp"
#include "gateway/rosbridge/json_text.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

Error no_goal(const std::string& action) {
  return {Code::not_found, "no goal with this id is active", action};
}

Error gone(const std::string& action) {
  return {Code::disconnected, "the client that executes the action has disconnected", action};
}

/// The values of a client, in the format that the graph facade reads.
std::string object_of(std::string_view values) {
  if (values.empty() || values == "null") return "{}";
  std::string quoted = with_quoted_specials(values);
  return quoted.empty() ? std::string(values) : quoted;
}

}  // namespace

std::map<std::string, ServedActions::Goal> ServedActions::Pending::take_all(
    const std::string& action) {
  const MutexLock lock(mutex);
  std::map<std::string, Goal> out;
  std::erase_if(goals, [&](auto& entry) {
    if (!action.empty() && entry.second.action != action) return false;
    out.insert(std::move(entry));
    return true;
  });
  return out;
}

void ServedActions::end() {
  servers_.clear();
  abort_all("");
}

void ServedActions::abort_all(const std::string& action) {
  for (auto& [id, goal] : pending_->take_all(action)) goal.handle->fail(gone(goal.action));
}

Result<void> ServedActions::advertise(const Request& request) {
  if (auto given = required(request.action, "action"); !given) return given;
  if (auto given = required(request.type, "type", request.action); !given) return given;
  const std::string name = absolute(request.action);
  const std::size_t most = context_.options.limits.client_topics;
  if (servers_.size() >= most && !servers_.contains(name)) {
    return Error{Code::overloaded,
                 at_limit("this client", most, "served actions", "--max-topics-per-client"), name};
  }
  servers_.erase(name);
  abort_all(name);
  auto server = context_.facade.actions().open_server(context_.client, name, request.type,
                                                      {Form::json, context_.form()},
                                                      callbacks(request.action, request.type));
  if (!server) return server.error();
  servers_[name] = *std::move(server);
  return success();
}

ActionCallbacks ServedActions::callbacks(const std::string& action, const std::string& type) const {
  ActionCallbacks callbacks;
  callbacks.execute = [gate = gate_, pending = pending_, action, type](
                          const Buffer& goal, const ServedGoalRef& handle) {
    Error refusal = gone(action);
    bool taken = false;
    gate->pass([&](Context& context) {
      std::string id;
      {
        const MutexLock lock(pending->mutex);
        const std::size_t most = context.options.limits.client_calls;
        if (pending->goals.size() >= most) {
          refusal = {Code::overloaded,
                     at_limit("the client that executes the action", most, "active goals",
                              "--max-calls-per-client"),
                     action};
          return;
        }
        id = json_string("action_goal:" + std::to_string(pending->next++));
        pending->goals[id] = {absolute(action), handle};
      }
      taken = true;
      const std::string head = R"({"op":"send_action_goal","id":)" + id + R"(,"action":)" +
                               json_string(action) + R"(,"action_type":)" + json_string(type) +
                               R"(,"args":)";
      const Frame frame = frame_around(head, "args", goal, context.form(), R"(,"feedback":true})");
      (void)context.sink.send(kControlOutput, 0, {&frame, 1});
    });
    if (!taken) handle->fail(refusal);
  };
  callbacks.cancel = [gate = gate_, pending = pending_, action](const ServedGoalRef& handle) {
    gate->pass([&](Context& context) {
      std::string id;
      {
        const MutexLock lock(pending->mutex);
        const auto found = std::ranges::find_if(
            pending->goals, [&](const auto& entry) { return entry.second.handle == handle; });
        if (found == pending->goals.end()) return;
        id = found->first;
      }
      context.send(R"({"op":"cancel_action_goal","id":)" + id + R"(,"action":)" +
                   json_string(action) + "}");
    });
  };
  return callbacks;
}

Result<void> ServedActions::unadvertise(const Request& request) {
  if (auto given = required(request.action, "action"); !given) return given;
  const std::string name = absolute(request.action);
  if (servers_.erase(name) == 0) {
    context_.status(Level::warning, "unadvertise_action: " + name + " is not advertised",
                    request.id);
  }
  abort_all(name);
  return success();
}

Result<void> ServedActions::feedback(const Request& request) {
  ServedGoalRef handle;
  {
    const MutexLock lock(pending_->mutex);
    const auto found = pending_->goals.find(request.id);
    if (found != pending_->goals.end()) handle = found->second.handle;
  }
  if (!handle) return no_goal(request.action);
  const std::string values = object_of(request.values);
  const auto told = handle->feedback(std::as_bytes(std::span(values)));
  // A missing or slow receiver is not an error of the client that sends the feedback.
  if (!told && told.error().code == Code::corrupt) return told;
  return success();
}

Result<void> ServedActions::result(const Request& request) {
  const auto end = end_of(request.status);
  if (!end) return Error{Code::corrupt, "'status' of a result must be 4, 5 or 6", request.action};
  ServedGoalRef handle;
  {
    const MutexLock lock(pending_->mutex);
    const auto found = pending_->goals.find(request.id);
    if (found != pending_->goals.end()) {
      handle = std::move(found->second.handle);
      pending_->goals.erase(found);
    }
  }
  if (!handle) return no_goal(request.action);
  if (!request.result.value_or(true)) {
    const bool has_reason = !request.values.empty() && request.values != "null";
    const std::string why = has_reason ? plain_text(request.values) : "no reason given";
    handle->fail({Code::unsupported, "the action failed: " + why, request.action});
    return success();
  }
  const std::string values = object_of(request.values);
  const auto done = handle->finish(*end, std::as_bytes(std::span(values)));
  if (done || done.error().code != Code::corrupt) return success();
  handle->fail(done.error());  // the caller must not wait forever
  return done;
}

}  // namespace hyphos::gateway::rosbridge
