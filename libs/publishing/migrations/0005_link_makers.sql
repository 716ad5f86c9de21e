-- Up Migration
-- Who made a link (`apiKey:<keyId>`), so that those of a leaked key can be ended together. null: made before this migration.
alter table publishing.document_link add column created_by text;

-- Down Migration
alter table publishing.document_link drop column created_by;
