#include "base/config.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/utf8.hpp"

namespace hyphos::config {
namespace {

/// All errors and warnings about `text`, one per line.
std::string complaints(const std::string& text, const Limits& limits = {}) {
  Problems problems;
  const Value root = parse_yaml(text, "f.yaml", problems, limits);
  report_duplicates(root, problems);
  return problems.failed() ? problems.to_error().to_string() : "";
}

Value parse(const std::string& text) {
  Problems problems;
  Value root = parse_yaml(text, "f.yaml", problems);
  EXPECT_FALSE(problems.failed()) << problems.to_error().to_string();
  return root;
}

TEST(Config, keys_and_values_keep_their_places) {
  const Value root = parse("a: 1\nb:\n  - x\n  - 'y'\n");
  ASSERT_EQ(root.entries.size(), 2U);
  EXPECT_EQ(root.entries[0].source.to_string(), "f.yaml:1:1");
  EXPECT_EQ(root.entries[0].value.source.to_string(), "f.yaml:1:4");
  const Value* list = root.find("b");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 2U);
  EXPECT_EQ(list->items[1].source.to_string(), "f.yaml:4:5");
  EXPECT_TRUE(list->items[0].plain);
  EXPECT_FALSE(list->items[1].plain);
}

TEST(Config, an_empty_value_has_the_place_of_its_key) {
  const Value root = parse("a: 1\nb:\n");
  ASSERT_NE(root.find("b"), nullptr);
  EXPECT_TRUE(root.find("b")->is(Value::Kind::null));
  EXPECT_EQ(root.find("b")->source.to_string(), "f.yaml:2:1");
}

TEST(Config, a_null_keeps_its_literal) {
  const Value root =
      parse("ä: é  # ü\na: null\nb: ~\nc: [NULL, ~ ,Null]\nd:\ne: {x: ~, y: }\nf: ''\n");
  EXPECT_TRUE(root.find("a")->is(Value::Kind::null));
  EXPECT_EQ(root.find("a")->text, "null");
  EXPECT_EQ(root.find("b")->text, "~");
  const std::vector<Value>& items = root.find("c")->items;
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].text + items[1].text + items[2].text, "NULL~Null");
  EXPECT_TRUE(root.find("d")->text.empty());
  EXPECT_EQ(root.find("e")->find("x")->text, "~");
  EXPECT_TRUE(root.find("e")->find("y")->text.empty());
  EXPECT_TRUE(root.find("f")->is(Value::Kind::scalar));
}

TEST(Config, an_empty_document_is_null) {
  EXPECT_TRUE(parse("").is(Value::Kind::null));
  EXPECT_TRUE(parse("# only a comment\n").is(Value::Kind::null));
}

TEST(Config, a_byte_order_mark_is_accepted) {
  EXPECT_EQ(parse("\xef\xbb\xbf"
                  "a: 1\n")
                .entries[0]
                .source.to_string(),
            "f.yaml:1:1");
}

TEST(Config, duplicate_keys_are_reported_at_every_level) {
  EXPECT_EQ(complaints("a: 1\nb: {x: 1, x: 2}\na: 3\n"),
            "f.yaml:2:11: 'x' is a duplicate key, first at f.yaml:2:5. Remove one\n"
            "f.yaml:3:1: 'a' is a duplicate key, first at f.yaml:1:1. Remove one\n"
            "2 errors [invalid_config]");
}

TEST(Config, a_syntax_error_has_line_and_column) {
  EXPECT_EQ(complaints("a: 1\n  b: [1, 2\nc: 3\n"),
            "f.yaml:2:4: invalid YAML: illegal map value [invalid_config]");
  for (const auto& [text, place] : {std::pair{"a:\n\tb: 1\n", "f.yaml:2:1"},
                                    std::pair{"a:\n  b: 1\n \tc: 2\n", "f.yaml:3:2"}}) {
    EXPECT_EQ(complaints(text),
              std::string(place) +
                  ": invalid YAML: a tab in the indentation. Replace it by spaces "
                  "[invalid_config]");
  }
}

TEST(Config, aliases_and_merge_keys_are_expanded) {
  const Value root = parse("base: &b {depth: 5, latched: true}\nscan: {<<: *b, depth: 3}\nc: *b\n");
  const Value* scan = root.find("scan");
  ASSERT_NE(scan, nullptr);
  EXPECT_EQ(scan->find("depth")->text, "3");
  EXPECT_EQ(scan->find("latched")->text, "true");
  EXPECT_EQ(scan->find("<<"), nullptr);
  EXPECT_EQ(root.find("c")->find("depth")->text, "5");
}

TEST(Config, a_merge_key_accepts_only_maps) {
  EXPECT_EQ(
      complaints("a: &a [1]\nb: {<<: *a}\n"),
      "f.yaml:2:5: '<<' merges maps only, write '<<: *name' of an anchored map [invalid_config]");
}

TEST(Config, an_alias_bomb_is_refused_before_its_expansion) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 9; ++k) bomb += ", " + before;
    bomb += "]\n";
  }
  EXPECT_NE(complaints(bomb).find("too large once its aliases are expanded"), std::string::npos);
}

TEST(Config, a_long_text_with_many_aliases_is_refused) {
  std::string text = "a: &a '" + std::string(10'000, 'x') + "'\nb: [";
  for (int i = 0; i < 2000; ++i) text += "*a,";
  EXPECT_NE(complaints(text + "]\n").find("too large once its aliases are expanded"),
            std::string::npos);
}

TEST(Config, an_alias_inside_its_own_anchor_is_refused) {
  EXPECT_EQ(complaints("a: &a [1, *a]\n"),
            "f.yaml:1:11: an alias is inside its own anchor [invalid_config]");
}

TEST(Config, the_depth_is_bounded) {
  EXPECT_EQ(complaints("a: " + std::string(40, '[') + std::string(40, ']')),
            "f.yaml:1:35: nested more than 32 deep [invalid_config]");
  EXPECT_EQ(complaints(std::string(32, '[') + std::string(32, ']')), "");
}

TEST(Config, deeply_nested_blocks_do_not_overflow_the_stack) {
  std::string text;
  for (int i = 0; i < 700; ++i) text += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_NE(complaints(text).find("nested more than 32 deep"), std::string::npos);
}

TEST(Config, the_size_is_bounded) {
  Limits limits;
  limits.bytes = 10;
  EXPECT_EQ(complaints("a: 12345678\n", limits),
            "f.yaml:1:1: larger than the limit of 10 bytes [invalid_config]");
}

TEST(Config, a_second_document_is_refused) {
  EXPECT_EQ(complaints("a: 1\n---\nb: 2\n"),
            "f.yaml:2:1: the file has a second document, but only one is read [invalid_config]");
}

TEST(Config, a_key_must_be_a_word) {
  EXPECT_EQ(complaints("? [a, b]\n: 1\n"), "f.yaml:1:3: a key must be a word [invalid_config]");
}

TEST(Config, the_first_byte_that_is_not_utf8_is_located) {
  EXPECT_EQ(complaints("a: 1\nb: x\xff\n").substr(0, 38), "f.yaml:2:5: this byte is not UTF-8 tex");
  EXPECT_EQ(complaints(std::string("a: \0b", 5)).substr(0, 12), "f.yaml:1:4: ");
  EXPECT_EQ(complaints("a: \"x\\0y\"\n"), "f.yaml:1:4: text contains NUL [invalid_config]");
}

TEST(Config, utf8_is_checked_by_rfc_3629) {
  constexpr std::size_t kFine = std::string_view::npos;
  for (const char* good :
       {"abc", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\xa4\x96", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(find_bad_utf8(good), kFine) << good;
  }
  for (const char* bad : {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x01"}) {
    EXPECT_EQ(find_bad_utf8(bad), 0U);
  }
  EXPECT_EQ(find_bad_utf8("ab\xff"), 2U);
}

TEST(Config, nearest_finds_the_candidate_for_a_typing_error) {
  constexpr std::array<std::string_view, 4> kKeys = {"depth", "deadline_ms", "type", "transport"};
  EXPECT_EQ(nearest("dept", kKeys), "depth");
  EXPECT_EQ(nearest("detph", kKeys), "depth");
  EXPECT_EQ(nearest("trasport", kKeys), "transport");
  EXPECT_EQ(nearest("tpye", kKeys), "type");
  EXPECT_EQ(nearest("reliability", kKeys), "");
  EXPECT_EQ(nearest("x", kKeys), "");
  EXPECT_EQ(nearest(std::string(1000, 'd'), kKeys), "");
}

TEST(Config, problems_are_sorted_counted_and_not_repeated) {
  Problems problems;
  const auto file = std::make_shared<const std::string>("f.yaml");
  problems.error({file, 9, 1}, "later");
  problems.error({file, 2, 5}, "earlier");
  problems.error({file, 2, 5}, "earlier");
  problems.warn({file, 1, 1}, "odd");
  EXPECT_EQ(problems.errors(), 2U);
  EXPECT_EQ(problems.to_error().where, "f.yaml:2:5");
  EXPECT_EQ(problems.to_error().message, "earlier\nf.yaml:9:1: later\n2 errors");
  ASSERT_EQ(problems.warnings().size(), 1U);
  EXPECT_EQ(problems.warnings()[0], "f.yaml:1:1: odd");
}

TEST(Config, the_number_of_problems_is_bounded) {
  Problems problems;
  const auto file = std::make_shared<const std::string>("f.yaml");
  for (int i = 1; i <= 5000; ++i) problems.error({file, i, 1}, "bad");
  EXPECT_EQ(problems.errors(), 5000U);
  const std::string text = problems.to_error().message;
  EXPECT_TRUE(text.ends_with("5000 errors, of which the first are shown")) << text.size();
  EXPECT_LT(text.size(), 10'000U);
}

TEST(Config, read_file_reports_the_cause_of_a_failure) {
  const auto missing = read_file("/nonexistent/robot.yaml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_EQ(missing.error().where, "/nonexistent/robot.yaml");
  const auto directory = read_file("/tmp");
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().code, Code::io);

  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("hyphos_config_" + std::to_string(getpid()) + ".yaml");
  std::ofstream(path) << "0123456789";
  EXPECT_EQ(read_file(path.string()).value(), "0123456789");
  Limits limits;
  limits.bytes = 9;
  const auto large = read_file(path.string(), limits);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().message, "larger than the limit of 9 bytes");
  for (const std::size_t size : {0U, 65'535U, 65'536U, 65'537U, 200'000U}) {
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 23);
    std::ofstream(path) << text;
    EXPECT_EQ(read_file(path.string()).value(), text) << size;
    limits.bytes = size;
    EXPECT_EQ(read_file(path.string(), limits).value(), text) << size;
    if (size == 0) continue;
    limits.bytes = size - 1;
    EXPECT_FALSE(read_file(path.string(), limits)) << size;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace hyphos::config
