-- Up Migration
-- Links to documents: rights to read one without a key, until they expire. No event makes or ends them (docs/adr/0028).
create table publishing.document_link (
  link_id       uuid primary key,
  -- SHA-256 of the token, which nobody stores
  token_sha256  bytea not null unique,
  reading_id    uuid not null,
  workspace_id  text not null,
  format        text not null,
  -- null: the newest at the time of reading
  version       integer,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  revoked_at    timestamptz,
  uses          bigint not null default 0,
  last_used_at  timestamptz
);
create index document_link_newest on publishing.document_link (reading_id, created_at desc, link_id desc);
create index document_link_expiry on publishing.document_link (expires_at);

-- Down Migration
drop table publishing.document_link;
