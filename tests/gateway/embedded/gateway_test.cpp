// A gateway inside a user program: hyphos/gateway.hpp.

#include "hyphos/gateway.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "hyphos/hyphos.hpp"

namespace hyphos {
namespace {

/// True if a server listens on the port.
bool answers(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool connected = ::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  ::close(socket);
  return connected;
}

class EmbeddedGateway : public testing::Test {
 protected:
  EmbeddedGateway() {
    // No types besides the standard ones. The `hyphos` of this test writes them.
    std::filesystem::create_directories(folder_);
    std::ofstream(types_).flush();
  }
  ~EmbeddedGateway() override {
    ::unsetenv("HYPHOS_PYTHON");
    std::filesystem::remove_all(folder_);
  }

  static RuntimeOptions alone() {
    RuntimeOptions options;
    options.domain = "embedded" + std::to_string(::getpid());
    return options;
  }
  /// Replaces `hyphos msg descriptors` by a script.
  void let_hyphos_be(const std::string& script) {
    const auto file = folder_ / "python";
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    ::setenv("HYPHOS_PYTHON", file.c_str(), 1);
  }
  Error error_of(const std::vector<std::string>& words) {
    auto opened = Gateway::open(runtime_.node("gateway").or_throw(), words);
    EXPECT_FALSE(opened);
    return opened ? Error{} : opened.error();
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("hyphos-embedded-" + std::to_string(::getpid()));
  const std::filesystem::path types_ = folder_ / "types.pb";
  Runtime runtime_ = Runtime::open(alone()).or_throw();
};

TEST_F(EmbeddedGateway, the_gateway_listens_until_it_is_closed) {
  auto gateway = Gateway::open(runtime_.node("gateway").or_throw(),
                               {"ros_tcp", "-p", "0", "--types", types_.string()})
                     .or_throw();
  const std::uint16_t port = gateway.port();
  EXPECT_TRUE(answers(port));
  EXPECT_NE(gateway.address().find(std::to_string(port)), std::string::npos) << gateway.address();
  gateway.close();
  EXPECT_FALSE(answers(port));
  EXPECT_EQ(gateway.port(), port);
  EXPECT_TRUE(gateway.counters().empty());

  const std::string again = std::to_string(port);
  {
    const auto other = Gateway::open(runtime_.node("other").or_throw(),
                                     {"ros_tcp", "-p", again, "--types", types_.string()});
    ASSERT_TRUE(other) << other.error().to_string();
    EXPECT_TRUE(answers(port));
  }
  EXPECT_FALSE(answers(port));
}

TEST_F(EmbeddedGateway, types_come_from_the_hyphos_program) {
  let_hyphos_be("echo \"$@\" > " + (folder_ / "asked").string());
  const auto gateway = Gateway::open(
      runtime_.node("gateway").or_throw(),
      {"ros_tcp", "-p", "0", "--ros", "my_msgs", "-I", "proto", "--ros-version", "2"});
  ASSERT_TRUE(gateway) << gateway.error().to_string();
  std::string asked;
  std::getline(std::ifstream(folder_ / "asked"), asked);
  EXPECT_EQ(asked, "-m hyphos msg descriptors --ros my_msgs --proto-path proto");
}

TEST_F(EmbeddedGateway, the_error_tells_why_there_are_no_types) {
  let_hyphos_be("exit 3");
  EXPECT_EQ(error_of({"ros_tcp"}).code, Code::invalid_config);
  let_hyphos_be("echo garbage");
  EXPECT_EQ(error_of({"ros_tcp"}).code, Code::corrupt);
  ::setenv("HYPHOS_PYTHON", (folder_ / "absent").c_str(), 1);
  const Error error = error_of({"ros_tcp"});
  EXPECT_EQ(error.code, Code::not_found);
  EXPECT_NE(error.message.find("--types FILE"), std::string::npos) << error.message;
}

TEST_F(EmbeddedGateway, unknown_arguments_are_refused) {
  EXPECT_EQ(error_of({}).code, Code::invalid_config);
  const Error error = error_of({"ros3"});
  EXPECT_NE(error.message.find(". "), std::string::npos);
  EXPECT_EQ(error.message.find(". Choose one of: ros1, rosbridge, ros_tcp"),
            error.message.find(". "));
  EXPECT_EQ(error_of({"ros_tcp", "--port", "many"}).code, Code::invalid_config);
  EXPECT_EQ(error_of({"ros_tcp", "--port"}).message, "--port needs a value");
  EXPECT_EQ(error_of({"ros_tcp", "--blue"}).message,
            "'--blue' is an unknown option. See hyphos gateway --help");
}

}  // namespace
}  // namespace hyphos
