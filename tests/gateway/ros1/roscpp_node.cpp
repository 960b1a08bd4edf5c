// roscpp_node talker|listener|server|caller: a node of ROS's own C++ library, for the gateway
// tests. The talker publishes "hi" on /in. The listener prints the messages of /out. The server
// serves /assent. The caller calls /negate and prints whether the replies were right.
#include <ros/ros.h>
#include <std_msgs/String.h>
#include <std_srvs/SetBool.h>

#include <iostream>
#include <string>

namespace {

void talk(ros::NodeHandle& node) {
  ros::Publisher publisher = node.advertise<std_msgs::String>("/in", 10);
  std_msgs::String message;
  message.data = "hi";
  for (ros::Rate rate(50); ros::ok(); rate.sleep()) publisher.publish(message);
}

void heard(const std_msgs::String::ConstPtr& message) { std::cout << message->data << std::endl; }

void listen(ros::NodeHandle& node) {
  const ros::Subscriber subscriber = node.subscribe("/out", 10, heard);
  ros::spin();
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
  if (role == "listener") listen(node);
  if (role == "server") serve(node);
  if (role == "caller") call(node);
}
