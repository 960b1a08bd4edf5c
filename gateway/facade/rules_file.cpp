#include "gateway/facade/rules_file.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "gateway/facade/tokens.hpp"

namespace hyphos::gateway {
namespace {

constexpr double kMostHz = 1e9;

std::vector<std::string>* names_in(Rules& rules, std::string_view option) {
  const std::pair<std::string_view, std::vector<std::string>*> known[] = {
      {"publish", &rules.publish.allow},     {"no-publish", &rules.publish.deny},
      {"subscribe", &rules.subscribe.allow}, {"no-subscribe", &rules.subscribe.deny},
      {"call", &rules.call.allow},           {"no-call", &rules.call.deny},
      {"serve", &rules.serve.allow},         {"no-serve", &rules.serve.deny}};
  for (const auto& [name, place] : known) {
    if (name == option) return place;
  }
  return nullptr;
}

/// Returns a description of the error, or "".
std::string take(const std::string& option, const std::string& value, Rules& rules) {
  if (option == "rate") {
    const char* const end = value.data() + value.size();
    const auto [at, fault] = std::from_chars(value.data(), end, rules.rate_hz);
    const bool good =
        fault == std::errc() && at == end && rules.rate_hz >= 0 && rules.rate_hz <= kMostHz;
    return good ? "" : "rate needs a number from 0 to 1e9, not '" + value + "'";
  }
  std::vector<std::string>* const place = names_in(rules, option);
  if (place == nullptr) {
    return "'" + option +
           "' is no rule. Rules are publish, no-publish, subscribe, no-subscribe, "
           "call, no-call, serve, no-serve, rate and tokens";
  }
  place->clear();
  std::istringstream names(value);
  for (std::string name; std::getline(names, name, ',');) {
    if (!name.empty()) place->push_back(name);
  }
  return "";
}

/// The same for a whole word, which may name a token file.
std::string take(const std::string& word, const std::filesystem::path& folder, ClientRules& one,
                 std::vector<Token>& tokens) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return "'" + word + "' does not have the form OPTION=VALUE";
  const std::string option = word.substr(0, equals);
  const std::string value = word.substr(equals + 1);
  if (option != "tokens") return take(option, value, one.rules);
  if (!one.tokens.empty()) return "a line may name only one token file";
  if (value.empty()) return "tokens needs a file with one token per line";
  one.tokens = (folder / value).lexically_normal().string();
  const auto read = read_tokens(one.tokens, one.tokens, tokens);
  return read ? "" : word + ": " + read.error().message;
}

}  // namespace

Result<std::vector<ClientRules>> read_rules(const std::string& file, const Rules& others,
                                            std::vector<Token>& tokens) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::ifstream in(file);
  if (!in) return Error{Code::io, "cannot read the rules file", file};
  std::vector<ClientRules> made;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream words(line);
    ClientRules one{{}, others};
    one.rules.clients.clear();
    if (!(words >> one.pattern) || one.pattern.starts_with('#')) continue;
    for (std::string word; words >> word;) {
      if (std::string wrong = take(word, folder, one, tokens); !wrong.empty()) {
        return Error{Code::invalid_config, std::move(wrong), file + ":" + std::to_string(number)};
      }
    }
    made.push_back(std::move(one));
  }
  if (in.bad()) return Error{Code::io, "cannot read the rules file", file};
  return made;
}

}  // namespace hyphos::gateway
