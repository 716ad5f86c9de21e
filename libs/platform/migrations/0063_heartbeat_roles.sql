-- Up Migration
-- What a worker does (WORKER_ROLES). Null: an API process, or a program that does not say it, which may do everything.
alter table platform.heartbeat add column roles text[];

-- Down Migration
alter table platform.heartbeat drop column roles;
