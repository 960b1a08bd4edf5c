#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hyphos/node.hpp"
#include "hyphos/remote_params.hpp"
#include "view/panels/list.hpp"
#include "view/panels/session.hpp"
#include "view/panels/tasks.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

constexpr std::int64_t kListNodes = 2'000'000'000;  // ns, of the list of nodes

/// A value that the user has changed, until its owner has replied.
struct Edit {
  ParamVariant value;
  bool sent = false;
  std::string problem;
};
using Edits = std::map<std::string, Edit>;

/// The parameters of a node, edited in place.
class Parameters final : public Panel {
 public:
  void draw(Session& session) override {
    const Theme& theme = session.theme();
    if (session.node() == nullptr) {
      return empty_hint(theme, "A recording has no node whose parameters could be read.");
    }
    find_nodes(session);
    draw_choice(session);
    if (node_.empty()) {
      return empty_hint(
          theme, nodes_.empty() ? "No node of this domain has parameters." : "Choose a node.");
    }
    open(session);
    if (!params_) return error_note(theme, problem_);
    const ParamSet values = params_->values();
    if (values.size() == 0) {
      return empty_hint(theme, "Waiting for the parameters of '" + node_ + "'.");
    }
    if (!params_->present()) {
      colored_text(theme.warn, "The node has ended. These are its last values.");
    }
    draw_table(session, values);
  }

  [[nodiscard]] bool waits() const override {
    return !node_.empty() && (!params_ || params_->values().size() == 0);
  }
  void forget() override {
    if (params_) params_->close();
    params_.reset();
    edits_->clear();
    listed_ns_ = 0;
  }
  [[nodiscard]] std::string subject() const override { return node_; }
  Result<void> load(const Settings& settings) override {
    read_word(settings, "node", node_);
    return {};
  }
  [[nodiscard]] Settings save() const override {
    Settings made;
    if (!node_.empty()) made.emplace("node", node_);
    return made;
  }

  ~Parameters() override {
    if (params_) params_->close();
  }

 private:
  void find_nodes(Session& session) {
    if (listed_ns_ != 0 && session.frame_ns() - listed_ns_ < kListNodes) return;
    listed_ns_ = session.frame_ns();
    if (auto found = nodes_with_params(session.source().domain())) nodes_ = std::move(*found);
  }

  void draw_choice(Session& session) {
    const Theme& theme = session.theme();
    ImGui::SetNextItemWidth(std::max(ImGui::GetContentRegionAvail().x * 0.45F, theme.px(110)));
    if (ImGui::BeginCombo("##node", node_.empty() ? "choose a node" : node_.c_str())) {
      for (const std::string& name : nodes_) {
        if (!ImGui::Selectable(name.c_str(), name == node_)) continue;
        forget();
        node_ = name;
        session.edited("choose a node");
      }
      ImGui::EndCombo();
    }
    ImGui::SameLine();
    search_field("##filter", "Filter parameters", filter_);
  }

  void open(Session& session) {
    if (params_) return;
    try {
      params_.emplace(session.node()->remote_params(node_));
      params_->watch([&session](const ParamSet&) { session.post([] {}); });
    } catch (const Exception& error) {
      params_.reset();
      problem_ = error.what();
    }
  }

  void draw_table(Session& session, const ParamSet& values) {
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_Resizable |
                                       ImGuiTableFlags_NoBordersInBody | ImGuiTableFlags_RowBg;
    if (!ImGui::BeginTable("params", 3, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("Parameter", ImGuiTableColumnFlags_WidthStretch, 2);
    ImGui::TableSetupColumn("Value", ImGuiTableColumnFlags_WidthStretch, 2);
    ImGui::TableSetupColumn("Unit", ImGuiTableColumnFlags_WidthStretch, 0.7F);
    ImGui::TableHeadersRow();
    for (const auto& info : values.infos()) {
      if (matches(filter_, info->name + " " + info->description)) draw_row(session, *info);
    }
    ImGui::EndTable();
  }

  void draw_row(Session& session, const ParamInfo& info) {
    const Theme& theme = session.theme();
    ImGui::PushID(info.name.c_str());
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(info.name.c_str());
    std::string help = info.description;
    if (const std::string allowed = info.allowed(); !allowed.empty()) {
      help += (help.empty() ? "" : "\n") + ("allowed: " + allowed);
    }
    help += (help.empty() ? "" : "\n") + ("default: " + to_yaml(info.standard));
    help += "\nvalue from: " + std::string(to_string(info.origin));
    if (info.read_only) help += "\nread only";
    tooltip(help);
    if (!info.read_only && ImGui::BeginPopupContextItem("menu")) {
      if (ImGui::MenuItem("Set to the default")) send(session, info.name, info.standard);
      ImGui::EndPopup();
    }
    ImGui::TableNextColumn();
    draw_value(session, info);
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    dim_text(theme, info.unit);
    ImGui::PopID();
  }

  void draw_value(Session& session, const ParamInfo& info) {
    const auto pending = edits_->find(info.name);
    ParamVariant value = pending == edits_->end() ? info.value : pending->second.value;
    ImGui::BeginDisabled(info.read_only);
    ImGui::SetNextItemWidth(-FLT_MIN);
    bool changed = false;
    bool done = false;
    if (auto* flag = std::get_if<bool>(&value)) {
      changed = done = ImGui::Checkbox("##value", flag);
    } else if (auto* integer = std::get_if<std::int64_t>(&value)) {
      changed = edit_integer(info, *integer);
      done = ImGui::IsItemDeactivatedAfterEdit();
    } else if (auto* real = std::get_if<double>(&value)) {
      changed = edit_real(info, *real);
      done = ImGui::IsItemDeactivatedAfterEdit();
    } else if (auto* text = std::get_if<std::string>(&value);
               text != nullptr && !info.choices.empty()) {
      changed = done = edit_choice(info, *text);
    } else {
      changed = done = edit_text(info, value);
    }
    ImGui::EndDisabled();
    if (changed) (*edits_)[info.name] = {value, false, ""};
    if (done) send(session, info.name, value);
    if (const auto edit = edits_->find(info.name); edit != edits_->end()) {
      if (!edit->second.problem.empty()) error_note(session.theme(), edit->second.problem);
    }
  }

  static bool edit_integer(const ParamInfo& info, std::int64_t& value) {
    const auto* range = std::get_if<ParamRange<std::int64_t>>(&info.range);
    constexpr std::uint64_t kSlider = 1000;
    // Unsigned, because the range of another node may have all 64 bits.
    const auto width = [&] {
      return static_cast<std::uint64_t>(range->most) - static_cast<std::uint64_t>(range->least);
    };
    if (range != nullptr && range->bounded() && range->most > range->least && width() <= kSlider) {
      return ImGui::SliderScalar("##value", ImGuiDataType_S64, &value, &range->least, &range->most,
                                 nullptr, ImGuiSliderFlags_AlwaysClamp);
    }
    return ImGui::InputScalar("##value", ImGuiDataType_S64, &value);
  }

  static bool edit_real(const ParamInfo& info, double& value) {
    const auto* range = std::get_if<ParamRange<double>>(&info.range);
    constexpr double kFar = 1e9;
    if (range != nullptr && range->least > -kFar && range->most < kFar &&
        range->most > range->least) {
      return ImGui::SliderScalar("##value", ImGuiDataType_Double, &value, &range->least,
                                 &range->most, "%.6g", ImGuiSliderFlags_AlwaysClamp);
    }
    return ImGui::InputScalar("##value", ImGuiDataType_Double, &value, nullptr, nullptr, "%.10g");
  }

  static bool edit_choice(const ParamInfo& info, std::string& text) {
    bool changed = false;
    if (!ImGui::BeginCombo("##value", text.c_str())) return false;
    for (const std::string& word : info.choices) {
      if (ImGui::Selectable(word.c_str(), word == text)) {
        text = word;
        changed = true;
      }
    }
    ImGui::EndCombo();
    return changed;
  }

  /// Texts, bytes and lists as one line of YAML.
  bool edit_text(const ParamInfo& info, ParamVariant& value) {
    const bool editing = typed_name_ == info.name;
    const bool plain = std::holds_alternative<std::string>(value);
    std::string text = editing ? typed_ : plain ? std::get<std::string>(value) : to_yaml(value);
    const bool entered = ImGui::InputText("##value", &text, ImGuiInputTextFlags_EnterReturnsTrue);
    if (ImGui::IsItemActive()) {
      typed_name_ = info.name;
      typed_ = text;
    } else if (editing) {
      typed_name_.clear();
    }
    if (!entered) return false;
    typed_name_.clear();
    if (plain) {
      value = text;
      return true;
    }
    auto parsed = parse_param(info.type(), text);
    if (!parsed) {
      (*edits_)[info.name] = {info.value, true, parsed.error().message};
      return false;
    }
    value = std::move(*parsed);
    return true;
  }

  void send(Session& session, const std::string& name, const ParamVariant& value) {
    (*edits_)[name] = {value, true, ""};
    const bool started = tasks_.run([params = *params_, name, value, edits = edits_, &session] {
      const auto set = params.set({{name, value}}, Duration::from_ms(3000));
      session.post([edits, name, problem = set ? std::string() : set.error().message] {
        const auto edit = edits->find(name);
        if (edit == edits->end()) return;
        if (problem.empty()) {
          edits->erase(edit);
        } else {
          edit->second.problem = problem;
        }
      });
    });
    if (!started) (*edits_)[name].problem = "too many changes wait for their node";
  }

  std::string node_;
  std::string filter_;
  std::vector<std::string> nodes_;
  std::int64_t listed_ns_ = 0;
  std::optional<RemoteParams> params_;
  std::string problem_;
  std::string typed_name_;  // the text that is being typed, of this parameter
  std::string typed_;
  std::shared_ptr<Edits> edits_ = std::make_shared<Edits>();  // shared with posted functions
  Tasks tasks_;
};

}  // namespace

PanelKind panels::parameters() {
  return {.name = "parameters",
          .title = "Parameters",
          .help = "the parameters of a node, edited in place",
          .settings = {"node"},
          .types = {},
          .live_only = true,
          .make = [] { return std::unique_ptr<Panel>(new Parameters); }};
}

}  // namespace hyphos::view
