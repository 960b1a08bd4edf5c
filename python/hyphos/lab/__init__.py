"""The laboratory: measures what a machine and its middlewares carry, and says how sure it is."""
