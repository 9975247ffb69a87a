"""`python -m discsum.cli`, for launchers such as `accelerate launch`."""

from discsum.cli import main

main()
