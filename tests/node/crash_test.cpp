// A crash of a process of a plan: its report on stderr, and an end as without the report.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/node/child.hpp"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

struct Crash {
  int code = 0;
  std::string report;
};

Crash crash(const std::string& how, const std::string& where) {
  const PlanFile file(
      "hyphos: 1\ndomain: \"" + fresh_domain() +
      "\"\nprocesses: {p: {nodes: [bad]}}\nnodes:\n  bad: {plugin: " + TEST_PLUGIN_DIR +
      "/libtest_plugin_crashing.so, params: {how: " + how + ", where: " + where + "}}\n");
  const std::string errors = file.path().string() + ".err";
  Child host({"/bin/sh", "-c",
              std::string("exec ") + TEST_HOST + " --hyphos-plan '" + file.path().string() +
                  "' --hyphos-process p 2> '" + errors + "'"});
  Crash result;
  result.code = host.wait();
  std::ostringstream text;
  text << std::ifstream(errors).rdbuf();
  result.report = text.str();
  return result;
}

struct Case {
  const char* how;
  const char* where;
  int signal;
  const char* head;
};

class CrashReport : public ::testing::TestWithParam<Case> {};

TEST_P(CrashReport, names_the_signal_the_node_and_the_stack) {
  const Case& expected = GetParam();
  const Crash seen = crash(expected.how, expected.where);
  EXPECT_EQ(seen.code, 128 + expected.signal) << seen.report;
  EXPECT_NE(seen.report.find("hyphos: crash of process 'p': "), std::string::npos) << seen.report;
  EXPECT_NE(seen.report.find(expected.head), std::string::npos) << seen.report;
  // The plug-in called the function that crashed.
  EXPECT_NE(seen.report.find("libtest_plugin_crashing.so(+0x"), std::string::npos) << seen.report;
}

INSTANTIATE_TEST_SUITE_P(
    Crashes, CrashReport,
    ::testing::Values(
        Case{"null", "timer", SIGSEGV,
             "SIGSEGV at address 0x0 in thread 'hyphos-pool' in node 'bad', callback of a timer"},
        Case{"null", "channel", SIGSEGV, "in node 'bad', callback of channel 'number'"},
        Case{"null", "constructor", SIGSEGV, "in node 'bad', constructor"},
        Case{"overflow", "timer", SIGSEGV, "in node 'bad', callback of a timer"},
        Case{"overflow", "constructor", SIGSEGV, "in node 'bad', constructor"},
        Case{"abort", "timer", SIGABRT, "SIGABRT in thread 'hyphos-pool' in node 'bad'"}),
    [](const auto& one) { return std::string(one.param.how) + "_in_" + one.param.where; });

}  // namespace
}  // namespace hyphos::test
