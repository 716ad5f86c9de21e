import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { FindToldEvent, ListNewestEvents } from '../../contracts/deliveries.js';
import { GetEndpointQueue } from '../../contracts/endpoints.js';
import { PUBLIC_EVENT_TYPES } from '../../contracts/events.js';
import { reading } from '../../../test/events.js';
import { eventually } from '../../../test/receiver.js';
import { webhookRequests } from '../../../test/webhook-requests.js';
import { GetEndpointQueueHandler } from '../endpoints.js';
import { FindToldEventHandler, ListNewestEventsHandler } from '../event-feed.js';

const test = webhookRequests();

const newest = (before: string | null = null, limit = 10, mode: 'live' | 'test' = 'live') =>
  new ListNewestEventsHandler(test.database.pool).execute(
    new ListNewestEvents(test.ws, mode, PUBLIC_EVENT_TYPES, limit, before),
  );
const find = (eventId: string, workspaceId = test.ws, mode: 'live' | 'test' = 'live') =>
  new FindToldEventHandler(test.database.pool).execute(new FindToldEvent(workspaceId, mode, eventId));

describe('the newest events', () => {
  it('come first, page by page, without those of other workspaces and of the other mode', async () => {
    const [one, two] = [reading(randomUUID()), reading(randomUUID())];
    await test.happen(one.completed(), two.completed(), one.published());
    await test.api.happen('ws_else', reading(randomUUID()).completed());
    const all = (await newest()).map(({ position }) => Number(position));
    expect(all).toHaveLength(3);
    expect(all).toEqual(all.toSorted((a, b) => b - a));
    const first = await newest(null, 2);
    const second = await newest(first[1]!.position, 2);
    expect([...first, ...second].map(({ position }) => Number(position))).toEqual(all);
    expect(await newest(null, 10, 'test')).toEqual([]);
  });
});

describe('what an endpoint was sent', () => {
  it('is found in its workspace and mode; a trial in both modes', async () => {
    await test.happen(reading(randomUUID()).completed());
    const { body } = (await newest())[0]!;
    const { id } = JSON.parse(body) as { id: string };
    expect((await find(id))?.body).toBe(body);
    expect(await find(id, 'ws_else')).toBeNull();
    expect(await find(id, test.ws, 'test')).toBeNull();
    const { endpointId } = await test.created();
    const { body: trial } = await test.post(`/${endpointId}/test`, {}).expect(202);
    const { eventId } = trial as { eventId: string };
    for (const mode of ['live', 'test'] as const)
      expect(JSON.parse((await find(eventId, test.ws, mode))!.body)).toMatchObject({ trial: true });
    expect(await find(eventId, 'ws_else')).toBeNull();
  });
});

describe('the queue of an endpoint', () => {
  const queue = (endpointId: string, workspaceId = test.ws) =>
    new GetEndpointQueueHandler(test.database.pool).execute(new GetEndpointQueue(workspaceId, endpointId));

  it('says what waits, and how long an old secret signs', async () => {
    const { endpointId } = await test.created();
    expect(await queue(endpointId)).toEqual({
      pending: 0,
      nextAttemptAt: null,
      lastSuccessAt: null,
      oldSecretsValidUntil: null,
    });
    await test.happen(reading(randomUUID()).completed());
    const { body } = await test.post(`/${endpointId}/rotate-secret`, { overlapSeconds: 60 }).expect(200);
    const { previousValidUntil } = body as { previousValidUntil: string };
    await eventually(async () => typeof (await queue(endpointId))?.oldSecretsValidUntil === 'string');
    expect(await queue(endpointId)).toMatchObject({
      pending: 1,
      nextAttemptAt: expect.any(String),
      oldSecretsValidUntil: previousValidUntil,
    });
    expect(await queue(endpointId, 'ws_else')).toBeNull();
  });
});
