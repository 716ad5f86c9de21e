-- Up Migration
-- What limits a key. The defaults are the limits of keys from before, and of rows that older workers write.
alter table workspaces.api_key
  add column mode text not null default 'live' check (mode in ('live', 'test')),
  add column scopes text[] not null default array[
    'readings:read', 'readings:write', 'documents:read', 'webhooks:read', 'webhooks:write', 'credits:read', 'events:read'
  ],
  add column networks text[] not null default '{}';

-- Down Migration
alter table workspaces.api_key drop column networks, drop column scopes, drop column mode;
