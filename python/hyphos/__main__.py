"""`python -m hyphos` is the command line tool `hyphos`."""

from hyphos.program import main

main()
