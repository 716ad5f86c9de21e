-- Up Migration

-- What a book had after its last grant, available and held, and which grant that was: whether few credits are left is
-- judged by it. Null until the next grant, or until the view is rebuilt.
alter table billing.balance
  add column topped_up_to bigint,
  add column topped_up_by text;

-- Down Migration
alter table billing.balance drop column topped_up_by, drop column topped_up_to;
