#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "view/displays/pixels.hpp"
#include "view/panels/list.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"
#include "view/scene/renderer.hpp"

namespace hyphos::view {
namespace {

/// The newest image of a channel. Decoded only when it is drawn.
class ImagePanel final : public Panel {
 public:
  [[nodiscard]] std::set<std::string> channels() const override {
    return channel_.empty() ? std::set<std::string>{} : std::set<std::string>{channel_};
  }
  bool take(Session&, const Channel& channel, const Sample& sample) override {
    if (channel.name != channel_) return false;
    newest_ = sample;
    type_ = channel.type;
    return true;
  }
  void clear() override {
    newest_.reset();
    has_picture_ = false;
    problem_.clear();
  }
  bool accept(Session& session, const std::string& channel, const std::string&) override {
    choose(session, channel);
    return true;
  }
  [[nodiscard]] std::string subject() const override { return channel_; }
  [[nodiscard]] std::size_t memory() const override {
    return (texture_ ? texture_->bytes() : 0) + (pixels_ ? pixels_->bytes.size() : 0);
  }

  void draw(Session& session) override {
    const Theme& theme = session.theme();
    if (channel_.empty()) {
      std::string channel;
      if (channel_combo(session, "##channel", channel, {kTypes[0], kTypes[1]})) {
        choose(session, channel);
        session.edited("choose a channel");
      }
      return empty_hint(theme, "Choose a channel with images, or drop one here.");
    }
    decode(session);
    if (!problem_.empty()) return error_note(theme, problem_);
    if (!has_picture_) return empty_hint(theme, "No image on '" + channel_ + "' yet.");
    draw_picture(session);
  }

  Result<void> load(const Settings& settings) override {
    read_word(settings, "channel", channel_);
    for (const auto& [key, target] :
         {std::pair{"low", &range_.low}, std::pair{"high", &range_.high}}) {
      const auto it = settings.find(key);
      if (it == settings.end()) continue;
      char* end = nullptr;
      const std::string text(it->second.word());
      *target = std::strtod(text.c_str(), &end);
      if (text.empty() || *end != '\0' || !std::isfinite(*target)) {
        return Error{Code::invalid_config,
                     std::string(key) + ": expected a depth, found '" + text + "'",
                     it->second.where};
      }
    }
    return {};
  }
  [[nodiscard]] Settings save() const override {
    Settings made;
    if (!channel_.empty()) made.emplace("channel", channel_);
    if (range_.low != 0) made.emplace("low", number_text(range_.low));
    if (range_.high != 0) made.emplace("high", number_text(range_.high));
    return made;
  }

 private:
  static constexpr const char* kTypes[] = {"hyphos.msgs.Image", "hyphos.msgs.CompressedImage"};

  void choose(Session& session, const std::string& channel) {
    channel_ = channel;
    clear();
    session.reselect();
  }

  void decode(Session& session) {
    if (!newest_) return;
    auto decoded = decode_image(type_, *newest_, range_);
    newest_.reset();
    if (!decoded) {
      problem_ = decoded.error().message;
      has_picture_ = false;
      return;
    }
    problem_.clear();
    pixels_ = std::move(*decoded);
    Store& store = session.renderer();
    if (!texture_) texture_ = store.texture();
    const std::size_t pixel = pixels_->format == PixelFormat::gray8  ? 1
                              : pixels_->format == PixelFormat::rgb8 ? 3
                                                                     : 4;
    texture_->set(pixels_->width, pixels_->height, pixels_->format,
                  static_cast<std::size_t>(pixels_->width) * pixel, pixels_->bytes);
    pixel_bytes_ = pixel;
    has_picture_ = true;
  }

  void draw_picture(Session& session) {
    const Theme& theme = session.theme();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (room.x < 4 || room.y < 4) return;
    ImGui::InvisibleButton("picture", room);
    const auto width = static_cast<float>(texture_->width());
    const auto height = static_cast<float>(texture_->height());
    const float fit = std::min(room.x / width, room.y / height);
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsItemHovered()) {
      if (io.MouseWheel != 0) zoom(io.MousePos, at, room, fit);
      if (ImGui::IsMouseDoubleClicked(0)) {
        zoom_ = 1;
        center_ = {0.5F, 0.5F};
      }
    }
    const float scale = fit * zoom_;
    if (ImGui::IsItemActive() && zoom_ > 1) {
      center_.x -= io.MouseDelta.x / (width * scale);
      center_.y -= io.MouseDelta.y / (height * scale);
    }
    center_.x = std::clamp(center_.x, 0.F, 1.F);
    center_.y = std::clamp(center_.y, 0.F, 1.F);
    const ImVec2 middle{at.x + room.x / 2, at.y + room.y / 2};
    const ImVec2 low{std::round(middle.x - width * scale * center_.x),
                     std::round(middle.y - height * scale * center_.y)};
    const ImVec2 high{low.x + width * scale, low.y + height * scale};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect(at, {at.x + room.x, at.y + room.y}, true);
    list.AddImage(reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(texture_->handle())),
                  low, high);
    list.PopClipRect();
    std::string text = pixels_->description;
    if (ImGui::IsItemHovered()) text += pixel_text(io.MousePos, low, scale);
    caption(theme, at, room, text);
  }

  void zoom(ImVec2 mouse, ImVec2 at, ImVec2 room, float fit) {
    const float before = zoom_;
    zoom_ = std::clamp(zoom_ * std::pow(1.2F, ImGui::GetIO().MouseWheel), 1.F, 64.F);
    if (zoom_ == 1) {
      center_ = {0.5F, 0.5F};
      return;
    }
    // The pixel under the pointer stays there.
    const auto width = static_cast<float>(texture_->width());
    const auto height = static_cast<float>(texture_->height());
    const float x = mouse.x - at.x - room.x / 2;
    const float y = mouse.y - at.y - room.y / 2;
    center_.x += x / (width * fit) * (1 / before - 1 / zoom_);
    center_.y += y / (height * fit) * (1 / before - 1 / zoom_);
  }

  /// "   (12, 34)  #a0b0c0".
  [[nodiscard]] std::string pixel_text(ImVec2 mouse, ImVec2 low, float scale) const {
    const int x = static_cast<int>(std::floor((mouse.x - low.x) / scale));
    const int y = static_cast<int>(std::floor((mouse.y - low.y) / scale));
    if (x < 0 || y < 0 || x >= pixels_->width || y >= pixels_->height) return {};
    const std::size_t index =
        (static_cast<std::size_t>(y) * static_cast<std::size_t>(pixels_->width) +
         static_cast<std::size_t>(x)) *
        pixel_bytes_;
    std::string text = "   (" + std::to_string(x) + ", " + std::to_string(y) + ")  ";
    for (std::size_t i = 0; i < std::min<std::size_t>(pixel_bytes_, 3); ++i) {
      text += (i > 0 ? " " : "") + std::to_string(std::to_integer<int>(pixels_->bytes[index + i]));
    }
    return text;
  }

  static void caption(const Theme& theme, ImVec2 at, ImVec2 room, const std::string& text) {
    ImFont* font = theme.fonts.small;
    const ImVec2 box = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str());
    const ImVec2 low{at.x + theme.px(4), at.y + room.y - box.y - theme.px(8)};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(low, {low.x + box.x + theme.px(10), low.y + box.y + theme.px(4)},
                       fade(theme.surface, 0.75F), theme.px(4));
    list.AddText(font, font->FontSize, {low.x + theme.px(5), low.y + theme.px(2)}, theme.dim,
                 text.c_str());
  }

  std::string channel_;
  std::string type_;
  DepthRange range_;
  std::optional<Sample> newest_;  // not yet decoded
  std::optional<Pixels> pixels_;
  std::size_t pixel_bytes_ = 4;
  std::unique_ptr<Texture> texture_;
  bool has_picture_ = false;
  std::string problem_;
  float zoom_ = 1;
  ImVec2 center_{0.5F, 0.5F};
};

}  // namespace

PanelKind panels::image() {
  return {.name = "image",
          .title = "Image",
          .help = "the newest image of a camera",
          .settings = {"channel", "low", "high"},
          .types = {"hyphos.msgs.Image", "hyphos.msgs.CompressedImage"},
          .make = [] { return std::unique_ptr<Panel>(new ImagePanel); }};
}

}  // namespace hyphos::view
