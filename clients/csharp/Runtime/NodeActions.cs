using System;

namespace Hyphos
{
    public sealed unsafe partial class Node
    {
        /// <summary>Executes goals. `execute` gets the goal with its message, and ends the goal at
        /// once or later. With Mode.Pump, Node.Pump() runs it. Otherwise a thread of Hyphos runs
        /// it.</summary>
        public ActionServer ServeAction<TGoal, TFeedback, TResult>(string name, Action<TGoal, Goal> execute,
                                                                   GoalPolicy policy = GoalPolicy.Queue,
                                                                   Mode mode = Mode.Pump)
            where TGoal : class, IMessage, new()
            where TFeedback : class, IMessage, new()
            where TResult : class, IMessage, new()
        {
            if (execute == null) throw new ArgumentNullException("execute");
            return Keep(new ActionServer(
                this, name, Wire.TypeOf<TGoal>(ChannelEncoding.Protobuf), Wire.TypeOf<TFeedback>(ChannelEncoding.Protobuf),
                Wire.TypeOf<TResult>(ChannelEncoding.Protobuf), delegate(Goal goal) { Execute(goal, execute); }, policy, mode));
        }

        /// <summary>The client of an action. The server need not exist yet.</summary>
        public ActionClient<TGoal, TFeedback, TResult> ActionClient<TGoal, TFeedback, TResult>(string name)
            where TGoal : class, IMessage, new()
            where TFeedback : class, IMessage, new()
            where TResult : class, IMessage, new()
        {
            return Keep(new ActionClient<TGoal, TFeedback, TResult>(this, name));
        }

        private static void Execute<TGoal>(Goal goal, Action<TGoal, Goal> execute) where TGoal : class, IMessage, new()
        {
            TGoal value = new TGoal();
            ByteView bytes = goal.Message.Payload;
            if (!Wire.Read(value, bytes.Pointer, bytes.Length))
            {
                goal.Fail(ErrorCode.Corrupt, "the goal does not parse as " + value.TypeName +
                    ". Check the message definition of the client");
                return;
            }
            try
            {
                execute(value, goal);
            }
            catch (HyphosException refusal)
            {
                if (goal.IsDisposed) throw;
                goal.Fail(refusal.Code, refusal.What);
            }
            catch (Exception failure)
            {
                if (!goal.IsDisposed) goal.Fail(ErrorCode.Io, "the callback of the action threw an exception: " + failure.Message);
                throw;
            }
        }
    }
}
