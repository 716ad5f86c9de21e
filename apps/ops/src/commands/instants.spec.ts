import { expect, it } from '@jest/globals';
import { parseInstant } from './options.js';

it.each([
  ['2026-02-28', '2026-02-28T00:00:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2026-04-01T02:00:00+02:00', '2026-04-01T00:00:00.000Z'],
])('%s is a day or an instant', (text, instant) => {
  expect(parseInstant(text)).toBe(Date.parse(instant));
});

it.each(['2026-02-29', '2026-02-31', '2026-11-31', '2026-02-30T12:00:00Z', '20261101', '2026-04', 'soon'])(
  '%s is none',
  (text) => {
    expect(() => parseInstant(text)).toThrow(/a day that exists, or an RFC 3339 instant/);
  },
);
