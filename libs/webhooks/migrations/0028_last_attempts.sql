-- Up Migration

-- When the last of these attempts began. The history has no index that finds the last success of an endpoint whose newer
-- deliveries, millions perhaps, were skipped or failed.
--
-- Rolling upgrade: sums of before, and those that a worker of the previous version begins, have none: the beginning of
-- their hour stands for it.
alter table webhooks.endpoint_hour add column last_at timestamptz;

-- Down Migration
alter table webhooks.endpoint_hour drop column last_at;
