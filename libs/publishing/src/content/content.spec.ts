import { describe, expect, it } from '@jest/globals';
import type { Catalog } from './catalog-schema.js';
import { catalogFor } from './catalog.js';
import { brokenRules, lintCatalog, messagesOf } from './lint.js';
import { CONTENT_VERSION } from './version.js';

const french = messagesOf(catalogFor('fr-FR'));
const english = messagesOf(catalogFor('en-US'));

describe('The content', () => {
  it('has the same keys in both languages', () => {
    expect(english.map(([path]) => path).sort()).toEqual(french.map(([path]) => path).sort());
    expect(french.length).toBeGreaterThan(250);
  });

  it('bears a version', () => {
    expect(CONTENT_VERSION).toMatch(/^\d{4}\.\d{2}\.\d+$/);
  });

  it('says nothing twice', () => {
    for (const messages of [french, english]) {
      const long = messages.map(([, forms]) => forms.neutral).filter((form) => form.length > 40);
      expect(long.filter((form, index) => long.indexOf(form) !== index)).toEqual([]);
    }
  });

  it('needs no agreement in English', () => {
    expect(english.filter(([, forms]) => forms.feminine !== forms.masculine)).toEqual([]);
  });
});

describe('French agreement', () => {
  const gendered = french.filter(([, forms]) => forms.feminine !== forms.masculine);
  const words = (text: string): string[] => text.split(/[\s\u00A0\u202F]+/);

  it('is written out where a sentence agrees with its reader', () => {
    expect(gendered.map(([path]) => path)).toContain('frames.born');
    expect(gendered.length).toBeGreaterThan(10);
  });

  it('rewrites the neutral form instead of shortening another', () => {
    for (const [, forms] of gendered) {
      expect(forms.neutral).not.toBe(forms.feminine);
      expect(forms.neutral).not.toBe(forms.masculine);
    }
  });

  it('changes nothing but the words that agree', () => {
    // The archetypes are nouns with their article; a noun may change its ending (bâtisseuse, bâtisseur).
    for (const [path, { feminine, masculine }] of gendered) {
      const [left, right] = [words(feminine), words(masculine)];
      expect([path, left.length]).toEqual([path, right.length]);
      left.forEach((word, index) => {
        const other = right[index] ?? '';
        expect(word[0]?.toLowerCase()).toBe(other[0]?.toLowerCase());
      });
    }
  });
});

describe('The lint', () => {
  it.each(['fr-FR', 'en-US'] as const)('finds nothing to say about %s', (locale) => {
    expect(lintCatalog(locale, catalogFor(locale))).toEqual([]);
  });

  it.each([
    ['health', 'On y voit une dépression.'],
    ['money or law', 'Il faut investir.'],
    ['death', 'La mort rôde.'],
    ['promise', 'Vous rencontrerez quelqu’un.'],
    ['religion or origin', 'C’est votre karma.'],
    ['jargon', 'Une belle énergie vous porte.'],
    ['change of name', 'Il faudrait changer de nom.'],
    ['exclamation', 'Bravo\u202F!'],
    ['space before ; ? !', 'Vraiment?'],
    ['space before :', 'Voici : cela.'],
    ['space inside « »', '«Bonjour»'],
    ['straight quote or three points', "L'air"],
    ['œ', 'Un coeur large.'],
    ['agreement after a verb of state', 'Vous êtes prudent.'],
    ['agreement after a verb of state', 'Vous restez plus attentif que les autres.'],
    ['agreement after a verb of state', 'Vous êtes seul.'],
    ['agreement with « vous » as an object', 'Ce qui vous a formé reste.'],
    ['agreement of « vous rend »', 'Cela vous rend précieux.'],
    ['two genders in one word', 'Vous êtes né(e).'],
    ['English', 'Voici the question.'],
  ])('names the fault in French: %s', (rule, text) => {
    expect(brokenRules('fr-FR', text)).toContain(rule);
  });

  it.each([
    ['health', 'It heals.'],
    ['money or law', 'You should invest.'],
    ['death', 'Someone dies.'],
    ['promise', 'You will meet someone.'],
    ['religion or origin', 'It is your karma.'],
    ['jargon', 'A high vibration.'],
    ['change of name', 'You should change your name.'],
    ['exclamation', 'Well done!'],
    ['space before punctuation', 'Well , yes.'],
    ['foreign or straight quote, three points', "It's"],
    ['punctuation outside the quote', 'He said “no”.'],
    ['French', 'It is très chic, dans the air.'],
  ])('names the fault in English: %s', (rule, text) => {
    expect(brokenRules('en-US', text)).toContain(rule);
  });

  it('lets a reader be sensible, calm or free without a form for each gender', () => {
    expect(brokenRules('fr-FR', 'Vous êtes libre et vous restez calme.')).toEqual([]);
  });

  it('sees a neutral form that keeps a word of another', () => {
    const message = {
      feminine: 'Prévenue, vous tenez.',
      masculine: 'Prévenu, vous tenez.',
      neutral: 'Prévenu, on tient.',
    };
    const catalog = { terms: { number: message } } as unknown as Catalog;
    expect(lintCatalog('fr-FR', catalog).map(({ path }) => path)).toEqual(['terms.number']);
  });
});
