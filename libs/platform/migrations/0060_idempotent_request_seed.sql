-- Up Migration

-- What the request's ids and secrets derive from, until it is answered: a repeat of a request of unknown outcome makes
-- the same ones. Null in rows of earlier versions.
alter table platform.idempotent_request add column seed bytea;

-- Down Migration
alter table platform.idempotent_request drop column seed;
