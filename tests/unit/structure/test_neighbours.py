"""Pairs and groups. Truth: scipy's trees and graphs."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from drystone.structure.neighbours import find_near_pairs, label_connected


@pytest.mark.parametrize("seed", range(40))
def test_groups_are_those_of_scipy(seed):
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 60))
    pairs = random.integers(0, count, (int(random.integers(0, 80)), 2))
    if seed % 3 == 0:  # one chain, in any order
        row = random.permutation(count)
        pairs = random.permutation(np.column_stack([row[:-1], row[1:]]))
    graph = coo_array((np.ones(len(pairs)), pairs.T), shape=(count, count))
    np.testing.assert_array_equal(label_connected(count, pairs), connected_components(graph, directed=False)[1])


def test_groups_of_nothing():
    assert label_connected(0, np.empty((0, 2), int)).tolist() == []
    assert label_connected(2, np.empty((0, 2), int)).tolist() == [0, 1]


@pytest.mark.parametrize("seed", range(40))
def test_pairs_are_those_of_scipy(seed):
    """Also of points on a grid, where many are equally far apart, and of copies."""
    random = np.random.default_rng(seed)
    points = random.uniform(0, 3, (int(random.integers(1, 60)), 6)).round(seed % 4)
    reach = float(random.uniform(0, 2))
    found = find_near_pairs(points, reach)
    assert np.all(found[:, 0] < found[:, 1])
    assert sorted(found.tolist()) == sorted(cKDTree(points).query_pairs(reach, output_type="ndarray").tolist())
