import { describe, expect, it } from '@jest/globals';
import { message, toInline, toPlain } from './message.js';

describe('An authored message', () => {
  it('may be one string for everyone', () => {
    expect(message().parse('Bonjour.')).toEqual({
      feminine: 'Bonjour.',
      masculine: 'Bonjour.',
      neutral: 'Bonjour.',
    });
  });

  it.each([
    ['a gender is missing', { feminine: 'Née.', masculine: 'Né.' }],
    ['a placeholder is not filled by the code', 'Le {age}.'],
    ['it has a double space', 'Le  nombre.'],
    ['it is empty', ''],
  ])('is refused when %s', (_, authored) => {
    expect(message().safeParse(authored).success).toBe(false);
  });

  it('is refused when one of its forms forgets a placeholder', () => {
    const authored = { feminine: 'Née le {date}', masculine: 'Né le {date}', neutral: 'Naissance' };
    expect(message('date').safeParse(authored).success).toBe(false);
  });

  it('keeps the nodes that fill it, and joins the text around strings', () => {
    const ref = { type: 'numberRef', ref: 'numbers.lifePath', value: '13/4' } as const;
    const said = toInline(message('n', 'name').parse('{name}, le {n} vous va.'), 'neutral', {
      n: ref,
      name: 'Ada',
    });
    expect(said).toEqual([{ type: 'text', value: 'Ada, le ' }, ref, { type: 'text', value: ' vous va.' }]);
  });

  it('never reads a value as a template', () => {
    expect(toPlain(message('name').parse('Vous, {name}'), 'neutral', { name: '{name} $&' })).toBe(
      'Vous, {name} $&',
    );
  });

  it('fails rather than print an unfilled placeholder', () => {
    expect(() => toInline(message('n').parse('{n}'), 'neutral')).toThrow('No value for the placeholder {n}');
  });
});
