-- Up Migration

-- A round of retention that has not ended: the first of a big installation takes hours, in parts (ops retention status).
create table platform.retention_progress (
  kind        text primary key,
  began_at    timestamptz not null,
  stepped_at  timestamptz not null,     -- the last step that deleted something
  removed     bigint not null           -- rows so far, as in platform.retention_round
);

-- Down Migration
drop table platform.retention_progress;
