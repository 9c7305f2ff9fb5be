"""A small db folder that a test may change, beside the real one."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from forebay.schema import install_script
from forebay.schema.files import sql_root

NOTES = """\
create table forebay.notes (
    note_id bigint generated always as identity,
    note text not null,
    constraint notes_pkey primary key (note_id)
);
"""
ADD_NOTE = """\
create or replace function forebay.add_note(p_note text)
    returns bigint
    language sql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Keep a note.
insert into forebay.notes (note) values (p_note) returning note_id;
$function$;

comment on function forebay.add_note is 'Keep a note.';
"""
SCHEMA_VERSION = """\
create or replace function forebay.schema_version()
    returns text
    language sql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
select h.name
from forebay.schema_history as h
where h.kind = 'release'
order by string_to_array(h.name, '.')::integer[] desc
limit 1
$function$;
"""
TRIGGER = """\
create or replace function forebay._trim_note()
    returns trigger
    language plpgsql
    volatile
    set search_path = pg_catalog, pg_temp
as $function$
begin
    new.note := btrim(new.note);
    return new;
end;
$function$;

create or replace trigger notes_trim
    before insert on forebay.notes
    for each row execute function forebay._trim_note();
"""
GRANTS = """\
grant usage on schema forebay to forebay_agent, forebay_viewer;
grant execute on function forebay.add_note to forebay_agent;
grant execute on function forebay.schema_version to forebay_viewer;
"""


@dataclass(frozen=True, slots=True)
class Tree:
    """A db folder with the real roles and installer, and other objects, which tests may change."""

    root: Path

    @classmethod
    def create(cls, root: Path) -> Tree:
        """Write a folder with one table, one function for each of two callers, and a trigger."""
        shutil.copytree(sql_root() / "install", root / "install")
        roles = "migrations/0001_create_roles.sql"
        (root / "migrations").mkdir()
        shutil.copy(sql_root() / roles, root / roles)
        tree = cls(root)
        tree.write("migrations/0002_create_notes.sql", NOTES)
        tree.write("functions/agent/add_note.sql", ADD_NOTE)
        tree.write("functions/viewer/schema_version.sql", SCHEMA_VERSION)
        tree.write("triggers/notes.sql", TRIGGER)
        tree.write("grants.sql", GRANTS)
        return tree

    def write(self, name: str, text: str) -> None:
        """Write a file, and db/install.sql with it."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (self.root / "install.sql").write_text(install_script(self.root))

    def change_function(self) -> str:
        """Change a function's body, and return the file's name."""
        name = "functions/agent/add_note.sql"
        self.write(name, ADD_NOTE.replace("(p_note)", "(upper(p_note))"))
        return name
