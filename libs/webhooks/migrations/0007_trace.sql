-- Up Migration

-- W3C trace context of an event, while tracing is on. Attempts continue its trace.
alter table webhooks.public_event add column traceparent text;

-- Down Migration
alter table webhooks.public_event drop column traceparent;
