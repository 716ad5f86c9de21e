import type { Stack } from '../../support/index.js';
import { person, until, untilServed, type Integrator } from '../../support/integrator.js';

/** Names of path parameters, with the id of an object of a workspace. */
export type Ids = Readonly<Record<string, string>>;

/** Creates an object for each path parameter: two endpoints, readings and deliveries, so that lists have pages. */
export const thingsOf = async (stack: Stack, customer: Integrator): Promise<Ids> => {
  const post = async (path: string, body: object) =>
    (await untilServed(() => customer.call('POST', `/api/v1${path}`, { body }))).body as Record<
      string,
      string
    >;
  await customer.create(person());
  const readingId = await customer.published();
  const { batchId = '' } = await post('/readings/bulk', { mode: 'all', readings: [person()] });
  const url = 'https://receiver.example.com/hook';
  await customer.endpoint(url);
  const endpointId = await customer.endpoint(url);
  await post(`/webhooks/${endpointId}/test`, {});
  const { deliveryId = '' } = await post(`/webhooks/${endpointId}/test`, {});
  const { replayId = '' } = await post(`/webhooks/${endpointId}/replay`, {
    since: '2026-04-01T00:00:00Z',
    dryRun: true,
  });
  const { keyId } = (await stack.ops(['key', 'issue', '--workspace', customer.workspaceId])) as Ids;
  const links = `/readings/${readingId}/document/links`;
  const token = (await post(links, { format: 'pdf' }))['url']?.split('/').at(-1) ?? '';
  const { linkId = '' } = await post(links, { format: 'pdf' });
  const feed = () => customer.call<{ data: { id: string }[] }>('GET', '/api/v1/events');
  let eventId = '';
  await until(async () => (eventId = (await feed()).body.data[0]!.id) !== '', 'the feed has an event');
  const host = await customer.withKey('--scopes', 'portal:write,readings:read');
  const opened = () =>
    host.call<{ sessionId: string }>('POST', '/api/v1/portal/sessions', {
      body: { scopes: ['readings:read'] },
    });
  await opened();
  const { sessionId } = (await opened()).body;
  const keys = { keyId: keyId!, linkId, token, sessionId };
  return { readingId, batchId, endpointId, deliveryId, replayId, eventId, ...keys };
};
