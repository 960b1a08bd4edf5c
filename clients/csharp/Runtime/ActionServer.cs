using System;
using System.Runtime.InteropServices;

namespace Hyphos
{
    /// <summary>The state of a goal.</summary>
    public enum GoalState { Sent = 0, Accepted = 1, Executing = 2, Canceling = 3, Succeeded = 4, Canceled = 5, Aborted = 6 }

    /// <summary>The treatment of a goal that arrives while another one is being executed.</summary>
    public enum GoalPolicy
    {
        /// <summary>It waits until the earlier goals have ended.</summary>
        Queue = 0,
        /// <summary>The other is asked to cancel, and this one starts when it has ended.</summary>
        Preempt = 1,
        Reject = 2,
        Parallel = 3
    }

    /// <summary>A goal at its server. Succeed(), Cancel(), Abort() or Fail() ends it once, at once
    /// or later, in any thread. A goal that is collected or disposed of before its end is
    /// aborted.</summary>
    public sealed unsafe class Goal : Handle
    {
        internal Goal(IntPtr handle, MessageView message)
        {
            Own(handle);
            Message = message;
        }

        /// <summary>The goal. Valid until the callback returns.</summary>
        public MessageView Message { get; private set; }

        /// <summary>True when the goal should end: its client canceled it or is gone, or another
        /// goal preempts it.</summary>
        public bool CancelRequested { get { using (Lease self = Use()) return Native.hyphos_goal_cancel_requested(self.Value) != 0; } }

        /// <summary>Sends feedback. Returns false if the client cannot receive it: it is gone, too
        /// slow (the feedback is counted as dropped), or the goal has ended.</summary>
        public bool Feedback(IMessage message)
        {
            byte[] bytes = Wire.ToArray(message);
            using (Lease self = Use())
            fixed (byte* at = bytes)
            {
                NativeError error;
                int code = Native.hyphos_goal_feedback(self.Value, at, (UIntPtr)bytes.Length, null, UIntPtr.Zero, &error);
                if (code == (int)ErrorCode.Disconnected || code == (int)ErrorCode.Overloaded ||
                    code == (int)ErrorCode.AlreadyExists)
                {
                    return false;
                }
                HyphosException.Check(code, &error);
                return true;
            }
        }

        public void Succeed(IMessage result) { Finish(GoalState.Succeeded, result); }
        /// <summary>Ends the goal after a request to cancel it.</summary>
        public void Cancel(IMessage result) { Finish(GoalState.Canceled, result); }
        public void Abort(IMessage result) { Finish(GoalState.Aborted, result); }

        /// <summary>Aborts the goal without a result. The client gets this error.</summary>
        public void Fail(ErrorCode code, string message)
        {
            fixed (byte* text = Text.Utf8(message))
            {
                NativeError error;
                HyphosException.Check(Native.hyphos_goal_fail(Release(), (int)code, text, &error), &error);
            }
        }

        internal override void Close(IntPtr value) { Native.hyphos_goal_drop(value); }

        private void Finish(GoalState state, IMessage result)
        {
            byte[] bytes = Wire.ToArray(result);
            fixed (byte* at = bytes)
            {
                NativeError error;
                HyphosException.Check(Native.hyphos_goal_finish(Release(), (int)state, at, (UIntPtr)bytes.Length,
                                                                null, UIntPtr.Zero, &error), &error);
            }
        }

        /// <summary>Hands the native goal to the library, which ends it.</summary>
        private IntPtr Release()
        {
            IntPtr value = Disown();
            if (value == IntPtr.Zero)
            {
                throw new InvalidOperationException("the goal has already ended. End a goal only once");
            }
            return value;
        }
    }

    /// <summary>An action of this node. Dispose() aborts its goals, and gives the same guarantee as
    /// for a Subscription.</summary>
    public sealed unsafe class ActionServer : Handle, IReceiver
    {
        private readonly Node node_;
        private readonly Action<Goal> handler_;
        private GCHandle self_;

        internal ActionServer(Node node, string name, ChannelType goal, ChannelType feedback, ChannelType result,
                              Action<Goal> handler, GoalPolicy policy, Mode mode)
        {
            if (handler == null) throw new ArgumentNullException("execute");
            node_ = node;
            handler_ = handler;
            Name = name;
            NativeActionOptions options = new NativeActionOptions();
            options.StructSize = (ulong)sizeof(NativeActionOptions);
            // A goal that runs in a thread of Hyphos must not delay the others.
            options.Mode = mode == Mode.Pump ? 0 : 2;
            options.Policy = (int)policy;
            self_ = GCHandle.Alloc(this);
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
                int code = Native.hyphos_action_serve(owner.Value, text, &types, &options, Incoming.Address,
                                                      GCHandle.ToIntPtr(self_), &handle, &error);
                if (code != 0) self_.Free();
                HyphosException.Check(code, &error);
                Own(handle);
            }
        }

        public string Name { get; private set; }

        internal override void Close(IntPtr value)
        {
            Native.hyphos_action_close(value);
            self_.Free();
        }

        void IReceiver.Receive(IntPtr goal, MessageView message) { handler_(new Goal(goal, message)); }
        void IReceiver.Failed(Exception exception) { node_.Failed(exception); }
    }
}
