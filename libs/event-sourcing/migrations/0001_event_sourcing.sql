-- Up Migration
create schema if not exists event_sourcing;

-- One row per projection or process. Its position moves in the same transaction as the rows it accounts for.
create table event_sourcing.consumer (
  name             text primary key,
  categories       text[] not null default '{}',  -- stream categories it follows
  position         numeric(20, 0),                -- last position handled; null: none yet
  event_id         uuid,                          -- last event handled; a log without it is not the one of this database
  event_place      text,                          -- <stream>@<revision> of that event
  epoch            bigint not null default 0,     -- moves with every intervention: a running consumer reloads its state
  status           text not null default 'running' check (status in ('running', 'halted')),
  error            text,                          -- why it halted, without personal data
  halted_stream    text,                          -- of the event it halted at
  halted_position  numeric(20, 0),
  updated_at       timestamptz not null default now()
);

-- Streams that wait for a consumer: from which event on, and because of which event.
create table event_sourcing.parked_stream (
  consumer        text not null,
  key             text not null,            -- what the consumer parks together: all streams of one entity
  stream          text not null,
  revision        numeric(20, 0) not null,  -- of the first event that waits
  position        numeric(20, 0) not null,  -- of the first event that waits
  event_id        uuid not null,
  event_type      text not null,
  cause_stream    text not null,            -- the event that keeps it from being handled; often itself
  cause_revision  numeric(20, 0) not null,
  error           text not null,            -- of the last attempt, without personal data
  parked_at       timestamptz not null default now(),
  tried_at        timestamptz,              -- the last attempt; null: somebody asked for one
  primary key (consumer, key, stream)
);

-- Versions of a projection's tables. The live one has the plain table names; others are named <table>__v<version>, and
-- have a checkpoint of their own, named <projection>__v<version>. Without a row the live version is 1.
create table event_sourcing.projection_version (
  projection         text not null,
  version            integer not null,
  state              text not null check (state in ('building', 'live', 'retired')),
  program            text,                -- the build of the program that makes its rows; null: the first version
  verified_position  numeric(20, 0),      -- where it was compared with the live version, row by row
  differences        bigint,              -- rows that differed there
  created_at         timestamptz not null default now(),
  switched_at        timestamptz,
  switched_by        text,
  reason             text,                -- why differences were accepted
  primary key (projection, version)
);
create unique index projection_version_live on event_sourcing.projection_version (projection) where state = 'live';
create unique index projection_version_building on event_sourcing.projection_version (projection)
  where state = 'building';

-- Down Migration
drop schema event_sourcing cascade;
