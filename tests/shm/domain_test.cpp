#include "shm/domain.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <thread>

#include "shm/metrics.hpp"
#include "shm/tools.hpp"
#include "tests/shm/folder.hpp"

namespace hyphos::shm {
namespace {

// Runs `body` in a child process and returns its exit status. The child exits without cleanup.
int in_child(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
constexpr int kSkipped = 77;

TEST(Domain, domain_names_are_checked) {
  const testing::Folder folder;
  for (const char* bad : {"", "a/b", "..", "0123456789012345678901234567890123", "a b"}) {
    EXPECT_EQ(Domain::open(folder.path(), bad).error().code, Code::invalid_config) << bad;
  }
  EXPECT_TRUE(Domain::open(folder.path(), "robot-1_A").ok());
  EXPECT_EQ(domains(folder.path()), std::vector<std::string>{"robot-1_A"});
}

TEST(Domain, the_directory_is_private) {
  const testing::Folder folder;
  const auto domain = Domain::open(folder.path(), "0").or_throw();
  struct stat info{};
  ASSERT_EQ(::stat(domain.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  ASSERT_EQ(::chmod(domain.path().c_str(), 0755), 0);
  const auto open = Domain::open(folder.path(), "0");
  ASSERT_FALSE(open.ok());
  EXPECT_EQ(open.error().code, Code::permission);
  EXPECT_NE(open.error().message.find("chmod 700"), std::string::npos);
  EXPECT_EQ(open.error().where, domain.path());
}

TEST(Domain, a_link_or_a_file_is_refused) {
  const testing::Folder folder;
  std::filesystem::create_symlink("/tmp",
                                  folder.path() / ("hyphos-" + std::to_string(::geteuid())));
  EXPECT_EQ(Domain::open(folder.path(), "0").error().code, Code::permission);
  std::filesystem::remove(folder.path() / ("hyphos-" + std::to_string(::geteuid())));
  std::ofstream(folder.path() / ("hyphos-" + std::to_string(::geteuid()))) << "x";
  EXPECT_EQ(Domain::open(folder.path(), "0").error().code, Code::permission);
}

TEST(Domain, a_directory_of_another_user_is_refused) {
  const testing::Folder folder;
  constexpr uid_t kNobody = 65534;
  const auto home = folder.path() / ("hyphos-" + std::to_string(kNobody));
  std::filesystem::create_directory(home);  // ours, under the name of nobody's user id
  ::chmod(home.c_str(), 0700);
  ::chmod(folder.path().c_str(), 0777);
  const int status = in_child([&] {
    if (::setresuid(kNobody, kNobody, kNobody) != 0) return kSkipped;
    const auto open = Domain::open(folder.path(), "0");
    return !open.ok() && open.error().code == Code::permission &&
                   open.error().where == home.string()
               ? 0
               : 1;
  });
  if (status == kSkipped) GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(status, 0);
}

TEST(Domain, files_appear_complete_and_allocated) {
  const testing::Folder folder;
  const auto domain = Domain::open(folder.path(), "0").or_throw();
  const UniqueFd file = domain.create(10'000, "0123456789abcdef.1.pool").or_throw();
  EXPECT_EQ(folder.files(), 0U) << "an unnamed file cannot be mistaken for a dead one";
  ASSERT_TRUE(domain.publish(file, "0123456789abcdef.1.pool").ok());
  std::uint64_t size = 0;
  EXPECT_TRUE(domain.open_file("0123456789abcdef.1.pool", size).ok());
  EXPECT_EQ(size, 10'000U);
  EXPECT_EQ(domain.publish(file, "0123456789abcdef.1.pool").error().code, Code::already_exists);
}

TEST(Domain, a_sparse_file_is_refused_because_it_could_raise_sigbus) {
  const testing::Folder folder;
  const auto domain = Domain::open(folder.path(), "0").or_throw();
  const UniqueFd sparse(
      ::open((domain.path() + "/0123456789abcdef.ctl").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::ftruncate(sparse.get(), 1 << 20), 0);
  std::uint64_t size = 0;
  EXPECT_EQ(domain.open_file("0123456789abcdef.ctl", size).error().code, Code::corrupt);
}

TEST(Domain, a_full_file_system_is_an_error_with_both_sizes) {
  const testing::Folder folder;
  const int status = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=600k,mode=755") != 0) {
      return kSkipped;
    }
    auto self = folder.join();  // 300 KiB of tables
    if (!self.ok()) return 1;
    // Take slots until none is left: no signal occurs, and the other operations still work.
    std::vector<OwnedSlot*> taken;
    while (OwnedSlot* slot = (*self)->pool().take(4000, *self)) {
      std::memset(slot->segment().payload(slot->slot()), 1, 4000);
      taken.push_back(slot);
    }
    if (taken.empty()) return 2;
    const auto second = folder.join();
    if (second.ok() || second.error().code != Code::exhausted) return 3;
    if (second.error().message.find("free") == std::string::npos) return 4;
    for (OwnedSlot* slot : taken) slot->drop_ref();
    return (*self)->pool().take(4000, *self) != nullptr ? 0 : 5;
  });
  if (status == kSkipped) GTEST_SKIP() << "mounting a small file system is not permitted";
  EXPECT_EQ(status, 0);
}

TEST(Domain, the_lock_distinguishes_live_from_dead_participants) {
  const testing::Folder folder;
  auto domain = Domain::open(folder.path(), "0").or_throw();
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const auto self = folder.join();
    const std::uint64_t id = self.ok() ? (*self)->id() : 0;
    (void)!::write(ready[1], &id, sizeof id);
    for (;;) ::pause();
  }
  std::uint64_t id = 0;
  ASSERT_EQ(::read(ready[0], &id, sizeof id), static_cast<ssize_t>(sizeof id));
  ASSERT_NE(id, 0U);
  EXPECT_FALSE(domain.is_dead(id));
  ::kill(pid, SIGSTOP);
  EXPECT_FALSE(domain.is_dead(id)) << "a stopped process is not dead";
  EXPECT_TRUE(domain.clean().empty());
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(domain.is_dead(id));
  const auto listing = list("0", folder.path()).or_throw();
  ASSERT_EQ(listing.participants.size(), 1U);
  EXPECT_FALSE(listing.participants[0].alive);
  EXPECT_EQ(listing.participants[0].pid, pid);
  // A new participant starts clean.
  const auto self = folder.join().or_throw();
  for (const std::string& file : self->domain().files()) EXPECT_NE(owner_of(file), id) << file;
  EXPECT_FALSE(domain.is_dead(self->id()));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(Domain, clean_removes_only_dead_participants_and_orphans) {
  const testing::Folder folder;
  const auto alive = folder.join().or_throw();
  const auto touch = [&](const std::string& name) { std::ofstream(folder.domain() / name) << "x"; };
  touch("00000000000000aa.ctl");  // a dead participant
  touch("00000000000000aa.3.pool");
  touch("00000000000000bb.7.lane");  // an orphan
  touch("notes.txt");                // not a Hyphos file
  const std::size_t before = folder.files();
  const auto removed = clean("", folder.path()).or_throw();
  EXPECT_EQ(removed.size(), 3U);
  EXPECT_EQ(folder.files(), before - 3);
  EXPECT_TRUE(std::filesystem::exists(folder.domain() / "notes.txt"));
  EXPECT_TRUE(std::filesystem::exists(folder.domain() / control_name(alive->id())));
}

TEST(Domain, two_concurrent_cleaners_do_no_harm) {
  const testing::Folder folder;
  const auto domain = Domain::open(folder.path(), "0").or_throw();
  for (int i = 1; i <= 200; ++i) {
    std::ofstream(folder.domain() / control_name(static_cast<std::uint64_t>(i))) << "x";
  }
  std::size_t other = 0;
  std::thread second([&] { other = domain.clean().size(); });
  const std::size_t mine = domain.clean().size();
  second.join();
  EXPECT_EQ(mine + other, 200U);
  EXPECT_EQ(folder.files(), 0U);
}

TEST(Domain, the_last_participant_removes_the_folder) {
  const testing::Folder folder;
  auto first = folder.join().or_throw();
  auto second = folder.join().or_throw();
  const auto opened_before = Domain::open(folder.path(), "0").or_throw();
  first.reset();
  EXPECT_TRUE(std::filesystem::exists(folder.domain()));
  EXPECT_FALSE(opened_before.remove_if_empty());
  second.reset();
  EXPECT_FALSE(std::filesystem::exists(folder.domain()));
  EXPECT_TRUE(opened_before.removed());
  EXPECT_EQ(Domain::find(folder.path(), "0").error().code, Code::not_found);
  EXPECT_TRUE(list("0", folder.path()).or_throw().participants.empty());
  EXPECT_TRUE(open_metrics("0", folder.path()).or_throw().empty());
  EXPECT_FALSE(std::filesystem::exists(folder.domain())) << "find() creates nothing";
  first = folder.join().or_throw();
  EXPECT_FALSE(first->domain().removed());
}

TEST(Domain, the_last_participant_removes_files_of_the_dead) {
  const testing::Folder folder;
  auto self = folder.join().or_throw();
  std::ofstream(folder.domain() / "00000000000000aa.ctl") << "x";
  std::ofstream(folder.domain() / "00000000000000aa.3.pool") << "x";
  self.reset();
  EXPECT_FALSE(std::filesystem::exists(folder.domain()));
}

TEST(Domain, clean_removes_an_empty_folder) {
  const testing::Folder folder;
  (void)Domain::open(folder.path(), "0").or_throw();
  std::ofstream(folder.domain() / "00000000000000aa.ctl") << "x";
  EXPECT_EQ(clean("", folder.path()).or_throw(),
            (std::vector<std::string>{(folder.domain() / "00000000000000aa.ctl").string(),
                                      folder.domain().string()}));
  EXPECT_FALSE(std::filesystem::exists(folder.domain()));
}

TEST(Domain, many_participants_enter_while_the_last_leaves) {
  const testing::Folder folder;
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 150; ++i) {
        const auto self = folder.join(1 << 20);
        // After the entry, the folder exists under its path, so that others can find us.
        if (!self || (*self)->domain().removed()) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
  EXPECT_FALSE(std::filesystem::exists(folder.domain()));
}

TEST(Control, another_layout_version_is_named) {
  const testing::Folder folder;
  const auto self = folder.join().or_throw();
  self->control().header().file.version = 99;
  const auto open = Control::open(self->domain(), self->id());
  ASSERT_FALSE(open.ok());
  EXPECT_EQ(open.error().code, Code::unsupported);
  EXPECT_NE(open.error().message.find("layout 99"), std::string::npos);
  EXPECT_NE(open.error().where.find(control_name(self->id())), std::string::npos);
  self->control().header().file.magic = 1;
  EXPECT_EQ(Control::open(self->domain(), self->id()).error().code, Code::corrupt);
}

TEST(Control, tables_are_read_without_tearing) {
  const testing::Folder folder;
  const auto self = folder.join().or_throw();
  auto reader = Control::open(self->domain(), self->id()).or_throw();
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; i < 20'000; ++i) {
      EndpointRecord record{};
      record.serial = i;
      record.type_hash = ~i;
      put_text(record.channel, std::to_string(i));
      put_text(record.type, std::to_string(i));
      self->control().set_endpoint(3, record).or_throw();
    }
    done.store(true);
  });
  while (!done.load()) {
    const auto table = reader.endpoints();
    if (!table) continue;  // just changing
    ASSERT_LE(table->size(), 1U);
    for (const EndpointRecord& record : *table) {
      ASSERT_EQ(record.type_hash, ~record.serial);
      ASSERT_EQ(get_text(record.channel), std::to_string(record.serial));
      ASSERT_EQ(get_text(record.type), get_text(record.channel));
    }
  }
  writer.join();
  self->control().set_endpoint(3, {}).or_throw();
  EXPECT_TRUE(reader.endpoints()->empty());
}

TEST(Metrics, metrics_are_readable_by_other_processes) {
  const testing::Folder folder;
  ParticipantOptions options;
  options.base = folder.path();
  options.process_name = "mapper";
  options.metrics_bytes = 100'000;
  const auto self = Participant::create(options).or_throw();
  ASSERT_EQ(self->metrics().size(), 100'000U);
  self->metrics()[99'999] = std::byte{42};
  const auto views = open_metrics("0", folder.path()).or_throw();
  ASSERT_EQ(views.size(), 1U);
  EXPECT_EQ(views[0].participant, self->id());
  EXPECT_EQ(views[0].process, "mapper");
  EXPECT_TRUE(views[0].alive);
  EXPECT_EQ(views[0].bytes()[99'999], std::byte{42});
}

TEST(Os, hexadecimal_text_is_parsed_strictly) {
  EXPECT_EQ(to_hex(0xab), "00000000000000ab");
  EXPECT_EQ(from_hex(to_hex(~std::uint64_t{0})), ~std::uint64_t{0});
  for (const char* bad : {"", "ab", "00000000000000AB", "0000000000000xab", "00000000000000abc"}) {
    EXPECT_EQ(from_hex(bad), 0U) << bad;
  }
  EXPECT_EQ(owner_of("00000000000000ab.ctl"), 0xabU);
  EXPECT_EQ(owner_of("00000000000000ab.12.pool"), 0xabU);
  EXPECT_EQ(owner_of("00000000000000ab.txt"), 0U);
  EXPECT_EQ(owner_of("ctl"), 0U);
}

}  // namespace
}  // namespace hyphos::shm
