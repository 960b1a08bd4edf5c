#include "base/unique_fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace hyphos {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

UniqueFd open_one() { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

TEST(UniqueFd, the_destructor_closes_the_descriptor) {
  int number = -1;
  {
    const UniqueFd fd = open_one();
    ASSERT_TRUE(fd.valid());
    number = fd.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueFd, a_move_transfers_the_descriptor) {
  UniqueFd from = open_one();
  const int number = from.get();
  UniqueFd to = std::move(from);
  EXPECT_EQ(to.get(), number);
  EXPECT_FALSE(from.valid());  // NOLINT(bugprone-use-after-move): invalid by contract
}

TEST(UniqueFd, an_assignment_closes_the_former_descriptor) {
  UniqueFd fd = open_one();
  const int former = fd.get();
  fd = open_one();
  EXPECT_TRUE(fd.valid());
  EXPECT_NE(fd.get(), former);
  EXPECT_FALSE(is_open(former));
}

TEST(UniqueFd, a_released_descriptor_stays_open) {
  int number = -1;
  {
    UniqueFd fd = open_one();
    number = fd.release();
    EXPECT_FALSE(fd.valid());
  }
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

}  // namespace
}  // namespace hyphos
