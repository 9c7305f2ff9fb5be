"""Who may install, in which database, and what an uninstallation leaves."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from psycopg.conninfo import make_conninfo

from forebay import schema
from forebay.embedded import SUPERUSER
from forebay.schema import SchemaError
from forebay.schema.files import sql_root
from migrations import catalog
from migrations.conftest import NewDatabase, Psql
from migrations.tree import Tree
from support.server import TestServer

Role = Callable[..., str]
UNINSTALL = sql_root() / "uninstall.sql"


def forebay_roles(cluster: TestServer) -> list[str]:
    with cluster.superuser() as conn:
        rows = conn.execute(
            "select r.rolname from pg_roles as r where r.rolname like 'forebay\\_%'"
        )
        return sorted(name for (name,) in rows if name not in (SUPERUSER, "forebay_dba"))


def test_a_second_database_of_the_cluster_installs(new_database: NewDatabase, tree: Tree) -> None:
    """Roles belong to the cluster: the second database finds them and gets the same schema."""
    first, second = new_database(), new_database()
    for dsn in (first, second):
        schema.upgrade(dsn, root=tree.root)
    assert catalog.read(first) == catalog.read(second)


def test_databases_of_a_cluster_install_at_the_same_moment(
    new_database: NewDatabase, tree: Tree
) -> None:
    """Installations that create the same roles at once all succeed."""
    made = [new_database() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda dsn: len(schema.upgrade(dsn, root=tree.root)), made))
    assert done == [7, 7, 7, 7]


def test_a_superuser_installs_the_same(new_database: NewDatabase, tree: Tree) -> None:
    """An installation by a superuser does not differ from one by the database's owner."""
    by_owner, by_superuser = new_database(), new_database(SUPERUSER)
    for dsn in (by_owner, by_superuser):
        schema.upgrade(dsn, root=tree.root)
    assert catalog.read(by_owner) == catalog.read(by_superuser)


def test_another_role_installs_once_it_may_act_as_the_owner(
    cluster: TestServer, new_database: NewDatabase, role: Role, tree: Tree
) -> None:
    """From Postgres 16 on a CREATEROLE role needs membership in roles that another one created."""
    schema.upgrade(new_database(), root=tree.root)
    dsn = new_database(role("other_dba", "createrole"))
    with cluster.superuser() as conn:
        if conn.info.server_version >= 160000:
            with pytest.raises(
                SchemaError, match='"other_dba" may not act as forebay_owner'
            ) as error:
                schema.upgrade(dsn, root=tree.root)
            assert "grant forebay_owner to other_dba" in str(error.value)
            conn.execute("grant forebay_owner to other_dba")
    assert len(schema.upgrade(dsn, root=tree.root)) == 7
    with cluster.superuser() as conn:
        conn.execute("revoke forebay_owner from other_dba")


def test_roles_are_created_by_who_may(
    cluster: TestServer, new_database: NewDatabase, role: Role, tree: Tree, psql: Psql
) -> None:
    """Without CREATEROLE, and with none of the roles there, the refusal says what is needed."""
    assert forebay_roles(cluster) == []
    dsn = new_database(role("humble"))
    with pytest.raises(SchemaError, match=r'"humble" may not create roles.*CREATEROLE'):
        schema.upgrade(dsn, root=tree.root)
    assert psql(dsn, tree.root / "install.sql").returncode == 3
    assert forebay_roles(cluster) == []


def test_a_stranger_may_not_upgrade(dsn: str, role: Role, tree: Tree, psql: Psql) -> None:
    """A role that is no member of forebay_owner can neither plan nor upgrade, and is told why."""
    schema.upgrade(dsn, root=tree.root)
    stranger = make_conninfo(dsn, user=role("stranger"))
    for refused in (schema.plan, schema.upgrade, schema.verify, schema.status):
        with pytest.raises(SchemaError, match='"stranger" may not act as forebay_owner'):
            refused(stranger, root=tree.root)
    assert psql(stranger, tree.root / "install.sql").returncode == 3


def test_uninstall_and_install_again(cluster: TestServer, dsn: str, tree: Tree, psql: Psql) -> None:
    """uninstall.sql removes schema and roles, twice without an error; then it installs again."""
    schema.upgrade(dsn, root=tree.root)
    before = catalog.read(dsn)
    for _ in range(2):
        done = psql(dsn, UNINSTALL)
        assert done.returncode == 0, done.stderr
        assert not any(catalog.read(dsn).values())
        assert forebay_roles(cluster) == []
    schema.upgrade(dsn, root=tree.root)
    assert catalog.read(dsn) == before


def test_uninstall_leaves_the_roles_that_another_database_needs(
    cluster: TestServer, new_database: NewDatabase, tree: Tree, psql: Psql
) -> None:
    """Roles that another database needs stay, with a notice, and that database still works."""
    kept, removed = new_database(), new_database()
    for dsn in (kept, removed):
        schema.upgrade(dsn, root=tree.root)
    before = catalog.read(kept)
    done = psql(removed, UNINSTALL)
    assert done.returncode == 0, done.stderr
    assert "role forebay_owner stays" in done.stderr
    assert forebay_roles(cluster) == ["forebay_agent", "forebay_owner", "forebay_viewer"]
    assert catalog.read(kept) == before
    assert schema.verify(kept, root=tree.root) == []


@pytest.fixture(autouse=True)
def _no_roles_before(cluster: TestServer, psql: Psql) -> None:
    """Begin each test in a cluster without the roles that earlier tests left."""
    done = psql(cluster.dsn(SUPERUSER, "postgres"), UNINSTALL)
    assert done.returncode == 0, done.stderr
    assert forebay_roles(cluster) == []
