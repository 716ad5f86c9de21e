-- Up Migration
-- For the look at keys that expire soon.
create index api_key_expiry on workspaces.api_key (expires_at) where revoked_at is null and expires_at is not null;

-- Down Migration
drop index workspaces.api_key_expiry;
