// JSON in the pixels of PNG files. Most tests build the files according to the standard. Only tests
// of encoder and decoder together use the encoder of the gateway.

#include "gateway/rosbridge/png.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

#include "gateway/convert/base64.hpp"
#include "gateway/rosbridge/fragments.hpp"
#include "tests/gateway/rosbridge/fake_client.hpp"
#include "tests/gateway/rosbridge/png_file.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

constexpr std::size_t kLimit = 10'000;

struct Picture {
  std::size_t width = 1;
  std::size_t height = 1;
  char depth = 8;
  char color = 2;
  char interlace = 0;
};

std::string header(const Picture& picture) {
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", u32(picture.width) + u32(picture.height) + picture.depth + picture.color +
                           std::string(2, '\0') + picture.interlace);
}
/// `rows` include their filter bytes.
std::string file_of(const Picture& picture, const std::string& rows) {
  return header(picture) + chunk("IDAT", deflated(rows)) + chunk("IEND", "");
}

std::string base64(const std::string& bytes) {
  std::string out;
  Base64Writer writer(out);
  writer.write(std::as_bytes(std::span(bytes)));
  writer.end();
  return out;
}

Result<std::string> read(const std::string& file) { return json_of_png(base64(file), kLimit); }

/// Encodes a row with filter `kind`, by the table of the standard.
std::string filtered(int kind, const std::string& row, const std::string& above, std::size_t step) {
  std::string out(1, static_cast<char>(kind));
  const auto byte = [](const std::string& of, std::size_t i) {
    return static_cast<int>(static_cast<unsigned char>(of[i]));
  };
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int a = i < step ? 0 : byte(row, i - step);
    const int b = above.empty() ? 0 : byte(above, i);
    const int c = i < step || above.empty() ? 0 : byte(above, i - step);
    const int p = a + b - c;
    const int pa = std::abs(p - a);
    const int pb = std::abs(p - b);
    const int pc = std::abs(p - c);
    const int nearest = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
    const int guesses[] = {0, a, b, (a + b) / 2, nearest};
    out += static_cast<char>(byte(row, i) - guesses[kind]);
  }
  return out;
}

std::string data_of(const std::string& message) {
  const std::string before = R"({"op":"png","data":")";
  EXPECT_TRUE(message.starts_with(before) && message.ends_with("\"}")) << message;
  return message.substr(before.size(), message.size() - before.size() - 2);
}

TEST(PngTest, written_files_are_read_back) {
  EXPECT_EQ(json_of_png(data_of(png_message("")), kLimit).or_throw(), "");
  for (std::size_t size = 0; size < 300; ++size) {
    const std::string json = '{' + std::string(size, 'x') + '}';
    EXPECT_EQ(json_of_png(data_of(png_message(json)), kLimit).or_throw(), json);
  }
}

TEST(PngTest, every_filter_of_every_kind_of_pixel_is_read) {
  std::mt19937 random(1);  // fixed seed
  for (int round = 0; round < 300; ++round) {
    Picture picture{random() % 9 + 1, random() % 9 + 1};
    const std::size_t step = random() % 2 == 0 ? 3 : random() % 2 == 0 ? 1 : 4;
    picture.color = static_cast<char>(step == 1 ? 0 : step == 3 ? 2 : 6);
    std::string text;
    std::string rows;
    std::string above;
    for (std::size_t y = 0; y < picture.height; ++y) {
      std::string row(picture.width * step, '\0');
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = static_cast<char>(random() % 200 + 50);
        if (step != 4 || i % 4 != 3) text += row[i];
      }
      rows += filtered(static_cast<int>(random() % 5), row, above, step);
      above = row;
    }
    const std::string pixels = deflated(rows);
    const std::size_t cut = random() % pixels.size();
    const std::string file = header(picture) + chunk("tEXt", "Software\0x") +
                             chunk("IDAT", pixels.substr(0, cut)) + chunk("IDAT", "") +
                             chunk("IDAT", pixels.substr(cut)) + chunk("IEND", "");
    ASSERT_EQ(read(file).or_throw(), text) << round;
  }
}

TEST(PngTest, truncated_or_changed_files_are_refused) {
  const std::string file =
      file_of({2, 2}, std::string("\0{\"a\":1", 7) + std::string("\0}\n\n\n\n\n", 7));
  EXPECT_EQ(read(file).or_throw(), R"({"a":1})");
  for (std::size_t at = 0; at < file.size(); ++at) {
    EXPECT_FALSE(read(file.substr(0, at))) << "cut at " << at;
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = file;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      EXPECT_FALSE(read(changed)) << "bit " << bit << " at " << at;
    }
  }
}

TEST(PngTest, errors_describe_the_fault) {
  const auto failure = [](const Result<std::string>& read) {
    return read ? "read " + *read : read.error().message;
  };
  EXPECT_EQ(failure(json_of_png("?", kLimit)), "'data' must be a PNG in base64");
  EXPECT_EQ(failure(json_of_png("", kLimit)), "the PNG does not begin with the PNG signature");
  EXPECT_EQ(failure(read("GIF89a")), "the PNG does not begin with the PNG signature");
  EXPECT_EQ(failure(read(header({}))), "the PNG ends too early");
  EXPECT_EQ(failure(read(header({}) + chunk("IEND", ""))), "the PNG has too few pixels");
  EXPECT_EQ(failure(read("\x89PNG\r\n\x1a\n" + chunk("IEND", ""))), "the PNG has no header");
  const std::string row = std::string("\0{} ", 4);
  EXPECT_EQ(failure(read(file_of({}, row))), "read {}");
  EXPECT_EQ(failure(read(file_of({0, 1}, row))), "the PNG has no pixels");
  EXPECT_EQ(failure(read(file_of({1, 2}, row))), "the PNG has too few pixels");
  EXPECT_EQ(failure(read(file_of({}, row + row))),
            "the PNG has more pixels than its size declares");
  EXPECT_EQ(failure(read(file_of({}, "\5{} "))), "the PNG has an unknown filter");
  EXPECT_EQ(failure(read(header({}) + chunk("IDAT", "no zlib") + chunk("IEND", ""))),
            "the PNG has pixels that do not inflate");
  EXPECT_EQ(failure(read(header({}) + chunk("IDAT", deflated(row) + "x") + chunk("IEND", ""))),
            "the PNG has data after its pixels");
  constexpr std::string_view kOther =
      "the PNG must have 8 bits, gray, RGB or RGBA, and no interlacing";
  EXPECT_EQ(failure(read(file_of({1, 1, 16}, row))), kOther);
  EXPECT_EQ(failure(read(file_of({1, 1, 8, 3}, row))), kOther);
  EXPECT_EQ(failure(read(file_of({1, 1, 8, 2, 1}, row))), kOther);
}

TEST(PngTest, pixels_above_the_message_limit_are_refused_early) {
  for (const Picture& picture : {Picture{1U << 31U, 1U << 31U}, Picture{1, 1U << 31U},
                                 Picture{kLimit / 3 + 1, 1}, Picture{1, kLimit / 3 + 1}}) {
    const auto refused = read(file_of(picture, "x"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::exhausted);
    EXPECT_EQ(refused.error().message,
              "the pixels of the PNG exceed the 10000 bytes that --max-message allows");
  }
  const std::string row = std::string(1, '\0') + std::string(300, 'x');
  std::string rows;
  for (int y = 0; y < 10; ++y) rows += row;
  const std::string file = base64(file_of({100, 10}, rows));
  EXPECT_EQ(json_of_png(file, 3000).or_throw(), std::string(3000, 'x'));
  EXPECT_FALSE(json_of_png(file, 2999));
  // Data that inflates to more than the declared size is cut off there. A size that deflate cannot
  // have packed into the file gets no memory.
  EXPECT_EQ(read(file_of({10, 10}, std::string(5'000'000, '\0'))).error().message,
            "the PNG has more pixels than its size declares");
  const auto claims = json_of_png(base64(file_of({1U << 20U, 1U << 10U}, "x")), SIZE_MAX);
  ASSERT_FALSE(claims);
  EXPECT_EQ(claims.error().message, "the PNG has too few pixels");
}

class PngOperation : public Robot {
 protected:
  static std::string png(const std::string& json) { return data_of(png_message(json)); }
  static std::string error(const std::string& message, const std::string& id = "") {
    return R"({"op":"status","level":"error","msg":")" + message + '"' +
           (id.empty() ? "" : ",\"id\":" + id) + '}';
  }
  const std::string advertise = R"({"op":"advertise","topic":"/a","type":"std_msgs/String"})";
};

TEST_F(PngOperation, the_operation_in_the_pixels_is_executed) {
  FakeClient client(facade);
  client.say(R"({"op":"png","data":")" + png(advertise) + "\"}");
  EXPECT_EQ(facade.open(), 1U);
  client.say(R"({"op":"png","id":"i","num":0,"total":1,"data":")" +
             png(R"({"op":"unadvertise","topic":"/a"})") + "\"}");
  EXPECT_EQ(facade.open(), 0U);
  EXPECT_TRUE(client.hears_nothing());
}

TEST_F(PngOperation, a_png_may_be_in_fragments_or_in_pieces) {
  FakeClient client(facade);
  const auto fragments = split(png_message(advertise), 40, "same").or_throw();
  ASSERT_GT(fragments.size(), 2U);
  const std::string image = png(R"({"op":"unadvertise","topic":"/a"})");
  const auto piece = [&](int num, std::size_t from, std::size_t size) {
    return R"({"op":"png","id":"same","num":)" + std::to_string(num) + R"(,"total":3,"data":")" +
           image.substr(from, size) + "\"}";
  };
  client.say(piece(2, 30, std::string::npos));
  for (const std::string& fragment : fragments) client.say(fragment);
  EXPECT_EQ(facade.open(), 1U);
  client.say(piece(0, 0, 13));
  EXPECT_EQ(facade.open(), 1U);
  client.say(piece(1, 13, 17));
  EXPECT_EQ(facade.open(), 0U) << "pieces of a png and fragments with the same id are separate";
  EXPECT_TRUE(client.hears_nothing());
}

TEST_F(PngOperation, a_faulty_png_gets_an_error_with_its_id) {
  Options options;
  options.max_message = 1000;
  FakeClient client(facade, options);
  client.say(R"({"op":"png","id":"i","data":"iVBORw0KGgo="})");
  EXPECT_EQ(client.on_message(), error("png: the PNG ends too early", R"("i")"));
  client.say(R"({"op":"png","id":7})");
  EXPECT_EQ(client.on_message(), error("png: the PNG does not begin with the PNG signature", "7"));
  client.say(R"({"op":"png","id":"i","data":"iVBOR\\"})");
  EXPECT_EQ(client.on_message(), error("png: 'data' must be a PNG in base64", R"("i")"));
  client.say(R"({"op":"png","data":"","num":1})");
  EXPECT_EQ(client.on_message(), error("png: a fragment must have an 'id'"));
  client.say(R"({"op":"png","id":"b","data":")" + png('{' + std::string(1200, ' ') + '}') + "\"}");
  EXPECT_EQ(client.on_message(), error("png: the pixels of the PNG exceed the 1000 bytes that "
                                       "--max-message allows",
                                       R"("b")"));
  client.say(R"({"op":"png","id":"i","data":")" + png("[1]") + "\"}");
  EXPECT_TRUE(client.on_message().starts_with(
      R"({"op":"status","level":"error","msg":"the message is not a JSON)"));
  client.say(R"({"op":"png","data":")" + png(R"({"op":"dance","id":"d"})") + "\"}");
  EXPECT_TRUE(client.on_message().ends_with(R"("id":"d"})"));
  EXPECT_EQ(facade.clients().counted("corrupt"), 5U);
}

TEST_F(PngOperation, a_png_may_not_contain_a_png_or_a_fragment) {
  FakeClient client(facade);
  client.say(R"({"op":"png","data":")" + png(R"({"op":"png","id":1,"data":""})") + "\"}");
  EXPECT_EQ(client.on_message(), error("png: a png inside a png", "1"));
  client.say(R"({"op":"png","data":")" + png(R"({"op":"fragment","id":1})") + "\"}");
  EXPECT_EQ(client.on_message(), error("fragment: a fragment inside a png", "1"));
}

TEST_F(PngOperation, a_png_is_not_unpacked_without_a_token) {
  Options options;
  options.tokens = {{.secret = "secret"}};
  FakeClient client(facade, options, false);
  client.say(R"({"op":"png","data":")" + png(R"({"op":"auth","token":"secret"})") + "\"}");
  EXPECT_TRUE(client.on_message().starts_with(
      R"({"op":"status","level":"error","msg":"png: send a token first)"));
  EXPECT_FALSE(client.session.authorized());
}

TEST_F(PngOperation, a_large_png_is_sent_in_fragments) {
  FakeClient talker(facade);
  FakeClient listener(facade);
  listener.say(R"({"op":"subscribe","topic":"/a","type":"std_msgs/String","compression":"png",)"
               R"("fragment_size":50})");
  talker.say(advertise);
  talker.say(R"({"op":"publish","topic":"/a","msg":{"data":"one, two, three"}})");
  const auto [whole, count] = joined_fragments(listener, kLimit, 50);
  EXPECT_GT(count, 1);
  EXPECT_EQ(json_of_png(data_of(whole), kLimit).or_throw(),
            R"({"op":"publish","topic":"/a","msg":{"data":"one, two, three"}})");
}

}  // namespace
}  // namespace hyphos::gateway::rosbridge
