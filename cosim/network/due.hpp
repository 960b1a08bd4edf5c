#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/remote/codec.hpp"

namespace hyphos::cosim {

/// Outcomes in the order of time, packet and receiver. A heap of their keys, because outcomes are
/// large.
class OutcomeQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  /// The time of the first one, or kNever.
  [[nodiscard]] Time next() const { return heap_.empty() ? kNever : heap_.front().time; }
  void push(Outcome outcome);
  /// Removes the first one.
  [[nodiscard]] Outcome pop();
  /// Appends those before `end`.
  void take_before(Time end, std::vector<Outcome>& to);
  void clear();
  /// All, in their order.
  [[nodiscard]] std::vector<const Outcome*> in_order() const;

 private:
  struct Key {
    Time time;
    PacketId id = 0;
    NodeId to = 0;
    std::uint32_t place = 0;  // in outcomes_

    auto operator<=>(const Key&) const = default;
  };

  std::vector<Key> heap_;
  std::vector<Outcome> outcomes_;
  std::vector<std::uint32_t> free_;  // places
};

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
  [[nodiscard]] Time next_event_time() const { return due_.next(); }
  void poll(std::vector<Outcome>& outcomes);

  void save(Writer& state) const;
  /// Restores the output of save(). Returns false and changes nothing if `state` is invalid.
  [[nodiscard]] bool restore(Reader& state);

  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }

 private:
  [[nodiscard]] Error past(Time at) const;

  const char* who_;
  std::uint32_t nodes_ = 0;
  Time now_;
  OutcomeQueue due_;
  std::vector<Outcome> over_;
};

}  // namespace hyphos::cosim
