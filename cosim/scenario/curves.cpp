#include "cosim/scenario/curves.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::uint32_t kPairs = 300;
constexpr int kDistances = 120;
constexpr double kFarthest = 1e5;  // m
constexpr double kStepDb = 0.25;

/// Two ends, as those of many pairs with draws of their own.
struct Pairs {
  RadioModel model;
  Vec3 from;
  double to_height = 0;
  std::size_t bytes = 0;
  std::uint32_t rates = 1;

  [[nodiscard]] Vec3 to(double distance) const { return {from.x + distance, from.y, to_height}; }
};

Vec3 start_of(const Path& path) { return pose_at(path, {}).position; }

/// The index of a name, or `fallback` without one.
Result<std::uint32_t> index_of(const std::vector<std::string>& names, const std::string& name,
                               const char* what, std::uint32_t fallback) {
  if (name.empty()) return fallback;
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::uint32_t>(found - names.begin());
  std::string list;
  for (const std::string& one : names) list += (list.empty() ? "" : ", ") + one;
  return Error{Code::not_found,
               std::string("no ") + what + " '" + name + "': the " + what + "s are " + list,
               "radio"};
}

/// The ends of the curves: two robots, or a base station and a robot.
struct EndPair {
  std::string from_name;
  std::string to_name;
  Vec3 from;
  double to_height = 0;
  Antenna from_antenna{};
  Antenna to_antenna{};
  double tx_power_dbm = 0;
};

Result<EndPair> ends_of(const Scenario& scenario, const CurveEnds& ends) {
  const RadioOptions& options = scenario.radio;
  const auto antenna = [&](NodeId node) {
    return node < options.antennas.size() ? options.antennas[node] : Antenna{};
  };
  const RadioKind* const kind = find_radio(options.kind);
  EndPair pair;
  pair.tx_power_dbm = options.tx_power_dbm;
  NodeId other = 0;
  if (kind != nullptr && kind->cellular) {
    std::vector<std::string> names;
    for (const BaseStation& one : options.cell.stations) names.push_back(one.name);
    const auto station = index_of(names, ends.from, "base station", 0);
    if (!station) return station.error();
    const BaseStation& base = options.cell.stations[*station];
    pair.from_name = base.name;
    pair.from = {0, 0, base.place.z};
    pair.from_antenna.gain_dbi = base.gain_dbi;
    pair.tx_power_dbm = base.tx_power_dbm;
  } else {
    const auto from = index_of(scenario.robots, ends.from, "robot", 0);
    if (!from) return from.error();
    pair.from_name = scenario.robots[*from];
    pair.from = {0, 0, start_of(scenario.paths[*from]).z};
    pair.from_antenna = antenna(*from);
    other = *from == 0 ? 1 : 0;
  }
  const auto to = index_of(scenario.robots, ends.to, "robot", other);
  if (!to) return to.error();
  pair.to_name = scenario.robots[*to];
  pair.to_height = start_of(scenario.paths[*to]).z;
  pair.to_antenna = antenna(*to);
  return pair;
}

Result<Pairs> pairs_of(const Scenario& scenario, const EndPair& ends) {
  RadioOptions options = scenario.radio;
  options.tx_power_dbm = ends.tx_power_dbm;
  options.antennas.clear();
  for (std::uint32_t i = 0; i < kPairs; ++i) {
    options.antennas.push_back(ends.from_antenna);
    options.antennas.push_back(ends.to_antenna);
  }
  auto model = RadioModel::make(options, nullptr, scenario.seed);
  if (!model) return model.error();
  Pairs pairs{*model, ends.from, ends.to_height, scenario.traffic.bytes};
  if (const Radio* named = pairs.model.named()) {
    pairs.rates = static_cast<std::uint32_t>(named->kind().rates.size());
  }
  return pairs;
}

double lost(const RadioModel& model, std::uint32_t rate, double sinr_db, std::size_t bytes) {
  return 1 - model.detection(sinr_db) * (1 - model.frame_error(rate, sinr_db, bytes));
}

void put_number(JsonWriter& json, std::string_view key, double value) {
  json.key(key);
  json.real(value);
}

void put_list(JsonWriter& json, std::string_view key, const std::vector<double>& values) {
  json.key(key);
  json.begin_list();
  for (const double value : values) json.real(value);
  json.end_list();
}

/// Path loss with and without a line of sight, and its probability.
std::array<double, 3> path_loss(const Pairs& pairs, double distance) {
  const RadioOptions& options = pairs.model.options();
  const Radio* const named = pairs.model.named();
  if (named == nullptr) {
    const double loss = options.reference_loss_db +
                        10 * options.path_loss_exponent * std::log10(std::max(1.0, distance));
    return {loss, loss, 1};
  }
  const Antenna& from = options.antennas[0];
  const Antenna& to = options.antennas[1];
  const Link link{{0, from.place({pairs.from, {}})}, {1, to.place({pairs.to(distance), {}})}};
  const PathLoss& model = named->channel().path_loss();
  return {model.loss_db(link, true), model.loss_db(link, false), model.los_probability(link)};
}

/// One point of the curves over distance. Returns the least loss of all rates.
double put_distance(JsonWriter& json, const Pairs& pairs, double distance) {
  const Vec3 there = pairs.to(distance);
  std::vector<double> ratios;
  std::vector<double> losses(pairs.rates, 0);
  for (std::uint32_t i = 0; i < kPairs; ++i) {
    const double power = pairs.model.power_dbm(2 * i, pairs.from, 2 * i + 1, there);
    const bool received =
        pairs.model.received_dbm(2 * i, {pairs.from, {}}, 2 * i + 1, {there, {}}, {}).has_value();
    ratios.push_back(power - pairs.model.noise_dbm());
    for (std::uint32_t rate = 0; rate < pairs.rates; ++rate) {
      losses[rate] += received ? lost(pairs.model, rate, ratios.back(), pairs.bytes) : 1;
    }
  }
  for (double& loss : losses) loss /= kPairs;
  std::ranges::sort(ratios);
  const auto [clear, blocked, probability] = path_loss(pairs, distance);
  json.begin_object();
  put_number(json, "distance_m", distance);
  put_number(json, "path_loss_db", clear);
  put_number(json, "path_loss_nlos_db", blocked);
  put_number(json, "los_probability", probability);
  put_number(json, "snr_db", ratios[kPairs / 2]);
  put_number(json, "snr_p5_db", ratios[kPairs / 20]);
  put_number(json, "snr_p95_db", ratios[kPairs - kPairs / 20]);
  put_list(json, "loss", losses);
  json.end_object();
  return *std::ranges::min_element(losses);
}

void put_errors(JsonWriter& json, const Pairs& pairs) {
  json.key("errors");
  json.begin_list();
  for (double ratio = -30; ratio <= 45; ratio += kStepDb) {
    std::vector<double> losses;
    for (std::uint32_t rate = 0; rate < pairs.rates; ++rate) {
      losses.push_back(lost(pairs.model, rate, ratio, pairs.bytes));
    }
    json.begin_object();
    put_number(json, "snr_db", ratio);
    put_list(json, "loss", losses);
    json.end_object();
  }
  json.end_list();
}

void put_radio(JsonWriter& json, const Scenario& scenario, const Pairs& pairs) {
  const RadioOptions& options = scenario.radio;
  const Radio* const named = pairs.model.named();
  const auto text = [&](std::string_view key, std::string_view value) {
    json.key(key);
    json.text(value);
  };
  text("kind", named != nullptr ? named->kind().name : "simple");
  text("source", named != nullptr ? named->kind().source : "cosim/network/radio_model.hpp");
  text("path_loss", named != nullptr ? options.channel.path_loss : "log_distance");
  text("environment", options.channel.environment);
  text("fading", named != nullptr ? options.channel.fading : "none");
  const bool cellular = named != nullptr && named->kind().cellular;
  text("rate_control", cellular ? "by channel quality" : options.rate_control);
  std::string rate = options.rate;
  if (rate.empty() && named != nullptr && options.rate_control == "fixed" && !cellular) {
    rate = named->kind().rates.front().name;
  }
  text("rate", rate);
  put_number(json, "shadowing_db", options.shadowing_db);
  put_number(json, "tx_power_dbm", pairs.model.options().tx_power_dbm);
  put_number(json, "noise_dbm", pairs.model.noise_dbm());
  put_number(json, "bytes", static_cast<double>(pairs.bytes));
  put_number(json, "from_height_m", pairs.from.z + pairs.model.options().antennas[0].height_m);
  put_number(json, "to_height_m", pairs.to_height + pairs.model.options().antennas[1].height_m);
  json.key("rates");
  json.begin_list();
  for (std::uint32_t i = 0; i < pairs.rates; ++i) {
    json.text(named != nullptr ? named->kind().rates[i].name : "");
  }
  json.end_list();
}

}  // namespace

Result<std::string> radio_curves(const Scenario& scenario, const CurveEnds& ends) {
  if (scenario.network != NetworkKind::analytic && scenario.network != NetworkKind::ns3) {
    return Error{Code::unsupported,
                 "`radio.simulator: " + std::string(to_string(scenario.network)) +
                     "` has no radio: choose analytic",
                 "radio.simulator"};
  }
  const auto chosen = ends_of(scenario, ends);
  if (!chosen) return chosen.error();
  const auto pairs = pairs_of(scenario, *chosen);
  if (!pairs) return pairs.error();
  JsonWriter json;
  json.begin_object();
  json.key("from");
  json.text(chosen->from_name);
  json.key("to");
  json.text(chosen->to_name);
  put_radio(json, scenario, *pairs);
  json.key("distances");
  json.begin_list();
  const double farthest = std::clamp(pairs->model.range_m(), 10.0, kFarthest);
  for (int i = 0; i <= kDistances; ++i) {
    if (put_distance(json, *pairs, std::pow(farthest, static_cast<double>(i) / kDistances)) >= 1) {
      break;
    }
  }
  json.end_list();
  put_errors(json, *pairs);
  json.end_object();
  return std::move(json).take();
}

std::string radio_list() {
  std::string text;
  for (const RadioKind* kind : known_radios()) {
    text += std::string(kind->name) + ": " + std::string(kind->about) + "\n  rates:";
    for (const Rate& rate : kind->rates) text += " " + std::string(rate.name);
    text += "\n  source: " + std::string(kind->source) + "\n";
  }
  return text;
}

}  // namespace hyphos::cosim
