using System;
using System.Runtime.InteropServices;

namespace Hyphos
{
    /// <summary>One request. Reply() or Refuse() ends it once, at once or later, in any thread. A
    /// request that is collected or disposed of without a reply gives the client an error
    /// immediately.</summary>
    public sealed unsafe class Request : Handle
    {
        internal Request(IntPtr handle, MessageView message)
        {
            Own(handle);
            Message = message;
        }

        /// <summary>Valid until the callback returns.</summary>
        public MessageView Message { get; private set; }

        /// <summary>True after the client has given up. A reply is then useless.</summary>
        public bool Canceled { get { using (Lease self = Use()) return Native.hyphos_request_canceled(self.Value) != 0; } }

        public void Reply(byte[] payload)
        {
            fixed (byte* at = payload) Reply(at, payload.Length);
        }

        public void Reply(IMessage message)
        {
            byte[] bytes = Wire.ToArray(message);
            Reply(bytes);
        }

        /// <summary>Ends the call of the client with this error. `message` describes the correct
        /// use.</summary>
        public void Refuse(ErrorCode code, string message)
        {
            fixed (byte* text = Text.Utf8(message))
            {
                NativeError error;
                HyphosException.Check(Native.hyphos_refuse(Release(), (int)code, text, &error), &error);
            }
        }

        internal override void Close(IntPtr value) { Native.hyphos_request_drop(value); }

        private void Reply(byte* payload, int size)
        {
            NativeError error;
            HyphosException.Check(
                Native.hyphos_reply(Release(), payload, (UIntPtr)size, null, UIntPtr.Zero, &error), &error);
        }

        /// <summary>Hands the native request to the library, which ends it with the reply even if
        /// other threads use it.</summary>
        private IntPtr Release()
        {
            IntPtr value = Disown();
            if (value == IntPtr.Zero)
            {
                throw new InvalidOperationException("the request already has a reply. Reply to a request only once");
            }
            return value;
        }
    }

    /// <summary>A service of this node. Dispose() gives the same guarantee as for a
    /// Subscription.</summary>
    public sealed unsafe class Service : Handle, IReceiver
    {
        private readonly Node node_;
        private readonly Action<Request> handler_;
        private GCHandle self_;

        internal Service(Node node, string name, ChannelType request, ChannelType reply, Action<Request> handler,
                         Mode mode)
        {
            if (handler == null) throw new ArgumentNullException("callback");
            node_ = node;
            handler_ = handler;
            Name = name;
            NativeServiceOptions options = new NativeServiceOptions();
            options.StructSize = (ulong)sizeof(NativeServiceOptions);
            options.Mode = (int)mode;
            self_ = GCHandle.Alloc(this);
            using (Lease owner = node.Use())
            fixed (byte* text = Text.Utf8(name), first = Text.Utf8(request.Name), second = Text.Utf8(reply.Name))
            {
                NativeType question = request.Native((IntPtr)first);
                NativeType answer = reply.Native((IntPtr)second);
                IntPtr handle;
                NativeError error;
                int code = Native.hyphos_serve(owner.Value, text, &question, &answer, &options, Incoming.Address,
                                               GCHandle.ToIntPtr(self_), &handle, &error);
                if (code != 0) self_.Free();
                HyphosException.Check(code, &error);
                Own(handle);
            }
        }

        public string Name { get; private set; }

        internal static Service Typed<TRequest, TReply>(Node node, string name, Func<TRequest, TReply> answer, Mode mode)
            where TRequest : class, IMessage, new()
            where TReply : class, IMessage, new()
        {
            if (answer == null) throw new ArgumentNullException("answer");
            return new Service(node, name, Wire.TypeOf<TRequest>(ChannelEncoding.Protobuf),
                               Wire.TypeOf<TReply>(ChannelEncoding.Protobuf),
                               delegate(Request request) { Answer(request, answer); }, mode);
        }

        private static void Answer<TRequest, TReply>(Request request, Func<TRequest, TReply> answer)
            where TRequest : class, IMessage, new()
            where TReply : class, IMessage, new()
        {
            TRequest question = new TRequest();
            ByteView bytes = request.Message.Payload;
            if (!Wire.Read(question, bytes.Pointer, bytes.Length))
            {
                request.Refuse(ErrorCode.Corrupt, "the request does not parse as " + question.TypeName +
                    ". Check the message definition of the client");
                return;
            }
            TReply reply;
            try
            {
                reply = answer(question);
            }
            catch (HyphosException refusal)
            {
                request.Refuse(refusal.Code, refusal.What);
                return;
            }
            catch (Exception failure)
            {
                request.Refuse(ErrorCode.Io, "the callback of the service threw an exception: " + failure.Message);
                throw;
            }
            request.Reply(reply);
        }

        internal override void Close(IntPtr value)
        {
            Native.hyphos_service_close(value);
            self_.Free();
        }

        void IReceiver.Receive(IntPtr request, MessageView message) { handler_(new Request(request, message)); }
        void IReceiver.Failed(Exception exception) { node_.Failed(exception); }
    }
}
