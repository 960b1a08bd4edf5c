// ros2_node DOMAIN_ID RANGE listen TOPIC[,TOPIC...] [OPTION...]
// ros2_node DOMAIN_ID RANGE talk TOPIC [OPTION...]
//
// A ROS 2 program without ROS, on Cyclone DDS with the set-up of rmw_cyclonedds_cpp. It has the
// names, types, QoS and user data of ROS on the wire. RANGE is a value of
// ROS_AUTOMATIC_DISCOVERY_RANGE: LOCALHOST or SUBNET. Options: best_effort, latched, depth=N,
// deadline=MS, manual (liveliness), type=PACKAGE::msg::dds_::NAME_.
//
// `listen` prints "ready", then the topic, the size and the first word of each message. Its readers
// become known in the order of the topics. `talk` publishes a message for each line of its input,
// "SIZE WORD". ROS2_NODE_OWN adds settings of the user to those of Cyclone DDS.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "dds/dds.h"
#include "ros2_types.h"

namespace {

using Options = std::vector<std::string>;

dds_entity_t made(dds_return_t result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + dds_strretcode(-result));
  return result;
}

/// The settings that rmw_cyclonedds_cpp (Iron and later) passes to Cyclone DDS before the user's.
std::string settings(const std::string& range) {
  const char* const own = std::getenv("ROS2_NODE_OWN");
  const bool localhost = range == "LOCALHOST";
  std::string text = "<CycloneDDS><Domain>";
  if (localhost) text += "<General><AllowMulticast>false</AllowMulticast></General>";
  text +=
      "<Discovery><ParticipantIndex>auto</ParticipantIndex>"
      "<MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>";
  if (localhost) text += "<Peers><Peer address=\"127.0.0.1\"/></Peers>";
  return text + "</Discovery>" + (own == nullptr ? "" : own) + "</Domain></CycloneDDS>";
}

/// The number of "NAME=NUMBER".
std::int64_t number(const Options& options, const std::string& name, std::int64_t otherwise) {
  for (const std::string& option : options) {
    if (option.starts_with(name + "=")) return std::stoll(option.substr(name.size() + 1));
  }
  return otherwise;
}
bool has(const Options& options, const std::string& name) {
  for (const std::string& option : options) {
    if (option == name) return true;
  }
  return false;
}

dds_qos_t* qos_of(const Options& options, const std::string& type_hash) {
  dds_qos_t* const qos = dds_create_qos();
  dds_qset_reliability(
      qos, has(options, "best_effort") ? DDS_RELIABILITY_BEST_EFFORT : DDS_RELIABILITY_RELIABLE,
      DDS_INFINITY);
  dds_qset_durability(
      qos, has(options, "latched") ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE);
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST,
                   static_cast<std::int32_t>(number(options, "depth", 10)));
  if (const auto deadline = number(options, "deadline", 0); deadline > 0) {
    dds_qset_deadline(qos, DDS_MSECS(deadline));
  }
  if (has(options, "manual")) dds_qset_liveliness(qos, DDS_LIVELINESS_MANUAL_BY_TOPIC, DDS_SECS(5));
  dds_qset_writer_data_lifecycle(qos, false);
  dds_qset_ignorelocal(qos, DDS_IGNORELOCAL_PARTICIPANT);
  const std::string user_data = "typehash=" + type_hash + ";";
  dds_qset_userdata(qos, user_data.data(), user_data.size());
  return qos;
}

/// One ROS node with its own participant.
class Node {
 public:
  Node(std::uint32_t domain_id, std::string name) : name_(std::move(name)) {
    dds_qos_t* const enclave = dds_create_qos();
    dds_qset_userdata(enclave, "enclave=/;", std::strlen("enclave=/;"));
    participant_ = made(dds_create_participant(domain_id, enclave, nullptr), "participant");
    dds_delete_qos(enclave);
    const auto topic =
        made(dds_create_topic(participant_, &rmw_dds_common_msg_dds__ParticipantEntitiesInfo__desc,
                              "ros_discovery_info", nullptr, nullptr),
             "topic");
    dds_qos_t* const qos =
        qos_of({"latched", "depth=1"},
               "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e");
    logged_ = made(dds_create_writer(participant_, topic, qos, nullptr), "writer");
    made(dds_create_reader(participant_, topic, qos, nullptr), "reader");
    dds_delete_qos(qos);
  }
  [[nodiscard]] dds_entity_t participant() const { return participant_; }

  /// The topic of an endpoint of std_msgs/msg/String, or of the same type under another name.
  [[nodiscard]] dds_entity_t topic(const std::string& name, const Options& options) const {
    static dds_topic_descriptor_t type = std_msgs_msg_dds__String__desc;
    static std::string type_name = type.m_typename;
    for (const std::string& option : options) {
      if (option.starts_with("type=")) type_name = option.substr(5);
    }
    type.m_typename = type_name.c_str();
    return made(dds_create_topic(participant_, &type, ("rt/" + name).c_str(), nullptr, nullptr),
                "topic");
  }

  void announce(dds_entity_t endpoint, bool reads) {
    rmw_dds_common_msg_dds__Gid_ gid = gid_of(endpoint);
    rmw_dds_common_msg_dds__NodeEntitiesInfo_ node{};
    std::string root = "/";
    node.node_namespace = root.data();
    node.node_name = name_.data();
    auto& list = reads ? node.reader_gid_seq : node.writer_gid_seq;
    list = {1, 1, &gid, false};
    rmw_dds_common_msg_dds__ParticipantEntitiesInfo_ info{};
    info.gid = gid_of(participant_);
    info.node_entities_info_seq = {1, 1, &node, false};
    made(dds_write(logged_, &info), "announcement");
  }

 private:
  static rmw_dds_common_msg_dds__Gid_ gid_of(dds_entity_t entity) {
    dds_guid_t guid;
    made(dds_get_guid(entity, &guid), "guid");
    rmw_dds_common_msg_dds__Gid_ gid{};
    std::memcpy(gid.data, guid.v, sizeof gid.data);
    return gid;
  }

  std::string name_;
  dds_entity_t participant_ = 0;
  dds_entity_t logged_ = 0;
};

constexpr const char* kStringHash =
    "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";

struct Reader {
  std::string topic;
  dds_entity_t entity = 0;
};

/// Returns false if there is no message.
bool print_next(const Reader& reader) {
  void* message = nullptr;
  dds_sample_info_t info;
  if (made(dds_take(reader.entity, &message, &info, 1, 1), "take") == 0) return false;
  if (info.valid_data) {
    const std::string text = static_cast<std_msgs_msg_dds__String_*>(message)->data;
    std::cout << reader.topic << " " << text.size() << " " << text.substr(0, text.find(' '))
              << std::endl;
  }
  dds_return_loan(reader.entity, &message, 1);
  return true;
}

int listen(Node& node, const std::string& topics, const Options& options) {
  std::vector<Reader> readers;
  std::istringstream names(topics);
  for (std::string name; std::getline(names, name, ',');) {
    dds_qos_t* const qos = qos_of(options, kStringHash);
    readers.push_back(
        {name, made(dds_create_reader(node.participant(), node.topic(name, options), qos, nullptr),
                    "reader")});
    node.announce(readers.back().entity, true);
  }
  std::cout << "ready" << std::endl;
  while (true) {
    bool any = false;
    for (const Reader& reader : readers) any = print_next(reader) || any;
    if (!any) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

int talk(Node& node, const std::string& topic, const Options& options) {
  dds_qos_t* const qos = qos_of(options, kStringHash);
  const auto writer = made(
      dds_create_writer(node.participant(), node.topic(topic, options), qos, nullptr), "writer");
  node.announce(writer, false);
  std::cout << "ready" << std::endl;
  std::size_t size = 0;
  for (std::string word; std::cin >> size >> word;) {
    word.resize(std::max(size, word.size()), ' ');
    std_msgs_msg_dds__String_ message{word.data()};
    made(dds_write(writer, &message), "message");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string role = argv[3];
  const Options options(argv + 5, argv + argc);
  ::setenv("CYCLONEDDS_URI", settings(argv[2]).c_str(), 1);
  Node node(static_cast<std::uint32_t>(std::stoul(argv[1])),
            role + "er_" + std::to_string(::getpid()));
  return role == "listen" ? listen(node, argv[4], options) : talk(node, argv[4], options);
}
