-- Up Migration

-- Outcomes of attempts by endpoint and time, for operators and owners.
alter table webhooks.attempt add column endpoint_id text;
update webhooks.attempt set endpoint_id = delivery.endpoint_id
from webhooks.delivery where delivery.delivery_id = attempt.delivery_id;
alter table webhooks.attempt alter column endpoint_id set not null;
create index attempt_of_endpoint on webhooks.attempt (endpoint_id, started_at desc);

-- Down Migration
drop index webhooks.attempt_of_endpoint;
alter table webhooks.attempt drop column endpoint_id;
