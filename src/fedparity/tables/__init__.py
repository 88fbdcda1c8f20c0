"""Sources: from any table, in memory or in files, to records that the kernels read."""
