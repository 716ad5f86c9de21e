-- Up Migration
-- Batches of readings, projected from their streams: for finding those that have not ended.
create table readings.batch (
  batch_id        uuid primary key,
  workspace_id    text not null,
  livemode        boolean not null,
  accepted        integer not null,
  requested_at    timestamptz not null,
  ended_at        timestamptz,
  correlation_id  text not null
);
create index batch_open on readings.batch (requested_at) where ended_at is null;

-- Down Migration
drop table readings.batch;
