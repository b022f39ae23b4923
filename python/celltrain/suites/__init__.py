"""Suites: a whole evaluation with one command. Those that come with the package are in `library`."""
