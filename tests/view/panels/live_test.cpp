#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>

#include "hyphos/inspect.hpp"
#include "tests/view/panels/harness.hpp"
#include "tests/view/panels/pictures.hpp"

/// Panels of a running robot, with real calls: parameters, services, actions, teleoperation.
namespace hyphos::view {
namespace {

/// The robot in robot/main.cpp, in a process of its own.
class Robot {
 public:
  explicit Robot(const std::string& domain) {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) std::abort();
    std::string program = VIEW_PANEL_ROBOT;
    std::string word = domain;
    char* argv[] = {program.data(), word.data(), nullptr};
    ::posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv, ::environ) != 0) {
      std::abort();
    }
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    stdin_ = in[1];
    stdout_ = out[0];
  }
  Robot(const Robot&) = delete;
  Robot& operator=(const Robot&) = delete;
  ~Robot() {
    ::close(stdin_);
    ::close(stdout_);
    ::waitpid(pid_, nullptr, 0);
  }
  void publish() const { ASSERT_EQ(::write(stdin_, "n\n", 2), 2); }
  void add_limits() const { ASSERT_EQ(::write(stdin_, "limits\n", 7), 7); }
  /// Reads the output so far, for at most `ms`. True if it has this line.
  bool printed(const std::string& line, int ms) {
    pollfd ready{stdout_, POLLIN, 0};
    while (::poll(&ready, 1, ms) > 0) {
      std::array<char, 4'096> some{};
      const ::ssize_t size = ::read(stdout_, some.data(), some.size());
      if (size <= 0) break;
      output_.append(some.data(), static_cast<std::size_t>(size));
      ms = 0;
    }
    return ("\n" + output_).find("\n" + line + "\n") != std::string::npos;
  }
  [[nodiscard]] const std::string& output() const { return output_; }

 private:
  ::pid_t pid_ = 0;
  int stdin_ = -1;
  int stdout_ = -1;
  std::string output_;
};

class LivePanels : public ::testing::Test {
 protected:
  LivePanels() : robot(domain) {}
  static constexpr int kWidth = 640;
  static constexpr int kHeight = 420;

  void show(const std::string& panel) {
    until([&] { return printed("ready"); });
    window.set_layout("hyphos_view: 1\npanels: {panel: " + panel + "}\n");
  }
  bool printed(const std::string& line) { return robot.printed(line, 10); }
  /// Draws frames until the condition holds.
  void until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << robot.output();
      window.frame(100);
    }
  }
  /// Until the panel has found the robot, and the robot has replied.
  void settle() {
    until([&] {
      bool waits = false;
      window.impl().workspace_.for_each(
          [&waits](const Panel& panel) { waits = waits || panel.waits(); });
      return !waits;
    });
    window.frames(4);
  }
  /// The panel without the bars of the window becomes the golden picture of this name. The answers
  /// of the robot come in their own time.
  void check(const std::string& name) {
    window.move(320, 400);  // no item is hovered
    window.frames(3);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!is_golden(without_bars(window.picture()), name) &&
           std::chrono::steady_clock::now() < end) {
      window.frame(100);
    }
    check_golden(without_bars(window.picture()), name);
  }
  /// Types into the field at a place, and presses Enter.
  void enter(float x, float y, const char* text) {
    window.click(x, y);
    window.key('A', true);
    window.type(text);
    window.key(257);
  }

  const std::string domain = "view-live-" + std::to_string(::getpid());
  TestWindow window{kWidth, kHeight, domain};
  Robot robot;
};

// The places are those of the golden pictures.
constexpr float kLeft = 448;

TEST_F(LivePanels, a_parameter_is_edited_in_place) {
  show("parameters, node: base");
  settle();
  check("parameters");
  window.click(287, 192);
  until([&] { return printed("param lights true"); });
  window.drag(353, 221, 620, 221);  // beyond the end of the slider, which has the range
  until([&] { return printed("param max_speed 2.0"); });
  enter(400, 279, "greta");
  until([&] { return printed("param name \"greta\""); });
  enter(400, 163, "[1, 2.5]");
  until([&] { return printed("param gains [1.0, 2.5]"); });
  check("parameters_edited");
}

// The width of such a range exceeds an int64, so it is no slider.
TEST_F(LivePanels, a_parameter_with_one_bound_is_typed) {
  robot.add_limits();
  until([&] { return printed("limits ready"); });
  show("parameters, node: limits");
  settle();
  enter(400, 134, "42");
  until([&] { return printed("param count 42"); });
}

TEST_F(LivePanels, a_refused_value_states_the_reason) {
  show("parameters, node: base");
  settle();
  window.drag(353, 221, 620, 221);
  until([&] { return printed("param max_speed 2.0"); });
  window.click(400, 250);
  window.frames(3);
  (void)window.picture("choices");
  window.click(320, 321);  // "dock", the third choice
  settle();
  enter(400, 163, "[1, x]");
  check("parameters_refused");
  EXPECT_FALSE(printed("param mode dock"));
}

TEST_F(LivePanels, a_service_is_called_by_its_form) {
  show("services, name: map/save");
  settle();
  window.click(70, 163);  // an empty name is refused
  until([&] { return printed("save "); });
  settle();
  enter(kLeft, 131, "lab.png");
  window.click(70, 163);
  until([&] { return printed("save lab.png"); });
  window.frame(2'000);  // the list of services is read again
  settle();
  check("service_reply");
}

TEST_F(LivePanels, an_action_shows_its_feedback_and_its_result) {
  show("actions, name: drive_to");
  settle();
  enter(kLeft, 131, "3");
  window.click(70, 219);
  until([&] { return printed("arrived"); });
  window.frame(2'000);
  settle();
  check("action_result");
}

TEST_F(LivePanels, an_action_is_canceled) {
  show("actions, name: drive_to");
  settle();
  enter(kLeft, 131, "100000");  // m, more than an hour
  window.click(70, 219);
  (void)window.picture("action_running");
  until([&] {  // the button is there once the robot has accepted the goal
    window.click(150, 219);
    return printed("canceled");
  });
}

TEST_F(LivePanels, the_stick_drives_while_it_is_held) {
  show("teleop");
  settle();
  check("teleop");
  window.move(320, 225);
  window.down();
  window.move(320, 60);
  until([&] { return printed("drive 50"); });
  window.up();
  until([&] { return printed("drive 0"); });
}

TEST_F(LivePanels, the_log_of_a_running_robot_is_shown) {
  show("log");
  settle();
  until([&] {  // the viewer may subscribe after the first lines
    robot.publish();
    const Channel* const log = window.impl().channel("log");
    return log != nullptr && window.impl().source().loss(log->id).received >= 5;
  });
  window.frames(4);
  const Picture five = window.picture("log");
  EXPECT_NE(five.rgba, Picture().rgba);
}

}  // namespace
}  // namespace hyphos::view
