-- Up Migration

-- The order in which deliveries were added: separates those before their endpoint was disabled from later ones. Null:
-- added before this column existed.
create sequence webhooks.delivery_added;
alter table webhooks.delivery add column added bigint;
alter table webhooks.delivery alter column added set default nextval('webhooks.delivery_added');

-- Endpoints that were disabled or deleted with more pending deliveries than could be skipped at once. All deliveries up
-- to this number will be skipped. Until then nothing is sent to the endpoint, and no replay reads its deliveries.
create table webhooks.skipping (
  endpoint_id  text not null,
  up_to        bigint not null,                -- of webhooks.delivery.added
  skipped_at   timestamptz not null,           -- when the endpoint was disabled
  primary key (endpoint_id, up_to)
);

-- For queries after an outage: the few undelivered events of a long history.
create index delivery_unsucceeded on webhooks.delivery (endpoint_id, created_at desc, delivery_id desc)
  where status <> 'succeeded';

-- Down Migration
drop index webhooks.delivery_unsucceeded;
drop table webhooks.skipping;
alter table webhooks.delivery drop column added;
drop sequence webhooks.delivery_added;
