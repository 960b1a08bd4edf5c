"""The functions of the command line tool, without the parsing of the command line."""
