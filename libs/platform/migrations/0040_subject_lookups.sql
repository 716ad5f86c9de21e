-- Up Migration
-- Keyed digests by which a subject is found, such as those of the caller's own ids. They are in the row of its key, so
-- nothing can destroy the key and leave them.
alter table platform.subject_key add column lookups bytea[];
create index subject_key_lookups on platform.subject_key using gin (lookups) where lookups is not null;

-- Down Migration
drop index platform.subject_key_lookups;
alter table platform.subject_key drop column lookups;
