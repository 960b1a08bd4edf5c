using System;
using System.Collections.Generic;
using System.Reflection;
using System.Threading;
using Hyphos;
using Hyphos.Msgs;

/// Each check is a function of this class. Run() calls all of them and prints each result.
internal static unsafe class Checks
{
    private const int Many = 10000;
    private static string domain_;
    private static byte[] kept_;

    public static Node Open(string name, string domain)
    {
        NodeOptions options = new NodeOptions();
        options.Domain = domain;
        options.Process = name;
        return Node.Open(name, options);
    }

    public static int Run(string domain)
    {
        int failed = 0, number = 0;
        foreach (MethodInfo check in typeof(Checks).GetMethods(BindingFlags.Static | BindingFlags.NonPublic))
        {
            if (!check.Name.Contains("_") || check.GetParameters().Length > 0) continue;
            domain_ = domain + "-" + number++;
            try
            {
                check.Invoke(null, null);
                Console.WriteLine("ok " + check.Name);
            }
            catch (TargetInvocationException wrapped)
            {
                ++failed;
                Console.WriteLine("FAILED " + check.Name + ": " + wrapped.InnerException);
            }
        }
        return failed == 0 ? 0 : 1;
    }

    private static void Expect(bool good, string what)
    {
        if (!good) throw new Exception("failed: " + what);
    }

    private static T Throws<T>(Action action) where T : Exception
    {
        try { action(); }
        catch (T expected) { return expected; }
        throw new Exception("did not throw " + typeof(T).Name);
    }

    private static void Until(Func<bool> ready)
    {
        long limit = Node.MonotonicNs + 60000000000;
        while (!ready())
        {
            if (Node.MonotonicNs > limit) throw new TimeoutException();
            Thread.Yield();
        }
    }

    /// Two nodes, each with its own participant. Their messages go through shared memory.
    private sealed class Pair : IDisposable
    {
        public readonly Node From = Open("from", domain_);
        public readonly Node To = Open("to", domain_);
        public void Dispose()
        {
            From.Dispose();
            To.Dispose();
        }
    }

    /// The bytes that this thread allocates during `work`.
    private static long Allocated(Action work)
    {
        long sure = GC.GetAllocatedBytesForCurrentThread();
        kept_ = new byte[1000];
        Expect(GC.GetAllocatedBytesForCurrentThread() - sure >= 1000, "the counter sees an allocation");
        long before = GC.GetAllocatedBytesForCurrentThread();
        work();
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    private static void A_message_through_a_loan_allocates_nothing()
    {
        using (Pair pair = new Pair())
        {
            RawPublisher publisher = pair.From.RawPublisher("c", ChannelType.Bytes);
            long sum = 0;
            int heard = 0;
            pair.To.Subscribe("c", ChannelType.Bytes, delegate(MessageView message)
            {
                ByteView bytes = message.Payload;
                sum += bytes[bytes.Length - 1];
                ++heard;
            });
            Until(delegate { return publisher.Listeners == 1; });
            Action<int> exchange = delegate(int count)
            {
                for (int i = 0; i < count; ++i)
                {
                    Loan loan = publisher.Loan(100000);
                    loan.Pointer[loan.Length - 1] = 1;
                    publisher.Publish(loan);
                    int before = heard;
                    while (heard == before) pair.To.Pump(1000, 0);
                }
            };
            exchange(100);  // The first run compiles the code.
            int collections = GC.CollectionCount(0);
            long allocated = Allocated(delegate { exchange(Many); });
            Expect(sum == Many + 100 && kept_ != null, "every message was read");
            Expect(allocated == 0, "no allocation, but " + allocated + " bytes in " + Many + " messages");
            Expect(GC.CollectionCount(0) == collections, "the collector did not run");
            Console.WriteLine("   " + allocated + " bytes in " + Many + " messages");
        }
    }

    private static void A_protobuf_message_with_nested_parts_allocates_nothing()
    {
        using (Pair pair = new Pair())
        {
            Publisher<LaserScan> publisher = pair.From.Publisher<LaserScan>("scan");
            int heard = 0;
            float last = 0;
            pair.To.Subscribe<LaserScan>("scan", delegate(LaserScan scan)
            {
                ++heard;
                last = scan.Ranges[scan.Ranges.Count - 1];
                Expect(scan.Header.FrameId == "laser", "the text arrived");
            });
            Until(delegate { return publisher.Listeners == 1; });
            LaserScan sent = new LaserScan();
            sent.Header.FrameId = "laser";
            sent.Ranges.Resize(720);
            Action<int> exchange = delegate(int count)
            {
                for (int i = 0; i < count; ++i)
                {
                    sent.Header.StampNs = i;
                    sent.Ranges[719] = i;
                    publisher.Publish(sent);
                    int before = heard;
                    while (heard == before) pair.To.Pump(1000, 0);
                    Expect(last == i, "the values arrived");
                }
            };
            exchange(100);
            long allocated = Allocated(delegate { exchange(Many); });
            Expect(allocated == 0, "no allocation, but " + allocated + " bytes in " + Many + " messages");
            Console.WriteLine("   " + allocated + " bytes in " + Many + " messages");
        }
    }

    private static void A_callback_runs_in_the_pumping_thread()
    {
        using (Node node = Open("one", domain_))
        {
            RawPublisher publisher = node.RawPublisher("c", ChannelType.Bytes);
            int pumped = 0, threaded = 0;
            node.Subscribe("c", ChannelType.Bytes, delegate { pumped = Thread.CurrentThread.ManagedThreadId; });
            node.Subscribe("c", ChannelType.Bytes, delegate { threaded = Thread.CurrentThread.ManagedThreadId; }, Mode.Thread);
            publisher.Publish(new byte[] { 1, 2, 3 });
            Until(delegate { return Volatile.Read(ref threaded) != 0; });
            Expect(pumped == 0, "nothing runs before Pump()");
            Expect(node.Pump() == 1, "one callback ran");
            Expect(pumped == Thread.CurrentThread.ManagedThreadId && threaded != pumped, "each callback runs in its thread");
            Expect(node.Pump() == 0, "no callback waits");
        }
    }

    private static void An_exception_of_a_callback_is_reported()
    {
        using (Node node = Open("one", domain_))
        {
            List<string> told = new List<string>();
            node.CallbackFailed += delegate(Exception exception) { told.Add(exception.Message); };
            RawPublisher publisher = node.RawPublisher("c", ChannelType.Bytes);
            int heard = 0;
            node.Subscribe("c", ChannelType.Bytes, delegate
            {
                if (++heard == 1) throw new Exception("the first one");
            });
            publisher.Publish(new byte[1]);
            publisher.Publish(new byte[1]);
            node.Pump();
            Expect(heard == 2 && told.Count == 1 && told[0] == "the first one", "both messages arrived, and one exception was reported");
        }
    }

    private static void Announced_types_are_checked()
    {
        using (Node node = Open("types", domain_))
        {
            // A file that has only the name "mine.proto".
            byte[] name = System.Text.Encoding.UTF8.GetBytes("mine.proto");
            List<byte> set = new List<byte> { 0x0a, 12, 0x0a, 10 };
            set.AddRange(name);
            node.AnnounceTypes(set.ToArray());
            node.AnnounceTypes(new byte[0]);
            HyphosException error = Throws<HyphosException>(delegate { node.AnnounceTypes(new byte[] { 0xff, 0xff }); });
            Expect(error.Code == ErrorCode.Corrupt, "damaged bytes are refused");
        }
    }

    private static void A_late_subscriber_gets_the_latched_messages()
    {
        using (Node node = Open("one", domain_))
        {
            Policy policy = new Policy();
            policy.Latched = true;
            policy.LatchedDepth = 2;
            policy.LifespanMs = 60000;
            RawPublisher publisher = node.RawPublisher("c", ChannelType.Bytes, policy);
            for (byte i = 1; i <= 3; ++i) publisher.Publish(new byte[] { i });
            List<int> got = new List<int>();
            node.Subscribe("c", ChannelType.Bytes, delegate(MessageView message) { got.Add(message.Payload[0]); });
            Until(delegate { node.Pump(); return got.Count == 2; });
            Expect(got[0] == 2 && got[1] == 3, "the last two messages, the oldest first");
        }
    }

    private static void A_stale_view_throws_and_a_held_message_stays_valid()
    {
        using (Node node = Open("one", domain_))
        {
            RawPublisher publisher = node.RawPublisher("c", ChannelType.Bytes);
            MessageView stale = new MessageView();
            HeldMessage held = null;
            node.Subscribe("c", ChannelType.Bytes, delegate(MessageView message)
            {
                stale = message;
                if (held == null) held = message.Hold();
            });
            publisher.Publish(new byte[] { 7 });
            node.Pump();
            Throws<ObjectDisposedException>(delegate { stale.Payload.ToString(); });
            publisher.Publish(new byte[] { 8 });
            node.Pump();
            Throws<ObjectDisposedException>(delegate { stale.Payload.ToString(); });
            node.Dispose();
            Expect(held.View.Payload[0] == 7, "the held message is the first");
            held.Dispose();
            Throws<ObjectDisposedException>(delegate { held.View.Payload.ToString(); });
        }
    }

    private static void A_loan_ends_once()
    {
        using (Node node = Open("one", domain_))
        {
            RawPublisher publisher = node.RawPublisher("c", ChannelType.Bytes);
            RawPublisher other = node.RawPublisher("c", ChannelType.Bytes);
            Loan loan = publisher.Loan(10);
            Loan copy = loan;
            Throws<InvalidOperationException>(delegate { other.Publish(loan); });
            publisher.Publish(loan);
            Throws<InvalidOperationException>(delegate { publisher.Publish(copy); });
            Throws<ObjectDisposedException>(delegate { copy.Pointer[0] = 1; });
            copy.Dispose();
            // More loans than initial slots. None is disposed of.
            for (int i = 0; i < 20; ++i) publisher.Loan(10);
            Expect(publisher.Counter("sent") == 1, "one was sent");
        }
    }

    private static void Arrays_are_published_and_received_whole()
    {
        using (Node node = Open("one", domain_))
        {
            RawPublisher publisher = node.RawPublisher("c", ChannelType.Bytes);
            float[] got = new float[3];
            node.Subscribe("c", ChannelType.Bytes, delegate(MessageView message) { message.Payload.CopyTo(got); });
            publisher.Publish((Array)new float[] { 1, 2, 3 });
            node.Pump();
            Expect(got[0] == 1 && got[1] == 2 && got[2] == 3, "the numbers are the published ones");
            Throws<ArgumentOutOfRangeException>(delegate { publisher.Publish(new byte[3], 2, 2); });
        }
    }

    private static void A_struct_must_have_the_size_of_its_type()
    {
        using (Node node = Open("one", domain_))
        {
            RawPublisher publisher = node.RawPublisher("n", ChannelType.Structure("test.Number", 8));
            long value = 5, got = 0;
            node.Subscribe("n", ChannelType.Structure("test.Number", 8), delegate(MessageView message)
            {
                got = *(long*)message.Payload.Pointer;
            });
            publisher.Publish((IntPtr)(&value), 8);
            node.Pump();
            Expect(got == 5, "the message arrived");
            HyphosException error = Throws<HyphosException>(delegate { publisher.Publish(new byte[3]); });
            Expect(error.Code == ErrorCode.InvalidConfig && error.What.Contains("8 bytes, not 3"), error.Message);
            error = Throws<HyphosException>(delegate { node.RawPublisher("n", ChannelType.Bytes); });
            Expect(error.Code == ErrorCode.TypeMismatch && error.Advice.Length > 0, error.Message);
        }
    }

    private static void A_service_replies_or_refuses_later()
    {
        using (Node node = Open("one", domain_))
        {
            List<Request> kept = new List<Request>();
            node.Serve("later", ChannelType.Bytes, ChannelType.Bytes, kept.Add);
            RawClient client = node.RawClient("later", ChannelType.Bytes, ChannelType.Bytes);
            List<string> ends = new List<string>();
            for (int i = 0; i < 3; ++i)
            {
                client.CallAsync(new byte[] { 1 }, delegate(MessageView reply, HyphosException error)
                {
                    ends.Add(error == null ? "reply " + reply.Payload[0] : error.Code.ToString());
                });
            }
            while (kept.Count < 3) node.Pump(1000, 0);
            kept[0].Reply(new byte[] { 42 });
            Throws<InvalidOperationException>(delegate { kept[0].Reply(new byte[1]); });
            kept[1].Refuse(ErrorCode.Permission, "not you");
            kept[2].Dispose();
            while (ends.Count < 3) node.Pump(1000, 0);
            Expect(ends.Contains("reply 42") && ends.Contains("Permission"), string.Join(", ", ends.ToArray()));
            Throws<HyphosException>(delegate
            {
                node.RawClient("nobody", ChannelType.Bytes, ChannelType.Bytes).Call(new byte[1], 1);
            });
        }
    }

    /// The library frees a request with its reply.
    private static void A_reply_waits_for_other_uses_of_its_request()
    {
        using (Node node = Open("one", domain_))
        {
            List<Request> kept = new List<Request>();
            node.Serve("later", ChannelType.Bytes, ChannelType.Bytes, kept.Add);
            RawClient client = node.RawClient("later", ChannelType.Bytes, ChannelType.Bytes);
            int ends = 0;
            Action<MessageView, HyphosException> end = delegate { ++ends; };
            client.CallAsync(new byte[] { 1 }, end);
            client.CallAsync(new byte[] { 1 }, end);
            while (kept.Count < 2) node.Pump(1000, 0);
            Action<Request>[] answers = {
                delegate(Request request) { request.Reply(new byte[] { 42 }); },
                delegate(Request request) { request.Refuse(ErrorCode.Permission, "not you"); },
            };
            for (int i = 0; i < 2; ++i)
            {
                Request request = kept[i];
                Action<Request> answer = answers[i];
                Lease look = request.Use();  // as in Canceled
                Thread answering = new Thread(delegate() { answer(request); });
                answering.Start();
                Until(delegate { return (answering.ThreadState & (ThreadState.WaitSleepJoin | ThreadState.Stopped)) != 0 && request.IsDisposed; });
                Expect(answering.IsAlive, "the reply waits");
                Throws<InvalidOperationException>(delegate { request.Reply(new byte[1]); });
                Throws<ObjectDisposedException>(delegate { request.Canceled.ToString(); });
                look.Dispose();
                while (ends == i) node.Pump(1000, 0);
                Expect(answering.Join(20000), "the reply was sent");
            }
        }
    }

    private static void Closing_a_node_ends_its_endpoints_and_calls_in_flight()
    {
        Node node = Open("one", domain_);
        Subscription subscription = node.Subscribe("c", ChannelType.Bytes, delegate { });
        RawPublisher publisher = node.RawPublisher("c", ChannelType.Bytes);
        int answers = 0;
        node.RawClient("nobody", ChannelType.Bytes, ChannelType.Bytes).CallAsync(
            new byte[1], delegate(MessageView reply, HyphosException error) { if (error != null) ++answers; });
        node.Dispose();
        node.Dispose();
        Expect(answers == 1, "the call ended with an error");
        Expect(subscription.IsDisposed && publisher.IsDisposed, "the endpoints are disposed of");
        Throws<ObjectDisposedException>(delegate { publisher.Publish(new byte[1]); });
        Expect(node.Pump() == 0, "Pump() after Dispose() does nothing");
    }

    private static void Closing_a_node_wakes_a_pumping_thread()
    {
        Node node = Open("one", domain_);
        Thread pump = new Thread(delegate() { while (!node.IsDisposed) node.Pump(-1, 0); });
        pump.Start();
        Thread.Yield();
        node.Dispose();
        Expect(pump.Join(20000), "the thread ended");
    }

    private static void A_node_cannot_be_closed_in_a_callback()
    {
        using (Node node = Open("one", domain_))
        {
            RawPublisher publisher = node.RawPublisher("c", ChannelType.Bytes);
            Exception told = null;
            node.CallbackFailed += delegate(Exception exception) { told = exception; };
            node.Subscribe("c", ChannelType.Bytes, delegate { node.Dispose(); });
            publisher.Publish(new byte[1]);
            node.Pump();
            Expect(told is InvalidOperationException && !node.IsDisposed, "the exception is reported and the node stays open");
        }
    }

    private static void Parameters_are_declared_read_and_set()
    {
        using (Node node = Open("one", domain_))
        {
            ParameterOptions options = new ParameterOptions();
            options.Most = 2;
            options.Unit = "m/s";
            node.DeclareParameter("speed", 0.5, options);
            node.DeclareParameter("frame", "odom");
            node.DeclareParameter("on", true);
            node.DeclareParameter("count", 3L);
            ulong version = node.ParametersVersion;
            node.SetParameter("speed", 1.5);
            Expect(node.RealParameter("speed") == 1.5 && node.ParametersVersion > version, "the parameter was set");
            Expect(node.TextParameter("frame") == "odom" && node.BoolParameter("on") && node.IntParameter("count") == 3, "all parameters exist");
            Throws<HyphosException>(delegate { node.SetParameter("speed", 2.5); });
            Expect(Throws<HyphosException>(delegate { node.IntParameter("speed"); }).Code == ErrorCode.TypeMismatch, "the type is checked");
        }
    }
}
