"""Laws on the line: score distributions, their quantile functions, and the labels of groups."""
