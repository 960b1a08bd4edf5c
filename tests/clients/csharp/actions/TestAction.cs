// A program for tests/python/gateway/gateway_actions_test.py: `action.exe serve|send DOMAIN NAME`.
// It serves an action of the type actionlib/Test, or sends goals to one.
using System;
using System.Collections.Generic;
using Hyphos;
using Ros1.Actionlib.Msg;

internal static class ActionProgram
{
    private static int Main(string[] words)
    {
        NodeOptions options = new NodeOptions();
        options.Domain = words[1];
        using (Node node = Node.Open("csharp_action", options))
        {
            if (words[0] == "serve") Serve(node, words[2]);
            else Send(node, words[2]);
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

    private static void Send(Node node, string name)
    {
        ActionClient<TestGoal, TestFeedback, TestResult> client =
            node.ActionClient<TestGoal, TestFeedback, TestResult>(name);
        client.WaitForServer(60000);
        int feedback = 0;
        string first = null, second = null, third = null;
        SentGoal waits = client.Send(To(101), delegate(TestFeedback one) { feedback = one.Feedback; },
            delegate(GoalState state, TestResult result, HyphosException error)
            {
                first = Name(state) + " " + (result == null ? 0 : result.Result);
            });
        while (feedback == 0) node.Pump(1000, 0);
        client.Send(To(21), null, delegate(GoalState state, TestResult result, HyphosException error)
        {
            second = Name(state) + " " + (result == null ? 0 : result.Result);
        });
        while (second == null) node.Pump(1000, 0);
        Console.WriteLine("b " + second);
        waits.Cancel();
        while (first == null) node.Pump(1000, 0);
        Console.WriteLine("a " + feedback + " " + first);
        client.Send(To(-1), null, delegate(GoalState state, TestResult result, HyphosException error)
        {
            third = Name(state);
        });
        while (third == null) node.Pump(1000, 0);
        Console.WriteLine("c " + third);
    }

    private static TestGoal To(int value)
    {
        TestGoal goal = new TestGoal();
        goal.Goal = value;
        return goal;
    }

    private static string Name(GoalState state) { return state.ToString().ToLowerInvariant(); }
}
