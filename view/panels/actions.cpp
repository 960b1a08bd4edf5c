#include <memory>
#include <string>

#include "hyphos/action.hpp"
#include "hyphos/node.hpp"
#include "view/panels/call_panel.hpp"
#include "view/panels/list.hpp"
#include "view/panels/session.hpp"

namespace hyphos::view {
namespace {

/// A form for the goal of an action, with its feedback and its result.
class Actions final : public CallPanel {
 public:
  Actions() : CallPanel("action", "Send") {}

  void forget() override {
    CallPanel::forget();
    goal_ = RawSentGoal();
    client_ = RawActionClient();
  }

 protected:
  [[nodiscard]] std::string no_calls() const override {
    return "No node of this domain serves an action.";
  }
  [[nodiscard]] bool can_cancel() const override { return static_cast<bool>(goal_); }
  void cancel() override {
    goal_.cancel();
    if (answer()) answer()->state = "canceling";
  }

  void send(Session& session, const CallInfo& call, RawMessage request) override {
    if (call.parts.size() != 3) return fail("the type of the action is unknown");
    if (!client_ || opened_ != call.name) {
      auto made = session.node()->raw_client(
          call.name, action_type(call.parts[0], call.parts[1], call.parts[2]));
      if (!made) return fail(made.error().message);
      client_ = RawActionClient(std::move(*made));
      opened_ = call.name;
    }
    const auto state = begin();
    state->state = "sent";
    goal_ = client_.send(std::move(request),
                         [state, type = call.parts[1], &session](const MessageRef& feedback) {
                           session.post([state, type, feedback, &session] {
                             if (state->state == "sent") state->state = "running";
                             state->show_feedback(session, type, feedback);
                           });
                         });
    goal_.on_result([state, type = call.parts[2], &session](Result<GoalResult<MessageRef>> result) {
      session.post([state, type, result = std::move(result), &session] {
        state->running = false;
        if (!result) {
          state->state = "failed";
          state->problem = result.error().to_string();
          return;
        }
        state->state = to_string(result->state);
        state->show(session, type, result->value);
      });
    });
  }

 private:
  RawActionClient client_;
  RawSentGoal goal_;
  std::string opened_;
};

}  // namespace

PanelKind panels::actions() {
  return {.name = "actions",
          .title = "Actions",
          .help = "a form for the goal of an action, with its feedback and its result",
          .settings = {"name"},
          .types = {},
          .live_only = true,
          .make = [] { return std::unique_ptr<Panel>(new Actions); }};
}

}  // namespace hyphos::view
