-- Up Migration
create schema if not exists publishing;

-- The state of publication-<readingId> streams: requested, published.
create table publishing.publication (
  reading_id      uuid not null,
  version         integer not null,
  workspace_id    text not null,
  artifact_id     text not null,
  published_at    timestamptz,
  -- when an unfinished publication is offered to the workers again
  due_at          timestamptz,
  correlation_id  text not null,
  primary key (reading_id, version)
);
create index publication_due on publishing.publication (due_at) where due_at is not null;

-- The published bytes, sealed with the reading's own key. Written once, before DocumentPublished is recorded.
create table publishing.artifact (
  artifact_id  text not null,
  format       text not null,
  reading_id   uuid not null,
  version      integer not null,
  media_type   text not null,
  sha256       text not null,
  bytes        integer not null,
  sealed       bytea not null,
  primary key (reading_id, version, format)
);

-- Down Migration
drop schema publishing cascade;
