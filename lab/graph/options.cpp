#include "lab/graph/options.hpp"

#include <unistd.h>

#include <cmath>
#include <stdexcept>

namespace hyphos::lab::graph {
namespace {

double number(const std::string& key, const std::string& text, double least, double most) {
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::logic_error&) {
    used = 0;
  }
  if (used != text.size() || used == 0 || !(value >= least && value <= most)) {
    throw std::invalid_argument(key + ": '" + text + "' is not a number from " +
                                std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::pair<std::string, std::string> two(const std::string& key, const std::string& text,
                                        const char* form) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    throw std::invalid_argument(key + ": '" + text + "' is not a " + form);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string key = argv[i];
    if (key == "--describe" || key == "--figures") {
      (key == "--describe" ? o.describe : o.figures) = true;
      continue;
    }
    if (i + 1 >= argc) throw std::invalid_argument(key + " needs a value");
    const std::string value = argv[++i];
    if (key == "--plan") {
      o.plan = value;
    } else if (key == "--scale") {
      o.scale = number(key, value, 1e-6, 1e6);
    } else if (key == "--seconds") {
      o.seconds = number(key, value, 0.01, 86'400);
    } else if (key == "--run-id") {
      o.run = std::llround(number(key, value, 0, 4e9));
    } else if (key == "--netns") {
      o.namespaces.push_back(two(key, value, "HOST=NAMESPACE"));
    } else if (key == "--cpus") {
      o.cpus.push_back(two(key, value, "PROCESS=PROCESSORS"));
    } else if (key == "--set") {
      o.overrides.push_back(value);
    } else if (key == "--process") {
      o.process = value;
    } else if (key == "--sheet-fd") {
      o.sheet_fd = static_cast<int>(number(key, value, 0, 1 << 20));
    } else {
      throw std::invalid_argument("unknown option " + key);
    }
  }
  if (o.plan.empty() && !o.describe) throw std::invalid_argument("--plan: name a robot.yaml");
  if (o.run == 0) o.run = getpid();
  return o;
}

std::vector<std::string> child_arguments(const Options& options, const std::string& process) {
  std::vector<std::string> words{"--plan",     options.plan,
                                 "--scale",    std::to_string(options.scale),
                                 "--seconds",  std::to_string(options.seconds),
                                 "--run-id",   std::to_string(options.run),
                                 "--process",  process,
                                 "--sheet-fd", std::to_string(options.sheet_fd)};
  if (options.figures) words.emplace_back("--figures");
  for (const std::string& text : options.overrides) {
    words.insert(words.end(), {"--set", text});
  }
  return words;
}

}  // namespace hyphos::lab::graph
