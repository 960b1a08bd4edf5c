// A program that tests/python/gateway/gateway_worlds_test.py starts: `cpp_world DOMAIN TYPES`. It
// publishes a latched text on `cpp_out`, returns each text of `cpp_in` on `cpp_back`, serves
// `cpp_switch`, has the parameter `speed`, and publishes on `cpp_tank` a type of the file TYPES
// that no other program has. It serves the action `cpp_action` of the type actionlib/Test, as
// tests/clients/c_action.c does.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "hyphos/hyphos.hpp"
#include "hyphos/msgs/std.pb.h"

namespace {

using hyphos::Encoding;
using hyphos::make_type_id;
using hyphos::msgs::String;

hyphos::RawMessage message_of(const hyphos::CallMemory& memory, std::string_view bytes) {
  hyphos::RawMessage made;
  hyphos::WritableBuffer to = memory.loan_bytes(bytes.size());
  std::ranges::copy(std::as_bytes(std::span(bytes)), to.data());
  made.payload = std::move(to).freeze(bytes.size());
  return made;
}

/// A protobuf message whose only field is the int32 with number 1.
std::string put(std::int32_t value) {
  std::string bytes;
  if (value == 0) return bytes;
  bytes.push_back('\x08');
  auto left = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  for (; left > 0x7f; left >>= 7U) bytes.push_back(static_cast<char>(left | 0x80U));
  bytes.push_back(static_cast<char>(left));
  return bytes;
}
std::int32_t get(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    value |= static_cast<std::uint64_t>(bytes[i] & 0x7f) << 7U * (i - 1);
  }
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

void execute(const hyphos::RawGoalHandle& goal) {
  const auto* const envelope = goal.message().encoded();
  const std::int32_t to = envelope == nullptr ? 0 : get(envelope->payload.text());
  if (to < 0) {
    (void)goal.abort(hyphos::Error{hyphos::Code::out_of_range, "only upwards", ""});
  } else if (to <= 100) {
    (void)goal.finish(hyphos::GoalState::succeeded, message_of(goal.memory(), put(2 * to)));
  } else {
    (void)goal.feedback(message_of(goal.memory(), put(to)));
    goal.on_cancel([goal] {
      (void)goal.finish(hyphos::GoalState::canceled, message_of(goal.memory(), put(-1)));
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  hyphos::RuntimeOptions options;
  options.domain = argv[1];
  options.process = "cpp_world";
  auto runtime = hyphos::Runtime::open(options).or_throw();
  std::ifstream file(argv[2], std::ios::binary);
  runtime.announce_types(std::string(std::istreambuf_iterator<char>(file), {})).or_throw();
  const auto node = runtime.node("cpp_world").or_throw();
  (void)node.params().declare<double>("speed", {.value = 0.5});
  hyphos::PublisherOptions latched;
  latched.policy.emplace().latched = true;
  const auto out = node.publisher<String>("cpp_out", latched);
  const auto back = node.publisher<String>("cpp_back");
  String text;
  text.set_data("from C++");
  (void)out.publish(text);
  node.subscribe<String>("cpp_in", hyphos::serial,
                         [&](hyphos::Message<String> heard) { (void)back.publish(*heard); });
  const auto tank =
      node.raw_publisher("cpp_tank", make_type_id("ros2.tank_msgs.msg.Level", Encoding::protobuf))
          .or_throw();
  const std::string_view level("\x09\0\0\0\0\0\0\x29\x40", 9);  // 12.5
  const auto timer = node.every(hyphos::Duration::from_ms(50),
                                [&] { (void)tank.publish(hyphos::Buffer::copy_of(level)); });
  const auto request = make_type_id("ros1.std_srvs.srv.SetBoolRequest", Encoding::protobuf);
  const auto reply = make_type_id("ros1.std_srvs.srv.SetBoolResponse", Encoding::protobuf);
  const auto service = node.raw_service(
      "cpp_switch", hyphos::service_type(request, reply), {}, [](const hyphos::RawRequest& asked) {
        const auto* const envelope = asked.message().encoded();
        const bool on = envelope != nullptr && !envelope->payload.empty();
        // The field 1 is the flag, the field 2 the text.
        (void)asked.reply(message_of(asked.memory(), std::string(on ? "\x08\x01" : "") + "\x12\x03"
                                                                                         "C++"));
      });
  const auto part = [](const char* name) {
    return make_type_id(std::string("ros1.actionlib.msg.Test") + name, Encoding::protobuf);
  };
  hyphos::ActionOptions parallel;
  parallel.policy = hyphos::GoalPolicy::parallel;
  const auto action = node.raw_action(
      "cpp_action", hyphos::action_type(part("Goal"), part("Feedback"), part("Result")), parallel,
      &execute);
  if (!service || !action) return 1;
  std::puts("ready");
  std::fflush(stdout);
  return node.spin();
}
