#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "gateway/rosbridge/rosbridge.hpp"
#include "tests/gateway/fake_graph.hpp"

// A rosbridge gateway on an in-memory graph, which delivers messages byte for byte. The program
// prints its address. For each line of its input, a counter name, it prints the number of open
// objects and that counter.
//
// rosbridge_probe [port=…] [token=…] [cert=… key=…] [max_message=…] [queue_bytes=…] [ping_s=…]

namespace {

using namespace hyphos::gateway;

constexpr const char* kCloud =
    "uint32 width\nuint8[] data\nfloat32[] ranges\nHeader header\n"
    "================================\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\n"
    "string frame_id\n";

void add_types(FakeGraph& facade) {
  facade.types().add_message(
      {"std_msgs/String", "992ce8a1687cec8c8bd883ec73ca41d1", "", "string data\n"});
  facade.types().add_message({"test_msgs/Cloud", "", "", kCloud});
  facade.types().add_message({"rospy_tutorials/AddTwoIntsRequest", "", "", "int64 a\nint64 b\n"});
  facade.types().add_message({"rospy_tutorials/AddTwoIntsResponse", "", "", "int64 sum\n"});
  facade.types().add_service({"rospy_tutorials/AddTwoInts", "", "",
                              "rospy_tutorials/AddTwoIntsRequest",
                              "rospy_tutorials/AddTwoIntsResponse"});
}

bool read_option(Options& options, std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view key = word.substr(0, equals);
  const std::string value(word.substr(equals + 1));
  if (key == "token") {
    options.tokens.push_back({value});
  } else if (key == "cert" || key == "key") {
    if (!options.tls) options.tls.emplace();
    (key == "cert" ? options.tls->certificate : options.tls->key) = value;
  } else if (key == "port") {
    options.port = static_cast<std::uint16_t>(std::stoul(value));
  } else if (key == "max_message") {
    options.max_message = std::stoul(value);
  } else if (key == "queue_bytes") {
    options.queue_bytes = std::stoul(value);
  } else {
    options.own[std::string(key)] = value;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (!read_option(options, argv[i])) return 2;
  }
  FakeGraph facade;
  add_types(facade);
  auto protocol = open_rosbridge(facade, options);
  if (!protocol) {
    std::fprintf(stderr, "error: %s\n", protocol.error().to_string().c_str());
    return 1;
  }
  std::printf("%s\n", (*protocol)->address().c_str());
  std::fflush(stdout);
  char why[64];
  while (std::fgets(why, sizeof why, stdin) != nullptr) {
    why[std::strcspn(why, "\n")] = '\0';
    std::printf("%zu %llu\n", facade.open(),
                static_cast<unsigned long long>(facade.clients().counted(why)));
    std::fflush(stdout);
  }
  protocol->reset();
  std::printf("%zu\n", facade.open());
  return 0;
}
