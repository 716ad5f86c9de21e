-- Up Migration

-- What an operator must know of a consumer, and the number that makes a running consumer reload its state.
alter table event_sourcing.consumer
  add column categories       text[] not null default '{}',   -- stream categories it follows
  add column epoch            bigint not null default 0,      -- moves with every intervention from outside
  add column halted_stream    text,                           -- of the event it halted at
  add column halted_position  numeric(20, 0);

-- Versions of a projection's tables. The live one has the plain table names; others are named <table>__v<version>, and
-- have a checkpoint of their own, named <projection>__v<version>. Without a row the live version is 1.
create table event_sourcing.projection_version (
  projection         text not null,
  version            integer not null,
  state              text not null check (state in ('building', 'live', 'retired')),
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

-- Events that an operator chose to skip.
create table event_sourcing.skipped_event (
  consumer    text not null,
  position    numeric(20, 0) not null,
  stream      text not null,
  error       text not null,
  skipped_by  text not null,
  reason      text not null,
  skipped_at  timestamptz not null default now(),
  primary key (consumer, position)
);

-- Down Migration
drop table event_sourcing.skipped_event;
drop table event_sourcing.projection_version;
alter table event_sourcing.consumer
  drop column categories, drop column epoch, drop column halted_stream, drop column halted_position;
