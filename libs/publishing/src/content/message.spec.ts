import { describe, expect, it } from '@jest/globals';
import { toInline, toPlain } from './message.js';

const forms = (text: string) => ({ feminine: text, masculine: text, neutral: text });

describe('An authored text', () => {
  it('keeps the nodes that fill it, and joins the text around strings', () => {
    const ref = { type: 'numberRef', ref: 'numbers.lifePath', value: '13/4' } as const;
    const said = toInline(forms('{name}, le {n} vous va.'), 'neutral', { n: ref, name: 'Ada' });
    expect(said).toEqual([{ type: 'text', value: 'Ada, le ' }, ref, { type: 'text', value: ' vous va.' }]);
  });

  it('ends with one full stop after a value that has one', () => {
    const said = forms('C’est {name}. Oui, {name}… et {name}.');
    expect(toPlain(said, 'neutral', { name: 'Lee Jr.' })).toBe('C’est Lee Jr. Oui, Lee Jr.… et Lee Jr.');
    expect(toInline(said, 'neutral', { name: 'Lee Jr.' })).toEqual([
      { type: 'text', value: 'C’est Lee Jr. Oui, Lee Jr.… et Lee Jr.' },
    ]);
  });

  it('never reads a value as a template', () => {
    expect(toPlain(forms('Vous, {name}'), 'neutral', { name: '{name} $&' })).toBe('Vous, {name} $&');
  });

  it('drops its period after a name that ends with one', () => {
    const text = forms('The name is {name}. It stays {name}.');
    expect(toPlain(text, 'neutral', { name: 'Tom Jr.' })).toBe('The name is Tom Jr. It stays Tom Jr.');
    expect(toInline(text, 'neutral', { name: 'Tom Jr.' })).toEqual([
      { type: 'text', value: 'The name is Tom Jr. It stays Tom Jr.' },
    ]);
  });

  it('fails rather than print an unfilled placeholder', () => {
    expect(() => toInline(forms('{n}'), 'neutral')).toThrow('No value for the placeholder {n}');
  });
});
