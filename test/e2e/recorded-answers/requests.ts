import { person, until, untilHandled, type Answer, type Integrator } from '../../support/integrator.js';

/** `host`: a key that opens sessions of the portal. */
export type Credential = 'key' | 'owner' | 'host' | 'nobody';

type Body = Record<string, unknown>;
/** Sends a request and keeps its answer under a name. */
export type Call = (
  name: string,
  method: string,
  path: string,
  options?: {
    body?: object;
    headers?: Record<string, string>;
    /** The credential to send; default: the API key. */
    as?: Credential;
    /** Records only the shape of the body. */
    shape?: boolean;
  },
) => Promise<Answer<Body>>;

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

/** Every request of the recording, in order. */
export const makeRequests = async (call: Call, customer: Integrator, receiverUrl: string): Promise<void> => {
  await readings(call, customer);
  await webhooks(call, customer, receiverUrl);
  await events(call, customer);
  await keys(call);
};

const readings = async (call: Call, customer: Integrator): Promise<void> => {
  const headers = { 'idempotency-key': 'order-7' };
  const body = { ...person(), externalId: 'order-4711', metadata: { shop: 'paris', gift: 'yes' } };
  const { body: created } = await call('create a reading', 'POST', '/readings', { body, headers });
  const path = `/readings/${String(created['readingId'])}`;
  await customer.untilEnded(String(created['readingId']));
  await call('create it again', 'POST', '/readings', { body, headers });
  await call('another under its key', 'POST', '/readings', { body: person('Léa'), headers });
  await call('without a body', 'POST', '/readings');
  await call('with wrong members', 'POST', '/readings', {
    body: { ...person(), locale: 'de-DE', dateOfBirth: '2026-02-30', more: 1 },
  });
  await call('with wrong references', 'POST', '/readings', {
    body: { ...person(), externalId: '', metadata: { shop: 7 } },
  });
  await call('with an unknown product', 'POST', '/readings', { body: { ...person(), productId: 'tarot' } });
  await call('get an unknown batch', 'GET', `/batches/${UNKNOWN}`);
  await call('create a bulk in an unknown mode', 'POST', '/readings/bulk', {
    body: { mode: 'some', readings: [] },
  });
  await call('get a reading', 'GET', path);
  await call('get it while waiting', 'GET', path, { headers: { prefer: 'wait=1' } });
  await call('get an unknown reading', 'GET', `/readings/${UNKNOWN}`);
  await call('list readings', 'GET', '/readings');
  await call('list failed readings', 'GET', '/readings?status=failed');
  await call('list readings by external id', 'GET', '/readings?externalId=order-4711');
  await call('list with wrong filters', 'GET', '/readings?externalId=&createdSince=today');
  await call('list with a wrong status', 'GET', '/readings?status=lost');
  await call('get its result', 'GET', `${path}/result`, { shape: true });
  await call('get its history', 'GET', `${path}/events`);
  await call('get its document', 'GET', `${path}/document?format=document_v1`, { shape: true });
  const links = `${path}/document/links`;
  const linkKey = { 'idempotency-key': 'link-7' };
  const { body: link } = await call('create a link', 'POST', links, {
    body: { format: 'pdf' },
    headers: linkKey,
    shape: true,
  });
  await call('create it again with its key', 'POST', links, { body: { format: 'pdf' }, headers: linkKey });
  await call('create a link without a format', 'POST', links, { body: { expiresInSeconds: 5 } });
  await call('list links', 'GET', links);
  await call('revoke a link', 'DELETE', `${links}/${String(link['linkId'])}`);
  await call('revoke an unknown link', 'DELETE', `${links}/${UNKNOWN}`);
  await call('publish it again only from other texts', 'POST', `${path}/document/republish`, {
    body: { onlyIfTextsChanged: true },
  });
  await call('publish it again', 'POST', `${path}/document/republish`);
  await until(
    async () => (await customer.reading(String(created['readingId']))).document.version === 2,
    () => 'the second version',
  );
  await call('get a version that there is not', 'GET', `${path}/document?format=pdf&version=9`);
  await call('get a format that there is not', 'GET', `${path}/document?format=docx`);
  await customer.untilConsumed(20);
  await call('get the credits', 'GET', '/credits', { shape: true });
  await call('erase with a key', 'DELETE', `${path}/personal-data`);
  await call('erase', 'DELETE', `${path}/personal-data`, { as: 'owner' });
  await call('erase again', 'DELETE', `${path}/personal-data`, { as: 'owner' });
  // On a busy machine, rows follow after the answer.
  await untilHandled(customer.stack);
  await call('get an erased reading', 'GET', path);
  await call('get the result of an erased reading', 'GET', `${path}/result`);
  await call('publish an erased reading again', 'POST', `${path}/document/republish`);
  await call('create an erased reading again', 'POST', '/readings', { body: person(), headers });
  await call('without credits', 'POST', '/readings', { body: person('Ada') });
};

const webhooks = async (call: Call, { stack }: Integrator, url: string): Promise<void> => {
  const { body: endpoint, headers } = await call('create an endpoint', 'POST', '/webhooks', {
    body: { url, description: 'first' },
  });
  const path = `/webhooks/${String(endpoint['endpointId'])}`;
  await call('create one at a blocked address', 'POST', '/webhooks', { body: { url: 'https://10.0.0.1/' } });
  await call('create one without a URL', 'POST', '/webhooks', { body: {} });
  await untilHandled(stack);
  await call('list endpoints', 'GET', '/webhooks');
  await call('get an endpoint', 'GET', path);
  await call('get an unknown endpoint', 'GET', `/webhooks/we_${UNKNOWN}`);
  await call('change it', 'PATCH', path, { body: { events: ['reading.published'], enabled: false } });
  await call('change what has changed since', 'PATCH', path, {
    body: { description: 'late' },
    headers: { 'if-match': headers.get('etag') ?? '"0"' },
  });
  await untilHandled(stack);
  await call('replay to a disabled endpoint', 'POST', `${path}/replay`, {
    body: { since: '2026-01-01T00:00:00.000Z' },
  });
  await call('count what a replay would send', 'POST', `${path}/replay`, {
    body: { since: '2026-01-01T00:00:00.000Z', dryRun: true },
    headers: { 'idempotency-key': 'replay-7' },
  });
  await call('get an unknown replay', 'GET', `${path}/replays/${UNKNOWN}`);
  await call('stop an unknown replay', 'DELETE', `${path}/replays/${UNKNOWN}`);
  await call('send a trial event', 'POST', `${path}/test`, { body: { type: 'reading.completed' } });
  await call('list deliveries', 'GET', `${path}/deliveries`);
  await call('get an unknown delivery', 'GET', `${path}/deliveries/${UNKNOWN}`);
  await call('send an unknown delivery again', 'POST', `${path}/deliveries/${UNKNOWN}/redeliver`);
  await call('see how it fares', 'GET', `${path}/health`);
  await call('rotate its secret', 'POST', `${path}/rotate-secret`, { body: { overlapSeconds: 60 } });
  await call('delete it', 'DELETE', path);
  await untilHandled(stack);
  await call('delete it again', 'DELETE', path);
};

const events = async (call: Call, { stack, workspaceId }: Integrator): Promise<void> => {
  const { body } = await call('list events', 'GET', '/events');
  const [event] = body['data'] as { id: string }[];
  await call('get an event', 'GET', `/events/${event!.id}`);
  await call('get an unknown event', 'GET', `/events/evt_${UNKNOWN}`);
  // As retention leaves it.
  await stack.query(
    `insert into webhooks.deleted_past (workspace_id, livemode, type, position, until)
     values ($1, true, 'reading.completed', 1e15, '2026-01-01T00:00:00Z')`,
    [workspaceId],
  );
  await call('get an event that may be deleted', 'GET', `/events/evt_${UNKNOWN}`);
  await call('list events from before deleted ones', 'GET', `/events?cursor=${String(body['nextCursor'])}`);
};

const keys = async (call: Call): Promise<void> => {
  const as = 'owner';
  const { body: issued } = await call('issue a key', 'POST', '/keys', {
    body: { label: 'export' },
    as,
    shape: true,
  });
  const keyId = String(issued['keyId']);
  await call('issue one with a wrong label', 'POST', '/keys', { body: { label: 7 }, as });
  await call('revoke it', 'DELETE', `/keys/${keyId}`, { as });
  await call('revoke it again', 'DELETE', `/keys/${keyId}`, { as });
  await call('revoke an unknown key', 'DELETE', '/keys/Ab3dE6gH', { as });
  await call('without a credential', 'GET', '/keys', { as: 'nobody' });
  await call('a path that there is not', 'GET', '/nothing');
  await call('a method that a path has not', 'PUT', '/readings');
};
