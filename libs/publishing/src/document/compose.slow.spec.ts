import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { composeDocument } from './compose.js';
import type { DocumentV1, GrammaticalGender } from './document.js';
import { camille, minh, resultOf } from './testing/people.js';
import { randomPerson } from './testing/random-people.js';
import { GENDERS, LOCALES } from './testing/trial.js';
import { assertDocument } from './validate.js';
import { textsOf } from './walk.js';
import { options, composed, nodesOf, textOf } from './testing/composed.js';

/** Any person that the service accepts. */
const anyone = fc.integer().map(randomPerson);

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
      fc.property(anyone, (person) => {
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
            expect(document.meta.wordCount).toBeGreaterThan(4000);
            expect(document.meta.wordCount).toBeLessThan(9000);
          }
        }
      }),
      { numRuns: 40, seed: 7 },
    );
  });

  it('refers only to paths that the result has', () => {
    fc.assert(
      fc.property(anyone, (person) => {
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

  it('says that it is of a test reading; else it says nothing about it', () => {
    const test = composeDocument(resultOf(camille), { ...options, livemode: false });
    expect(test).toMatchObject({
      livemode: false,
      details: [expect.anything(), expect.anything(), expect.stringMatching(/^TEST – /)],
    });
    const live = composeDocument(resultOf(camille), { ...options, livemode: true });
    expect(JSON.stringify(live)).toBe(JSON.stringify(composeDocument(resultOf(camille), options)));
    expect(live).not.toHaveProperty('livemode');
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
    expect(new Set(changed)).toEqual(new Set(['Née/Né']));
  });

  it('leaves an English reading word for word the same', () => {
    expect(textsOf(composed(camille, 'en-US', 'feminine'))).toEqual(
      textsOf(composed(camille, 'en-US', 'masculine')),
    );
  });
});
