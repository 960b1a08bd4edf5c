#include "shm/type_files.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/shm/folder.hpp"

namespace hyphos::shm {
namespace {

TEST(TypeFiles, readers_get_the_definitions_in_order) {
  const testing::Folder folder;
  const auto self = folder.join().or_throw();
  TypeFiles files(self);
  ASSERT_TRUE(files.add("first").ok());
  ASSERT_TRUE(files.add("second").ok());
  const auto other = folder.join().or_throw();
  const auto found = read_types("0", folder.path()).or_throw();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].participant, self->id());
  EXPECT_EQ(found[0].pid, ::getpid());
  EXPECT_EQ(found[0].process, "test");
  EXPECT_EQ(found[0].definitions, "firstsecond");
}

TEST(TypeFiles, no_file_remains_at_the_end) {
  const testing::Folder folder;
  {
    const auto self = folder.join().or_throw();
    ASSERT_TRUE(TypeFiles(self).add("x").ok());
  }
  EXPECT_EQ(folder.files(), 0U);
  EXPECT_TRUE(read_types("0", folder.path()).or_throw().empty());
}

TEST(TypeFiles, the_bytes_of_a_process_are_bounded) {
  const testing::Folder folder;
  const auto self = folder.join().or_throw();
  TypeFiles files(self);
  ASSERT_TRUE(files.add(std::string(kMaxTypeBytes - 1, 'a')).ok());
  EXPECT_EQ(files.add("bc").error().code, Code::exhausted);
  EXPECT_TRUE(files.add("d").ok());
  EXPECT_EQ(files.add("e").error().code, Code::exhausted);
  EXPECT_EQ(read_types("0", folder.path()).or_throw()[0].definitions.size(), kMaxTypeBytes);
}

TEST(TypeFiles, the_files_of_a_process_are_bounded) {
  const testing::Folder folder;
  const auto self = folder.join().or_throw();
  TypeFiles files(self);
  for (std::uint32_t i = 0; i < kMaxTypeFiles; ++i) ASSERT_TRUE(files.add("a").ok());
  EXPECT_EQ(files.add("a").error().code, Code::exhausted);
  EXPECT_EQ(read_types("0", folder.path()).or_throw()[0].definitions.size(), kMaxTypeFiles);
}

TEST(TypeFiles, a_reader_ignores_what_no_process_wrote) {
  const testing::Folder folder;
  const auto self = folder.join().or_throw();
  ASSERT_TRUE(TypeFiles(self).add("good").ok());
  const std::filesystem::path next = folder.domain() / (to_hex(self->id()) + ".1.types");
  std::filesystem::create_symlink("/etc/hostname", next);
  EXPECT_EQ(read_types("0", folder.path()).or_throw()[0].definitions, "good");
  std::filesystem::remove(next);
  std::ofstream(next) << std::string(kMaxTypeBytes, 'x');  // too large together with the first
  EXPECT_EQ(read_types("0", folder.path()).or_throw()[0].definitions, "good");
}

}  // namespace
}  // namespace hyphos::shm
