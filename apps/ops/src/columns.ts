/**
 * The columns that the migrations make, as `<column> <type>`. After a migration:
 * `COLUMNS_UPDATE=1 npm run test:all -- apps/ops/src/columns` writes this file.
 */
export const COLUMNS: Readonly<Record<string, string>> = {
  'billing.balance':
    'adjusted bigint, agenda jsonb, available bigint, consumed bigint, due_at timestamp with time zone, expired bigint, granted bigint, held bigint, mode text, revision numeric(20,0), topped_up_by text, topped_up_to bigint, updated_at timestamp with time zone, workspace_id text',
  'billing.hold':
    'amount bigint, confirmed boolean, mode text, reading_id text, reservation_id text, reserved_at timestamp with time zone, workspace_id text',
  'billing.reconciliation':
    'books bigint, captures bigint, completed bigint, differences bigint, finished_at timestamp with time zone, only_row boolean, pending bigint, started_at timestamp with time zone',
  'event_sourcing.consumer':
    'categories text[], epoch bigint, error text, event_id uuid, event_place text, halted_position numeric(20,0), halted_stream text, name text, position numeric(20,0), status text, updated_at timestamp with time zone',
  'event_sourcing.parked_stream':
    'cause_revision numeric(20,0), cause_stream text, consumer text, error text, event_id uuid, event_type text, key text, parked_at timestamp with time zone, position numeric(20,0), revision numeric(20,0), stream text, tried_at timestamp with time zone',
  'event_sourcing.projection_version':
    'created_at timestamp with time zone, differences bigint, program text, projection text, reason text, state text, switched_at timestamp with time zone, switched_by text, verified_position numeric(20,0), version integer',
  'platform.audit_loss':
    'id uuid, requests integer, since timestamp with time zone, until timestamp with time zone',
  'platform.audit_record':
    'actor text, address inet, at timestamp with time zone, method text, personal boolean, reading_id uuid, request_id uuid, requests integer, route text, status smallint, workspace_id text',
  'platform.heartbeat':
    'ahead_ms double precision, beat_at timestamp with time zone, host text, instance text, role text, roles text[]',
  'platform.idempotent_request':
    'body text, fingerprint bytea, key_digest bytea, location text, route text, seed bytea, started_at timestamp with time zone, status integer, workspace_id text',
  'platform.installation': 'fingerprint text, noted_at timestamp with time zone, only_row boolean',
  'platform.job_turn':
    'is_bulk boolean, last_at timestamp with time zone, priority smallint, task text, workspace_id text',
  'platform.key_epoch':
    'announced_at timestamp with time zone, destroyed_at timestamp with time zone, emptied_at timestamp with time zone, ends_at timestamp with time zone, epoch text, fingerprint bytea, provider text, started_at timestamp with time zone',
  'platform.rate_bucket':
    'granted integer, policy text, refilled_at timestamp with time zone, subject text, tokens double precision',
  'platform.retention_progress':
    'began_at timestamp with time zone, kind text, removed bigint, stepped_at timestamp with time zone',
  'platform.retention_round':
    'kept_since timestamp with time zone, kind text, ran_at timestamp with time zone, removed bigint',
  'platform.subject_key':
    'created_at timestamp with time zone, lookups bytea[], subject_id uuid, workspace_id text, wrapped_key bytea',
  'publishing.artifact':
    'artifact_id text, bytes integer, content_version text, digest text, format text, media_type text, reading_id uuid, sealed bytea, version integer',
  'publishing.document_link':
    'created_at timestamp with time zone, created_by text, expires_at timestamp with time zone, format text, last_used_at timestamp with time zone, link_id uuid, reading_id uuid, revoked_at timestamp with time zone, token_sha256 bytea, uses bigint, version integer, workspace_id text',
  'publishing.publication':
    'artifact_id text, content_version text, correlation_id text, due_at timestamp with time zone, published_at timestamp with time zone, reading_id uuid, version integer, workspace_id text',
  'publishing.render_attempt': 'begun integer, reading_id uuid',
  'publishing.republication':
    'correlation_id text, due_at timestamp with time zone, reading_id uuid, version integer, workspace_id text',
  'readings.batch':
    'accepted integer, batch_id uuid, correlation_id text, ended_at timestamp with time zone, livemode boolean, requested_at timestamp with time zone, workspace_id text',
  'readings.reading':
    'artifact_id text, completed_at timestamp with time zone, correlation_id text, created_at timestamp with time zone, document_version integer, due_at timestamp with time zone, erased_at timestamp with time zone, error_code text, failed_at timestamp with time zone, livemode boolean, locale text, product_id text, profile_id text, published_at timestamp with time zone, reading_id uuid, sealed_input text, status text, updated_at timestamp with time zone, workspace_id text',
  'readings.result': 'livemode boolean, reading_id uuid, sealed_result text, workspace_id text',
  'webhooks.attempt':
    'answer bytea, delivery_id uuid, duration_ms integer, endpoint_id text, error text, number integer, started_at timestamp with time zone, status_code integer',
  'webhooks.content': 'external_id boolean, low_credits_percent smallint, workspace_id text',
  'webhooks.deleted_past':
    'livemode boolean, position numeric(20,0), type text, until timestamp with time zone, workspace_id text',
  'webhooks.delivery':
    'added bigint, attempts integer, created_at timestamp with time zone, delivery_id uuid, due_at timestamp with time zone, endpoint_id text, event_id text, reading_id uuid, redelivery boolean, replay_id uuid, sequence integer, settled_at timestamp with time zone, status text, test boolean, workspace_id text',
  'webhooks.endpoint':
    'created_at timestamp with time zone, deleted_at timestamp with time zone, description text, disabled_at timestamp with time zone, disabled_reason text, enabled boolean, endpoint_id text, events text[], headers_ref uuid, max_per_second integer, modes text[], notices text[], revision bigint, secrets jsonb, updated_at timestamp with time zone, url text, verified boolean, workspace_id text',
  'webhooks.endpoint_headers':
    'created_at timestamp with time zone, endpoint_id text, headers_ref uuid, names text[], sealed bytea, workspace_id text',
  'webhooks.endpoint_health':
    'consecutive_failures integer, endpoint_id text, failing_since timestamp with time zone, probe_at timestamp with time zone',
  'webhooks.endpoint_hour':
    'attempts integer, endpoint_id text, hour timestamp with time zone, last_at timestamp with time zone, latencies integer[], outcome text',
  'webhooks.last_sequence': 'reading_id uuid, sequence integer',
  'webhooks.notice':
    'body text, event_id text, livemode boolean, occurred_at timestamp with time zone, occurrence text, position bigint, subject text, type text, workspace_id text',
  'webhooks.probe_rest': 'host text, rests_until timestamp with time zone, workspace_id text',
  'webhooks.public_event':
    'body text, correlation_id text, event_id text, livemode boolean, occurred_at timestamp with time zone, position numeric(20,0), reading_id uuid, sequence integer, shows_external_id boolean, traceparent text, type text, workspace_id text',
  'webhooks.replay':
    'created_at timestamp with time zone, dry_run boolean, endpoint_id text, events integer, finished_at timestamp with time zone, idempotency_key text, last_position numeric(20,0), modes text[], position numeric(20,0), replay_id uuid, since timestamp with time zone, state text, statuses text[], types text[], until timestamp with time zone, updated_at timestamp with time zone, workspace_id text',
  'webhooks.secret':
    'created_at timestamp with time zone, endpoint_id text, hint text, sealed bytea, secret_ref uuid, workspace_id text',
  'webhooks.settled_delivery':
    'answer bytea, attempts integer, created_at timestamp with time zone, delivery_id uuid, duration_ms integer, earlier jsonb, endpoint_id text, error text, event_id text, redelivery boolean, replay_id uuid, settled_at timestamp with time zone, started_at timestamp with time zone, status text, status_code integer, test boolean',
  'webhooks.skipping': 'endpoint_id text, modes text[], skipped_at timestamp with time zone, up_to bigint',
  'webhooks.unreleased_failure':
    'cause_event_id text, correlation_id text, event_id text, head text, livemode boolean, occurred_at timestamp with time zone, reading_id uuid, tail text, traceparent text, type text, workspace_id text',
  'webhooks.verification':
    'asked_at timestamp with time zone, attempts integer, due_at timestamp with time zone, endpoint_id text, host text, last_error text, url text',
  'webhooks.workspace_lease': 'lease uuid, leased_until timestamp with time zone, workspace_id text',
  'workspaces.api_key':
    'expires_at timestamp with time zone, hash text, issued_at timestamp with time zone, key_id text, label text, mode text, networks text[], revoked_at timestamp with time zone, scopes text[], workspace_id text',
  'workspaces.api_key_use': 'key_id text, used_at timestamp with time zone',
  'workspaces.portal_session':
    'created_at timestamp with time zone, ended_at timestamp with time zone, expires_at timestamp with time zone, key_id text, language text, link_expires_at timestamp with time zone, link_sha256 bytea, mode text, modes text[], opened_by text, return_url text, scopes text[], secret_sha256 bytea, session_id uuid, started_at timestamp with time zone, time_zone text, ttl_seconds integer, workspace_id text',
  'workspaces.workspace': 'name text, opened_at timestamp with time zone, workspace_id text',
};
