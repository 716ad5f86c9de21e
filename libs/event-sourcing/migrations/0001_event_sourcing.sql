-- Up Migration
create schema if not exists event_sourcing;

-- One row per projection or process. Its position moves in the same transaction as the rows it accounts for.
create table event_sourcing.consumer (
  name             text primary key,
  categories       text[] not null default '{}',   -- of the streams it follows
  position         numeric(20, 0),                 -- last event handled; null: none yet
  -- That event. A log that does not have it is not the one of this database.
  event_id         uuid,
  event_place      text,                           -- <stream>@<revision>
  status           text not null default 'running' check (status in ('running', 'halted')),
  error            text,                           -- why it halted, without personal data
  halted_stream    text,                           -- of the event it halted at
  halted_position  numeric(20, 0),
  epoch            bigint not null default 0,      -- moves with every intervention from outside: consumers reload their state
  updated_at       timestamptz not null default now()
);

-- The first event of each stream that waits, because a view could not apply it; all later events of the stream wait with it.
create table event_sourcing.parked_event (
  consumer        text not null,
  position        numeric(20, 0) not null,
  stream          text not null,
  revision        numeric(20, 0),                  -- of the event in its stream
  event_id        uuid not null,
  event_type      text not null,
  key             text,                            -- what the consumer parks together: all streams of one entity
  error           text not null,
  cause_stream    text,                            -- the event that keeps it from being handled; often itself
  cause_revision  numeric(20, 0),
  parked_at       timestamptz not null default now(),
  tried_at        timestamptz,                     -- the last attempt; null: an operator asked for one
  primary key (consumer, position)
);
create index parked_event_stream on event_sourcing.parked_event (consumer, stream);
create index parked_event_key on event_sourcing.parked_event (consumer, key);

-- Events that an operator chose to skip.
create table event_sourcing.skipped_event (
  consumer        text not null,
  position        numeric(20, 0) not null,
  stream          text not null,
  error           text not null,
  skipped_by      text not null,
  reason          text not null,
  skipped_at      timestamptz not null default now(),
  quarantined_at  timestamptz,
  primary key (consumer, position)
);

-- Who had a stopped stream tried again, and why.
create table event_sourcing.retried_stream (
  consumer    text not null,
  stream      text not null,
  cause       text not null,                       -- <stream>@<revision> of the event that stopped it
  error       text not null,                       -- of the attempt before
  retried_by  text not null,
  reason      text,                                -- null: none was given
  retried_at  timestamptz not null default now(),
  primary key (consumer, stream, retried_at)
);
create index retried_stream_latest on event_sourcing.retried_stream (retried_at);

-- Versions of a projection's tables. The live one has the plain table names; others are named <table>__v<version>, and
-- have a checkpoint of their own, named <projection>__v<version>. Without a row the live version is 1.
create table event_sourcing.projection_version (
  projection            text not null,
  version               integer not null,
  state                 text not null check (state in ('building', 'live', 'retired')),
  program               text,                      -- the build that makes its rows
  verified_position     numeric(20, 0),            -- where it was compared with the live version, row by row
  verified_quarantines  bigint,                    -- decisions about quarantines that the projection's streams had then
  differences           bigint,                    -- rows that differed there
  created_at            timestamptz not null default now(),
  switched_at           timestamptz,
  switched_by           text,
  reason                text,                      -- why differences were accepted
  primary key (projection, version)
);
create unique index projection_version_live on event_sourcing.projection_version (projection) where state = 'live';
create unique index projection_version_building on event_sourcing.projection_version (projection)
  where state = 'building';

-- Down Migration
drop schema event_sourcing cascade;
