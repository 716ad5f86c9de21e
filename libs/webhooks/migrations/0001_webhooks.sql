-- Up Migration
create schema if not exists webhooks;

-- Signing secrets, sealed by the key ring. Written before the event that names them; deleted with their endpoint.
create table webhooks.secret (
  secret_ref    uuid primary key,
  endpoint_id   text not null,
  workspace_id  text not null,
  sealed        bytea not null,
  hint          text not null,             -- last four characters of the secret
  created_at    timestamptz not null
);
create index secret_endpoint on webhooks.secret (endpoint_id);
create index secret_workspace on webhooks.secret (workspace_id);

-- Projected from webhookEndpoint streams.
create table webhooks.endpoint (
  endpoint_id      text primary key,
  workspace_id     text not null,
  url              text not null,
  events           text[] not null,
  description      text,
  enabled          boolean not null default true,
  disabled_reason  text,
  disabled_at      timestamptz,
  secrets          jsonb not null,         -- newest first: [{"ref": uuid, "validUntil": RFC 3339 or null}]
  revision         bigint not null,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  deleted_at       timestamptz
);
create index endpoint_of_workspace on webhooks.endpoint (workspace_id, created_at desc, endpoint_id desc)
  where deleted_at is null;

-- Written by the dispatcher. No row: no failure.
create table webhooks.endpoint_health (
  endpoint_id           text primary key,
  consecutive_failures  integer not null default 0,
  failing_since         timestamptz,
  probe_at              timestamptz        -- while it keeps failing: nothing is sent before
);

-- The events for receivers, one row per fact. The body has the exact signed bytes.
create table webhooks.public_event (
  event_id      text primary key,          -- evt_ and a UUID
  workspace_id  text not null,
  reading_id    uuid not null,
  type          text not null,
  sequence      integer not null,          -- gap-free per reading, from 1
  body          text not null,
  occurred_at   timestamptz not null,
  unique (reading_id, sequence)
);

create table webhooks.delivery (
  delivery_id   uuid primary key,
  endpoint_id   text not null,
  workspace_id  text not null,
  event_id      text not null,
  reading_id    uuid not null,
  sequence      integer not null,
  status        text not null check (status in ('pending', 'succeeded', 'exhausted', 'skipped')),
  attempts      integer not null default 0,
  due_at        timestamptz not null,      -- next attempt; while leased, the end of the lease
  lease         uuid,                      -- of the worker that is sending it
  test          boolean not null default false,
  redelivery    boolean not null default false,
  created_at    timestamptz not null,
  settled_at    timestamptz
);
-- For the selection of deliveries: per endpoint the earliest due; per endpoint and reading the earliest unsettled.
create index delivery_due on webhooks.delivery (endpoint_id, due_at) where status = 'pending';
create index delivery_order on webhooks.delivery (endpoint_id, reading_id, sequence) where status = 'pending';
create index delivery_leased on webhooks.delivery (endpoint_id, workspace_id, due_at) where lease is not null;
create index delivery_history on webhooks.delivery (endpoint_id, created_at desc, delivery_id desc);

create table webhooks.attempt (
  delivery_id    uuid not null,
  number         integer not null,
  started_at     timestamptz not null,
  duration_ms    integer not null,
  status_code    integer,                  -- of the receiver's answer, when there was one
  error          text,                     -- class of failure; null: succeeded
  response_body  bytea,                    -- its first bytes, bounded
  primary key (delivery_id, number)
);

-- Name-based UUID of a delivery (RFC 9562, version 8 over SHA-256: core PostgreSQL has no SHA-1 for version 5).
create function webhooks.delivery_id(endpoint_id text, event_id text) returns uuid
language sql immutable parallel safe
return (
  select encode(
    set_byte(set_byte(hash, 6, get_byte(hash, 6) & 15 | 128), 8, get_byte(hash, 8) & 63 | 128), 'hex')::uuid
  from (select substr(sha256(convert_to(endpoint_id || '|' || event_id, 'UTF8')), 1, 16) as hash) digest
);

-- Down Migration
drop schema webhooks cascade;
