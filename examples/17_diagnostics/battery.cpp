// A node that reports the state of its parts. Its parameter `volts` stands for a measurement.
#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/diagnostics.hpp>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("battery", argc, argv).or_throw();
  const auto volts =
      node.params().declare<double>("volts", {.value = 25.2, .unit = "V", .range = {0, 30}});

  const hyphos::Diagnostics diagnostics(node, {.hardware_id = "SN 1205"});
  diagnostics.add("charge", [=](hyphos::DiagnosticReport& report) {
    report.value("volts", *volts);
    if (*volts < 20) {
      report.error("empty");
    } else if (*volts < 22) {
      report.warn("low");
    } else {
      report.ok("charged");
    }
  });
  volts.watch([=](double) { diagnostics.publish(); });  // at once, not only each second
  return node.spin();
}
