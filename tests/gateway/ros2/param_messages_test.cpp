#include "gateway/ros2/param_messages.hpp"

#include <gtest/gtest.h>

#include <random>

#include "gateway/ros2/cdr.hpp"

namespace hyphos::gateway::ros2 {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<ParamVariant> one_of_each() {
  return {true,
          std::int64_t{-7},
          2.5,
          std::string("odom"),
          ParamBytes{std::byte{1}, std::byte{255}},
          std::vector<bool>{true, false, true},
          std::vector<std::int64_t>{1, -1, 1LL << 40},
          std::vector<double>{0.5, -0.0},
          std::vector<std::string>{"", "a b"}};
}

/// rcl_interfaces/srv/SetParameters_Request, written without the code under test.
void write_value(CdrWriter& writer, const ParamVariant* value) {
  writer.number<std::uint8_t>(value == nullptr ? 0 : param_type(*value));
  const auto is = [&](std::size_t index) { return value != nullptr && value->index() == index; };
  writer.flag(is(0) && std::get<bool>(*value));
  writer.number<std::int64_t>(is(1) ? std::get<std::int64_t>(*value) : 0);
  writer.number<double>(is(2) ? std::get<double>(*value) : 0);
  writer.text(is(3) ? std::get<std::string>(*value) : "");
  writer.count(is(4) ? std::get<ParamBytes>(*value).size() : 0);
  if (is(4)) {
    for (const std::byte one : std::get<ParamBytes>(*value)) writer.number(one);
  }
  writer.count(is(5) ? std::get<std::vector<bool>>(*value).size() : 0);
  if (is(5)) {
    for (const bool one : std::get<std::vector<bool>>(*value)) writer.flag(one);
  }
  writer.count(is(6) ? std::get<std::vector<std::int64_t>>(*value).size() : 0);
  if (is(6)) {
    for (const auto one : std::get<std::vector<std::int64_t>>(*value)) writer.number(one);
  }
  writer.count(is(7) ? std::get<std::vector<double>>(*value).size() : 0);
  if (is(7)) {
    for (const auto one : std::get<std::vector<double>>(*value)) writer.number(one);
  }
  writer.count(is(8) ? std::get<std::vector<std::string>>(*value).size() : 0);
  if (is(8)) {
    for (const auto& one : std::get<std::vector<std::string>>(*value)) writer.text(one);
  }
}

Bytes request_of(const std::vector<ParamWish>& wishes) {
  CdrWriter writer;
  writer.count(wishes.size());
  for (const ParamWish& wish : wishes) {
    writer.text(wish.name);
    write_value(writer, wish.value ? &*wish.value : nullptr);
  }
  return writer.take();
}

Bytes names_of(const std::vector<std::string>& names, std::optional<std::uint64_t> depth = {}) {
  CdrWriter writer;
  writer.count(names.size());
  for (const std::string& name : names) writer.text(name);
  if (depth) writer.number(*depth);
  return writer.take();
}

std::vector<std::string> listed(const std::vector<std::string>& names, const ParamListing& asked) {
  const Bytes reply = write_listing(names, asked);
  CdrReader reader(reply);
  std::vector<std::string> found(reader.count());
  for (std::string& name : found) name = reader.text();
  EXPECT_FALSE(reader.failed());
  return found;
}

TEST(Ros2ParamMessages, values_of_every_type_are_read_back) {
  std::vector<ParamWish> wishes;
  std::vector<std::optional<ParamVariant>> values;
  for (const ParamVariant& value : one_of_each()) {
    wishes.push_back({"node.p" + std::to_string(value.index()), value});
    values.push_back(value);
  }
  wishes.push_back({"node.gone", std::nullopt});
  values.push_back(std::nullopt);
  const auto read = read_wishes(request_of(wishes));
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->size(), wishes.size());
  CdrWriter expected;
  expected.count(values.size());
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    EXPECT_EQ((*read)[i].name, wishes[i].name);
    EXPECT_EQ((*read)[i].value, wishes[i].value);
    write_value(expected, values[i] ? &*values[i] : nullptr);
  }
  EXPECT_EQ(write_values(values), expected.take());
}

TEST(Ros2ParamMessages, a_truncated_request_is_refused_at_every_length) {
  std::vector<ParamWish> wishes;
  for (const ParamVariant& value : one_of_each()) wishes.push_back({"n.p", value});
  const Bytes whole = request_of(wishes);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_wishes(std::span(whole).first(size)).has_value()) << size;
  }
  const Bytes names = names_of({"a.b", "c.d"}, 3);
  for (std::size_t size = 0; size < names.size(); ++size) {
    EXPECT_FALSE(read_listing(std::span(names).first(size)).has_value()) << size;
  }
}

TEST(Ros2ParamMessages, arbitrary_bytes_are_read_or_refused) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): fixed seed
  const Bytes whole = request_of({{"node.list", std::vector<std::string>{"a", "b"}}});
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes = whole;
    for (int i = 0; i < 3; ++i) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    const auto read = read_wishes(bytes);
    EXPECT_LE(read ? read->size() : 0, bytes.size());
    (void)read_names(bytes);
    (void)read_listing(bytes);
  }
}

TEST(Ros2ParamMessages, events_are_read_back_and_refused_when_truncated) {
  ParamEvent event{"/laser", {}, {{"rate_hz", std::int64_t{40}}}, {"old", "older"}};
  for (const ParamVariant& value : one_of_each()) {
    event.appeared.emplace_back("p" + std::to_string(value.index()), value);
  }
  const Bytes whole = write_event(event, Time{1'500'000'000});
  CdrReader head(whole);
  EXPECT_EQ(head.number<std::int32_t>(), 1);
  EXPECT_EQ(head.number<std::uint32_t>(), 500'000'000U);
  const auto read = read_event(whole);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->node, event.node);
  EXPECT_EQ(read->appeared, event.appeared);
  EXPECT_EQ(read->changed, event.changed);
  EXPECT_EQ(read->deleted, event.deleted);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_event(std::span(whole).first(size)).has_value()) << size;
  }
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): fixed seed
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes = whole;
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    (void)read_event(bytes);
  }
}

TEST(Ros2ParamMessages, prefixes_and_depth_select_as_in_rclcpp) {
  const std::vector<std::string> names{"a", "b.x", "b.y.z", "bb.x"};
  EXPECT_EQ(listed(names, {}), names);
  EXPECT_EQ(listed(names, {{}, 1}), (std::vector<std::string>{"a"}));
  EXPECT_EQ(listed(names, {{}, 2}), (std::vector<std::string>{"a", "b.x", "bb.x"}));
  EXPECT_EQ(listed(names, {{"b"}, 0}), (std::vector<std::string>{"b.x", "b.y.z"}));
  EXPECT_EQ(listed(names, {{"b"}, 1}), (std::vector<std::string>{"b.x"}));
  EXPECT_EQ(listed(names, {{"a", "b.y"}, 0}), (std::vector<std::string>{"a", "b.y.z"}));
  EXPECT_EQ(listed(names, {{"c"}, 0}), std::vector<std::string>());
}

TEST(Ros2ParamMessages, big_endian_requests_are_read) {
  // "{names: [ab], depth: 2}", written by hand.
  const unsigned char raw[] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 'a', 'b',
                               0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   2};
  const auto read = read_listing(std::as_bytes(std::span(raw)));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->prefixes, std::vector<std::string>{"ab"});
  EXPECT_EQ(read->depth, 2U);
}

}  // namespace
}  // namespace hyphos::gateway::ros2
