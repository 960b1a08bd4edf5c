// Writes the sets that ROS's own message_filters forms of generated stamps: the golden vectors of
// the synchronizer, tests/node/sync/vectors.txt. With the argument `-`, the cases come from
// standard input in the same form, without the sets. Built only if Debian's libmessage-filters-dev
// is installed. A line is one of
//
//     case RULE channels=N queue=N max_interval=NS age_penalty=X [spacing=NS,NS,...]
//     + CHANNEL STAMP_NS       a message. Messages of a case count from 0
//     = MESSAGE MESSAGE ...    a set that this message completed, in the order of the channels
#include <message_filters/sync_policies/approximate_time.h>
#include <message_filters/sync_policies/exact_time.h>
#include <message_filters/synchronizer.h>
#include <ros/time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

struct Sample {
  std::int64_t stamp_ns = 0;
  std::size_t number = 0;
};

namespace ros::message_traits {
template <>
struct TimeStamp<Sample> {
  static ros::Time value(const Sample& sample) {
    ros::Time time;
    time.fromNSec(static_cast<std::uint64_t>(sample.stamp_ns));
    return time;
  }
};
}  // namespace ros::message_traits

namespace {

namespace mf = message_filters;
using None = mf::NullType;
using SamplePtr = boost::shared_ptr<const Sample>;

struct Arrival {
  std::size_t channel;
  std::int64_t stamp_ns;
};

struct Case {
  bool exact = false;
  std::size_t channels = 2;
  std::uint32_t queue = 10;
  std::int64_t max_interval_ns = -1;  // -1: no limit
  double age_penalty = 0.1;
  std::vector<std::int64_t> spacing_ns;
  std::vector<Arrival> arrivals;
};

// The results of the standard's distributions are not portable.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(bound));
  }
  bool one_in(std::int64_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStart = 1'000'000 * kMs;

/// Sensors with a period, a jitter, a transport delay and losses. Stamps may repeat or go back.
std::vector<Arrival> periodic(Dice& dice, std::size_t channels, std::size_t most, bool equal) {
  struct Due {
    std::int64_t at_ns;
    Arrival arrival;
  };
  std::vector<Due> due;
  const std::int64_t common = (5 + dice.below(60)) * kMs;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const std::int64_t period = equal ? common * (1 + dice.below(2)) : (5 + dice.below(95)) * kMs;
    const std::int64_t jitter = equal ? 1 : 1 + dice.below(period / 2);
    const std::int64_t delay = dice.below(40) * kMs;
    const std::int64_t loss = 2 + dice.below(20);
    std::int64_t at = kStart + (equal ? 0 : dice.below(period));
    for (std::size_t i = 0; i < most; ++i, at += period) {
      if (dice.one_in(loss)) continue;
      const std::int64_t stamp = dice.one_in(25) && !equal ? at - period : at + dice.below(jitter);
      due.push_back({at + delay + dice.below(5 * kMs), {channel, stamp}});
    }
  }
  std::stable_sort(due.begin(), due.end(),
                   [](const Due& a, const Due& b) { return a.at_ns < b.at_ns; });
  due.resize(std::min(due.size(), most));
  std::vector<Arrival> arrivals;
  for (const Due& each : due) arrivals.push_back(each.arrival);
  return arrivals;
}

/// Few different stamps in any order.
std::vector<Arrival> wild(Dice& dice, std::size_t channels, std::size_t count) {
  std::vector<Arrival> arrivals;
  std::int64_t now = kStart;
  for (std::size_t i = 0; i < count; ++i) {
    now += dice.below(3) * 10 * kMs;
    const auto channel = static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(channels)));
    arrivals.push_back({channel, now - dice.below(4) * 10 * kMs});
  }
  return arrivals;
}

Case make_case(std::uint32_t seed) {
  Dice dice(seed);
  Case made;
  made.exact = seed / 8 % 4 == 3;
  made.channels = 2 + seed % 8;
  made.queue = static_cast<std::uint32_t>(dice.one_in(4) ? 1 + dice.below(4) : 5 + dice.below(20));
  const std::size_t count = 24 + 6 * made.channels;
  made.arrivals = dice.one_in(3) ? wild(dice, made.channels, count)
                                 : periodic(dice, made.channels, count, made.exact);
  if (made.exact) return made;
  if (dice.one_in(2)) made.max_interval_ns = dice.below(60) * kMs;
  if (dice.one_in(3)) made.age_penalty = dice.one_in(2) ? 0 : 1.5;
  if (dice.one_in(2)) {
    for (std::size_t i = 0; i < made.channels; ++i) made.spacing_ns.push_back(dice.below(30) * kMs);
  }
  return made;
}

/// Prints the message numbers of each set.
struct Print {
  using result_type = void;
  template <typename... Ptrs>
  void operator()(const Ptrs&... samples) const {
    std::printf("=");
    (print(samples), ...);
    std::printf("\n");
  }
  static void print(const SamplePtr& sample) { std::printf(" %zu", sample->number); }
  static void print(const boost::shared_ptr<const None>& /*unused*/) {}
};

template <typename Sync, std::size_t... Is>
void feed(Sync& sync, const std::vector<Arrival>& arrivals, std::index_sequence<Is...> /*all*/) {
  for (std::size_t number = 0; number < arrivals.size(); ++number) {
    const Arrival& arrival = arrivals[number];
    const ros::MessageEvent<const Sample> event(
        boost::make_shared<const Sample>(Sample{arrival.stamp_ns, number}));
    std::printf("+ %zu %lld\n", arrival.channel, static_cast<long long>(arrival.stamp_ns));
    const auto add = [&]<std::size_t i>(std::integral_constant<std::size_t, i> /*channel*/) {
      if (arrival.channel == i) sync.template add<static_cast<int>(i)>(event);
    };
    (add(std::integral_constant<std::size_t, Is>()), ...);
  }
}

template <std::size_t n, std::size_t i>
using SampleOrNone = std::conditional_t<(i < n), Sample, None>;

template <template <typename...> class Policy, std::size_t n, std::size_t... Is>
Policy<SampleOrNone<n, Is>...> policy_type(std::index_sequence<Is...>);
template <std::size_t n>
using Exact = decltype(policy_type<mf::sync_policies::ExactTime, n>(std::make_index_sequence<9>()));
template <std::size_t n>
using Approximate =
    decltype(policy_type<mf::sync_policies::ApproximateTime, n>(std::make_index_sequence<9>()));

template <std::size_t n>
void run(const Case& one) {
  const auto channels = std::make_index_sequence<n>();
  if (one.exact) {
    mf::Synchronizer<Exact<n>> sync{Exact<n>(one.queue)};
    sync.registerCallback(Print());
    return feed(sync, one.arrivals, channels);
  }
  mf::Synchronizer<Approximate<n>> sync{Approximate<n>(one.queue)};
  sync.setAgePenalty(one.age_penalty);
  const auto duration = [](std::int64_t ns) { return ros::Duration().fromNSec(ns); };
  if (one.max_interval_ns >= 0) sync.setMaxIntervalDuration(duration(one.max_interval_ns));
  for (std::size_t i = 0; i < one.spacing_ns.size(); ++i) {
    sync.setInterMessageLowerBound(static_cast<int>(i), duration(one.spacing_ns[i]));
  }
  sync.registerCallback(Print());
  feed(sync, one.arrivals, channels);
}

void print_case(const Case& one) {
  std::printf("case %s channels=%zu queue=%u max_interval=%lld age_penalty=%g",
              one.exact ? "exact" : "approximate", one.channels, one.queue,
              static_cast<long long>(one.max_interval_ns), one.age_penalty);
  for (std::size_t i = 0; i < one.spacing_ns.size(); ++i) {
    std::printf("%s%lld", i == 0 ? " spacing=" : ",", static_cast<long long>(one.spacing_ns[i]));
  }
  std::printf("\n");
}

void run(const Case& one) {
  print_case(one);
  constexpr void (*kRun[])(const Case&) = {run<2>, run<3>, run<4>, run<5>,
                                           run<6>, run<7>, run<8>, run<9>};
  kRun[one.channels - 2](one);
}

Case read_case(std::istream& words) {
  Case made;
  std::string word;
  words >> word;
  made.exact = word == "exact";
  while (words >> word) {
    const std::size_t at = word.find('=');
    const std::string key = word.substr(0, at);
    const std::string value = word.substr(at + 1);
    if (key == "channels") made.channels = std::stoul(value);
    if (key == "queue") made.queue = static_cast<std::uint32_t>(std::stoul(value));
    if (key == "max_interval") made.max_interval_ns = std::stoll(value);
    if (key == "age_penalty") made.age_penalty = std::stod(value);
    std::istringstream bounds(key == "spacing" ? value : "");
    for (std::string bound; std::getline(bounds, bound, ',');) {
      made.spacing_ns.push_back(std::stoll(bound));
    }
  }
  return made;
}

std::vector<Case> read_cases(std::istream& in) {
  std::vector<Case> cases;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "case") {
      cases.push_back(read_case(words));
    } else if (kind == "+") {
      Arrival& arrival = cases.back().arrivals.emplace_back();
      words >> arrival.channel >> arrival.stamp_ns;
    }
  }
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  ros::Time::init();
  if (argc > 1 && std::string(argv[1]) == "-") {
    for (const Case& one : read_cases(std::cin)) run(one);
    return 0;
  }
  const auto cases = argc > 1 ? static_cast<std::uint32_t>(std::stoul(argv[1])) : 64U;
  for (std::uint32_t seed = 1; seed <= cases; ++seed) run(make_case(seed));
}
