-- Up Migration
create schema if not exists event_sourcing;

-- One row per projection or process. Its position moves in the same transaction as the rows it accounts for.
create table event_sourcing.consumer (
  name        text primary key,
  position    numeric(20, 0),             -- last event handled; null: none yet
  status      text not null default 'running' check (status in ('running', 'halted')),
  error       text,                       -- why it halted, without personal data
  updated_at  timestamptz not null default now()
);

-- Events that a view could not apply, and all later events of the same stream, in order.
create table event_sourcing.parked_event (
  consumer    text not null,
  position    numeric(20, 0) not null,
  stream      text not null,
  event_id    uuid not null,
  event_type  text not null,
  error       text not null,
  parked_at   timestamptz not null default now(),
  primary key (consumer, position)
);
create index parked_event_stream on event_sourcing.parked_event (consumer, stream);

-- Down Migration
drop schema event_sourcing cascade;
