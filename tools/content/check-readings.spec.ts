import { bookFor } from '#publishing/content/book/book.js';
import type { DocumentV1, Section } from '#publishing/document/document.js';
import { SAMPLES } from '#publishing/document/testing/samples.js';
import { trialDocument, trialResult } from '#publishing/document/testing/trial.js';
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

  const saying = (value: string): DocumentV1 => {
    const [first, ...others] = document.children;
    const told: Section = {
      ...(first as Section),
      children: [{ type: 'paragraph', id: 'planted', children: [{ type: 'text', value }] }],
    };
    return { ...document, children: [told, ...others] };
  };

  it.each([
    ['a value that was not filled in', 'Vous avez undefined ans.', 'left over'],
    ['a placeholder', 'Votre nombre est le {number}.', 'left over'],
    ['a double space', 'Un  mot.', 'left over'],
    ['nothing', '', 'empty passage'],
    ['a straight quote', "L'air du soir.", 'straight quote'],
    ['a promise', 'Vous rencontrerez la chance.', 'promise'],
    ['a word of the other language', 'Voici the reste.', 'English'],
  ])('that says %s', (_what, text, fault) => {
    expect(faultsOf(saying(text)).join()).toContain(fault);
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
