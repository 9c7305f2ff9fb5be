"""What the catalogs say of schema forebay, in a form that two databases can be compared by."""

from __future__ import annotations

import psycopg

QUERIES = {
    "schema": """
        select pg_get_userbyid(n.nspowner), n.nspacl::text
        from pg_namespace as n where n.nspname = 'forebay'""",
    "default privileges": """
        select d.defaclrole::regrole, d.defaclobjtype::text, d.defaclacl::text
        from pg_default_acl as d""",
    "relations": """
        select c.relname, c.relkind, pg_get_userbyid(c.relowner), c.reloptions::text, c.relacl::text
        from pg_class as c where c.relnamespace = 'forebay'::regnamespace""",
    "columns": """
        select c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
            a.attidentity, pg_get_expr(d.adbin, d.adrelid), a.attacl::text
        from pg_attribute as a
        join pg_class as c on c.oid = a.attrelid
        left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where c.relnamespace = 'forebay'::regnamespace and a.attnum > 0 and not a.attisdropped""",
    "constraints": """
        select c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid), c.convalidated
        from pg_constraint as c where c.connamespace = 'forebay'::regnamespace""",
    "indexes": """
        select pg_get_indexdef(i.indexrelid), i.indisvalid
        from pg_index as i join pg_class as c on c.oid = i.indrelid
        where c.relnamespace = 'forebay'::regnamespace""",
    "sequences": """
        select s.seqrelid::regclass, s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcycle
        from pg_sequence as s join pg_class as c on c.oid = s.seqrelid
        where c.relnamespace = 'forebay'::regnamespace""",
    "triggers": """
        select pg_get_triggerdef(t.oid), t.tgenabled
        from pg_trigger as t join pg_class as c on c.oid = t.tgrelid
        where c.relnamespace = 'forebay'::regnamespace and not t.tgisinternal""",
    "types": """
        select t.typname, t.typtype, pg_get_userbyid(t.typowner), t.typacl::text
        from pg_type as t where t.typnamespace = 'forebay'::regnamespace""",
    "functions": """
        select p.oid::regprocedure, pg_get_functiondef(p.oid), p.prosrc, p.proconfig::text,
            pg_get_userbyid(p.proowner),
            (select string_agg(a::text, ' ' order by a::text) from unnest(p.proacl) as a)
        from pg_proc as p where p.pronamespace = 'forebay'::regnamespace""",
    "comments": """
        select o.identity, d.description
        from pg_description as d, pg_identify_object(d.classoid, d.objoid, d.objsubid) as o
        where o.schema = 'forebay' or o.identity like 'forebay.%'""",
    "ledger": "select h.name, h.kind, h.sha256, h.release from forebay.schema_history as h",
}

Catalog = dict[str, list[str]]


def read(dsn: str) -> Catalog:
    """Return every catalog's rows as sorted text; empty lists where nothing is installed."""
    with psycopg.connect(dsn) as conn:
        installed = conn.execute("select from pg_namespace where nspname = 'forebay'").rowcount
        if not installed:
            return {name: [] for name in QUERIES}
        conn.execute("set role forebay_owner")
        return {
            name: sorted(map(str, conn.execute(query.encode()).fetchall()))
            for name, query in QUERIES.items()
        }
