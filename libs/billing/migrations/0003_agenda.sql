-- Up Migration

-- What due_at is computed from: the open month, the subscription and the grants that expire. Null until the book's month
-- is closed, or the view is rebuilt.
alter table billing.balance add column agenda jsonb;

-- Down Migration
alter table billing.balance drop column agenda;
