// The analytic radio against ns-3 on one link: every rate of 802.11g, n, ac and ax, over margins of
// the mean ratio of signal to noise, sizes and fading. The channel is equal bit by bit.
//
//   bench_cosim_agreement WORKER NS3.so [PACKETS]
//
// The exit status is 1 if losses differ by more than 5 points and one standard error, or mean
// delays by more than 10 % and three.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

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

LinkMeasured measure_ns3(const LinkCell& cell, int packets, char** words) {
  Ns3Options options;
  options.radio = link_options(cell);
  options.models = Models::hyphos;
  auto worker = Worker::start({}, {words[1], "--adapter", words[2], "--options", to_text(options)});
  RemoteNetwork network(std::move(worker).or_throw());
  return measure_link(network, cell, packets, 7);
}

/// Prints one row. Returns true if both agree.
bool compare(const LinkCell& cell, double margin_db, int packets, char** words) {
  const LinkMeasured ours = measure_analytic(cell, packets, 7);
  const LinkMeasured theirs = measure_ns3(cell, packets, words);
  const bool whole = std::abs(ours.loss - theirs.loss) <= loss_tolerance(ours, theirs, packets);
  const bool enough = std::min(ours.arrived, theirs.arrived) >= packets / 4;
  const double late = std::abs(ours.delay_ms + ns3_waits_ms(cell.kind) - theirs.delay_ms);
  const bool timely = !enough || late <= delay_tolerance_ms(ours, theirs);
  const bool agree = whole && timely;
  std::printf("| %s | %s | %s | %.0f dB | %.0f m | %zu | %.1f %% | %.1f %% | %.3f | %.3f | %s |\n",
              cell.kind.c_str(), cell.rate.c_str(), cell.fading.c_str(), margin_db, cell.distance_m,
              cell.bytes, 100 * ours.loss, 100 * theirs.loss, ours.delay_ms, theirs.delay_ms,
              agree ? "yes" : "NO");
  return agree;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: bench_cosim_agreement WORKER NS3.so [PACKETS]\n");
    return 2;
  }
  const int packets = argc > 3 ? std::atoi(argv[3]) : 400;
  std::printf(
      "| radio | rate | fading | margin | distance | bytes | loss | loss in ns-3 | delay, ms | "
      "delay "
      "in ns-3 | agree |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  int rows = 0;
  int wrong = 0;
  for (const char* kind : {"802.11g", "802.11n", "802.11ac", "802.11ax"}) {
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
            ++rows;
            wrong += compare(cell, margin, packets, argv) ? 0 : 1;
          }
        }
      }
    }
  }
  std::printf("\n%d of %d rows agree.\n", rows - wrong, rows);
  return wrong == 0 ? 0 : 1;
}
