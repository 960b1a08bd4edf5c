#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/types/limits.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// What one direction lets through: names with `*` and `?`. What `deny` names is refused, also
/// where `allow` names it.
struct Names {
  std::vector<std::string> allow = {"*"};
  std::vector<std::string> deny;
  [[nodiscard]] bool let(std::string_view name) const;
};

struct Client;
struct ClientRules;

/// Which channels and services the clients of a gateway may use, and how much.
struct Rules {
  Names publish;    ///< from clients to the robot
  Names subscribe;  ///< from the robot to clients
  Names call;       ///< services of the robot that clients ask
  Names serve;      ///< services that clients offer
  /// Messages, calls and goals of one client in a second, all together; 0: any.
  double rate_hz = 0;
  Limits limits;                     ///< of the gateway; those of `clients` are not used
  std::vector<ClientRules> clients;  ///< for some of them instead; the first that names one holds
  [[nodiscard]] const Rules& of(const Client& client) const;
};

struct ClientRules {
  std::string pattern;  ///< of Client::name
  Rules rules;          ///< these name no further clients
  /// A file with tokens: for those alone that have shown one of them. Empty: whatever they showed.
  std::string tokens = {};
};

/// `*` stands for any characters, `?` for one.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);

/// A list of patterns, separated by commas or blanks; '!' in front takes out what was taken by
/// those before.
class Patterns {
 public:
  /// Whether a slash in front, of a pattern or of a name, makes a difference.
  enum class Slash : std::uint8_t { counts, ignored };

  explicit Patterns(std::string_view text, Slash slash = Slash::counts);
  [[nodiscard]] bool match(std::string_view name) const;
  /// Nothing matches.
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

/// Lets `rate_hz` a second through, and as many at once as come in one second.
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
