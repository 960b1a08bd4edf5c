// ROS 1 from Python (rospy, TCPROS): each process is a program of the system's Python
// (worker/rospy_peer.py), with the message and queues of the peer ros1 and with tcp_nodelay.
// `nagle`: without tcp_nodelay.

#include "lab/common/main.hpp"
#include "lab/peers/rosmaster.hpp"

namespace hyphos::lab {
namespace {

struct RosPython {
  static constexpr const char* kName = "rospy";
  static std::vector<Variant> variants() { return tcpros_variants(); }
  // Debian ships rospy for /usr/bin/python3 only, not for the virtual environment.
  static std::string interpreter(const Options&) { return "/usr/bin/python3"; }
  static std::vector<std::string> daemon(const Options& options) { return rosmaster(options); }
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  return hyphos::lab::lab_main_in_python<hyphos::lab::RosPython>(argc, argv);
}
