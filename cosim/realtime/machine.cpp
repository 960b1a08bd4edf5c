#include "cosim/realtime/machine.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace hyphos::cosim {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double own_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (::getrusage(who, &usage) != 0) continue;
    sum += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return sum;
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

ProcessorTicks parse_ticks(std::string_view line) {
  std::istringstream words{std::string(line)};
  std::string name;
  words >> name;
  ProcessorTicks ticks;
  if (name != "cpu") return ticks;
  // user, nice, system, idle, iowait, irq, softirq, steal. Guest time is already part of user and
  // nice.
  std::uint64_t value = 0;
  for (int i = 0; i < 8 && words >> value; ++i) {
    ticks.all += value;
    if (i < 3 || i == 5 || i == 6) ticks.busy += value;
    if (i == 7) ticks.stolen = value;
  }
  return ticks;
}

MachineWatch::MachineWatch() : start_(sample()) {}

MachineWatch::Sample MachineWatch::sample() {
  Sample sample{parse_ticks(first_line("/proc/stat")), own_seconds(), 0};
  // Nanoseconds on a processor, then nanoseconds of waiting for one.
  std::istringstream words(first_line("/proc/thread-self/schedstat"));
  double ran = 0;
  double waited = 0;
  if (words >> ran >> waited) sample.waited_s = waited * 1e-9;
  return sample;
}

MachineWatch::Use MachineWatch::finish() const {
  const Sample end = sample();
  const double ticks_a_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto share = [&](std::uint64_t ticks) {
    const auto all = std::max<std::uint64_t>(1, end.machine.all - start_.machine.all);
    return static_cast<double>(ticks) / static_cast<double>(all);
  };
  Use use;
  use.own = (end.own_s - start_.own_s) * ticks_a_second * share(1);
  use.others = std::max(0.0, share(end.machine.busy - start_.machine.busy) - use.own);
  use.stolen = share(end.machine.stolen - start_.machine.stolen);
  use.waited_s = end.waited_s - start_.waited_s;
  return use;
}

}  // namespace hyphos::cosim
