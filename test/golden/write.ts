import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { CATALOGUES } from './catalogues.js';
import { SAMPLES } from './samples.js';
import { jsonSchemaOf, sha256, todaysVersions, type SchemaLock } from './schema-lock.js';

const HELP = `npm run events:lock

Writes a golden file test/golden/events/<Type>.v<n>.json and an entry in test/golden/events.lock.json for every event
type and version that has none. Never changes an existing file or entry, since events of that version are stored.

Example, after a change of ReadingRequested:
  1. libs/readings/src/contracts/events.ts: event(2, <new schema>, { 1: <upcaster from version 1> })
  2. test/golden/samples.ts: ReadingRequested in its new form
  3. npm run events:lock
`;

if (process.argv.includes('--help')) {
  process.stdout.write(HELP);
  process.exit(0);
}

const lockPath = projectPath('test/golden/events.lock.json');
const lock: Record<string, SchemaLock[string]> = existsSync(lockPath)
  ? (JSON.parse(readFileSync(lockPath, 'utf8')) as SchemaLock)
  : {};
const written: string[] = [];
for (const { name, type, version, schema } of todaysVersions(Object.values(CATALOGUES))) {
  if (name in lock) continue;
  const data = schema.safeParse(SAMPLES[type as keyof typeof SAMPLES]);
  if (!data.success) {
    process.stderr.write(`The sample of ${type} in test/golden/samples.ts does not match ${name}.\n`);
    process.exit(1);
  }
  const golden = Buffer.from(`${JSON.stringify({ type, version, data: data.data }, null, 2)}\n`);
  writeFileSync(projectPath(`test/golden/events/${name}.json`), golden, { flag: 'wx' });
  lock[name] = { golden: sha256(golden), schema: jsonSchemaOf(schema) };
  written.push(name);
}
const sorted = Object.fromEntries(Object.entries(lock).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(lockPath, `${JSON.stringify(sorted, null, 2)}\n`);
process.stdout.write(
  written.length > 0 ? `Wrote ${written.join(', ')}\n` : 'Every event type and version is locked already\n',
);
