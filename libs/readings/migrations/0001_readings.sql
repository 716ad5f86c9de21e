-- Up Migration
create schema if not exists readings;

-- The state of each reading. The input stays sealed with the reading's own key.
create table readings.reading (
  reading_id        uuid primary key,
  workspace_id      text not null,
  livemode          boolean not null default true,   -- false: a test key made it
  status            text not null check (status in ('queued', 'processing', 'completed', 'failed')),
  product_id        text not null,
  profile_id        text not null,
  locale            text not null,
  sealed_input      text not null,
  error_code        text,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  completed_at      timestamptz,
  failed_at         timestamptz,
  -- when its key was destroyed: its sealed data is unreadable
  erased_at         timestamptz,
  -- when an unfinished reading is offered to the workers again
  due_at            timestamptz,
  document_version  integer,
  artifact_id       text,
  published_at      timestamptz,
  correlation_id    text not null
);
create index reading_due on readings.reading (due_at) where due_at is not null;

-- Each new reading first counts the unfinished ones of its workspace.
create index reading_in_flight on readings.reading (workspace_id) where status in ('queued', 'processing');

-- Lists are newest first, of one mode, perhaps of one status: no row is read that is not shown.
create index reading_newest on readings.reading (workspace_id, livemode, created_at desc, reading_id desc);
create index reading_newest_of_status on readings.reading (workspace_id, livemode, status, created_at desc, reading_id desc);

-- The reading that test events tell of.
create index reading_newest_published_test on readings.reading (workspace_id, created_at desc, reading_id desc)
  where not livemode and document_version is not null and erased_at is null;

-- For the sweep of test readings, the oldest first.
create index reading_test_age on readings.reading (created_at, reading_id) where not livemode and erased_at is null;

create table readings.result (
  reading_id     uuid primary key,
  workspace_id   text not null,
  livemode       boolean not null,
  sealed_result  text not null
);

-- Batches of readings, projected from their streams: for finding those that have not ended.
create table readings.batch (
  batch_id        uuid primary key,
  workspace_id    text not null,
  livemode        boolean not null,
  accepted        integer not null,
  requested_at    timestamptz not null,
  ended_at        timestamptz,
  correlation_id  text not null
);
create index batch_open on readings.batch (requested_at) where ended_at is null;

-- Down Migration
drop schema readings cascade;
