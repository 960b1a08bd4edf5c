using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;

namespace Hyphos
{
    /// <summary>Options for opening a node. Each field may keep its default.</summary>
    public sealed class NodeOptions
    {
        /// <summary>Path of robot.yaml. Without a plan, the node uses shared memory and default
        /// channel policies.</summary>
        public string PlanFile;
        /// <summary>The process of the plan that this program is.</summary>
        public string Process;
        /// <summary>Separates robots on one machine.</summary>
        public string Domain;
        /// <summary>Threads of the pool. 0: from the plan, or one per core.</summary>
        public int Threads;
        /// <summary>True: no transports, everything stays in this process.</summary>
        public bool Offline;
    }

    /// <summary>A named part of the robot in this process, with its publishers, subscriptions and
    /// services.
    ///
    /// Any thread may use it. Callbacks of Mode.Pump run in the thread that calls Pump().
    /// Exceptions of callbacks go to CallbackFailed and end nothing. Dispose() closes all endpoints
    /// of the node and waits for running callbacks. A node is also disposed of when the process
    /// ends and before Unity reloads its scripts.</summary>
    public sealed unsafe partial class Node : Handle
    {
        private static readonly List<WeakReference> open_ = new List<WeakReference>();
        private static bool hooked_;
        [ThreadStatic] private static int callbacks_;

        private readonly object pumping_ = new object();
        private IntPtr pumped_;  // The handle while it may be polled. Written under pumping_.
        private readonly List<WeakReference> ends_ = new List<WeakReference>();

        private Node(string name) { Name = name; }

        public string Name { get; private set; }

        /// <summary>Receives the exceptions of callbacks. Default: a line on stderr, or in Unity's
        /// console.</summary>
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

        /// <summary>Opens a node with the arguments that `hyphos run` passes. Other arguments are
        /// ignored.</summary>
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

        /// <summary>Runs the waiting callbacks, at most `most` of them, and returns their number.
        /// 0: all that arrived before the call. In Unity, call it once per frame. Allocates
        /// nothing.</summary>
        public int Pump(int most = 0) { return Pump(0, most); }

        /// <summary>The same, but blocks for up to timeoutMs milliseconds until a callback waits.
        /// Negative: no limit.</summary>
        public int Pump(long timeoutMs, int most)
        {
            lock (pumping_)
            {
                // Not a use of the handle: Dispose() ends this wait, and waits until this thread
                // has left.
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

        /// <summary>Reports to `hyphos run` that the set-up is complete.</summary>
        public void Ready()
        {
            NativeError error;
            using (Lease self = Use()) HyphosException.Check(Native.hyphos_node_ready(self.Value, &error), &error);
        }

        /// <summary>Nanoseconds since 1970, or simulation time if the plan selects it.</summary>
        public long NowNs { get { using (Lease self = Use()) return Native.hyphos_now(self.Value); } }
        /// <summary>The clock of all stamps, in nanoseconds.</summary>
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

        /// <summary>Announces message types to the tools. `descriptors` is the content of a file of
        /// `protoc --include_imports -o`.</summary>
        public void AnnounceTypes(byte[] descriptors)
        {
            using (Lease self = Use())
            fixed (byte* set = descriptors)
            {
                NativeError error;
                HyphosException.Check(Native.hyphos_announce_types(self.Value, set, (UIntPtr)descriptors.Length, &error), &error);
            }
        }

        public RawPublisher RawPublisher(string channel, ChannelType type, Policy policy = null)
        {
            return Keep(new RawPublisher(this, channel, type, policy));
        }

        /// <summary>Opens a publisher of protobuf messages.</summary>
        public Publisher<T> Publisher<T>(string channel, Policy policy = null) where T : class, IMessage, new()
        {
            return Keep(new Publisher<T>(this, channel, ChannelEncoding.Protobuf, policy));
        }

        /// <summary>Opens a publisher of protobuf heads with attached buffers: images,
        /// clouds.</summary>
        public Publisher<T> AttachedPublisher<T>(string channel, Policy policy = null) where T : class, IMessage, new()
        {
            return Keep(new Publisher<T>(this, channel, ChannelEncoding.Attached, policy));
        }

        public Subscription Subscribe(string channel, ChannelType type, Action<MessageView> callback,
                                      Mode mode = Mode.Pump, Policy policy = null)
        {
            return Keep(new RawSubscription(this, channel, type, callback, mode, policy));
        }

        /// <summary>Subscribes to protobuf messages. All callbacks get the same object, so copy the
        /// data to keep it after the callback.</summary>
        public Subscription Subscribe<T>(string channel, Action<T> callback, Mode mode = Mode.Pump,
                                         Policy policy = null) where T : class, IMessage, new()
        {
            return Keep(new TypedSubscription<T>(this, channel, ChannelEncoding.Protobuf, callback, null, mode, policy));
        }

        /// <summary>Subscribes to protobuf heads with attached buffers. The MessageView gives
        /// access to the buffers without a copy.</summary>
        public Subscription SubscribeAttached<T>(string channel, Action<T, MessageView> callback,
                                                 Mode mode = Mode.Pump, Policy policy = null)
            where T : class, IMessage, new()
        {
            return Keep(new TypedSubscription<T>(this, channel, ChannelEncoding.Attached, null, callback, mode, policy));
        }

        /// <summary>Serves requests. The callback may reply at once or later, see
        /// Request.</summary>
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
                throw new InvalidOperationException(
                    "a node must not be disposed of in a callback. Dispose of it after Pump()");
            }
        }

        internal override void Close(IntPtr value)
        {
            // Waits until the polling thread has left. It wakes that thread repeatedly, because the
            // thread may be about to wait.
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
                else Console.Error.WriteLine("hyphos: node '" + Name + "': a callback threw an exception: " + exception);
#endif
            }
            catch (Exception)
            {
                // An exception must not pass through native code, and there is no other handler.
            }
        }

        private static byte[] Optional(string text)
        {
            // `fixed` gives a null pointer for an empty array.
            return string.IsNullOrEmpty(text) ? new byte[0] : Text.Utf8(text);
        }

        private static void CheckLibrary()
        {
            int abi = Native.hyphos_abi();
            if (abi != Native.Abi)
            {
                throw new HyphosException(ErrorCode.Unsupported,
                    "libhyphos_c has ABI " + abi + ", but this package needs ABI " + Native.Abi,
                    "libhyphos_c", "use both from the same version of Hyphos");
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
                // Native threads must not call into unloaded scripts.
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
                    // A callback is ending the program, so this thread cannot wait for it. Peers
                    // detect the end of this process.
                }
            }
        }
    }

    public enum LogLevel { Debug = 0, Info = 1, Warn = 2, Error = 3, Fatal = 4 }
}
