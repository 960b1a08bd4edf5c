// roscpp_node ROLE: a node of ROS's own C++ library, for the gateway tests.
//   talker    publishes "hi" on /in
//   keeper    publishes "kept" on /names, latched
//   listener [TOPIC]  prints the messages of TOPIC (default /out)
//   udp TOPIC SIZE    prints the lengths of the messages of TOPIC, in datagrams of SIZE bytes
//   server    serves /assent
//   caller    calls /negate, and prints whether the replies were right
//   tuner     waits for the parameter /tester/speed, prints it, and sets it to 1
//   level     publishes 12.5 on /tank of the type tank_msgs/Level, and prints the litres of /level
#include <ros/ros.h>
#include <std_msgs/String.h>
#include <std_srvs/SetBool.h>

#include <iostream>
#include <string>

/// tank_msgs/Level, which is no installed package.
struct Level {
  double litres;
};
namespace ros {
namespace message_traits {
template <>
struct IsMessage<Level> : TrueType {};
template <>
struct MD5Sum<Level> {
  static const char* value() { return "cf512222454e40ca2943610356848831"; }
  static const char* value(const Level&) { return value(); }
};
template <>
struct DataType<Level> {
  static const char* value() { return "tank_msgs/Level"; }
  static const char* value(const Level&) { return value(); }
};
template <>
struct Definition<Level> {
  static const char* value() { return "float64 litres\n"; }
  static const char* value(const Level&) { return value(); }
};
}  // namespace message_traits
namespace serialization {
template <>
struct Serializer<Level> {
  template <typename Stream, typename T>
  static void allInOne(Stream& stream, T level) {
    stream.next(level.litres);
  }
  ROS_DECLARE_ALLINONE_SERIALIZER
};
}  // namespace serialization
}  // namespace ros

namespace {

void talk(ros::NodeHandle& node) {
  ros::Publisher publisher = node.advertise<std_msgs::String>("/in", 10);
  std_msgs::String message;
  message.data = "hi";
  for (ros::Rate rate(50); ros::ok(); rate.sleep()) publisher.publish(message);
}

void heard(const std_msgs::String::ConstPtr& message) { std::cout << message->data << std::endl; }

void listen(ros::NodeHandle& node, const std::string& topic) {
  const ros::Subscriber subscriber = node.subscribe(topic, 10, heard);
  ros::spin();
}

void measured(const std_msgs::String::ConstPtr& message) {
  std::cout << message->data.size() << std::endl;
}

void listen_by_udp(ros::NodeHandle& node, const std::string& topic, int datagram) {
  const auto hints = ros::TransportHints().udp().maxDatagramSize(datagram);
  const ros::Subscriber subscriber = node.subscribe(topic, 10, measured, hints);
  ros::spin();
}

void keep(ros::NodeHandle& node) {
  ros::Publisher publisher = node.advertise<std_msgs::String>("/names", 10, true);
  std_msgs::String message;
  message.data = "kept";
  publisher.publish(message);
  ros::spin();
}

void tune(ros::NodeHandle& node) {
  double speed = 0;
  for (ros::Rate rate(20); ros::ok() && !node.getParam("/tester/speed", speed);) rate.sleep();
  std::cout << speed << std::endl;
  node.setParam("/tester/speed", 1.0);
  ros::spin();
}

void litres(const boost::shared_ptr<const Level>& level) {
  std::cout << level->litres << std::endl;
}

void measure(ros::NodeHandle& node) {
  ros::Publisher publisher = node.advertise<Level>("/tank", 10);
  const ros::Subscriber subscriber = node.subscribe("/level", 10, litres);
  for (ros::Rate rate(50); ros::ok(); rate.sleep()) {
    publisher.publish(Level{12.5});
    ros::spinOnce();
  }
}

void serve(ros::NodeHandle& node) {
  using Callback = boost::function<bool(std_srvs::SetBool::Request&, std_srvs::SetBool::Response&)>;
  const Callback assent = [](std_srvs::SetBool::Request& request,
                             std_srvs::SetBool::Response& response) {
    response.success = request.data;
    response.message = "yes";
    return request.data != 0;
  };
  const ros::ServiceServer server = node.advertiseService("/assent", assent);
  std::cout << "ready" << std::endl;
  ros::spin();
}

void call(ros::NodeHandle& node) {
  ros::service::waitForService("/negate");
  for (const bool persistent : {false, true}) {
    auto client = node.serviceClient<std_srvs::SetBool>("/negate", persistent);
    bool right = true;
    for (int count = 0; count < 40; ++count) {
      std_srvs::SetBool asked;
      asked.request.data = static_cast<std::uint8_t>(count % 2);
      right = right && client.call(asked) && asked.response.success != asked.request.data;
    }
    std::cout << (right ? "True" : "False") << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  ros::init(argc, argv, "roscpp_" + role);
  ros::NodeHandle node;
  if (role == "talker") talk(node);
  if (role == "keeper") keep(node);
  if (role == "listener") listen(node, argc > 2 ? argv[2] : "/out");
  if (role == "udp" && argc > 3) listen_by_udp(node, argv[2], std::stoi(argv[3]));
  if (role == "tuner") tune(node);
  if (role == "level") measure(node);
  if (role == "server") serve(node);
  if (role == "caller") call(node);
}
