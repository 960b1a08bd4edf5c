#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hyphos/message.hpp"
#include "view/core/fields.hpp"
#include "view/panels/calls.hpp"
#include "view/panels/panel.hpp"

namespace google::protobuf {
class Message;
}

namespace hyphos::view {

class Session;
struct Theme;

/// The common part of the panels of services and actions: the choice of the call, the form for its
/// request, and the last answer.
class CallPanel : public Panel {
 public:
  ~CallPanel() override;
  void draw(Session& session) override;
  [[nodiscard]] bool waits() const override;
  void forget() override;
  [[nodiscard]] std::string subject() const override { return name_; }
  Result<void> load(const Settings& settings) override;
  [[nodiscard]] Settings save() const override;

 protected:
  /// The answers of one request. Shared with functions that are posted to the view.
  struct Answer {
    bool running = false;
    std::string state;    ///< of a goal
    std::string problem;  ///< instead of a reply
    FieldNode reply;      ///< or the result
    FieldNode feedback;   ///< the newest
    std::uint64_t feedbacks = 0;
    void show(Session& session, const TypeId& type, const MessageRef& message);
    void show_feedback(Session& session, const TypeId& type, const MessageRef& message);
  };

  CallPanel(const char* kind, const char* verb) : kind_(kind), verb_(verb) {}

  [[nodiscard]] virtual std::string no_calls() const = 0;
  /// Sends the request. Reports by begin() or fail().
  virtual void send(Session& session, const CallInfo& call, RawMessage request) = 0;
  /// Asks to end the running call. A button, if it is possible.
  [[nodiscard]] virtual bool can_cancel() const { return false; }
  virtual void cancel() {}

  std::shared_ptr<Answer> begin();
  void fail(std::string problem);
  [[nodiscard]] const std::shared_ptr<Answer>& answer() const { return answer_; }

 private:
  void find(Session& session);
  [[nodiscard]] const CallInfo* chosen() const;
  void draw_choice(Session& session);
  bool make_request(Session& session, const CallInfo& call);
  void draw_answer(const Theme& theme) const;

  const char* kind_;
  const char* verb_;
  std::string name_;
  std::vector<CallInfo> calls_;
  std::int64_t listed_ns_ = 0;
  std::string request_type_;
  std::unique_ptr<google::protobuf::Message> request_;
  std::string request_problem_;
  std::shared_ptr<Answer> answer_;
};

}  // namespace hyphos::view
