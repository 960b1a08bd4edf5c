// ros_tcp_probe [1|2 [PORT]]: a ros_tcp gateway on an in-memory graph, for clients in other
// languages. 1 and 2 select the ROS version. The program prints its port, then reads commands:
// `open` (open objects of clients in the graph), `counted WHY`, `overrun TOPIC`, `call SERVICE HEX`
// (the reply as hex, or "error TEXT"). It ends at the end of its input.
#include <iostream>
#include <sstream>
#include <string>

#include "gateway/ros_tcp/ros_tcp.hpp"
#include "tests/gateway/fake_graph.hpp"
#include "tests/gateway/probe.hpp"

using namespace hyphos;
using namespace hyphos::gateway;

namespace {

std::string obey(FakeGraph& facade, const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  std::string first;
  std::string second;
  words >> verb >> first >> second;
  if (verb == "open") return std::to_string(facade.open());
  if (verb == "counted") return std::to_string(facade.clients().counted(first));
  if (verb == "overrun") {
    facade.topics().overrun(first);
    return "ok";
  }
  if (verb == "call") return call(facade, first, second);
  return "unknown command '" + verb + "'";
}

}  // namespace

int main(int argc, char** argv) {
  FakeGraph facade;
  for (const char* name : {"std_msgs/String", "sensor_msgs/PointCloud2", "std_msgs/msg/String",
                           "sensor_msgs/msg/PointCloud2"}) {
    facade.types().add_message({.name = name, .md5 = {}, .type_hash = {}, .text = {}});
  }
  for (const char* name : {"std_srvs/SetBool", "std_srvs/srv/SetBool"}) {
    facade.types().add_service(
        {.name = name, .md5 = {}, .type_hash = {}, .request = {}, .reply = {}});
  }
  const auto echo = facade.services().open_server(
      {"probe"}, "/echo", "std_srvs/SetBool", Form::ros1,
      [](const Buffer& request, const Answer& answer) { answer(request); });
  Options options;
  if (argc > 1) options.own["ros"] = argv[1];
  if (argc > 2) options.port = static_cast<std::uint16_t>(std::stoi(argv[2]));
  const auto gateway = open_ros_tcp(facade, options).or_throw();
  std::cout << gateway->port() << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << obey(facade, line) << std::endl;
  return 0;
}
