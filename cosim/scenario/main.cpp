// Runs scenarios. kUsage lists the options.

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "cosim/methods/registry.hpp"
#include "cosim/scenario/check.hpp"
#include "cosim/scenario/curves.hpp"
#include "cosim/scenario/exceeded.hpp"
#include "cosim/scenario/record_json.hpp"
#include "cosim/scenario/scenario.hpp"

namespace {

using namespace hyphos;
using namespace hyphos::cosim;

constexpr const char* kUsage =
    "usage: hyphos-cosim run SCENARIO [--method NAME] [--seed N] [--trace FILE] [--mcap FILE]\n"
    "                                 [--json FILE] [--csv FILE] [--replay FILE] [--no-skip]\n"
    "                                 [--no-ahead] [--radio-process] [--python INTERPRETER]\n"
    "                                 [--set KEY=VALUE]...\n"
    "       hyphos-cosim compare SCENARIO [--seed N] [--no-skip] [--no-ahead] [--radio-process]\n"
    "                                     [--python INTERPRETER] [--set KEY=VALUE]... [--strict]\n"
    "       hyphos-cosim check SCENARIO [--set KEY=VALUE]... [--vary FILE]\n"
    "       hyphos-cosim curves SCENARIO [--from ROBOT] [--to ROBOT]\n"
    "       hyphos-cosim radios\n"
    "       hyphos-cosim methods\n";

constexpr int kCannotRun = 3;  // exit code with --strict: a method cannot run the scenario
constexpr int kStopped = 130;
constexpr std::size_t kMostVaried = 16 << 20;

struct Words {
  std::string scenario;
  std::string trace;
  std::string mcap;
  std::string json;
  std::string csv;
  std::string command;
  std::string vary;
  std::string setting;
  bool strict = false;
  Overrides overrides;
  RunOptions run{.ahead = true};
};

bool parse(const std::vector<std::string_view>& words, Words& to) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    std::string* value = word == "--method"   ? &to.overrides.method
                         : word == "--seed"   ? &to.overrides.seed
                         : word == "--replay" ? &to.overrides.replay
                         : word == "--trace"  ? &to.trace
                         : word == "--mcap"   ? &to.mcap
                         : word == "--json"   ? &to.json
                         : word == "--csv"    ? &to.csv
                         : word == "--set"    ? &to.setting
                         : word == "--vary"   ? &to.vary
                         : word == "--python" ? &to.run.python
                                              : nullptr;
    if (value != nullptr) {
      if (++i == words.size()) return false;
      *value = words[i];
      if (word == "--set") to.overrides.settings.push_back({"--set", *value});
    } else if (word == "--no-skip") {
      to.run.skip = false;
    } else if (word == "--no-ahead") {
      to.run.ahead = false;
    } else if (word == "--radio-process") {
      to.run.radio_process = true;
    } else if (word == "--strict") {
      to.strict = true;
    } else if (word.starts_with("-") || !to.scenario.empty()) {
      return false;
    } else {
      to.scenario = word;
    }
  }
  return !to.scenario.empty();
}

void print(const Scenario& scenario, const Report& report, const Trace& trace) {
  const PacketCounts& packets = report.packets;
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("method     %s, windows of %.3f to %.3f ms\n", scenario.method.c_str(),
              report.shortest_window.ms(), report.longest_window.ms());
  std::printf("simulated  %.3f s of %zu robots in %.3f s: %.1f x real time\n",
              static_cast<double>(report.end.ns) * 1e-9, scenario.robots.size(),
              static_cast<double>(report.profile.total_ns) * 1e-9,
              static_cast<double>(report.end.ns) / static_cast<double>(report.profile.total_ns));
  std::printf("packets    %llu, copies %llu = %llu delivered + %llu dropped + %llu in flight\n",
              number(packets.packets), number(packets.sent), number(packets.delivered),
              number(packets.all_dropped()), number(packets.in_flight));
  for (std::size_t i = 1; i < packets.dropped.size(); ++i) {
    if (packets.dropped[i] == 0) continue;
    std::printf("           %llu %s\n", number(packets.dropped[i]),
                std::string(to_string(static_cast<DropReason>(i))).c_str());
  }
  for (const Lost& lost : report.lost) {
    std::printf("lost       %llu on robot %s, channel %s: %s\n", number(lost.count),
                lost.robot.c_str(), lost.channel.c_str(), lost.reason.c_str());
  }
  for (const auto& [robot, part] : report.in_part) {
    std::printf(
        "in part    robot %s followed %llu motion commands only in part, first at %.3f s: %s\n",
        scenario.robots[robot].c_str(), number(part.count),
        static_cast<double>(part.first.ns) * 1e-9, part.left_out.c_str());
  }
  for (const Trouble& trouble : report.troubles) {
    constexpr std::array<const char*, kTroubles> kWords{
        "lay on its side", "did not come forward on its path", "was off the ground of the world"};
    std::printf("trouble    robot %s %s, from %.1f s on for %.1f s%s\n",
                scenario.robots[trouble.robot].c_str(),
                kWords[static_cast<std::size_t>(trouble.kind)],
                static_cast<double>(trouble.first.ns) * 1e-9, trouble.lasted.seconds(),
                trouble.at_end ? ", until the end" : "");
  }
  std::printf("bounds     latency %.3f ms, position %.4f m, power %.4f dB%s\n",
              report.bounds.latency.ms(), report.bounds.position_m, report.bounds.power_db,
              scenario.radio.kind.empty() ? "" : " of path loss and boxes");
  for (const std::string& line : exceeded_lines(scenario, report)) {
    std::printf("exceeded   %s\n", line.c_str());
  }
  for (const std::string& remark : report.remarks) std::printf("method     %s\n", remark.c_str());
  std::printf("network    %llu syncs, %llu of %llu windows skipped\n", number(report.network_syncs),
              number(report.windows_skipped), number(report.windows));
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-6; };
  const Profile& profile = report.profile;
  std::printf(
      "time       physics %.1f, network %.1f, wait %.1f, codec %.1f, programs %.1f, engine "
      "%.1f ms\n",
      ms(profile.physics_ns), ms(profile.network_ns), ms(profile.wait_ns), ms(profile.codec_ns),
      ms(profile.programs_ns), ms(profile.engine_ns()));
  std::printf("trace      %llu lines, hash %016llx\n", number(trace.lines()), number(trace.hash()));
}

int fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.to_string().c_str());
  // A limit of the method names its remedy itself.
  if (error.where != kLimitOfMethod) {
    std::fprintf(stderr, "%s\n", std::string(advice(error.code)).c_str());
  }
  return 1;
}

volatile std::sig_atomic_t stopped = 0;
extern "C" void stop(int) { stopped = 1; }

/// Shows the progress of a run on a terminal, and whether the user asked it to end.
class Progress {
 public:
  explicit Progress(Duration all) : all_(all), shown_(::isatty(STDERR_FILENO) != 0) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (last_.ns != 0) std::fputs("\r\033[K", stderr);
  }

  bool goes_on(Time reached) {
    if (!shown_) return stopped == 0;
    const Time now = monotonic_now();
    if (now - last_ > Duration::from_ms(200)) {
      last_ = now;
      std::fprintf(stderr, "\r%.1f of %.1f s", static_cast<double>(reached.ns) * 1e-9,
                   all_.seconds());
    }
    return stopped == 0;
  }

 private:
  Duration all_;
  bool shown_;
  Time last_;
};

/// A file for writing, closed with the block. Without a path there is no file.
class Output {
 public:
  explicit Output(const std::string& path)
      : path_(path), file_(path.empty() ? nullptr : std::fopen(path.c_str(), "w")) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { (void)close(); }
  [[nodiscard]] bool opened() const { return path_.empty() || file_ != nullptr; }
  [[nodiscard]] std::FILE* file() { return file_; }
  [[nodiscard]] Error error() const { return {Code::io, "the file cannot be written", path_}; }
  [[nodiscard]] bool close() {
    std::FILE* const file = std::exchange(file_, nullptr);
    return file == nullptr || std::fclose(file) == 0;
  }

 private:
  std::string path_;
  std::FILE* file_;
};

/// Writes the requested files of a run.
int write(const Words& words, const Scenario& scenario, const Report& report, const Trace& trace,
          Record& record) {
  if (auto finished = record.finish(); !finished) return fail(finished.error());
  if (words.json.empty()) return 0;
  auto text = config::read_file(words.scenario);
  if (!text) return fail(text.error());
  Output out(words.json);
  if (!out.opened()) return fail(out.error());
  const RunNames names{words.scenario, *text, words.command, stopped == 0};
  const std::string json = to_json(names, scenario, report, trace, record);
  const bool written = std::fwrite(json.data(), 1, json.size(), out.file()) == json.size();
  return out.close() && written ? 0 : fail(out.error());
}

int run(Words words) {
  auto scenario = load_scenario(words.scenario, words.overrides);
  if (!scenario) return fail(scenario.error());
  Output lines(words.trace);
  if (!lines.opened()) return fail(lines.error());
  Output packets(words.csv);
  if (!packets.opened()) return fail(packets.error());
  Trace trace = words.trace.empty() ? Trace::hash_only() : Trace(lines.file());
  Record record(static_cast<std::uint32_t>(scenario->robots.size()), scenario->scene,
                scenario->duration, packets.file());
  if (!words.json.empty() || !words.csv.empty()) words.run.record = &record;
  std::optional<McapTrace> mcap;
  if (!words.mcap.empty()) {
    auto made = McapTrace::create(words.mcap, true, *scenario);
    if (!made) return fail(made.error());
    mcap.emplace(std::move(*made));
    words.run.mcap = &*mcap;
  }
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  RoutingReport routing;
  words.run.routing = &routing;
  const auto report = [&] {
    Progress progress(scenario->duration);
    words.run.goes_on = [&](Time reached) { return progress.goes_on(reached); };
    return run_scenario(*scenario, words.run, trace);
  }();
  if (!lines.close()) return fail(lines.error());
  if (mcap) {
    if (auto closed = mcap->close(); !closed) return fail(closed.error());
  }
  if (!report) return fail(report.error());
  print(*scenario, report.value(), trace);
  std::fputs(to_text(*scenario, routing).c_str(), stdout);
  if (const int failed = write(words, *scenario, report.value(), trace, record); failed != 0) {
    return failed;
  }
  if (stopped == 0) return 0;
  std::fputs("stopped before the end\n", stderr);
  return kStopped;
}

/// The outcome of one method in a comparison.
enum class Row { ran, cannot_run, failed };

/// Prints one row. `words` names the scenario and the method. `notes` gets the exceeded bounds.
Row compare_one(Words words, std::vector<std::string>& notes) {
  const auto scenario = load_scenario(words.scenario, words.overrides);
  if (!scenario) return fail(scenario.error()), Row::failed;
  Trace trace = Trace::hash_only();
  Duration delays{0};
  words.run.observe = [&](const Outcome& outcome, const Packet& sent) {
    if (outcome.fate == Fate::delivered) delays = delays + (outcome.time - sent.stamp);
  };
  words.run.goes_on = [](Time) { return stopped == 0; };
  const auto ran = run_scenario(*scenario, words.run, trace);
  std::printf("%-26s", scenario->method.c_str());
  if (!ran) {
    const bool limit = ran.error().where == kLimitOfMethod;
    const std::string& why = ran.error().message;
    std::printf(" %s: %s\n", limit ? "cannot run" : "failed",
                limit ? why.substr(0, why.find(';')).c_str() : ran.error().to_string().c_str());
    return limit ? Row::cannot_run : Row::failed;
  }
  const PacketCounts& packets = ran->packets;
  const double each = packets.delivered == 0 ? 0 : 1e-6 / static_cast<double>(packets.delivered);
  std::printf("%10llu %10llu %9llu %9.3f %9.3f %10.4f %9.4f %9.1f\n",
              static_cast<unsigned long long>(ran->network_syncs),
              static_cast<unsigned long long>(packets.delivered),
              static_cast<unsigned long long>(packets.all_dropped()),
              static_cast<double>(delays.ns) * each, ran->bounds.latency.ms(),
              ran->bounds.position_m, ran->bounds.power_db,
              static_cast<double>(ran->end.ns) / static_cast<double>(ran->profile.total_ns));
  for (const std::string& line : exceeded_lines(*scenario, *ran)) {
    notes.push_back(scenario->method + " exceeds a requested bound: " + line);
  }
  return Row::ran;
}

/// Runs all methods on one scenario with one seed. The row of a method shows its error, if any. A
/// literal reading of the paper's method that cannot run the scenario is a result, and no failure.
int compare(Words words) {
  if (const auto valid = load_scenario(words.scenario, words.overrides); !valid) {
    return fail(valid.error());
  }
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  std::printf("%-26s%10s %10s %9s %9s %9s %10s %9s %9s\n", "method", "syncs", "delivered",
              "dropped", "delay ms", "bound ms", "bound m", "bound dB", "x real");
  std::vector<std::string> notes;
  std::vector<std::string> unable;
  bool failed = false;
  for (const KnownMethod& known : known_methods()) {
    words.overrides.method = known.name;
    const Row row = compare_one(words, notes);
    if (row == Row::cannot_run) unable.emplace_back(known.name);
    failed = failed || row == Row::failed;
    std::fflush(stdout);
    if (stopped != 0) return kStopped;
  }
  std::puts(
      "delay: mean, from the send to the delivery in the network. "
      "docs/explanation/cosim_methods.md defines the "
      "bounds.");
  for (const std::string& note : notes) std::puts(note.c_str());
  if (!unable.empty()) {
    std::string names;
    for (const std::string& name : unable) names += (names.empty() ? "" : ", ") + name;
    std::printf(
        "%zu of %zu methods cannot run this scenario, for the reasons above: %s. "
        "velocity_aware_lenient_s and velocity_aware_lenient_ms read the same rule so that every "
        "scenario runs.\n",
        unable.size(), known_methods().size(), names.c_str());
  }
  if (failed) return 1;
  return words.strict && !unable.empty() ? kCannotRun : 0;
}

/// Checks a scenario and prints its names. With --vary, each line of a file holds settings of a
/// run.
int check(const Words& words) {
  const auto scenario = load_scenario(words.scenario, words.overrides);
  if (!scenario) return fail(scenario.error());
  if (auto valid = check_scenario(*scenario, words.run); !valid) return fail(valid.error());
  if (!words.vary.empty()) {
    const auto lines = config::read_file(words.vary, {.bytes = kMostVaried});
    if (!lines) return fail(lines.error());
    const auto valid = check_runs(words.scenario, words.overrides, "--vary", *lines);
    if (!valid) return fail(valid.error());
  }
  std::fputs(describe(*scenario).c_str(), stdout);
  return 0;
}

/// Prints the curves of the radio of a scenario as JSON.
int curves(const std::vector<std::string_view>& words) {
  CurveEnds ends;
  std::string path;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string* value = words[i] == "--from" ? &ends.from
                         : words[i] == "--to" ? &ends.to
                                              : nullptr;
    if (value != nullptr && i + 1 < words.size()) {
      *value = words[++i];
    } else if (value != nullptr || words[i].starts_with("-") || !path.empty()) {
      path.clear();
      break;
    } else {
      path = words[i];
    }
  }
  if (path.empty()) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const auto scenario = load_scenario(path);
  if (!scenario) return fail(scenario.error());
  const auto text = radio_curves(*scenario, ends);
  if (!text) return fail(text.error());
  std::fputs(text->c_str(), stdout);
  return 0;
}

/// True if the options belong to the command.
bool valid_for(std::string_view verb, const Words& words) {
  if (verb != "check" && !words.vary.empty()) return false;
  if (verb != "compare" && words.strict) return false;
  if (verb == "run") return true;
  const bool writes =
      !(words.trace.empty() && words.mcap.empty() && words.json.empty() && words.csv.empty());
  return !writes && (verb == "check" || words.overrides.method.empty());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (words.size() == 1 && words[0] == "methods") {
    for (const KnownMethod& known : known_methods()) {
      std::printf("%-26s %s\n", std::string(known.name).c_str(), std::string(known.about).c_str());
    }
    return 0;
  }
  if (words.size() == 1 && words[0] == "radios") {
    std::fputs(radio_list().c_str(), stdout);
    return 0;
  }
  if (!words.empty() && words[0] == "curves") return curves(words);
  Words parsed;
  parsed.command = "hyphos cosim";
  for (const std::string_view word : words) parsed.command += " " + std::string(word);
  const std::string_view verb = words.empty() ? std::string_view() : words[0];
  const bool runs = verb == "run";
  const bool read = (runs || verb == "compare" || verb == "check") &&
                    parse({words.begin() + 1, words.end()}, parsed);
  if (!read || !valid_for(verb, parsed)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (verb == "compare") return compare(std::move(parsed));
  return runs ? run(std::move(parsed)) : check(parsed);
}
