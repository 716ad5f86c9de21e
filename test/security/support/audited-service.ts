import { afterAll, beforeAll, expect } from '@jest/globals';
import pg from 'pg';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { AuditRecords, type AuditFilter } from '#platform/audit/audit-records.js';
import { Integrator } from '../../support/integrator.js';
import { Portal, openWorkspace } from '../../support/portal.js';
import { startStores, type StartedProcess, type StartedStores } from '../../support/start-processes.js';

const SETTINGS = {
  LOG_LEVEL: 'error',
  RATE_READ_PER_MINUTE: '1000000',
};
/** Characters that move the cursor, colour, reorder or hide text. */
export const NASTY = '\u001b[31mred\u001b[0m\u009b1m\u202egnp.exe\u200b\u2066\u007f';
export const CANARY = 'Zqcanary';

/** As `ops audit --json` prints it. */
export interface AuditRecord {
  readonly requestId: string;
  readonly requests: number;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly workspaceId: string | null;
  readonly actor: string | null;
  readonly address: string | null;
  readonly readingId: string | null;
  readonly personal: boolean;
}

/** A worker and an API with a customer, and their audit. The members are available only within tests. */
export const auditedService = () => {
  const portal = new Portal();
  let stores: StartedStores;
  let log: EventStore;
  let pool: pg.Pool;
  let worker: StartedProcess;
  let api: StartedProcess;
  let customer: Integrator;
  let keyId: string;
  const seen: { id: string; status: number }[] = [];

  beforeAll(async () => {
    stores = await startStores({ ...SETTINGS, ...(await portal.settings()) });
    log = await openEventStore({
      connectionString: stores.eventStoreUrl,
      appendTimeoutMs: 10_000,
      readTimeoutMs: 10_000,
    });
    pool = new pg.Pool({ connectionString: stores.databaseUrl, max: 2 });
    [worker, api] = await Promise.all([stores.start('worker'), stores.start('api')]);
    const { eventStoreUrl, dataDir, ops } = stores;
    customer = await Integrator.open({ baseUrl: api.baseUrl, eventStoreUrl, dataDir, ops } as never, 100);
    [, keyId = ''] = /^ek_live_(.{8})/.exec(customer.apiKey) ?? [];
  });

  afterAll(async () => {
    await Promise.allSettled([worker, api].map((one) => one?.stop()));
    await log?.close();
    await pool?.end();
    await stores?.stop();
  });

  /** @returns the status, and notes the request id */
  const ask = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
    const answer = await fetch(api.baseUrl + path, { method, headers, ...(body !== undefined && { body }) });
    seen.push({ id: answer.headers.get('x-request-id')!, status: answer.status });
    await answer.arrayBuffer();
    return answer.status;
  };

  const audit = async (...filter: string[]): Promise<readonly AuditRecord[]> =>
    ((await stores.ops(['audit', ...filter])) as { records: AuditRecord[] }).records;

  /** The command's query, without the seconds that the command takes to start. */
  const find = (filter: Omit<AuditFilter, 'limit'>) => new AuditRecords(pool).find({ ...filter, limit: 500 });

  const issue = async (workspaceId: string, subject: string, body: object) => {
    const token = await portal.mint(workspaceId, 'keys:read keys:write', subject);
    const answer = await fetch(`${api.baseUrl}/api/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(201);
    return (await answer.json()) as { keyId: string; apiKey: string };
  };

  /** Opens another workspace, and issues a key. */
  const stranger = async () => {
    const workspaceId = await openWorkspace(log, `name${NASTY}`);
    return { workspaceId, ...(await issue(workspaceId, 'eve', {})) };
  };

  const countOf = async (condition: string): Promise<{ rows: number; requests: number }> => {
    const { rows } = await pool.query<{ rows: number; requests: number }>(
      `select count(*)::int as rows, coalesce(sum(requests), 0)::int as requests from platform.audit_record where ${condition}`,
    );
    return rows[0]!;
  };

  return {
    portal,
    /** Requests that `ask` sent and that were answered. */
    seen,
    get stores() {
      return stores;
    },
    get pool() {
      return pool;
    },
    get api() {
      return api;
    },
    get customer() {
      return customer;
    },
    /** The id of the customer's key. */
    get keyId() {
      return keyId;
    },
    /** Stops the API after it has written all pending records. */
    stopApi: () => api.stop(),
    async startApi() {
      api = await stores.start('api');
    },
    ask,
    audit,
    find,
    issue,
    stranger,
    countOf,
  };
};
