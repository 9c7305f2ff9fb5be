-- Drop what 0012 added. The functions that use it must be gone, and those of the release before applied again after it.
--
-- A branch stays marked as one (is_branch); whether it was masked is forgotten.

drop type forebay.branch_state, forebay.mask_state, forebay.clone;
drop table forebay.masked_names;
alter table forebay.installation
drop column home,
drop column opened_home,
drop column prepared,
drop column branch_name,
drop column branch_of,
drop column branched_at,
drop column mask_step,
drop column mask_after,
drop column masked_at;
