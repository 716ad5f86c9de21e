-- Up Migration

-- Who had a stopped stream tried again, and why.
create table event_sourcing.retried_stream (
  consumer    text not null,
  stream      text not null,
  cause       text not null,        -- <stream>@<revision> of the event that stopped it
  error       text not null,        -- of the attempt before
  retried_by  text not null,
  reason      text,                 -- null: none was given
  retried_at  timestamptz not null default now(),
  primary key (consumer, stream, retried_at)
);
create index retried_stream_latest on event_sourcing.retried_stream (retried_at);

-- Down Migration
drop table event_sourcing.retried_stream;
