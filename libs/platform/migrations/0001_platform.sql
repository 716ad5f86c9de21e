-- Up Migration
create schema if not exists platform;

-- Data keys of readings, wrapped by a key-encryption key. Deleting a row erases the reading.
create table platform.subject_key (
  subject_id    uuid primary key,
  workspace_id  text not null,
  wrapped_key   bytea not null,
  created_at    timestamptz not null default now()
);

-- Heartbeats of worker processes. The API's readiness reads them.
create table platform.heartbeat (
  instance  text primary key,
  role      text not null,
  beat_at   timestamptz not null default now()
);

-- Down Migration
drop schema platform cascade;
