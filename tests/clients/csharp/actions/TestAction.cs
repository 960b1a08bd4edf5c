// A program for tests/python/gateway/gateway_actions_test.py: `action.exe serve|send DOMAIN NAME
// [ros2]`. It serves an action of the type actionlib/Test, or sends goals to one. With `ros2`, the
// types of the goals are those of ROS 2.
using System;
using System.Collections.Generic;
using Hyphos;
using Ros1.Actionlib.Msg;
using Ros2.Actionlib.Action;

internal static class ActionProgram
{
    private static int Main(string[] words)
    {
        NodeOptions options = new NodeOptions();
        options.Domain = words[1];
        using (Node node = Node.Open("csharp_action", options))
        {
            if (words[0] == "serve") Serve(node, words[2]);
            else if (words.Length == 3) SendOfRos1(node, words[2]);
            else SendOfRos2(node, words[2]);
        }
        return 0;
    }

    private static void Serve(Node node, string name)
    {
        List<Goal> waiting = new List<Goal>();
        node.ServeAction<TestGoal, TestFeedback, TestResult>(name, delegate(TestGoal goal, Goal handle)
        {
            if (goal.Goal < 0)
            {
                handle.Fail(ErrorCode.OutOfRange, "only upwards");
            }
            else if (goal.Goal <= 100)
            {
                handle.Succeed(Result(2 * goal.Goal));
            }
            else
            {
                TestFeedback feedback = new TestFeedback();
                feedback.Feedback = goal.Goal;
                handle.Feedback(feedback);
                waiting.Add(handle);
            }
        }, GoalPolicy.Parallel);
        Console.WriteLine("ready");
        while (true)
        {
            node.Pump(20, 0);
            foreach (Goal one in waiting.FindAll(delegate(Goal goal) { return goal.CancelRequested; }))
            {
                waiting.Remove(one);
                one.Cancel(Result(-1));
            }
        }
    }

    private static TestResult Result(int value)
    {
        TestResult result = new TestResult();
        result.Result = value;
        return result;
    }

    private static void SendOfRos1(Node node, string name)
    {
        Send<TestGoal, TestFeedback, TestResult>(node, name,
            delegate(int value) { TestGoal goal = new TestGoal(); goal.Goal = value; return goal; },
            delegate(TestFeedback feedback) { return feedback.Feedback; },
            delegate(TestResult result) { return result.Result; });
    }

    private static void SendOfRos2(Node node, string name)
    {
        Send<Test_Goal, Test_Feedback, Test_Result>(node, name,
            delegate(int value) { Test_Goal goal = new Test_Goal(); goal.Goal = value; return goal; },
            delegate(Test_Feedback feedback) { return feedback.Feedback; },
            delegate(Test_Result result) { return result.Result; });
    }

    private static void Send<TGoal, TFeedback, TResult>(Node node, string name, Func<int, TGoal> to,
        Func<TFeedback, int> valueOfFeedback, Func<TResult, int> valueOfResult)
        where TGoal : class, IMessage, new()
        where TFeedback : class, IMessage, new()
        where TResult : class, IMessage, new()
    {
        ActionClient<TGoal, TFeedback, TResult> client = node.ActionClient<TGoal, TFeedback, TResult>(name);
        client.WaitForServer(60000);
        int feedback = 0;
        string first = null, second = null, third = null;
        SentGoal waits = client.Send(to(101), delegate(TFeedback one) { feedback = valueOfFeedback(one); },
            delegate(GoalState state, TResult result, HyphosException error)
            {
                first = Name(state) + " " + (result == null ? 0 : valueOfResult(result));
            }, 60000);
        while (feedback == 0) node.Pump(1000, 0);
        client.Send(to(21), null, delegate(GoalState state, TResult result, HyphosException error)
        {
            second = Name(state) + " " + (result == null ? 0 : valueOfResult(result));
        }, 60000);
        while (second == null) node.Pump(1000, 0);
        Console.WriteLine("b " + second);
        waits.Cancel();
        while (first == null) node.Pump(1000, 0);
        Console.WriteLine("a " + feedback + " " + first);
        client.Send(to(-1), null, delegate(GoalState state, TResult result, HyphosException error)
        {
            third = Name(state);
        }, 60000);
        while (third == null) node.Pump(1000, 0);
        Console.WriteLine("c " + third);
    }

    private static string Name(GoalState state) { return state.ToString().ToLowerInvariant(); }
}
