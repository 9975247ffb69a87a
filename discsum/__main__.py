"""`python -m discsum`: the command of the interpreter that runs it."""

from discsum.cli import main

if __name__ == "__main__":
    main()
