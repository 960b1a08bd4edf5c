// Beeps once a second of real time, or of simulated time with the option --hyphos-clock sim.
#include <cstdio>

#include <hyphos/hyphos.hpp>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("beeper", argc, argv).or_throw();
  const hyphos::Clock clock = node.clock();
  node.every(hyphos::Duration::from_ms(1000), [&] {
    std::printf("beep at %.0f s\n", clock.elapsed().seconds());
    std::fflush(stdout);
  });
  node.on_clock_jump([](const hyphos::ClockJump& jump) {
    std::printf("the time was set to %.0f s\n", static_cast<double>(jump.after.ns) * 1e-9);
    std::fflush(stdout);
  });
  return node.spin();
}
