#include "view/panels/call_panel.hpp"

#include <google/protobuf/message.h>
#include <imgui.h>

#include <algorithm>

#include "hyphos/envelope.hpp"
#include "hyphos/inspect.hpp"
#include "view/core/types.hpp"
#include "view/panels/message_form.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

constexpr std::int64_t kListCalls = 1'500'000'000;  // ns, of the list of calls

FieldNode tree_of(Session& session, const TypeId& type, const MessageRef& message) {
  Channel channel;
  channel.type = type.name;
  channel.encoding = type.encoding;
  Sample sample;
  if (const Envelope* encoded = message.encoded()) {
    sample.payload = encoded->payload;
    sample.buffers = encoded->buffers;
  }
  return field_tree(channel, sample, session.decoder());
}

void draw_tree(const Theme& theme, const FieldNode& node) {
  for (const FieldNode& child : node.children) {
    if (child.children.empty()) {
      dim_text(theme, child.name);
      ImGui::SameLine(ImGui::GetWindowWidth() * 0.42F);
      ImGui::PushFont(theme.fonts.mono);
      ImGui::TextUnformatted(child.value.empty() ? "-" : child.value.c_str());
      ImGui::PopFont();
      continue;
    }
    ImGui::SetNextItemOpen(true, ImGuiCond_Once);
    if (ImGui::TreeNode(child.name.c_str())) {
      draw_tree(theme, child);
      ImGui::TreePop();
    }
  }
}

}  // namespace

CallPanel::~CallPanel() = default;

void CallPanel::Answer::show(Session& session, const TypeId& type, const MessageRef& message) {
  reply = tree_of(session, type, message);
}

void CallPanel::Answer::show_feedback(Session& session, const TypeId& type,
                                      const MessageRef& message) {
  feedback = tree_of(session, type, message);
  ++feedbacks;
}

std::shared_ptr<CallPanel::Answer> CallPanel::begin() {
  answer_ = std::make_shared<Answer>();
  answer_->running = true;
  return answer_;
}

void CallPanel::fail(std::string problem) {
  answer_ = std::make_shared<Answer>();
  answer_->problem = std::move(problem);
}

void CallPanel::forget() {
  request_.reset();
  request_type_.clear();
  answer_.reset();
  calls_.clear();
  listed_ns_ = 0;
}

Result<void> CallPanel::load(const Settings& settings) {
  read_word(settings, "name", name_);
  return {};
}

Settings CallPanel::save() const {
  Settings made;
  if (!name_.empty()) made.emplace("name", name_);
  return made;
}

void CallPanel::find(Session& session) {
  if (listed_ns_ != 0 && session.frame_ns() - listed_ns_ < kListCalls) return;
  listed_ns_ = session.frame_ns();
  if (const auto processes = inspect(session.source().domain())) {
    calls_ = find_calls(*processes, kind_);
  }
}

/// The call of the name, if a node serves it.
const CallInfo* CallPanel::chosen() const {
  const auto call = std::find_if(calls_.begin(), calls_.end(),
                                 [this](const CallInfo& one) { return one.name == name_; });
  return call == calls_.end() || call->parts.empty() ? nullptr : &*call;
}

bool CallPanel::waits() const {
  return !name_.empty() && (chosen() == nullptr || (answer_ && answer_->running));
}

void CallPanel::draw_choice(Session& session) {
  ImGui::SetNextItemWidth(-1);
  const std::string hint = std::string("choose a ") + kind_;
  if (!ImGui::BeginCombo("##name", name_.empty() ? hint.c_str() : name_.c_str())) return;
  for (const CallInfo& call : calls_) {
    if (ImGui::Selectable(call.name.c_str(), call.name == name_)) {
      name_ = call.name;
      request_.reset();
      answer_.reset();
      session.edited(hint);
    }
    if (!call.parts.empty()) {
      ImGui::SameLine();
      dim_text(session.theme(), short_type(call.parts.front().name));
    }
  }
  ImGui::EndCombo();
}

/// Makes an empty request for the form. False if its type has no form.
bool CallPanel::make_request(Session& session, const CallInfo& call) {
  const TypeId& type = call.parts.front();
  if (request_type_ != type.name) {
    request_type_ = type.name;
    request_.reset();
    request_problem_.clear();
  }
  if (request_ || !request_problem_.empty()) return request_ != nullptr;
  if (type.encoding != Encoding::protobuf && type.encoding != Encoding::attached) {
    request_problem_ = "'" + type.name +
                       "' is no protobuf message, so it has no form. Use `hyphos " + kind_ +
                       (kind_ == std::string("action") ? " send" : " call") + " --hex`";
    return false;
  }
  auto made = session.decoder().parse(type.name, {});
  if (!made) {
    request_problem_ = made.error().message;
    return false;
  }
  request_ = std::move(*made);
  return true;
}

void CallPanel::draw(Session& session) {
  const Theme& theme = session.theme();
  if (session.node() == nullptr) {
    return empty_hint(theme, "A recording has no node that could reply.");
  }
  find(session);
  draw_choice(session);
  if (name_.empty()) return empty_hint(theme, calls_.empty() ? no_calls() : "Choose one.");
  const CallInfo* const call = chosen();
  if (call == nullptr) {
    return empty_hint(theme, "No node serves '" + name_ + "' now. The panel waits for it.");
  }
  const std::string server = call->node.empty() ? "no server" : "served by " + call->node;
  dim_text(theme, server + ", " + count_text(call->requests) +
                      (call->requests == 1 ? " request" : " requests"));
  ImGui::BeginChild("form");
  if (make_request(session, *call)) {
    edit_message(theme, *request_);
    ImGui::Spacing();
    const bool running = answer_ && answer_->running;
    ImGui::BeginDisabled(running);
    if (ImGui::Button(verb_, {theme.px(110), 0})) {
      std::string bytes;
      if (request_->SerializeToString(&bytes)) {
        send(session, *call, RawMessage{Buffer::copy_of(std::string_view(bytes)), {}});
      }
    }
    ImGui::EndDisabled();
    if (running && can_cancel()) {
      ImGui::SameLine();
      if (ImGui::Button("Cancel")) cancel();
    }
  } else {
    error_note(theme, request_problem_);
  }
  if (answer_) draw_answer(theme);
  ImGui::EndChild();
}

void CallPanel::draw_answer(const Theme& theme) const {
  ImGui::Separator();
  if (!answer_->state.empty()) colored_text(theme.accent, answer_->state);
  if (answer_->running && answer_->state.empty()) dim_text(theme, "waiting for the reply");
  if (answer_->feedbacks > 0) {
    dim_text(theme, "feedback " + count_text(answer_->feedbacks));
    draw_tree(theme, answer_->feedback);
  }
  if (answer_->running) return;
  if (!answer_->problem.empty()) return error_note(theme, answer_->problem);
  dim_text(theme, "reply");
  if (answer_->reply.children.empty()) {
    ImGui::TextUnformatted(answer_->reply.value.empty() ? "empty" : answer_->reply.value.c_str());
  }
  draw_tree(theme, answer_->reply);
}

}  // namespace hyphos::view
