-- Up Migration
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

-- Down Migration
drop table platform.audit_loss;
drop table platform.audit_record;
