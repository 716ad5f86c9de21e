-- Up Migration

-- The host of the URL, as the WHATWG parser reads it; absent in rows that the previous version writes.
alter table webhooks.verification add column host text;

-- Hosts that a workspace had probed lately: no probe before their rest is over, whichever endpoint asks, and although an
-- endpoint was deleted or got another URL. It takes the place of `rests_until` in webhooks.verification, which a later
-- version drops.
--
-- Rolling upgrade: a worker of the previous version knows one endpoint's rest alone, so until it stops a host may be probed
-- more often.
create table webhooks.probe_rest (
  workspace_id  text not null,
  host          text not null,
  rests_until   timestamptz not null,
  primary key (workspace_id, host)
);

-- Down Migration
drop table webhooks.probe_rest;
alter table webhooks.verification drop column host;
