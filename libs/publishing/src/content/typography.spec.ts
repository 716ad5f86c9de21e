import { describe, expect, it } from '@jest/globals';
import { printedName, typeset } from './typography.js';

describe('French typography', () => {
  it.each([
    ['Vraiment ?', 'Vraiment\u202F?'],
    ['deux choses : un nom', 'deux choses\u00A0: un nom'],
    ['dire « oui » ici', 'dire «\u00A0oui\u00A0» ici'],
    ["l'an d'après", 'l’an d’après'],
    ['à 32 ans', 'à 32\u00A0ans'],
    ['le 15 juin', 'le 15\u00A0juin'],
    ['peut-être...', 'peut-être…'],
    ['porte le {number}.', 'porte le\u00A0{number}.'],
  ])('sets %j', (typed, set) => {
    expect(typeset('fr-FR', typed)).toBe(set);
  });
});

it('prints a name with curly apostrophes, and nothing else changed', () => {
  expect(printedName("Seán  O'Neil d’Arc")).toBe('Seán  O’Neil d’Arc');
});

describe('English typography', () => {
  it.each([
    ["you don't", 'you don’t'],
    ['say "yes" now', 'say “yes” now'],
    ['he said, "I\'ll start," and', 'he said, “I’ll start,” and'],
    ["the 'old' way", 'the ‘old’ way'],
    ['one thing — another', 'one thing—another'],
    ['two things: a name', 'two things: a name'],
  ])('sets %j', (typed, set) => {
    expect(typeset('en-US', typed)).toBe(set);
  });
});

it.each(['fr-FR', 'en-US'] as const)('leaves text that is already set in %s as it is', (locale) => {
  const once = typeset(locale, 'Il dit : "non" ; c\'est l\'an 32 ans...');
  expect(typeset(locale, once)).toBe(once);
});
