using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;

namespace Hyphos
{
    /// <summary>How a node is opened; all of it may be left out.</summary>
    public sealed class NodeOptions
    {
        /// <summary>robot.yaml. Without one: shared memory, and defaults for channels.</summary>
        public string PlanFile;
        /// <summary>Which process of the plan this is.</summary>
        public string Process;
        /// <summary>Separates robots on one machine.</summary>
        public string Domain;
        /// <summary>Threads of the pool; 0: one for each core.</summary>
        public int Threads;
        /// <summary>Everything stays in this process.</summary>
        public bool Offline;
    }

    /// <summary>A named part of the robot in this process: its publishers, subscriptions and services.
    ///
    /// Any thread may use it. Callbacks of Mode.Pump run in the thread that calls Pump(). What they throw
    /// goes to CallbackFailed and ends nothing. Dispose() ends all that was made from it, and waits for
    /// callbacks that are running; it is done by itself when the process ends and when Unity loads its
    /// scripts anew.</summary>
    public sealed unsafe partial class Node : Handle
    {
        private static readonly List<WeakReference> open_ = new List<WeakReference>();
        private static bool hooked_;
        [ThreadStatic] private static int callbacks_;

        private readonly object pumping_ = new object();
        private IntPtr pumped_;  // the handle as long as it may be polled; written under pumping_
        private readonly List<WeakReference> ends_ = new List<WeakReference>();

        private Node(string name) { Name = name; }

        public string Name { get; private set; }

        /// <summary>What a callback threw. Default: a line on stderr, or in Unity's console.</summary>
        public event Action<Exception> CallbackFailed;

        public static Node Open(string name, NodeOptions options = null)
        {
            CheckLibrary();
            Node node = new Node(name);
            if (options == null) options = new NodeOptions();
            NativeNodeOptions native = new NativeNodeOptions();
            native.StructSize = (ulong)sizeof(NativeNodeOptions);
            native.Threads = options.Threads;
            native.Offline = options.Offline ? 1 : 0;
            fixed (byte* text = Text.Utf8(name), plan = Optional(options.PlanFile),
                   process = Optional(options.Process), domain = Optional(options.Domain))
            {
                native.PlanFile = (IntPtr)plan;
                native.Process = (IntPtr)process;
                native.Domain = (IntPtr)domain;
                NativeError error;
                IntPtr handle;
                HyphosException.Check(Native.hyphos_node_open(text, &native, &handle, &error), &error);
                node.Begin(handle);
            }
            Register(node);
            return node;
        }

        /// <summary>From the arguments that `hyphos run` passes; others are left alone.</summary>
        public static Node Open(string name, string[] arguments)
        {
            CheckLibrary();
            Node node = new Node(name);
            GCHandle[] pins = new GCHandle[arguments.Length + 1];
            IntPtr[] words = new IntPtr[pins.Length];
            try
            {
                for (int i = 0; i < pins.Length; ++i)
                {
                    pins[i] = GCHandle.Alloc(Text.Utf8(i == 0 ? name : arguments[i - 1]), GCHandleType.Pinned);
                    words[i] = pins[i].AddrOfPinnedObject();
                }
                fixed (byte* text = Text.Utf8(name))
                fixed (IntPtr* argv = words)
                {
                    NativeError error;
                    IntPtr handle;
                    HyphosException.Check(
                        Native.hyphos_node_open_args(text, words.Length, argv, &handle, &error), &error);
                    node.Begin(handle);
                }
            }
            finally
            {
                foreach (GCHandle pin in pins) if (pin.IsAllocated) pin.Free();
            }
            Register(node);
            return node;
        }

        /// <summary>Runs the callbacks that wait, at most `most` of them (0: all that had come), and says
        /// how many it ran. Once in every frame of Unity. Allocates nothing.</summary>
        public int Pump(int most = 0) { return Pump(0, most); }

        /// <summary>The same; if nothing waits, waits for it for so long. Negative: without end.</summary>
        public int Pump(long timeoutMs, int most)
        {
            lock (pumping_)
            {
                // Not a use of the handle: who disposes of the node ends this wait, and waits for it.
                IntPtr node = pumped_;
                if (node == IntPtr.Zero) return 0;
                uint ran;
                NativeError error;
                long timeoutNs = timeoutMs < 0 ? -1 : checked(timeoutMs * 1000000);
                HyphosException.Check(Native.hyphos_poll(node, timeoutNs, (uint)most, &ran, &error), &error);
                return (int)ran;
            }
        }

        /// <summary>Ends the wait of a Pump() in another thread.</summary>
        public void Wake() { using (Lease self = Use()) Native.hyphos_wake(self.Value); }

        /// <summary>Tells `hyphos run` that all is set up.</summary>
        public void Ready()
        {
            NativeError error;
            using (Lease self = Use()) HyphosException.Check(Native.hyphos_node_ready(self.Value, &error), &error);
        }

        /// <summary>Nanoseconds since 1970, or of the simulation if the plan says so.</summary>
        public long NowNs { get { using (Lease self = Use()) return Native.hyphos_now(self.Value); } }
        /// <summary>The clock of all stamps.</summary>
        public static long MonotonicNs { get { return Native.hyphos_monotonic_now(); } }

        public void Log(LogLevel level, string text)
        {
            using (Lease self = Use())
            fixed (byte* line = Text.Utf8(text))
            {
                NativeError error;
                HyphosException.Check(Native.hyphos_log(self.Value, (int)level, line, &error), &error);
            }
        }

        public RawPublisher RawPublisher(string channel, ChannelType type, Policy policy = null)
        {
            return Keep(new RawPublisher(this, channel, type, policy));
        }

        /// <summary>Of protobuf messages.</summary>
        public Publisher<T> Publisher<T>(string channel, Policy policy = null) where T : class, IMessage, new()
        {
            return Keep(new Publisher<T>(this, channel, ChannelEncoding.Protobuf, policy));
        }

        /// <summary>Of protobuf heads with buffers beside them: images, clouds.</summary>
        public Publisher<T> AttachedPublisher<T>(string channel, Policy policy = null) where T : class, IMessage, new()
        {
            return Keep(new Publisher<T>(this, channel, ChannelEncoding.Attached, policy));
        }

        public Subscription Subscribe(string channel, ChannelType type, Action<MessageView> callback,
                                      Mode mode = Mode.Pump, Policy policy = null)
        {
            return Keep(new RawSubscription(this, channel, type, callback, mode, policy));
        }

        /// <summary>Protobuf messages. The object is one for all messages: what is to be kept beyond the
        /// callback has to be copied.</summary>
        public Subscription Subscribe<T>(string channel, Action<T> callback, Mode mode = Mode.Pump,
                                         Policy policy = null) where T : class, IMessage, new()
        {
            return Keep(new TypedSubscription<T>(this, channel, ChannelEncoding.Protobuf, callback, null, mode, policy));
        }

        /// <summary>Protobuf heads, with their buffers in the MessageView, where they lie.</summary>
        public Subscription SubscribeAttached<T>(string channel, Action<T, MessageView> callback,
                                                 Mode mode = Mode.Pump, Policy policy = null)
            where T : class, IMessage, new()
        {
            return Keep(new TypedSubscription<T>(this, channel, ChannelEncoding.Attached, null, callback, mode, policy));
        }

        /// <summary>Answers questions, now or later: see Request.</summary>
        public Service Serve(string name, ChannelType request, ChannelType reply, Action<Request> callback,
                             Mode mode = Mode.Pump)
        {
            return Keep(new Service(this, name, request, reply, callback, mode));
        }

        public Service Serve<TRequest, TReply>(string name, Func<TRequest, TReply> answer, Mode mode = Mode.Pump)
            where TRequest : class, IMessage, new()
            where TReply : class, IMessage, new()
        {
            return Keep(Service.Typed(this, name, answer, mode));
        }

        public RawClient RawClient(string name, ChannelType request, ChannelType reply)
        {
            return Keep(new RawClient(this, name, request, reply));
        }

        public Client<TRequest, TReply> Client<TRequest, TReply>(string name)
            where TRequest : class, IMessage, new()
            where TReply : class, IMessage, new()
        {
            return Keep(new Client<TRequest, TReply>(this, name));
        }

        private void Begin(IntPtr handle)
        {
            pumped_ = handle;
            Own(handle);
        }

        internal override void BeforeDispose()
        {
            if (callbacks_ > 0)
            {
                throw new InvalidOperationException("a node cannot be disposed of in a callback; do it after Pump()");
            }
        }

        internal override void Close(IntPtr value)
        {
            // Until the thread that pumps has left: it may be about to wait.
            while (!Monitor.TryEnter(pumping_, 1)) Native.hyphos_wake(value);
            pumped_ = IntPtr.Zero;
            Monitor.Exit(pumping_);
            Native.hyphos_node_close(value);
            lock (ends_)
            {
                foreach (WeakReference weak in ends_)
                {
                    Handle end = weak.Target as Handle;
                    if (end != null) end.Dispose();
                }
                ends_.Clear();
            }
        }

        internal T Keep<T>(T end) where T : Handle
        {
            lock (ends_)
            {
                ends_.RemoveAll(Ended);
                ends_.Add(new WeakReference(end));
            }
            return end;
        }

        private static bool Ended(WeakReference weak)
        {
            Handle end = weak.Target as Handle;
            return end == null || end.IsDisposed;
        }

        internal static void EnterCallback() { ++callbacks_; }
        internal static void LeaveCallback() { --callbacks_; }

        internal void Failed(Exception exception)
        {
            try
            {
                Action<Exception> told = CallbackFailed;
                if (told != null) told(exception);
#if UNITY_5_3_OR_NEWER
                else UnityEngine.Debug.LogException(exception);
#else
                else Console.Error.WriteLine("hyphos: node '" + Name + "': a callback threw: " + exception);
#endif
            }
            catch (Exception)
            {
                // It must not leave through native code, and there is nobody else to tell.
            }
        }

        private static byte[] Optional(string text)
        {
            // `fixed` makes null of an empty array.
            return string.IsNullOrEmpty(text) ? new byte[0] : Text.Utf8(text);
        }

        private static void CheckLibrary()
        {
            int abi = Native.hyphos_abi();
            if (abi != Native.Abi)
            {
                throw new HyphosException(ErrorCode.Unsupported,
                    "libhyphos_c has ABI " + abi + ", and this package is for " + Native.Abi,
                    "libhyphos_c", "take both from one version of Hyphos");
            }
        }

        private static void Register(Node node)
        {
            lock (open_)
            {
                open_.RemoveAll(Ended);
                open_.Add(new WeakReference(node));
                if (hooked_) return;
                hooked_ = true;
                // Native threads must not call into scripts that are gone.
                AppDomain.CurrentDomain.DomainUnload += CloseAll;
                AppDomain.CurrentDomain.ProcessExit += CloseAll;
            }
        }

        private static void CloseAll(object sender, EventArgs arguments)
        {
            WeakReference[] all;
            lock (open_)
            {
                all = open_.ToArray();
                open_.Clear();
            }
            foreach (WeakReference weak in all)
            {
                Node node = weak.Target as Node;
                try { if (node != null) node.Dispose(); }
                catch (InvalidOperationException)
                {
                    // A callback has ended the program: it cannot be waited for, and the others notice that we
                    // are gone.
                }
            }
        }
    }

    public enum LogLevel { Debug = 0, Info = 1, Warn = 2, Error = 3, Fatal = 4 }
}
