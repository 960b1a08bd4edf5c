// A program for tests/python/gateway/gateway_worlds_test.py: `world.exe DOMAIN TYPES`. It has the
// same channels, service and parameter as tests/clients/c_world.c, with names that begin with
// `csharp`.
using System;
using System.IO;
using Hyphos;
using Ros1.StdSrvs.Srv;
using Ros2.TankMsgs.Msg;
using Text = Hyphos.Msgs.String;

internal static class WorldProgram
{
    private static int Main(string[] words)
    {
        NodeOptions options = new NodeOptions();
        options.Domain = words[0];
        using (Node node = Node.Open("csharp_world", options)) Run(node, words[1]);
        return 0;
    }

    private static void Run(Node node, string types)
    {
        node.AnnounceTypes(File.ReadAllBytes(types));
        node.DeclareParameter("speed", 0.5);
        Policy latched = new Policy();
        latched.Latched = true;
        Publisher<Text> kept = node.Publisher<Text>("csharp_out", latched);
        Publisher<Text> back = node.Publisher<Text>("csharp_back");
        Publisher<Level> tank = node.Publisher<Level>("csharp_tank");
        Text text = new Text();
        text.Data = "from C#";
        kept.Publish(text);
        node.Subscribe<Text>("csharp_in", delegate(Text heard) { back.Publish(heard); });
        node.Serve<SetBoolRequest, SetBoolResponse>("csharp_switch", delegate(SetBoolRequest asked)
        {
            SetBoolResponse reply = new SetBoolResponse();
            reply.Success = asked.Data;
            reply.Message = "C#";
            return reply;
        });
        Level level = new Level();
        level.Litres = 12.5;
        Console.WriteLine("ready");
        while (true)
        {
            node.Pump(50, 0);
            tank.Publish(level);
        }
    }
}
