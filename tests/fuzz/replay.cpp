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

// Runs a fuzzer as a normal test, without libFuzzer. `fuzz_<what> FOLDER` passes these inputs to
// it: nothing, noise, each file of the folder (if it exists), and for each file its prefixes and
// copies with one changed byte. Every run is the same. A crash or an abort is a failure.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// Maximum number per file.
constexpr std::size_t kPieces = 100;

/// In an exactly sized block, so that the sanitizer detects reads beyond it.
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
