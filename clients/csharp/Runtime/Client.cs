using System;
using System.Runtime.InteropServices;
#if UNITY_5_3_OR_NEWER
using AOT;
#endif

namespace Hyphos
{
    /// <summary>The client endpoint of a service. The server need not exist yet.</summary>
    public unsafe class RawClient : Handle
    {
        private static readonly ReplyCallback callback_ = OnReply;
        private static readonly IntPtr address_ = Marshal.GetFunctionPointerForDelegate(callback_);

        private readonly Node node_;

        internal RawClient(Node node, string name, ChannelType request, ChannelType reply)
        {
            node_ = node;
            Name = name;
            using (Lease owner = node.Use())
            fixed (byte* text = Text.Utf8(name), first = Text.Utf8(request.Name), second = Text.Utf8(reply.Name))
            {
                NativeType question = request.Native((IntPtr)first);
                NativeType answer = reply.Native((IntPtr)second);
                IntPtr handle;
                NativeError error;
                HyphosException.Check(
                    Native.hyphos_client_open(owner.Value, text, &question, &answer, null, &handle, &error), &error);
                Own(handle);
            }
        }

        public string Name { get; private set; }

        /// <summary>Blocks until there is a server. timeoutMs 0: five seconds.</summary>
        public void WaitForServer(long timeoutMs)
        {
            NativeError error;
            using (Lease self = Use())
            HyphosException.Check(Native.hyphos_client_wait(self.Value, checked(timeoutMs * 1000000), &error), &error);
        }

        /// <summary>Calls the service and blocks until the reply arrives. The caller must dispose
        /// of the reply. Do not call this from Unity's main thread, which would block. timeoutMs 0:
        /// five seconds.</summary>
        public HeldMessage Call(byte[] question, long timeoutMs = 0)
        {
            using (Lease self = Use())
            fixed (byte* at = question)
            {
                NativeMessage reply;
                NativeError error;
                HyphosException.Check(
                    Native.hyphos_call(self.Value, at, (UIntPtr)question.Length, null, UIntPtr.Zero,
                                       checked(timeoutMs * 1000000), &reply, &error), &error);
                return new HeldMessage(reply);
            }
        }

        /// <summary>Calls the service. Node.Pump() runs `answered` once, with the reply, or with an
        /// empty view and the error. The view is valid until `answered` returns.</summary>
        public void CallAsync(byte[] question, Action<MessageView, HyphosException> answered, long timeoutMs = 0)
        {
            if (answered == null) throw new ArgumentNullException("answered");
            using (Lease self = Use())
            fixed (byte* at = question)
            {
                GCHandle pending = GCHandle.Alloc(new Pending(node_, answered));
                NativeError error;
                int code = Native.hyphos_call_async(self.Value, at, (UIntPtr)question.Length, null, UIntPtr.Zero,
                                                    checked(timeoutMs * 1000000), address_,
                                                    GCHandle.ToIntPtr(pending), &error);
                if (code != 0) pending.Free();
                HyphosException.Check(code, &error);
            }
        }

        internal override void Close(IntPtr value) { Native.hyphos_client_close(value); }

        private sealed class Pending
        {
            public readonly Node Node;
            public readonly Action<MessageView, HyphosException> Answered;

            public Pending(Node node, Action<MessageView, HyphosException> answered)
            {
                Node = node;
                Answered = answered;
            }
        }

        [MonoPInvokeCallback(typeof(ReplyCallback))]
        private static void OnReply(IntPtr user, NativeMessage* reply, NativeError* error)
        {
            Pending pending = null;
            Delivery delivery = new Delivery();
            try
            {
                GCHandle handle = GCHandle.FromIntPtr(user);
                pending = (Pending)handle.Target;
                handle.Free();
                Node.EnterCallback();
                try
                {
                    if (reply != null) pending.Answered(delivery.Begin(reply), null);
                    else pending.Answered(new MessageView(), HyphosException.From(error));
                }
                finally
                {
                    delivery.End();
                    Node.LeaveCallback();
                }
            }
            catch (Exception exception)
            {
                if (pending != null) pending.Node.Failed(exception);
            }
        }
    }

    /// <summary>The client endpoint of a service of protobuf messages.</summary>
    public sealed unsafe class Client<TRequest, TReply> : RawClient
        where TRequest : class, IMessage, new()
        where TReply : class, IMessage, new()
    {
        internal Client(Node node, string name)
            : base(node, name, Wire.TypeOf<TRequest>(ChannelEncoding.Protobuf),
                   Wire.TypeOf<TReply>(ChannelEncoding.Protobuf)) { }

        public TReply Call(TRequest question, long timeoutMs = 0)
        {
            using (HeldMessage held = Call(Wire.ToArray(question), timeoutMs)) return Read(held.View);
        }

        /// <summary>Node.Pump() runs `answered` once, with the reply, or with null and the
        /// error.</summary>
        public void CallAsync(TRequest question, Action<TReply, HyphosException> answered, long timeoutMs = 0)
        {
            if (answered == null) throw new ArgumentNullException("answered");
            CallAsync(Wire.ToArray(question), delegate(MessageView reply, HyphosException error)
            {
                TReply value = null;
                try
                {
                    if (error == null) value = Read(reply);
                }
                catch (HyphosException corrupt)
                {
                    error = corrupt;
                }
                answered(value, error);
            }, timeoutMs);
        }

        private TReply Read(MessageView reply)
        {
            TReply value = new TReply();
            ByteView bytes = reply.Payload;
            if (Wire.Read(value, bytes.Pointer, bytes.Length)) return value;
            throw new HyphosException(ErrorCode.Corrupt, "the reply does not parse as " + value.TypeName +
                ". Check the message definition of the server", Name);
        }
    }
}
