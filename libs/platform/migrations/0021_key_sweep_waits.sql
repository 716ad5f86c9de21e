-- Up Migration
-- Processes of the previous version reuse the key of a failed request without refreshing its age. No key is deleted as
-- abandoned while they may still run.
alter table platform.key_sweep add column not_before timestamptz not null default '-infinity';
insert into platform.key_sweep (created_at, subject_id, not_before)
values ('-infinity', '00000000-0000-0000-0000-000000000000', now() + interval '1 day')
on conflict (single) do update set not_before = excluded.not_before;

-- Down Migration
delete from platform.key_sweep where created_at = '-infinity';
alter table platform.key_sweep drop column not_before;
