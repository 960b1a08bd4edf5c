// The program that tests/python/gateway/csharp_test.py runs in mono: `csharp_test.exe COMMAND [DOMAIN]`.
using System;
using System.Collections.Generic;
using System.Reflection;
using Hyphos;
using Hyphos.Msgs;

internal static class Program
{
    private static int Main(string[] words)
    {
        switch (words[0])
        {
            case "checks": return Checks.Run(words[1]);
            case "convert": return Conversions.Run();
            case "damage": return Conversions.Damage();
            case "robot": return Robot.Run(words[1]);
            case "leave": return Robot.Leave(words[1]);
            case "reload": return Robot.Reload(words[1]);
            case "loaded": return Robot.Loaded(words[1]);
        }
        return 2;
    }
}

/// A robot for the Python test. It inverts images and serves a service. A message on `end` ends it.
internal static unsafe class Robot
{
    public static int Run(string domain)
    {
        Node node = Checks.Open("robot", domain);
        Publisher<Image> inverted = node.AttachedPublisher<Image>("inverted");
        bool ended = false;
        node.SubscribeAttached<Image>("image", delegate(Image image, MessageView message)
        {
            ByteView pixels = message.Buffer(0);
            Loan loan = inverted.Loan(pixels.Length);
            for (long i = 0; i < pixels.Length; ++i) loan.Pointer[i] = (byte)(255 - pixels[i]);
            inverted.Publish(image, loan);
        });
        node.Subscribe<Hyphos.Msgs.String>("end", delegate { ended = true; });
        node.Serve<Vector3, Float64>("length", delegate(Vector3 v)
        {
            if (v.X < 0) throw new HyphosException(ErrorCode.OutOfRange, "x is negative, but must be 0 or more");
            Float64 answer = new Float64();
            answer.Data = Math.Sqrt(v.X * v.X + v.Y * v.Y + v.Z * v.Z);
            return answer;
        });
        Client<Vector3, Float64> sum = node.Client<Vector3, Float64>("sum");
        Publisher<Hyphos.Msgs.String> said = node.Publisher<Hyphos.Msgs.String>("said");
        node.Subscribe<Vector3>("ask", delegate(Vector3 question)
        {
            sum.CallAsync(question, delegate(Float64 answer, HyphosException error)
            {
                Hyphos.Msgs.String text = new Hyphos.Msgs.String();
                text.Data = error == null ? "sum is " + answer.Data : error.Code + ": " + error.What;
                said.Publish(text);
            });
        });
        node.Ready();
        Console.WriteLine("ready");
        while (!ended) node.Pump(-1, 0);
        node.Dispose();
        return 0;
    }

    /// Exits while callbacks run, without disposing of anything.
    public static int Leave(string domain)
    {
        Node node = Checks.Open("leaver", domain);
        RawPublisher publisher = node.RawPublisher("c", ChannelType.Bytes);
        int heard = 0;
        node.Subscribe("c", ChannelType.Bytes, delegate { System.Threading.Interlocked.Increment(ref heard); }, Mode.Thread);
        System.Threading.Thread sender = new System.Threading.Thread(delegate()
        {
            byte[] data = new byte[100];
            try { while (true) publisher.Publish(data); }
            catch (HyphosException) { }
            catch (ObjectDisposedException) { }
        });
        sender.IsBackground = true;
        sender.Start();
        while (System.Threading.Volatile.Read(ref heard) < 1000) System.Threading.Thread.Yield();
        Console.WriteLine("leaving");
        return 0;
    }

    /// Loads and reloads scripts as Unity does: in an AppDomain of their own, which is unloaded
    /// while messages arrive.
    public static int Reload(string domain)
    {
        Node node = Checks.Open("stays", domain);
        RawPublisher publisher = node.RawPublisher("c", ChannelType.Bytes);
        bool ended = false;
        System.Threading.Thread sender = new System.Threading.Thread(delegate()
        {
            byte[] data = new byte[100];
            while (!System.Threading.Volatile.Read(ref ended)) publisher.Publish(data);
        });
        sender.IsBackground = true;
        sender.Start();
        string self = Assembly.GetExecutingAssembly().Location;
        for (int round = 0; round < 5; ++round)
        {
            AppDomain scripts = AppDomain.CreateDomain("scripts " + round);
            int heard = scripts.ExecuteAssembly(self, new string[] { "loaded", domain });
            if (publisher.Listeners != 1) return 4;
            AppDomain.Unload(scripts);
            // A thread of Hyphos notices the unload, and may be delayed.
            long limit = Node.MonotonicNs + 60000000000;
            while (publisher.Listeners != 0 && Node.MonotonicNs < limit) System.Threading.Thread.Yield();
            if (heard < 100 || publisher.Listeners != 0) return 3;
        }
        System.Threading.Volatile.Write(ref ended, true);
        sender.Join();
        node.Dispose();
        Console.WriteLine("reloaded");
        return 0;
    }

    /// The scripts: callbacks in all three modes, and nothing is disposed of.
    public static int Loaded(string domain)
    {
        Node node = Checks.Open("scripts", domain);
        int heard = 0;
        Action<MessageView> hear = delegate { System.Threading.Interlocked.Increment(ref heard); };
        node.Subscribe("c", ChannelType.Bytes, hear, Mode.Pump);
        node.Subscribe("c", ChannelType.Bytes, hear, Mode.Thread);
        node.Subscribe("c", ChannelType.Bytes, hear, Mode.Inline);
        while (System.Threading.Volatile.Read(ref heard) < 1000) node.Pump(1, 0);
        return 100;
    }
}
