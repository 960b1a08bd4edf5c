using System;
using System.Runtime.InteropServices;
#if UNITY_5_3_OR_NEWER
using AOT;
#endif

namespace Hyphos
{
    /// <summary>The subscription endpoint of a channel. Callbacks run one at a time. After
    /// Dispose() no callback starts. No callback is still running either, unless the callback
    /// itself called Dispose().</summary>
    public abstract unsafe class Subscription : Handle
    {
        // One delegate for all subscriptions. Native code keeps its address, so it must live as
        // long as the program.
        private static readonly MessageCallback callback_ = OnMessage;
        private static readonly IntPtr address_ = Marshal.GetFunctionPointerForDelegate(callback_);

        private readonly Node node_;
        private readonly Delivery delivery_ = new Delivery();
        private GCHandle self_;

        internal Subscription(Node node, string channel)
        {
            node_ = node;
            Channel = channel;
        }

        public string Channel { get; private set; }
        /// <summary>The number of publishers known now, in this process and outside.</summary>
        public int Publishers { get { using (Lease self = Use()) return (int)Native.hyphos_subscription_publishers(self.Value); } }

        /// <summary>A counter as `hyphos channel` shows it, such as "received" or
        /// "drop.queue.overflow".</summary>
        public long Counter(string name)
        {
            using (Lease self = Use())
            fixed (byte* text = Text.Utf8(name))
            {
                ulong value;
                NativeError error;
                HyphosException.Check(Native.hyphos_subscription_counter(self.Value, text, &value, &error), &error);
                return (long)value;
            }
        }

        internal void Open(ChannelType type, Mode mode, Policy policy)
        {
            NativeEndOptions options = new NativeEndOptions();
            options.StructSize = (ulong)sizeof(NativeEndOptions);
            options.First = (int)mode;
            NativePolicy promised = policy == null ? new NativePolicy() : Policy.Native(policy);
            if (policy != null) options.Policy = (IntPtr)(&promised);
            self_ = GCHandle.Alloc(this);
            using (Lease owner = node_.Use())
            fixed (byte* name = Text.Utf8(Channel), typeName = Text.Utf8(type.Name))
            {
                NativeType native = type.Native((IntPtr)typeName);
                IntPtr handle;
                NativeError error;
                int code = Native.hyphos_subscribe(owner.Value, name, &native, &options, address_,
                                                   GCHandle.ToIntPtr(self_), &handle, &error);
                if (code != 0) self_.Free();
                HyphosException.Check(code, &error);
                Own(handle);
            }
        }

        internal abstract void Deliver(MessageView message);

        internal override void Close(IntPtr value)
        {
            Native.hyphos_subscription_close(value);
            self_.Free();
        }

        [MonoPInvokeCallback(typeof(MessageCallback))]
        private static void OnMessage(IntPtr user, NativeMessage* message)
        {
            // No exception may pass into native code.
            Subscription self = null;
            try
            {
                self = (Subscription)GCHandle.FromIntPtr(user).Target;
                Node.EnterCallback();
                try { self.Deliver(self.delivery_.Begin(message)); }
                finally
                {
                    self.delivery_.End();
                    Node.LeaveCallback();
                }
            }
            catch (Exception exception)
            {
                if (self != null) self.node_.Failed(exception);
            }
        }
    }

    internal sealed class RawSubscription : Subscription
    {
        private readonly Action<MessageView> handler_;

        public RawSubscription(Node node, string channel, ChannelType type, Action<MessageView> handler, Mode mode,
                               Policy policy) : base(node, channel)
        {
            if (handler == null) throw new ArgumentNullException("callback");
            handler_ = handler;
            Open(type, mode, policy);
        }

        internal override void Deliver(MessageView message) { handler_(message); }
    }

    internal sealed unsafe class TypedSubscription<T> : Subscription where T : class, IMessage, new()
    {
        private readonly Action<T> alone_;
        private readonly Action<T, MessageView> beside_;
        private readonly T value_ = new T();

        public TypedSubscription(Node node, string channel, ChannelEncoding encoding, Action<T> alone,
                                 Action<T, MessageView> beside, Mode mode, Policy policy) : base(node, channel)
        {
            if (alone == null && beside == null) throw new ArgumentNullException("callback");
            alone_ = alone;
            beside_ = beside;
            Open(Wire.TypeOf<T>(encoding), mode, policy);
        }

        internal override void Deliver(MessageView message)
        {
            ByteView bytes = message.Payload;
            if (!Wire.Read(value_, bytes.Pointer, bytes.Length))
            {
                throw new HyphosException(ErrorCode.Corrupt,
                    "a message does not parse as " + value_.TypeName +
                    ". Check the message definition of the publisher", Channel);
            }
            if (alone_ != null) alone_(value_);
            else beside_(value_, message);
        }
    }
}
