-- Up Migration
create schema if not exists platform;

-- One row: which DIGEST_KEY this database is used with. A process with another one would make a second reading of a
-- repeated request.
create table platform.installation (
  only_row     boolean primary key default true check (only_row),
  fingerprint  text not null,           -- crypto/installation.ts; reveals nothing of the key
  noted_at     timestamptz not null default now()
);

-- Data keys of readings, wrapped by a key-encryption key. Deleting a row erases the reading.
create table platform.subject_key (
  subject_id    uuid primary key,
  workspace_id  text not null,
  wrapped_key   bytea not null,
  -- Keyed digests by which a subject is found, such as those of the caller's own ids. They are in the row of its key, so
  -- nothing can destroy the key and leave them.
  lookups       bytea[],
  created_at    timestamptz not null default now()
);
create index subject_key_age on platform.subject_key (created_at, subject_id);
create index subject_key_lookups on platform.subject_key using gin (lookups) where lookups is not null;

-- Epochs of the key-encryption keys of readings: when each started and ended. The keys themselves are in a folder or in
-- ENCRYPTION_KEYS, never here.
create table platform.key_epoch (
  -- its start (UTC) as 20261116T000000Z; with the provider `environment`, an id of ENCRYPTION_KEYS
  epoch         text primary key,
  provider      text not null,
  -- distinguishes two keys of one name, and reveals nothing else about them
  fingerprint   bytea,
  started_at    timestamptz not null default now(),
  -- since when it wraps no row
  ends_at       timestamptz not null,
  -- when it wrapped no row any more
  emptied_at    timestamptz,
  -- when its destruction was announced, which happens a day later at the earliest
  announced_at  timestamptz,
  destroyed_at  timestamptz
);

-- Heartbeats of worker processes. The API's readiness reads them.
create table platform.heartbeat (
  instance  text primary key,
  role      text not null,
  roles     text[],                     -- what a worker does (WORKER_ROLES); null: an API process
  host      text,
  ahead_ms  double precision,           -- of its clock before PostgreSQL's when they were last compared; null: unknown
  beat_at   timestamptz not null default now()
);

-- Token buckets, shared by every API process. Unlogged: after a crash of the database all buckets are full again.
create unlogged table platform.rate_bucket (
  subject      text not null,
  policy       text not null,
  tokens       double precision not null,
  granted      integer not null,
  refilled_at  timestamptz not null,
  primary key (subject, policy)
);
create index rate_bucket_age on platform.rate_bucket (refilled_at);

-- Answers to POST requests with an Idempotency-Key, kept for seven days. A row without a status is a request in progress.
create table platform.idempotent_request (
  workspace_id  text not null,
  route         text not null,
  -- keyed digests: a caller's key or body may contain personal data
  key_digest    bytea not null,
  fingerprint   bytea not null,
  -- What the request's ids and secrets derive from, until it is answered: a repeat of a request of unknown outcome makes
  -- the same ones.
  seed          bytea,
  status        integer,
  location      text,
  body          text,
  started_at    timestamptz not null default now(),
  primary key (workspace_id, route, key_digest)
);
create index idempotent_request_age on platform.idempotent_request (started_at);

-- Requests and refusals with their callers. No personal data: ids, a route's pattern, an address; never a body, a query
-- string or a path. Rows are only added, and deleted when they are older than AUDIT_RETENTION_DAYS.
create table platform.audit_record (
  -- the time of the request; the last one's for a count of several
  at            timestamptz not null,
  request_id    uuid not null,
  -- more than one: equal refusals within a minute
  requests      integer not null,
  method        text not null,
  route         text not null,
  -- 499: the caller disconnected before the answer
  status        smallint not null,
  workspace_id  text,
  -- apiKey:<keyId>, user:<subject> or bearer; null: not authenticated
  actor         text,
  -- the /64 network of an unauthenticated IPv6 caller
  address       inet,
  reading_id    uuid,
  -- the answer contained personal data
  personal      boolean not null,
  primary key (at, request_id)
);
create index audit_record_workspace on platform.audit_record (workspace_id, at) where workspace_id is not null;
create index audit_record_actor on platform.audit_record (actor, at) where actor is not null;
create index audit_record_reading on platform.audit_record (reading_id, at) where reading_id is not null;
create index audit_record_address on platform.audit_record (address, at) where address is not null;

-- Requests without a record, because PostgreSQL was unavailable or slow for too long.
create table platform.audit_loss (
  id        uuid primary key,
  since     timestamptz not null,
  until     timestamptz not null,
  requests  integer not null
);

-- What retention has done, for each kind of data that ends after a term (ops retention status).
create table platform.retention_round (
  kind        text primary key,
  ran_at      timestamptz not null,     -- the last whole round
  kept_since  timestamptz not null,     -- everything older has been deleted
  removed     bigint not null           -- rows, in all rounds; of dropped partitions about as many
);

-- The last turn that a workspace was given among the jobs of a kind and priority: virtual time (jobs/job.ts).
create table platform.job_turn (
  task         text not null,
  priority     smallint not null,
  workspace_id text not null,
  is_bulk      boolean not null,
  last_at      timestamptz not null,
  primary key (task, priority, workspace_id, is_bulk)
);

-- Down Migration
drop schema platform cascade;
