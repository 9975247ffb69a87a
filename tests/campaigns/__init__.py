"""Long stress tests with a seed: each module has `attack(count, seed)`, and `python -m campaigns NAME COUNT` runs it.

`make test` runs a hundredth of each (`tests/test_campaigns.py`); docs/reliability.md has the results of full runs.
"""
