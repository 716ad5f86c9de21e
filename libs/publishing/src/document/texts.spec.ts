import { describe, expect, it } from '@jest/globals';
import { catalogFor } from '../content/catalog.js';
import {
  ancestor,
  camille,
  child,
  indebted,
  minh,
  type Person,
  thirtyThree,
  withoutConsonant,
  withoutVowel,
} from './testing/people.js';
import { proseOf } from './prose.js';
import { LOCALES, composed, nodesOf, sectionOf, figuresOf, textOf } from './testing/composed.js';

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
