-- Drop what 0013 made room for. The functions of the release before have to be applied again after it.

drop function if exists forebay.runs_to_bill(text[], text, bigint, integer, text[]);
