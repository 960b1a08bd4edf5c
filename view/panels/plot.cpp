#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "view/core/picture.hpp"
#include "view/core/types.hpp"
#include "view/panels/list.hpp"
#include "view/panels/plot_canvas.hpp"
#include "view/panels/plot_series.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"
#include "view/scene/renderer.hpp"

namespace hyphos::view {
namespace {

constexpr std::size_t kMostSeries = 32;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr double kLeastWindow = 1e-3;  // s
constexpr double kMostWindow = 1e6;

/// Numbers of messages over time.
class Plot final : public Panel {
 public:
  [[nodiscard]] std::set<std::string> channels() const override {
    std::set<std::string> names;
    for (const PlotSeries& one : series_) names.insert(one.channel);
    return names;
  }
  [[nodiscard]] std::int64_t history_ns() const override {
    return series_.empty() ? 0 : static_cast<std::int64_t>(window_s_ * 1e9);
  }
  [[nodiscard]] std::size_t memory() const override {
    std::size_t sum = 0;
    for (const PlotSeries& one : series_) sum += one.samples.bytes();
    return sum;
  }
  bool drop_oldest() override {
    const auto largest = std::ranges::max_element(
        series_, {}, [](const PlotSeries& one) { return one.samples.size(); });
    if (largest == series_.end() || largest->samples.empty()) return false;
    largest->samples.drop_oldest();
    return true;
  }

  bool take(Session& session, const Channel& channel, const Sample& sample) override {
    bool changed = false;
    for (PlotSeries& one : series_) {
      if (one.channel != channel.name) continue;
      if (!one.path && one.problem.empty()) compile(session, one, channel);
      if (!one.path) continue;
      if (const auto value = one.path->read(sample.payload.bytes())) {
        one.samples.append(sample.time_ns, *value);
        changed = changed || !paused_;
      } else {
        ++one.absent;
      }
    }
    return changed;
  }
  void clear() override {
    for (PlotSeries& one : series_) one.samples.clear();
  }

  bool accept(Session& session, const std::string& channel, const std::string& field) override {
    if (field.empty()) {
      choice_ = channel;
      choose_ = true;
      return true;
    }
    add(session, channel, field);
    return true;
  }

  [[nodiscard]] bool shows_fields() const override { return true; }

  void draw(Session& session) override {
    draw_bar(session);
    draw_choice(session);
    const ImVec2 min = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (series_.empty()) {
      empty_hint(session.theme(), "Drag a number of a message here, or press +.");
      return;
    }
    if (room.x < 80 || room.y < 50) return;
    ImGui::InvisibleButton("canvas", room,
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
    drop_channel([&](const std::string& channel, const std::string& field) {
      accept(session, channel, field);
    });
    const bool hovered = ImGui::IsItemHovered();
    const bool active = ImGui::IsItemActive();
    if (!paused_) follow(session);
    choose_values();
    const PlotCanvas canvas(session.theme(), min, {min.x + room.x, min.y + room.y}, range_,
                            zero(session));
    if (hovered || active) interact(session, canvas, hovered);
    canvas.draw_axes();
    for (const PlotSeries& one : series_) {
      if (one.visible) canvas.draw_line(one.samples, session.theme().line(one.color));
    }
    if (!session.timeline().live && paused_) {
      canvas.draw_instant(session.timeline().now_ns, fade(session.theme().accent, 0.7F));
    }
    draw_legend(session, canvas, hovered);
    if (take_picture_) {
      take_picture_ = false;
      request_picture(session, min, room);
    }
  }

  Result<void> load(const Settings& settings) override {
    if (const auto it = settings.find("fields"); it != settings.end()) {
      for (const std::string& word : it->second.words) {
        const auto name = parse_series_name(word);
        if (!name) {
          return Error{Code::invalid_config,
                       "fields: expected 'channel:field', found '" + word + "'", it->second.where};
        }
        if (series_.size() < kMostSeries) append(name->channel, name->field);
      }
    }
    for (const auto& [key, target, least, most] :
         {std::tuple{"window_s", &window_s_, kLeastWindow, kMostWindow},
          std::tuple{"low", &fixed_low_, -1e300, 1e300},
          std::tuple{"high", &fixed_high_, -1e300, 1e300}}) {
      const auto it = settings.find(key);
      if (it == settings.end()) continue;
      char* end = nullptr;
      const std::string text(it->second.word());
      const double value = std::strtod(text.c_str(), &end);
      const bool inside = value >= least && value <= most;  // false for NaN
      if (text.empty() || *end != '\0' || !inside) {
        return Error{Code::invalid_config,
                     std::string(key) + ": expected a number, found '" + text + "'",
                     it->second.where};
      }
      *target = value;
    }
    return {};
  }
  [[nodiscard]] Settings save() const override {
    Settings made;
    if (!series_.empty()) {
      std::vector<std::string> names;
      names.reserve(series_.size());
      for (const PlotSeries& one : series_) names.push_back(one.name());
      made.emplace("fields", Setting::of(std::move(names)));
    }
    if (window_s_ != 10) made.emplace("window_s", number_text(window_s_));
    if (!std::isnan(fixed_low_)) made.emplace("low", number_text(fixed_low_));
    if (!std::isnan(fixed_high_)) made.emplace("high", number_text(fixed_high_));
    return made;
  }

 private:
  static void compile(Session& session, PlotSeries& one, const Channel& channel) {
    if (!channel.problem.empty()) {
      one.problem = channel.problem;
      return;
    }
    const google::protobuf::Descriptor* type = session.decoder().find(channel.type);
    if (type == nullptr) {
      one.problem = "no definition of the type '" + channel.type + "' is known";
      return;
    }
    auto path = FieldPath::compile(*type, one.field);
    if (path) {
      one.path = std::move(*path);
    } else {
      one.problem = path.error().message;
    }
  }

  void append(const std::string& channel, const std::string& field) {
    PlotSeries made;
    made.channel = channel;
    made.field = field;
    made.color = next_color_++;
    series_.push_back(std::move(made));
  }

  void add(Session& session, const std::string& channel, const std::string& field) {
    for (const PlotSeries& one : series_) {
      if (one.channel == channel && one.field == field) return;
    }
    if (series_.size() >= kMostSeries) {
      session.notify("a plot has at most " + std::to_string(kMostSeries) + " lines", true);
      return;
    }
    append(channel, field);
    session.reselect();
    session.edited("add a line to the plot");
  }

  [[nodiscard]] std::int64_t zero(Session& session) const {
    if (!session.timeline().live) return session.timeline().range.begin_ns;
    return paused_ ? paused_zero_ : range_.end_ns;  // live: seconds before the newest sample
  }

  /// The last `window_s_` before the newest sample, or before the cursor of a recording.
  void follow(Session& session) {
    std::int64_t end = session.timeline().live ? 0 : session.timeline().now_ns;
    if (session.timeline().live) {
      for (const PlotSeries& one : series_) {
        if (!one.samples.empty()) {
          end = std::max(end, one.samples.at(one.samples.size() - 1).time_ns);
        }
      }
    }
    range_.end_ns = end;
    range_.begin_ns = end - static_cast<std::int64_t>(window_s_ * 1e9);
  }

  void choose_values() {
    if (zoomed_y_) return;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const PlotSeries& one : series_) {
      if (!one.visible || one.samples.empty()) continue;
      const Pyramid::Column sum = one.samples.summary(range_.begin_ns, range_.end_ns + 1);
      if (sum.empty()) continue;
      low = std::min(low, sum.min);
      high = std::max(high, sum.max);
    }
    if (!(low <= high)) {
      low = 0;
      high = 1;
    }
    const double margin = high > low ? (high - low) * 0.06 : std::max(std::abs(high) * 0.1, 0.5);
    range_.low = std::isnan(fixed_low_) ? low - margin : fixed_low_;
    range_.high = std::isnan(fixed_high_) ? high + margin : fixed_high_;
  }

  void pause(Session& session) {
    if (paused_) return;
    paused_zero_ = zero(session);
    paused_ = true;
  }

  void interact(Session& session, const PlotCanvas& canvas, bool hovered) {
    const ImGuiIO& io = ImGui::GetIO();
    if (hovered && ImGui::IsMouseDoubleClicked(0)) {
      paused_ = false;
      zoomed_y_ = false;
      return;
    }
    if (hovered && io.MouseWheel != 0) {
      const double factor = std::pow(0.85, static_cast<double>(io.MouseWheel));
      if (io.KeyCtrl || io.KeyShift || io.MousePos.x < canvas.min().x) {
        const double at = canvas.value_at(io.MousePos.y);
        range_.low = at + (range_.low - at) * factor;
        range_.high = at + (range_.high - at) * factor;
        zoomed_y_ = true;
      } else if (!paused_) {
        window_s_ = std::clamp(window_s_ * factor, kLeastWindow, kMostWindow);
        if (factor > 1) session.reselect();  // a longer past is needed
      } else {
        zoom_time(canvas.time_at(io.MousePos.x), factor);
      }
    }
    const bool panning = ImGui::IsMouseDragging(0, 3) || ImGui::IsMouseDragging(1, 3);
    if (ImGui::IsItemActive() && panning && (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)) {
      pause(session);
      const std::int64_t shift =
          canvas.time_at(io.MousePos.x - io.MouseDelta.x) - canvas.time_at(io.MousePos.x);
      range_.begin_ns += shift;
      range_.end_ns += shift;
      if (zoomed_y_) {
        const double rise =
            canvas.value_at(io.MousePos.y - io.MouseDelta.y) - canvas.value_at(io.MousePos.y);
        range_.low += rise;
        range_.high += rise;
      }
    }
    if (hovered && io.KeyShift && ImGui::IsMouseClicked(0)) {
      session.seek(canvas.time_at(io.MousePos.x));
    }
  }

  void zoom_time(std::int64_t at, double factor) {
    const auto scale = [&](std::int64_t t) {
      return at + static_cast<std::int64_t>(static_cast<double>(t - at) * factor);
    };
    const std::int64_t begin = scale(range_.begin_ns);
    const std::int64_t end = scale(range_.end_ns);
    if (end - begin < static_cast<std::int64_t>(kLeastWindow * 1e9)) return;
    if (end - begin > static_cast<std::int64_t>(kMostWindow) * kSecond) return;
    range_.begin_ns = begin;
    range_.end_ns = end;
  }

  void draw_bar(Session& session) {
    const Theme& theme = session.theme();
    if (icon_button(theme, "add", Icon::plus, "Add a line")) {
      choose_ = true;
    }
    ImGui::SameLine(0, theme.px(2));
    if (icon_button(theme, "pause", paused_ ? Icon::play : Icon::pause,
                    paused_ ? "Follow new samples (double-click)" : "Hold the picture", paused_)) {
      if (paused_) {
        paused_ = false;
        zoomed_y_ = false;
      } else {
        pause(session);
      }
    }
    ImGui::SameLine(0, theme.px(2));
    if (icon_button(theme, "csv", Icon::save, "Save the visible samples as CSV") &&
        !series_.empty()) {
      save_csv(session);
    }
    ImGui::SameLine(0, theme.px(2));
    if (icon_button(theme, "png", Icon::camera, "Save the plot as a PNG picture") &&
        !series_.empty()) {
      take_picture_ = true;
      session.keep_drawing();
    }
    ImGui::SameLine();
    static constexpr std::array<double, 7> kWindows = {1, 5, 10, 30, 60, 300, 3600};
    ImGui::SetNextItemWidth(theme.px(86));
    if (ImGui::BeginCombo("##window", (number_text(window_s_) + " s").c_str(),
                          ImGuiComboFlags_HeightLarge)) {
      for (const double seconds : kWindows) {
        if (ImGui::Selectable((number_text(seconds) + " s").c_str(), seconds == window_s_)) {
          window_s_ = seconds;
          paused_ = false;
          session.reselect();
          session.edited("choose the time span of the plot");
        }
      }
      ImGui::EndCombo();
    }
    tooltip(
        "Time span. Wheel: zoom. Ctrl + wheel: zoom the values. Drag: move. Double-click: all. "
        "Shift + click: go to that time.");
  }

  /// The popup that chooses a channel and one of its numbers.
  void draw_choice(Session& session) {
    if (choose_) {
      ImGui::OpenPopup("choice");
      choose_ = false;
      search_.clear();
    }
    ImGui::SetNextWindowSize({session.theme().px(360), 0});
    if (!ImGui::BeginPopup("choice")) return;
    channel_combo(session, "##channel", choice_, {});
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    search_field("##search", "Search a number", search_);
    const Channel* channel = session.channel(choice_);
    const google::protobuf::Descriptor* type =
        channel == nullptr ? nullptr : session.decoder().find(channel->type);
    ImGui::BeginChild("fields", {0, session.theme().px(260)});
    if (channel != nullptr && type == nullptr) {
      error_note(session.theme(), "No definition of '" + channel->type + "' is known.");
    }
    if (type != nullptr) {
      for (const NumericField& field : numeric_fields(*type)) {
        if (!matches(search_, field.path)) continue;
        std::string path = field.path;  // the first element, to be changed in the layout
        for (std::size_t at = path.find("[]"); at != std::string::npos; at = path.find("[]")) {
          path.replace(at, 2, "[0]");
        }
        if (ImGui::Selectable(path.c_str(), false, ImGuiSelectableFlags_DontClosePopups)) {
          add(session, choice_, path);
        }
        ImGui::SameLine();
        dim_text(session.theme(), field.type);
      }
    }
    ImGui::EndChild();
    ImGui::EndPopup();
  }

  void draw_legend(Session& session, const PlotCanvas& canvas, bool hovered) {
    const Theme& theme = session.theme();
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const bool under = hovered && canvas.contains(mouse);
    const std::int64_t time = under ? canvas.time_at(mouse.x) : 0;
    if (under) canvas.draw_instant(time, fade(theme.dim, 0.6F));
    ImGui::SetCursorScreenPos({canvas.min().x + theme.px(6), canvas.min().y + theme.px(4)});
    ImGui::BeginGroup();
    std::size_t remove = series_.size();
    for (std::size_t i = 0; i < series_.size(); ++i) {
      PlotSeries& one = series_[i];
      ImGui::PushID(static_cast<int>(i));
      const std::uint32_t color = theme.line(one.color);
      std::string text = one.name();
      if (!one.problem.empty()) text += "   " + one.problem;
      if (under && !one.samples.empty()) {
        if (const auto near = one.samples.nearest(time)) {
          text += "   " + number_text(near->value);
          if (one.visible) canvas.draw_mark(near->time_ns, near->value, color);
        }
      } else if (!one.samples.empty()) {
        text += "   " + number_text(one.samples.at(one.samples.size() - 1).value);
      } else if (one.problem.empty() && session.channel(one.channel) == nullptr) {
        text += "   no such channel yet";
      }
      dot(theme, one.visible ? color : theme.faint);
      ImGui::PushFont(theme.fonts.small);
      colored_text(!one.problem.empty() ? theme.bad : one.visible ? theme.text : theme.faint, text);
      ImGui::PopFont();
      if (ImGui::IsItemClicked()) one.visible = !one.visible;
      if (ImGui::BeginPopupContextItem("line")) {
        if (ImGui::MenuItem("Remove")) remove = i;
        ImGui::EndPopup();
      }
      ImGui::PopID();
    }
    ImGui::EndGroup();
    if (remove < series_.size()) {
      series_.erase(series_.begin() + static_cast<std::ptrdiff_t>(remove));
      session.reselect();
      session.edited("remove a line of the plot");
    }
  }

  /// "plot-20261127-143000.csv", in the working directory.
  static std::string file_name(const char* ending) {
    std::array<char, 64> name{};
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    std::strftime(name.data(), name.size(), "plot-%Y%m%d-%H%M%S", &local);
    return std::string(name.data()) + ending;
  }

  void save_csv(Session& session) {
    const std::string name = file_name(".csv");
    const std::string text = series_csv(series_, range_.begin_ns, range_.end_ns, zero(session));
    std::FILE* file = std::fopen(name.c_str(), "wxe");
    const bool fine =
        file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = file == nullptr || std::fclose(file) == 0;
    if (fine && closed) {
      session.notify("saved " + name);
    } else {
      session.notify("cannot write " + name + " in the working directory", true);
    }
  }

  /// Reads the plot from the window, when ImGui has drawn it.
  void request_picture(Session& session, ImVec2 min, ImVec2 room) {
    const ImVec2 scale = ImGui::GetIO().DisplayFramebufferScale;
    const float height = ImGui::GetIO().DisplaySize.y;
    shot_ = {&session, static_cast<int>(min.x * scale.x),
             static_cast<int>((height - min.y - room.y) * scale.y),
             static_cast<int>(room.x * scale.x), static_cast<int>(room.y * scale.y)};
    ImGui::GetWindowDrawList()->AddCallback(
        [](const ImDrawList*, const ImDrawCmd* command) {
          static_cast<const Shot*>(command->UserCallbackData)->save();
        },
        &shot_);
  }

  /// The place of the plot in the window, in pixels.
  struct Shot {
    Session* session = nullptr;
    int left = 0;
    int bottom = 0;
    int width = 0;
    int height = 0;

    void save() const {
      const std::string name = file_name(".png");
      Picture picture;
      picture.width = width;
      picture.height = height;
      picture.rgba = session->renderer().read_window(left, bottom, width, height);
      for (std::size_t at = 3; at < picture.rgba.size(); at += 4) picture.rgba[at] = 255;
      if (const auto saved = write_png(name, picture); saved) {
        session->notify("saved " + name);
      } else {
        session->notify(saved.error().to_string(), true);
      }
    }
  };

  std::vector<PlotSeries> series_;
  std::size_t next_color_ = 0;
  double window_s_ = 10;
  double fixed_low_ = NAN;
  double fixed_high_ = NAN;
  PlotRange range_;
  bool paused_ = false;
  bool zoomed_y_ = false;
  std::int64_t paused_zero_ = 0;
  bool take_picture_ = false;
  Shot shot_;
  bool choose_ = false;
  std::string choice_;
  std::string search_;
};

}  // namespace

PanelKind panels::plot() {
  return {.name = "plot",
          .title = "Plot",
          .help = "numbers of messages over time",
          .settings = {"fields", "window_s", "low", "high"},
          .types = {},
          .make = [] { return std::unique_ptr<Panel>(new Plot); }};
}

}  // namespace hyphos::view
