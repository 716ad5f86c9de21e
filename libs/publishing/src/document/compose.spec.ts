import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { catalogFor } from '../content/catalog.js';
import { composeDocument } from './compose.js';
import type {
  Block,
  DocumentV1,
  Figure,
  FigureKind,
  GrammaticalGender,
  Locale,
  Section,
} from './document.js';
import {
  ancestor,
  camille,
  child,
  indebted,
  minh,
  type Person,
  resultOf,
  thirtyThree,
  withoutConsonant,
  withoutVowel,
} from './testing/people.js';
import { proseOf } from './prose.js';
import { randomPerson } from './testing/random-person.js';
import { assertDocument } from './validate.js';
import { textsOf } from './walk.js';

const LOCALES: Locale[] = ['fr-FR', 'en-US'];
const GENDERS: GrammaticalGender[] = ['feminine', 'masculine', 'neutral'];
const options = { publishedAt: '2026-09-29T08:00:00.000Z' };

const composed = (
  person: Person,
  locale: Locale = 'en-US',
  gender: GrammaticalGender = 'neutral',
): DocumentV1 => composeDocument(resultOf(person, locale, gender), options);

type Node = Block | Section;
const childrenOf = (node: Node): readonly Node[] => {
  if (node.type === 'section' || node.type === 'callout' || node.type === 'blockquote') return node.children;
  return node.type === 'figure' ? node.fallback : [];
};
const nodesOf = (document: DocumentV1): Node[] => {
  const within = (nodes: readonly Node[]): Node[] =>
    nodes.flatMap((node) => [node, ...within(childrenOf(node))]);
  return within(document.children);
};
const sectionOf = (document: DocumentV1, id: string): Section => {
  const found = nodesOf(document).find((node) => node.type === 'section' && node.id === id);
  if (found?.type !== 'section') throw new Error(`no section ${id}`);
  return found;
};
const figuresOf = (document: DocumentV1): Figure[] =>
  nodesOf(document).filter((node) => node.type === 'figure');
const textOf = (document: DocumentV1, id: string): string =>
  textsOf({ title: '', subtitle: '', details: [], children: [sectionOf(document, id)] }).join('');

const valueAt = (root: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], root);

const refsOf = (document: DocumentV1): string[] =>
  [...JSON.stringify(document).matchAll(/"ref":"([^"]+)"/g)]
    .map(([, ref]) => ref as string)
    .concat(nodesOf(document).flatMap((node) => (node.type === 'section' ? [...(node.refs ?? [])] : [])));

describe('Any document', () => {
  it('is valid, complete and clean for everyone, in both languages and all three genders', () => {
    fc.assert(
      fc.property(randomPerson, (person) => {
        for (const locale of LOCALES) {
          for (const gender of GENDERS) {
            const document = composed(person, locale, gender);
            const texts = textsOf(document);
            expect(
              texts.filter((text) => /\b(?:undefined|null|NaN)\b|[{}]| {2}|\[object/.test(text)),
            ).toEqual([]);
            expect(texts.filter((text) => text.trim() === '' && text !== ' ')).toEqual([]);
            const ids = nodesOf(document).map(({ id }) => id);
            expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
            expect(document.meta.wordCount).toBeGreaterThan(2500);
            expect(document.meta.wordCount).toBeLessThan(4600);
          }
        }
      }),
      { numRuns: 120, seed: 7 },
    );
  });

  it('refers only to paths that the result has', () => {
    fc.assert(
      fc.property(randomPerson, (person) => {
        const result = resultOf(person);
        const missing = refsOf(composeDocument(result, options)).filter(
          (ref) => valueAt(result, ref) === undefined,
        );
        expect(missing).toEqual([]);
      }),
      { numRuns: 50, seed: 7 },
    );
  });

  it('is the same tree for the same result', () => {
    expect(composed(minh, 'fr-FR')).toEqual(composed(minh, 'fr-FR'));
  });

  it('repeats no sentence except the notice', () => {
    for (const locale of LOCALES) {
      const sentences = textsOf(composed(camille, locale))
        .flatMap((text) => text.split(/(?<=[.?])\s/))
        .filter((text) => text.length > 45);
      const repeated = sentences.filter((sentence, index) => sentences.indexOf(sentence) !== index);
      expect(repeated.length).toBe(2);
    }
  });

  it('contains its versions, and the counter of its publication', () => {
    const { meta } = composeDocument(resultOf(camille), { ...options, documentVersion: 3 });
    expect(meta).toMatchObject({
      documentVersion: 3,
      method: 'evan-1',
      contentVersion: '2026.11.0',
      ...options,
    });
    expect(composed(camille).meta.documentVersion).toBe(1);
  });

  it('starts and ends with the notice', () => {
    const document = composed(camille, 'en-US');
    expect(textOf(document, 'opening')).toContain('It predicts nothing');
    expect(document.children.at(-1)?.role).toBe('notice');
    expect(textOf(document, 'notice')).toContain('It predicts nothing');
  });
});

describe('The schema', () => {
  it('refuses a tree that it does not describe, without repeating personal data', () => {
    const document = composed(camille);
    const broken = { ...document, children: [{ ...document.children[0], colour: 'Camille' }] };
    expect(() => assertDocument(broken as unknown as DocumentV1)).toThrow(/document_v1/);
    expect(() => assertDocument(broken as unknown as DocumentV1)).not.toThrow(/Camille/);
  });

  it('refuses a figure whose data do not fit its kind', () => {
    const document = composed(camille);
    const text = JSON.stringify(document).replace('"weights":{"1":0,', '"weights":{');
    expect(() => assertDocument(JSON.parse(text) as DocumentV1)).toThrow(/must have required property '1'/);
  });
});

describe('Gender', () => {
  it('changes agreement and nothing else', () => {
    const shape = (gender: GrammaticalGender) =>
      nodesOf(composed(camille, 'fr-FR', gender)).map(({ type, id }) => `${type} ${id}`);
    expect(shape('masculine')).toEqual(shape('feminine'));
    expect(shape('neutral')).toEqual(shape('feminine'));

    const words = (gender: GrammaticalGender) =>
      textsOf(composed(camille, 'fr-FR', gender))
        .join(' ')
        .split(/\s+/);
    const [feminine, masculine] = [words('feminine'), words('masculine')];
    expect(masculine.length).toBe(feminine.length);
    const changed = feminine.flatMap((word, index) =>
      word === masculine[index] ? [] : [`${word}/${masculine[index] ?? ''}`],
    );
    expect(new Set(changed)).toEqual(
      new Set([
        'Née/Né', 'La/Le', 'L’inventrice/L’inventeur', 'bâtisseuse/bâtisseur', 'conteuse/conteur', 'passeuse/passeur', 'Prévenue/Prévenu', 'prise/pris',
      ]), // prettier-ignore
    );
  });

  it('leaves an English reading word for word the same', () => {
    expect(textsOf(composed(camille, 'en-US', 'feminine'))).toEqual(
      textsOf(composed(camille, 'en-US', 'masculine')),
    );
  });
});

describe('The synthesis', () => {
  const MOMENT = { 'fr-FR': /cycle|réalisation|anniversaire/, 'en-US': /period|pinnacle|birthday/i };

  it.each(LOCALES)('cites two numbers and a moment of the life in each paragraph, in %s', (locale) => {
    for (const person of [camille, minh, thirtyThree, indebted, child, ancestor]) {
      const paragraphs = proseOf({
        ...composed(person, locale),
        children: [sectionOf(composed(person, locale), 'synthesis')],
      }).filter((text) => !text.endsWith('?') && !/^(?:Le|An?) \d /.test(text));
      expect(paragraphs.length).toBeGreaterThan(3);
      for (const text of paragraphs) {
        expect(text).toMatch(/\d.*\d/);
        expect(text).toMatch(MOMENT[locale]);
      }
    }
  });

  it('stresses a number more, the further it leads', () => {
    const { dominant } = catalogFor('en-US').synthesis;
    const spoken = (person: Person) => textOf(composed(person), 'synthesis');
    expect(spoken(camille)).toContain(dominant[3].strong[1]?.neutral);
    expect(spoken(indebted)).toContain(dominant[4].clear[1]?.neutral);
    expect(spoken(thirtyThree)).toContain(dominant[6].quiet[1]?.neutral);
  });

  it('describes one absent number in detail, and the others in a line each', () => {
    const { absent } = catalogFor('en-US').synthesis;
    const text = textOf(composed(camille), 'synthesis.absent');
    expect(text).toContain(absent[8].full.neutral);
    for (const digit of [1, 2, 5] as const) {
      expect(text).toContain(absent[digit].line.neutral);
      expect(text).not.toContain(absent[digit].full.neutral);
    }
  });
});

describe('Soul Urge and Personality', () => {
  it('have a text for their pair, and say which of the two is the one that shows', () => {
    const door = textOf(composed(camille), 'name.door');
    expect(door).toContain('The Soul Urge, 3, stands behind the door; the Personality, 9,');
    expect(door).toContain(catalogFor('en-US').pairs.soul['3-9']?.neutral);
  });
});

describe('Rare readings', () => {
  it('say that a name without a vowel has no Soul Urge', () => {
    const document = composed(withoutVowel);
    expect(textOf(document, 'overview')).toContain('The name has no vowel');
    expect(textOf(document, 'name.soul-urge')).toContain('This name has no vowel');
    expect(sectionOf(document, 'name.soul-urge').children.map(({ type }) => type)).toEqual(['paragraph']);
  });

  it('say that a name without a consonant has no Personality', () => {
    expect(textOf(composed(withoutConsonant), 'name.personality')).toContain('This name has no consonant');
  });

  it('speak to a child in the future tense', () => {
    expect(textOf(composed(child), 'opening')).toContain('still growing');
    expect(textOf(composed(camille), 'opening')).not.toContain('still growing');
  });

  it('give a child scenes of school, friends and home instead of work', () => {
    for (const locale of LOCALES) {
      const { 'personal-year': years, synthesis } = catalogFor(locale);
      const { text } = years[3];
      expect(textOf(composed(child, locale), 'year')).toContain(text.young?.neutral);
      expect(textOf(composed(child, locale), 'year')).not.toContain(text.neutral);
      expect(textOf(composed(child, locale), 'synthesis')).toContain(synthesis.dominant[3].young[0]?.neutral);
      expect(textOf(composed(camille, locale), 'synthesis')).not.toContain(
        synthesis.dominant[3].young[0]?.neutral,
      );
    }
  });

  it('leave out "this year" past the age of 110, and say why', () => {
    const document = composed(ancestor);
    expect(textOf(document, 'opening')).toContain('the current year is left out');
    expect(textOf(document, 'synthesis')).toContain('like the motto over an old door');
    expect(textOf(document, 'year')).toContain('it is left out');
    expect(figuresOf(document).map(({ kind }) => kind)).not.toContain('nineYearCycle');
  });

  it('read a 33 as lived first as a 6', () => {
    const document = composed(thirtyThree);
    expect(document.children.find(({ id }) => id === 'path')).toBeDefined();
    expect(textOf(document, 'path')).toMatch(/keeps the 33 whole.*lived first as a 6/s);
  });

  it('describe a karmic debt once, however many numbers have it', () => {
    const debts = nodesOf(composed(indebted)).filter(({ id }) => id.endsWith('.debt'));
    expect(debts.map(({ id }) => id)).toEqual(['path.debt', 'name.expression.debt']);
  });
});

describe('Figures', () => {
  const document = composed(camille, 'fr-FR', 'feminine');
  const figure = <Kind extends FigureKind>(kind: Kind) =>
    figuresOf(document).find((node): node is Extract<Figure, { kind: Kind }> => node.kind === kind);

  it('weight each number by its positions', () => {
    expect(figure('numberWheel')?.data).toEqual({
      weights: { 1: 0, 2: 0, 3: 6.5, 4: 4, 5: 0, 6: 1.5, 7: 1, 8: 0, 9: 1.5 },
      dominant: [3],
    });
    expect(figure('numberWheel')?.alt).toContain('Nombre le plus présent\u00A0: 3.');
  });

  it('count the letters of the name', () => {
    expect(figure('inclusionGrid')?.data).toMatchObject({ lessons: [6, 7, 8], passion: [3] });
    expect(figure('inclusionGrid')?.alt).toContain('Cases vides\u00A0: 6, 7 et 8.');
  });

  it('lay three periods and four pinnacles end to end', () => {
    const rows = figure('lifeTimeline')?.data.rows ?? [];
    expect(rows.map(({ spans }) => spans.length)).toEqual([3, 4]);
    for (const { spans } of rows) {
      spans.slice(1).forEach((span, index) => expect(span.from).toBe(spans[index]?.to));
      expect(spans.at(-1)?.to).toBeNull();
    }
  });

  it('show nine years around the year of the reading', () => {
    const years = figure('nineYearCycle')?.data.years ?? [];
    expect(years.map(({ year }) => year)).toEqual([2021, 2022, 2023, 2024, 2025, 2026, 2027, 2028, 2029]);
    expect(years.filter(({ current }) => current)).toEqual([{ year: 2026, value: 4, current: true }]);
  });

  it('measure the four planes by their letters', () => {
    expect(figure('planeBars')?.data.bars.map(({ plane, count }) => [plane, count])).toEqual([
      ['physical', 5],
      ['mental', 7],
      ['emotional', 5],
      ['intuitive', 2],
    ]);
    expect(figure('planeBars')?.alt).toContain('Plan mental\u00A0: 7.');
  });

  it('lay out every letter with its value and its role', () => {
    const words = figure('letterStrip')?.data.words ?? [];
    expect(words.map((word) => word.map(({ letter }) => letter).join(''))).toEqual([
      'CAMILLE',
      'MARIE',
      'LAURENT',
    ]);
    expect(words[0]?.slice(0, 2)).toEqual([
      { letter: 'C', value: 3, vowel: false },
      { letter: 'A', value: 1, vowel: true },
    ]);
  });

  it('distinguish a vowel Y from a consonant Y', () => {
    const ys = (person: Person) =>
      figuresOf(composed(person)).flatMap((node) =>
        node.kind === 'letterStrip' ? node.data.words.flat().filter(({ letter }) => letter === 'Y') : [],
      );
    expect(ys(indebted).map(({ vowel }) => vowel)).toEqual([true]);
    expect(ys(child).map(({ vowel }) => vowel)).toEqual([false]);
  });

  it('each contain their amounts as text, for readers who cannot see the drawing', () => {
    for (const { fallback } of figuresOf(document)) {
      expect(fallback[0]?.type).toBe('table');
      const [table] = fallback;
      if (table?.type === 'table') expect(table.rows.length).toBeGreaterThanOrEqual(3);
    }
  });
});
