#include "netem/options.hpp"

#include <gtest/gtest.h>

#include <array>

namespace hyphos::lab {
namespace {

Result<Options> parse(std::vector<const char*> words, bool hosts = true) {
  if (hosts) words.insert(words.begin(), {"--host", "a=10.0.0.1/24", "--host", "b=10.0.0.2/24"});
  return parse_options(words);
}

void expect_refused(const std::vector<const char*>& words, const char* where, const char* why) {
  const auto options = parse(words);
  ASSERT_FALSE(options.ok()) << where;
  EXPECT_EQ(options.error().code, Code::invalid_config);
  EXPECT_EQ(options.error().where, where);
  EXPECT_NE(options.error().message.find(why), std::string::npos) << options.error().message;
}

TEST(Options, cable_options_are_read_with_their_units) {
  const auto options = parse({"--delay-ms", "5", "--jitter-ms", "0.5", "--rate-mbit", "100",
                              "--loss", "0.02", "--loss-burst", "4", "--queue-packets", "50",
                              "--queue-bytes", "64000", "--seed", "9"});
  ASSERT_TRUE(options.ok()) << options.error().to_string();
  EXPECT_EQ(options->hosts.size(), 2U);
  EXPECT_EQ(options->wired.delay.ns, 5'000'000);
  EXPECT_EQ(options->wired.jitter.ns, 500'000);
  EXPECT_EQ(options->wired.rate_mbit, 100);
  EXPECT_EQ(options->wired.loss.probability, 0.02);
  EXPECT_EQ(options->wired.loss.burst_packets, 4);
  EXPECT_EQ(options->wired.queue.packets, 50U);
  EXPECT_EQ(options->wired.queue.bytes, 64'000U);
  EXPECT_EQ(options->wired.seed, 9U);
}

TEST(Options, wifi_options_reach_the_model) {
  const auto options = parse({"--medium", "wifi", "--rate-mbit", "24", "--cw-min", "31", "--loss",
                              "0.1", "--retry-limit", "4", "--seed", "3", "--queue-packets", "7"});
  ASSERT_TRUE(options.ok()) << options.error().to_string();
  EXPECT_TRUE(options->wifi);
  EXPECT_EQ(options->air.rate_mbit, 24);
  EXPECT_EQ(options->air.window_min, 31);
  EXPECT_EQ(options->air.retry_limit, 4U);
  EXPECT_EQ(options->air.loss.probability, 0.1);
  EXPECT_EQ(options->air.queue.packets, 7U);
  EXPECT_EQ(options->air.seed, 3U);
}

TEST(Options, errors_contain_the_option_and_the_remedy) {
  expect_refused({"--dealy-ms", "5"}, "--dealy-ms", "unknown option");
  expect_refused({"--delay-ms"}, "--delay-ms", "needs a value");
  expect_refused({"--loss", "1.5"}, "--loss", "from 0 to 1");
  expect_refused({"--loss", "x"}, "--loss", "from 0 to 1");
  expect_refused({"--seed", "1.5"}, "--seed", "whole number");
  expect_refused({"--loss", "nan"}, "--loss", "from 0 to 1");
  expect_refused({"--loss", "0.1", "--loss", "0.2"}, "--loss", "twice");
  expect_refused({"--delay-ms", "1", "--jitter-ms", "2"}, "--jitter-ms", "at most --delay-ms");
  expect_refused({"--loss-in-burst", "0.5"}, "--loss-in-burst", "only valid with --loss-burst");
  expect_refused({"--loss", "0.9", "--loss-burst", "3", "--loss-in-burst", "0.5"}, "--loss",
                 "between");
  expect_refused({"--loss", "0.9", "--loss-burst", "2"}, "--loss-burst", "longer");
}

TEST(Options, options_of_the_other_medium_are_refused) {
  expect_refused({"--retry-limit", "3"}, "--retry-limit", "only valid with --medium wifi");
  expect_refused({"--medium", "wifi", "--delay-ms", "3"}, "--delay-ms",
                 "only valid with --medium cable");
  expect_refused({"--medium", "wifi", "--rate-mbit", "300"}, "--rate-mbit", "must be one of 6, 9");
  expect_refused({"--medium", "wifi", "--cw-max", "3"}, "--cw-max", "at least --cw-min");
}

TEST(Options, hosts_are_two_or_more_and_different) {
  EXPECT_FALSE(parse({"--host", "a=10.0.0.1/24"}, false).ok());
  EXPECT_FALSE(parse({"--host", "a=10.0.0.3/24"}).ok());
  EXPECT_FALSE(parse({"--host", "c=10.0.0.2/24"}).ok());
  EXPECT_TRUE(parse({"--host", "c=10.0.0.3/24"}).ok());
}

TEST(Options, an_invalid_host_is_named) {
  for (const char* text : {"a", "=10.0.0.1/24", "a=10.0.0.1", "a=10.0.0/24", "a=10.0.0.1/x",
                           "a=10.0.0.1/31", "a=10.0.0.1/24x", "../a=10.0.0.1/24"}) {
    const auto host = parse_host(text);
    ASSERT_FALSE(host.ok()) << text;
    EXPECT_EQ(host.error().where, std::string("--host ") + text);
  }
}

class Addresses : public ::testing::Test {
 protected:
  Addresses() : book_({*parse_host("a=10.0.0.1/24"), *parse_host("b=10.0.0.2/24")}) {}

  std::optional<Station> find(std::array<int, 4> to, int version = 4, std::size_t size = 20) {
    std::array<std::byte, 20> packet{};
    packet[0] = std::byte(version << 4 | 5);
    for (std::size_t i = 0; i < 4; ++i) packet[16 + i] = std::byte(to[i]);
    return book_.find(std::span(packet).first(size));
  }

  Book book_;
};

TEST_F(Addresses, a_packet_goes_to_the_host_of_its_address) {
  EXPECT_EQ(find({10, 0, 0, 1}), Station{0});
  EXPECT_EQ(find({10, 0, 0, 2}), Station{1});
  EXPECT_EQ(find({10, 0, 0, 3}), std::nullopt);
}

TEST_F(Addresses, multicast_and_broadcast_go_to_everyone) {
  EXPECT_EQ(find({239, 255, 72, 89}), kEveryone);
  EXPECT_EQ(find({255, 255, 255, 255}), kEveryone);
  EXPECT_EQ(find({10, 0, 0, 255}), kEveryone);
}

TEST_F(Addresses, a_packet_that_is_not_ipv4_has_no_receiver) {
  EXPECT_EQ(find({10, 0, 0, 1}, 6), std::nullopt);
  EXPECT_EQ(find({10, 0, 0, 1}, 4, 19), std::nullopt);
  EXPECT_EQ(find({10, 0, 0, 1}, 4, 0), std::nullopt);
}

}  // namespace
}  // namespace hyphos::lab
