import { expect, it } from '@jest/globals';
import { toInline, toPlain } from './message.js';

const forms = (text: string) => ({ feminine: text, masculine: text, neutral: text });

it('A text keeps the nodes that fill it, and joins the text around strings', () => {
  const ref = { type: 'numberRef', ref: 'numbers.lifePath', value: '13/4' } as const;
  const said = toInline(forms('{name}, le {n} vous va.'), 'neutral', { n: ref, name: 'Ada' });
  expect(said).toEqual([{ type: 'text', value: 'Ada, le ' }, ref, { type: 'text', value: ' vous va.' }]);
});

it.each([
  ['C’est {name}. Oui, {name}… et {name}.', 'Lee Jr.', 'C’est Lee Jr. Oui, Lee Jr.… et Lee Jr.'],
  ['Vous, {name}', '{name} $&', 'Vous, {name} $&'],
])('A text ends with one full stop, and reads no value as a template: %s', (text, name, said) => {
  expect(toPlain(forms(text), 'neutral', { name })).toBe(said);
  expect(toInline(forms(text), 'neutral', { name })).toEqual([{ type: 'text', value: said }]);
});

it('A text fails rather than print an unfilled placeholder', () => {
  expect(() => toInline(forms('{n}'), 'neutral')).toThrow('No value for the placeholder {n}');
});
