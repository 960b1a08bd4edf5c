#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "view/core/sample.hpp"
#include "view/panels/theme.hpp"

struct ImVec2;

/// Texts and small widgets that several panels use.
namespace hyphos::view {

class Session;

// Texts. Pure functions.

[[nodiscard]] std::string count_text(std::uint64_t count);  ///< "1,234,567"
[[nodiscard]] std::string bytes_text(double bytes);         ///< "1.2 MB"
[[nodiscard]] std::string rate_text(double hz);             ///< "9.9", "120", "0.2"
[[nodiscard]] std::string duration_text(std::int64_t ns);   ///< "85 µs", "1.2 ms", "3.4 s"
/// Coarse, so that it changes rarely: "now", "4 s", "2 min", "3 h". Negative: "".
[[nodiscard]] std::string age_text(std::int64_t ns);
/// The age at which age_text() changes next.
[[nodiscard]] std::int64_t next_age_ns(std::int64_t ns);
[[nodiscard]] std::string number_text(double value);          ///< at most 6 digits
[[nodiscard]] std::string clock_text(std::int64_t unix_ns);   ///< "12:03:04.512", local time
[[nodiscard]] std::string short_type(std::string_view type);  ///< "LaserScan"
/// True if each word of `filter` is in `text`, whatever the case.
[[nodiscard]] bool matches(std::string_view filter, std::string_view text);

// Widgets, in the current ImGui window.

void dim_text(const Theme& theme, std::string_view text);
void colored_text(std::uint32_t color, std::string_view text);
/// A text at the right edge of the present table cell or window.
void right_text(std::string_view text, std::uint32_t color);
/// A hint in the middle of an empty panel, in several lines.
void empty_hint(const Theme& theme, std::string_view text);
/// A sentence in place of a picture that could not be drawn.
void error_note(const Theme& theme, std::string_view text);
/// A text field with a hint. `width` 0: to the right edge.
bool search_field(const char* id, const char* hint, std::string& text, float width = 0);
bool input_text(const char* id, std::string& text, const char* hint = "", int flags = 0);
void tooltip(std::string_view text);
/// A button without a frame until it is hovered. `on`: highlighted.
bool quiet_button(const Theme& theme, const char* label, bool on = false);
/// A filled circle before a line of text.
void dot(const Theme& theme, std::uint32_t color);

enum class Icon : std::uint8_t {
  play,
  pause,
  step_back,
  step_on,
  loop,
  close,
  menu,
  eye,
  eye_off,
  plus,
  target,
  arrow,
  pin,
  ruler,
  cursor,
  help,
  moon,
  sun,
  live,
  record,
  save,
  camera,
  maximize,
  gear
};
/// A square button with a drawn sign.
bool icon_button(const Theme& theme, const char* id, Icon icon, std::string_view help,
                 bool on = false, float size = 0);
void draw_icon(const Theme& theme, Icon icon, ImVec2 center, float size, std::uint32_t color);

/// A combo of the channels with one of the types (empty: all). Returns true if it changed.
bool channel_combo(Session& session, const char* id, std::string& channel,
                   const std::vector<std::string_view>& types, float width = 0);
/// Makes the last item a source of drags for a channel or one of its fields.
void drag_channel(const std::string& channel, const std::string& field);
/// If a channel was dropped on the last item, calls `drop(channel, field)`.
void drop_channel(const std::function<void(const std::string&, const std::string&)>& drop);

}  // namespace hyphos::view
