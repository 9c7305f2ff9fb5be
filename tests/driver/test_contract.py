"""Python's calls, rows and errors are those of the database, compared with its catalog."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import typing
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any
from uuid import UUID

import psycopg
import pytest

import forebay
from forebay import calls, errors, rows
from forebay.calls._call import sql_type

ROLES = [module.name for module in pkgutil.iter_modules(calls.__path__) if module.name[0] != "_"]
ROW_TYPES = {cls.__name__: cls for cls in vars(rows).values() if dataclasses.is_dataclass(cls)}
FIELD_TYPES: dict[Any, set[str]] = {
    int: {"integer", "bigint"},
    str: {"text"},
    bool: {"boolean"},
    float: {"double precision"},
    Decimal: {"numeric"},
    date: {"date"},
    datetime: {"timestamp with time zone"},
    timedelta: {"interval"},
    UUID: {"uuid"},
    dict: {"jsonb"},
    list: {"jsonb", "bigint[]", "date[]", "text[]"},
}
SAME_TYPE = {"timestamptz": "timestamp with time zone"}

PUBLIC_FUNCTIONS = """
select p.proname, p.proargnames, p.pronargdefaults,
    array(
        select format_type(arg.type, null)
        from unnest(p.proargtypes) with ordinality as arg (type, place) order by arg.place
    ),
    pg_get_function_arguments(p.oid), t.typname, t.typtype, p.proretset
from pg_proc as p join pg_type as t on t.oid = p.prorettype
where p.pronamespace = 'forebay'::regnamespace
    and p.proname not like '\\_%' and t.typname <> 'trigger'
"""
MAY_EXECUTE = """
select r.rolname from pg_roles as r
where r.rolname = any(%s) and has_function_privilege(r.oid, %s::regproc, 'execute')
"""


@dataclasses.dataclass(frozen=True, slots=True)
class SqlFunction:
    """A public function as pg_proc has it."""

    name: str
    names: list[str] | None
    default_count: int
    types: list[str]
    arguments: str
    returns: str
    returns_kind: str
    returns_set: bool


def stored_functions() -> dict[tuple[str, str], Callable[..., Any]]:
    """Return the calls of all modules by role and name."""
    found = {}
    for role in ROLES:
        module = importlib.import_module(f"forebay.calls.{role}")
        for name, value in vars(module).items():
            if hasattr(value, "__wrapped__"):
                found[role, name] = value
    return found


CALLS = stored_functions()


@pytest.fixture
def public(superuser: psycopg.Connection) -> dict[str, SqlFunction]:
    """Return the public functions by name."""
    with superuser.cursor() as cursor:
        return {row[0]: SqlFunction(*row) for row in cursor.execute(PUBLIC_FUNCTIONS).fetchall()}


def test_there_is_one_call_for_every_public_function_and_no_other(
    public: dict[str, SqlFunction],
) -> None:
    """A function without a call is out of reach from Python; a call without one always fails."""
    assert {name for _, name in CALLS} == set(public)


def test_a_call_stands_in_the_module_of_every_role_that_may_make_it(
    public: dict[str, SqlFunction], superuser: psycopg.Connection
) -> None:
    """The module is the role: what it holds is what the role may execute."""
    roles = [f"forebay_{role}" for role in ROLES]
    for name in public.keys() - {"held_roles", "schema_version", "server_time"}:
        allowed = superuser.execute(MAY_EXECUTE, [roles, f"forebay.{name}"]).fetchall()
        assert {f"forebay_{role}" for role, call in CALLS if call == name} == {
            role for (role,) in allowed
        }, name


def test_arguments_have_the_same_names_order_types_and_defaults(
    public: dict[str, SqlFunction],
) -> None:
    """Python's keyword is the parameter without p_, cast to the very type of the parameter."""
    for (_, name), call in CALLS.items():
        parameters = list(inspect.signature(call).parameters.values())[1:]
        hints = typing.get_type_hints(call, include_extras=True)
        assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in parameters), name
        wanted = public[name]
        assert [f"p_{one.name.rstrip('_')}" for one in parameters] == (wanted.names or []), name
        types = [sql_type(hints[one.name]) for one in parameters]
        assert [SAME_TYPE.get(type_, type_) for type_ in types] == wanted.types, name
        optional = [one for one in parameters if one.default is not inspect.Parameter.empty]
        assert len(optional) == wanted.default_count, name


def test_defaults_have_the_same_values(
    public: dict[str, SqlFunction], superuser: psycopg.Connection
) -> None:
    """What is left out means the same from Python as from psql."""
    for (_, name), call in CALLS.items():
        defaults = re.findall(r"p_(\w+) [^,]+? DEFAULT (.+?)(?=, p_|$)", public[name].arguments)
        assert len(defaults) == public[name].default_count, name
        for argument, expression in defaults:
            (value,) = superuser.execute(f"select {expression}").fetchone() or ()
            parameters = inspect.signature(call).parameters
            parameter = parameters.get(argument) or parameters[f"{argument}_"]
            assert parameter.default == value, f"{name}.{argument}"


def test_a_call_returns_what_the_function_returns(public: dict[str, SqlFunction]) -> None:
    """A set is a list, a composite its dataclass, void None, and a scalar its Python type."""
    for (_, name), call in CALLS.items():
        returned = typing.get_type_hints(call)["return"]
        function = public[name]
        assert (typing.get_origin(returned) is list) == function.returns_set, name
        row = typing.get_args(returned)[0] if function.returns_set else returned
        if function.returns_kind == "c":
            assert row is ROW_TYPES[_camel(function.returns)], name
        else:
            scalar = {
                "bool": bool,
                "text": str,
                "int8": int,
                "int4": int,
                "numeric": Decimal,
                "jsonb": dict,
                "void": NoneType,
                "timestamptz": datetime,
                "uuid": UUID,
            }
            assert _plain(row) is scalar[function.returns], name


def test_every_row_type_has_its_dataclass_with_the_same_fields(
    public: dict[str, SqlFunction], superuser: psycopg.Connection
) -> None:
    """A row type and its dataclass have the same fields, in the same order, of fitting types."""
    columns = superuser.execute(
        """
        select c.relname, array_agg(a.attname::text order by a.attnum),
            array_agg(format_type(a.atttypid, null) order by a.attnum)
        from pg_class as c join pg_attribute as a on a.attrelid = c.oid
        where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'c'
        group by c.relname
        """
    ).fetchall()
    returned = {function.returns for function in public.values() if function.returns_kind == "c"}
    assert {_camel(name) for name in returned} == set(ROW_TYPES)
    for name, names, types in columns:
        if name not in returned:
            continue
        cls = ROW_TYPES[_camel(name)]
        hints = typing.get_type_hints(cls)
        assert [field.name for field in dataclasses.fields(cls)] == names, name
        for field, type_ in zip(names, types, strict=True):
            assert type_ in FIELD_TYPES[_plain(hints[field])], f"{name}.{field}"


def test_every_code_of_the_functions_has_its_error_class(superuser: psycopg.Connection) -> None:
    """A QF code that leaves a function is in BY_SQLSTATE, and nothing else is."""
    bodies = superuser.execute(
        "select prosrc from pg_proc where pronamespace = 'forebay'::regnamespace"
    ).fetchall()
    raised = {code for (body,) in bodies for code in re.findall(r"errcode = '(QF...)'", body)}
    caught = {code for (body,) in bodies for code in re.findall(r"when sqlstate '(QF...)'", body)}
    assert raised - caught == set(errors.BY_SQLSTATE)


def test_an_error_class_carries_the_code_it_is_filed_under() -> None:
    """BY_SQLSTATE and the classes' own sqlstate cannot disagree."""
    assert {code: cls.sqlstate for code, cls in errors.BY_SQLSTATE.items()} == {
        code: code for code in errors.BY_SQLSTATE
    }
    assert all(cls.__doc__ for cls in errors.BY_SQLSTATE.values())


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _plain(hint: Any) -> Any:
    """Return the class behind `X | None`, a Literal or a generic."""
    if typing.get_origin(hint) in (typing.Union, UnionType):
        hint = next(part for part in typing.get_args(hint) if part is not NoneType)
    if typing.get_origin(hint) is typing.Literal:
        return str
    return typing.get_origin(hint) or hint


def test_importing_the_package_stays_quick() -> None:
    """`import forebay` loads no psycopg; each public name is loaded when it is asked for."""
    script = "import sys, forebay; assert 'psycopg' not in sys.modules, 'psycopg is loaded'"
    subprocess.run([sys.executable, "-c", script], check=True)
    for name in forebay.__all__:
        assert getattr(forebay, name) is not None
    with pytest.raises(AttributeError):
        forebay.nonsense  # noqa: B018
