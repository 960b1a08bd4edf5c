// Round trip of a service call between two processes, divided by the floor: a futex ping-pong
// between two processes. All variants run in turns, in the same run.
//
//     bench_service_call [--count N] [--rate HZ] [--repeat N]
//
// At `--rate 0` (the default) each call follows the previous one at once. Otherwise call i is due
// at t0 + i / rate.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/futex.hpp"
#include "hyphos/hyphos.hpp"
#include "lab/common/clock.hpp"
#include "lab/common/stats.hpp"

namespace {

namespace futex = hyphos::futex;
using hyphos::lab::now_ns;

struct Ask {
  static constexpr std::string_view hyphos_type = "bench.Ask";
  std::int64_t value = 0;
  std::byte rest[56] = {};
};
using Answer = Ask;

struct Options {
  int count = 2000;
  int repeat = 3;
  double rate_hz = 0;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--count") options.count = std::atoi(argv[i + 1]);
    if (flag == "--repeat") options.repeat = std::atoi(argv[i + 1]);
    if (flag == "--rate") options.rate_hz = std::atof(argv[i + 1]);
  }
  if (options.count < 1 || options.repeat < 1) {
    std::fprintf(stderr, "--count and --repeat must be at least 1\n");
    std::exit(2);
  }
  return options;
}

/// A child process. The destructor kills it.
class Child {
 public:
  explicit Child(const std::function<void()>& run) : pid_(fork()) {
    if (pid_ != 0) return;
    run();
    _exit(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

std::vector<std::int64_t> measure(const Options& options, const std::function<void()>& once) {
  hyphos::lab::use_precise_timers();
  for (int i = 0; i < 200; ++i) once();
  std::vector<std::int64_t> took;
  const std::int64_t start = now_ns();
  for (int i = 0; i < options.count; ++i) {
    if (options.rate_hz > 0) {
      hyphos::lab::sleep_until(start + static_cast<std::int64_t>(i / options.rate_hz * 1e9));
    }
    const std::int64_t before = now_ns();
    once();
    took.push_back(now_ns() - before);
  }
  return took;
}

std::vector<std::int64_t> measure_futex(const Options& options) {
  struct Words {
    alignas(64) std::atomic<std::uint32_t> there{0};
    alignas(64) std::atomic<std::uint32_t> back{0};
  };
  void* memory =
      mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  auto& words = *new (memory) Words;
  std::vector<std::int64_t> took;
  {
    const Child echo([&] {
      for (std::uint32_t turn = 0;; ++turn) {
        while (words.there.load() == turn) futex::wait(words.there, turn, futex::Scope::shared);
        words.back.store(turn + 1);
        futex::wake(words.back, 1, futex::Scope::shared);
      }
    });
    std::uint32_t turn = 0;
    took = measure(options, [&] {
      words.there.store(turn + 1);
      futex::wake(words.there, 1, futex::Scope::shared);
      while (words.back.load() == turn) futex::wait(words.back, turn, futex::Scope::shared);
      ++turn;
    });
  }
  munmap(memory, sizeof(Words));
  return took;
}

/// `mode` is the scheduling of the server's callback.
std::vector<std::int64_t> measure_call(const Options& options, hyphos::Mode mode) {
  hyphos::RuntimeOptions open;
  open.domain = "bench-call-" + std::to_string(getpid());
  const Child server([&] {
    open.process = "server";
    const auto node = hyphos::Node::open("server", open).or_throw();
    hyphos::ServiceOptions service;
    service.mode = mode;
    node.service<Ask, Answer>("echo", service, [](const Ask& ask) { return ask; });
    node.spin();
  });
  open.process = "client";
  const auto node = hyphos::Node::open("client", open).or_throw();
  const auto client = node.client<Ask, Answer>("echo");
  client.wait_for_server().or_throw();
  std::int64_t value = 0;
  return measure(options, [&] {
    if (client.call({++value}).or_throw().value != value) std::abort();
  });
}

/// The same with two channels, both endpoints inline.
std::vector<std::int64_t> measure_channels(const Options& options) {
  hyphos::RuntimeOptions open;
  open.domain = "bench-echo-" + std::to_string(getpid());
  const Child server([&] {
    open.process = "server";
    const auto node = hyphos::Node::open("server", open).or_throw();
    const auto back = node.publisher<Ask>("back");
    node.subscribe<Ask>("there", hyphos::inline_,
                        [&](const hyphos::Message<Ask>& ask) { back.publish(*ask); });
    node.spin();
  });
  open.process = "client";
  const auto node = hyphos::Node::open("client", open).or_throw();
  std::atomic<std::uint32_t> heard{0};
  const auto there = node.publisher<Ask>("there");
  const auto back = node.subscribe<Ask>("back", hyphos::inline_, [&](const hyphos::Message<Ask>&) {
    heard.fetch_add(1);
    futex::wake(heard, 1, futex::Scope::shared);
  });
  while (there.listeners() == 0 || back.publishers() == 0) usleep(1000);
  usleep(50'000);  // until the reverse channel is connected as well
  return measure(options, [&] {
    const std::uint32_t before = heard.load();
    there.publish(Ask{});
    while (heard.load() == before) futex::wait(heard, before, futex::Scope::shared);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  struct Row {
    const char* name;
    std::function<std::vector<std::int64_t>()> run;
    std::vector<std::int64_t> samples = {};
  };
  std::vector<Row> rows = {
      {"futex", [&] { return measure_futex(options); }},
      {"two channels, inline", [&] { return measure_channels(options); }},
      {"call, inline", [&] { return measure_call(options, hyphos::inline_); }},
      {"call, serial", [&] { return measure_call(options, hyphos::serial); }},
  };
  for (int round = 0; round < options.repeat; ++round) {
    for (Row& row : rows) {
      const auto samples = row.run();
      row.samples.insert(row.samples.end(), samples.begin(), samples.end());
    }
  }
  double floor = 0;
  for (Row& row : rows) {
    std::sort(row.samples.begin(), row.samples.end());
    const double p50 = hyphos::lab::percentile_us(row.samples, 50);
    if (floor == 0) floor = p50;
    hyphos::lab::JsonLine line;
    line.add("row", std::string(row.name))
        .add("samples", static_cast<double>(row.samples.size()))
        .add("rate_hz", options.rate_hz)
        .add_percentiles("", row.samples)
        .add("p50_of_futex", p50 / floor);
    std::printf("%s\n", line.str().c_str());
  }
}
