import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AnySchemaObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { calculateTheme, toResult, type ReadingResult } from '../src/index.js';
import { readData } from './read-data.js';
import { readingDays, SEED, subjects } from './people.js';

const schema = JSON.parse(
  readFileSync(new URL('../schema/result.schema.json', import.meta.url), 'utf8'),
) as AnySchemaObject;
const ajv = new Ajv2020({ allErrors: true });
addFormats.default(ajv);
const validate = ajv.compile(schema);

function errorsOf(result: unknown): unknown {
  return validate(result) ? null : validate.errors;
}

const resultOf = (subject: Parameters<typeof calculateTheme>[0], asOf: string): ReadingResult =>
  toResult(calculateTheme(subject, asOf), {
    readingId: '0b9f6f0e-5b7d-4f44-9a43-0f3c6c1f8a11',
    locale: 'en-US',
    contentVersion: '2026.11.0',
    formats: ['document_v1', 'markdown', 'pdf'],
  });

describe('the schema of the result', () => {
  it('accepts the published example, which is the result of its person byte for byte', () => {
    const published = readData('result.example.json');
    expect(validate(JSON.parse(published))).toBe(true);
    const name = { firstNames: ['Camille'], middleNames: ['Marie'], lastNames: ['Laurent'] };
    const subject = { name, dateOfBirth: '1990-06-15', subjectGender: 'feminine' } as const;
    const result = { ...resultOf(subject, '2026-09-29'), locale: 'fr-FR' };
    expect(JSON.stringify(result, null, 1)).toBe(published.trim());
  });

  it('accepts the result of any person', () => {
    fc.assert(
      fc.property(subjects, readingDays, (subject, asOf) => {
        expect(errorsOf(resultOf(subject, asOf))).toBeNull();
      }),
      { seed: SEED, numRuns: 1_000 },
    );
  });

  it.each([
    ['an unknown field', { surplus: 1 }],
    ['an unknown locale', { locale: 'de-DE' }],
    ['a missing field', { numbers: undefined }],
  ])('refuses %s', (_what, change) => {
    const example = JSON.parse(readData('result.example.json')) as Record<string, unknown>;
    expect(validate(JSON.parse(JSON.stringify({ ...example, ...change })))).toBe(false);
  });

  it('allows the no-vowel, suffix and Y branches', () => {
    const name = { firstNames: ['Ng'], middleNames: [], lastNames: ['Smyth', 'Jr.'] };
    const noVowel = { firstNames: ['Ng'], middleNames: [], lastNames: ['Ng', 'III'] };
    for (const each of [name, noVowel]) {
      expect(
        errorsOf(resultOf({ name: each, dateOfBirth: '1990-06-15', subjectGender: 'neutral' }, '2026-09-29')),
      ).toBeNull();
    }
  });
});
