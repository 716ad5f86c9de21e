import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import { event, eventCatalogue } from '#event-sourcing/core/event-catalogue.js';
import { projectPath } from '#platform/project-path.js';
import { CATALOGUES } from './catalogues.js';
import {
  breaches,
  decodeGolden,
  jsonSchemaOf,
  sha256,
  todaysVersions,
  versionName,
  type Golden,
  type SchemaLock,
} from './schema-lock.js';

const read = (path: string): Buffer => readFileSync(projectPath('test/golden', path));
const parse = <T>(path: string): T => JSON.parse(read(path).toString('utf8')) as T;

const catalogues = Object.values(CATALOGUES);
const lock = parse<SchemaLock>('events.lock.json');
const names = readdirSync(projectPath('test/golden/events')).map((file) => file.replace(/[.]json$/, ''));
const goldenOf = (name: string): Golden => parse<Golden>(`events/${name}.json`);

const frozen = (value: unknown): unknown => {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
};

describe('the events of the service', () => {
  it('have no schema that changed without a new version', () => {
    expect(breaches(catalogues, lock)).toEqual([]);
  });

  it('are all checked: every catalogue of a module, every type once', () => {
    const declared = readdirSync(projectPath('libs')).flatMap((lib) => {
      const folder = projectPath(`libs/${lib}/src/contracts`);
      const files = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
      return files
        .filter((file) => file.isFile())
        .flatMap(({ name }) => readFileSync(`${folder}/${name}`, 'utf8').match(/= eventCatalogue\(/g) ?? []);
    });
    // Besides those of the modules, the kernel has one: decisions of operators.
    expect(declared).toHaveLength(catalogues.length - 1);
    const types = todaysVersions(catalogues).map(({ type }) => type);
    expect(new Set(types).size).toBe(types.length);
  });

  it('have a golden file for each locked version, and no other', () => {
    expect(names.toSorted()).toEqual(Object.keys(lock).toSorted());
  });
});

describe.each(names)('%s', (name) => {
  const golden = goldenOf(name);

  it('equals the locked file: golden files never change', () => {
    expect(versionName(golden.type, golden.version)).toBe(name);
    expect(sha256(read(`events/${name}.json`))).toBe(lock[name]?.golden);
  });

  it('matches the schema of its own version', () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    const validate = ajv.compile(lock[name]!.schema as object);
    expect([validate(golden.data), validate.errors]).toEqual([true, null]);
  });

  it('decodes without changing the stored data', () => {
    const { data } = golden;
    const decoded = decodeGolden(catalogues, { ...golden, data: frozen(data) });
    const current = todaysVersions(catalogues).find(({ type }) => type === golden.type)!;
    if (golden.version === current.version) expect(decoded.data).toEqual(data);
    else expect(decodeGolden(catalogues, golden).data).toEqual(decoded.data);
  });
});

it('A change of a schema without a new version is reported, with instructions', () => {
  const first = z.strictObject({ fullName: z.string() });
  const lock = { [versionName('PersonNamed', 1)]: { golden: '', schema: jsonSchemaOf(first) } };
  const changed = z.strictObject({ fullName: z.string(), age: z.int().optional() });
  const people = (schema: z.ZodType) => [eventCatalogue('person', { PersonNamed: event(1, schema) })];
  expect(breaches(people(first), lock)).toEqual([]);
  expect(breaches(people(changed), lock)).toEqual([
    expect.stringMatching(
      /^The schema of PersonNamed[.]v1 changed.*version 2 with an upcaster from 1.*npm run events:lock/,
    ),
  ]);
  expect(breaches([eventCatalogue('person', {})], lock)).toEqual([
    expect.stringMatching(/^PersonNamed is in no catalogue any more/),
  ]);
});
