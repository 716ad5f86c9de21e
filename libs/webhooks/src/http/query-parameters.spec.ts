import { expect, it } from '@jest/globals';
import { MODES, type Mode } from '#event-sourcing/core/request-context.js';
import type { Problem } from '#platform/http/problem.js';
import { readChoice, readModes } from './query-parameters.js';

const bearer = (sees: readonly Mode[]) => ({ authMode: 'bearer', sees }) as const;

it('lists both modes to a bearer token, or the one that it asks for and sees', () => {
  expect(readModes(undefined, bearer(MODES))).toEqual(['live', 'test']);
  expect(readModes('true', bearer(MODES))).toEqual(['live']);
  expect(readModes('false', bearer(MODES))).toEqual(['test']);
  expect(readModes('false', bearer(['live']))).toEqual([]);
  expect(() => readModes('maybe', bearer(MODES))).toThrow();
});

it('lists its own mode to a key, which may not ask', () => {
  const key = { authMode: 'apiKey', sees: ['test'] } as const;
  expect(readModes(undefined, key)).toEqual(['test']);
  expect(() => readModes('false', key)).toThrow();
});

it('says that a choice may name several of the allowed values', () => {
  expect(readChoice('status', 'b,a', ['a', 'b', 'c'])).toEqual(['a', 'b']);
  let refusal: unknown;
  try {
    readChoice('status', 'a,x', ['a', 'b']);
  } catch (error) {
    refusal = error;
  }
  expect((refusal as Problem).options.errors).toEqual([
    { pointer: '?status', code: 'invalid_value', detail: 'must be one or more of a, b' },
  ]);
});
