"""Error rates, ROC curves, calibration and tests by group, from cells of both outcomes."""
