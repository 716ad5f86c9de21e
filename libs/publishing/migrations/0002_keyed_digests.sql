-- Up Migration
-- Digests of documents use the reading's own key, and sizes are padded. The old columns stay, empty, for processes of
-- the previous version.
alter table publishing.artifact
  add column digest text,
  alter column sha256 drop not null,
  alter column bytes drop not null;
update publishing.artifact set sha256 = null, bytes = null where sha256 is not null or bytes is not null;

-- Artifacts stored concurrently with the erasure of their reading.
do $$
begin
  if to_regclass('readings.reading') is not null then
    delete from publishing.artifact where reading_id in (select reading_id from readings.reading where erased_at is not null);
  end if;
end $$;

-- Down Migration
delete from publishing.artifact where sha256 is null or bytes is null;
alter table publishing.artifact
  alter column bytes set not null,
  alter column sha256 set not null,
  drop column digest;
