"""The paper's figures, one file per kind: the paper's estimator and two better ones."""
