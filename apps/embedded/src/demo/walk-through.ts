import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ReadingServiceClient, type CreateReading } from '@reading-service/client';
import { openWorkspace } from '../first-start.js';
import { ops } from '../ops.js';
import type { RunningStack } from '../stack.js';
import { Receiver } from './receiver.js';

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

/** Runs a named step of the demo; an error names the failed step. */
export type Step = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/**
 * Uses the service as a customer does and checks each step: workspace and key, webhook endpoint, two
 * readings, signed webhooks, result, three document formats, and cost.
 */
export const walkThrough = async (
  stack: RunningStack,
  step: Step,
  say: (line: string) => void,
): Promise<void> => {
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
