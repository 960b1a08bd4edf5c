// An external project whose program is also a gateway.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <hyphos/gateway.hpp>
#include <hyphos/hyphos.hpp>

int main(int, char** arguments) {
  hyphos::RuntimeOptions options;
  options.domain = "consumer";
  auto runtime = hyphos::Runtime::open(options).or_throw();
  const std::string types = std::string(arguments[0]) + ".pb";
  std::ofstream(types).flush();  // only the standard messages
  const auto gateway = hyphos::Gateway::open(runtime.node("unity").or_throw(),
                                             {"ros_tcp", "--port", "0", "--types", types})
                           .or_throw();
  std::printf("listens at %s\n", gateway.address().c_str());
  return gateway.port() > 0 ? 0 : 1;
}
