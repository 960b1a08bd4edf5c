#include "gateway/ros1/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace hyphos::gateway::ros1 {
namespace {

using Texts = std::map<std::string, std::string>;

/// Sets the ROS environment variables, and restores them in the destructor.
class Environment {
 public:
  explicit Environment(const Texts& given) {
    for (const char* name : {"ROS_MASTER_URI", "ROS_HOSTNAME", "ROS_IP"}) {
      const char* const value = std::getenv(name);
      before_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      const auto wanted = given.find(name);
      set(name, wanted == given.end() ? std::nullopt : std::optional(wanted->second));
    }
  }
  ~Environment() {
    for (const auto& [name, value] : before_) set(name, value);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void set(const std::string& name, const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }
  std::map<std::string, std::optional<std::string>> before_;
};

Options options(const std::string& host, Texts own = {}) {
  Options all;
  all.host = host;
  all.own.insert(own.begin(), own.end());
  return all;
}

constexpr const char* kHere = "127.0.0.1";
constexpr const char* kAll = "0.0.0.0";

TEST(Ros1Settings, the_environment_of_ros_gives_the_defaults) {
  const Environment ros(Texts{{"ROS_MASTER_URI", "http://robot:11312"}, {"ROS_HOSTNAME", "desk"}});
  EXPECT_EQ(Settings::of(options(kAll)).or_throw().master_uri, "http://robot:11312/");
  EXPECT_EQ(Settings::of(options(kAll)).or_throw().hostname, "desk");
  const auto given =
      Settings::of(options(kAll, {{"master_uri", "http://other:11311"}, {"hostname", "me"}}))
          .or_throw();
  EXPECT_EQ(given.master_uri, "http://other:11311/");
  EXPECT_EQ(given.hostname, "me");
}

TEST(Ros1Settings, without_an_environment_the_host_is_this_machine) {
  const Environment none(Texts{{"ROS_MASTER_URI", ""}, {"ROS_HOSTNAME", ""}});
  EXPECT_EQ(Settings::of(options(kHere)).or_throw().master_uri, "http://127.0.0.1:11311/");
  EXPECT_EQ(Settings::of(options(kHere)).or_throw().hostname, kHere);
  EXPECT_EQ(Settings::of(options("10.0.0.7")).or_throw().hostname, "10.0.0.7");
}

TEST(Ros1Settings, a_host_name_has_precedence_over_an_address) {
  const Environment both(Texts{{"ROS_HOSTNAME", "desk"}, {"ROS_IP", "10.0.0.8"}});
  EXPECT_EQ(Settings::of(options(kAll)).or_throw().hostname, "desk");
  const Environment address(Texts{{"ROS_HOSTNAME", ""}, {"ROS_IP", "10.0.0.8"}});
  EXPECT_EQ(Settings::of(options(kAll)).or_throw().hostname, "10.0.0.8");
}

TEST(Ros1Settings, a_local_listener_has_the_loopback_address) {
  const Environment address(Texts{{"ROS_IP", "10.0.0.8"}});
  EXPECT_EQ(Settings::of(options(kHere)).or_throw().hostname, kHere);
}

TEST(Ros1Settings, an_own_master_ignores_the_master_uri) {
  const Environment ros(Texts{{"ROS_MASTER_URI", "http://robot:11312"}});
  const auto settings = Settings::of(options(kHere, {{"master", "true"}}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->master_port, 11311);
}

TEST(Ros1Settings, errors_name_the_environment_variable) {
  const auto refused = [](const Texts& given, const Options& all) {
    const Environment ros(given);
    const auto settings = Settings::of(all);
    EXPECT_FALSE(settings);
    if (settings) return std::string();
    EXPECT_EQ(settings.error().code, Code::invalid_config);
    return settings.error().message;
  };
  EXPECT_EQ(
      refused({{"ROS_MASTER_URI", "robot"}}, options(kHere)),
      "ROS_MASTER_URI='robot': the URI has no scheme: 'robot'. Write it as http://host:11311/");
  EXPECT_EQ(refused({{"ROS_HOSTNAME", "http://desk"}}, options(kAll)),
            "ROS_HOSTNAME='http://desk': must be a host name or an address");
  EXPECT_EQ(refused({{"ROS_IP", "10.0.0.8 "}}, options(kAll)),
            "ROS_IP='10.0.0.8 ': must be a host name or an address");
  const Environment wrong(Texts{{"ROS_MASTER_URI", "robot"}});
  EXPECT_TRUE(Settings::of(options(kHere, {{"master_uri", "http://robot:11311"}})))
      << "the variable is not used";
}

}  // namespace
}  // namespace hyphos::gateway::ros1
