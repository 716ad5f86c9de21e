import { mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReadingServiceClient, type CreateReading } from '@reading-service/client';
import { removeDataFolder } from './data-folder.js';
import { Receiver } from './demo/receiver.js';
import { openWorkspace } from './first-start.js';
import { ops } from './ops.js';
import { Stack, type RunningStack } from './stack.js';

const DEADLINE_MS = 300_000;

/** The demo receives webhooks on this machine, which the service refuses by default. */
const DEMO_SETTINGS = {
  PORT: '0',
  HOST: '127.0.0.1',
  WEBHOOK_ALLOW_HTTP: '1',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);

let current = 'start the stack';
/** Runs a named step of the demo; an error names the failed step. */
const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
  current = name;
  const begin = performance.now();
  try {
    const result = await work();
    say(`  ✓ ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
    return result;
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
};

/** Two fictitious people, as bodies of POST /api/v1/readings. */
const people: readonly CreateReading[] = [
  {
    productId: 'theme',
    profileId: 'evan',
    locale: 'fr-FR',
    name: { firstNames: ['Élodie'], middleNames: ['Anne-Laure'], lastNames: ['Ferrand'] },
    dateOfBirth: '1987-11-29',
    grammaticalProfile: { subjectGender: 'feminine' },
  },
  {
    productId: 'theme',
    profileId: 'evan',
    locale: 'en-US',
    name: { firstNames: ['Marcus'], middleNames: ['Theo'], lastNames: ["O'Malley"] },
    dateOfBirth: '1979-03-08',
    grammaticalProfile: { subjectGender: 'masculine' },
  },
];

const WITHIN_MS = 120_000;

const FILES = { document_v1: 'document_v1.json', markdown: 'document.md', pdf: 'document.pdf' } as const;

/** Uses the service as a customer does, and checks each step. */
const walkThrough = async (stack: RunningStack): Promise<void> => {
  const receiver = await Receiver.start();
  try {
    const { workspaceId, apiKey } = await step('open a workspace with a Studio plan and an API key', () =>
      openWorkspace(stack.environment, 'Demo'),
    );
    const service = new ReadingServiceClient({ baseUrl: stack.baseUrl, apiKey });
    await step('register a webhook endpoint', async () => {
      receiver.secret = (await service.webhooks.create({ url: receiver.url })).signingSecret;
    });
    const readings = await step('submit one fr-FR and one en-US reading', () =>
      Promise.all(people.map((person) => service.readings.create(person))),
    );
    await Promise.all(
      readings.map(({ readingId }, index) =>
        step(`publish the ${people[index]?.locale} reading`, () => waitUntilPublished(service, readingId)),
      ),
    );
    for (const type of ['reading.completed', 'reading.published']) {
      for (const { readingId } of readings) {
        await step(`receive ${type} of ${readingId} with a valid signature`, () =>
          expectWebhook(receiver, type, readingId),
        );
      }
    }
    for (const { readingId } of readings) {
      const folder = await step(`fetch result and documents of ${readingId}`, () =>
        fetchFiles(service, readingId),
      );
      say(`      ${folder}`);
    }
    const statement = await step('read the ledger statement', () =>
      ops(stack.environment, ['ledger', 'statement', '--workspace', workspaceId]),
    );
    say(`\n${statement}`);
  } finally {
    await receiver.stop();
  }
};

const waitUntilPublished = async (service: ReadingServiceClient, readingId: string): Promise<void> => {
  const { status } = await service.readings.waitUntilDone(readingId, { timeoutMs: WITHIN_MS });
  if (status !== 'completed') throw new Error(`reading ${readingId} ${status}`);
};

const expectWebhook = async (receiver: Receiver, type: string, readingId: string): Promise<void> => {
  const webhook = await receiver.waitFor(
    ({ event }) => event.type === type && event.readingId === readingId,
    WITHIN_MS,
    `${type} of ${readingId}`,
  );
  if (!webhook.verified) throw new Error(`the signature of ${type} of ${readingId} is invalid`);
};

/** @returns the folder, `out/<readingId>` in the current one */
const fetchFiles = async ({ readings }: ReadingServiceClient, readingId: string): Promise<string> => {
  const folder = resolve('out', readingId);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'result.json'), JSON.stringify(await readings.result(readingId)));
  for (const format of Object.keys(FILES) as (keyof typeof FILES)[]) {
    const file = join(folder, FILES[format]);
    await writeFile(file, await readings.documentStream(readingId, format));
    if (statSync(file).size === 0) throw new Error(`the ${format} of ${readingId} is empty`);
  }
  return folder;
};

/** Rejects when the demo must end early. */
const interruption = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => reject(new Error(`interrupted by ${signal}`)));
  void sleep(DEADLINE_MS, undefined, { ref: false }).then(() =>
    reject(new Error(`not finished within ${DEADLINE_MS / 1000} s; last step: ${current}`)),
  );
});

const dataDir = mkdtempSync(join(tmpdir(), 'reading-service-demo-'));
let childFailed = (_message: string): void => undefined;
const failure = new Promise<never>((_, reject) => (childFailed = (message) => reject(new Error(message))));
const stack = new Stack({
  dataDir,
  environment: { ...process.env, ...DEMO_SETTINGS },
  say: (line) => say(`  ${line}`),
  onFailure: (message) => childFailed(message),
});

const demo = async (): Promise<void> => {
  say('Runs the service from order to delivery, on free ports and in a temporary folder.');
  const running = await step('start the stack', () => stack.start());
  await walkThrough(running);
};

try {
  await Promise.race([demo(), interruption, failure]);
  say('Done: every step succeeded.');
} catch (error) {
  process.stderr.write(`The demo failed. ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await stack.stop();
  removeDataFolder(dataDir);
}
process.exit();
