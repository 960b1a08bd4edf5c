// The cost of converting ROS messages, compared with a memcpy of the same bytes, interleaved:
//
//   bench_convert TYPES.pb [--size BYTES] [--rounds N] [--only WORD]
//
// TYPES.pb: a FileDescriptorSet with sensor_msgs of both flavours (`hyphos msg descriptors -o
// TYPES.pb`).

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "gateway/types/types.hpp"
#include "hyphos/hyphos.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "lab/common/clock.hpp"

namespace {

using namespace hyphos;
using namespace hyphos::gateway;

struct Case {
  std::string name;
  std::function<void()> run;
  std::vector<double> ns = {};
};

Buffer made_of(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31);
  return Buffer::adopt(std::move(bytes));
}

/// Adds cases that read and write `message` in each encoding.
void add_cases(std::vector<Case>& cases, const ChannelCodec& ros1, const ChannelCodec& ros2,
               const std::string& name, const RawMessage& message) {
  for (const auto& [form, word] : {std::pair(Form::ros1, "ROS 1"), std::pair(Form::cdr, "CDR"),
                                   std::pair(Form::json, "JSON"), std::pair(Form::cbor, "CBOR")}) {
    const Converter& converter = (form == Form::cdr ? ros2 : ros1).converter;
    cases.push_back({name + " to " + word,
                     [&converter, form, message] { (void)converter.write(form, message); }});
    if (form == Form::cbor) continue;
    const Buffer wire = converter.write(form, message).or_throw().joined();
    cases.push_back({name + " from " + word, [&converter, form, wire] {
                       (void)converter.read(form, wire.bytes(), &WritableBuffer::on_heap, 0);
                     }});
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t size = 1'000'000;
  int rounds = 200;
  std::string only;  // part of the name of a case
  for (int i = 2; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--size") size = std::strtoul(argv[i + 1], nullptr, 10);
    if (std::string(argv[i]) == "--rounds") rounds = std::atoi(argv[i + 1]);
    if (std::string(argv[i]) == "--only") only = argv[i + 1];
  }
  if (argc < 2 || size < 64 || rounds < 1) {
    std::fprintf(stderr,
                 "usage: bench_convert TYPES.pb [--size BYTES] [--rounds N] [--only WORD]\n");
    return 2;
  }
  const auto types = Types::read(argv[1]).or_throw();
  std::vector<Case> cases;
  const Buffer source = made_of(size);
  std::vector<std::byte> target(size);
  cases.push_back({"memcpy", [&] {
                     std::memcpy(target.data(), source.data(), size);
                     asm volatile("" : : "r"(target.data()) : "memory");
                   }});

  msgs::Image image;
  image.set_height(1);
  image.set_width(static_cast<std::uint32_t>(size));
  image.set_encoding("mono8");
  RawMessage picture{Buffer::copy_of(image.SerializeAsString()), {}};
  picture.buffers.push_back(source);
  add_cases(cases, *types->default_codec("sensor_msgs/Image").or_throw(),
            *types->default_codec("sensor_msgs/msg/Image").or_throw(), "image", picture);

  msgs::LaserScan scan;
  for (std::size_t i = 0; i < size / 4; ++i) scan.add_ranges(0.001F * static_cast<float>(i));
  const RawMessage ranges{Buffer::copy_of(scan.SerializeAsString()), {}};
  add_cases(cases, *types->default_codec("sensor_msgs/LaserScan").or_throw(),
            *types->default_codec("sensor_msgs/msg/LaserScan").or_throw(), "floats", ranges);

  std::erase_if(cases, [&](const Case& one) {
    return one.name != "memcpy" && one.name.find(only) == std::string::npos;
  });
  for (int round = 0; round < rounds; ++round) {
    for (Case& one : cases) {
      const std::int64_t begin = lab::now_ns();
      one.run();
      one.ns.push_back(static_cast<double>(lab::now_ns() - begin));
    }
  }
  std::printf("%zu bytes, %d rounds\n%-18s %9s %9s %9s %8s %8s\n", size, rounds, "", "least us",
              "p50 us", "p95 us", "GB/s", "x memcpy");
  double floor = 0;
  for (Case& one : cases) {
    std::sort(one.ns.begin(), one.ns.end());
    const double p50 = one.ns[one.ns.size() / 2];
    if (floor == 0) floor = p50;
    std::printf("%-18s %9.1f %9.1f %9.1f %8.2f %8.2f\n", one.name.c_str(), one.ns.front() / 1e3,
                p50 / 1e3, one.ns[one.ns.size() * 95 / 100] / 1e3, static_cast<double>(size) / p50,
                p50 / floor);
  }
  return 0;
}
