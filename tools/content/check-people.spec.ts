import { expect, it } from '@jest/globals';
import { checkPeople, faultLines } from './check-people.js';

it('The check of people judges six readings of each, on threads', async () => {
  const lines: string[] = [];
  expect(await checkPeople(2, 1, (line) => lines.push(line))).toBe(0);
  expect(lines).toEqual([
    '12 readings of 2 people, 0 faults, 0 different',
    'Sentences, choices, lengths and likeness are judged from 300 people on',
  ]);
});

it('A fault is told once, with the first person who meets it, the most frequent first', () => {
  const fault = (seed: number, text: string) => ({
    seed,
    locale: 'en-US' as const,
    gender: 'neutral' as const,
    fault: text,
  });
  expect(faultLines([fault(2, 'rare'), fault(3, 'often'), fault(9, 'often')], 10)).toEqual([
    'en-US often\n    2 readings, first that of person 3 neutral',
    'en-US rare\n    1 readings, first that of person 2 neutral',
    '60 readings of 10 people, 3 faults, 2 different',
  ]);
});
