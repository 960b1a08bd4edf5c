#include "cosim/scenario/radio.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "cosim/scenario/cells.hpp"
#include "cosim/scenario/jammers.hpp"

namespace hyphos::cosim {
namespace {

using config::Problems;
using config::Section;
using config::Value;

/// Reports the keys that are given although another key makes them meaningless.
void refuse(const Section& section, std::initializer_list<std::string_view> keys,
            const std::string& text) {
  for (const std::string_view key : keys) {
    if (section.has(key)) section.error(key, text);
  }
}

template <typename Known>
std::vector<std::string_view> names_of(const Known& known) {
  std::vector<std::string_view> names;
  for (const auto& one : known) names.push_back(one.name);
  return names;
}

/// Reads `radio.file`, relative to the scenario unless its path is absolute.
void read_recorded_network(const Section& radio, const std::string& scenario_path,
                           Scenario& scenario, Problems& problems) {
  const bool replays = scenario.network == NetworkKind::replay;
  const Value* given = radio.find("file");
  if ((given != nullptr) != replays) {
    const char* what = replays ? "is missing: give a recorded network, a table or a trace"
                               : "only valid with `radio.simulator: replay`";
    return radio.error("file", what);
  }
  if (!replays) return;
  const auto path = std::filesystem::path(scenario_path).parent_path() / given->text;
  load_recording(path.string(), given->source, scenario, problems);
}

void read_fading(const Section& channel, ChannelOptions& to) {
  to.fading = channel.word_of("fading", to.fading, names_of(known_fadings()));
  to.k_los_db = channel.real("k_los_db", to.k_los_db, -100, 100);
  to.k_nlos_db = channel.real("k_nlos_db", to.k_nlos_db, -100, 100);
  to.m_los = channel.real("m_los", to.m_los, 0.5, 50);
  to.m_nlos = channel.real("m_nlos", to.m_nlos, 0.5, 50);
  to.scatterer_speed = channel.real("scatterer_speed", to.scatterer_speed, 0, 1000);
  if (to.fading != "rician") {
    refuse(channel, {"k_los_db", "k_nlos_db"}, "only valid with `fading: rician`");
  }
  if (to.fading != "nakagami") {
    refuse(channel, {"m_los", "m_nlos"}, "only valid with `fading: nakagami`");
  }
  if (to.fading == "none") {
    refuse(channel, {"scatterer_speed"}, "only valid with `fading`: rayleigh, rician or nakagami");
  }
}

/// Reads `radio.channel`, of a named radio.
void read_channel(const Section& radio, const Section& channel, RadioOptions& radio_options) {
  ChannelOptions& to = radio_options.channel;
  to.path_loss = channel.word_of("path_loss", to.path_loss, names_of(known_path_losses()));
  const auto& environments = find_path_loss(to.path_loss)->environments;
  if (environments.empty()) {
    refuse(channel, {"environment"}, "only valid with `path_loss: air_to_ground` or `elevation`");
  } else {
    to.environment = channel.word_of("environment", environments.front(),
                                     {environments.begin(), environments.end()});
  }
  if (to.path_loss != "log_distance") {
    refuse(radio, {"path_loss_exponent", "reference_loss_db"},
           "only valid with `radio.channel.path_loss: log_distance`");
  }
  to.knife_edge =
      channel.choice<bool>("diffraction", false, {{"none", false}, {"knife_edge", true}});
  to.shadowing_distance_m = channel.real("shadowing_distance_m", to.shadowing_distance_m, 0, 1e6);
  if (radio_options.shadowing_db == 0) {
    refuse(channel, {"shadowing_distance_m"}, "only valid with `radio.shadowing_db` above 0");
  }
  to.sight_distance_m = channel.real("sight_distance_m", to.sight_distance_m, 0, 1e6);
  if (environments.empty()) {
    refuse(channel, {"sight_distance_m"},
           "only valid with `path_loss: air_to_ground` or `elevation`");
  }
  read_fading(channel, to);
  if (channel.has("noise_figure_db")) {
    to.noise_figure_db = channel.real("noise_figure_db", 0, 0, 60);
  }
  to.interference_dbm = channel.real("interference_dbm", to.interference_dbm, -1000, 100);
  to.frequency_hz = channel.real("frequency_mhz", 0, 1, 1e6) * 1e6;
}

/// The names of rate controls of this simulator.
std::vector<std::string_view> rate_controls(NetworkKind network) {
  std::vector<std::string_view> names;
  for (const KnownRateControl& one : known_rate_controls()) {
    if (!one.ns3_only || network == NetworkKind::ns3) names.push_back(one.name);
  }
  return names;
}

/// Reads the keys that only one of the simulators has.
void read_simulated(const Section& radio, const Section& channel, Scenario& scenario) {
  const std::string& kind = scenario.radio.kind;
  scenario.models = channel.choice<Models>("models", Models::ns3,
                                           {{"ns3", Models::ns3}, {"hyphos", Models::hyphos}});
  if (scenario.network == NetworkKind::analytic) {
    return refuse(channel, {"models"}, "only valid with `radio.simulator: ns3`");
  }
  if (scenario.network != NetworkKind::ns3) {
    return radio.error("kind", "only valid with `radio.simulator: analytic` or `ns3`");
  }
  const RadioKind* const known = find_radio(kind);
  if (known == nullptr) return;  // reported
  const auto support = ns3_support(kind);
  if (!support) {
    return radio.error("kind", "the adapter for ns-3 has no " + kind + ": choose a radio of " +
                                   ns3_kinds() + ", or `simulator: analytic`");
  }
  if (!support->rate_control) {
    refuse(radio, {"rate_control"}, kind + " has one rate in ns-3: leave it out");
  }
  if (!support->jammers && !known->cellular) {
    refuse(radio, {"jammers"},
           "ns-3 has jammers for the radios of 802.11 only: write "
           "`simulator: analytic`");
  }
  if (!support->tcp && scenario.transport == Transport::tcp) {
    radio.error("transport", kind + " has no tcp: leave it out");
  }
}

/// Reads the keys that only a named radio has, and refuses those that it does not have.
void read_named(const Section& radio, const Section& channel, Scenario& scenario,
                Problems& problems) {
  RadioOptions& to = scenario.radio;
  std::vector<std::string_view> names;
  for (const RadioKind* one : known_radios()) names.push_back(one->name);
  to.kind = radio.word_of("kind", "", names);
  read_cells(radio, scenario, problems);
  if (!radio.has("kind")) {
    refuse(radio, {"rate", "rate_control", "channel"},
           "only valid with `radio.kind`: write for example `kind: 802.11g`");
    if (std::ranges::any_of(to.antennas, [](const Antenna& one) { return one.given; })) {
      radio.error("kind", "is missing: antennas of robots are only valid with a named radio");
    }
    return;
  }
  read_simulated(radio, channel, scenario);
  refuse(radio, {"rate_mbit"}, "only valid without `radio.kind`: write `rate`");
  refuse(radio, {"noise_dbm"},
         "only valid without `radio.kind`: write `channel.noise_figure_db` and "
         "`channel.interference_dbm`");
  refuse(radio, {"detection_dbm"},
         "only valid without `radio.kind`: a named radio detects frames by their preamble");
  to.rate = radio.text("rate", "");
  to.rate_control = radio.word_of("rate_control", to.rate_control, rate_controls(scenario.network));
  read_channel(radio, channel, to);
  const RadioKind* kind = find_radio(to.kind);
  if (kind == nullptr) return;  // reported
  if (!kind->acknowledges && !kind->cellular) {
    refuse(radio, {"retry_limit"}, to.kind + " has no acknowledgements: leave it out");
  }
  if (!radio.has("retry_limit")) to.retry_limit = kind->attempts;
  const double frequency =
      to.channel.frequency_hz > 0 ? to.channel.frequency_hz : kind->frequency_hz;
  if (!radio.has("reference_loss_db")) to.reference_loss_db = free_space_db(1, frequency);
  if (problems.failed()) return;
  if (auto model = RadioModel::make(to, nullptr, 1); !model) {
    const Error& error = model.error();
    (radio.has(error.where) || error.where == "rate" ? radio : channel)
        .error(error.where, error.message);
  }
}

}  // namespace

void load_recording(const std::string& path, const config::Source& source, Scenario& scenario,
                    Problems& problems) {
  auto text = config::read_file(path);
  if (!text) return problems.error(source, text.error().to_string());
  auto recording = Recording::parse(*text, path, scenario.robots);
  if (!recording) return problems.error(source, recording.error().to_string());
  scenario.network = NetworkKind::replay;
  scenario.recording = std::make_shared<const Recording>(std::move(*recording));
}

Antenna read_antenna(const Section& robot, Problems& problems) {
  Antenna made;
  made.given = robot.has("antenna");
  const Section antenna(robot.find("antenna"), robot.path("antenna"), problems,
                        {"height_m", "gain_dbi", "pattern"});
  made.height_m = antenna.real("height_m", 0, 0, 1000);
  made.gain_dbi = antenna.real("gain_dbi", 0, -50, 50);
  made.pattern =
      antenna.choice<Pattern>("pattern", Pattern::isotropic,
                              {{"isotropic", Pattern::isotropic}, {"dipole", Pattern::dipole}});
  return made;
}

void read_radio(const Section& root, const std::string& path, Scenario& scenario,
                Problems& problems) {
  const Section radio(root.find("radio"), "radio", problems,
                      {"simulator",
                       "transport",
                       "file",
                       "delay_ms",
                       "rate_mbit",
                       "tx_power_dbm",
                       "path_loss_exponent",
                       "reference_loss_db",
                       "shadowing_db",
                       "noise_dbm",
                       "detection_dbm",
                       "host_jitter_us",
                       "queue_packets",
                       "retry_limit",
                       "kind",
                       "rate",
                       "rate_control",
                       "channel",
                       "jammers",
                       "cells",
                       "cell"});
  scenario.network = radio.choice<NetworkKind>("simulator", NetworkKind::analytic,
                                               {{"analytic", NetworkKind::analytic},
                                                {"ns3", NetworkKind::ns3},
                                                {"replay", NetworkKind::replay},
                                                {"ideal", NetworkKind::ideal}});
  read_recorded_network(radio, path, scenario, problems);
  scenario.transport = radio.choice<Transport>("transport", Transport::udp,
                                               {{"udp", Transport::udp}, {"tcp", Transport::tcp}});
  if (radio.has("transport") && scenario.network != NetworkKind::ns3) {
    radio.error("transport", "only valid with `radio.simulator: ns3`");
  }
  scenario.delay = {std::llround(radio.real("delay_ms", scenario.delay.ms(), 0, 1e6) * 1e6)};
  if (radio.has("delay_ms") && scenario.network != NetworkKind::ideal) {
    radio.error("delay_ms", "only valid with `radio.simulator: ideal`");
  }
  RadioOptions& to = scenario.radio;
  to.rate_mbit = radio.real("rate_mbit", to.rate_mbit, 1, 1000);
  to.tx_power_dbm = radio.real("tx_power_dbm", to.tx_power_dbm, -100, 100);
  to.path_loss_exponent = radio.real("path_loss_exponent", to.path_loss_exponent, 0.1, 10);
  to.reference_loss_db = radio.real("reference_loss_db", to.reference_loss_db, 0, 200);
  to.shadowing_db = radio.real("shadowing_db", to.shadowing_db, 0, 30);
  to.noise_dbm = radio.real("noise_dbm", to.noise_dbm, -200, 0);
  to.detection_dbm = radio.real("detection_dbm", to.detection_dbm, -200, 0);
  to.host_jitter = {std::llround(radio.real("host_jitter_us", to.host_jitter.us(), 0, 1e6) * 1e3)};
  to.queue_packets =
      static_cast<std::uint32_t>(radio.integer("queue_packets", to.queue_packets, 1, 1'000'000));
  to.retry_limit = static_cast<std::uint32_t>(radio.integer("retry_limit", to.retry_limit, 1, 255));
  const Section channel(
      radio.find("channel"), "radio.channel", problems,
      {"path_loss", "environment", "diffraction", "shadowing_distance_m", "sight_distance_m",
       "fading", "k_los_db", "k_nlos_db", "m_los", "m_nlos", "scatterer_speed", "noise_figure_db",
       "interference_dbm", "frequency_mhz", "models"});
  read_jammers(radio, scenario, problems);
  read_named(radio, channel, scenario, problems);
  if (radio.has("kind")) return;
  if (auto model = RadioModel::make(to, nullptr, 1); !model) {
    radio.error(model.error().where, model.error().message);
  }
}

}  // namespace hyphos::cosim
