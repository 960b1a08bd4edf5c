// The C# client (clients/csharp, in mono) as one endpoint and a C++ node as the other, both in one
// graph: the situation of a Unity project that needs no gateway. `to_node` publishes in C# and
// subscribes in C++. `from_node` is the reverse, with the callback in the thread that delivers.
// With `from_node_pump` the callback runs where the program pumps, in a thread that does nothing
// else. Bytes are written into loans and read in place.

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "hyphos/hyphos.hpp"
#include "lab/common/main.hpp"

namespace hyphos::lab {
namespace {

class CsharpPeer : public Peer {
 public:
  static constexpr const char* kName = "csharp";
  static std::vector<Variant> variants() {
    const std::vector<Shape> pair = {Shape::kPair, Shape::kUncapped};
    return {{"to_node", pair, 64u << 20, false, false, false},
            {"from_node", pair, 64u << 20, false, false, false},
            {"from_node_pump", pair, 64u << 20, false, false, false}};
  }

  explicit CsharpPeer(const Options& options) : Peer(options) {
    RuntimeOptions how;
    how.domain = "lab" + std::to_string(options.run_id);
    how.process = process_name(options.role, options.index);
    node_.emplace(Node::open(how.process, how).or_throw());
  }
  ~CsharpPeer() override {
    node_->close();
    publisher_.reset();
    node_.reset();
    std::error_code error;  // succeeds for the last process, when the folder is empty
    std::filesystem::remove(
        "/dev/shm/hyphos-" + std::to_string(getuid()) + "/lab" + std::to_string(options_.run_id),
        error);
  }

  void open_publisher(const Edge& edge) override {
    publisher_ = node_->publisher<Buffer>(edge.name, {.policy = policy()});
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    SubscriptionOptions how;
    how.mode = Mode::inline_;
    how.policy = policy();
    node_->subscribe<Buffer>(edge.name, how,
                             [hear = std::move(on_message)](const Message<Buffer>& message) {
                               hear(message->data(), message->size());
                             });
  }
  void publish(std::size_t size, Fill fill) override {
    WritableBuffer memory = publisher_->loan_bytes(size);
    fill(memory.data());
    const Published sent = publisher_->publish(std::move(memory).freeze());
    if (!sent) throw std::runtime_error("publish: " + std::string(to_string(*sent.failure)));
  }

 private:
  [[nodiscard]] Policy policy() const {
    const bool waits = options_.wanted_reliability() == lab::Reliability::kReliable;
    if (waits || options_.uncapped()) return reliable_policy(options_.size >= (8u << 20) ? 4 : 16);
    Policy policy;
    policy.depth = options_.size >= (8u << 20) ? 4 : 64;
    return policy;
  }

  std::optional<Node> node_;
  std::optional<Publisher<Buffer>> publisher_;
};

/// True if this process of the run is the C# process.
bool is_csharp(const std::string& variant, const std::string& role) {
  return (variant == "to_node") == (role == "pub");
}

std::string word_after(int argc, char** argv, std::string_view option) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == option) return argv[i + 1];
  }
  return "";
}

/// Replaces this process by the C# program, which keeps process id, arguments and inherited files.
int run_in_mono(char** argv) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::string program = (folder / "csharp-worker" / "hyphos-lab-csharp.exe").string();
  std::string mono = "mono";
  std::vector<char*> words = {mono.data(), program.data()};
  for (char** word = argv + 1; *word != nullptr; ++word) words.push_back(*word);
  words.push_back(nullptr);
  std::signal(SIGUSR1, SIG_IGN);  // the parent sends it to wake C++ processes
  execvp(words[0], words.data());
  std::fprintf(stderr, "hyphos-lab-csharp: cannot run mono: apt install mono-runtime\n");
  return 1;
}

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  using namespace hyphos::lab;
  const std::string role = word_after(argc, argv, "--role");
  if (!role.empty() && is_csharp(word_after(argc, argv, "--variant"), role)) {
    return run_in_mono(argv);
  }
  return lab_main<CsharpPeer>(argc, argv);
}
