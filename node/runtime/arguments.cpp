#include "node/runtime/arguments.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace hyphos {

Result<Arguments> read_arguments(int argc, char** argv) {
  Arguments read;
  RuntimeOptions& options = read.options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (!flag.starts_with("--hyphos-")) continue;
    if (i + 1 == argc) {
      return Error{Code::invalid_config, std::string(flag) + " needs a value", "command line"};
    }
    const std::string value = argv[++i];
    if (flag == "--hyphos-plan") {
      options.plan_file = value;
    } else if (flag == "--hyphos-process") {
      options.process = value;
      read.supervised = true;
    } else if (flag == "--hyphos-set") {
      options.overrides.push_back(value);
    } else if (flag == "--hyphos-domain") {
      options.domain = value;
    } else if (flag == "--hyphos-state") {
      options.state_folder = value;
    } else if (flag == "--hyphos-clock") {
      if (value != "real" && value != "sim") {
        return Error{Code::invalid_config,
                     "--hyphos-clock must be real or sim, not '" + value + "'", "command line"};
      }
      options.clock = value == "sim" ? ClockMode::sim : ClockMode::real;
    } else if (flag == "--hyphos-strict") {
      if (value != "on" && value != "off") {
        return Error{Code::invalid_config, "--hyphos-strict must be on or off, not '" + value + "'",
                     "command line"};
      }
      read.strict = value == "on";
    } else if (flag == "--hyphos-base-ns") {
      const auto [end, problem] =
          std::from_chars(value.data(), value.data() + value.size(), options.base_ns);
      if (problem != std::errc() || end != value.data() + value.size() || options.base_ns < 0) {
        return Error{
            Code::invalid_config,
            "--hyphos-base-ns must be a time in nanoseconds since 1970, not '" + value + "'",
            "command line"};
      }
    } else {
      return Error{
          Code::invalid_config,
          "unknown option " + std::string(flag) +
              ". Known options: --hyphos-plan, --hyphos-process, --hyphos-set, --hyphos-domain, "
              "--hyphos-state, --hyphos-clock, --hyphos-base-ns, --hyphos-strict",
          "command line"};
    }
  }
  return read;
}

}  // namespace hyphos
