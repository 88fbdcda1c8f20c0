"""Random requests: no failure of the server, nothing accepted that should not be, nothing undocumented."""

import pytest
from tests.collector_fuzz import Fuzzer
from tests.tiers import count

from fedparity.service.store import Store


@pytest.mark.sampled
def test_fuzzed_requests_find_neither_a_failure_nor_a_way_in(tmp_path):
    store = Store.in_folder(str(tmp_path))
    fuzzer = Fuzzer(store, seed=20)
    fuzzer.run(count(quick=800, all=4000, soak=200_000))
    fuzzer.check_store()

    assert fuzzer.kept  # some got through
    assert not [status for *_, status in fuzzer.statuses if status >= 500]
    store.close()
