#include "cosim/physics/gazebo/options.hpp"

#include <array>

#include "cosim/adapter/settings.hpp"

namespace hyphos::cosim {
namespace {

Error bad(const Setting& setting, std::string what) {
  return {Code::invalid_config, std::move(what), std::string(setting.key)};
}

Result<void> take_duration(Duration& to, const Setting& setting, double least, double most,
                           std::int64_t unit_ns) {
  auto value = number(setting, least, most, true);
  if (!value) return value.error();
  to = {static_cast<std::int64_t>(*value) * unit_ns};
  return success();
}

Result<void> take(GazeboOptions& options, const Setting& setting) {
  if (setting.key == "step_us") return take_duration(options.step, setting, 100, 100'000, 1000);
  if (setting.key == "timeout_ms") {
    return take_duration(options.timeout, setting, 10, 600'000, 1'000'000);
  }
  if (setting.values.size() != 1) return bad(setting, "takes exactly one word");
  const std::string word(setting.values.front());
  if (setting.key == "world") {
    options.world = word;
  } else if (setting.key == "model") {
    options.models.push_back(word);
  } else if (setting.key == "partition") {
    options.partition = word;
  } else if (setting.key == "pose_topic") {
    options.pose_topic = word;
  } else if (setting.key == "messages") {
    if (word != "ignition" && word != "gz") return bad(setting, "must be ignition or gz");
    options.messages = word == "gz" ? GazeboMessages::gz : GazeboMessages::ignition;
  } else {
    return unknown(setting);
  }
  return success();
}

void write_word(std::string& text, std::string_view key, const std::string& word) {
  if (!word.empty()) text += std::string(key) + ' ' + word + '\n';
}

}  // namespace

std::string to_text(const GazeboOptions& options) {
  std::string text;
  write_word(text, "world", options.world);
  write_word(text, "partition", options.partition);
  write_word(text, "pose_topic", options.pose_topic);
  write_word(text, "messages", options.messages == GazeboMessages::gz ? "gz" : "ignition");
  write_setting(text, "step_us", std::array{static_cast<double>(options.step.ns / 1000)});
  write_setting(text, "timeout_ms",
                std::array{static_cast<double>(options.timeout.ns / 1'000'000)});
  for (const std::string& model : options.models) write_word(text, "model", model);
  return text;
}

Result<GazeboOptions> gazebo_options(std::string_view text) {
  GazeboOptions options;
  for (const Setting& setting : read_settings(text)) {
    if (auto taken = take(options, setting); !taken) return taken.error();
  }
  return options;
}

}  // namespace hyphos::cosim
