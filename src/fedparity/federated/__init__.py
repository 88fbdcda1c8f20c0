"""From the cells of many silos to the mixtures, centers and estimates of the whole."""
