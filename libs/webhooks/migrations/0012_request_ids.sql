-- Up Migration
-- The id of the request that an event follows from, for the log. Null for events of earlier versions.
alter table webhooks.public_event add column correlation_id text;
alter table webhooks.unreleased_failure add column correlation_id text;

-- Down Migration
alter table webhooks.unreleased_failure drop column correlation_id;
alter table webhooks.public_event drop column correlation_id;
