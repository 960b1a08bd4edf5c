"""What the command line tool does, without the command line."""
