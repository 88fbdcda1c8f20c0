"""A drop folder takes whole files of the silo whose folder it is, and follows nothing out of it."""

import os
import threading

import pytest
from tests.unit.service.samples import message, plan

from fedparity.service.drop_folder import DropFolder
from fedparity.service.store import Store
from fedparity.service.studies import Studies

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs folders that can be opened")


@pytest.fixture
def studies(tmp_path):
    store = Store.in_folder(str(tmp_path / "data"))
    yield Studies(store)
    store.close()


@pytest.fixture
def drop(studies, tmp_path):
    study = studies.create(plan().to_toml(), deadline=None)
    folder = DropFolder(str(tmp_path / "drop"), studies)
    folder.look()
    return folder, tmp_path / "drop" / study, study


def look(folder):
    """Look twice: a file is taken once it did not change between two looks."""
    return folder.look() + folder.look()


def names(path):
    return sorted(each.name for each in path.iterdir()) if path.exists() else []


def received(studies, study):
    return [each.silo for each in studies.messages(study)]


def test_a_message_is_taken_and_moved_away(drop, studies):
    folder, place, study = drop
    (place / "aurora" / "m.json").write_bytes(message("aurora"))

    assert look(folder) == 1
    assert received(studies, study) == ["aurora"]
    assert names(place / "aurora") == ["accepted"]
    assert names(place / "aurora" / "accepted") == ["m.json"]


def test_the_same_again_is_accepted_once_and_another_refused_with_the_same_words(drop, studies):
    folder, place, study = drop
    for seed in (0, 0, 1):
        (place / "aurora" / "m.json").write_bytes(message("aurora", seed=seed))
        look(folder)

    assert received(studies, study) == ["aurora"]
    assert names(place / "aurora" / "accepted") == ["2-m.json", "m.json"]
    assert names(place / "aurora" / "refused") == ["m.json", "m.json.txt"]
    text = (place / "aurora" / "refused" / "m.json.txt").read_text()
    assert "another message of this silo is already here" in text
    assert "fix:" in text


def test_a_message_of_another_silo_is_refused(drop, studies):
    folder, place, study = drop
    (place / "aurora" / "m.json").write_bytes(message("bayside"))
    look(folder)

    assert received(studies, study) == []
    assert "another silo" in (place / "aurora" / "refused" / "m.json.txt").read_text()


def test_a_file_that_grows_is_waited_for(drop, studies):
    folder, place, study = drop
    data, file = message("aurora"), place / "aurora" / "m.json"
    for end in (100, 200, len(data)):
        file.write_bytes(data[:end])
        assert folder.look() == 0

    assert folder.look() == 1
    assert received(studies, study) == ["aurora"]


@pytest.mark.parametrize("name", [".m.json", "m.json.part", "m.json.filepart", "m.tmp", "m.json~"])
def test_a_file_with_a_name_for_the_time_of_writing_is_left_alone(drop, name):
    folder, place, _ = drop
    (place / "aurora" / name).write_bytes(message("aurora"))

    assert look(folder) == 0
    assert names(place / "aurora") == [name]


def symlink(place, secret):
    (place / "m.json").symlink_to(secret)


def hard_link(place, secret):
    os.link(secret, place / "m.json")


def subfolder(place, _):
    (place / "m.json").mkdir()


def pipe(place, _):
    os.mkfifo(place / "m.json")


def huge(place, _):
    with (place / "m.json").open("wb") as file:
        file.truncate(9 << 20)


@pytest.mark.parametrize("trick", [symlink, hard_link, subfolder, pipe, huge])
def test_what_is_not_a_file_of_its_own_is_refused(drop, studies, tmp_path, trick):
    """Here a message of the silo itself is somewhere else, so that only the way to it is wrong."""
    folder, place, study = drop
    secret = tmp_path / "elsewhere.json"
    secret.write_bytes(message("aurora"))
    trick(place / "aurora", secret)

    assert look(folder) == 1
    assert received(studies, study) == []
    assert secret.read_bytes() == message("aurora")
    assert "m.json.txt" in names(place / "aurora" / "refused")


@pytest.mark.parametrize("name", ["accepted", "refused"])
def test_a_link_in_place_of_a_folder_leads_nowhere(drop, studies, tmp_path, name):
    folder, place, study = drop
    outside = tmp_path / "outside"
    outside.mkdir()
    (place / "aurora" / name).symlink_to(outside)
    (place / "aurora" / "m.json").write_bytes(
        message("aurora" if name == "accepted" else "bayside")
    )
    (place / "bayside" / "m.json").write_bytes(message("bayside"))
    for _ in range(5):
        look(folder)

    assert names(outside) == []
    assert "bayside" in received(studies, study)  # the others go on
    assert len(studies.store.events(study)) < 6  # it is not taken again and again


def test_a_link_in_place_of_a_silos_folder_leads_nowhere(drop, studies, tmp_path):
    folder, place, study = drop
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "m.json").write_bytes(message("aurora"))
    (place / "aurora").rmdir()
    (place / "aurora").symlink_to(outside)

    assert look(folder) == 0
    assert (received(studies, study), names(outside)) == ([], ["m.json"])


def test_names_of_silos_are_no_paths(studies, tmp_path):
    silos = ("../../etc", "a/b", "..", "x")
    study = studies.create(plan(silos=silos).to_toml(), deadline=None)
    DropFolder(str(tmp_path / "drop"), studies).look()

    assert len(names(tmp_path / "drop" / study)) == 4
    assert names(tmp_path / "drop") == [study]


def test_a_name_as_long_as_can_be_is_refused_with_its_text(drop):
    folder, place, _ = drop
    (place / "aurora" / ("x" * 255)).write_bytes(b"{}")
    look(folder)

    assert names(place / "aurora" / "refused") == ["x" * 200, "x" * 200 + ".txt"]


def pipe_for_the_reason(place, _):
    os.mkfifo(place / "m.json.txt")


def second_name_of_a_file(place, precious):
    os.link(precious, place / "m.json.txt")


def link_to_a_file(place, precious):
    (place / "m.json.txt").symlink_to(precious)


@pytest.mark.parametrize("trick", [pipe_for_the_reason, second_name_of_a_file, link_to_a_file])
def test_the_reason_is_written_to_no_file_that_a_silo_prepared(drop, tmp_path, trick):
    """The silo's own folder is the silo's: it may put anything where the collector will write."""
    folder, place, _ = drop
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (place / "aurora" / "refused").mkdir()
    trick(place / "aurora" / "refused", precious)
    (place / "aurora" / "m.json").write_bytes(b"{}")
    taking = threading.Thread(target=look, args=[folder], daemon=True)
    taking.start()
    taking.join(20)

    assert not taking.is_alive()
    assert precious.read_text() == "precious"
    refused = place / "aurora" / "refused"
    assert names(refused) == ["2-m.json", "2-m.json.txt", "m.json.txt"]
    assert "fix: " in (refused / "2-m.json.txt").read_text("utf-8")


def test_a_silo_that_fills_its_folder_keeps_nobody_waiting(drop, studies):
    """One file of each silo at each look: as fast as its token would let it."""
    folder, place, study = drop
    for number in range(50):
        (place / "aurora" / f"{number}.json").write_bytes(b"{}")
    (place / "bayside" / "m.json").write_bytes(message("bayside"))

    assert look(folder) == 2
    assert received(studies, study) == ["bayside"]
    assert folder.look() == 1


def test_files_that_come_and_go_are_forgotten(drop):
    folder, place, _ = drop
    for number in range(5):
        for each in range(20):
            (place / "aurora" / f"{number}-{each}").write_bytes(b"")
        folder.look()
        for each in (place / "aurora").glob(f"{number}-*"):
            each.unlink()
    folder.look()

    assert not any(vars(folder)["_seen"].values())


def test_a_file_that_comes_back_is_taken_again(drop):
    """The auditor has reopened the silo, which moves the same file back."""
    folder, place, _ = drop
    (place / "aurora" / "m.json").write_bytes(message("aurora"))
    look(folder)
    (place / "aurora" / "accepted" / "m.json").rename(place / "aurora" / "m.json")

    assert look(folder) == 1
    assert names(place / "aurora") == ["accepted"]
