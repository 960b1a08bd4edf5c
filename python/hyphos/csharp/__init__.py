"""C# classes of protobuf messages, for the client in clients/csharp."""
