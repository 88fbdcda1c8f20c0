"""The tables of the paper's experiments."""

from fedparity.experiments.datasets.catalogue import DATASETS, load_dataset
from fedparity.experiments.datasets.dataset import Dataset, Provenance

__all__ = ["DATASETS", "Dataset", "Provenance", "load_dataset"]
