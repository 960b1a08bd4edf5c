#include "gateway/net/unit_reader.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace hyphos::gateway::net {
namespace {

/// The unit format of these tests: a length of 32 bits, which includes itself.
Result<Measured> measure(std::span<const std::byte> bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) return Measured::at_least(sizeof size);
  std::memcpy(&size, bytes.data(), sizeof size);
  if (size > 100'000'000) return Error{Code::overloaded, "too large", {}};
  return Measured::unit(size);
}

std::string unit_of(std::size_t body, char with) {
  const auto size = static_cast<std::uint32_t>(body + 4);
  std::string unit(sizeof size, '\0');
  std::memcpy(unit.data(), &size, sizeof size);
  return unit + std::string(body, with);
}

/// Feeds at most `most` bytes into the reader, as a socket would.
std::size_t feed(UnitReader& reader, std::string_view bytes, std::size_t most) {
  std::size_t given = 0;
  bytes = bytes.substr(0, most);
  for (const iovec& part : reader.space()) {
    const std::size_t size = std::min(part.iov_len, bytes.size());
    if (size > 0) std::memcpy(part.iov_base, bytes.data(), size);
    bytes.remove_prefix(size);
    given += size;
  }
  reader.filled(given);
  return given;
}

std::vector<Buffer> read_all(UnitReader& reader, std::string_view bytes, std::size_t most) {
  std::vector<Buffer> units;
  while (!bytes.empty()) {
    bytes.remove_prefix(feed(reader, bytes, most));
    while (auto unit = reader.next(measure).or_throw()) units.push_back(std::move(*unit));
  }
  return units;
}

TEST(UnitReader, units_are_restored_from_any_split) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    std::string bytes;
    std::vector<std::string> sent;
    for (int i = 0; i < 60; ++i) {
      const std::size_t sizes[] = {0, 5, 300, 20'000, UnitReader::kLarge, 70'000, 200'000};
      sent.push_back(unit_of(sizes[random() % 7] + random() % 3, static_cast<char>('a' + i % 26)));
      bytes += sent.back();
    }
    UnitReader reader;
    const auto units = read_all(reader, bytes, 1 + random() % 100'000);
    ASSERT_EQ(units.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) ASSERT_EQ(units[i].text(), sent[i]);
  }
}

TEST(UnitReader, units_are_restored_from_single_bytes) {
  UnitReader reader;
  const std::string bytes = unit_of(3, 'x') + unit_of(0, 'y');
  const auto units = read_all(reader, bytes, 1);
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units[0].text(), unit_of(3, 'x'));
}

TEST(UnitReader, a_kept_large_unit_is_not_overwritten) {
  UnitReader reader;
  const auto first = read_all(reader, unit_of(100'000, 'a'), 1 << 20);
  const auto second = read_all(reader, unit_of(100'000, 'b'), 1 << 20);
  EXPECT_EQ(first.at(0).text(), unit_of(100'000, 'a'));
  EXPECT_EQ(second.at(0).text(), unit_of(100'000, 'b'));
}

TEST(UnitReader, the_memory_of_a_released_large_unit_is_reused) {
  UnitReader reader;
  const std::byte* first = read_all(reader, unit_of(100'000, 'a'), 1 << 20).at(0).data();
  const std::byte* second = read_all(reader, unit_of(90'000, 'b'), 1 << 20).at(0).data();
  EXPECT_EQ(first, second);
}

TEST(UnitReader, the_rest_of_a_large_unit_is_read_in_place) {
  UnitReader reader;
  const std::string unit = unit_of(1'000'000, 'z');
  feed(reader, unit, 10'000);
  ASSERT_FALSE(reader.next(measure).or_throw());
  EXPECT_EQ(reader.missing(), unit.size() - 10'000);
  EXPECT_EQ(reader.space()[0].iov_len, UnitReader::kBite);
  EXPECT_EQ(reader.space()[1].iov_len, 0U) << "only the rest of the unit is read";
  reader.filled(UnitReader::kBite);
  EXPECT_EQ(reader.missing(), unit.size() - 10'000 - UnitReader::kBite);
}

TEST(UnitReader, a_large_unit_is_read_into_lent_memory) {
  UnitReader reader;
  std::vector<const std::byte*> given;
  const Memory memory = [&](std::span<const std::byte> begin, std::size_t size) {
    EXPECT_EQ(static_cast<char>(begin[4]), 'a');
    EXPECT_GE(size, 100'004 + UnitReader::kTail);
    WritableBuffer fresh = given.size() < 2 ? WritableBuffer::on_heap(size) : WritableBuffer();
    if (!fresh.empty()) given.push_back(fresh.data());
    return fresh;
  };
  const std::string unit = unit_of(100'000, 'a');
  std::vector<Buffer> units;
  for (int round = 0; round < 3; ++round) {
    for (std::string_view bytes = unit; !bytes.empty();) {
      bytes.remove_prefix(feed(reader, bytes, 1 << 20));
      while (auto whole = reader.next(measure, memory).or_throw()) units.push_back(*whole);
    }
  }
  ASSERT_EQ(units.size(), 3U);
  for (const Buffer& whole : units) EXPECT_EQ(whole.text(), unit);
  EXPECT_EQ(units[0].data(), given[0]);
  EXPECT_EQ(units[1].data(), given[1]) << "lent memory is not overwritten";
  EXPECT_NE(units[2].data(), given[1]) << "no memory was lent";
}

TEST(UnitReader, after_a_large_unit_only_a_small_block_is_read) {
  UnitReader reader;
  EXPECT_EQ(reader.space()[0].iov_len, UnitReader::kBlock);
  (void)read_all(reader, unit_of(100'000, 'a'), 1 << 20);
  EXPECT_LE(reader.space()[0].iov_len, UnitReader::kBlock / 16);
  const std::string small = unit_of(10'000, 'b');
  EXPECT_EQ(read_all(reader, small, 1 << 20).at(0).text(), small);
  EXPECT_EQ(reader.space()[0].iov_len, UnitReader::kBlock) << "no change for small units";
}

TEST(UnitReader, each_part_of_a_large_unit_is_shown_once) {
  UnitReader reader;
  std::string bytes = unit_of(1'000'000, 'a') + unit_of(300, 'b') + unit_of(50'000, 'c');
  std::vector<std::string> units;
  std::size_t shown = 0;
  for (std::string_view rest = bytes; !rest.empty();) {
    rest.remove_prefix(feed(reader, rest, 30'000));
    const UnitReader::Part part = reader.arrived();
    if (!part.bytes.empty()) EXPECT_TRUE(part.at == shown || part.at == 0);
    shown = part.at + part.bytes.size();
    const std::size_t head = part.at == 0 ? std::min<std::size_t>(4, part.bytes.size()) : 0;
    for (std::byte& byte : part.bytes.subspan(head)) byte ^= std::byte{0x20};
    EXPECT_TRUE(reader.arrived().bytes.empty());
    while (auto unit = reader.next(measure).or_throw()) units.emplace_back(unit->text());
  }
  ASSERT_EQ(units.size(), 3U);
  EXPECT_EQ(units[0], unit_of(1'000'000, 'A'));
  EXPECT_EQ(units[1], unit_of(300, 'b')) << "a small unit is not shown";
  EXPECT_EQ(units[2], unit_of(50'000, 'C'));
}

TEST(UnitReader, a_refused_unit_is_an_error_before_allocation) {
  UnitReader reader;
  feed(reader, "\xff\xff\xff\x7f", 4);
  const auto unit = reader.next(measure);
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().code, Code::overloaded);
}

TEST(UnitReader, a_header_larger_than_a_block_is_an_error) {
  UnitReader reader;
  feed(reader, "x", 1);
  const auto unit = reader.next([](auto) { return Measured::at_least(UnitReader::kBlock + 1); });
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().code, Code::corrupt);
}

TEST(UnitReader, a_measure_without_progress_is_an_error) {
  UnitReader reader;
  feed(reader, "xyz", 3);
  EXPECT_FALSE(reader.next([](auto) { return Measured::at_least(2); }));
  EXPECT_FALSE(reader.next([](auto) { return Measured::unit(0); }));
}

}  // namespace
}  // namespace hyphos::gateway::net
