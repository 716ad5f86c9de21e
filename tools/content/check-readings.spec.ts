import { bookFor } from '#publishing/content/book/book.js';
import type { DocumentV1, Section } from '#publishing/document/document.js';
import { paragraph, text } from '#publishing/document/nodes.js';
import { SAMPLES } from '#publishing/document/testing/samples.js';
import { LOCALES, trialDocument, trialResult } from '#publishing/document/testing/trial.js';
import { describe, expect, it } from '@jest/globals';
import { checkReadings, faultsOf } from './check-readings.js';
import { clashesIn } from './clashes.js';

it('The readings of random people are fit to be published, in both languages and all genders', () => {
  expect([...checkReadings(12, 1)].flat()).toEqual([]);
});

describe('A reading is unfit', () => {
  const [sample] = SAMPLES;
  if (!sample) throw new Error('there are no samples');
  const document = trialDocument(sample);

  const saying = (...paragraphs: readonly string[]): DocumentV1 => {
    const [first, ...others] = document.children;
    const children = paragraphs.map((value, at) => paragraph(`planted.${at}`, [text(value)]));
    return { ...document, children: [{ ...(first as Section), children }, ...others] };
  };

  it.each([
    ['a value that was not filled in', 'Vous avez undefined ans.', 'left over'],
    ['a placeholder', 'Votre nombre est le {number}.', 'left over'],
    ['a double space', 'Un  mot.', 'left over'],
    ['nothing', '', 'empty passage'],
    ['a straight quote', "L'air du soir.", 'straight quote'],
    ['a promise', 'Vous rencontrerez la chance.', 'promise'],
    ['a word of the other language', 'Voici the reste.', 'English'],
  ])('that says %s', (_what, told, fault) => {
    expect(faultsOf(saying(told)).join()).toContain(fault);
  });

  it('that claims both poles of a trait and reconciles neither', () => {
    const [plus] = bookFor('fr-FR').entry('expression/4 cost');
    const claims = plus?.traits ?? [];
    const other = ['expression/1 cost', 'expression/3 cost', 'expression/5 cost', 'active 5', 'active 3']
      .flatMap((key) => bookFor('fr-FR').entry(key))
      .find(({ traits }) =>
        traits.some((claim) =>
          claims.some((one) => one !== claim && one.slice(0, -1) === claim.slice(0, -1)),
        ),
      );
    const texts = [plus?.text.neutral ?? '', other?.text.neutral ?? ''];
    expect(clashesIn('fr-FR', texts).join()).toContain('claim opposite poles');
    expect(clashesIn('fr-FR', texts.slice(1))).toEqual([]);
  });

  it('that says a sentence twice, or six words three times', () => {
    const told = (...texts: string[]) => faultsOf(saying(texts.join(' '))).join();
    expect(told('Un mot juste suffit ici.', 'Un mot juste suffit ici.')).toContain('a sentence twice');
    const words = 'le vent tourne autour du puits';
    expect(told(`Oui, ${words}.`, `Ici ${words}.`)).not.toContain('six words');
    expect(told(`Oui, ${words}.`, `Ici ${words}.`, `Et ${words}.`)).toContain('six words three times');
  });

  it('that uses an image twice', () => {
    const told = (...texts: string[]) => faultsOf(saying(...texts)).join();
    expect(told('Vous tenez comme une lampe.', 'La soirée s’éteint comme la lampe.')).toContain(
      'the image of "lampe" twice',
    );
    expect(told('Une telle lampe.', 'Tel un phare.')).not.toContain('the image of');
  });

  it.each(LOCALES)('that speaks to a child under seven, or to the parents of an older one: %s', (locale) => {
    const born = (dateOfBirth: string) =>
      trialDocument({ person: { ...sample.person, dateOfBirth }, locale, gender: 'neutral' });
    const [small, seven] = [born('2019-09-30'), born('2019-09-29')];
    const withPathOf = (one: DocumentV1, other: DocumentV1): DocumentV1 => ({
      ...one,
      children: one.children.map((node, at) => (node.role === 'path' ? other.children[at]! : node)),
    });
    expect([faultsOf(small), faultsOf(seven)]).toEqual([[], []]);
    expect(faultsOf(withPathOf(small, seven)).join()).toContain('speaks to the child: ');
    expect(faultsOf(withPathOf(seven, small)).join()).toContain('speaks to parents: ');
  });

  it('that uses an id twice', () => {
    const twice = { ...document, children: [...document.children, ...document.children.slice(-1)] };
    expect(faultsOf(twice).join()).toContain('stands twice');
  });

  it('unless it breaks none of this', () => {
    expect(faultsOf(saying('Un mot juste.'))).toEqual([]);
  });
});

it('The twelve samples take every master, debt, language and gender, and names without vowel or consonant', () => {
  const results = SAMPLES.map(trialResult);
  const paths = results.map(({ numbers }) => numbers.lifePath.value);
  expect(paths).toEqual(expect.arrayContaining([11, 22, 33]));
  const debts = new Set(results.flatMap(({ karmicDebts }) => karmicDebts.map(({ debt }) => debt)));
  expect([...debts].sort()).toEqual([13, 14, 16, 19]);
  expect(new Set(SAMPLES.map(({ locale, gender }) => `${locale} ${gender}`)).size).toBe(6);
  expect(results.some(({ age }) => age < 16)).toBe(true);
  expect(results.some(({ age }) => age > 110)).toBe(true);
  expect(results.some(({ numbers }) => numbers.soulUrge.value === null)).toBe(true);
  expect(results.some(({ numbers }) => numbers.personality.value === null)).toBe(true);
});

it.each(SAMPLES)('The sample is fit to be published: $slug', (sample) => {
  expect(faultsOf(trialDocument(sample))).toEqual([]);
});
