import type { Request } from 'express';
import { expect, it } from '@jest/globals';
import { dropLongPreferences } from './long-preferences.js';

it('Long preferences are disregarded, and nothing else is', () => {
  const pass = (headers: Record<string, string>) => {
    const request = { headers } as unknown as Request;
    let isPassed = false;
    dropLongPreferences(request, {} as never, () => (isPassed = true));
    return isPassed && request.headers;
  };
  const [longest, longer] = ['a'.repeat(1_024), 'a'.repeat(1_025)];
  const kept = { accept: longest, 'accept-language': longest, cookie: longer };
  expect(pass(kept)).toEqual(kept);
  expect(pass({ accept: longer, 'accept-language': longer, cookie: longer })).toEqual({ cookie: longer });
  expect(pass({})).toEqual({});
});
