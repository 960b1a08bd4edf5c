// The memory that the parent shares with its processes, as defined in lab/common/sheet.hpp.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Threading;

namespace Hyphos.Lab
{
    /// The options that the parent passes to its processes, already validated. Only those that a
    /// pair needs.
    internal sealed class Options
    {
        public readonly string Variant, Role;
        public readonly int Size, SheetFd, RunId;
        public readonly long Count, Warmup;
        public readonly double RateHz, WorkUs, Seconds;
        public readonly bool Reliable, Uncapped;

        public Options(string[] words)
        {
            Dictionary<string, string> given = new Dictionary<string, string>();
            for (int i = 0; i + 1 < words.Length; i += 2) given[words[i]] = words[i + 1];
            Variant = given["--variant"];
            Role = given["--role"];
            Size = Whole(given["--size"]);
            SheetFd = Whole(given["--sheet-fd"]);
            RunId = Whole(given["--run-id"]);
            Count = Whole(given["--count"]);
            Warmup = Whole(given["--warmup"]);
            RateHz = double.Parse(given["--rate"], CultureInfo.InvariantCulture);
            Seconds = double.Parse(given["--seconds"], CultureInfo.InvariantCulture);
            Uncapped = given["--shape"] == "uncapped";
            WorkUs = double.Parse(given["--work-us"], CultureInfo.InvariantCulture);
            Reliable = given.ContainsKey("--reliability") && given["--reliability"] == "reliable";
        }

        private static int Whole(string word) { return int.Parse(word, CultureInfo.InvariantCulture); }
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct Flow
    {
        public long Received, Warm, Duplicates, Corrupt, LastReceiveNs;
        private long pad0_, pad1_, pad2_;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct Source
    {
        public long Sent, LateSends;
        public int Warm, Done;
        private long pad0_, pad1_, pad2_, pad3_, pad4_;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct Head
    {
        public ulong Magic;
        public uint HeadBytes, FlowBytes, SourceBytes, MaxFlows;
        public int Phase, Ready, Steps;
        private int pad_;
        public long FirstSendNs;
        private long pad0_, pad1_;
    }

    /// The sheet of one pair: one flow, one source.
    internal sealed unsafe class Sheet
    {
        public const int WarmingUp = 1, Measuring = 3, Stopping = 4;
        private const ulong Magic = 0x0362616c68707968;
        private const int MaxFlows = 256;

        private readonly Head* head_;

        public Sheet(Options options)
        {
            long head = sizeof(Head) + MaxFlows * (sizeof(Flow) + sizeof(Source));
            long length = head + 8 * options.Count * 3;
            void* at = mmap(null, (UIntPtr)(ulong)length, 1 | 2, 1 | 0x8000, options.SheetFd, IntPtr.Zero);
            if (at == (void*)-1) throw new InvalidOperationException("cannot map the result sheet");
            head_ = (Head*)at;
            Flow = (Flow*)(head_ + 1);
            Source = (Source*)(Flow + MaxFlows);
            long* columns = (long*)((byte*)at + head);
            Latencies = columns;
            Costs = columns + options.Count;
            Lateness = columns + 2 * options.Count;
            if (head_->Magic != Magic || head_->HeadBytes != head || head_->FlowBytes != sizeof(Flow) ||
                head_->SourceBytes != sizeof(Source) || head_->MaxFlows != MaxFlows)
            {
                throw new InvalidOperationException("the result sheet has a different version");
            }
        }

        public readonly Flow* Flow;
        public readonly Source* Source;
        public readonly long* Latencies;
        public readonly long* Costs;
        public readonly long* Lateness;
        public long FirstSendNs { get { return Volatile.Read(ref head_->FirstSendNs); } }

        public bool Reached(int phase) { return Volatile.Read(ref head_->Phase) >= phase; }

        public void WaitFor(int phase)
        {
            for (int seen; (seen = Volatile.Read(ref head_->Phase)) < phase;) Futex(&head_->Phase, 0, seen);
        }

        public void CheckIn()
        {
            Interlocked.Increment(ref head_->Ready);
            TellParent();
        }

        public void TellParent()
        {
            Interlocked.Increment(ref head_->Steps);
            Futex(&head_->Steps, 1, int.MaxValue);
        }

        public static void SleepUntil(long dueNs)
        {
            long* time = stackalloc long[2];
            time[0] = dueNs / 1000000000;
            time[1] = dueNs % 1000000000;
            while (clock_nanosleep(1, 1, time, null) == 4) { }  // EINTR
        }

        /// The default timer slack would add 50 us to every tick of the schedule.
        public static void UsePreciseTimers() { prctl(29, (UIntPtr)1, UIntPtr.Zero, UIntPtr.Zero, UIntPtr.Zero); }

        private static void Futex(int* word, int operation, int value)
        {
            syscall((IntPtr)(IsArm ? 98 : 202), word, (IntPtr)operation, (IntPtr)value, IntPtr.Zero, IntPtr.Zero,
                    IntPtr.Zero);
        }

        private static readonly bool IsArm = System.IO.Directory.Exists("/lib/aarch64-linux-gnu");

        [DllImport("libc")]
        private static extern void* mmap(void* at, UIntPtr length, int protection, int flags, int fd, IntPtr offset);
        [DllImport("libc")]
        private static extern int clock_nanosleep(int clock, int flags, long* request, long* rest);
        [DllImport("libc")]
        private static extern int prctl(int option, UIntPtr a, UIntPtr b, UIntPtr c, UIntPtr d);
        [DllImport("libc")]
        private static extern IntPtr syscall(IntPtr number, int* word, IntPtr operation, IntPtr value, IntPtr timeout,
                                             IntPtr word2, IntPtr value3);
    }
}
