-- Up Migration
-- How far the process's clock was ahead of PostgreSQL's when they were last compared (ms); null: unknown.
alter table platform.heartbeat add column host text, add column ahead_ms double precision;

-- Down Migration
alter table platform.heartbeat drop column host, drop column ahead_ms;
