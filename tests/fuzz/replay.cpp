#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>

// A fuzzer among the tests, without libFuzzer: `fuzz_<what> FOLDER` gives it nothing, noise, each
// file of the folder if there is one, and for each file beginnings of it and copies with one byte
// changed. The same with every run; a crash or an abort is the failure.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// At most, of each file.
constexpr std::size_t kPieces = 100;

/// In a block of its own, so that the sanitizer sees what reads beyond it.
void give(const std::string& input) {
  const auto block = std::make_unique<std::uint8_t[]>(input.size());
  std::copy(input.begin(), input.end(), block.get());
  LLVMFuzzerTestOneInput(block.get(), input.size());
}

std::string noise(std::minstd_rand& random) {
  std::string bytes(random() % 512, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

void give_pieces(const std::string& whole, std::minstd_rand& random) {
  give(whole);
  const std::size_t step = whole.size() / kPieces + 1;
  for (std::size_t at = 0; at < whole.size(); at += step) {
    give(whole.substr(0, at));
    std::string changed = whole;
    changed[at] = static_cast<char>(random());
    give(changed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  std::minstd_rand random(1);
  give("");
  for (int i = 0; i < 500; ++i) give(noise(random));
  int files = 0;
  if (std::filesystem::is_directory(argv[1])) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
      std::ifstream file(entry.path(), std::ios::binary);
      give_pieces({std::istreambuf_iterator<char>(file), {}}, random);
      ++files;
    }
  }
  std::printf("%d files and their pieces, and noise\n", files);
  return 0;
}
