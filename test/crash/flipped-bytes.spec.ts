import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedEventStore } from '#embedded-event-store/index.js';
import { connectClient, newEvent } from '#embedded-event-store/testing/client.js';
import { projectPath } from '#platform/project-path.js';
import { Random } from '../support/random.js';
import { again, rounds, seedOr } from '../support/rounds.js';
import type { Look } from './support/read-store.js';

const FLIPS = rounds(40, 2_000);
const SEED = seedOr(7);
/** A damaged page may lead in a circle. */
const LOOK_WITHIN_MS = 60_000;
/** The first look starts the reader. A slow machine is no fault. */
const FIRST_LOOK_WITHIN_MS = 120_000;
/** A finding names the file, or the record, stream or table entry. */
const NAMED =
  /data\.mdb|record at position \d|[Tt]he stream|Stream number \d|The index|event at position \d|streams have/;

const root = mkdtempSync(join(tmpdir(), 'flipped-bytes-'));
const folder = join(root, 'flipped');
let intact: Buffer;
let reader: ChildProcess | undefined;

beforeAll(async () => {
  const dataDir = join(root, 'intact');
  const store = await startEmbeddedEventStore({ dataDir });
  const client = connectClient(store.connectionString);
  for (let stream = 0; stream < 30; stream += 1) {
    // A long event has pages of its own. There are more events than a start verifies.
    const events = Array.from({ length: 40 }, (_, n) =>
      newEvent('Noted', { n, text: 'x'.repeat(n === 7 ? 6_000 : 20) }),
    );
    await client.appendToStream(`reading-${stream}`, events);
  }
  await client.setStreamMetadata('reading-3', { maxCount: 5 });
  await client.setStreamMetadata('reading-4', { truncateBefore: 7 });
  await client.dispose();
  await store.stop();
  intact = readFileSync(join(dataDir, 'data', 'data.mdb'));
});

afterAll(() => {
  reader?.kill();
  rmSync(root, { recursive: true, force: true });
});

/** Opens, reads and verifies these bytes in a process of its own, as `verify` and a server would. */
const look = async (bytes: Buffer, withinMs = LOOK_WITHIN_MS): Promise<Look> => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'data'), { recursive: true });
  writeFileSync(join(folder, 'data', 'data.mdb'), bytes);
  reader ??= fork(projectPath('dist/test/crash/support/read-store.js'), { stdio: 'ignore', execArgv: [] });
  const child = reader;
  const settled = new AbortController();
  const patience = setTimeout(() => child.kill('SIGKILL'), withinMs);
  try {
    const answer = once(child, 'message', { signal: settled.signal }).then(([found]) => found as Look);
    const death = once(child, 'exit', { signal: settled.signal }).then(([, signal]): Look => {
      reader = undefined;
      return { said: [`reading data.mdb ended the process with ${String(signal)}`], answers: '' };
    });
    for (const one of [answer, death]) one.catch(() => undefined);
    child.send(folder);
    return await Promise.race([answer, death]);
  } finally {
    clearTimeout(patience);
    settled.abort();
  }
};

it(`${FLIPS} single flipped bits are each found by name, or change no answer (${again('flipped-bytes', FLIPS, SEED)})`, async () => {
  const whole = await look(intact, FIRST_LOOK_WITHIN_MS);
  expect(whole).toEqual({ said: [], answers: expect.stringMatching(/^\d+( [0-9a-f]{16}){3}$/) });
  const random = new Random(SEED);
  const unseen: string[] = [];
  let found = 0;
  for (let flip = 0; flip < FLIPS; flip += 1) {
    const offset = random.between(0, intact.length - 1);
    const bytes = Buffer.from(intact);
    bytes[offset]! ^= 1 << random.between(0, 7);
    const { said, answers } = await look(bytes);
    if (said.length > 0) found += 1;
    const isNamed = said.length > 0 && said.every((finding) => NAMED.test(finding));
    const isHarmless = said.length === 0 && answers === whole.answers;
    if (!isNamed && !isHarmless)
      unseen.push(`byte ${offset}: ${said.join(' ') || `${answers} instead of ${whole.answers}`}`);
  }
  expect(unseen).toEqual([]);
  // Most of the file is in use: a test that finds nothing looks at nothing.
  expect(found).toBeGreaterThan(FLIPS / 4);
});
