-- Callers have EXECUTE on the functions of their own role, and nothing else in this schema.
begin;
select plan(11);
create temporary view callers as
select
    'forebay_' || r.name as role,
    r.name as caller
from unnest(array['submitter', 'worker', 'agent', 'operator', 'viewer', 'reader', 'upkeep']) as r (name);
create temporary view functions as
select
    p.oid,
    p.proname::text as name,
    p.proname like '\_%' as is_private,
    p.proacl,
    p.proowner
from pg_proc as p
where p.pronamespace = 'forebay'::regnamespace;
select results_eq(
    $$ select c.caller, string_agg(f.name, ' ' order by f.name) collate "default"
    from callers as c inner join functions as f on has_function_privilege(c.role, f.oid, 'execute')
    group by c.caller order by c.caller $$,
    $$ values
        ('agent', 'begin_attempt callback complete complete_many fail held_roles known_attempts may_call report_progress '
            || 'report_usage schema_version server_time'),
        ('operator', 'act_on_matching annotate cancel held_roles lift_spend_cap open_installation pause_agent price_calls '
            || 'register_agent register_customer register_price register_quota reprioritize reprocess resume_agent retry '
            || 'schema_version server_time'),
        ('reader', 'held_roles read_batch_explanations read_batch_outlook read_batch_results read_batch_tasks '
            || 'read_batch_tasks_by_confidence schema_version server_time task_result'),
        ('submitter',
            'batch_explanations batch_outlook batch_results batch_tasks batch_tasks_by_confidence cancel_batch '
            || 'drop_upload enqueue enqueue_many finish_upload held_roles list_uploads open_batch open_upload own_batches '
            || 'registered_agents retry_batch retry_batch_tasks schema_version server_time '
            || 'submit_uploads'),
        ('upkeep', 'announcement_sent attempts_to_cost attempts_to_trace begin_bill begin_branch branch_copied '
            || 'branch_state collect_announcements end_bill finish_branch folder_to_clean held_roles list_clones mask_data '
            || 'prepare_branch record_bill record_compute_usage record_traces runs_to_bill schema_version server_time sweep uploads_cleaned '
            || 'uploads_to_clean was_prepared'),
        ('viewer', 'agent_names agent_status batch_progress cost_by cost_sources cost_summary count_matching '
            || 'customer_costs customer_status explain_task health held_roles list_attempts list_audit list_batches '
            || 'list_compute_sources list_prices list_tasks metric_series metrics monitoring quota_status '
            || 'schema_version server_time shared_costs table_sizes task_counts task_detail'),
        ('worker', 'adopt dequeue held_roles observe_launcher observe_run record_run recover_claims release renew_leases '
            || 'runs_before runs_to_cancel '
            || 'schema_version server_time sweep') $$,
    'each role may call the functions of its folder'
);
select is_empty(
    $$ select f.name from functions as f
    where not f.is_private and not exists (select from callers as c
    where has_function_privilege(c.role, f.oid, 'execute')) $$,
    'every public function has a caller'
);
select is_empty(
    $$ select c.caller, f.name from functions as f, callers as c
    where f.is_private and has_function_privilege(c.role, f.oid, 'execute') $$,
    'no caller may call a private function'
);
select is_empty(
    $$ select f.name from functions as f, aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) as a
    where a.grantee = 0 $$,
    'PUBLIC may execute none'
);
select is_empty(
    $$ select c.caller, r.relname from pg_class as r, callers as c
    where r.relnamespace = 'forebay'::regnamespace and r.relkind in ('r', 'v', 'm', 'p', 'f', 'c')
        and has_table_privilege(c.role, r.oid, 'select, insert, update, delete, truncate, references, trigger') $$,
    'no caller has any privilege on a table or a row type'
);
select is_empty(
    $$ select c.caller, r.relname from pg_class as r, callers as c
    where r.relnamespace = 'forebay'::regnamespace and r.relkind in ('r', 'v', 'm', 'p', 'f')
        and has_any_column_privilege(c.role, r.oid, 'select, insert, update, references') $$,
    'nor on a column'
);
select is_empty(
    $$ select c.caller, r.relname from pg_class as r, callers as c
    where r.relnamespace = 'forebay'::regnamespace and r.relkind = 'S'
        and has_sequence_privilege(c.role, r.oid, 'select, usage, update') $$,
    'nor on a sequence'
);
select is_empty(
    $$ select c.caller from callers as c
    where has_schema_privilege(c.role, 'forebay', 'create') or not has_schema_privilege(c.role, 'forebay', 'usage') $$,
    'callers may use the schema, and create nothing in it'
);
select is_empty(
    $$ select r.relname from pg_class as r
    where r.relnamespace = 'forebay'::regnamespace and r.relowner <> 'forebay_owner'::regrole $$,
    'forebay_owner owns every relation'
);
select is_empty(
    $$ select c.caller from callers as c inner join pg_roles as r on r.rolname = c.role
    where r.rolcanlogin or r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolbypassrls
        or pg_has_role(r.oid, 'forebay_owner', 'member') $$,
    'callers'' roles cannot log in, have no attribute, and are not the owner'
);
set local role forebay_worker;
select throws_ok($$ select * from forebay.tasks $$, '42501', null, 'a worker that reads the table is refused');
select finish();
rollback;
