import { expect, it } from '@jest/globals';
import { readForm } from './form.js';

const read = (body: string) => readForm(Buffer.from(body), 'application/x-www-form-urlencoded');

it('A form has at most 100 fields: the page that shows it again has an element for each', () => {
  expect(read(`action=issue${'&a'.repeat(99)}`)?.action).toBe('issue');
  expect(read(`action=issue${'&a'.repeat(100)}`)).toBeNull();
});
