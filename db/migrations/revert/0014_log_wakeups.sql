-- Keep wake-ups as before 0014, in a table that is not logged.

alter table forebay.wakeups set unlogged;
