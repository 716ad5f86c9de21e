import { describe, expect, it } from '@jest/globals';
import { ReadingServiceClient, etagOf } from './index.js';

let requests: Headers[] = [];

/** A service that gives these bodies one after another, with the ETags "0", "1", … */
const service = (...bodies: readonly object[]): ReadingServiceClient => {
  requests = [];
  return new ReadingServiceClient({
    baseUrl: 'http://readings.example',
    apiKey: 'k',
    fetch: async (_, init) => {
      requests.push(new Headers(init?.headers));
      const place = requests.length - 1;
      return Response.json(bodies[place], { headers: { etag: `"${place}"` } });
    },
  });
};

const choice = { url: 'https://x.example' };

describe('The ETag of an endpoint', () => {
  it('is kept when it is created, and guards the next change', async () => {
    const { webhooks } = service({ endpointId: 'we_1', signingSecret: 'whsec_1' }, { endpointId: 'we_1' });
    const endpoint = await webhooks.create(choice);
    await webhooks.update('we_1', { description: 'orders' }, { ifMatch: etagOf(endpoint) });
    expect(requests.map((headers) => headers.get('if-match'))).toEqual([null, '"0"']);
  });

  it('is that of the new secret when the first one was lost, with the endpoint as it is since', async () => {
    const { webhooks } = service(
      { endpointId: 'we_1', description: null, enabled: true },
      { endpointId: 'we_1', description: 'orders', signingSecret: 'whsec_2' },
    );
    const endpoint = await webhooks.create(choice);
    expect(endpoint).toMatchObject({ description: 'orders', signingSecret: 'whsec_2', enabled: true });
    expect(etagOf(endpoint)).toBe('"1"');
  });

  it('never goes missing in silence: without one, nothing is sent', async () => {
    const { webhooks } = service({ data: [{ endpointId: 'we_1' }], nextCursor: null });
    for await (const listed of webhooks.list())
      await expect(webhooks.update('we_1', {}, { ifMatch: etagOf(listed) })).rejects.toThrow(
        /^ifMatch must be an ETag, but it is undefined/,
      );
    expect(requests).toHaveLength(1);
  });
});
