"""`python -m discsum.cli`, which is what launchers of several processes start."""

from discsum.cli import main

main()
