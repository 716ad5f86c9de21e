-- Up Migration
-- A result's SHA-256 would name an erased person to whoever has candidates. The column stays, empty, for processes of the
-- version before.
alter table readings.result alter column sha256 drop not null;
update readings.result set sha256 = null;

-- Down Migration
-- What was removed cannot be made again: the table is filled from the log.
delete from readings.result;
alter table readings.result alter column sha256 set not null;
