using System;
using System.Runtime.InteropServices;
#if UNITY_5_3_OR_NEWER
using AOT;
#endif

namespace Hyphos
{
    /// <summary>A goal that was sent. It continues after Dispose().</summary>
    public sealed class SentGoal : Handle
    {
        internal void Begin(IntPtr handle) { Own(handle); }

        public GoalState State { get { using (Lease self = Use()) return (GoalState)Native.hyphos_sent_goal_state(self.Value); } }
        /// <summary>Feedback messages that were dropped, because the node was pumped too
        /// rarely.</summary>
        public ulong FeedbackDropped { get { using (Lease self = Use()) return Native.hyphos_sent_goal_feedback_dropped(self.Value); } }

        /// <summary>Asks the server to cancel. The result reports the end.</summary>
        public unsafe void Cancel()
        {
            NativeError error;
            using (Lease self = Use()) HyphosException.Check(Native.hyphos_sent_goal_cancel(self.Value, &error), &error);
        }

        internal override void Close(IntPtr value) { Native.hyphos_sent_goal_release(value); }
    }

    /// <summary>The client of an action of protobuf messages. The server need not exist yet. Its
    /// goals continue after Dispose().</summary>
    public sealed unsafe class ActionClient<TGoal, TFeedback, TResult> : Handle
        where TGoal : class, IMessage, new()
        where TFeedback : class, IMessage, new()
        where TResult : class, IMessage, new()
    {
        private readonly Node node_;

        internal ActionClient(Node node, string name)
        {
            node_ = node;
            Name = name;
            ChannelType goal = Wire.TypeOf<TGoal>(ChannelEncoding.Protobuf);
            ChannelType feedback = Wire.TypeOf<TFeedback>(ChannelEncoding.Protobuf);
            ChannelType result = Wire.TypeOf<TResult>(ChannelEncoding.Protobuf);
            using (Lease owner = node.Use())
            fixed (byte* text = Text.Utf8(name), first = Text.Utf8(goal.Name), second = Text.Utf8(feedback.Name),
                   third = Text.Utf8(result.Name))
            {
                NativeActionTypes types = new NativeActionTypes();
                types.Goal = goal.Native((IntPtr)first);
                types.Feedback = feedback.Native((IntPtr)second);
                types.Result = result.Native((IntPtr)third);
                IntPtr handle;
                NativeError error;
                HyphosException.Check(
                    Native.hyphos_action_client_open(owner.Value, text, &types, null, &handle, &error), &error);
                Own(handle);
            }
        }

        public string Name { get; private set; }

        /// <summary>Blocks until there is a server. timeoutMs 0: five seconds.</summary>
        public void WaitForServer(long timeoutMs)
        {
            NativeError error;
            using (Lease self = Use())
            HyphosException.Check(Native.hyphos_action_client_wait(self.Value, checked(timeoutMs * 1000000), &error), &error);
        }

        /// <summary>Sends a goal and returns immediately. Node.Pump() runs `feedback`, which may be
        /// null, and then `ended` once: with the state and the result, or with null and the error.
        /// If the server has not accepted the goal within acceptMs (0: five seconds), the goal ends
        /// with an error.</summary>
        public SentGoal Send(TGoal goal, Action<TFeedback> feedback, Action<GoalState, TResult, HyphosException> ended,
                             long acceptMs = 0)
        {
            if (ended == null) throw new ArgumentNullException("ended");
            return GoalCallbacks.Send(
                this, node_, Wire.ToArray(goal),
                delegate(MessageView message) { if (feedback != null) feedback(Read<TFeedback>(message)); },
                delegate(GoalState state, MessageView message, HyphosException error)
                {
                    TResult result = null;
                    try
                    {
                        if (error == null) result = Read<TResult>(message);
                    }
                    catch (HyphosException corrupt)
                    {
                        error = corrupt;
                        state = GoalState.Aborted;
                    }
                    ended(state, result, error);
                },
                checked(acceptMs * 1000000));
        }

        internal override void Close(IntPtr value) { Native.hyphos_action_client_close(value); }

        private T Read<T>(MessageView message) where T : class, IMessage, new()
        {
            T value = new T();
            ByteView bytes = message.Payload;
            if (Wire.Read(value, bytes.Pointer, bytes.Length)) return value;
            throw new HyphosException(ErrorCode.Corrupt, "the message does not parse as " + value.TypeName +
                ". Check the message definition of the server", Name);
        }
    }

    /// <summary>The callbacks of one goal. They are kept until its end.</summary>
    internal sealed unsafe class GoalCallbacks
    {
        private static readonly FeedbackCallback feedbackCallback_ = OnFeedback;
        private static readonly ResultCallback resultCallback_ = OnResult;
        private static readonly IntPtr feedbackAddress_ = Marshal.GetFunctionPointerForDelegate(feedbackCallback_);
        private static readonly IntPtr resultAddress_ = Marshal.GetFunctionPointerForDelegate(resultCallback_);

        private readonly Node node_;
        private readonly Action<MessageView> feedback_;
        private readonly Action<GoalState, MessageView, HyphosException> ended_;

        private GoalCallbacks(Node node, Action<MessageView> feedback,
                              Action<GoalState, MessageView, HyphosException> ended)
        {
            node_ = node;
            feedback_ = feedback;
            ended_ = ended;
        }

        public static SentGoal Send(Handle client, Node node, byte[] goal, Action<MessageView> feedback,
                                    Action<GoalState, MessageView, HyphosException> ended, long acceptNs)
        {
            SentGoal sent = new SentGoal();
            using (Lease self = client.Use())
            fixed (byte* at = goal)
            {
                GCHandle pending = GCHandle.Alloc(new GoalCallbacks(node, feedback, ended));
                NativeGoalCallbacks callbacks = new NativeGoalCallbacks();
                callbacks.StructSize = (ulong)sizeof(NativeGoalCallbacks);
                callbacks.Feedback = feedbackAddress_;
                callbacks.Result = resultAddress_;
                callbacks.User = GCHandle.ToIntPtr(pending);
                IntPtr handle;
                NativeError error;
                int code = Native.hyphos_goal_send(self.Value, at, (UIntPtr)goal.Length, null, UIntPtr.Zero, acceptNs,
                                                   &callbacks, &handle, &error);
                if (code != 0) pending.Free();
                HyphosException.Check(code, &error);
                sent.Begin(handle);
            }
            return sent;
        }

        [MonoPInvokeCallback(typeof(FeedbackCallback))]
        private static void OnFeedback(IntPtr user, NativeMessage* message)
        {
            GoalCallbacks self = null;
            Delivery delivery = new Delivery();
            try
            {
                self = (GoalCallbacks)GCHandle.FromIntPtr(user).Target;
                Node.EnterCallback();
                try { self.feedback_(delivery.Begin(message)); }
                finally
                {
                    delivery.End();
                    Node.LeaveCallback();
                }
            }
            catch (Exception exception)
            {
                if (self != null) self.node_.Failed(exception);
            }
        }

        [MonoPInvokeCallback(typeof(ResultCallback))]
        private static void OnResult(IntPtr user, int state, NativeMessage* message, NativeError* error)
        {
            GoalCallbacks self = null;
            Delivery delivery = new Delivery();
            try
            {
                GCHandle handle = GCHandle.FromIntPtr(user);
                self = (GoalCallbacks)handle.Target;
                handle.Free();
                Node.EnterCallback();
                try
                {
                    if (message != null) self.ended_((GoalState)state, delivery.Begin(message), null);
                    else self.ended_((GoalState)state, new MessageView(), HyphosException.From(error));
                }
                finally
                {
                    delivery.End();
                    Node.LeaveCallback();
                }
            }
            catch (Exception exception)
            {
                if (self != null) self.node_.Failed(exception);
            }
        }
    }
}
