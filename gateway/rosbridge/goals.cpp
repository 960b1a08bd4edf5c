#include "gateway/rosbridge/goals.hpp"

#include <utility>

#include "gateway/rosbridge/arguments.hpp"
#include "gateway/rosbridge/goal_status.hpp"
#include "gateway/rosbridge/json_text.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

std::string result_head(const std::string& action) {
  return R"({"op":"action_result","action":)" + json_string(action) + R"(,"values":)";
}

std::string result_tail(const std::string& id, GoalEnd end, bool result) {
  return R"(,"status":)" + std::to_string(status_of(end)) + R"(,"result":)" +
         (result ? "true" : "false") + id_member(id) + "}";
}

void fail_goal(Context& context, const std::string& action, const std::string& id,
               const Shape& shape, const Error& error) {
  context.count("goal", action + ": " + error.message);
  std::string text = error.message;
  if (!error.where.empty()) text += " (" + error.where + ")";
  // A goal that is canceled before it began has no result.
  const GoalEnd end = error.code == Code::canceled ? GoalEnd::canceled : GoalEnd::aborted;
  context.send(result_head(action) + json_string(text) + result_tail(id, end, false), shape);
}

/// The frames of `head`, `values` and `tail`.
Result<std::vector<Frame>> frames_around(Context& context, const Shape& shape,
                                         const std::string& head, const Buffer& values,
                                         const std::string& tail) {
  const Form form = context.form_of(shape);
  if (form == Form::cbor) {
    return std::vector<Frame>{frame_around(head, "values", values, form, tail)};
  }
  return context.frames(head + std::string(values.text()) + tail, shape);
}

void tell_feedback(Context& context, const std::string& action, const std::string& id,
                   const Shape& shape, const Buffer& feedback) {
  if (feedback.size() > context.options.max_message) return context.count("too_big", action);
  const std::string head =
      R"({"op":"action_feedback","action":)" + json_string(action) + R"(,"values":)";
  const auto frames = frames_around(context, shape, head, feedback, id_member(id) + "}");
  if (!frames) return context.count("fragments", frames.error().message);
  std::size_t dropped = context.sink.send(kFeedbackOutput, context.options.queue_depth, *frames);
  for (; dropped > 0; --dropped) context.count("slow_client", action);
}

}  // namespace

void Goals::end() {
  // destroyed after the lock is released, because the destructor waits
  std::map<std::string, std::shared_ptr<SentGoal>> ended;
  const MutexLock lock(open_->mutex);
  ended.swap(open_->goals);
}

Result<void> Goals::send(const Request& request) {
  if (auto given = required(request.action, "action"); !given) return given;
  const auto shape = shape_of(request);
  if (!shape) return shape.error();
  const std::string key = request.id.empty() ? "#" + std::to_string(nameless_++) : request.id;
  {
    const MutexLock lock(open_->mutex);
    if (open_->goals.contains(key)) {
      return Error{Code::already_exists, "a goal with this id is already active", request.action};
    }
    const std::size_t most = context_.options.limits.client_calls;
    if (open_->goals.size() >= most) {
      return Error{Code::overloaded,
                   at_limit("this client", most, "active goals", "--max-calls-per-client"),
                   request.action};
    }
    open_->goals[key] = nullptr;
  }
  if (const auto started = start(request, key, *shape); !started) {
    {
      const MutexLock lock(open_->mutex);
      open_->goals.erase(key);
    }
    fail_goal(context_, request.action, request.id, *shape, started.error());
  }
  return success();
}

Result<void> Goals::start(const Request& request, const std::string& key, const Shape& shape) {
  const std::string name = absolute(request.action);
  const auto args = arguments_object(request.args, name, [&]() -> Result<TypeInfo> {
    if (request.action_type.empty()) {
      return Error{Code::corrupt, "'args' is a list, so 'action_type' is required", name};
    }
    const auto type = context_.facade.types().action(request.action_type);
    if (!type) return type.error();
    return context_.facade.types().message(type->goal);
  });
  if (!args) return args.error();
  const Forms forms{Form::json, context_.form_of(shape)};
  auto sent = context_.facade.actions().send_goal(context_.client, name, request.action_type, forms,
                                                  std::as_bytes(std::span(*args)),
                                                  callbacks(request, key, shape));
  if (!sent) return sent.error();
  std::shared_ptr<SentGoal> goal = *std::move(sent);
  const MutexLock lock(open_->mutex);
  const auto place = open_->goals.find(key);
  if (place != open_->goals.end()) place->second.swap(goal);
  return success();
}

GoalCallbacks Goals::callbacks(const Request& request, const std::string& key, const Shape& shape) {
  GoalCallbacks callbacks;
  if (request.feedback) {
    callbacks.feedback = [gate = gate_, action = request.action, id = request.id,
                          shape](const Buffer& feedback) {
      gate->pass([&](Context& context) { tell_feedback(context, action, id, shape, feedback); });
    };
  }
  callbacks.end = [gate = gate_, open = open_, action = request.action, id = request.id, key,
                   shape](Result<GoalResult> end) {
    // destroyed after the lock is released, because its destructor is foreign code
    std::shared_ptr<SentGoal> ended;
    {
      // Done before the client is notified, because it may reuse the id at once.
      const MutexLock lock(open->mutex);
      const auto place = open->goals.find(key);
      if (place != open->goals.end()) {
        ended = std::move(place->second);
        open->goals.erase(place);
      }
    }
    gate->pass([&](Context& context) {
      if (!end) return fail_goal(context, action, id, shape, end.error());
      if (end->result.size() > context.options.max_message) {
        return fail_goal(
            context, action, id, shape,
            {Code::exhausted, "the result is larger than --max-message allows", action});
      }
      const auto frames = frames_around(context, shape, result_head(action), end->result,
                                        result_tail(id, end->end, true));
      if (!frames) return context.status(Level::error, frames.error().message, "");
      (void)context.sink.send(kControlOutput, 0, *frames);
    });
  };
  return callbacks;
}

Result<void> Goals::cancel(const Request& request) {
  std::shared_ptr<SentGoal> goal;
  {
    const MutexLock lock(open_->mutex);
    const auto found = open_->goals.find(request.id);
    if (found != open_->goals.end()) goal = found->second;
  }
  if (!goal) return Error{Code::not_found, "no goal with this id is active", request.action};
  goal->cancel();
  return success();
}

}  // namespace hyphos::gateway::rosbridge
