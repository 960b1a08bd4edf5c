// The analytic radio against ns-3 on one link: every rate of 802.11g, n, ac and ax, over margins of
// the mean ratio of signal to noise, sizes and fading. The channel is equal bit by bit.
//
//   bench_cosim_agreement WORKER NS3.so [PACKETS] [--rows FILE] [--only KIND] [--limit N]
//
// FILE gets a line for each row, and its rows are not run again. So a long run can be interrupted,
// and divided by radio or into N new rows at a time. A table of each radio follows.
//
// The exit status is 1 if losses differ by more than 5 points and one standard error, or mean
// delays by more than 10 % and three.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "cosim/remote/remote.hpp"
#include "tests/cosim/ns3/agreement.hpp"

namespace {

using namespace hyphos;
using namespace hyphos::cosim;

/// The ratio in dB at which half of the frames of 1,000 bytes are lost.
double half_lost_db(const Radio& radio, std::uint32_t rate) {
  double low = -10;
  double high = 50;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (radio.frame_error(rate, middle, 1000) > 0.5 ? low : high) = middle;
  }
  return low;
}

struct Options {
  const char* worker;
  const char* ns3;
  int packets = 400;
  std::string rows{};
  std::string only{};
  int limit = 1 << 30;
};

LinkMeasured measure_ns3(const LinkCell& cell, const Options& options) {
  Ns3Options told;
  told.radio = link_options(cell);
  told.models = Models::hyphos;
  auto worker =
      Worker::start({}, {options.worker, "--adapter", options.ns3, "--options", to_text(told)});
  RemoteNetwork network(std::move(worker).or_throw());
  return measure_link(network, cell, options.packets, 7);
}

/// One row of the grid: the link and the margin over the ratio that loses half of 1,000 bytes.
struct Row {
  LinkCell cell;
  double margin_db;
};

struct Difference {
  double loss_points;  // ns-3 minus ours
  double delay_part;   // of the delay in ns-3. 0 without enough arrivals
  bool agrees;
};

std::string key_of(const Row& row, int packets) {
  std::ostringstream text;
  text << row.cell.kind << ',' << row.cell.rate << ',' << row.cell.fading << ',' << row.margin_db
       << ',' << row.cell.bytes << ',' << packets;
  return text.str();
}

std::vector<Row> grid(const char* kind) {
  std::vector<Row> rows;
  for (const Rate& rate : find_radio(kind)->rates) {
    LinkCell cell{kind, std::string(rate.name)};
    const RadioModel model = RadioModel::make(link_options(cell), nullptr, 7).or_throw();
    const Radio& radio = *model.named();
    const auto number = static_cast<std::uint32_t>(&rate - radio.kind().rates.data());
    for (const double margin : {-8.0, -3.0, 2.0, 8.0, 20.0}) {
      const double ratio = half_lost_db(radio, number) + margin;
      const double loss = radio.tx_power_dbm() - radio.noise_dbm() - ratio;
      cell.distance_m =
          std::max(1.0, std::pow(10, (loss - model.options().reference_loss_db) / 30));
      for (const std::size_t bytes : {50UL, 400UL, 1400UL}) {
        cell.bytes = bytes;
        for (const char* fading : {"none", "rayleigh"}) {
          cell.fading = fading;
          rows.push_back({cell, margin});
        }
      }
    }
  }
  return rows;
}

struct Comparison {
  LinkMeasured ours;
  LinkMeasured theirs;
  double late_ms = 0;  // ns-3 after its wait before a fresh frame
  bool enough = false;
  bool agrees = false;
};

Comparison compare(const LinkCell& cell, Options options) {
  Comparison made{.ours = measure_analytic(cell, options.packets, 7),
                  .theirs = measure_ns3(cell, options)};
  const LinkMeasured& ours = made.ours;
  const LinkMeasured& theirs = made.theirs;
  made.enough = std::min(ours.arrived, theirs.arrived) >= options.packets / 4;
  made.late_ms = theirs.delay_ms - ours.delay_ms - ns3_waits_ms(cell.kind);
  made.agrees =
      std::abs(ours.loss - theirs.loss) <= loss_tolerance(ours, theirs, options.packets) &&
      (!made.enough || std::abs(made.late_ms) <= delay_tolerance_ms(ours, theirs));
  return made;
}

/// Runs one row and prints it. Returns its line of the file: differences and verdict. A row outside
/// of the tolerance is measured again with ten times as many packets, which decides: in some of
/// many rows the statistical error exceeds its standard.
std::string run(const Row& row, Options options) {
  const LinkCell& cell = row.cell;
  Comparison made = compare(cell, options);
  if (!made.agrees) {
    options.packets *= 10;
    made = compare(cell, options);
  }
  std::printf(
      "| %s | %s | %s | %.0f dB | %.0f m | %zu | %d | %.1f %% | %.1f %% | %.3f | %.3f | %s |\n",
      cell.kind.c_str(), cell.rate.c_str(), cell.fading.c_str(), row.margin_db, cell.distance_m,
      cell.bytes, options.packets, 100 * made.ours.loss, 100 * made.theirs.loss, made.ours.delay_ms,
      made.theirs.delay_ms, made.agrees ? "yes" : "NO");
  std::fflush(stdout);
  std::ostringstream line;
  line << 100 * (made.theirs.loss - made.ours.loss) << ' '
       << (made.enough ? made.late_ms / made.theirs.delay_ms : 0) << ' ' << made.agrees;
  return line.str();
}

Difference read_row(const std::string& line) {
  std::istringstream text(line);
  Difference read{};
  text >> read.loss_points >> read.delay_part >> read.agrees;
  return read;
}

/// The whole lines of the file: "KEY RESULT". A process that was killed may leave a part of one.
std::map<std::string, std::string> known_rows(const std::string& path) {
  std::map<std::string, std::string> known;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && !file.eof()) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) known[line.substr(0, space)] = line.substr(space + 1);
  }
  return known;
}

/// Removes a part of a line at the end, so that the next line begins at a new one.
void keep_whole_lines(const std::string& path, const std::map<std::string, std::string>& known) {
  std::ofstream file(path, std::ios::trunc);
  for (const auto& [key, result] : known) file << key << ' ' << result << '\n';
}

struct Summary {
  int rows = 0;
  int wrong = 0;
  double loss_sum = 0;
  double loss_most = 0;
  double delay_most = 0;

  void add(const Difference& result) {
    ++rows;
    wrong += result.agrees ? 0 : 1;
    loss_sum += result.loss_points;
    loss_most = std::max(loss_most, std::abs(result.loss_points));
    delay_most = std::max(delay_most, std::abs(result.delay_part));
  }
};

bool parse(int argc, char** argv, Options& to) {
  if (argc < 3) return false;
  to.worker = argv[1];
  to.ns3 = argv[2];
  for (int i = 3; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      to.packets = std::atoi(argv[i]);
      continue;
    }
    if (++i == argc) return false;
    if (word == "--rows") {
      to.rows = argv[i];
    } else if (word == "--only") {
      to.only = argv[i];
    } else if (word == "--limit") {
      to.limit = std::atoi(argv[i]);
    } else {
      return false;
    }
  }
  return to.packets > 0 && to.limit > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options{};
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: bench_cosim_agreement WORKER NS3.so [PACKETS] [--rows FILE] [--only KIND] "
                 "[--limit N]\n");
    return 2;
  }
  auto known =
      options.rows.empty() ? std::map<std::string, std::string>{} : known_rows(options.rows);
  if (!options.rows.empty()) keep_whole_lines(options.rows, known);
  std::ofstream file(options.rows, std::ios::app);
  if (!options.rows.empty() && !file) {
    std::fprintf(stderr, "%s: cannot be written\n", options.rows.c_str());
    return 2;
  }
  std::printf(
      "| radio | rate | fading | margin | distance | bytes | packets | loss | loss in ns-3 | "
      "delay, ms | delay in ns-3 | agree |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  std::map<std::string, Summary> sums;
  int wrong = 0;
  int left = options.limit;
  for (const char* kind : {"802.11g", "802.11n", "802.11ac", "802.11ax"}) {
    if (!options.only.empty() && options.only != kind) continue;
    for (const Row& row : grid(kind)) {
      const std::string key = key_of(row, options.packets);
      std::string& line = known[key];
      if (line.empty()) {
        if (left-- <= 0) continue;
        line = run(row, options);
        file << key << ' ' << line << std::endl;
      }
      const Difference result = read_row(line);
      sums[kind].add(result);
      wrong += result.agrees ? 0 : 1;
    }
  }
  std::puts(
      "\n| radio | rows | outside | loss, mean difference | largest | delay, largest |\n"
      "|---|---|---|---|---|---|");
  for (const auto& [kind, sum] : sums) {
    std::printf("| %s | %d | %d | %.2f points | %.1f points | %.1f %% |\n", kind.c_str(), sum.rows,
                sum.wrong, sum.loss_sum / sum.rows, sum.loss_most, 100 * sum.delay_most);
  }
  return wrong == 0 ? 0 : 1;
}
