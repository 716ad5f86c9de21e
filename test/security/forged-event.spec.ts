import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, type DetailedPeerCertificate } from 'node:tls';
import { openEventStore } from '@app/event-sourcing/store/eventstoredb.js';
import { RANDOM_BYTES, makeApiKey } from '../../libs/workspaces/src/domain/api-key/api-key.js';
import { Integrator } from '../support/integrator.js';
import { removeDataFolder, startStack, temporaryDataDir, type StartedStack } from '../support/index.js';

/** How long a forged key is tried for: more than the consumers take to read a new event. */
const BELIEVED_WITHIN_MS = 3_000;

let stack: StartedStack;
let victim: Integrator;
let attackers: string;

beforeAll(async () => {
  attackers = temporaryDataDir();
  stack = await startStack();
  victim = await Integrator.open(stack, 0);
});

afterAll(async () => {
  await stack?.stop();
  removeDataFolder(attackers);
});

const storePort = (): number => Number(new URL(stack.eventStoreUrl.replace(/^esdb:/, 'http:')).port);

/** The certificate that the store shows to anyone who asks, as a file to trust; none when it speaks no TLS. */
const shownCertificate = (): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ port: storePort(), host: '127.0.0.1', rejectUnauthorized: false }, () => {
      const { raw } = socket.getPeerCertificate(true) as DetailedPeerCertificate;
      socket.destroy();
      const file = join(attackers, 'shown.crt');
      const lines = raw.toString('base64').replace(/.{64}/g, '$&\n');
      writeFileSync(file, `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`);
      resolve(file);
    });
    socket.on('error', () => resolve(undefined));
  });

/** What any user of the machine can do: append an event by which a key of his own becomes a customer's. */
const forge = async (connectionString: string): Promise<{ appended: boolean; believed: boolean }> => {
  const { apiKey, keyId, hash } = makeApiKey({
    id: randomBytes(RANDOM_BYTES),
    secret: randomBytes(RANDOM_BYTES),
  });
  const store = openEventStore({ connectionString, appendTimeoutMs: 2_000, readTimeoutMs: 2_000 });
  const append = async (revision: bigint): Promise<void> =>
    void (await store.append(`workspace-${victim.workspaceId}`, revision, [
      {
        id: randomUUID(),
        type: 'ApiKeyIssued',
        data: { keyId, hash, label: 'forged', expiresAt: null },
        metadata: {
          correlationId: 'forged',
          causationId: 'forged',
          workspaceId: victim.workspaceId,
          actor: 'operator:root',
          occurredAt: new Date().toISOString(),
          schemaVersion: 1,
        },
      },
    ]));
  // The revision is no secret either: a conflict tells it.
  const appended = await append(0n)
    .catch((error: { actual?: bigint }) => {
      if (typeof error.actual !== 'bigint') throw error;
      return append(error.actual);
    })
    .then(
      () => true,
      () => false,
    );
  await store.close();
  const until = Date.now() + (appended ? BELIEVED_WITHIN_MS : 0);
  do {
    const { status } = await fetch(`${stack.baseUrl}/api/v1/readings`, { headers: { 'x-api-key': apiKey } });
    if (status === 200) return { appended, believed: true };
    await delay(100);
  } while (Date.now() < until);
  return { appended, believed: false };
};

const REFUSED = { appended: false, believed: false };

describe('another user of the machine', () => {
  it('cannot append an event to the store by its port alone', async () => {
    expect(await forge(`esdb://127.0.0.1:${storePort()}?tls=false`)).toEqual(REFUSED);
  });
});
