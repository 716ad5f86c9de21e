-- Up Migration
-- Answers to POST requests with an Idempotency-Key, kept for seven days. A row without a status is a request in progress.
create table platform.idempotent_request (
  workspace_id  text not null,
  route         text not null,
  -- keyed digests: a caller's key or body may contain personal data
  key_digest    bytea not null,
  fingerprint   bytea not null,
  status        integer,
  location      text,
  body          text,
  started_at    timestamptz not null default now(),
  primary key (workspace_id, route, key_digest)
);
create index idempotent_request_age on platform.idempotent_request (started_at);

-- Down Migration
drop table platform.idempotent_request;
