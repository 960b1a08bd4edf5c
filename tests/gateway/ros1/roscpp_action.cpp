// roscpp_action serve|send ACTION: an action of the type actionlib/Test with the C++ library of
// actionlib, for tests/python/gateway/gateway_actions_test.py. It acts as tests/clients/c_action.c
// does.
#include <actionlib/TestAction.h>
#include <actionlib/client/action_client.h>
#include <actionlib/server/action_server.h>
#include <ros/callback_queue.h>
#include <ros/ros.h>

#include <iostream>
#include <string>

namespace {

using Server = actionlib::ActionServer<actionlib::TestAction>;
using Client = actionlib::ActionClient<actionlib::TestAction>;

actionlib::TestResult result_of(int value) {
  actionlib::TestResult result;
  result.result = value;
  return result;
}

void begin(Server::GoalHandle goal) {
  const int to = goal.getGoal()->goal;
  goal.setAccepted();
  if (to < 0) {
    goal.setAborted(actionlib::TestResult(), "only upwards");
  } else if (to <= 100) {
    goal.setSucceeded(result_of(2 * to));
  } else {
    actionlib::TestFeedback feedback;
    feedback.feedback = to;
    goal.publishFeedback(feedback);
  }
}

void cancel(Server::GoalHandle goal) { goal.setCanceled(result_of(-1)); }

void serve(const std::string& action) {
  ros::NodeHandle node;
  Server server(node, action, begin, cancel, false);
  server.start();
  std::cout << "ready" << std::endl;
  ros::spin();
}

/// One goal with everything that came back.
struct Sent {
  Client::GoalHandle goal;
  int feedback = 0;
  bool ended = false;
  std::string state;
  int result = 0;

  Sent(Client& client, int to) {
    actionlib::TestGoal message;
    message.goal = to;
    goal = client.sendGoal(
        message, [this](Client::GoalHandle handle) { on_change(handle); },
        [this](Client::GoalHandle, const actionlib::TestFeedbackConstPtr& told) {
          feedback = told->feedback;
        });
  }
  void on_change(Client::GoalHandle& handle) {
    if (handle.getCommState() != actionlib::CommState::DONE) return;
    const auto terminal = handle.getTerminalState();
    state = terminal == actionlib::TerminalState::SUCCEEDED ? "succeeded"
            : terminal == actionlib::TerminalState::ABORTED ? "aborted"
                                                            : "canceled";
    if (handle.getResult()) result = handle.getResult()->result;
    ended = true;
  }
};

template <typename Condition>
void spin_until(Condition condition) {
  while (ros::ok() && !condition()) {
    ros::getGlobalCallbackQueue()->callAvailable(ros::WallDuration(0.1));
  }
}

void send(const std::string& action) {
  Client client(action);
  spin_until([&] { return client.waitForActionServerToStart(ros::Duration(0.1)); });
  Sent first(client, 101);
  spin_until([&] { return first.feedback != 0; });
  Sent second(client, 21);
  spin_until([&] { return second.ended; });
  std::cout << "b " << second.state << " " << second.result << std::endl;
  first.goal.cancel();
  spin_until([&] { return first.ended; });
  std::cout << "a " << first.feedback << " " << first.state << " " << first.result << std::endl;
  Sent third(client, -1);
  spin_until([&] { return third.ended; });
  std::cout << "c " << third.state << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  ros::init(argc, argv, "roscpp_action", ros::init_options::AnonymousName);
  if (argc != 3) return 2;
  if (std::string(argv[1]) == "serve") {
    serve(argv[2]);
  } else {
    send(argv[2]);
  }
}
