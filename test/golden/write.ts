import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { CATALOGUES } from './catalogues.js';
import { jsonSchemaOf, sha256, todaysVersions, type Golden, type SchemaLock } from './schema-lock.js';

const HELP = `npm run events:lock

Locks every event type and version that is not locked yet: its golden file and its schema, in
test/golden/events.lock.json. Never changes an existing entry, since events of that version are stored.

Example, after a change of ReadingRequested:
  1. libs/readings/src/contracts/events.ts: event(2, <new schema>, { 1: <upcaster from version 1> })
  2. test/golden/events/ReadingRequested.v2.json: such an event, with every field in use
  3. npm run events:lock
`;

if (process.argv.includes('--help')) {
  process.stdout.write(HELP);
  process.exit(0);
}

const refuse = (message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};

const lockPath = projectPath('test/golden/events.lock.json');
const lock = JSON.parse(readFileSync(lockPath, 'utf8')) as Record<string, SchemaLock[string]>;
const written: string[] = [];
for (const { name, type, version, schema } of todaysVersions(Object.values(CATALOGUES))) {
  if (name in lock) continue;
  const file = `test/golden/events/${name}.json`;
  if (!existsSync(projectPath(file)))
    refuse(`Write ${file}: {"type": "${type}", "version": ${version}, "data": …}`);
  const bytes = readFileSync(projectPath(file));
  const golden = JSON.parse(bytes.toString('utf8')) as Golden;
  if (golden.type !== type || golden.version !== version || !schema.safeParse(golden.data).success)
    refuse(`${file} does not match ${name}.`);
  lock[name] = { golden: sha256(bytes), schema: jsonSchemaOf(schema) };
  written.push(name);
}
const sorted = Object.fromEntries(Object.entries(lock).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(lockPath, `${JSON.stringify(sorted, null, 2)}\n`);
process.stdout.write(
  written.length > 0 ? `Locked ${written.join(', ')}\n` : 'Every event type and version is locked already\n',
);
