// The cost of single steps, back to back and with warm caches: reading the clock, recording the
// times of a message, publishing. It also serves `valgrind --tool=callgrind`, whose instruction
// counts do not depend on the other load of the machine:
//
//   bench_micro [--only NAME] [--count N] [--domain NAME]
//
// `image` measures the publication of a 10 MB image from ordinary memory (one copy, into shared
// memory) to another process. bench/python_publish.py does the same in Python, with
// `image_listener` as the other process. `idle` is for bench/footprint.py.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "hyphos/hyphos.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "lab/common/clock.hpp"
#include "trace/record.hpp"

namespace hyphos::lab {
namespace {

struct Sample {
  std::int64_t stamp = 0;
  std::int64_t sequence = 0;
  std::array<std::byte, 1008> rest{};
};

struct Arguments {
  std::string only;
  long count = 200'000;
  std::string domain = "micro" + std::to_string(getpid());
};

// Reports best and median of 20 batches, because a disturbance only makes a batch slower.
void report(const char* name, long count, const std::function<void(long)>& batch) {
  constexpr int kBatches = 20;
  const long each = std::max(count / kBatches, 1L);
  std::vector<double> ns;
  for (int i = 0; i < kBatches; ++i) {
    const std::int64_t begin = now_ns();
    batch(each);
    ns.push_back(static_cast<double>(now_ns() - begin) / static_cast<double>(each));
  }
  std::sort(ns.begin(), ns.end());
  std::printf("%-28s %9.1f ns best %9.1f ns median\n", name, ns.front(), ns[ns.size() / 2]);
  std::fflush(stdout);
}

void clock_cost(const Arguments& args) {
  report("clock", args.count, [](long n) {
    for (long i = 0; i < n; ++i) (void)monotonic_now();
  });
}

// Reading the clock of a node, compared with the bare monotonic clock in `clock`.
void node_clock_cost(const Arguments& args, ClockMode mode, const char* name) {
  RuntimeOptions options;
  options.offline = true;
  options.clock = mode;
  const Runtime runtime = Runtime::open(options).or_throw();
  const Clock clock = runtime.clock();
  std::int64_t sum = 0;
  report(name, args.count, [&](long n) {
    for (long i = 0; i < n; ++i) sum += clock.now().ns;
  });
  if (sum == 1) std::puts("");  // keeps the compiler from removing the readings
}

void trace_cost(const Arguments& args, trace::Writers writers, const char* name) {
  const auto timings = std::make_unique<trace::Timings>();
  Stamps stamps;
  report(name, args.count, [&](long n) {
    for (long i = 0; i < n; ++i) {
      stamps.publish += 1'000'000 + i % 512;
      stamps.submitted = stamps.publish + 500 + i % 128;
      stamps.arrived = stamps.submitted + 9'000 + i % 4096;
      stamps.scheduled = stamps.arrived + 300 + i % 64;
      stamps.callback = stamps.scheduled + 12'000 + i % 8192;
      timings->record(stamps, stamps.callback, writers);
      timings->record_callback(700 + i % 256, writers);
    }
  });
}

// The two events of a message in the flight recorder: published and received.
void recorder_cost(const Arguments& args) {
  const auto recorder = std::make_unique<trace::Recorder>();
  Meta meta;
  report("recorder_message", args.count, [&](long n) {
    for (long i = 0; i < n; ++i) {
      ++meta.sequence;
      recorder->published(1, meta, 1024, {});
      recorder->received(2, meta, 1024, false, meta.stamps, 1, 2);
    }
  });
}

void publish_local(const Arguments& args, const char* name, bool listener) {
  RuntimeOptions options;
  options.offline = true;
  Runtime runtime = Runtime::open(options).or_throw();
  Node node = runtime.node("micro").or_throw();
  const auto publisher = node.publisher<Sample>("sample");
  std::int64_t seen = 0;
  if (listener) {
    node.subscribe<Sample>("sample", inline_,
                           [&](const Message<Sample>& m) { seen += m->sequence; });
  }
  Sample sample;
  report(name, args.count, [&](long n) {
    for (long i = 0; i < n; ++i) {
      sample.sequence = i;
      publisher.publish(sample);
    }
  });
  node.close();
}

// Subscribes until the other end of `alive` is closed.
template <typename T>
void listen(const RuntimeOptions& options, int alive) {
  Runtime runtime = Runtime::open(options).or_throw();
  Node node = runtime.node("listener").or_throw();
  std::uint64_t seen = 0;
  node.subscribe<T>("sample", inline_, [&](const Message<T>& m) { seen += m.sequence(); });
  char end = 0;
  while (read(alive, &end, 1) > 0) {
  }
  node.close();
}

// Runs `parent` here, with a subscriber (inline) in another process.
template <typename T>
void with_listener(const Arguments& args, const std::function<void(Publisher<T>&)>& parent) {
  RuntimeOptions options;
  options.domain = args.domain;
  int alive[2];
  if (pipe(alive) != 0) throw std::runtime_error("pipe failed");
  const pid_t child = fork();
  if (child == 0) {
    close(alive[1]);
    options.process = "listener";
    listen<T>(options, alive[0]);
    std::exit(0);
  }
  close(alive[0]);
  {
    Runtime runtime = Runtime::open(options).or_throw();
    Node node = runtime.node("micro").or_throw();
    auto publisher = node.publisher<T>("sample");
    while (publisher.listeners() == 0) sleep_until(now_ns() + 1'000'000);
    parent(publisher);
    node.close();
  }
  close(alive[1]);
  waitpid(child, nullptr, 0);
}

void publish_shm(const Arguments& args) {
  with_listener<Sample>(args, [&](Publisher<Sample>& publisher) {
    report("publish_shm", args.count, [&](long n) {
      for (long i = 0; i < n; ++i) {
        auto loan = publisher.loan();
        loan->sequence = i;
        publisher.publish(std::move(loan));
      }
    });
  });
}

// One message at a time, so that every message finds its receiver asleep.
void publish_shm_paced(const Arguments& args) {
  with_listener<Sample>(args, [&](Publisher<Sample>& publisher) {
    report("publish_shm_paced", args.count / 100, [&](long n) {
      for (long i = 0; i < n; ++i) {
        sleep_until(now_ns() + 200'000);
        auto loan = publisher.loan();
        loan->sequence = i;
        publisher.publish(std::move(loan));
      }
    });
  });
}

void publish_image(const Arguments& args) {
  constexpr std::size_t kBytes = 10'000'000;
  const std::vector<std::byte> pixels(kBytes, std::byte{7});
  with_listener<Attached<msgs::Image>>(args, [&](Publisher<Attached<msgs::Image>>& publisher) {
    std::vector<std::int64_t> took;
    for (int i = 0; i < 220; ++i) {
      sleep_until(now_ns() + 5'000'000);
      const std::int64_t begin = now_ns();
      Attached<msgs::Image> image;
      image.head.mutable_header()->set_frame_id("camera");
      image.head.set_width(2500);
      image.head.set_height(1000);
      image.head.set_encoding("rgba8");
      image.head.set_step(10'000);
      WritableBuffer memory = publisher.loan_bytes(kBytes);
      std::memcpy(memory.data(), pixels.data(), kBytes);
      image.buffers.push_back(std::move(memory).freeze());
      publisher.publish(std::move(image));
      if (i >= 20) took.push_back(now_ns() - begin);
    }
    std::sort(took.begin(), took.end());
    std::printf("%-28s %9.1f us best %9.1f us median\n", "image",
                static_cast<double>(took[0]) / 1e3,
                static_cast<double>(took[took.size() / 2]) / 1e3);
  });
}

void listen_to_images(const Arguments& args) {
  RuntimeOptions options;
  options.domain = args.domain;
  options.process = "listener";
  listen<Attached<msgs::Image>>(options, STDIN_FILENO);
}

// Reading parameters in a callback: alone, and while another thread sets them continuously.
void param_cost(const Arguments& args) {
  RuntimeOptions options;
  options.offline = true;
  Runtime runtime = Runtime::open(options).or_throw();
  Node node = runtime.node("micro").or_throw();
  const Params params = node.params();
  const auto number = params.declare<double>("number", {.value = 1});
  const auto text = params.declare<std::string>("text", {.value = "a frame with a long name"});
  const auto list = params.declare<std::vector<double>>("list", {.value = {1, 2, 3, 4}});
  double sum = 0;
  const auto rows = [&](const std::string& when) {
    report(("param_number" + when).c_str(), args.count, [&](long n) {
      for (long i = 0; i < n; ++i) sum += *number;
    });
    report(("param_text" + when).c_str(), args.count, [&](long n) {
      for (long i = 0; i < n; ++i) sum += static_cast<double>(text->size());
    });
    report(("param_list" + when).c_str(), args.count, [&](long n) {
      for (long i = 0; i < n; ++i) sum += list->at(3);
    });
  };
  rows("");
  std::atomic<bool> stop{false};
  std::thread setter([&] {
    for (double i = 2; !stop.load(); ++i) {
      (void)params.set({{"number", i},
                        {"text", "a frame with the number " + std::to_string(i)},
                        {"list", std::vector<double>{i, i, i, i}}});
    }
  });
  rows("_while_set");
  stop = true;
  setter.join();
  double set = 0;
  report("param_set", args.count / 100, [&](long n) {
    for (long i = 0; i < n; ++i) (void)number.set(set += 1);
  });
  if (sum == 0) std::puts("nothing was read");  // keeps the compiler from removing the reads
  node.close();
}

// One of several connected processes without messages.
void idle(const Arguments& args) {
  RuntimeOptions options;
  options.domain = args.domain;
  options.process = "idle" + std::to_string(getpid());
  Runtime runtime = Runtime::open(options).or_throw();
  Node node = runtime.node("idle").or_throw();
  const auto publisher = node.publisher<Sample>("sample");
  node.subscribe<Sample>("sample", serial, [](const Message<Sample>&) {});
  while (publisher.listeners() < 3) sleep_until(now_ns() + 1'000'000);
  std::puts("connected");
  std::fflush(stdout);
  char end = 0;
  while (read(STDIN_FILENO, &end, 1) > 0) {
  }
  node.close();
}

void run(const Arguments& args) {
  const auto wanted = [&](const char* name) { return args.only.empty() || args.only == name; };
  // The cases that fork come first. Later cases start threads.
  if (wanted("publish_shm")) publish_shm(args);
  if (args.only == "publish_shm_paced") publish_shm_paced(args);
  if (args.only == "image") publish_image(args);
  if (args.only == "idle") idle(args);
  if (args.only == "image_listener") listen_to_images(args);
  if (wanted("clock")) clock_cost(args);
  if (wanted("node_clock_real")) node_clock_cost(args, ClockMode::real, "node_clock_real");
  if (wanted("node_clock_sim")) node_clock_cost(args, ClockMode::sim, "node_clock_sim");
  if (wanted("trace_record")) trace_cost(args, trace::Writers::one, "trace_record");
  if (wanted("trace_record_many")) trace_cost(args, trace::Writers::many, "trace_record_many");
  if (wanted("recorder_message")) recorder_cost(args);
  if (wanted("param")) param_cost(args);
  if (wanted("publish_unheard")) publish_local(args, "publish_unheard", false);
  if (wanted("publish_inline")) publish_local(args, "publish_inline", true);
}

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  hyphos::lab::Arguments args;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--only") args.only = argv[i + 1];
    if (std::string(argv[i]) == "--domain") args.domain = argv[i + 1];
    if (std::string(argv[i]) == "--count") args.count = std::atol(argv[i + 1]);
  }
  try {
    hyphos::lab::run(args);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_micro: %s\n", error.what());
    return 1;
  }
}
