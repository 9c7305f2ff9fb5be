-- Every function keeps the house's habits: comment, owner, search_path, labels, names.
begin;
select plan(12);
create temporary view functions as
select
    p.oid,
p.proname,
p.prosrc,
p.proowner,
p.proconfig,
p.prosecdef,
p.prolang,
p.prorettype,
p.proargnames,
    p.proargmodes,
p.pronargs,
p.provolatile,
    p.oid::regprocedure::text as signature,
    p.proname like '\_%' as is_private,
    obj_description(p.oid, 'pg_proc') as comment,
    regexp_replace(
        substring(p.prosrc from '^\n(-- [^\n]*(\n-- [^\n]*)*)'), '\n?-- ', ' ', 'g'
    ) as header
from pg_proc as p
where p.pronamespace = 'forebay'::regnamespace;
grant select on functions to public;
select cmp_ok((select count(*) from functions), '>', 100::bigint, 'there are functions to look at');
select is_empty($$ select signature from functions where comment is null $$, 'each has a comment');
select is_empty(
    $$ select signature, comment, header from functions where ltrim(header) is distinct from comment $$,
    'the comment is the first sentence of the header in the body'
);
select is_empty(
    $$ select signature from functions where proowner <> 'forebay_owner'::regrole $$, 'forebay_owner owns them all'
);
select is_empty(
    $$ select signature from functions
    where not coalesce(proconfig, '{}') @> '{"search_path=pg_catalog, pg_temp"}'
        and (not is_private or prosecdef or prolang <> (select l.oid from pg_language as l where l.lanname = 'sql')) $$,
    'each pins search_path to pg_catalog, pg_temp, but private ones in SQL, which are inlined into those that do'
);
select is_empty(
    $$ select signature from functions
    where prosecdef = is_private and (prorettype <> 'trigger'::regtype or not prosecdef) $$,
    'public ones are security definer, private ones are not, but a trigger that fires when its caller is gone'
);
select is_empty(
    $$ select proname from functions where not is_private group by proname having count(*) > 1 $$,
    'no public function is overloaded: named arguments are never ambiguous'
);
select is_empty(
    $$ select f.signature, a.name from functions as f cross join unnest(f.proargnames, f.proargmodes) as a (name, mode)
    where coalesce(a.mode, 'i') = 'i' and a.name not like 'p\_%' $$,
    'every argument has a name that starts with p_'
);
select is_empty(
    $$ select signature from functions where pronargs > cardinality(coalesce(proargnames, '{}')) $$,
    'and none is nameless'
);
select is_empty(
    $$ select signature from functions as f inner join pg_language as l on l.oid = f.prolang
    where l.lanname not in ('sql', 'plpgsql') $$,
    'plpgsql is the only extension that they need'
);
select is_empty(
    $$ select signature from functions
    where provolatile <> 'v' and prosrc ~* '\m(insert into|delete from|for no key update|nextval|setval)\M' $$,
    'what writes or locks is volatile'
);
select bag_eq(
    $$ select proname::text, provolatile::text from functions where not is_private and provolatile <> 'v' $$,
    $$ values ('agent_names', 's'), ('agent_status', 's'), ('attempts_to_cost', 's'), ('batch_explanations', 's'),
        ('batch_outlook', 's'), ('batch_progress', 's'), ('batch_results', 's'), ('batch_tasks', 's'),
        ('batch_tasks_by_confidence', 's'), ('begin_bill', 's'), ('branch_state', 's'), ('cost_by', 's'),
        ('cost_sources', 's'), ('cost_summary', 's'), ('count_matching', 's'), ('customer_costs', 's'),
        ('customer_status', 's'), ('explain_task', 's'), ('folder_to_clean', 's'), ('health', 's'),
        ('held_roles', 's'),
        ('known_attempts', 's'), ('list_attempts', 's'), ('list_audit', 's'), ('list_batches', 's'),
        ('list_clones', 's'), ('list_compute_sources', 's'), ('list_prices', 's'), ('list_tasks', 's'),
        ('list_uploads', 's'), ('metric_series', 's'), ('metrics', 's'),
        ('monitoring', 's'), ('own_batches', 's'), ('quota_status', 's'), ('read_batch_explanations', 's'),
        ('read_batch_outlook', 's'), ('read_batch_results', 's'), ('read_batch_tasks', 's'),
        ('read_batch_tasks_by_confidence', 's'), ('registered_agents', 's'), ('runs_to_bill', 's'),
        ('schema_version', 's'), ('shared_costs', 's'), ('table_sizes', 's'),
        ('task_counts', 's'), ('task_detail', 's'), ('task_result', 's'), ('was_prepared', 's') $$,
    'of the public ones those that only show are stable, and the others volatile'
);
select finish();
rollback;
