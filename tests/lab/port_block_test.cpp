#include "lab/common/port_block.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <set>

namespace hyphos::lab {
namespace {

TEST(PortBlock, concurrent_runs_have_different_ports) {
  std::deque<PortBlock> runs;
  std::set<int> first;
  // Another run on this machine may hold some of the blocks.
  try {
    while (runs.size() <= PortBlock::kBlocks) first.insert(runs.emplace_back().first());
    FAIL() << "there are more blocks than ports";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("in use"), std::string::npos);
  }
  EXPECT_GT(runs.size(), 1U);
  EXPECT_EQ(first.size(), runs.size());
  for (const int port : first) {
    EXPECT_GE(port, 12'000);
    EXPECT_LE(port + PortBlock::kSize, 32'768) << "the ephemeral ports of Linux begin there";
  }
  runs.pop_back();
  EXPECT_NO_THROW(runs.emplace_back());
}

}  // namespace
}  // namespace hyphos::lab
