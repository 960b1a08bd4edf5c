#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "hyphos/param_types.hpp"
#include "view/layout/layout.hpp"

namespace hyphos::view {
namespace {

/// The shortest text that reads back as the same number.
std::string number(double value) {
  if (!std::isfinite(value)) return "0";
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::string(text.data(), end) : "0";
}

bool is_plain(std::string_view word) {
  if (word.empty() || word == "~" || word == "null" || word == "Null" || word == "NULL") {
    return false;
  }
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '/' || c == '.';
  };
  // A minus opens a list if a blank or the end follows.
  const bool minus = word.front() == '-' && word.size() > 1 && letter(word[1]) && word[1] != '.';
  if (!letter(word.front()) && !minus) return false;
  if (word.substr(0, 3) == "..." || word == ".") return false;
  for (const char c : word.substr(1)) {
    if (!letter(c) && c != '-' && c != '+' && c != ':') return false;
  }
  if (word.back() == ':') return false;
  return true;
}

std::string scalar(const std::string& word) {
  return is_plain(word) ? word : to_yaml(ParamVariant(word));
}

std::string setting(const Setting& value) {
  if (!value.list) return scalar(value.words.empty() ? std::string() : value.words.front());
  std::string out = "[";
  for (std::size_t i = 0; i < value.words.size(); ++i) {
    if (i > 0) out += ", ";
    out += scalar(value.words[i]);
  }
  return out + "]";
}

/// A map in one line.
class Line {
 public:
  void add(std::string_view key, const std::string& value) {
    if (!text_.empty()) text_ += ", ";
    text_.append(key).append(": ").append(value);
  }
  void add(const Settings& settings) {
    for (const auto& [key, value] : settings) add(key, setting(value));
  }
  [[nodiscard]] std::string text() const { return "{" + text_ + "}"; }
  [[nodiscard]] bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

std::string camera(const CameraLayout& value) {
  const CameraLayout usual;
  Line line;
  if (value.kind != usual.kind) line.add("kind", scalar(value.kind));
  if (value.follow != usual.follow) line.add("follow", scalar(value.follow));
  if (value.follow_heading) line.add("follow_heading", "true");
  if (value.target != usual.target) {
    line.add("target", "[" + number(value.target[0]) + ", " + number(value.target[1]) + ", " +
                           number(value.target[2]) + "]");
  }
  if (value.distance != usual.distance) line.add("distance", number(value.distance));
  if (value.yaw != usual.yaw) line.add("yaw", number(value.yaw));
  if (value.pitch != usual.pitch) line.add("pitch", number(value.pitch));
  if (value.roll != usual.roll) line.add("roll", number(value.roll));
  return line.text();
}

std::string compare(const CompareLayout& value) {
  const CompareLayout usual;
  Line line;
  if (value.arrange != usual.arrange) line.add("arrange", scalar(value.arrange));
  if (value.align != usual.align) line.add("align", scalar(value.align));
  if (value.shift_s.size() == 1) line.add("shift_s", number(value.shift_s.front()));
  if (value.shift_s.size() > 1) {
    std::string all;
    for (const double one : value.shift_s) all += (all.empty() ? "" : ", ") + number(one);
    line.add("shift_s", "[" + all + "]");
  }
  if (value.alpha != usual.alpha) line.add("alpha", number(value.alpha));
  if (value.tint != usual.tint) line.add("tint", number(value.tint));
  return line.text();
}

std::string display(const DisplayLayout& value) {
  Line line;
  line.add("show", scalar(value.kind));
  if (!value.channel.empty()) line.add("channel", scalar(value.channel));
  if (!value.visible) line.add("visible", "false");
  line.add(value.settings);
  return line.text();
}

/// `first` precedes the first line, `indent` the following lines.
void append_panel(std::string& out, const PanelLayout& node, const std::string& first,
                  const std::string& indent) {
  if (node.split == PanelLayout::Split::none) {
    Line line;
    line.add("panel", scalar(node.kind));
    if (node.size != 1) line.add("size", number(node.size));
    line.add(node.settings);
    out += first + line.text() + "\n";
    return;
  }
  out += first;
  if (node.size != 1) out += "size: " + number(node.size) + "\n" + indent;
  out += node.split == PanelLayout::Split::columns ? "columns:\n" : "rows:\n";
  for (const PanelLayout& child : node.children) {
    append_panel(out, child, indent + "  - ", indent + "    ");
  }
}

Error failure(const std::string& path, const char* step) {
  const int code = errno;
  return {code == ENOENT   ? Code::not_found
          : code == EACCES ? Code::permission
          : code == ENOSPC ? Code::exhausted
                           : Code::io,
          std::string("cannot ") + step + " the layout: " + std::strerror(code), path};
}

}  // namespace

std::string layout_text(const Layout& layout) {
  const Layout usual;
  std::string out = "hyphos_view: 1\n";
  if (layout.theme != usual.theme) out += "theme: " + scalar(layout.theme) + "\n";
  if (layout.budget_mb != usual.budget_mb) out += "budget_mb: " + number(layout.budget_mb) + "\n";
  if (!layout.fixed_frame.empty()) out += "fixed_frame: " + scalar(layout.fixed_frame) + "\n";
  if (layout.compare != usual.compare) out += "compare: " + compare(layout.compare) + "\n";
  if (layout.camera != usual.camera) out += "camera: " + camera(layout.camera) + "\n";
  if (!layout.views.empty()) out += "views:\n";
  for (const auto& [name, view] : layout.views) {
    out += "  " + scalar(name) + ": " + camera(view) + "\n";
  }
  if (!layout.displays.empty()) out += "displays:\n";
  for (const DisplayLayout& one : layout.displays) out += "  - " + display(one) + "\n";
  if (layout.panels.split == PanelLayout::Split::none) {
    append_panel(out, layout.panels, "panels: ", "");
  } else {
    out += "panels:\n";
    append_panel(out, layout.panels, "  ", "  ");
  }
  return out;
}

Result<void> save_layout(const std::string& path, const Layout& layout) {
  const std::string text = layout_text(layout);
  const std::string part = path + ".part";
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return failure(path, "write");
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const Error error = failure(path, "write");
      ::close(file);
      ::unlink(part.c_str());
      return error;
    }
    done += static_cast<std::size_t>(wrote);
  }
  const bool flushed = ::fsync(file) == 0;
  ::close(file);
  if (!flushed || std::rename(part.c_str(), path.c_str()) != 0) {
    const Error error = failure(path, "replace");
    ::unlink(part.c_str());
    return error;
  }
  return {};
}

}  // namespace hyphos::view
