"""The report on one sheet of paper: what stands on it, and how it becomes a PDF."""
