#pragma once

#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <system_error>

#include "gateway/facade/protocol.hpp"
#include "gateway/types/rules.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

/// Reads the options that only one protocol has (Options::own).
namespace hyphos::gateway {

/// Sets an option. Returns a description of the error in its value, or "".
template <typename Settings>
using Setter = std::function<std::string(Settings&, const std::string&)>;
template <typename Settings>
using Setters = std::map<std::string, Setter<Settings>>;

/// Errors: invalid_config, with the name of the option and its valid values.
template <typename Settings>
Result<void> set_all(Settings& settings, const Setters<Settings>& setters, const Options& options,
                     const std::string& protocol) {
  for (const auto& [name, value] : options.own) {
    const auto setter = setters.find(name);
    if (setter == setters.end()) {
      std::string known;
      for (const auto& [each, unused] : setters) known += (known.empty() ? "" : ", ") + each;
      return Error{Code::invalid_config,
                   protocol + " has no option '" + name + "'. It has: " + known, protocol};
    }
    const std::string wrong = setter->second(settings, value);
    if (!wrong.empty()) {
      return Error{Code::invalid_config, "option " + name + "='" + value + "': " + wrong, protocol};
    }
  }
  return success();
}

template <typename Number>
bool read_number(const std::string& text, Number& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size();
}

template <typename Settings>
Setter<Settings> flag(bool Settings::* which) {
  return [which](Settings& settings, const std::string& value) -> std::string {
    settings.*which = value == "true";
    return value == "true" || value == "false" ? "" : "must be true or false";
  };
}

template <typename Settings>
Setter<Settings> patterns(Patterns Settings::* which,
                          Patterns::Slash slash = Patterns::Slash::counts) {
  return [which, slash](Settings& settings, const std::string& value) {
    settings.*which = Patterns(value, slash);
    return std::string();
  };
}

/// At most one day.
template <typename Settings>
Setter<Settings> seconds(Duration Settings::* which) {
  return [which](Settings& settings, const std::string& value) -> std::string {
    double number = 0;
    if (!read_number(value, number) || !(number > 0) || number > 86'400) {
      return "must be a number of seconds above 0, at most 86400";
    }
    settings.*which = Duration::from_seconds(number);
    return "";
  };
}

}  // namespace hyphos::gateway
