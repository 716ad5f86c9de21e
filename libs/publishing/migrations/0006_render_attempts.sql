-- Up Migration
-- Attempts at a document that have begun and not ended: a worker that dies leaves its own.
create table publishing.render_attempt (
  reading_id  uuid primary key,
  begun       integer not null
);
-- Documents that are neither published nor due: given up, or of readings that were erased before.
create index publication_given_up on publishing.publication (reading_id) where due_at is null and published_at is null;

-- Down Migration
drop index publishing.publication_given_up;
drop table publishing.render_attempt;
