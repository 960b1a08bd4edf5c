#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "gateway/rosbridge/session.hpp"
#include "tests/gateway/fake_graph.hpp"

namespace {

using namespace hyphos::gateway;
using namespace hyphos::gateway::rosbridge;

/// Every reply must be JSON that the gateway's own parser reads, or CBOR.
class Checking final : public Sink {
 public:
  std::size_t send(OutputClass, std::uint32_t, std::span<const Frame> unit) override {
    for (const Frame& frame : unit) {
      std::string text;
      text.reserve(frame.size() + net::kPadding);
      for (const hyphos::Buffer& part : frame.parts) text += part.text();
      if (frame.binary) continue;
      RequestParser parser;  // a separate parser, because the session's may be in use
      const ParsedRequest parsed = parser.parse(text);
      if (parsed.request.op.empty()) std::abort();
    }
    return 0;
  }
  void close(net::CloseCode, std::string_view) override {}
  void wake_at(std::int64_t) override {}
};

}  // namespace

/// The input is cut into messages, each ended by a byte 0x00. A message that begins with 'B' is
/// binary. The session must handle all of them, and leave nothing open at its end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FakeGraph facade;
  facade.types().add_message({"std_msgs/String", "", "", "string data\n"});
  facade.types().add_service({"std_srvs/SetBool", "", "", "std_msgs/String", "std_msgs/String"});
  facade.types().add_action(
      {"made/Count", "std_msgs/String", "std_msgs/String", "std_msgs/String"});
  Checking sink;
  facade.parameters().nodes().put("walk", "speed.max", 0.5);
  hyphos::gateway::Options options;
  options.max_message = 4096;
  {
    const auto params = facade.parameters().open([] {});
    Session session(facade, *params, {"fuzz"}, options, sink, true);
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    while (!rest.empty()) {
      std::string message(rest.substr(0, rest.find('\0')));
      rest.remove_prefix(std::min(message.size() + 1, rest.size()));
      message.reserve(message.size() + net::kPadding);
      if (message.starts_with('B')) {
        session.binary(std::as_bytes(std::span(message)).subspan(1));
      } else {
        session.text(message);
      }
      session.tick();
    }
  }
  if (facade.open() != 0) std::abort();
  return 0;
}
