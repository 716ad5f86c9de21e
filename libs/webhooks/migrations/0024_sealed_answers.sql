-- Up Migration

-- What a receiver answered to an attempt that failed, sealed with the key of the reading: erasing the reading makes it
-- unreadable in every copy. Earlier versions stored answers in clear, in response_body.
alter table webhooks.attempt add column answer bytea;
alter table webhooks.settled_delivery add column answer bytea;

-- Rolling upgrade: a worker of the previous version still records answers in clear. They are not stored. So no answer in
-- clear is younger than this migration; those from before go with their deliveries.
create function webhooks.refuse_clear_answer() returns trigger language plpgsql as $$
begin
  new.response_body := null;
  return new;
end
$$;
create trigger attempt_without_clear_answer before insert or update of response_body on webhooks.attempt
  for each row when (new.response_body is not null) execute function webhooks.refuse_clear_answer();
create trigger settled_delivery_without_clear_answer before insert or update of response_body on webhooks.settled_delivery
  for each row when (new.response_body is not null) execute function webhooks.refuse_clear_answer();

comment on column webhooks.attempt.response_body is 'An answer in clear, from before migration 0024';
comment on column webhooks.settled_delivery.response_body is 'An answer in clear, from before migration 0024';

-- Down Migration
comment on column webhooks.settled_delivery.response_body is null;
comment on column webhooks.attempt.response_body is null;
drop trigger settled_delivery_without_clear_answer on webhooks.settled_delivery;
drop trigger attempt_without_clear_answer on webhooks.attempt;
drop function webhooks.refuse_clear_answer();
alter table webhooks.settled_delivery drop column answer;
alter table webhooks.attempt drop column answer;
