-- Bring back the index that 0008 replaced. The functions of the release before have to be applied again after it.

create index batches_owner on forebay.batches (owner, batch_id) where owner is not null;
drop index forebay.batches_owner_folded;
