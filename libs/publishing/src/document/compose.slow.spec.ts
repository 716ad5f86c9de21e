import { expect, it } from '@jest/globals';
import { composeDocument } from './compose.js';
import type { DocumentV1, GrammaticalGender } from './document.js';
import { camille, resultOf } from './testing/people.js';
import { randomPerson } from './testing/random-people.js';
import { textsOf } from './walk.js';
import { options, composed, nodesOf, textOf } from './testing/composed.js';

const valueAt = (root: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], root);

const refsOf = (document: DocumentV1): string[] =>
  [...JSON.stringify(document).matchAll(/"ref":"([^"]+)"/g)]
    .map(([, ref]) => ref as string)
    .concat(nodesOf(document).flatMap((node) => (node.type === 'section' ? [...(node.refs ?? [])] : [])));

it('A document refers only to paths that the result has', () => {
  for (let seed = 0; seed < 30; seed += 1) {
    const result = resultOf(randomPerson(seed));
    const refs = refsOf(composeDocument(result, options));
    expect(refs.filter((ref) => valueAt(result, ref) === undefined)).toEqual([]);
  }
});

it('A document says that it is of a test reading; else it says nothing about it', () => {
  const test = composeDocument(resultOf(camille), { ...options, livemode: false });
  const details = [expect.anything(), expect.anything(), expect.stringMatching(/^TEST – /)];
  expect(test).toMatchObject({ livemode: false, details });
  expect(composeDocument(resultOf(camille), { ...options, livemode: true })).not.toHaveProperty('livemode');
});

it('A document contains its versions and the counter of its publication, and starts and ends with the notice', () => {
  const document = composeDocument(resultOf(camille, 'en-US'), { ...options, documentVersion: 3 });
  const versions = { method: 'evan-1', contentVersion: '2026.11.0', ...options };
  expect(document.meta).toMatchObject({ documentVersion: 3, ...versions });
  expect(composed(camille).meta.documentVersion).toBe(1);
  for (const id of ['opening', document.children.at(-1)!.id])
    expect(textOf(document, id)).toContain('It predicts nothing');
});

it('Gender changes agreement and nothing else, and no English word', () => {
  const words = (gender: GrammaticalGender) =>
    textsOf(composed(camille, 'fr-FR', gender))
      .join(' ')
      .split(/\s+/);
  const [feminine, masculine] = [words('feminine'), words('masculine')];
  expect(masculine.length).toBe(feminine.length);
  const changed = feminine.flatMap((word, at) =>
    word === masculine[at] ? [] : [`${word}/${masculine[at]}`],
  );
  expect(new Set(changed)).toEqual(new Set(['Née/Né']));
  const shape = (gender: GrammaticalGender) =>
    nodesOf(composed(camille, 'fr-FR', gender)).map(({ type, id }) => `${type} ${id}`);
  expect(shape('neutral')).toEqual(shape('feminine'));
  const english = (gender: GrammaticalGender) => textsOf(composed(camille, 'en-US', gender));
  expect(english('feminine')).toEqual(english('masculine'));
});
