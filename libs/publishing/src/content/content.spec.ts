import { describe, expect, it } from '@jest/globals';
import { catalogFor } from './catalog.js';
import type { Message } from './message.js';
import { CONTENT_VERSION } from './version.js';

const isMessage = (value: object): value is Message => 'feminine' in value && 'neutral' in value;

/** Every message of a catalog with its path, e.g. `life-path.4.cost`. */
const messagesOf = (value: unknown, path = ''): [string, Message][] => {
  if (typeof value !== 'object' || value === null) return [];
  if (isMessage(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, child]) => messagesOf(child, path ? `${path}.${key}` : key));
};

const french = messagesOf(catalogFor('fr-FR'));
const english = messagesOf(catalogFor('en-US'));
const formsOf = (messages: [string, Message][]): [string, string][] =>
  messages.flatMap(([path, forms]) =>
    [...new Set([forms.feminine, forms.masculine, forms.neutral])].map((form): [string, string] => [
      path,
      form,
    ]),
  );

const offending = (forms: [string, string][], pattern: RegExp) =>
  forms.filter(([, form]) => pattern.test(form)).map(([path, form]) => `${path}: ${form}`);

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
    expect(offending(formsOf(french), /\(e\)|·|\/e\b|\w\.e\b/)).toEqual([]);
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

  it('leaves no adjective after « vous êtes » to chance', () => {
    const verbs = 'êtes|serez|étiez|restez|semblez|devenez|vous sentez';
    const participle = new RegExp(
      `\\b(?:${verbs})\\s+(?:\\S+ment\\s+)?\\S+(?:é|i|u|is|if|eux|eur|ain|ant|ent)(?![\\p{L}])`,
      'u',
    );
    const shared = french.filter(([, forms]) => forms.feminine === forms.masculine);
    expect(offending(formsOf(shared), participle)).toEqual([]);
  });
});

describe('What the content never says', () => {
  it.each([
    [
      'diagnoses or health advice',
      /\b(?:maladies?|malades?|guéri\w*|dépress\w*|grossesse|symptôme\w*|thérap\w*)/iu,
    ],
    ['advice on money or law', /\b(?:investi\w*|loterie|héritage|fortune|procès|placement)\b/iu],
    ['deaths or a length of life', /\b(?:mort|mourir|mourrez|décès|longévité)\b/iu],
    ['promises', /vous (?:rencontrerez|trouverez|recevrez|deviendrez|gagnerez|serez)/iu],
    ['religion or origin', /\b(?:dieu|karma|vies antérieures|religion|ethnie|race)\b/iu],
    ['jargon', /\b(?:énergies?|énergétique|vibr\w*|univers)\b/iu],
    ['advice to change a name', /changer (?:de|votre) nom/iu],
    ['exclamations', /!/u],
  ])('in French: %s', (_, pattern) => {
    expect(offending(formsOf(french), pattern)).toEqual([]);
  });

  it.each([
    [
      'diagnoses or health advice',
      /\b(?:illness|disease|cures?|cured|heal(?:s|ed|ing)?|depress\w*|pregnan\w*|therap\w*)\b/iu,
    ],
    ['advice on money or law', /\b(?:invest\w*|lottery|inheritance|fortune|lawsuit)\b/iu],
    ['deaths or a length of life', /\b(?:death|die|dies|dying|lifespan|longevity)\b/iu],
    ['promises', /\byou will (?:meet|find|receive|become|win|be)\b/iu],
    ['religion or origin', /\b(?:god|karma|past li(?:fe|ves)|religion|ethnic\w*|race)\b/iu],
    ['jargon', /\b(?:energ(?:y|ies|etic)|vibrat\w*|universe)\b/iu],
    ['advice to change a name', /change your name/iu],
    ['exclamations', /!/u],
  ])('in English: %s', (_, pattern) => {
    expect(offending(formsOf(english), pattern)).toEqual([]);
  });
});

describe('The language of each file', () => {
  it('is French throughout in fr-FR', () => {
    expect(offending(formsOf(french), /\b(?:the|and|your|with|you)\b/iu)).toEqual([]);
  });

  it('is English throughout in en-US', () => {
    expect(
      offending(formsOf(english), /\b(?:vous|votre|est|les|une|dans)\b|[éèêàç](?!\b)/iu).filter(
        (line) => !line.includes('café'),
      ),
    ).toEqual([]);
  });
});

describe('Typography of the content', () => {
  it('follows French usage', () => {
    const forms = formsOf(french);
    expect(offending(forms, /[^\u202F][;!?]/u)).toEqual([]);
    expect(offending(forms, /[^\u00A0]:/u)).toEqual([]);
    expect(offending(forms, /«[^\u00A0]|[^\u00A0]»/u)).toEqual([]);
    expect(offending(forms, /['"]|\.\.\./u)).toEqual([]);
    expect(offending(forms, /\bcoeur|\boeuvre|\bsoeur/iu)).toEqual([]);
  });

  it('follows American usage', () => {
    const forms = formsOf(english);
    expect(offending(forms, /\s[:;!?,.]/u)).toEqual([]);
    expect(offending(forms, /['"«»]|\.\.\.|\u00A0(?!\{)|\u202F/u)).toEqual([]);
    expect(offending(forms, /[”’][,.]/u).filter((line) => !/s’[,.]/.test(line))).toEqual([]);
  });
});
