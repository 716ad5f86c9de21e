import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { projectPath } from '../project-path.js';
import { ErrorRoom, MAX_ERRORS, PROBLEMS, invalidRequest, problemBody } from './problem.js';

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

const errors = (count: number, detail = 'is wrong') =>
  Array.from({ length: count }, (_, n) => ({
    pointer: `/${n}/${'é'.repeat(500)}`,
    code: 'invalid_value',
    detail,
  }));

it('shows errors of 16 KiB at most, with pointers of 200 characters, and counts the others', () => {
  const { errors: shown = [], errorsOmitted = 0, detail } = problemBody(invalidRequest(errors(90)), 'req_1');
  expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(MAX_ERRORS);
  expect([shown.length + errorsOmitted, detail]).toEqual([90, '90 fields are invalid']);
  expect(shown.map(({ pointer }) => pointer.length)).toEqual(shown.map(() => 200));
  expect(problemBody(invalidRequest(errors(2)), 'req_1')).not.toHaveProperty('errorsOmitted');
});

it('lets many problems share the room of one answer', () => {
  const room = new ErrorRoom(1_000);
  const bodies = [2, 2, 2].map((count) => problemBody(invalidRequest(errors(count)), 'req_1', room));
  expect(bodies.map(({ errors: shown, errorsOmitted = 0 }) => [shown?.length, errorsOmitted])).toEqual([
    [2, 0],
    [0, 2],
    [0, 2],
  ]);
});
