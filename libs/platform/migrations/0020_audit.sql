-- Up Migration
-- Who asked for what, and who was refused. Nothing personal: ids, a route's pattern, an address; never a body, a query
-- string or a path. Rows are only added, and deleted when they are older than AUDIT_RETENTION_DAYS.
create table platform.audit_record (
  -- of the request; of several that were only counted, of the last
  at            timestamptz not null,
  request_id    uuid not null,
  -- more than one: requests that were refused alike within a minute
  requests      integer not null,
  method        text not null,
  route         text not null,
  -- 499: the caller went away before the answer
  status        smallint not null,
  workspace_id  text,
  -- apiKey:<keyId>, user:<subject> or bearer; null: nobody was proved
  actor         text,
  -- the network of 64 bits when nobody was proved and the address is of IPv6
  address       inet,
  reading_id    uuid,
  -- the answer held personal data
  personal      boolean not null,
  primary key (at, request_id)
);
create index audit_record_workspace on platform.audit_record (workspace_id, at) where workspace_id is not null;
create index audit_record_actor on platform.audit_record (actor, at) where actor is not null;
create index audit_record_reading on platform.audit_record (reading_id, at) where reading_id is not null;
create index audit_record_address on platform.audit_record (address, at) where address is not null;

-- Requests of which no record was kept, because PostgreSQL was away or too slow for too long.
create table platform.audit_loss (
  id        uuid primary key,
  since     timestamptz not null,
  until     timestamptz not null,
  requests  integer not null
);

-- Down Migration
drop table platform.audit_loss;
drop table platform.audit_record;
