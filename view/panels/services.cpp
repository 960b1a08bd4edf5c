#include <google/protobuf/message.h>
#include <imgui.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hyphos/inspect.hpp"
#include "hyphos/node.hpp"
#include "hyphos/service.hpp"
#include "view/core/fields.hpp"
#include "view/core/types.hpp"
#include "view/panels/call_panel.hpp"
#include "view/panels/list.hpp"
#include "view/panels/message_form.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

/// A form for the request of a service, and its reply.
class Services final : public CallPanel {
 public:
  Services() : CallPanel("service", "Call") {}

  void forget() override {
    CallPanel::forget();
    client_ = RawClient();
  }

 protected:
  [[nodiscard]] std::string no_calls() const override {
    return "No node of this domain serves a service.";
  }

  void send(Session& session, const CallInfo& call, RawMessage request) override {
    if (call.parts.size() != 2) return fail("the type of the service is unknown");
    if (!client_ || opened_ != call.name) {
      auto made = session.node()->raw_client(call.name, service_type(call.parts[0], call.parts[1]));
      if (!made) return fail(made.error().message);
      client_ = std::move(*made);
      opened_ = call.name;
    }
    const auto state = begin();
    client_.call_async(std::move(request), Duration::from_ms(10'000),
                       [state, reply = call.parts[1], &session](Result<MessageRef> result) {
                         session.post([state, reply, result = std::move(result), &session] {
                           state->running = false;
                           if (!result) {
                             state->problem = result.error().to_string();
                           } else {
                             state->show(session, reply, *result);
                           }
                         });
                       });
  }

 private:
  RawClient client_;
  std::string opened_;
};

}  // namespace

PanelKind panels::services() {
  return {.name = "services",
          .title = "Services",
          .help = "a form for the request of a service, and its reply",
          .settings = {"name"},
          .types = {},
          .live_only = true,
          .make = [] { return std::unique_ptr<Panel>(new Services); }};
}

}  // namespace hyphos::view
