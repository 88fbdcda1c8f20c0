"""From the cells of many silos to the mixtures, centres and estimates of the whole."""
