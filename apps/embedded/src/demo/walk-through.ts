import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWorkspace } from '../first-start.js';
import { ops } from '../ops.js';
import type { RunningStack } from '../stack.js';
import { ApiClient, type Reading } from './api-client.js';
import { people } from './people.js';
import { Receiver } from './receiver.js';

const POLL_MS = 500;
const EVENT_WITHIN_MS = 60_000;

const FILES = { document_v1: 'document_v1.json', markdown: 'document.md', pdf: 'document.pdf' } as const;

/** Runs a named step of the demo; a failure says which one it was. */
export type Step = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/**
 * The service from a customer's side, each step checked: workspace and key, webhook endpoint, two readings, signed
 * webhooks, result, three document formats, and what it cost.
 */
export const walkThrough = async (
  stack: RunningStack,
  step: Step,
  say: (line: string) => void,
): Promise<void> => {
  const receiver = await Receiver.start();
  try {
    const { workspaceId, apiKey } = await step('open a workspace with a Studio plan and a key', () =>
      openWorkspace(stack.environment, 'Demo'),
    );
    const api = new ApiClient(stack.baseUrl, apiKey);
    await step('register a webhook endpoint', async () => {
      receiver.secret = (await api.createWebhook(receiver.url)).signingSecret;
    });
    const readings = await step('submit one fr-FR and one en-US reading', () =>
      Promise.all(people.map((person) => api.createReading(person))),
    );
    await Promise.all(
      readings.map(({ readingId }, index) =>
        step(`complete the ${people[index]?.locale} reading`, () => waitForCompletion(api, readingId, say)),
      ),
    );
    for (const type of ['reading.completed', 'reading.published']) {
      for (const { readingId } of readings) {
        await step(`receive ${type} of ${readingId}, rightly signed`, () =>
          expectWebhook(receiver, type, readingId),
        );
      }
    }
    for (const { readingId } of readings) {
      const folder = await step(`fetch result and documents of ${readingId}`, () =>
        fetchFiles(api, readingId),
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

const waitForCompletion = async (
  api: ApiClient,
  readingId: string,
  say: (line: string) => void,
): Promise<void> => {
  const deadline = Date.now() + EVENT_WITHIN_MS;
  let seen: Reading['status'] | undefined;
  while (Date.now() < deadline) {
    const { status } = await api.getReading(readingId);
    if (status !== seen) say(`      ${readingId} ${status}`);
    seen = status;
    if (status === 'completed') return;
    if (status === 'failed') throw new Error(`reading ${readingId} failed`);
    await sleep(POLL_MS);
  }
  throw new Error(`reading ${readingId} was still ${seen} after ${EVENT_WITHIN_MS / 1000} s`);
};

const expectWebhook = async (receiver: Receiver, type: string, readingId: string): Promise<void> => {
  const webhook = await receiver.waitFor(
    ({ event }) => event.type === type && event.readingId === readingId,
    EVENT_WITHIN_MS,
    `${type} of ${readingId}`,
  );
  if (!webhook.verified) throw new Error(`the signature of ${type} of ${readingId} is wrong`);
};

/** @returns the folder, `out/<readingId>` in the current one. */
const fetchFiles = async (api: ApiClient, readingId: string): Promise<string> => {
  const folder = resolve('out', readingId);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'result.json'), await api.getResult(readingId));
  for (const format of Object.keys(FILES) as (keyof typeof FILES)[]) {
    const bytes = await api.getDocument(readingId, format);
    if (bytes.length === 0) throw new Error(`the ${format} of ${readingId} is empty`);
    writeFileSync(join(folder, FILES[format]), bytes);
  }
  return folder;
};
