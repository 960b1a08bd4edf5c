#pragma once

#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/remote/codec.hpp"

namespace hyphos::cosim {

/// The pending outcomes, in time order, of a network that decides the fate of each packet on entry.
/// Errors name the network: `who`.
class Due {
 public:
  explicit Due(const char* who) : who_(who) {}

  /// Clears everything and restarts at time 0.
  void clear(std::uint32_t nodes);
  /// Errors: not_found for unknown nodes, out_of_range for a stamp in the past.
  [[nodiscard]] Result<void> check(const Packet& packet) const;
  void push(Outcome outcome) { due_.push(std::move(outcome)); }

  // The functions of Network with the same names.
  [[nodiscard]] Result<void> advance(Time end);
  [[nodiscard]] Time next_event_time() const { return due_.empty() ? kNever : due_.top().time; }
  void poll(std::vector<Outcome>& outcomes);

  void save(Writer& state) const;
  /// Restores the output of save(). Returns false and changes nothing if `state` is invalid.
  [[nodiscard]] bool restore(Reader& state);

  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }

 private:
  struct Later {
    bool operator()(const Outcome& a, const Outcome& b) const {
      return std::tie(a.time, a.id, a.to) > std::tie(b.time, b.id, b.to);
    }
  };
  [[nodiscard]] Error past(Time at) const;

  const char* who_;
  std::uint32_t nodes_ = 0;
  Time now_;
  std::priority_queue<Outcome, std::vector<Outcome>, Later> due_;
  std::vector<Outcome> over_;
};

}  // namespace hyphos::cosim
