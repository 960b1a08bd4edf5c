// Serializes the complete state of an AnalyticRadio: numbers in memory representation. restore()
// accepts only unmodified bytes. A checksum over all bytes detects changes, and there is no further
// validation.
#include <concepts>

#include "cosim/core/trace.hpp"
#include "cosim/network/analytic.hpp"
#include "cosim/remote/codec.hpp"

namespace hyphos::cosim {
namespace {

template <typename T>
concept List = requires(T& list) { list.push_back(list.front()); };
template <typename T>
concept Queue = requires(T& queue) { queue.push(queue.top()); };

}  // namespace

struct AnalyticRadio::State {
  /// The members of each type, for saving and restoring. No padding is written, so equal states
  /// give equal bytes.
  static auto members(auto& of) {
    using T = std::remove_cvref_t<decltype(of)>;
    if constexpr (std::same_as<T, Reception>) {
      return std::tie(of.node, of.power_dbm, of.power_mw, of.interference_mw, of.propagation,
                      of.detected, of.carrier);
    } else if constexpr (std::same_as<T, Frame>) {
      return std::tie(of.packet, of.start, of.receptions, of.rate, of.arrived, of.heard);
    } else if constexpr (std::same_as<T, Station>) {
      return std::tie(of.queue, of.queued, of.first_try, of.contending, of.frozen, of.sending,
                      of.immediate, of.slots, of.window, of.attempt, of.heard, of.generation,
                      of.attempt_at, of.last_arrival, of.idle_since, of.hears, of.carriers,
                      of.links);
    } else if constexpr (std::same_as<T, LinkMemory>) {
      return std::tie(of.to, of.updated, of.rates, of.best, of.second, of.safest);
    } else if constexpr (std::same_as<T, RateMemory>) {
      return std::tie(of.success, of.known, of.tried, of.arrived);
    } else if constexpr (std::same_as<T, Event>) {
      return std::tie(of.time, of.kind, of.node, of.order, of.token);
    } else if constexpr (std::same_as<T, AnalyticRadio>) {
      return std::tie(of.now_, of.order_, of.poses_, of.stations_, of.frames_, of.free_frames_,
                      of.arriving_, of.free_arriving_, of.events_, of.later_);
    } else {
      return std::tuple<>();
    }
  }
  template <typename T>
  static constexpr bool kHasMembers = std::tuple_size_v<decltype(members(std::declval<T&>()))> != 0;

  template <typename T>
  static void put(Writer& to, const T& value) {
    if constexpr (std::same_as<T, Packet>) {
      put_packet(to, value);
    } else if constexpr (std::same_as<T, Outcome>) {
      put_outcome(to, value);
    } else if constexpr (std::same_as<T, OutcomeQueue>) {
      to.put(static_cast<std::uint64_t>(value.size()));
      for (const Outcome* const outcome : value.in_order()) put_outcome(to, *outcome);
    } else if constexpr (List<T>) {
      to.put(static_cast<std::uint64_t>(value.size()));
      for (const auto& item : value) put(to, item);
    } else if constexpr (Queue<T>) {
      to.put(static_cast<std::uint64_t>(value.size()));
      for (T rest = value; !rest.empty(); rest.pop()) put(to, rest.top());
    } else if constexpr (kHasMembers<T>) {
      std::apply([&](const auto&... member) { (put(to, member), ...); }, members(value));
    } else {
      to.put(value);
    }
  }

  template <typename T>
  static void get(Reader& from, T& value) {
    if constexpr (std::same_as<T, Packet>) {
      value = get_packet(from);
    } else if constexpr (std::same_as<T, Outcome>) {
      value = get_outcome(from).value_or(Outcome{});
    } else if constexpr (std::same_as<T, OutcomeQueue>) {
      value.clear();
      const auto count = from.get<std::uint64_t>();
      for (std::uint64_t i = 0; i < count && !from.failed(); ++i) {
        value.push(get_outcome(from).value_or(Outcome{}));
      }
    } else if constexpr (List<T> || Queue<T>) {
      value = {};
      const auto count = from.get<std::uint64_t>();
      for (std::uint64_t i = 0; i < count && !from.failed(); ++i) {
        typename T::value_type item{};
        get(from, item);
        if constexpr (List<T>) {
          value.push_back(std::move(item));
        } else {
          value.push(std::move(item));
        }
      }
    } else if constexpr (kHasMembers<T>) {
      std::apply([&](auto&... member) { (get(from, member), ...); }, members(value));
    } else {
      value = from.get<T>();
    }
  }
};

Result<std::vector<std::byte>> AnalyticRadio::save() const {
  Writer state;
  state.put(seed_);
  state.put(static_cast<std::uint64_t>(stations_.size()));
  State::put(state, *this);
  state.put(hash_bytes(state.bytes()));
  return std::vector<std::byte>(state.bytes().begin(), state.bytes().end());
}

Result<void> AnalyticRadio::restore(std::span<const std::byte> saved) {
  const Error corrupt{Code::corrupt, "the saved state is not a state of this radio", "analytic"};
  if (saved.size() < sizeof(std::uint64_t)) return corrupt;
  const auto said = saved.last(sizeof(std::uint64_t));
  saved = saved.first(saved.size() - said.size());
  if (Reader(said).get<std::uint64_t>() != hash_bytes(saved)) return corrupt;
  Reader state(saved);
  if (state.get<std::uint64_t>() != seed_) return corrupt;
  if (state.get<std::uint64_t>() != stations_.size()) return corrupt;
  State::get(state, *this);
  cells_.place(poses_);
  outcomes_.clear();
  return state.complete() ? success() : Result<void>(corrupt);
}

}  // namespace hyphos::cosim
