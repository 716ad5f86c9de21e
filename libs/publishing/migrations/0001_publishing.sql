-- Up Migration
create schema if not exists publishing;

-- The state of publication-<readingId> streams: requested, published.
create table publishing.publication (
  reading_id       uuid not null,
  version          integer not null,
  workspace_id     text not null,
  artifact_id      text not null,
  -- of the texts that it was made from; null until it is published
  content_version  text,
  published_at     timestamptz,
  -- when an unfinished publication is offered to the workers again
  due_at           timestamptz,
  correlation_id   text not null,
  primary key (reading_id, version)
);
create index publication_due on publishing.publication (due_at) where due_at is not null;
-- Documents that are neither published nor due: given up, or of readings that were erased before.
create index publication_given_up on publishing.publication (reading_id) where due_at is null and published_at is null;

-- Later versions of documents that are being made.
create table publishing.republication (
  reading_id      uuid primary key,
  version         integer not null,
  workspace_id    text not null,
  -- when it is offered to the workers again
  due_at          timestamptz not null,
  correlation_id  text not null
);
create index republication_due on publishing.republication (due_at);

-- Attempts at a document that have begun and not ended: a worker that dies leaves its own.
create table publishing.render_attempt (
  reading_id  uuid primary key,
  begun       integer not null
);

-- The published bytes, sealed with the reading's own key. Written once, before DocumentPublished is recorded.
create table publishing.artifact (
  artifact_id      text not null,
  format           text not null,
  reading_id       uuid not null,
  version          integer not null,
  content_version  text not null,
  media_type       text not null,
  digest           text not null,      -- with the reading's key
  bytes            integer not null,   -- padded
  sealed           bytea not null,
  primary key (reading_id, version, format)
);

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
  -- `apiKey:<keyId>`, so that those of a leaked key can be ended together
  created_by    text not null,
  expires_at    timestamptz not null,
  revoked_at    timestamptz,
  uses          bigint not null default 0,
  last_used_at  timestamptz
);
create index document_link_newest on publishing.document_link (reading_id, created_at desc, link_id desc);
-- For the count of those that a reading may have: it may have ended any number.
create index document_link_open on publishing.document_link (reading_id) where revoked_at is null;
create index document_link_expiry on publishing.document_link (expires_at);

-- Down Migration
drop schema publishing cascade;
