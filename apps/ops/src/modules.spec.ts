import { describe, expect, it } from '@jest/globals';
import { steadyClock, systemClock } from '@app/event-sourcing/core/clock.js';
import { EVENT_STORE } from '@app/event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '@app/event-sourcing/testing/in-memory-event-store.js';
import { COMMAND_BUS, QUERY_BUS } from '@app/platform/cqrs/handler.js';
import { Digester } from '@app/platform/crypto/digest.js';
import { KeyRing } from '@app/platform/crypto/key-ring.js';
import { SubjectKeys } from '@app/platform/crypto/subject-keys.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { ownRequest } from '@app/platform/cqrs/own-request.js';
import { CLOCK, CONFIG, LOGGER, STEADY_CLOCK, TRUSTED_CLOCK } from '@app/platform/tokens.js';
import { WithdrawPublication } from '@app/readings/contracts/index.js';
import { OpenWorkspace, WorkspaceExists } from '@app/workspaces/contracts/index.js';
import { MODULES, Modules } from './modules.js';
import { Providers } from './providers.js';

/** What the modules take from the platform. */
const platform = () =>
  new Map<unknown, unknown>([
    [CONFIG, { WEBHOOK_ALLOW_CIDRS: [] }],
    [CLOCK, systemClock],
    [STEADY_CLOCK, steadyClock],
    [TRUSTED_CLOCK, systemClock],
    [POSTGRES, {}],
    [EVENT_STORE, new InMemoryEventStore()],
    ...[KeyRing, SubjectKeys, Digester, LOGGER].map((token) => [token, {}] as const),
  ]);

const READING = '7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11';
const by = ownRequest('operator:ada');

describe('the modules of the operator’s commands', () => {
  it('handle a command and a query on one event store', async () => {
    const { execute } = new Modules(platform());
    const { workspaceId } = (await execute(new OpenWorkspace('Atelier', by))) as { workspaceId: string };
    expect(await execute(new WorkspaceExists(workspaceId))).toBe(true);
    expect(await execute(new WorkspaceExists('ws_none'))).toBe(false);
  });

  it('handle a port, whose contract is another module’s', async () => {
    const { execute } = new Modules(platform());
    await expect(execute(new WithdrawPublication(READING, 'ws_1', by))).resolves.not.toThrow();
  });

  it('name a message that no module handles', async () => {
    class Unknown {}
    await expect(new Modules(platform()).execute(new Unknown())).rejects.toThrow('No module handles Unknown');
  });

  it('declare only what can be made without the framework', async () => {
    const providers = new Providers(new Map([...platform(), [COMMAND_BUS, {}], [QUERY_BUS, {}]]));
    const tokens = (await Promise.all(MODULES.map(({ load }) => load()))).flatMap((module) => {
      providers.add(module);
      return (Reflect.getMetadata('providers', module) as (object & { provide?: unknown })[]).map(
        (provider) => provider.provide ?? provider,
      );
    });
    expect(tokens.length).toBeGreaterThan(60);
    for (const token of tokens) expect(providers.get(token)).toBe(providers.get(token));
  });
});
