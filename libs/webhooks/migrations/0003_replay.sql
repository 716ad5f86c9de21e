-- Up Migration

-- Requests to send past events to an endpoint. A job works through the log page by page; position and counts move in
-- the transaction that adds the deliveries of a page.
create table webhooks.replay (
  replay_id        uuid primary key,
  endpoint_id      text not null,
  workspace_id     text not null,
  since            timestamptz not null,
  until            timestamptz not null,     -- exclusive
  types            text[] not null,
  statuses         text[] not null,          -- of an event at this endpoint; 'missing': it has no delivery
  dry_run          boolean not null,
  state            text not null check (state in ('queued', 'running', 'finished', 'stopped')),
  position         numeric(20, 0),           -- of the last event looked at
  last_position    numeric(20, 0),           -- of the last event there was when it was asked for
  events           integer not null default 0,
  idempotency_key  text,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  finished_at      timestamptz,
  unique (endpoint_id, idempotency_key)
);
create index replay_open on webhooks.replay (updated_at) where state in ('queued', 'running');

alter table webhooks.delivery add column replay_id uuid;
create index delivery_of_replay on webhooks.delivery (replay_id, status) where replay_id is not null;
create index delivery_of_event on webhooks.delivery (endpoint_id, event_id);

-- Down Migration
drop table webhooks.replay;
drop index webhooks.delivery_of_event;
alter table webhooks.delivery drop column replay_id;
