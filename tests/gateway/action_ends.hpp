#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/gateway/fake_graph.hpp"
#include "tests/gateway/heard.hpp"

namespace hyphos::gateway {

/// The action that the tests pass through gateways. A FakeGraph does not parse its messages.
inline const std::string kCountAction = "/count";

/// A node of the robot that executes goals as their texts demand: "count N" sends N times feedback
/// and succeeds, "wait" ends when it is canceled, "fail" has no result.
class CountServer {
 public:
  CountServer(FakeGraph& facade, const std::string& type, Form form,
              std::function<std::string(std::string_view)> wrap,
              std::function<std::string(std::string_view)> unwrap,
              std::function<std::string(std::string_view)> wrap_result)
      : wrap_(std::move(wrap)), unwrap_(std::move(unwrap)), wrap_result_(std::move(wrap_result)) {
    ActionCallbacks callbacks;
    callbacks.execute = [this](const Buffer& goal, const ServedGoalRef& handle) {
      execute(unwrap_(goal.text()), handle);
    };
    callbacks.cancel = [this](const ServedGoalRef& handle) {
      finish(handle, GoalEnd::canceled, "stopped");
    };
    server_ = facade.actions()
                  .open_server({"robot"}, kCountAction, type, form, std::move(callbacks))
                  .or_throw();
  }
  [[nodiscard]] std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }
  void close() { server_.reset(); }

 private:
  void execute(const std::string& goal, const ServedGoalRef& handle) {
    if (goal == "wait") {
      {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(handle);
      }
      (void)handle->feedback(bytes_of(wrap_("waiting")));
    } else if (goal == "fail") {
      handle->fail({Code::unsupported, "only upwards", ""});
    } else {
      const int count = std::stoi(goal.substr(goal.find(' ') + 1));
      for (int i = 1; i <= count; ++i) (void)handle->feedback(bytes_of(wrap_(std::to_string(i))));
      finish(handle, GoalEnd::succeeded, "counted");
    }
  }
  void finish(const ServedGoalRef& handle, GoalEnd end, std::string_view text) {
    (void)handle->finish(end, bytes_of(wrap_result_(text)));
    const std::lock_guard lock(mutex_);
    std::erase(waiting_, handle);
  }

  const std::function<std::string(std::string_view)> wrap_;
  const std::function<std::string(std::string_view)> unwrap_;
  const std::function<std::string(std::string_view)> wrap_result_;
  std::mutex mutex_;
  std::vector<ServedGoalRef> waiting_;
  std::unique_ptr<ActionServer> server_;
};

/// A goal of the robot, with everything that came back.
class CountGoal {
 public:
  CountGoal(FakeGraph& facade, const std::string& type, Form form, const std::string& goal) {
    GoalCallbacks callbacks;
    callbacks.feedback = [state = state_](const Buffer& feedback) {
      const std::lock_guard lock(state->mutex);
      state->feedback.emplace_back(feedback.text());
      state->changed.notify_all();
    };
    callbacks.end = [state = state_](Result<GoalResult> end) {
      const std::lock_guard lock(state->mutex);
      state->end = std::move(end);
      state->changed.notify_all();
    };
    sent_ =
        facade.actions()
            .send_goal({"robot"}, kCountAction, type, form, bytes_of(goal), std::move(callbacks))
            .or_throw();
  }
  void cancel() { sent_->cancel(); }
  /// The goal loses its client.
  void drop() { sent_.reset(); }
  std::vector<std::string> feedback(std::size_t count) {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait_for(lock, std::chrono::seconds(30),
                             [&] { return state_->feedback.size() >= count; });
    return state_->feedback;
  }
  Result<GoalResult> end() {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait_for(lock, std::chrono::seconds(30),
                             [&] { return state_->end.has_value(); });
    return state_->end.value_or(Error{Code::timeout, "the goal has not ended", ""});
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> feedback;
    std::optional<Result<GoalResult>> end;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::unique_ptr<SentGoal> sent_;
};

}  // namespace hyphos::gateway
