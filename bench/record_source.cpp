// Publishes raw messages at a fixed rate for record_disk.py. Open loop: message i is due at t0 + i
// / rate, independent of earlier messages.
//
//   record_source --domain D --size BYTES --rate HZ --count N
//
// Waits for a subscriber, publishes, and prints one JSON object. The payload is filled with noise
// once, so that compression has no effect, and numbered in its first eight bytes.
#include <time.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "hyphos/hyphos.hpp"

namespace {

std::int64_t number(const std::vector<std::string>& words, const std::string& name) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == name) return std::stoll(words[i + 1]);
  }
  std::fprintf(stderr, "record_source: %s is missing\n", name.c_str());
  std::exit(2);
}

void sleep_until(std::int64_t ns) {
  const timespec at{ns / 1'000'000'000, ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) != 0) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto size = static_cast<std::size_t>(number(words, "--size"));
  const std::int64_t rate = number(words, "--rate");
  const std::int64_t count = number(words, "--count");
  hyphos::RuntimeOptions options;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--domain") options.domain = words[i + 1];
  }
  const hyphos::Node node = hyphos::Node::open("source", options).or_throw();
  const auto publisher = node.publisher<hyphos::Buffer>("blob");
  std::vector<std::uint64_t> noise(size / 8 + 1);
  std::mt19937_64 random(7);
  for (std::uint64_t& word : noise) word = random();
  while (publisher.listeners() == 0) std::this_thread::yield();

  const std::int64_t start = hyphos::monotonic_now().ns;
  std::int64_t failed = 0;
  std::int64_t late_ns = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t due = start + i * 1'000'000'000 / rate;
    const std::int64_t now = hyphos::monotonic_now().ns;
    if (now < due) {
      sleep_until(due);
    } else {
      late_ns = std::max(late_ns, now - due);
    }
    hyphos::WritableBuffer memory = publisher.loan_bytes(size);
    std::memcpy(memory.data(), noise.data(), size);
    std::memcpy(memory.data(), &i, std::min(size, sizeof(i)));
    if (!publisher.publish(std::move(memory).freeze())) ++failed;
  }
  const double seconds = static_cast<double>(hyphos::monotonic_now().ns - start) * 1e-9;
  std::printf("{\"sent\": %lld, \"failed\": %lld, \"seconds\": %.3f, \"late_ms\": %.1f}\n",
              static_cast<long long>(count), static_cast<long long>(failed), seconds,
              static_cast<double>(late_ns) * 1e-6);
  std::fflush(stdout);
  // The recorder ends first, so that the messages that it has not received yet are not lost with
  // this process.
  (void)std::getchar();
}
