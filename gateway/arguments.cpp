#include "gateway/arguments.hpp"

#include <charconv>
#include <functional>
#include <map>
#include <utility>

#include "gateway/facade/rules_file.hpp"
#include "gateway/facade/tokens.hpp"
#include "gateway/registry.hpp"

namespace hyphos::gateway {

namespace {

using Take = std::function<Result<void>(const std::string& value)>;

Error wrong(const std::string& key, const std::string& what) {
  return {Code::invalid_config, key + " " + what, {}};
}

template <typename Number>
Take number(const std::string& key, Number& place, Number least, Number most) {
  return [&place, key, least, most](const std::string& value) -> Result<void> {
    Number read = 0;
    const auto end = value.data() + value.size();
    const auto [at, fault] = std::from_chars(value.data(), end, read);
    if (fault != std::errc() || at != end || read < least || read > most) {
      return wrong(key, "takes a number from " + std::to_string(least) + " to " +
                            std::to_string(most) + ", not '" + value + "'");
    }
    place = read;
    return {};
  };
}

Take text(std::string& place) {
  return
      [&place](const std::string& value) -> Result<void> { return place = value, Result<void>(); };
}

/// The first pattern replaces the default "*".
Take names(std::vector<std::string>& place) {
  return [&place, first = true](const std::string& value) mutable -> Result<void> {
    if (std::exchange(first, false)) place.clear();
    place.push_back(value);
    return {};
  };
}

Take more(std::vector<std::string>& place) {
  return [&place](const std::string& value) -> Result<void> {
    place.push_back(value);
    return {};
  };
}

Error unknown(const std::string& protocol) {
  for (const Absent& absent : absent_protocols()) {
    if (absent.name != protocol) continue;
    return {Code::unsupported,
            "this build has no " + protocol + ". Install " + std::string(absent.packages) +
                " and build again",
            {}};
  }
  std::string known;
  for (const Known& one : protocols()) known += (known.empty() ? "" : ", ") + std::string(one.name);
  return wrong("'" + protocol + "'", "is no gateway protocol. Choose one of: " + known);
}

Result<void> read_own(const std::string& pair, std::map<std::string, std::string>& own) {
  const std::size_t equals = pair.find('=');
  if (equals == 0 || equals == std::string::npos) {
    return wrong("--set", "takes KEY=VALUE, not '" + pair + "'");
  }
  own[pair.substr(0, equals)] = pair.substr(equals + 1);
  return {};
}

const std::string& long_name(const std::string& word) {
  static const std::map<std::string, std::string> shorts = {{"-p", "--port"},
                                                            {"-I", "--proto-path"}};
  const auto found = shorts.find(word);
  return found == shorts.end() ? word : found->second;
}

}  // namespace

Result<Arguments> parse_arguments(const std::vector<std::string>& words) {
  Arguments made;
  Tls tls;
  unsigned ros_version = 0;
  std::string rules_file;
  Options& options = made.options;
  Rules& rules = made.rules;
  if (words.empty()) return wrong("a gateway", "needs the name of a protocol");
  const Known* known = nullptr;
  for (const Known& one : protocols()) {
    if (one.name == words[0]) known = &one;
  }
  if (known == nullptr) return unknown(words[0]);
  made.open = known->open;
  options.port = known->port;
  constexpr std::size_t kMostBytes = std::size_t{1} << 31U;
  // A process needs some of its 8,192 endpoints in shared memory for itself and for services.
  constexpr std::size_t kMostTopics = 6000;
  constexpr std::size_t kMostServices = 2000;
  Limits& limits = made.rules.limits;
  const std::map<std::string, Take> keys = {
      {"--types", text(made.types.file)},
      {"--ros", more(made.types.ros)},
      {"--proto-path", more(made.types.proto_path)},
      {"--ros-version", number("--ros-version", ros_version, 1U, 2U)},
      {"--host", text(options.host)},
      {"--port", number<std::uint16_t>("--port", options.port, 0, UINT16_MAX)},
      {"--tls-certificate", text(tls.certificate)},
      {"--tls-key", text(tls.key)},
      {"--tokens", [&](const std::string& file) { return read_tokens(file, "", options.tokens); }},
      {"--max-message", number("--max-message", options.max_message, std::size_t{64}, kMostBytes)},
      {"--max-clients",
       number("--max-clients", options.max_clients, std::size_t{1}, std::size_t{65536})},
      {"--max-topics", number("--max-topics", limits.topics, std::size_t{1}, kMostTopics)},
      {"--max-topics-per-client",
       number("--max-topics-per-client", limits.client_topics, std::size_t{1}, kMostTopics)},
      {"--max-services", number("--max-services", limits.services, std::size_t{1}, kMostServices)},
      {"--max-unserved", number("--max-unserved", limits.unserved, std::size_t{1}, kMostServices)},
      {"--max-unserved-per-client",
       number("--max-unserved-per-client", limits.client_unserved, std::size_t{1}, kMostServices)},
      {"--max-calls-per-client",
       number("--max-calls-per-client", limits.client_calls, std::size_t{1}, std::size_t{65536})},
      {"--max-calls", number("--max-calls", limits.calls, std::size_t{1}, std::size_t{65536})},
      {"--queue", number("--queue", options.queue_depth, 1U, 65536U)},
      {"--queue-bytes",
       number("--queue-bytes", options.queue_bytes, std::size_t{4096}, kMostBytes)},
      {"--rate", number("--rate", rules.rate_hz, 0.0, 1e9)},
      {"--publish", names(rules.publish.allow)},
      {"--no-publish", names(rules.publish.deny)},
      {"--subscribe", names(rules.subscribe.allow)},
      {"--no-subscribe", names(rules.subscribe.deny)},
      {"--call", names(rules.call.allow)},
      {"--no-call", names(rules.call.deny)},
      {"--serve", names(rules.serve.allow)},
      {"--no-serve", names(rules.serve.deny)},
      {"--rules", text(rules_file)},
      {"--set", [&](const std::string& pair) { return read_own(pair, options.own); }},
  };
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--master") {
      options.own["master"] = "true";
      continue;
    }
    const std::string& name = long_name(words[i]);
    const auto key = keys.find(name);
    if (key == keys.end())
      return wrong("'" + name + "'", "is an unknown option. See hyphos gateway --help");
    if (i + 1 == words.size()) return wrong(name, "needs a value");
    if (auto taken = key->second(words[++i]); !taken) return taken.error();
  }
  if (!rules_file.empty()) {  // the file may omit options: their values then come from the options
    auto read = read_rules(rules_file, rules, options.tokens);
    if (!read) return read.error();
    rules.clients = std::move(*read);
  }
  options.limits = limits;
  if (ros_version > 0) options.own["ros"] = std::to_string(ros_version);
  if (tls.certificate.empty() != tls.key.empty()) {
    return wrong("--tls-certificate and --tls-key", "must be given together");
  }
  if (!tls.key.empty()) options.tls = tls;
  return made;
}

}  // namespace hyphos::gateway
