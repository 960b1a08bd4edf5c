#include "builtin/image_codec_nodes.hpp"

#include <string>
#include <utility>

#include "builtin/image_codec.hpp"
#include "hyphos/hyphos.hpp"

namespace hyphos::builtin {
namespace {

using Picture = Attached<msgs::Image>;
using File = Attached<msgs::CompressedImage>;

class CompressImage final : public Builtin {
 public:
  explicit CompressImage(const Node& node)
      : refusals_(node),
        format_(node.params().declare<std::string>("format",
                                                   {.value = "jpeg", .choices = {"jpeg", "png"}})),
        quality_(node.params().declare<std::int64_t>(
            "quality", {.value = 90, .description = "of JPEG", .range = {1, 100}})),
        output_(node.publisher<File>("image/compressed")) {
    node.subscribe<Picture>("image", serial, [this](const Message<Picture>& m) { take(*m); });
  }

 private:
  void take(const Picture& picture) {
    if (output_.listeners() == 0) return;
    const std::span<const std::byte> pixels =
        picture.buffers.size() == 1 ? picture.buffers[0].bytes() : std::span<const std::byte>{};
    if (refusals_.refuse("image", unusable(picture.head, pixels))) return;
    const std::string format = *format_;
    auto file = format == "png" ? encode_png(picture.head, pixels)
                                : encode_jpeg(picture.head, pixels, static_cast<int>(*quality_));
    if (!file) {
      (void)refusals_.refuse("image", file.error().to_string());
      return;
    }
    File out;
    *out.head.mutable_header() = picture.head.header();
    out.head.set_format(format);
    out.buffers.push_back(Buffer::adopt(std::move(*file)));
    output_.publish(std::move(out));
  }

  const Refusals refusals_;
  const Param<std::string> format_;
  const Param<std::int64_t> quality_;
  const Publisher<File> output_;
};

class DecompressImage final : public Builtin {
 public:
  explicit DecompressImage(const Node& node)
      : refusals_(node), output_(node.publisher<Picture>("image")) {
    node.subscribe<File>("image/compressed", serial, [this](const Message<File>& m) { take(*m); });
  }

 private:
  void take(const File& file) {
    if (output_.listeners() == 0) return;
    if (file.buffers.size() != 1) {
      (void)refusals_.refuse("image/compressed", "it needs one attached buffer, the file");
      return;
    }
    const std::span<const std::byte> bytes = file.buffers[0].bytes();
    auto head = probe(bytes);
    if (!head) {
      (void)refusals_.refuse("image/compressed", head.error().to_string());
      return;
    }
    // The pixels are written where the subscribers read them.
    WritableBuffer pixels = output_.loan_bytes(std::size_t{head->step()} * head->height());
    if (const auto good = decode(bytes, *head, pixels.bytes()); !good) {
      (void)refusals_.refuse("image/compressed", good.error().to_string());
      return;
    }
    Picture out;
    out.head = std::move(*head);
    *out.head.mutable_header() = file.head.header();
    out.buffers.push_back(std::move(pixels).freeze());
    output_.publish(std::move(out));
  }

  const Refusals refusals_;
  const Publisher<Picture> output_;
};

}  // namespace

std::unique_ptr<Builtin> open_compress_image(const Node& node) {
  return std::make_unique<CompressImage>(node);
}
std::unique_ptr<Builtin> open_decompress_image(const Node& node) {
  return std::make_unique<DecompressImage>(node);
}

}  // namespace hyphos::builtin
