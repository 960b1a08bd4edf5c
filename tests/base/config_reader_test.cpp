#include "base/config_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace hyphos::config {
namespace {

struct Document {
  explicit Document(const std::string& text) : root(parse_yaml(text, "f.yaml", problems)) {}
  [[nodiscard]] std::string complaints() const {
    return problems.failed() ? problems.to_error().to_string() : "";
  }
  Problems problems;
  Value root;
};

TEST(ConfigReader, a_section_returns_typed_values) {
  Document file("a: 3\nb: 0.5\nc: on\nd: [x, y]\ne: z\nf: high\n");
  const Section section(&file.root, "", file.problems, {"a", "b", "c", "d", "e", "f"});
  EXPECT_EQ(section.integer("a", 0, 1, 9), 3);
  EXPECT_EQ(section.real("b", 0, 0, 1), 0.5);
  EXPECT_TRUE(section.boolean("c", false));
  ASSERT_EQ(section.words("d").size(), 2U);
  EXPECT_EQ(section.words("d")[1].text, "y");
  EXPECT_EQ(section.words("e").size(), 1U);
  EXPECT_EQ(section.choice<int>("f", 0, {{"low", 1}, {"high", 2}}), 2);
  EXPECT_EQ(file.complaints(), "");
}

TEST(ConfigReader, an_absent_key_gives_the_fallback) {
  Document file("a:\n");
  const Section section(&file.root, "", file.problems, {"a", "b"});
  EXPECT_EQ(section.integer("a", 7, 0, 9), 7);
  EXPECT_EQ(section.text("b", "none"), "none");
  EXPECT_FALSE(section.has("b"));
  EXPECT_TRUE(section.words("b").empty());
  EXPECT_EQ(file.complaints(), "");
}

TEST(ConfigReader, every_mistake_names_its_place_and_key) {
  Document file("depth: 12\nratte: 1\n");
  const Section section(&file.root, "limits", file.problems, {"depth", "rate"});
  EXPECT_EQ(section.integer("depth", 4, 1, 9), 4);
  const std::string text = file.complaints();
  EXPECT_NE(text.find("f.yaml:1:8: limits.depth: expected a whole number from 1 to 9, found '12'"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("f.yaml:2:1: limits.ratte: unknown key (did you mean 'rate'?)"),
            std::string::npos)
      << text;
}

TEST(ConfigReader, numbers_are_read_as_yaml_writes_them) {
  const auto integer = [](const char* text) {
    Value value;
    value.kind = Value::Kind::scalar;
    value.text = text;
    std::int64_t out = -99;
    return read_integer(value, out) ? out : -99;
  };
  EXPECT_EQ(integer("+5"), 5);
  EXPECT_EQ(integer("-0x10"), -16);
  EXPECT_EQ(integer("+-5"), -99);
  EXPECT_EQ(integer("5.0"), -99);
  double real = 0;
  EXPECT_EQ(parse_real("+1.5", real), RealText::number);
  EXPECT_EQ(real, 1.5);
  EXPECT_EQ(parse_real("-.inf", real), RealText::number);
  EXPECT_TRUE(std::isinf(real) && real < 0);
  EXPECT_EQ(parse_real("1e-999", real), RealText::number);
  EXPECT_EQ(real, 0);
  real = 4;
  EXPECT_EQ(parse_real("1e999", real), RealText::too_large);
  EXPECT_EQ(parse_real("+-1", real), RealText::other);
  EXPECT_EQ(parse_real("nan", real), RealText::other);
  EXPECT_EQ(parse_real("1x", real), RealText::other);
  EXPECT_EQ(real, 4);
}

TEST(ConfigReader, quoted_scalars_are_no_numbers) {
  Document file("a: '3'\n");
  const Section section(&file.root, "", file.problems, {"a"});
  EXPECT_EQ(section.integer("a", 1, 0, 9), 1);
  EXPECT_NE(file.complaints().find("Numbers must not be quoted"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::config
