#!/usr/bin/env python3
"""Measures how long a smallest program takes to compile, beside the headers of other middlewares.

Each program publishes and receives one struct. The compiler runs in turns, and the table has the
user time of the fastest run of each, because other work on the machine only adds time.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_HYPHOS = """
#include <{header}>
#include <cstdio>
struct Pose {{ double x, y; }};
int main(int argc, char** argv) {{
  auto node = hyphos::Node::open("hello", argc, argv).or_throw();
  auto pose = node.publisher<Pose>("pose");
  node.subscribe<Pose>("pose", hyphos::serial,
                       [](const hyphos::Message<Pose>& m) {{ std::printf("%g\\n", m->x); }});
  pose.publish({{1, 2}});
  return node.spin();
}}
"""
PROGRAMS = {
    "hyphos/node.hpp": _HYPHOS.format(header="hyphos/node.hpp"),
    "hyphos/hyphos.hpp": _HYPHOS.format(header="hyphos/hyphos.hpp"),
    "zmq.hpp": """
#include <zmq.hpp>
#include <cstdio>
struct Pose { double x, y; };
int main() {
  zmq::context_t context;
  zmq::socket_t out(context, zmq::socket_type::pub), in(context, zmq::socket_type::sub);
  out.bind("ipc:///tmp/pose");
  in.connect("ipc:///tmp/pose");
  in.set(zmq::sockopt::subscribe, "");
  const Pose pose{1, 2};
  out.send(zmq::buffer(&pose, sizeof pose), zmq::send_flags::none);
  zmq::message_t got;
  if (in.recv(got)) std::printf("%g\\n", got.data<Pose>()->x);
}
""",
    "iceoryx_posh": """
#include <iceoryx_posh/popo/publisher.hpp>
#include <iceoryx_posh/popo/subscriber.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>
#include <cstdio>
struct Pose { double x, y; };
int main() {
  iox::runtime::PoshRuntime::initRuntime("hello");
  iox::popo::Publisher<Pose> out({"a", "b", "pose"});
  iox::popo::Subscriber<Pose> in({"a", "b", "pose"});
  out.publishCopyOf(Pose{1, 2}).or_else([](auto&) {});
  in.take().and_then([](auto& m) { std::printf("%g\\n", m->x); });
}
""",
}


def compiled(compiler: str, source: Path, *flags: str) -> tuple[float, str] | None:
    """The user time in seconds and the output, or None if it does not compile."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    folders = [ROOT / "include", *Path("/usr/include/iceoryx").glob("v*")]
    command = [compiler, "-std=c++20", *(f"-I{at}" for at in folders), *flags, str(source)]
    run = subprocess.run(command, text=True, capture_output=True, check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return (used, run.stdout) if run.returncode == 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compiler", default="g++", help="default: g++")
    parser.add_argument("--turns", type=int, default=9, help="runs of each program (default: 9)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sources = {}
        for index, (name, text) in enumerate(PROGRAMS.items()):
            sources[name] = Path(folder, f"program{index}.cpp")
            sources[name].write_text(text)
        times: dict[str, list[float]] = {name: [] for name in sources}
        for _ in range(arguments.turns):
            for name, source in sources.items():
                run = compiled(arguments.compiler, source, "-O2", "-c", "-o", "/dev/null")
                if run is not None:
                    times[name].append(run[0])
        print(f"{'headers':18} {'lines':>8} {'seconds':>8} {'ratio to zmq.hpp':>17}")
        floor = min(times["zmq.hpp"], default=float("nan"))
        for name, source in sources.items():
            expanded = compiled(arguments.compiler, source, "-E")
            if not times[name] or expanded is None:
                print(f"{name:18} not installed")
                continue
            lines = expanded[1].count("\n")
            best = min(times[name])
            print(f"{name:18} {lines:8,} {best:8.2f} {best / floor:17.2f}")


if __name__ == "__main__":
    main()
