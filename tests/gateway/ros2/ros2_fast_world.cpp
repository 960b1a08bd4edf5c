// ros2_fast_world DOMAIN_ID COMMAND NAME: a ROS 2 program on Fast DDS with the set-up of
// rmw_fastrtps_cpp. It uses no part of the gateway but the writer and reader of CDR. Commands:
//   level TOPIC     publishes 12.5 litres on TOPIC, and prints the litres of TOPIC_back
//   serve SERVICE   replies to std_srvs/SetBool with the opposite, and "lit"
//   call SERVICE    calls it with both values, and prints the replies
//   params NODE     waits until its list has the parameter `tester.speed`, and sets it to 0.75
//   act ACTION      serves an action of the type actionlib/Test, as tests/clients/c_action.c does
//   goals ACTION    sends goals to one
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "gateway/ros2/cdr.hpp"
#include "tests/gateway/ros2/ros_side.hpp"

namespace hyphos::gateway::ros2 {
namespace {

using GoalId = std::array<std::uint8_t, 16>;

std::string text(CdrWriter& writer) {
  std::vector<std::byte> bytes = writer.take();
  bytes.resize((bytes.size() + 3) / 4 * 4);  // as DDS does
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
CdrReader reader_of(const std::string& bytes) { return CdrReader(std::as_bytes(std::span(bytes))); }
void put(CdrWriter& writer, const GoalId& id) {
  for (const std::uint8_t byte : id) writer.number(byte);
}
GoalId take_id(CdrReader& reader) {
  GoalId id{};
  for (std::uint8_t& byte : id) byte = reader.number<std::uint8_t>();
  return id;
}
/// A message with the identity of a goal and a number.
std::string of_goal(const GoalId& id, std::int32_t number) {
  CdrWriter writer;
  put(writer, id);
  writer.number(number);
  return text(writer);
}

/// The message with this number. Waits for it.
RosReader::Got message_of(RosReader& reader, std::size_t nth, const std::string& what) {
  const auto got = reader.wait(nth + 1);
  if (got.size() <= nth) throw std::runtime_error("no " + what);
  return got[nth];
}

/// A client of one service.
class Asking {
 public:
  Asking(RosSide& ros, const std::string& service, const std::string& type)
      : service_(service),
        requests_(ros.writer("rq/" + service + "Request", type + "_Request_")),
        replies_(ros.reader("rr/" + service + "Reply", type + "_Response_")) {}
  void connect() {
    if (!requests_.wait_matched(1) || !replies_.wait_matched(1)) {
      throw std::runtime_error("the service has no server");
    }
  }
  std::string ask(const std::string& request) {
    rtps::SampleIdentity related;
    related.writer_guid(replies_.guid());
    const auto sent = requests_.write(request, related).sequence_number();
    for (std::size_t nth = 0;; ++nth) {
      const auto got = message_of(replies_, nth, "reply of " + service_);
      const auto& call = got.info.related_sample_identity;
      if (call.sequence_number() == sent && call.writer_guid() == replies_.guid()) return got.bytes;
    }
  }

 private:
  const std::string service_;
  RosWriter& requests_;
  RosReader& replies_;
};

/// The server of one service.
class RosServer {
 public:
  RosServer(RosSide& ros, const std::string& service, const std::string& type)
      : requests_(ros.reader("rq/" + service + "Request", type + "_Request_")),
        replies_(ros.writer("rr/" + service + "Reply", type + "_Response_")) {}
  /// The requests since the last call.
  std::vector<RosReader::Got> take() {
    auto all = requests_.wait(0);
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ += all.size();
    return all;
  }
  void reply(const RosReader::Got& request, const std::string& reply) {
    (void)replies_.wait_matched(1);
    rtps::SampleIdentity call = request.info.sample_identity;
    const auto& reader = request.info.related_sample_identity.writer_guid();
    if (reader != rtps::GUID_t::unknown()) call.writer_guid(reader);
    replies_.write(reply, call);
  }

 private:
  RosReader& requests_;
  RosWriter& replies_;
  std::size_t taken_ = 0;
};

template <typename Work>
[[noreturn]] void serve_forever(Work work) {
  std::cout << "ready" << std::endl;
  for (;;) {
    work();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// --- Topics, services and parameters -------------------------------------------------------------

[[noreturn]] void level(RosSide& ros, const std::string& topic) {
  const std::string type = "tank_msgs::msg::dds_::Level_";
  RosWriter& writer = ros.writer("rt/" + topic, type);
  RosReader& reader = ros.reader("rt/" + topic + "_back", type);
  CdrWriter litres;
  litres.number(12.5);
  const std::string message = text(litres);
  std::size_t printed = 0;
  serve_forever([&] {
    writer.write(message);
    for (const auto all = reader.wait(0); printed < all.size(); ++printed) {
      std::cout << reader_of(all[printed].bytes).number<double>() << std::endl;
    }
  });
}

const std::string kSetBool = "std_srvs::srv::dds_::SetBool";

[[noreturn]] void serve(RosSide& ros, const std::string& service) {
  RosServer server(ros, service, kSetBool);
  serve_forever([&] {
    for (const auto& request : server.take()) {
      CdrWriter reply;
      reply.flag(!reader_of(request.bytes).flag());
      reply.text("lit");
      server.reply(request, text(reply));
    }
  });
}

int call(RosSide& ros, const std::string& service) {
  Asking client(ros, service, kSetBool);
  client.connect();
  for (const bool on : {true, false}) {
    CdrWriter request;
    request.flag(on);
    const std::string reply = client.ask(text(request));
    CdrReader reader = reader_of(reply);
    const bool success = reader.flag();
    std::cout << (success ? "True " : "False ") << reader.text() << std::endl;
  }
  return 0;
}

const std::string kParameter = "tester.speed";

int params(RosSide& ros, const std::string& node) {
  const std::string types = "rcl_interfaces::srv::dds_::";
  Asking list(ros, node + "/list_parameters", types + "ListParameters");
  Asking set(ros, node + "/set_parameters", types + "SetParameters");
  list.connect();
  set.connect();
  CdrWriter all;
  all.count(0);
  all.number<std::uint64_t>(0);
  const std::string everything = text(all);
  // The gateway may not know the node yet.
  for (bool found = false; !found;) {
    const std::string names = list.ask(everything);
    CdrReader reader = reader_of(names);
    for (std::size_t left = reader.count(); left > 0; --left) {
      found = reader.text() == kParameter || found;
    }
    if (!found) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::cout << "listed" << std::endl;
  CdrWriter change;
  change.count(1);
  change.text(kParameter);
  change.number<std::uint8_t>(3);  // a double
  change.flag(false);
  change.number<std::int64_t>(0);
  change.number(0.75);
  change.text("");
  for (int array = 0; array < 5; ++array) change.count(0);
  const std::string result = set.ask(text(change));
  CdrReader changed = reader_of(result);
  std::cout << (changed.count() == 1 && changed.flag() ? "set" : "refused") << std::endl;
  return 0;
}

// --- Actions -------------------------------------------------------------------------------------

const std::string kTest = "actionlib::action::dds_::Test_";
const std::string kCancel = "action_msgs::srv::dds_::CancelGoal";
const std::string kParts = "/_action/";

struct State {
  std::int8_t status;
  std::int32_t result;
};

/// The server of an action.
class Acting {
 public:
  Acting(RosSide& ros, const std::string& action)
      : send_(ros, action + kParts + "send_goal", kTest + "SendGoal"),
        result_(ros, action + kParts + "get_result", kTest + "GetResult"),
        cancel_(ros, action + kParts + "cancel_goal", kCancel),
        feedback_(ros.writer("rt/" + action + kParts + "feedback", kTest + "FeedbackMessage_")) {}

  void work() {
    for (const auto& request : send_.take()) begin(request);
    for (const auto& request : cancel_.take()) cancel(request);
    for (auto& request : result_.take()) asking_.push_back(std::move(request));
    std::erase_if(asking_, [this](const RosReader::Got& request) {
      CdrReader reader = reader_of(request.bytes);
      const auto found = ended_.find(take_id(reader));
      if (found == ended_.end()) return false;
      CdrWriter reply;
      reply.number(found->second.status);
      reply.number(found->second.result);
      result_.reply(request, text(reply));
      return true;
    });
  }

 private:
  void begin(const RosReader::Got& request) {
    CdrReader reader = reader_of(request.bytes);
    const GoalId id = take_id(reader);
    const auto to = reader.number<std::int32_t>();
    CdrWriter accepted;
    accepted.flag(true);
    accepted.number<std::int32_t>(1);
    accepted.number<std::uint32_t>(2);
    send_.reply(request, text(accepted));
    if (to > 100) {
      feedback_.write(of_goal(id, to));
    } else {
      ended_[id] = to < 0 ? State{6, 0} : State{4, 2 * to};
    }
  }
  void cancel(const RosReader::Got& request) {
    CdrReader reader = reader_of(request.bytes);
    const GoalId id = take_id(reader);
    ended_[id] = {5, -1};
    CdrWriter reply;
    reply.number<std::int8_t>(0);
    reply.count(1);
    put(reply, id);
    reply.number<std::int32_t>(1);
    reply.number<std::uint32_t>(2);
    cancel_.reply(request, text(reply));
  }

  RosServer send_;
  RosServer result_;
  RosServer cancel_;
  RosWriter& feedback_;
  std::map<GoalId, State> ended_;
  std::vector<RosReader::Got> asking_;
};

[[noreturn]] void act(RosSide& ros, const std::string& action) {
  Acting server(ros, action);
  serve_forever([&] { server.work(); });
}

int goals(RosSide& ros, const std::string& action) {
  Asking send(ros, action + kParts + "send_goal", kTest + "SendGoal");
  Asking get_result(ros, action + kParts + "get_result", kTest + "GetResult");
  Asking cancel(ros, action + kParts + "cancel_goal", kCancel);
  RosReader& heard = ros.reader("rt/" + action + kParts + "feedback", kTest + "FeedbackMessage_");
  for (Asking* const one : {&send, &get_result, &cancel}) one->connect();
  if (!heard.wait_matched(1)) throw std::runtime_error("the action has no server");
  std::random_device random;
  const auto begin = [&](std::int32_t to) {
    GoalId id{};
    for (std::uint8_t& byte : id) byte = static_cast<std::uint8_t>(random());
    if (!reader_of(send.ask(of_goal(id, to))).flag()) throw std::runtime_error("rejected");
    return id;
  };
  const auto end = [&](const GoalId& id) {
    static const std::map<std::int8_t, std::string> kNames{
        {4, "succeeded"}, {5, "canceled"}, {6, "aborted"}};
    CdrWriter request;
    put(request, id);
    const std::string reply = get_result.ask(text(request));
    CdrReader reader = reader_of(reply);
    const auto status = reader.number<std::int8_t>();
    return std::pair(kNames.at(status), reader.number<std::int32_t>());
  };
  const GoalId first = begin(101);
  const std::string told = message_of(heard, 0, "feedback").bytes;
  CdrReader feedback = reader_of(told);
  if (take_id(feedback) != first) throw std::runtime_error("feedback of another goal");
  const auto number = feedback.number<std::int32_t>();
  const auto [second, doubled] = end(begin(21));
  std::cout << "b " << second << " " << doubled << std::endl;
  CdrWriter request;
  put(request, first);
  request.number<std::int32_t>(0);
  request.number<std::uint32_t>(0);
  (void)cancel.ask(text(request));
  const auto [canceled, result] = end(first);
  std::cout << "a " << number << " " << canceled << " " << result << std::endl;
  std::cout << "c " << end(begin(-1)).first << std::endl;
  return 0;
}

}  // namespace
}  // namespace hyphos::gateway::ros2

int main(int argc, char** argv) {
  using namespace hyphos::gateway::ros2;
  if (argc != 4) return 2;
  RosSide ros(static_cast<std::uint32_t>(std::stoul(argv[1])));
  const std::string command = argv[2];
  if (command == "level") level(ros, argv[3]);
  if (command == "serve") serve(ros, argv[3]);
  if (command == "act") act(ros, argv[3]);
  if (command == "call") return call(ros, argv[3]);
  if (command == "params") return params(ros, argv[3]);
  return command == "goals" ? goals(ros, argv[3]) : 2;
}
