-- Up Migration
create schema if not exists readings;

-- The state of each reading. The input stays sealed with the reading's own key.
create table readings.reading (
  reading_id       uuid primary key,
  workspace_id     text not null,
  status           text not null check (status in ('queued', 'processing', 'completed', 'failed')),
  product_id       text not null,
  profile_id       text not null,
  locale           text not null,
  sealed_input     text not null,
  error_code       text,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  completed_at     timestamptz,
  failed_at        timestamptz,
  -- when an unfinished reading is offered to the workers again
  due_at           timestamptz,
  document_version integer,
  artifact_id      text,
  published_at     timestamptz,
  correlation_id   text not null
);
create index reading_due on readings.reading (due_at) where due_at is not null;

create table readings.result (
  reading_id     uuid primary key,
  workspace_id   text not null,
  sealed_result  text not null,
  sha256         text not null
);

-- Down Migration
drop schema readings cascade;
