#include "lab/common/port_block.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <set>
#include <string>

namespace hyphos::lab {
namespace {

TEST(PortBlock, concurrent_runs_have_different_ports) {
  // A name of its own: with the usual one, other runs on this machine would find no ports.
  const std::string name = "hyphos-lab-test-" + std::to_string(getpid());
  std::deque<PortBlock> runs;
  std::set<int> first;
  try {
    while (runs.size() <= PortBlock::kBlocks) first.insert(runs.emplace_back(name.c_str()).first());
    FAIL() << "there are more blocks than ports";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("in use"), std::string::npos);
  }
  EXPECT_EQ(runs.size(), static_cast<std::size_t>(PortBlock::kBlocks));
  EXPECT_EQ(first.size(), runs.size());
  std::set<int> numbers;
  for (const int port : first) {
    const int number = PortBlock::number_of(port);
    EXPECT_GE(number, 0);
    EXPECT_LT(number, PortBlock::kBlocks);
    numbers.insert(number);
    EXPECT_GE(port, 12'000);
    EXPECT_LE(port + PortBlock::kSize, 32'768) << "the ephemeral ports of Linux begin there";
  }
  EXPECT_EQ(numbers.size(), first.size());
  runs.pop_back();
  EXPECT_NO_THROW(runs.emplace_back(name.c_str()));
}

}  // namespace
}  // namespace hyphos::lab
