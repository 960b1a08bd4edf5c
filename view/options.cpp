#include "view/options.hpp"

#include <charconv>
#include <cmath>
#include <set>

#include "view/sources/open.hpp"

namespace hyphos::view {

const char* const kUsage =
    R"(usage: hyphos-view [ROBOT.yaml|RECORDING.mcap...] [options]
Shows a running robot, or a recording: in space, as plots, tables and log lines. Without a file it
shows the robot of the domain. The robot runs the same with and without it. Several files are
compared on one timeline, at most 4.

  --domain D          domain of the robot (that of the plan, or of this machine)
  --against FILE      compare with this recording or plan, e.g. the robot of the domain
  --arrange ghost|columns  several: over one another (ghost), or beside one another
  --align start|time  several: recordings begin together (start), or show the same clock time
  --shift SECONDS     several: shift those after the first
  --layout FILE       panels, displays and camera. Default: from the types of the channels
  --check FILE        robot: show the predicted load, of `hyphos plan check PLAN --json`
  --save-layout FILE  write the layout at the end
  --report FILE       write frames, uploads, memory, losses and processor time at the end
  --past FILE         robot: also write the past to this recording (.mcap), so that it is bounded by
                      the disk
  --at SECONDS        recording: show this instant, after its begin. Default: the first one at
                      which all shown channels have a value, at most 5 s after the begin
  --budget MB         memory of displayed data, CPU and GPU (512)
  --theme dark|light  colours, instead of those of the layout
  --png FILE          write one picture and exit. Needs no display
  --compare FILE      with --png: fail if the picture differs from this one
  --tolerance PERCENT pixels that may differ (0.5)
  --video FILE        write a video of the recording and exit: .mp4, .mkv (H.264), .webm (VP9)
  --from SECONDS      first instant of the video (0)
  --to SECONDS        end of the video (end of the recording)
  --fps N             frames per second of the video, 0.1 to 240 (30)
  --size WxH          pixels of the window or picture (1600x900)
  --scale S           pixels per point, 0.5 to 4 (that of the screen)
)";

namespace {

Error refused(const std::string& text) { return {Code::invalid_config, text, {}}; }

bool read_number(std::string_view text, double least, double most, double& out) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  const bool inside = value >= least && value <= most;  // false for NaN
  if (!inside) return false;
  out = value;
  return true;
}

bool read_size(std::string_view text, int& width, int& height) {
  const std::size_t at = text.find('x');
  double w = 0;
  double h = 0;
  if (at == std::string_view::npos || !read_number(text.substr(0, at), 64, 16384, w) ||
      !read_number(text.substr(at + 1), 64, 16384, h)) {
    return false;
  }
  width = static_cast<int>(w);
  height = static_cast<int>(h);
  return true;
}

Result<void> read_instant(const std::string& name, const std::string& value, double& out) {
  std::string_view text = value;
  if (text.ends_with('s')) text.remove_suffix(1);
  if (read_number(text, 0, 1e9, out)) return {};
  return refused(name +
                 ": expected seconds from the begin of the recording, as 12.5 or 12.5s, found '" +
                 value + "'");
}

/// Options that contradict each other.
Result<void> check(const Options& options, const std::set<std::string>& given) {
  if (!options.compare.empty() && options.png.empty()) {
    return refused("--compare needs --png FILE, where the new picture is written");
  }
  for (const char* name : {"--from", "--to", "--fps"}) {
    if (given.contains(name) && options.video.empty()) {
      return refused(std::string(name) + " needs --video FILE. --at selects an instant");
    }
  }
  if (options.video.empty()) return {};
  if (!options.png.empty()) return refused("give either --png or --video");
  if (given.contains("--at")) return refused("--at selects one instant. A video has --from, --to");
  if (options.to_s >= 0 && options.to_s <= options.from_s) {
    return refused("--to is not after --from: the video has no frame");
  }
  return {};
}

Result<void> apply(Options& options, const std::string& name, const std::string& value) {
  double number = 0;
  if (name == "--domain" || name == "-d") {
    options.app.domain = value;
  } else if (name == "--against") {
    options.app.more.push_back(value);
  } else if (name == "--arrange") {
    if (value != "ghost" && value != "columns") {
      return refused("--arrange: expected ghost or columns, found '" + value + "'");
    }
    options.app.arrange = value;
  } else if (name == "--align") {
    if (value != "start" && value != "time") {
      return refused("--align: expected start or time, found '" + value + "'");
    }
    options.app.align = value;
  } else if (name == "--shift") {
    if (!read_number(value, -1e9, 1e9, options.app.shift_s)) {
      return refused("--shift: expected seconds, as -1.5, found '" + value + "'");
    }
  } else if (name == "--past") {
    if (!value.ends_with(".mcap"))
      return refused("--past: expected FILE.mcap, found '" + value + "'");
    options.app.past_file = value;
  } else if (name == "--layout") {
    options.app.layout_file = value;
  } else if (name == "--check") {
    options.app.check_file = value;
  } else if (name == "--save-layout") {
    options.save_layout = value;
  } else if (name == "--report") {
    options.report = value;
  } else if (name == "--png") {
    options.png = value;
  } else if (name == "--compare") {
    options.compare = value;
  } else if (name == "--tolerance") {
    if (!read_number(value, 0, 100, options.tolerance)) {
      return refused("--tolerance: expected percent of the pixels, 0 to 100, found '" + value +
                     "'");
    }
  } else if (name == "--theme") {
    if (value != "dark" && value != "light") {
      return refused("--theme: expected dark or light, found '" + value + "'");
    }
    options.app.theme = value;
  } else if (name == "--at") {
    return read_instant(name, value, options.app.at_s);
  } else if (name == "--from") {
    return read_instant(name, value, options.from_s);
  } else if (name == "--to") {
    return read_instant(name, value, options.to_s);
  } else if (name == "--video") {
    options.video = value;
  } else if (name == "--fps") {
    if (!read_number(value, 0.1, 240, options.fps)) {
      return refused("--fps: expected frames per second, 0.1 to 240, found '" + value + "'");
    }
  } else if (name == "--budget") {
    if (!read_number(value, 16, 1 << 20, options.app.budget_mb)) {
      return refused("--budget: expected MB, at least 16, found '" + value + "'");
    }
  } else if (name == "--scale") {
    if (!read_number(value, 0.5, 4, number)) {
      return refused("--scale: expected a number from 0.5 to 4, found '" + value + "'");
    }
    options.app.scale = static_cast<float>(number);
    options.has_scale = true;
  } else if (name == "--size") {
    if (!read_size(value, options.width, options.height)) {
      return refused("--size: expected WIDTHxHEIGHT in pixels, as 1600x900, found '" + value + "'");
    }
  } else {
    return refused("unknown option '" + name + "'. `hyphos view --help` lists the options");
  }
  return {};
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& words) {
  Options options;
  std::set<std::string> given;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--help" || word == "-h") {
      options.help = true;
      return options;
    }
    if (!word.starts_with('-') || word == "-") {
      (options.app.what.empty() ? options.app.what : options.app.more.emplace_back()) = word;
      continue;
    }
    const std::size_t equal = word.find('=');
    std::string name = word.substr(0, equal);
    std::string value;
    if (equal != std::string::npos) {
      value = word.substr(equal + 1);
    } else if (i + 1 < words.size()) {
      value = words[++i];
    } else {
      return refused("option '" + name + "' needs a value");
    }
    // A process of a plan gets its domain from `hyphos run`.
    if (name == "--hyphos-domain") name = "--domain";
    if (name.starts_with("--hyphos-")) continue;
    if (auto applied = apply(options, name, value); !applied) return applied.error();
    given.insert(name);
  }
  if (auto fine = check(options, given); !fine) return fine.error();
  if (options.app.more.size() >= kMaxParts) {
    return refused("at most " + std::to_string(kMaxParts) + " sources are shown together");
  }
  return options;
}

}  // namespace hyphos::view
