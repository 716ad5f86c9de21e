-- Up Migration

-- Name-based UUID of a delivery that begins with the time of what it delivers, like version 7 of RFC 9562 (version 8: the rest
-- is a hash, so the id is the same each time). New rows go to the end of an index by id: with random ids each one changes
-- another page, which the write-ahead log then has to contain whole. Processes of the previous version go on with the
-- function of two arguments; an id is used by the insert that made it and by nothing else.
-- One expression that has each parameter once, so that PostgreSQL puts it into the calling statement.
create function webhooks.delivery_id(endpoint_id text, event_id text, at timestamptz) returns uuid
language sql stable parallel safe
return overlay(overlay(
  encode(substr(int8send((extract(epoch from at) * 1000)::bigint), 3)
         || substr(sha256(convert_to(endpoint_id || '|' || event_id, 'UTF8')), 1, 10), 'hex')
  placing '8' from 13) placing '8' from 17)::uuid;

-- Down Migration
drop function webhooks.delivery_id(text, text, timestamptz);
