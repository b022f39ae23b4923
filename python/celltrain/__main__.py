"""`python -m celltrain` is the command `celltrain`."""

from celltrain.cli import main

main()
