"""A silo whose table is in a server: the real command, a password file, the message of a file."""

import pytest
from tests.databases import MARIADB, POSTGRES, created, driver, mariadb, postgres
from tests.e2e.running import files, run
from tests.unit.cli.samples import plan, table, write_table

BASE = ("sketch", "plan.toml", "--silo", "north", "--no-ledger")
SERVERS = {
    "PostgreSQL": (driver(POSTGRES, "adbc"), postgres, "ranked inside PostgreSQL"),
    "MariaDB": (MARIADB, mariadb, "in memory"),
}


@pytest.mark.database
@pytest.mark.parametrize(("address", "server", "way"), SERVERS.values(), ids=SERVERS)
def test_a_server_gives_the_message_of_a_file(address, server, way, tmp_path):
    columns = table(3)
    pairs = zip(columns["score"].tolist(), columns["group"].tolist(), strict=True)
    name = created(server(), [{"z": score, "race": str(label)} for score, label in pairs])
    plan().write(tmp_path / "plan.toml")
    write_table(tmp_path / "north.csv", columns)
    (tmp_path / "clinic.url").write_text(address)
    (tmp_path / "clinic.url").chmod(0o600)
    read = ("--url-file", "clinic.url", "--table", name, "--score", "z", "--group", "race")

    by_file = run(*BASE, "north.csv", "-o", "file.json", folder=tmp_path)
    by_server = run(*BASE, *read, "-o", "server.json", "--verbose", folder=tmp_path)

    assert (by_file[0], by_server[0]) == (0, 0), by_server[2]
    assert way in by_server[2]
    assert (tmp_path / "file.json").read_bytes() == (tmp_path / "server.json").read_bytes()
    assert run("verify", "plan.toml", "server.json", folder=tmp_path)[0] == 0


def test_6_a_database_that_does_not_answer(tmp_path):
    plan().write(tmp_path / "plan.toml")
    address = "postgresql://root@127.0.0.1:1/test"

    code, out, err = run(*BASE, address, "--table", "visits", folder=tmp_path)

    assert (code, out) == (6, "")
    assert "cannot be reached" in err
    assert err.splitlines()[-1].startswith("fix: ")
    assert files(tmp_path) == ["plan.toml"]
