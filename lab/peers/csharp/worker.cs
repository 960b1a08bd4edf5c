// The C# process of a pair. lab/common/roles.hpp is its C++ counterpart, with more explanations.
using System;
using System.Threading;

namespace Hyphos.Lab
{
    internal unsafe struct Header
    {
        public const ushort Measured = 1, Warmup = 2, Bye = 3;
        public long StampNs;
        public uint Sequence;
        public ushort Source;
        public ushort Kind;
    }

    internal sealed unsafe class Worker
    {
        private const long GiveUpNs = 5000000000;
        private const long NoProgressNs = 4000000000;
        private const long UncappedQuietNs = 500000000;
        private const long LongestDrainNs = 20000000000;

        private readonly Options o_;
        private readonly Sheet sheet_;
        private readonly Node node_;
        private readonly Policy policy_ = new Policy();
        private RawPublisher publisher_;
        private long givenUp_;

        private Worker(Options options)
        {
            o_ = options;
            sheet_ = new Sheet(options);
            NodeOptions how = new NodeOptions();
            how.Process = options.Role + "0";
            how.Domain = "lab" + options.RunId;
            node_ = Node.Open(how.Process, how);
            policy_.Depth = options.Size >= 8 << 20 ? 4 : 64;
            if (options.Reliable || options.Uncapped)
            {
                policy_.Reliability = Reliability.Reliable;
                policy_.Depth = options.Size >= 8 << 20 ? 4 : 16;
            }
        }

        private static int Main(string[] words)
        {
            Sheet.UsePreciseTimers();
            Worker worker = new Worker(new Options(words));
            if (worker.o_.Role == "pub") worker.Send();
            else worker.Hear();
            worker.node_.Dispose();
            try { System.IO.Directory.Delete(worker.Folder); }
            catch (System.IO.IOException) { }  // not the last process: not empty yet
            return 0;
        }

        private string Folder { get { return "/dev/shm/hyphos-" + geteuid() + "/lab" + o_.RunId; } }
        private string Channel { get { return "hyphos_lab_" + o_.RunId + "_0"; } }

        private void Hear()
        {
            bool pumps = o_.Variant == "from_node_pump";
            Thread thread = null;
            node_.Subscribe(Channel, ChannelType.Bytes, Heard, pumps ? Mode.Pump : Mode.Inline, policy_);
            if (pumps)
            {
                thread = new Thread(delegate() { while (!sheet_.Reached(Sheet.Stopping)) node_.Pump(-1, 0); });
                thread.Start();
            }
            sheet_.CheckIn();
            sheet_.WaitFor(Sheet.Stopping);
            if (thread != null)
            {
                node_.Wake();
                thread.Join();
            }
        }

        private void Heard(MessageView message)
        {
            long arrived = Node.MonotonicNs;
            ByteView bytes = message.Payload;
            Flow* seen = sheet_.Flow;
            Header* header = (Header*)bytes.Pointer;
            if (bytes.Length != o_.Size || header->Source != 0 || header->Sequence >= o_.Count ||
                header->Kind < Header.Measured || header->Kind > Header.Bye)
            {
                Interlocked.Increment(ref seen->Corrupt);
                return;
            }
            Volatile.Read(ref bytes.Pointer[bytes.Length - 1]);
            if (header->Kind == Header.Warmup)
            {
                if (Interlocked.Increment(ref seen->Warm) == o_.Warmup) sheet_.TellParent();
            }
            else if (header->Kind == Header.Measured)
            {
                long* slot = sheet_.Latencies + header->Sequence;
                if (*slot != 0 && !o_.Uncapped) Interlocked.Increment(ref seen->Duplicates);
                *slot = Math.Max(arrived - header->StampNs, 1);
                Volatile.Write(ref seen->LastReceiveNs, arrived);
                Interlocked.Increment(ref seen->Received);
            }
            Work();
        }

        private void Work()
        {
            if (o_.WorkUs <= 0) return;
            long until = Node.MonotonicNs + (long)(o_.WorkUs * 1e3);
            while (Node.MonotonicNs < until) { }
        }

        private void Send()
        {
            publisher_ = node_.RawPublisher(Channel, ChannelType.Bytes, policy_);
            sheet_.CheckIn();
            sheet_.WaitFor(Sheet.WarmingUp);
            WarmUp();
            Volatile.Write(ref sheet_.Source->Warm, 1);
            sheet_.TellParent();
            sheet_.WaitFor(Sheet.Measuring);
            if (o_.Uncapped) SendBackToBack();
            else SendOnSchedule();
            Drain();
            Volatile.Write(ref sheet_.Source->Done, 1);
            sheet_.TellParent();
            sheet_.WaitFor(Sheet.Stopping);
            for (int i = 0; i < 3; ++i)
            {
                Publish(Header.Bye, 0);
                Sheet.SleepUntil(Node.MonotonicNs + 20000000);
            }
        }

        private long Publish(ushort kind, long sequence)
        {
            long stamp = Node.MonotonicNs;
            Loan loan = publisher_.Loan(o_.Size);
            Header* header = (Header*)loan.Pointer;
            header->StampNs = stamp;
            header->Sequence = (uint)sequence;
            header->Source = 0;
            header->Kind = kind;
            publisher_.Publish(loan);
            return stamp;
        }

        private void WarmUp()
        {
            long period = (long)Math.Max(1e9 / o_.RateHz, 1e7);
            long limit = Node.MonotonicNs + 60000000000 + 2 * o_.Warmup * period;
            for (long tick = Node.MonotonicNs; Volatile.Read(ref sheet_.Flow->Warm) < o_.Warmup; tick += period)
            {
                if (Node.MonotonicNs > limit) throw new TimeoutException("a subscriber did not receive the warm-up");
                Sheet.SleepUntil(tick);
                Publish(Header.Warmup, 0);
            }
            for (long before = -1, seen = Volatile.Read(ref sheet_.Flow->Warm); before != seen;)
            {
                before = seen;
                Sheet.SleepUntil(Node.MonotonicNs + 200000000);
                seen = Volatile.Read(ref sheet_.Flow->Warm);
            }
        }

        private void SendOnSchedule()
        {
            double period = 1e9 / o_.RateHz;
            long begin = sheet_.FirstSendNs;
            Source* own = sheet_.Source;
            for (long i = 0; i < o_.Count; ++i)
            {
                long due = begin + (long)(i * period);
                long now = Node.MonotonicNs;
                if (now < due) Sheet.SleepUntil(due);
                if (now - due > GiveUpNs) return;
                long stamp = Publish(Header.Measured, i);
                sheet_.Costs[i] = Math.Max(Node.MonotonicNs - stamp, 1);
                sheet_.Lateness[i] = stamp - due;
                if (stamp - due > period) Interlocked.Increment(ref own->LateSends);
                Interlocked.Increment(ref own->Sent);
            }
        }

        private void SendBackToBack()
        {
            long end = sheet_.FirstSendNs + (long)(o_.Seconds * 1e9);
            Source* own = sheet_.Source;
            for (long i = 0; Node.MonotonicNs < end; i = (i + 1) % o_.Count)
            {
                AwaitRoom();
                long stamp = Publish(Header.Measured, i);
                sheet_.Costs[i] = Math.Max(Node.MonotonicNs - stamp, 1);
                Interlocked.Increment(ref own->Sent);
            }
        }

        private void AwaitRoom()
        {
            long sent = sheet_.Source->Sent, most = o_.Size >= 8 << 20 ? 4 : 8;
            long seen = Volatile.Read(ref sheet_.Flow->Received), progress = Node.MonotonicNs;
            while (sent - givenUp_ - seen >= most)
            {
                Sheet.SleepUntil(Node.MonotonicNs + 50000);
                long now = Volatile.Read(ref sheet_.Flow->Received);
                if (now != seen) progress = Node.MonotonicNs;
                seen = now;
                if (Node.MonotonicNs - progress > UncappedQuietNs) givenUp_ = sent - seen;
            }
        }

        /// Waits until every message has arrived, until nothing has arrived for a while, or until
        /// the limit.
        private void Drain()
        {
            long seen = Volatile.Read(ref sheet_.Flow->Received);
            long progress = Node.MonotonicNs;
            long limit = progress + LongestDrainNs;
            long quiet = o_.Uncapped ? UncappedQuietNs : NoProgressNs;
            while (seen < sheet_.Source->Sent && Node.MonotonicNs - progress <= quiet &&
                   Node.MonotonicNs < limit)
            {
                Sheet.SleepUntil(Node.MonotonicNs + 5000000);
                long now = Volatile.Read(ref sheet_.Flow->Received);
                if (now != seen) progress = Node.MonotonicNs;
                seen = now;
            }
        }

        [System.Runtime.InteropServices.DllImport("libc")]
        private static extern uint geteuid();
    }
}
