#include "gateway/net/stream.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/gateway/net/stream_server.hpp"
#include "tests/gateway/raw_client.hpp"

namespace hyphos::gateway::net {
namespace {

const StreamServer::Unit kEcho = [](const auto& stream, const Buffer& unit) {
  stream->send(1, Message(unit));
};
const StreamServer::Unit kIgnore = [](const auto&, const Buffer&) {};

std::string receive_sized(RawClient& client) {
  const std::string head = client.receive(4);
  if (head.size() < 4) return {};
  std::uint32_t size = 0;
  std::memcpy(&size, head.data(), sizeof size);
  return client.receive(size);
}

TEST(Stream, units_of_every_size_are_echoed) {
  StreamServer server(kEcho);
  RawClient client(server.port());
  for (const std::size_t size :
       {0UL, 1UL, 1000UL, 16'380UL, 16'381UL, 65'532UL, 65'533UL, 1'000'000UL, 10'000'000UL}) {
    const std::string body(size, static_cast<char>('a' + size % 26));
    std::thread sender([&] { client.send(sized(body)); });
    EXPECT_EQ(receive_sized(client), body) << size;
    sender.join();
  }
}

TEST(Stream, messages_of_many_threads_are_never_mixed) {
  StreamServer server(kIgnore, {.queue = {.depth = 100'000, .bytes = std::size_t{1} << 30}});
  RawClient client(server.port());
  ASSERT_TRUE(eventually([&] { return server.accepted() == 1; }));
  const auto stream = server.stream(0);
  constexpr int kEach = 300;
  std::vector<std::thread> senders;
  for (char who : {'a', 'b', 'c', 'd'}) {
    senders.emplace_back([&stream, who] {
      for (int i = 0; i < kEach; ++i) {
        const std::size_t size = i % 50 == 0 ? 300'000 : static_cast<std::size_t>(i);
        EXPECT_EQ(stream->send(static_cast<Key>(who), sized_message(std::string(1 + size, who))),
                  0U);
      }
    });
  }
  std::map<char, int> count;
  for (int i = 0; i < 4 * kEach; ++i) {
    const std::string body = receive_sized(client);
    ASSERT_FALSE(body.empty());
    ASSERT_EQ(body.find_first_not_of(body[0]), std::string::npos);
    const int nth = count[body[0]]++;
    const std::size_t size = nth % 50 == 0 ? 300'000 : static_cast<std::size_t>(nth);
    ASSERT_EQ(body.size(), 1 + size) << "order of one key";
  }
  for (std::thread& sender : senders) sender.join();
}

TEST(Stream, a_reader_of_small_pieces_gets_all_bytes) {
  StreamServer server(kEcho);
  RawClient client(server.port());
  std::string body(6'000'000, '\0');  // more than a socket buffers
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7);
  std::thread sender([&] { client.send(sized(body)); });
  const std::string head = client.receive(4);
  std::string got;
  std::mt19937 random(1);
  while (got.size() < body.size()) {
    const std::string more = client.some(got.size() < 2'000 ? 1 : 1 + random() % 50'000);
    if (more.empty()) break;
    got += more;
  }
  EXPECT_TRUE(got == body);
  sender.join();
}

TEST(Stream, each_piece_of_a_large_unit_is_a_sign_of_life) {
  StreamServer server(kEcho);
  RawClient client(server.port());
  const std::string body(300'000, 'b');
  const std::string all = sized(body);
  ASSERT_TRUE(eventually([&] { return server.accepted() == 1; }));
  const auto stream = server.stream(0);
  client.send(all.substr(0, 20'000));
  std::size_t sent = 20'000;
  for (int i = 0; i < 3; ++i) {
    const Time before = stream->heard();
    // The kernel counts the time in ticks, so only a later byte is seen as later.
    EXPECT_TRUE(eventually([&] {
      client.send(all.substr(sent++, 1));
      return stream->heard() > before;
    })) << i;
  }
  const Time last = stream->heard();
  EXPECT_EQ(stream->heard(), last) << "no bytes arrived";
  client.send(all.substr(sent));
  EXPECT_EQ(receive_sized(client), body);
  client.send(sized("x"));  // One byte must wake the reader again.
  EXPECT_EQ(receive_sized(client), "x");
}

TEST(Stream, units_that_were_read_together_have_one_arrival) {
  std::mutex mutex;
  std::map<std::string, std::int64_t> arrivals;
  std::atomic<StreamServer*> stops{nullptr};
  StreamServer server([&](const std::shared_ptr<Stream>& stream, const Buffer& unit) {
    const std::string name(unit.text().substr(4));
    if (name == "stop") stops.load()->ready = false;
    const std::lock_guard lock(mutex);
    arrivals[name] = stream->arrived().ns;
  });
  stops = &server;
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return arrivals.size();
  };
  RawClient client(server.port());
  client.send(sized("a") + sized("b"));
  ASSERT_TRUE(eventually([&] { return count() == 2; }));
  EXPECT_EQ(arrivals["a"], arrivals["b"]);
  // The first unit of the next read stops the stream. The test itself could stop it before that.
  client.send(sized("stop") + sized("c") + sized("d"));
  ASSERT_TRUE(eventually([&] { return server.stream(0)->holds_up(); }));
  client.send(sized("e"));  // waits in the socket
  ASSERT_TRUE(eventually([&] { return client.unacknowledged() == 0; }));
  server.ready = true;
  ASSERT_TRUE(eventually([&] { return count() == 6; }));
  EXPECT_GT(arrivals["stop"], arrivals["b"]);
  EXPECT_EQ(arrivals["c"], arrivals["stop"]);
  EXPECT_EQ(arrivals["c"], arrivals["d"]);
  EXPECT_EQ(arrivals["c"], arrivals["e"]);
}

TEST(Stream, a_peer_that_leaves_inside_a_large_unit_is_reported) {
  StreamServer server(kEcho);
  {
    RawClient client(server.port());
    client.send(sized(std::string(1'000'000, 'b')).substr(0, 70'000));
    ASSERT_TRUE(eventually([&] { return server.accepted() == 1; }));
  }
  EXPECT_TRUE(eventually([&] { return server.closed == 1; }));
}

TEST(Stream, a_slow_reader_loses_its_oldest_messages) {
  StreamServer server(kIgnore, {.queue = {.depth = 5, .bytes = std::size_t{64} << 20}});
  RawClient slow(server.port());
  ASSERT_TRUE(eventually([&] { return server.accepted() == 1; }));
  const auto stream = server.stream(0);
  constexpr std::uint32_t kCount = 60;
  const std::string filling(1'000'000, 'f');
  std::size_t dropped = 0;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    std::string number(sizeof i, '\0');
    std::memcpy(number.data(), &i, sizeof i);
    dropped += stream->send(1, sized_message(number + filling));
  }
  EXPECT_GT(dropped, 0U);
  EXPECT_LE(stream->waiting(), 5 * (filling.size() + 8));
  std::uint32_t last = 0;
  std::size_t received = 0;
  while (received + dropped < kCount) {
    const std::string body = receive_sized(slow);
    ASSERT_EQ(body.size(), 4 + filling.size());
    std::uint32_t number = 0;
    std::memcpy(&number, body.data(), sizeof number);
    ASSERT_TRUE(received == 0 || number > last);
    last = number;
    ++received;
  }
  EXPECT_EQ(last, kCount - 1) << "the newest messages are kept";
}

// Memory of a lender, which counts the outstanding loans.
class Lender {
 public:
  [[nodiscard]] Buffer lend(std::string bytes) {
    ++out_;
    return (new Owner(*this, std::move(bytes)))->buffer();
  }
  [[nodiscard]] int out() const { return out_; }

 private:
  class Owner final : public BufferOwner {
   public:
    Owner(Lender& lender, std::string bytes) : lender_(lender), bytes_(std::move(bytes)) {}
    [[nodiscard]] Buffer buffer() {
      return {reinterpret_cast<const std::byte*>(bytes_.data()), bytes_.size(), this};
    }

   private:
    void release() noexcept override {
      --lender_.out_;
      delete this;
    }
    Lender& lender_;
    const std::string bytes_;
  };
  std::atomic<int> out_ = 0;
};

TEST(Stream, a_stopped_reader_holds_at_most_one_lent_buffer) {
  constexpr std::size_t kCount = 20;
  Lender lender;
  StreamServer server(kIgnore, {.queue = {.depth = kCount, .bytes = std::size_t{64} << 20}});
  RawClient client(server.port());
  ASSERT_TRUE(eventually([&] { return server.accepted() == 1; }));
  const auto array = [](std::size_t i) {
    return std::string(1'000'000, static_cast<char>('a' + i));
  };
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(server.stream(0)->send(
                  1, Message::lent(sized_head(2 + array(i).size()),
                                   Buffer::copy_of(std::string_view("<")), lender.lend(array(i)),
                                   Buffer::copy_of(std::string_view(">")))),
              0U);
  }
  EXPECT_LE(lender.out(), 1);
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_TRUE(receive_sized(client) == "<" + array(i) + ">") << i;
  }
  EXPECT_TRUE(eventually([&] { return lender.out() == 0; }));
}

TEST(Stream, a_stopped_reader_does_not_stop_another) {
  StreamServer server(kEcho, {.queue = {.depth = 3, .bytes = std::size_t{64} << 20}});
  RawClient stopped(server.port());
  ASSERT_TRUE(eventually([&] { return server.accepted() == 1; }));
  for (int i = 0; i < 20; ++i) server.stream(0)->send(1, sized_message(std::string(1 << 20, 'x')));
  RawClient on_the_other_loop(server.port());
  RawClient quick(server.port());
  for (int i = 0; i < 50; ++i) {
    quick.send(sized("ping"));
    ASSERT_EQ(receive_sized(quick), "ping");
  }
}

TEST(Stream, a_lost_peer_is_reported_once) {
  StreamServer server(kIgnore);
  RawClient closing(server.port());
  RawClient resetting(server.port());
  ASSERT_TRUE(eventually([&] { return server.clients() == 2; }));
  closing.close();
  resetting.send("\x40");  // the start of a unit
  resetting.reset();
  EXPECT_TRUE(eventually([&] { return server.closed == 2; }));
  EXPECT_TRUE(eventually([&] { return server.clients() == 0; }));
  server.end();
  EXPECT_EQ(server.closed, 2);
}

TEST(Stream, a_peer_that_dies_during_a_send_ends_the_stream) {
  StreamServer server(kIgnore, {.queue = {.depth = 100, .bytes = std::size_t{1} << 30}});
  RawClient client(server.port());
  ASSERT_TRUE(eventually([&] { return server.accepted() == 1; }));
  for (int i = 0; i < 30; ++i) server.stream(0)->send(1, sized_message(std::string(1 << 20, 'x')));
  EXPECT_GT(server.stream(0)->waiting(), 0U);
  client.reset();
  EXPECT_TRUE(eventually([&] { return server.closed == 1; }));
  EXPECT_EQ(server.stream(0)->waiting(), 0U);
  EXPECT_EQ(server.stream(0)->send(1, sized_message("late")), 0U);
}

TEST(Stream, a_stream_closed_in_its_callback_delivers_nothing_more) {
  std::atomic<int> units = 0;
  StreamServer server([&](const auto& stream, const Buffer&) {
    ++units;
    stream->close();
  });
  RawClient client(server.port());
  client.send(sized("one") + sized("two") + sized("three"));
  EXPECT_TRUE(client.sees_end());
  EXPECT_TRUE(eventually([&] { return server.closed == 1; }));
  EXPECT_EQ(units, 1);
}

TEST(Stream, finish_sends_waiting_messages_and_delivers_nothing_more) {
  std::atomic<int> units = 0;
  StreamServer server(
      [&](const auto& stream, const Buffer&) {
        ++units;
        for (int i = 0; i < 8; ++i) stream->send(1, sized_message(std::string(1 << 20, 'x')));
        stream->send(2, sized_message("last words"));
        stream->finish();
        stream->send(2, sized_message("too late"));
      },
      {.linger = Duration::from_seconds(20)});
  RawClient client(server.port());
  // Unread input must not turn the end into a reset, which would discard the last words.
  client.send(sized("go") + sized("not taken") + sized(std::string(200'000, 'y')));
  int words = 0;
  for (int i = 0; i < 9; ++i) {
    const std::string body = receive_sized(client);
    if (body == "last words") ++words;
    EXPECT_TRUE(body == "last words" || body.size() == 1 << 20);
  }
  EXPECT_EQ(words, 1);
  EXPECT_TRUE(client.some(1).empty());
  client.close();
  EXPECT_TRUE(eventually([&] { return server.closed == 1; }));
  EXPECT_EQ(units, 1);
}

TEST(Stream, finish_does_not_wait_forever_for_a_silent_peer) {
  StreamServer server([&](const auto& stream, const Buffer&) { stream->finish(); },
                      {.linger = Duration::from_ms(20)});
  RawClient client(server.port());
  client.send(sized("go"));
  EXPECT_TRUE(eventually([&] { return server.closed == 1; }));
}

TEST(Stream, a_refused_unit_is_answered_before_the_close) {
  StreamServer server(kEcho);
  RawClient client(server.port());
  client.send("\xff\xff\xff\xff some garbage");
  EXPECT_EQ(receive_sized(client), "too large");
  EXPECT_TRUE(client.sees_end());
  client.close();
  EXPECT_TRUE(eventually([&] { return server.closed == 1; }));
  EXPECT_EQ(server.refused, 1);
}

TEST(Stream, a_kept_unit_does_not_change) {
  std::mutex mutex;
  std::vector<Buffer> kept;
  StreamServer server([&](const auto&, const Buffer& unit) {
    const std::lock_guard lock(mutex);
    kept.push_back(unit);
  });
  RawClient client(server.port());
  std::vector<std::string> sent;
  for (int i = 0; i < 200; ++i) {
    sent.push_back(sized(std::string(i % 9 == 0 ? 100'000 : 1'000, static_cast<char>(i))));
    client.send(sent.back());
  }
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return kept.size() == sent.size();
  }));
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_TRUE(kept[i].text() == sent[i]) << i;
}

TEST(Stream, streams_are_closed_by_their_loop_and_may_outlive_it) {
  auto server = std::make_unique<StreamServer>(kEcho);
  RawClient client(server->port());
  client.send(sized("ping"));
  ASSERT_EQ(receive_sized(client), "ping");
  const auto stream = server->stream(0);
  server->end();
  EXPECT_EQ(server->closed, 1);
  EXPECT_TRUE(client.sees_end());
  EXPECT_FALSE(stream->is_open());
  EXPECT_EQ(stream->send(1, sized_message("nobody hears it")), 0U);
  stream->finish();
  stream->close();
}

TEST(Stream, the_end_of_a_loop_waits_for_sending_threads) {
  for (int round = 0; round < 100; ++round) {
    auto server = std::make_unique<StreamServer>(kIgnore);
    RawClient client(server->port());
    ASSERT_TRUE(eventually([&] { return server->accepted() == 1; }));
    const auto stream = server->stream(0);
    std::atomic<bool> sending = false;
    std::thread sender([&] {
      while (stream->is_open()) {
        stream->send(1, sized_message(std::string(300'000, 's')));
        sending = true;
      }
    });
    ASSERT_TRUE(eventually([&] { return sending.load(); }));
    server->end();
    EXPECT_EQ(server->closed, 1);
    server.reset();
    sender.join();
  }
}

TEST(Stream, a_stream_that_is_not_started_can_send) {
  auto loop = std::make_unique<Loop>();
  std::mutex mutex;
  std::vector<std::shared_ptr<Stream>> streams;
  Listener::Callbacks callbacks;
  callbacks.accepted = [&](Connection connection) {
    const std::lock_guard lock(mutex);
    streams.push_back(Stream::open(*loop, std::move(connection), {}));
    streams.back()->send(1, sized_message("hello"));
  };
  auto listener = Listener::open(*loop, {}, std::move(callbacks)).or_throw();
  RawClient client(listener->port());
  EXPECT_EQ(receive_sized(client), "hello");
  listener.reset();
  loop.reset();
  EXPECT_TRUE(client.sees_end());
}

TEST(Stream, a_stream_closed_before_its_start_reports_its_end) {
  Loop loop;
  std::atomic<int> closed = 0;
  Listener::Callbacks callbacks;
  callbacks.accepted = [&](Connection connection) {
    const auto stream = Stream::open(loop, std::move(connection), {});
    stream->close();
    Stream::Callbacks its;
    its.measure = measure_sized;
    its.unit = [](const Buffer&) {};
    its.closed = [&] { ++closed; };
    stream->start(std::move(its));
  };
  const auto listener = Listener::open(loop, {}, std::move(callbacks)).or_throw();
  RawClient client(listener->port());
  EXPECT_TRUE(client.sees_end());
  EXPECT_TRUE(eventually([&] { return closed == 1; }));
}

TEST(Stream, control_messages_above_the_limit_close_the_stream) {
  StreamServer server(kIgnore, {.queue = {.depth = 5, .bytes = 1 << 20}});
  RawClient client(server.port());
  ASSERT_TRUE(eventually([&] { return server.accepted() == 1; }));
  const auto stream = server.stream(0);
  for (int i = 0; i < 100 && stream->is_open(); ++i) {
    stream->send(kControl, sized_message(std::string(1 << 18, 'c')));
  }
  EXPECT_FALSE(stream->is_open());
  EXPECT_TRUE(eventually([&] { return server.closed == 1; }));
}

TEST(Stream, many_streams_end_once_each) {
  std::atomic<unsigned> seed = 1;
  StreamServer server(
      [&](const auto& stream, const Buffer& unit) {
        std::mt19937 random(seed++);
        stream->send(random() % 3, Message(unit));
        if (random() % 40 == 0) stream->close();
        if (random() % 40 == 0) stream->finish();
      },
      {.queue = {.depth = 4, .bytes = 1 << 20}, .linger = Duration::from_ms(5)});
  std::vector<std::thread> clients;
  constexpr int kThreads = 4;
  constexpr int kEach = 50;
  for (int t = 0; t < kThreads; ++t) {
    clients.emplace_back([&server, t] {
      std::mt19937 random(static_cast<unsigned>(t) + 100);
      for (int i = 0; i < kEach; ++i) {
        RawClient client(server.port());
        for (unsigned k = random() % 30; k > 0; --k) {
          if (!client.send(sized(std::string(random() % 60'000, 'q')))) break;
          if (random() % 4 == 0) (void)client.some(random() % 100'000 + 1);
        }
        if (random() % 2 == 0) client.reset();
      }
    });
  }
  std::atomic<bool> done = false;
  std::thread sender([&] {
    while (!done) {
      const std::size_t count = server.accepted();
      if (count > 0) server.stream(count - 1)->send(9, sized_message(std::string(30'000, 's')));
      if (count > 7) server.stream(count - 7)->close();
    }
  });
  for (std::thread& client : clients) client.join();
  done = true;
  sender.join();
  EXPECT_TRUE(eventually([&] { return server.closed == kThreads * kEach; })) << server.closed;
  EXPECT_EQ(server.clients(), 0U);
  EXPECT_FALSE(server.concurrent);
}

TEST(Loop, a_timer_calls_once_and_a_dropped_timer_never) {
  Loop loop;
  std::atomic<int> called = 0;
  const Timer kept = loop.after(Duration::from_ms(1), [&] { ++called; });
  {
    const Timer dropped = loop.after(Duration::from_seconds(3600), [&] { called += 100; });
  }
  EXPECT_TRUE(eventually([&] { return called == 1; }));
}

TEST(Loop, timers_may_outlive_their_loop) {
  Timer timer;
  {
    Loop loop;
    timer = loop.after(Duration::from_seconds(3600), [] { FAIL(); });
  }
  timer = {};
}

TEST(Loops, loops_take_turns_and_each_has_a_thread) {
  Loops loops;
  Loop& one = loops.next();
  Loop& other = loops.next();
  EXPECT_NE(&one, &other);
  EXPECT_EQ(&loops.next(), &one);
  std::promise<void> other_runs;
  std::promise<void> told;
  one.post([&] {
    other_runs.get_future().wait();
    told.set_value();
  });
  other.post([&] { other_runs.set_value(); });
  EXPECT_EQ(told.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

// Starts work on the next loop during stop(), as a lost connection does.
class Restless final : public Loop::Item {
 public:
  explicit Restless(Loops& loops) : loops_(loops), loop_(loops.next()) {}
  void stop() override {
    for (int i = 0; i < 2; ++i) {
      Loop& next = loops_.next();
      timers.push_back(next.after(Duration{}, [] {}));
      next.post([] {});
    }
    loop_.remove(this);
  }
  Loop& loop() { return loop_; }

  std::vector<Timer> timers;

 private:
  Loops& loops_;
  Loop& loop_;
};

TEST(Loops, next_works_until_all_loops_have_ended) {
  std::vector<std::shared_ptr<Restless>> items;
  {
    Loops loops;
    for (int i = 0; i < 2; ++i) {
      items.push_back(std::make_shared<Restless>(loops));
      ASSERT_TRUE(items.back()->loop().add(items.back()));
    }
  }
  for (const auto& item : items) EXPECT_EQ(item->timers.size(), 2U);
}

TEST(Stream, a_blocked_stream_loses_nothing) {
  std::mutex mutex;
  std::vector<std::string> got;
  StreamServer server([&](const auto&, const Buffer& unit) {
    const std::lock_guard lock(mutex);
    got.emplace_back(unit.text().substr(4));
  });
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return got.size();
  };
  server.ready = false;
  RawClient client(server.port());
  ASSERT_TRUE(eventually([&] { return server.accepted() == 1; }));
  const auto stream = server.stream(0);
  EXPECT_FALSE(stream->holds_up());
  const std::string body(200'000, 'x');
  std::atomic<int> sent = 0;
  std::thread sender([&] {
    for (int i = 0; i < 200; ++i, ++sent) client.send(sized(std::to_string(i) + body));
  });
  ASSERT_TRUE(eventually([&] { return stream->holds_up(); }));
  // Output to the client does not wait.
  stream->send(1, sized_message("still there"));
  EXPECT_EQ(receive_sized(client), "still there");
  EXPECT_EQ(count(), 0U);
  EXPECT_LT(sent, 200) << "TCP back-pressure stops the sender";

  server.ready = true;
  sender.join();
  ASSERT_TRUE(eventually([&] { return count() == 200; }));
  EXPECT_FALSE(stream->holds_up());
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(got[static_cast<std::size_t>(i)], std::to_string(i) + body);
  }
}

TEST(Stream, a_blocked_stream_can_be_closed) {
  StreamServer server(kIgnore);
  server.ready = false;
  RawClient first(server.port());
  RawClient second(server.port());
  first.send(sized("a"));
  second.send(sized("b"));
  ASSERT_TRUE(eventually([&] {
    return server.accepted() == 2 && server.stream(0)->holds_up() && server.stream(1)->holds_up();
  }));
  server.stream(0)->close();
  EXPECT_TRUE(eventually([&] { return server.closed == 1; }));
  server.end();
  EXPECT_EQ(server.closed, 2);
}

}  // namespace
}  // namespace hyphos::gateway::net
