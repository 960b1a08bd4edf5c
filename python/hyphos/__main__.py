"""`python -m hyphos` is the command line tool `hyphos`."""

from hyphos.cli.main import main

main()
