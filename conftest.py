"""What holds for every test, and for every example in a docstring."""

pytest_plugins = ["tests.third_party", "tests.tiers"]
