import { describe, expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { createTypesetter } from './typesetter.js';
describe('t', () => { it('x', () => {
  const d = JSON.parse(readFileSync('/tmp/t/d.json','utf8'));
  const t = createTypesetter();
  const t0 = performance.now();
  try {
  const p = t.typeset(d);
  writeFileSync('/tmp/t/d.pdf', p);
  console.log(p.length, performance.now()-t0);
  const t1 = performance.now(); t.typeset(d); console.log(performance.now()-t1);
  } catch (e) { console.log(String((e as Error).message).slice(0,3000)); }
  expect(1).toBe(1);
});});
