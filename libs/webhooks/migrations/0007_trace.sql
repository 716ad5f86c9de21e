-- Up Migration

-- W3C trace context of what is told, while tracing is on: attempts continue its trace.
alter table webhooks.public_event add column traceparent text;

-- Down Migration
alter table webhooks.public_event drop column traceparent;
