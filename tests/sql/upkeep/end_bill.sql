-- end_bill: the next reading begins from the one that ended.
begin;
select plan(9);
select stop_clock();
set local role forebay_owner;
create temporary view reading as
select
    s.as_of,
    s.read_at,
    s.settings
from forebay.compute_sources as s
where s.source = 'billing';
set local role forebay_upkeep;
select lives_ok($$ select forebay.end_bill(noon('-1 h'), p_settings => 'all') $$, 'a reading may have nothing to record');
set local role forebay_owner;
select results_eq($$ select * from reading $$, $$ values (noon('-1 h'), noon('-1 h'), 'all') $$, 'it was read as of when that began, and how');
set local role forebay_upkeep;
select throws_ok($$ select forebay.end_bill(noon('-2 h')) $$, 'QF206', null, 'an earlier reading does not end after it');
select given($$ select forebay.end_bill(noon('9 years')) $$);
set local role forebay_owner;
select results_eq($$ select * from reading $$, $$ values (noon(), noon(), null::text) $$, 'a time to come is taken for now');
update forebay.compute_sources set as_of = noon('9 years');
set local role forebay_upkeep;
select given($$ select forebay.end_bill(noon()) $$);
set local role forebay_owner;
select results_eq($$ select * from reading $$, $$ values (noon(), noon(), null::text) $$, 'and none stays');
set local role forebay_upkeep;
select throws_ok($$ select forebay.end_bill(null) $$, '22023', null, 'a reading began at a time');
select throws_ok($$ select forebay.end_bill(noon(), '') $$, '22023', null, 'a source has a name');
select throws_ok($$ select forebay.end_bill(noon(), p_settings => '') $$, '22023', null, 'settings say something');
select only_callable_by('{upkeep}', $$ select forebay.end_bill(now()) $$);
select finish();
rollback;
