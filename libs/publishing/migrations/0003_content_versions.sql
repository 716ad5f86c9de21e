-- Up Migration
-- Version of the texts that a document was made from; null where the worker that made it did not record it.
alter table publishing.artifact add column content_version text;
alter table publishing.publication add column content_version text;

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

-- Down Migration
drop table publishing.republication;
alter table publishing.publication drop column content_version;
alter table publishing.artifact drop column content_version;
