-- Up Migration

-- Failures of readings whose credits are still held: the whole event except its position, which is that of the release.
create table webhooks.unreleased_failure (
  cause_event_id  text primary key,        -- ReadingFailed, which the release names
  event_id        text not null,
  workspace_id    text not null,
  reading_id      uuid not null,
  type            text not null,
  occurred_at     timestamptz not null,
  head            text not null,           -- the body up to its sequence number, and what follows
  tail            text not null,
  traceparent     text
);

-- Down Migration
drop table webhooks.unreleased_failure;
