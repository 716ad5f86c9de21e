-- Up Migration

-- Custom headers of endpoints, sealed by the key ring. Written before the event that names them; deleted with their
-- endpoint, and once other headers have replaced them.
create table webhooks.endpoint_headers (
  headers_ref   uuid primary key,
  endpoint_id   text not null,
  workspace_id  text not null,
  sealed        bytea not null,                -- values by name
  names         text[] not null,               -- in lower case, sorted
  created_at    timestamptz not null
);
create index endpoint_headers_of on webhooks.endpoint_headers (endpoint_id);

-- What endpoints from before have, and what workers of the previous version write: nothing of it.
--
-- Rolling upgrade: a worker of the previous version sends without headers, without a limit, and to endpoints that are not
-- verified. So use them, and set WEBHOOK_VERIFY_ENDPOINTS, only once all workers run this version.
alter table webhooks.endpoint
  add column headers_ref uuid,
  add column max_per_second integer,
  add column verified boolean not null default true;

-- While an endpoint has a limit of its own: nothing more is sent before.
alter table webhooks.endpoint_health add column paced_until timestamptz;

-- The probes of endpoints that are not verified.
create table webhooks.verification (
  endpoint_id   text primary key,
  url           text not null,                 -- where the probes go: a new URL begins anew
  asked_at      timestamptz not null,
  attempts      integer not null default 0,
  due_at        timestamptz not null,          -- the next probe; while one is under way, the end of its lease
  rests_until   timestamptz not null default '-infinity',   -- no probe before, whoever asks
  last_error    text                           -- class of failure of the last probe
);
create index verification_due on webhooks.verification (due_at);

-- Down Migration
drop table webhooks.verification;
alter table webhooks.endpoint_health drop column paced_until;
alter table webhooks.endpoint drop column verified, drop column max_per_second, drop column headers_ref;
drop table webhooks.endpoint_headers;
