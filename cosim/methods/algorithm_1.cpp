#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "cosim/methods/equation_3.hpp"
#include "cosim/methods/variant.hpp"

namespace hyphos::cosim {
namespace {

/// The whole Algorithm 1 of Dey et al. with the text around it. velocity_aware implements equation
/// 3 alone. A round has these parts:
///
/// 1. A publisher P and a subscriber S are chosen among the T robots: of the pairs with a packet in
///    flight, the one whose last round is longest ago. The scenario may fix either robot. The
///    window is w again.
/// 2. Windows last w_a = w + (V_p - V_s) / 1000. A packet enters as in the sliding window.
/// 3. When packets from P to S have an outcome, the loss L_p of equation 1 is compared with the
///    threshold. A loss that is not larger ends the round.
/// 4. Otherwise w becomes w_a, and the round continues with part 2.
///
/// The paper sets no limit to part 4. Here a round ends after a number of changes, and the report
/// counts it as unsatisfied. The open cases are read leniently: w while no round is possible, and
/// windows of at least one step.
class Algorithm1 final : public Method {
 public:
  Algorithm1(const MethodOptions& options, const Variant& variant)
      : options_(options),
        unit_ns_(variant.unit_ns),
        time_(options.step),
        window_(options.window) {}

  Exchange exchange() const override { return Exchange::shifted; }
  bool uses_outcomes() const override { return true; }

  Result<Window> plan(const Situation& situation) override {
    if (in_round_) judge(situation);
    if (!in_round_) begin(situation);
    if (!in_round_) {
      ++idle_;
      return time_.advance(situation, options_.window);
    }
    return time_.advance(situation, adapted(situation));
  }

  void settled(const Settled& settled) override {
    if (!in_round_ || settled.sent.from != pair_.from) return;
    const Outcome& outcome = settled.outcome;
    if (outcome.to == pair_.to) {
      ++(outcome.fate == Fate::delivered ? delivered_ : lost_);
    } else if (settled.last && settled.sent.to == kEveryone && !settled.named[pair_.to]) {
      ++lost_;  // the copy to S is one of the copies without a name
    }
  }

  std::vector<std::string> remarks() const override {
    const auto text = [](std::uint64_t count) { return std::to_string(count); };
    return {text(rounds_) + " rounds: " + text(at_once_) + " satisfied at once, " + text(later_) +
                " after a change of the window, " + text(given_up_) + " unsatisfied after " +
                std::to_string(options_.most_changes) + " changes, " + text(no_result_) +
                " without a result",
            text(changes_in_all_) + " changes of the window, " + text(shortened_) +
                " windows of a step because equation 3 gave less, " + text(idle_) +
                " windows of w without a round"};
  }

 private:
  /// Ends the round if its result satisfies. Otherwise changes its window.
  void judge(const Situation& situation) {
    const std::uint64_t all = delivered_ + lost_;
    if (all == 0) {  // no result yet
      const auto same = [&](const Pair& pair) {
        return pair.from == pair_.from && pair.to == pair_.to;
      };
      if (std::ranges::any_of(situation.active, same)) return;
      ++no_result_;
      in_round_ = false;
      return;
    }
    const double loss = static_cast<double>(lost_) / static_cast<double>(all);
    if (loss <= options_.loss_threshold) {
      ++(changes_ == 0 ? at_once_ : later_);
      in_round_ = false;
    } else if (changes_ == options_.most_changes) {
      ++given_up_;
      in_round_ = false;
    } else {
      window_ = adapted(situation);
      ++changes_;
      ++changes_in_all_;
      delivered_ = lost_ = 0;
    }
  }

  /// Chooses P and S. Does nothing if no pair that the scenario allows has a packet in flight.
  void begin(const Situation& situation) {
    const std::size_t robots = situation.poses.size();
    last_round_.resize(robots * robots);
    const Pair* chosen = nullptr;
    std::uint64_t longest_ago = 0;
    for (const Pair& pair : situation.active) {
      if (options_.publisher != kEveryone && options_.publisher != pair.from) continue;
      if (options_.subscriber != kEveryone && options_.subscriber != pair.to) continue;
      const std::uint64_t last = last_round_[pair.from * robots + pair.to];
      if (chosen != nullptr && last >= longest_ago) continue;
      chosen = &pair;
      longest_ago = last;
    }
    if (chosen == nullptr) return;
    pair_ = *chosen;
    last_round_[pair_.from * robots + pair_.to] = ++rounds_;
    window_ = options_.window;
    delivered_ = lost_ = 0;
    changes_ = 0;
    in_round_ = true;
  }

  Duration adapted(const Situation& situation) {
    const Duration found = equation_3(window_, speed_difference(situation, pair_), unit_ns_);
    if (found >= options_.step.longest()) return found;
    ++shortened_;
    return options_.step.longest();
  }

  MethodOptions options_;
  std::int64_t unit_ns_;
  ListingTime time_;

  bool in_round_ = false;
  Pair pair_{};  // P and S
  Duration window_;
  std::int64_t changes_ = 0;
  std::uint64_t delivered_ = 0;  // from P to S, since the last change of the window
  std::uint64_t lost_ = 0;
  std::vector<std::uint64_t> last_round_;  // by P, then S

  std::uint64_t rounds_ = 0;
  std::uint64_t at_once_ = 0;
  std::uint64_t later_ = 0;
  std::uint64_t given_up_ = 0;
  std::uint64_t no_result_ = 0;
  std::uint64_t changes_in_all_ = 0;
  std::uint64_t shortened_ = 0;
  std::uint64_t idle_ = 0;
};

}  // namespace

namespace make {
std::unique_ptr<Method> algorithm_1(const MethodOptions& options, const Variant& variant) {
  return std::make_unique<Algorithm1>(options, variant);
}
}  // namespace make

}  // namespace hyphos::cosim
