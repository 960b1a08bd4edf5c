// Transform lookups: this tree and tf2 (ROS 1, libtf2-dev) with the same data in one run.
//
//   bench_transforms [--depth N] [--rate HZ] [--count N] [--json]
//
// A chain of `depth` moving frames, each with 10 s of history. The lookups use the newest common
// time ("latest"), 50 ms before it ("recent"), and any time of the history ("any"). `handle` is
// TransformLookup. `names` is TransformTree::get(), the counterpart of tf2's lookupTransform() with
// two strings. The three alternate in batches, so that a disturbance of the machine affects all of
// them. The figure is the median over the batches. `write` sets one transform, in order.

#include "hyphos/transforms.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "lab/common/clock.hpp"
#ifdef HYPHOS_HAVE_TF2
#include "tests/node/tf2_peer.hpp"
#endif

namespace hyphos::lab {
namespace {

constexpr std::int64_t kBegin = 1'700'000'000'000'000'000;
constexpr std::int64_t kHistory = 10'000'000'000;

struct Arguments {
  int depth = 8;
  double rate_hz = 100;
  long count = 200'000;
  bool json = false;
};

std::string name(int i) { return "frame_" + std::to_string(i); }

/// The data of both trees, in the order in which a robot would send it.
std::vector<Transform> history(const Arguments& args) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> d(-1, 1);
  std::vector<Transform> out;
  const auto samples = static_cast<std::int64_t>(10 * args.rate_hz);
  for (std::int64_t s = 0; s <= samples; ++s) {
    for (int i = 0; i < args.depth; ++i) {
      const double phase = static_cast<double>(s) / args.rate_hz + i;
      out.push_back({name(i),
                     name(i + 1),
                     Time{kBegin + kHistory * s / samples},
                     {d(random), d(random), d(random)},
                     to_quaternion({0.3 * std::sin(phase), 0.2 * std::cos(phase), phase})});
    }
  }
  return out;
}

struct Series {
  std::string name;
  std::function<double(long)>
      batch;  // n lookups from this index on. Returns a sum so that none is removed
  std::vector<double> ns = {};

  [[nodiscard]] double median() {
    std::sort(ns.begin(), ns.end());
    return ns[ns.size() / 2];
  }
};

void measure(std::vector<Series>& series, long count) {
  constexpr int kBatches = 60;
  const long each = std::max(count / kBatches, 1L);
  volatile double sink = 0;
  for (int i = 0; i < kBatches + 2; ++i) {  // two to warm up
    for (std::size_t k = 0; k < series.size(); ++k) {
      Series& one = series[(k + static_cast<std::size_t>(i)) % series.size()];
      const std::int64_t begin = now_ns();
      sink = sink + one.batch(each);
      const double ns = static_cast<double>(now_ns() - begin) / static_cast<double>(each);
      if (i >= 2) one.ns.push_back(ns);
    }
  }
}

void report(const Arguments& args, const std::string& what, std::vector<Series>& series) {
  const double peer = series.back().name == "tf2" ? series.back().median() : 0;
  for (Series& one : series) {
    const double ns = one.median();
    if (args.json) {
      std::printf(
          "{\"what\": \"%s\", \"of\": \"%s\", \"ns\": %.1f, \"p95_ns\": %.1f, "
          "\"depth\": %d, \"rate_hz\": %g}\n",
          what.c_str(), one.name.c_str(), ns, one.ns[one.ns.size() * 95 / 100], args.depth,
          args.rate_hz);
    } else {
      std::printf("%-8s %-14s %9.1f ns", what.c_str(), one.name.c_str(), ns);
      if (peer > 0 && one.name != "tf2") std::printf("   %.3f x tf2", ns / peer);
      std::printf("\n");
    }
  }
  std::fflush(stdout);
}

/// The lookup times, equal for all variants.
std::vector<std::int64_t> times(const std::string& what) {
  std::mt19937_64 random(2);
  std::vector<std::int64_t> out;
  for (int i = 0; i < 4096; ++i) {
    std::int64_t t = 0;
    if (what == "recent")
      t = kBegin + kHistory - 50'000'000 - static_cast<std::int64_t>(random() % 9'000'000);
    if (what == "any") t = kBegin + static_cast<std::int64_t>(random() % kHistory);
    out.push_back(t);
  }
  return out;
}

void look_up(const Arguments& args, const std::string& what, const std::vector<Transform>& data) {
  TransformTree tree;
  for (const Transform& t : data) tree.set(t).or_throw();
  const std::string target = name(0);
  const std::string source = name(args.depth);
  const std::vector<std::int64_t> asked = times(what);
  const auto at = [&](long i) { return asked[static_cast<std::size_t>(i) % asked.size()]; };
  TransformLookup lookup = tree.lookup(target, source);
  std::vector<Series> series;
  series.push_back({"handle", [&](long n) {
                      double sum = 0;
                      for (long i = 0; i < n; ++i) sum += lookup.get(Time{at(i)})->translation.x;
                      return sum;
                    }});
  series.push_back({"names", [&](long n) {
                      double sum = 0;
                      for (long i = 0; i < n; ++i) {
                        sum += tree.get(target, source, Time{at(i)})->translation.x;
                      }
                      return sum;
                    }});
#ifdef HYPHOS_HAVE_TF2
  test::Tf2Peer tf2(20);  // exceeds the data, so that nothing is pruned
  for (const Transform& t : data) {
    tf2.set(t.parent, t.child,
            {t.stamp.ns,
             {t.translation.x, t.translation.y, t.translation.z},
             {t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w}},
            false);
  }
  tf2.prepare(asked);
  for (long i = 0; i < 100; ++i) {
    test::Tf2Peer::Pose theirs;
    const auto found = tf2.get(target, source, at(i), theirs);
    const Vector3 ours = lookup.get(Time{at(i)}).or_throw().translation;
    if (found != test::Tf2Peer::Answer::found || std::abs(theirs.translation[0] - ours.x) > 1e-6) {
      throw std::runtime_error("tf2 gives a different result");
    }
  }
  series.push_back({"tf2", [&](long n) { return tf2.look_up(target, source, n); }});
#endif
  measure(series, args.count);
  report(args, what, series);
}

void write(const Arguments& args) {
  TransformTree tree;
  std::int64_t stamp = kBegin;
  Transform t{"map", "base", {}, {1, 2, 3}, {}};
  std::vector<Series> series;
  series.push_back({"set", [&](long n) {
                      for (long i = 0; i < n; ++i) {
                        t.stamp = Time{stamp += 10'000'000};
                        tree.set(t).or_throw();
                      }
                      return 0.0;
                    }});
#ifdef HYPHOS_HAVE_TF2
  test::Tf2Peer tf2(10);
  series.push_back({"tf2", [&](long n) {
                      tf2.write(10'000'000, n);
                      return 0.0;
                    }});
#endif
  measure(series, args.count);
  report(args, "write", series);
}

/// The same handle while another thread sets all frames of the chain 1000 times per second.
void contended(const Arguments& args, const std::vector<Transform>& data) {
  TransformTree tree;
  for (const Transform& t : data) tree.set(t).or_throw();
  TransformLookup lookup = tree.lookup(name(0), name(args.depth));
  std::vector<Series> series;
  series.push_back({"handle+writer", [&](long n) {
                      double sum = 0;
                      for (long i = 0; i < n; ++i) sum += lookup.get().or_throw().translation.x;
                      return sum;
                    }});
  std::jthread writer([&](const std::stop_token& stop) {
    std::int64_t due = now_ns();
    for (std::int64_t k = 1; !stop.stop_requested(); ++k) {
      sleep_until(due += 1'000'000);
      for (int i = 0; i < args.depth; ++i) {
        tree.set({name(i), name(i + 1), Time{kBegin + kHistory + k * 1'000'000}, {1, 2, 3}, {}})
            .or_throw();
      }
    }
  });
  measure(series, args.count);
  report(args, "latest", series);
}

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  hyphos::lab::Arguments args;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--json") args.json = true;
    if (i + 1 == argc) break;
    if (flag == "--depth") args.depth = std::max(1, std::atoi(argv[i + 1]));
    if (flag == "--rate") args.rate_hz = std::max(1.0, std::atof(argv[i + 1]));
    if (flag == "--count") args.count = std::max(100L, std::atol(argv[i + 1]));
  }
  try {
    const auto data = hyphos::lab::history(args);
    for (const char* what : {"latest", "recent", "any"}) hyphos::lab::look_up(args, what, data);
    hyphos::lab::contended(args, data);
    hyphos::lab::write(args);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_transforms: %s\n", error.what());
    return 1;
  }
}
