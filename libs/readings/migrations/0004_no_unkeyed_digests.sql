-- Up Migration
-- A result's SHA-256 would identify an erased person to anyone with candidates. The column stays, empty, for processes of
-- the previous version.
alter table readings.result alter column sha256 drop not null;
update readings.result set sha256 = null where sha256 is not null;

-- Down Migration
-- The removed digests cannot be restored. The projection fills the table again from the log.
delete from readings.result;
alter table readings.result alter column sha256 set not null;
