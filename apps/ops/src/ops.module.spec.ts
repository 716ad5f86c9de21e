import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { steadyClock, systemClock } from '#event-sourcing/core/clock.js';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { Digester } from '#platform/crypto/digest.js';
import { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CLOCK, CONFIG, LOGGER, STEADY_CLOCK, TRUSTED_CLOCK } from '#platform/tokens.js';
import { WithdrawPublication } from '#readings/contracts/index.js';
import { GetWorkspace, OpenWorkspace } from '#workspaces/contracts/index.js';
import { openContext } from './ops.module.js';

/** What the modules take from the platform. */
const platform = [
  { provide: CONFIG, useValue: { WEBHOOK_ALLOW_CIDRS: [] } },
  { provide: CLOCK, useValue: systemClock },
  { provide: STEADY_CLOCK, useValue: steadyClock },
  { provide: TRUSTED_CLOCK, useValue: systemClock },
  { provide: EVENT_STORE, useValue: new InMemoryEventStore() },
  ...[POSTGRES, KeyRing, EpochKeys, SubjectKeys, Digester, LOGGER].map((provide) => ({
    provide,
    useValue: {},
  })),
];

const READING = '7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11';
const by = ownRequest('operator:ada');

describe('the modules of the operator’s commands', () => {
  let context: Awaited<ReturnType<typeof openContext>>;
  beforeAll(async () => {
    context = await openContext(platform);
  });
  afterAll(() => context.close());

  it('handle a command and a query on one event store', async () => {
    const { workspaceId } = await context.commands.execute(new OpenWorkspace('Atelier', by));
    expect(await context.queries.execute(new GetWorkspace(workspaceId))).not.toBeNull();
    expect(await context.queries.execute(new GetWorkspace('ws_none'))).toBeNull();
  });

  it('handle a port, whose contract is another module’s', async () => {
    await expect(
      context.commands.execute(new WithdrawPublication(READING, 'ws_1', by)),
    ).resolves.not.toThrow();
  });
});
