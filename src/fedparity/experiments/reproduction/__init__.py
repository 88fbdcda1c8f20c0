"""The paper's tables and figures, rebuilt beside what it prints."""
