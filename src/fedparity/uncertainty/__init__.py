"""Where a disparity comes from: decomposition, attribution, influence, local audits."""
