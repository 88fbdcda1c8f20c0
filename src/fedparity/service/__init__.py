"""The collector: a small service that takes the messages of silos and runs the audit."""
