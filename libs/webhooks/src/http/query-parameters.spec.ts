import { expect, it } from '@jest/globals';
import { MODES, type Mode } from '#event-sourcing/core/request-context.js';
import { readModes } from './routes.js';

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
