#pragma once

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace hyphos::bench {

enum class Shape { kInproc, kInprocFlood, kPair, kPipeline, kFanout, kFlood, kNet };

struct ShapeName {
  Shape shape;
  const char* name;
};
inline constexpr ShapeName kShapeNames[] = {
    {Shape::kInproc, "inproc"}, {Shape::kInprocFlood, "inproc_flood"},
    {Shape::kPair, "pair"},     {Shape::kPipeline, "pipeline"},
    {Shape::kFanout, "fanout"}, {Shape::kFlood, "flood"},
    {Shape::kNet, "net"},
};

inline const char* to_string(Shape shape) {
  for (const auto& entry : kShapeNames) {
    if (entry.shape == shape) return entry.name;
  }
  return "?";
}

inline Shape shape_from(std::string_view name) {
  for (const auto& entry : kShapeNames) {
    if (name == entry.name) return entry.shape;
  }
  throw std::invalid_argument("unknown shape '" + std::string(name) + "'");
}

// What one run does. The parent gets this from the command line and hands it, with a role, to each
// process it starts.
struct Options {
  Shape shape = Shape::kPair;
  std::string variant;       // chosen among the peer's own, e.g. "ipc"
  std::size_t size = 1024;   // bytes per message, header included
  double rate_hz = 100;      // ignored by the floods, which send back to back
  std::int64_t count = 500;  // measured messages
  std::int64_t warmup = 50;  // messages every subscriber must have seen before the measurement
  int processes = 3;         // pipeline: source, processes - 2 hops, sink
  int subscribers = 1;       // fanout
  std::string pub_netns, sub_netns;
  std::string pub_addr = "127.0.0.1", sub_addr = "127.0.0.1";
  bool describe = false;

  std::string role;  // empty in the parent; else pub | hop | sub | both
  int index = 0;     // which hop or subscriber
  int sheet_fd = -1;
  std::string run_dir;  // private directory in /dev/shm, removed by the parent
  int run_id = 0;       // distinguishes concurrent runs: names and ports derive from it

  [[nodiscard]] bool floods() const {
    return shape == Shape::kFlood || shape == Shape::kInprocFlood;
  }
  [[nodiscard]] bool in_process() const {
    return shape == Shape::kInproc || shape == Shape::kInprocFlood;
  }
  [[nodiscard]] int edges() const { return shape == Shape::kPipeline ? processes - 1 : 1; }
  [[nodiscard]] int sinks() const { return shape == Shape::kFanout ? subscribers : 1; }
};

inline Options parse_options(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view key = argv[i];
    if (key == "--describe") {
      o.describe = true;
      continue;
    }
    if (i + 1 >= argc) throw std::invalid_argument(std::string(key) + " needs a value");
    const std::string value = argv[++i];
    if (key == "--shape")
      o.shape = shape_from(value);
    else if (key == "--variant")
      o.variant = value;
    else if (key == "--size")
      o.size = std::stoull(value);
    else if (key == "--rate")
      o.rate_hz = std::stod(value);
    else if (key == "--count")
      o.count = std::stoll(value);
    else if (key == "--warmup")
      o.warmup = std::stoll(value);
    else if (key == "--processes")
      o.processes = std::stoi(value);
    else if (key == "--subscribers")
      o.subscribers = std::stoi(value);
    else if (key == "--pub-netns")
      o.pub_netns = value;
    else if (key == "--sub-netns")
      o.sub_netns = value;
    else if (key == "--pub-addr")
      o.pub_addr = value;
    else if (key == "--sub-addr")
      o.sub_addr = value;
    else if (key == "--role")
      o.role = value;
    else if (key == "--index")
      o.index = std::stoi(value);
    else if (key == "--sheet-fd")
      o.sheet_fd = std::stoi(value);
    else if (key == "--run-dir")
      o.run_dir = value;
    else if (key == "--run-id")
      o.run_id = std::stoi(value);
    else
      throw std::invalid_argument("unknown option " + std::string(key));
  }
  if (o.size < 32) throw std::invalid_argument("--size: at least 32 bytes, for the header");
  if (o.count < 1 || o.warmup < 1) throw std::invalid_argument("--count, --warmup: at least 1");
  if (o.rate_hz <= 0) throw std::invalid_argument("--rate: must be positive");
  if (o.processes < 2) throw std::invalid_argument("--processes: at least 2");
  if (o.subscribers < 1 || o.subscribers > 32) {
    throw std::invalid_argument("--subscribers: 1 to 32");
  }
  return o;
}

// The command line of a child, so that parsing it gives back `o` with the role.
inline std::vector<std::string> child_arguments(const Options& o, const std::string& role,
                                                int index) {
  return {"--shape",       to_string(o.shape),
          "--variant",     o.variant,
          "--size",        std::to_string(o.size),
          "--rate",        std::to_string(o.rate_hz),
          "--count",       std::to_string(o.count),
          "--warmup",      std::to_string(o.warmup),
          "--processes",   std::to_string(o.processes),
          "--subscribers", std::to_string(o.subscribers),
          "--pub-addr",    o.pub_addr,
          "--sub-addr",    o.sub_addr,
          "--role",        role,
          "--index",       std::to_string(index),
          "--sheet-fd",    std::to_string(o.sheet_fd),
          "--run-dir",     o.run_dir,
          "--run-id",      std::to_string(o.run_id)};
}

}  // namespace hyphos::bench
