#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/types/limits.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// The names that one direction allows, as patterns with `*` and `?`. `deny` overrides `allow`.
struct Names {
  std::vector<std::string> allow = {"*"};
  std::vector<std::string> deny;
  [[nodiscard]] bool let(std::string_view name) const;
};

struct Client;
struct ClientRules;

/// The channels and services that the clients of a gateway may use, and their limits.
struct Rules {
  Names publish;    ///< from clients to the robot
  Names subscribe;  ///< from the robot to clients
  Names call;       ///< services of the robot that clients call
  Names serve;      ///< services that clients serve
  /// Messages, calls and goals of one client per second, all together. 0: unlimited.
  double rate_hz = 0;
  Limits limits;                     ///< of the gateway, the limits inside `clients` are ignored
  std::vector<ClientRules> clients;  ///< rules for some clients, the first match applies
  [[nodiscard]] const Rules& of(const Client& client) const;
};

struct ClientRules {
  std::string pattern;  ///< for Client::name
  Rules rules;          ///< without nested client rules
  /// A token file. The rules then apply only to clients that presented one of its tokens. Empty:
  /// they apply with any token or none.
  std::string tokens = {};
};

/// `*` matches any characters, `?` matches one.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);

/// A list of patterns, separated by commas or blanks. A '!' in front of a pattern excludes names
/// that earlier patterns matched.
class Patterns {
 public:
  /// Decides if a leading slash of a pattern or a name makes a difference.
  enum class Slash : std::uint8_t { counts, ignored };

  explicit Patterns(std::string_view text, Slash slash = Slash::counts);
  [[nodiscard]] bool match(std::string_view name) const;
  /// True if the list matches no name.
  [[nodiscard]] bool empty() const { return patterns_.empty(); }

 private:
  struct Pattern {
    std::string text;
    bool takes_out = false;
  };
  [[nodiscard]] std::string_view plain(std::string_view name) const;

  Slash slash_;
  std::vector<Pattern> patterns_;
};

/// Allows `rate_hz` messages per second, and bursts of one second's worth.
class RateLimit {
 public:
  explicit RateLimit(double rate_hz) : rate_hz_(rate_hz), left_(rate_hz) {}
  bool take(std::int64_t now_ns);

 private:
  double rate_hz_;
  double left_;
  std::int64_t last_ns_ = 0;
};

}  // namespace hyphos::gateway
