import { describe, expect, it } from '@jest/globals';
import { webhookRequests } from '../../../test/webhook-requests.js';

const test = webhookRequests();

describe('POST …/rotate-secret', () => {
  it('shows the new secret once and how long the old one lasts', async () => {
    const { endpointId, signingSecret } = await test.created();
    const response = await test.post(`/${endpointId}/rotate-secret`).expect(200);
    const rotated = response.body as Record<string, string>;
    expect(rotated['signingSecret']).toMatch(/^whsec_/);
    expect(rotated['signingSecret']).not.toBe(signingSecret);
    expect(Date.parse(rotated['previousValidUntil']!) - Date.parse(rotated['updatedAt']!)).toBeGreaterThan(
      86_000_000,
    );
    expect((await test.get(`/${endpointId}`)).body).toMatchObject({
      secretHint: rotated['signingSecret']!.slice(-4),
    });
    await test.post(`/${endpointId}/rotate-secret`, { overlapSeconds: 0 }).expect(200);
    for (const overlapSeconds of [-1, 604_801, 1.5, '5', null]) {
      await test.post(`/${endpointId}/rotate-secret`, { overlapSeconds }).expect(400);
    }
  });
});
