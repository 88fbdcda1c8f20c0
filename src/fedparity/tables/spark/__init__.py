"""Spark: tables whose scores are counted and ranked inside Spark, by SQL and nothing else."""
