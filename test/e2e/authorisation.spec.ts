import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { API_KEY_SCOPES, BEARER_SCOPES, type ApiKeyScope } from '#platform/auth/scopes.js';
import { SECRET_BYTES, makeToken } from '#publishing/application/links.js';
import {
  accepts,
  operations,
  requestOf,
  type DescribedRequest,
  type Operation,
} from '../support/described-requests.js';
import { Integrator, untilServed } from '../support/integrator.js';
import { fixture, sharedStack } from '../support/index.js';
import { thingsOf, type Ids } from './support/things.js';

type Credentials = Readonly<Record<string, string>>;

/** A workspace with one object of every kind that a path can name. */
interface Party {
  readonly customer: Integrator;
  /** A key with every scope. */
  readonly apiKey: Credentials;
  /** A token with every scope. */
  readonly bearer: Credentials;
  /** Two tokens with one scope each. */
  readonly narrow: Readonly<Record<'credits:read' | 'events:read', Credentials>>;
  readonly ids: Ids;
}

const stack = fixture(sharedStack);
const party = async (): Promise<Party> => {
  const customer = await Integrator.open(stack, 400);
  const bearer = async (scope: string): Promise<Credentials> => ({ ...(await customer.bearer(scope)) });
  return {
    customer,
    apiKey: await keyOf(customer, API_KEY_SCOPES),
    bearer: await bearer(BEARER_SCOPES.join(' ')),
    narrow: { 'credits:read': await bearer('credits:read'), 'events:read': await bearer('events:read') },
    ids: await thingsOf(stack, customer),
  };
};
const owner = fixture(party);
const stranger = fixture(party);

const keyOf = async (customer: Integrator, scopes: readonly string[]): Promise<Credentials> => ({
  'x-api-key': (await customer.withKey('--scopes', scopes.join())).apiKey,
});

const send = async ({ method, target, body }: DescribedRequest, credentials: Credentials) => {
  // A busy machine is not ready for a moment, or not with the reading of a trial.
  const answer = await untilServed(() =>
    fetch(stack.baseUrl + target, {
      method,
      headers: { ...credentials, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
  return { status: answer.status, body: (isJson ? JSON.parse(text) : {}) as Record<string, unknown> };
};

/** The credentials that the owner uses for an operation. */
const credentialsOf = (one: Party, operation: Operation): Credentials =>
  accepts(operation, 'apiKey') ? one.apiKey : one.bearer;
const guarded = operations.filter(({ security }) => security.length > 0);
/** The scope that an operation declares for a kind of credential. */
const scopeOf = ({ security }: Operation, mode: 'apiKey' | 'bearer'): string =>
  security.flatMap((requirement) => requirement[mode] ?? []).join();
const forKeys = guarded.filter((operation) => accepts(operation, 'apiKey'));
const named = (list: readonly Operation[]) =>
  list.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);
/** A well-formed id that nothing has. */
const unknown: Ids = {
  readingId: randomUUID(),
  batchId: randomUUID(),
  endpointId: `we_${randomUUID()}`,
  deliveryId: randomUUID(),
  replayId: randomUUID(),
  eventId: `evt_${randomUUID()}`,
  keyId: 'zzzzzzzz',
  linkId: randomUUID(),
  sessionId: randomUUID(),
  token: makeToken(randomBytes(SECRET_BYTES)).token,
};
const MALFORMED = ['nonsense', '%00', '..%2F..%2Fadmin', 'a'.repeat(2_000)];
const NOT_FOUND: Readonly<Record<string, string>> = {
  readingId: 'reading_not_found',
  batchId: 'batch_not_found',
  endpointId: 'webhook_not_found',
  deliveryId: 'delivery_not_found',
  replayId: 'not_found',
  eventId: 'not_found',
  keyId: 'not_found',
  linkId: 'link_not_found',
  sessionId: 'not_found',
  token: 'link_not_found',
};

describe('Who may call an operation', () => {
  it.each(named(guarded))('%s: refuses callers without credentials', async (_, operation) => {
    const { status, body } = await send(requestOf(operation, unknown), {});
    expect([status, body['code']]).toEqual([401, 'unauthenticated']);
  });

  it.each(named(guarded))(
    '%s: accepts a key or a token with its scope only where documented',
    async (_, operation) => {
      for (const mode of ['apiKey', 'bearer'] as const) {
        const { status, body } = await send(requestOf(operation, unknown), owner[mode]);
        if (accepts(operation, mode)) expect([401, 403]).not.toContain(status);
        else expect([status, body['code']]).toEqual([403, 'auth_mode_not_allowed']);
      }
    },
  );

  const byToken = guarded.filter((operation) => accepts(operation, 'bearer'));
  it.each(named(byToken))('%s: refuses a bearer token without its scope', async (_, operation) => {
    const scope = scopeOf(operation, 'bearer');
    const other = scope === 'credits:read' ? 'events:read' : 'credits:read';
    const { status, body } = await send(requestOf(operation, unknown), owner.narrow[other]);
    expect([status, body]).toEqual([403, expect.objectContaining({ code: 'scope_missing', scope })]);
  });

  it.each(named(operations.filter(({ security }) => security.length === 0)))(
    '%s: accepts any caller',
    async (_, operation) => {
      expect((await send(requestOf(operation, owner.ids), {})).status).toBe(200);
    },
  );
});

/** Routes that ignore unknown parameters are public. */
it.each(named(guarded))(
  '%s: refuses a query parameter that it does not know, and names it',
  async (_, operation) => {
    const request = requestOf(operation, owner.ids, { staus: 'failed' });
    const { status, body } = await send(request, credentialsOf(owner, operation));
    expect([status, body]).toMatchObject([
      400,
      { code: 'unknown_parameter', errors: [{ pointer: '?staus', code: 'unknown_parameter' }] },
    ]);
  },
);

describe('An API key', () => {
  /** For each scope, a key that has only it, and one that has all others. */
  const only = new Map<string, Credentials>();
  const allBut = new Map<string, Credentials>();

  beforeAll(async () => {
    const others = (scope: ApiKeyScope) => API_KEY_SCOPES.filter((one) => one !== scope);
    for (const scope of API_KEY_SCOPES) {
      only.set(scope, await keyOf(owner.customer, [scope]));
      allBut.set(scope, await keyOf(owner.customer, others(scope)));
    }
  });

  it.each(named(forKeys))(
    '%s: is refused without the scope, which the answer names',
    async (_, operation) => {
      const scope = scopeOf(operation, 'apiKey');
      const { status, body } = await send(requestOf(operation, owner.ids), allBut.get(scope)!);
      expect([status, body]).toEqual([403, expect.objectContaining({ code: 'scope_missing', scope })]);
    },
  );

  // What a key may give depends on its scopes: keys.spec.ts, portal.spec.ts.
  const giving = ['POST /api/v1/keys', 'POST /api/v1/portal/sessions'];
  const independent = forKeys.filter(({ method, path }) => !giving.includes(`${method} ${path}`));
  it.each(named(independent))('%s: needs no other scope', async (_, operation) => {
    const { status } = await send(requestOf(operation, unknown), only.get(scopeOf(operation, 'apiKey'))!);
    expect([401, 403]).not.toContain(status);
  });
});

describe('Who may reach an object', () => {
  const byId = operations.filter(({ ids }) => ids.length > 0);

  it.each(named(byId.filter(({ security }) => security.length > 0)))(
    '%s: answers 403 for an object of another workspace',
    async (_, operation) => {
      const { status, body } = await send(
        requestOf(operation, owner.ids),
        credentialsOf(stranger, operation),
      );
      expect([status, body['code']]).toEqual([403, 'wrong_workspace']);
    },
  );

  it.each(named(byId))('%s: answers 404 for an unknown or malformed id', async (_, operation) => {
    for (const name of operation.ids) {
      for (const id of [unknown[name]!, ...MALFORMED]) {
        const request = requestOf(operation, { ...owner.ids, [name]: id });
        const { status, body } = await send(request, credentialsOf(owner, operation));
        expect([id, status, body['code']]).toEqual([id, 404, NOT_FOUND[name]]);
      }
    }
  });

  const below = byId.filter(({ ids }) => ids.length > 1);
  it.each(named(below))(
    '%s: answers 404 for a part of another’s endpoint under one’s own',
    async (_, operation) => {
      const [endpoint = '', inner = ''] = operation.ids;
      const ids = { ...owner.ids, [endpoint]: stranger.ids[endpoint]! };
      const { status, body } = await send(requestOf(operation, ids), credentialsOf(stranger, operation));
      expect([status, body['code']]).toEqual([404, NOT_FOUND[inner]]);
    },
  );

  // Destructive operations run last, and those on a part before those on its whole, so that each finds what it needs.
  const destroys = ({ method, ids }: Operation): number => (method === 'DELETE' ? 1 / ids.length : 0);
  const gentleFirst = [...byId].sort((a, b) => destroys(a) - destroys(b));
  it.each(named(gentleFirst))('%s: accepts the owner', async (_, operation) => {
    const { status } = await send(requestOf(operation, owner.ids), credentialsOf(owner, operation));
    expect([200, 201, 202, 204]).toContain(status);
  });
});

describe('Who may use a cursor', () => {
  // New objects, since the tests above destroyed the owner's. The stranger's are as they were.
  const mine = fixture(party);
  const theirs = stranger;

  const paged = operations.filter(({ parameters }) =>
    parameters.some(({ $ref }) => $ref === '#/components/parameters/Cursor'),
  );

  it.each(named(paged))(
    '%s: refuses a cursor of another workspace, and a changed one',
    async (_, operation) => {
      const ask = (one: Party, query: Readonly<Record<string, string>>) =>
        send(requestOf(operation, one.ids, query), credentialsOf(one, operation));
      const first = await ask(mine, { limit: '1' });
      const cursor = first.body['nextCursor'] as string;
      expect(cursor).toEqual(expect.any(String));
      expect((await ask(mine, { cursor })).status).toBe(200);
      const changed = (cursor.startsWith('A') ? 'B' : 'A') + cursor.slice(1);
      for (const [one, sent] of [
        [theirs, cursor],
        [mine, changed],
        [mine, ''],
      ] as const) {
        const { status, body } = await ask(one, { cursor: sent });
        expect([status, body['errors']]).toEqual([400, [expect.objectContaining({ pointer: '?cursor' })]]);
      }
    },
  );
});
