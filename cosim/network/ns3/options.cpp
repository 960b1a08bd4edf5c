#include "cosim/network/ns3/options.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "cosim/adapter/settings.hpp"
#include "cosim/network/ns3/radio_list.hpp"
#include "cosim/world/settings.hpp"

namespace hyphos::cosim {
namespace {

struct Real {
  std::string_view key;
  double RadioOptions::* member;
  double least;
  double most;
};
constexpr std::array kReals{Real{"rate_mbit", &RadioOptions::rate_mbit, 6, 54},
                            Real{"tx_power_dbm", &RadioOptions::tx_power_dbm, -100, 100},
                            Real{"path_loss_exponent", &RadioOptions::path_loss_exponent, 0.1, 20},
                            Real{"reference_loss_db", &RadioOptions::reference_loss_db, -200, 200},
                            Real{"shadowing_db", &RadioOptions::shadowing_db, 0, 100},
                            Real{"noise_dbm", &RadioOptions::noise_dbm, -100, 0},
                            Real{"detection_dbm", &RadioOptions::detection_dbm, -200, 0}};

struct Whole {
  std::string_view key;
  std::uint32_t RadioOptions::* member;
  double least;
  double most;
};
constexpr std::array kWholes{Whole{"queue_packets", &RadioOptions::queue_packets, 1, 1e6},
                             Whole{"retry_limit", &RadioOptions::retry_limit, 1, 255},
                             Whole{"cw_min", &RadioOptions::cw_min, 0, 32767},
                             Whole{"cw_max", &RadioOptions::cw_max, 0, 32767}};

// Words and numbers of a named radio.
struct Word {
  std::string_view key;
  std::string& (*of)(RadioOptions&);
};
constexpr std::array kWords{
    Word{"kind", [](RadioOptions& radio) -> std::string& { return radio.kind; }},
    Word{"rate", [](RadioOptions& radio) -> std::string& { return radio.rate; }},
    Word{"rate_control", [](RadioOptions& radio) -> std::string& { return radio.rate_control; }},
    Word{"path_loss", [](RadioOptions& radio) -> std::string& { return radio.channel.path_loss; }},
    Word{"environment",
         [](RadioOptions& radio) -> std::string& { return radio.channel.environment; }},
    Word{"fading", [](RadioOptions& radio) -> std::string& { return radio.channel.fading; }}};

struct ChannelReal {
  std::string_view key;
  double ChannelOptions::* member;
  double least;
  double most;
};
constexpr std::array kChannelReals{
    ChannelReal{"shadowing_distance_m", &ChannelOptions::shadowing_distance_m, 0, 1e6},
    ChannelReal{"sight_distance_m", &ChannelOptions::sight_distance_m, 0, 1e6},
    ChannelReal{"k_los_db", &ChannelOptions::k_los_db, -100, 100},
    ChannelReal{"k_nlos_db", &ChannelOptions::k_nlos_db, -100, 100},
    ChannelReal{"m_los", &ChannelOptions::m_los, 0.5, 50},
    ChannelReal{"m_nlos", &ChannelOptions::m_nlos, 0.5, 50},
    ChannelReal{"scatterer_speed", &ChannelOptions::scatterer_speed, 0, 1000},
    ChannelReal{"noise_figure_db", &ChannelOptions::noise_figure_db, -1, 60},
    ChannelReal{"interference_dbm", &ChannelOptions::interference_dbm, -1000, 100},
    ChannelReal{"frequency_hz", &ChannelOptions::frequency_hz, 0, 1e12}};

struct Line {
  std::string_view kinds;  // start of their names
  Ns3Support support;
};
#define HYPHOS_LINE(name, kinds, jammers, rate_control, tcp) \
  Line{kinds, {#name, jammers, rate_control, tcp}},
constexpr std::array kRadios{HYPHOS_COSIM_NS3_RADIOS(HYPHOS_LINE)};
#undef HYPHOS_LINE

template <typename Known>
const Known* find(std::span<const Known> all, std::string_view key) {
  const auto found = std::ranges::find(all, key, &Known::key);
  return found == all.end() ? nullptr : &*found;
}

Error bad(const Setting& setting, const char* what) {
  return {Code::invalid_config, what, std::string(setting.key)};
}

/// The robot or -1, place, power, duty, period in ns, and both ends of the band in Hz.
Jammer jammer_of(const std::vector<double>& values) {
  Jammer jammer;
  if (values[0] >= 0) jammer.robot = static_cast<NodeId>(values[0]);
  jammer.place = {values[1], values[2], values[3]};
  jammer.power_dbm = values[4];
  jammer.duty = values[5];
  jammer.period = {std::max(Jammers::kLeastPeriod.ns, static_cast<std::int64_t>(values[6]))};
  jammer.low_hz = values[7];
  jammer.high_hz = values[8];
  return jammer;
}

/// Reads a setting that only a named radio has. Returns false for other settings.
Result<bool> take_named(Ns3Options& options, const Setting& setting) {
  RadioOptions& radio = options.radio;
  if (const Word* word = find<Word>(kWords, setting.key); word != nullptr) {
    if (setting.values.size() != 1) return bad(setting, "must be one word");
    word->of(radio) = setting.values[0];
  } else if (const auto* real = find<ChannelReal>(kChannelReals, setting.key); real != nullptr) {
    auto value = number(setting, real->least, real->most);
    if (!value) return value.error();
    radio.channel.*real->member = *value;
  } else if (setting.key == "knife_edge") {
    radio.channel.knife_edge = true;
  } else if (setting.key == "models") {
    const auto models = setting.values.size() == 1 ? find_models(setting.values[0]) : std::nullopt;
    if (!models) return bad(setting, "must be ns3 or hyphos");
    options.models = *models;
  } else if (setting.key == "antenna") {
    auto values = numbers(setting, 3);
    if (!values) return values.error();
    radio.antennas.push_back({.height_m = (*values)[0],
                              .gain_dbi = (*values)[1],
                              .pattern = (*values)[2] != 0 ? Pattern::dipole : Pattern::isotropic,
                              .given = true});
  } else if (setting.key == "station") {
    auto values = numbers(setting, 5);
    if (!values) return values.error();
    BaseStation& station = radio.cell.stations.emplace_back();
    station.place = {(*values)[0], (*values)[1], (*values)[2]};
    station.tx_power_dbm = (*values)[3];
    station.gain_dbi = (*values)[4];
  } else if (setting.key == "cell") {
    auto values = numbers(setting, 3);
    if (!values) return values.error();
    radio.cell.core_delay = {static_cast<std::int64_t>((*values)[0])};
    radio.cell.handover_db = (*values)[1];
    radio.cell.time_to_trigger = {static_cast<std::int64_t>((*values)[2])};
  } else if (setting.key == "jammer") {
    auto values = numbers(setting, 9);
    if (!values) return values.error();
    radio.jammers.push_back(jammer_of(*values));
  } else {
    return false;
  }
  return true;
}

Result<void> take(Ns3Options& options, const Setting& setting) {
  auto named = take_named(options, setting);
  if (!named) return named.error();
  if (*named) return success();
  if (const Real* real = find<Real>(kReals, setting.key); real != nullptr) {
    auto value = number(setting, real->least, real->most);
    if (!value) return value.error();
    options.radio.*real->member = *value;
  } else if (const Whole* whole = find<Whole>(kWholes, setting.key); whole != nullptr) {
    auto value = number(setting, whole->least, whole->most, true);
    if (!value) return value.error();
    options.radio.*whole->member = static_cast<std::uint32_t>(*value);
  } else if (setting.key == "host_jitter_ns") {
    auto value = number(setting, 0, 1e9, true);
    if (!value) return value.error();
    options.radio.host_jitter = {static_cast<std::int64_t>(*value)};
  } else if (setting.key == "box") {
    auto solid = box(setting);
    if (!solid) return solid.error();
    options.boxes.push_back(*solid);
  } else if (is_terrain(setting)) {
    if (!options.terrain) options.terrain.emplace();
    return take_terrain(setting, *options.terrain);
  } else if (setting.key == "transport") {
    const std::string_view value = setting.values.size() == 1 ? setting.values[0] : "";
    if (value != "udp" && value != "tcp") {
      return Error{Code::invalid_config, "must be udp or tcp", "transport"};
    }
    options.transport = value == "tcp" ? Transport::tcp : Transport::udp;
  } else {
    return unknown(setting);
  }
  return success();
}

void write_word(std::string& text, std::string_view key, std::string_view value) {
  if (!value.empty()) text.append(key).append(" ").append(value).append("\n");
}

void write_named(std::string& text, const Ns3Options& options) {
  RadioOptions radio = options.radio;
  for (const Word& word : kWords) write_word(text, word.key, word.of(radio));
  for (const ChannelReal& real : kChannelReals) {
    write_setting(text, real.key, std::array{radio.channel.*real.member});
  }
  if (radio.channel.knife_edge) text += "knife_edge\n";
  write_word(text, "models", options.models == Models::ns3 ? "ns3" : "hyphos");
  for (const Antenna& antenna : radio.antennas) {
    write_setting(text, "antenna",
                  std::array{antenna.height_m, antenna.gain_dbi,
                             antenna.pattern == Pattern::dipole ? 1.0 : 0.0});
  }
  if (!radio.cell.stations.empty()) {
    write_setting(text, "cell",
                  std::array{static_cast<double>(radio.cell.core_delay.ns), radio.cell.handover_db,
                             static_cast<double>(radio.cell.time_to_trigger.ns)});
  }
  for (const BaseStation& station : radio.cell.stations) {
    write_setting(text, "station",
                  std::array{station.place.x, station.place.y, station.place.z,
                             station.tx_power_dbm, station.gain_dbi});
  }
  for (const Jammer& jammer : radio.jammers) {
    write_setting(
        text, "jammer",
        std::array{jammer.robot ? static_cast<double>(*jammer.robot) : -1.0, jammer.place.x,
                   jammer.place.y, jammer.place.z, jammer.power_dbm, jammer.duty,
                   static_cast<double>(jammer.period.ns), jammer.low_hz, jammer.high_hz});
  }
}

}  // namespace

std::optional<Ns3Support> ns3_support(std::string_view kind) {
  for (const Line& line : kRadios) {
    if (kind.empty() || kind.starts_with(line.kinds)) return line.support;
  }
  return std::nullopt;
}

std::string ns3_kinds() {
  std::string names;
  for (std::size_t i = 0; i < kRadios.size(); ++i) {
    if (i > 0) names += i + 1 == kRadios.size() ? " or " : ", ";
    names += kRadios[i].kinds;
  }
  return names;
}

std::optional<Models> find_models(std::string_view name) {
  if (name == "ns3") return Models::ns3;
  if (name == "hyphos") return Models::hyphos;
  return std::nullopt;
}

std::string to_text(const Ns3Options& options) {
  std::string text = options.transport == Transport::tcp ? "transport tcp\n" : "transport udp\n";
  for (const Real& real : kReals) {
    write_setting(text, real.key, std::array{options.radio.*real.member});
  }
  for (const Whole& whole : kWholes) {
    write_setting(text, whole.key, std::array{static_cast<double>(options.radio.*whole.member)});
  }
  write_setting(text, "host_jitter_ns",
                std::array{static_cast<double>(options.radio.host_jitter.ns)});
  if (!options.radio.kind.empty()) write_named(text, options);
  for (const Box& solid : options.boxes) write_box(text, solid);
  if (options.terrain) write_terrain(text, *options.terrain);
  return text;
}

Result<Ns3Options> ns3_options(std::string_view text) {
  Ns3Options options;
  for (const Setting& setting : read_settings(text)) {
    if (auto taken = take(options, setting); !taken) return taken.error();
  }
  return options;
}

}  // namespace hyphos::cosim
