"""`python -m discsum`, also for launchers such as `accelerate launch`."""

from discsum.cli import main

if __name__ == "__main__":
    main()
