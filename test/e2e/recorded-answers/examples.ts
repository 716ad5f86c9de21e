import { person, until, type Answer, type Integrator } from '../../support/integrator.js';
import type { Credential } from './requests.js';

type Body = Record<string, unknown>;

/** Sends the request of an operation, as in `GET /api/v1/readings/{readingId}`, and keeps the body of its answer. */
export type Ask = (
  operation: string,
  options?: {
    /** Values for the path's parameters, in their order. */
    of?: readonly unknown[];
    query?: string;
    body?: object;
    /** The credential to send; default: the API key. */
    as?: Credential;
  },
) => Promise<Answer<Body>>;

/** One request for each operation that answers with JSON, in an order in which all succeed. */
export const askForExamples = async (ask: Ask, customer: Integrator, receiverUrl: string): Promise<void> => {
  await ask('GET /healthz', { as: 'nobody' });
  await ask('GET /readyz', { as: 'nobody' });
  await ask('GET /schemas/result.json', { as: 'nobody' });
  await ask('GET /schemas/document_v1.json', { as: 'nobody' });
  const { body: endpoint } = await ask('POST /api/v1/webhooks', {
    body: { url: receiverUrl, description: 'orders' },
  });
  const of = await readings(ask, customer);
  await deliveries(ask, endpoint['endpointId']);
  await keys(ask);
  await portal(ask);
  const links = '/api/v1/readings/{readingId}/document/links';
  const { body: link } = await ask(`POST ${links}`, { of, body: { format: 'document_v1' } });
  await ask('GET /d/{token}', { of: [String(link['url']).split('/').at(-1)], as: 'nobody' });
  await ask(`GET ${links}`, { of });
  // Last: it has one more event sent.
  await ask('POST /api/v1/readings/{readingId}/document/republish', { of });
};

/** @returns the values for paths of the reading */
const readings = async (ask: Ask, customer: Integrator): Promise<readonly unknown[]> => {
  const { body: created } = await ask('POST /api/v1/readings', {
    body: { ...person(), externalId: 'order-4711', metadata: { shop: 'paris', gift: 'yes' } },
  });
  const { body: batch } = await ask('POST /api/v1/readings/bulk', {
    body: { mode: 'available', readings: [person('Léa'), { ...person(), dateOfBirth: '2999-01-01' }] },
  });
  const ended = async () =>
    (await ask('GET /api/v1/batches/{batchId}', { of: [batch['batchId']] })).body['endedAt'];
  await until(async () => (await ended()) !== null, 'the batch to end');
  const of = [created['readingId']];
  await customer.untilEnded(String(created['readingId']));
  await customer.untilConsumed(40);
  await ask('GET /api/v1/readings/{readingId}', { of });
  await ask('GET /api/v1/readings');
  await ask('GET /api/v1/readings/{readingId}/result', { of });
  await ask('GET /api/v1/readings/{readingId}/document', { of, query: '?format=document_v1' });
  await ask('GET /api/v1/readings/{readingId}/events', { of });
  await ask('GET /api/v1/credits');
  const { body: feed } = await ask('GET /api/v1/events');
  await ask('GET /api/v1/events/{eventId}', { of: [(feed['data'] as { id: string }[])[0]!.id] });
  return of;
};

const deliveries = async (ask: Ask, endpointId: unknown): Promise<void> => {
  const endpoint = '/api/v1/webhooks/{endpointId}';
  const of = [endpointId];
  await ask(`POST ${endpoint}/test`, { of, body: { type: 'reading.completed' } });
  const settled = async (): Promise<readonly Body[]> => {
    const { body } = await ask(`GET ${endpoint}/deliveries`, { of });
    return (body['data'] as readonly Body[]).filter(({ status }) => status === 'succeeded');
  };
  // Completed and published, of two readings, and the trial.
  await until(async () => (await settled()).length === 5, 'five deliveries');
  const [delivery] = await settled();
  const one = [endpointId, delivery!['deliveryId']];
  await ask(`GET ${endpoint}/deliveries/{deliveryId}`, { of: one });
  await ask(`POST ${endpoint}/deliveries/{deliveryId}/redeliver`, { of: one });
  const { body: replay } = await ask(`POST ${endpoint}/replay`, {
    of,
    body: { since: '2026-01-01T00:00:00.000Z', dryRun: true },
  });
  const replayed = [endpointId, replay['replayId']];
  const state = async () => (await ask(`GET ${endpoint}/replays/{replayId}`, { of: replayed })).body['state'];
  await until(async () => (await state()) === 'finished', 'the replay to finish');
  await ask(`DELETE ${endpoint}/replays/{replayId}`, { of: replayed });
  await ask(`GET ${endpoint}/health`, { of });
  await ask(`GET ${endpoint}/stats`, { of });
  await ask(`POST ${endpoint}/verify`, { of });
  await ask(`PATCH ${endpoint}`, { of, body: { events: ['reading.completed', 'reading.failed'] } });
  await ask(`POST ${endpoint}/rotate-secret`, { of, body: { overlapSeconds: 3_600 } });
  await ask(`GET ${endpoint}`, { of });
  await ask('GET /api/v1/webhooks');
};

const keys = async (ask: Ask): Promise<void> => {
  const { body: issued } = await ask('POST /api/v1/keys', {
    body: {
      label: 'nightly export',
      scopes: ['readings:read', 'documents:read'],
      networks: ['203.0.113.0/24'],
    },
    as: 'owner',
  });
  const of = [String(issued['keyId'])];
  await ask('POST /api/v1/keys/{keyId}/rotate', { of, body: { overlapSeconds: 3_600 }, as: 'owner' });
  await ask('GET /api/v1/keys', { as: 'owner' });
};

const portal = async (ask: Ask): Promise<void> => {
  const sessions = '/api/v1/portal/sessions';
  await ask(`POST ${sessions}`, { body: { scopes: ['readings:read', 'documents:read'] }, as: 'host' });
  await ask(`GET ${sessions}`, { as: 'host' });
};

/** What stands in the examples for what a reader must not use, or cannot. */
const SHOWN: Readonly<Record<string, string>> = {
  apiKey: 'ek_live_Ab3dE6gH_4rT9vXk2LmQ8sYw1ZbN6cD0pF3hJ5kM70a1B2c',
  signingSecret: 'whsec_bKk0T2r5mY8vQ1xW4zC7nA3dF6gH9jL0pS5uE2iR8oq9Zw',
  url: 'https://receiver.example.com/hook',
};

const ENTRANCE = 'https://readings.example.com/portal/enter/2sbQyKn4Xv0tM1rWzC7nA3dF6gH9jL0pS5uE2iR8xQ4';
const LINK = 'https://readings.example.com/d/2sbQyKn4Xv0tM1rWzC7nA3dF6gH9jL0pS5uE2iR8';

/** Sections of a document that an example shows. All of them, or a whole schema, would be longer than the API. */
const SECTIONS = 1;

const shownText = (name: string, value: string): string => {
  if (name === 'url' && value.includes('/portal/')) return ENTRANCE;
  return name === 'url' && value.includes('/d/') ? LINK : (SHOWN[name] ?? value);
};

/** An answer as it is shown: with secrets that were never issued, and a receiver that does not exist. */
export const shownAnswer = (body: Body): Body => {
  const shown = JSON.parse(
    JSON.stringify(body, (name, value: unknown) =>
      typeof value === 'string' ? shownText(name, value) : value,
    ),
  ) as Body;
  const { type, children, $schema, $id, title, description } = shown;
  if (type === 'document' && Array.isArray(children))
    return { ...shown, children: children.slice(0, SECTIONS) };
  return $schema === undefined ? shown : { $schema, $id, title, description };
};

/** The paths of the members that two answers do not share. A null, an empty list or a missing text has no members. */
export const unsharedMembers = (one: unknown, other: unknown, path = ''): string[] => {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length > 0 && other.length > 0 ? unsharedMembers(one[0], other[0], `${path}[]`) : [];
  if (!isObject(one) || !isObject(other)) return [];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) =>
    name in one && name in other
      ? unsharedMembers(one[name], other[name], `${path}.${name}`)
      : [`${path}.${name}`],
  );
};

const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
