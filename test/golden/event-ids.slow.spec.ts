import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { simulatedRendering } from '../crash/support/simulation/stand-ins.js';
import { fixedRandom } from './event-ids/fixed-random.js';

const random = fixedRandom();
jest.unstable_mockModule('node:crypto', () => random.module);
jest.unstable_mockModule('#publishing/document/compose.js', () => simulatedRendering);
jest.unstable_mockModule('#publishing/markdown/render.js', () => simulatedRendering);
// Ids of publications follow from the version of the texts, which changes more often than this file may.
jest.unstable_mockModule('#publishing/contracts/content-version.js', () => ({
  CONTENT_VERSION: '2026.11.5',
}));

const { startService } = await import('./event-ids/service.js');
const { scenario } = await import('./event-ids/scenario.js');

/** `npm run events:ids` adds missing entries. It never changes existing ones. */
const isWriting = process.env['EVENT_IDS'] === 'write';
const path = projectPath('test/golden/event-ids.json');

interface Held {
  readonly stream: string;
  readonly type: string;
  readonly id: string;
  readonly metadata: object;
}

const golden: Record<string, readonly Held[]> = existsSync(path)
  ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, readonly Held[]>)
  : {};
const stored: Record<string, readonly Held[]> = {};
let stop: () => Promise<void>;

/** The stored bytes: JSON with its members in order. */
const metadataTexts = (steps: typeof golden): readonly string[] =>
  Object.keys(golden).flatMap((name) =>
    (steps[name] ?? []).map(({ type, metadata }) => `${type} ${JSON.stringify(metadata)}`),
  );

beforeAll(async () => {
  // Nest's decorators draw, too, while the code loads.
  random.begin('');
  const service = await startService();
  stop = () => service.nest.close();
  for (const [name, run] of Object.entries(scenario(service))) {
    random.begin(name);
    service.clock.at += 1_000;
    const from = service.store.log.length;
    await run();
    await service.settle();
    stored[name] = service.store.log
      .slice(from)
      .map(({ stream, type, id, metadata }) => ({ stream, type, id, metadata }));
  }
});

afterAll(() => stop());

it('stores the same events with the same ids and metadata as ever', () => {
  if (isWriting) writeFileSync(path, `${JSON.stringify({ ...stored, ...golden }, null, 2)}\n`);
  else {
    expect(stored).toEqual(golden);
    expect(metadataTexts(stored)).toEqual(metadataTexts(golden));
  }
});
