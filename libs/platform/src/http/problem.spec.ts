import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { projectPath } from '../project-path.js';
import { PROBLEMS, Problem, problemBody } from './problem.js';

it('Every problem code has its section in docs/errors.md, under its status, and no other has one', () => {
  const page = readFileSync(projectPath('docs/errors.md'), 'utf8');
  const told = page.split(/^## /m).flatMap((section) => {
    const [title = ''] = section.split('\n');
    return [...section.matchAll(/^### `(\w+)`$/gm)].map(([, code = '']) => ({ code, title }));
  });
  expect(told.map(({ code }) => code).sort()).toEqual(Object.keys(PROBLEMS).sort());
  const misplaced = told.filter(({ code, title }) => {
    const status = String(PROBLEMS[code as keyof typeof PROBLEMS][0]);
    return !title.includes(status) && !(title === '5xx' && status.startsWith('5'));
  });
  expect(misplaced).toEqual([]);
});

it.each([
  ['idempotency_key_reused', 'Use a new key for a new request, or send exactly the same body'],
  ['idempotency_in_progress', 'Send the request again with the same key after Retry-After to get its answer'],
] as const)('%s says what to do, wherever it is thrown', (code, detail) => {
  expect(problemBody(new Problem(code), 'req_1')).toMatchObject({ code, detail });
  expect(problemBody(new Problem(code, { detail: 'Of this route' }), 'req_1').detail).toBe('Of this route');
});
