import { bookFor } from '#publishing/content/book/book.js';
import type { Inline } from '#publishing/document/document.js';
import { monthsAhead } from '#publishing/document/facts.js';
import { composed, figuresOf, nodesOf, sectionOf, textOf } from '#publishing/document/testing/composed.js';
import {
  ancestor,
  camille,
  child,
  emma,
  indebted,
  minh,
  newborn,
  type Person,
  resultOf,
  thirtyThree,
  withoutConsonant,
  withoutVowel,
} from '#publishing/document/testing/people.js';
import { randomPerson } from '#publishing/document/testing/random-people.js';
import { LOCALES, trialDocument } from '#publishing/document/testing/trial.js';
import { strongestPlanes } from '#publishing/document/figures.js';
import { describe, expect, it } from '@jest/globals';
import { proseOf, repeatedSentences } from './text.js';

const english = bookFor('en-US');
const only = (key: string, at = 0): string => english.entry(key)[at]?.text.neutral ?? '';
const textOfInline = (node: Inline): string =>
  'children' in node ? node.children.map(textOfInline).join('') : node.value;
/** The text up to its first placeholder. */
const headOf = (key: string): string => only(key).split('{')[0] ?? '';

describe('The Life Path', () => {
  it('has its eight parts, the total it comes from and its color', () => {
    const ids = nodesOf(composed(camille))
      .map(({ id }) => id)
      .filter((id) => id.startsWith('path.') && id !== 'path.card');
    expect(ids.filter((id) => !id.endsWith('.text') && !id.includes('debt'))).toEqual([
      'path.lead', 'path.drive', 'path.cost', 'path.total', 'path.colour', 'path.others', 'path.work', 'path.time',
      'path.help', 'path.question', 'path.day', 'path.day.intro',
    ]); // prettier-ignore
    expect(textOf(composed(camille), 'path')).toContain(only('compounds 13'));
    expect(textOf(composed(camille), 'path')).toContain(only('life-path-colour/4 3'));
  });

  it('takes the form for the group of the Expression', () => {
    const { root } = resultOf(camille).numbers.expression;
    expect(root).toBe(3);
    const form = english.entry('life-path/4 drive').find(({ when }) => when === '3-6-9');
    expect(textOf(composed(camille), 'path')).toContain(form?.text.neutral);
  });
});

describe('The labels of a number', () => {
  it('are the same in the table, the card and the portrait', () => {
    const document = composed(camille);
    const theme = only('labels 4.lifePath.theme');
    const table = nodesOf(document).find(({ id }) => id === 'overview.table');
    expect(JSON.stringify(table)).toContain(theme);
    expect(textOf(document, 'overview')).toContain(theme);
    const card = nodesOf(document).find(({ id }) => id === 'path.card');
    expect(card).toMatchObject({ archetype: only('labels 4.lifePath.archetype') });
  });
});

describe('The synthesis', () => {
  it('stresses a number more, the further it leads', () => {
    const spoken = (person: Person) => textOf(composed(person), 'synthesis');
    expect(spoken(camille)).toContain(only('synthesis/dominant 3.strong.close'));
    expect(spoken(indebted)).toContain(only('synthesis/dominant 4.clear.close'));
    expect(spoken(thirtyThree)).toContain(only('synthesis/dominant 6.quiet.close'));
  });

  it('asks the three questions of the leading number', () => {
    for (const index of [1, 2, 3]) {
      expect(textOf(composed(camille), 'synthesis')).toContain(only(`synthesis/questions 3.${index}`));
    }
  });
});

describe('Soul Urge and Personality', () => {
  it('have a text for their pair in this order', () => {
    const { soulUrge, personality } = resultOf(camille).numbers;
    const door = textOf(composed(camille), 'name.door');
    expect(door).toContain(headOf(`pairs-soul/${soulUrge.root} ${personality.root}`));
  });
});

describe('The forecast', () => {
  it('has twelve months, three periods and four pinnacles, each dated', () => {
    const document = composed(camille);
    const months = sectionOf(document, 'year.months').children;
    expect(months.map(({ id }) => id.replace('year.months.', ''))).toEqual([
      '2026-09', '2026-10', '2026-11', '2026-12', 'turn', '2027-01', '2027-02', '2027-03', '2027-04', '2027-05',
      '2027-06', '2027-07', '2027-08',
    ]); // prettier-ignore
    const { personalYear, nextPersonalYear } = resultOf(camille).now;
    const text = textOf(document, 'year.months');
    expect(text).toContain(`September 2026. ${only(`year/${personalYear} months.9`)}`);
    expect(text).toContain(`January 2027. ${only(`year/${nextPersonalYear} months.1`)}`);
    expect(text).toContain(`August 2027. ${only(`year/${nextPersonalYear} months.8`)}`);
    for (const index of [1, 2, 3])
      expect(textOf(document, `cycles.period-${index}`)).toMatch(/\b(?:19|20)\d\d\b/);
    const others = ['cycles.past', 'cycles.ahead'].flatMap((id) =>
      nodesOf(document).flatMap((node) => (node.type === 'section' && node.id === id ? node.children : [])),
    );
    expect(others).toHaveLength(3);
  });

  it.each([
    [minh, 'essence'],
    [newborn, 'under7/essence'],
  ])(
    'has the three letters of the essence in bold, each in its place, and nothing else',
    (person, family) => {
      const { essence, transits } = resultOf(person).now;
      expect(new Set(Object.values(transits)).size).toBe(3);
      const [told] = sectionOf(composed(person), 'year.essence').children;
      if (told?.type !== 'paragraph') throw new Error('no paragraph');
      const marked = told.children.map((node) =>
        node.type === 'strong' ? `**${textOfInline(node)}**` : textOfInline(node),
      );
      const letters: Readonly<Record<string, string>> = { ...transits };
      const expected = only(`${family} ${essence.value}`).replaceAll(
        /\{(\w+)\}/g,
        (_, place: string) => `**${letters[place]}**`,
      );
      expect(marked.join('')).toBe(expected);
    },
  );

  it('tells apart equal letters of the essence, as all have who bear no middle name', () => {
    const { mental, spiritual } = resultOf(indebted).now.transits;
    expect(mental).toBe(spiritual);
    expect(textOf(composed(indebted), 'year.essence')).toContain(`a second ${spiritual}`);
    expect(textOf(composed(indebted, 'fr-FR'), 'year.essence')).toContain(`encore ${spiritual}`);
    expect(new Set(Object.values(resultOf(minh).now.transits)).size).toBe(3);
    expect(textOf(composed(minh), 'year.essence')).not.toContain('a second ');
  });
});

describe('A child under seven', () => {
  it.each(LOCALES)('is spoken of to the parents, in %s', (locale) => {
    const document = composed(newborn, locale);
    const text = document.children.map(({ id }) => (id === 'method' ? '' : textOf(document, id))).join(' ');
    expect(text).toMatch(locale === 'fr-FR' ? /votre enfant/i : /your child/i);
    const { value } = resultOf(newborn).numbers.lifePath;
    expect(textOf(document, 'path')).toContain(
      bookFor(locale).entry(`under7/${value} lifePath.lead`)[0]?.text.neutral,
    );
  });

  it('has another text for each month, though a number comes up to three times', () => {
    const asOf = '2026-11-23';
    const document = trialDocument({ person: newborn, locale: 'en-US', gender: 'neutral', asOf });
    const [november = { number: 0 }] = monthsAhead({ ...resultOf(newborn), asOf });
    const text = textOf(document, 'year.months');
    const key = `under7/year ${november.number}`;
    expect(text).toContain(`November 2026. ${only(`${key}.month`)}`);
    expect(text).toContain(`January 2027. ${only(`${key}.secondMonth`)}`);
    expect(text).toContain(`October 2027. ${only(`${key}.thirdMonth`)}`);
  });

  it.each(LOCALES)('has a text about its short first year, in %s', (locale) => {
    const arrivalOf = (dateOfBirth: string): string | undefined => {
      const document = composed({ ...newborn, dateOfBirth }, locale);
      const has = nodesOf(document).some((node) => 'id' in node && node.id === 'year.arrival');
      return has ? textOf(document, 'year.arrival') : undefined;
    };
    expect(arrivalOf('2026-02-01')).toContain(locale === 'fr-FR' ? 'Février' : 'February');
    expect(arrivalOf('2026-01-31')).toBeUndefined();
    expect(arrivalOf('2025-12-31')).toBeUndefined();
  });

  it.each(LOCALES)('has its planes and its Balance, in %s', (locale) => {
    const { numbers, planes } = resultOf(newborn);
    const document = composed(newborn, locale);
    const [strongest] = strongestPlanes(planes);
    const forms = bookFor(locale).entry(`under7/grid plane.${strongest}`);
    const told = textOf(document, 'grid.planes');
    expect(forms.filter(({ text }) => told.includes(text.neutral))).toHaveLength(1);
    const [balance] = bookFor(locale).entry(`under7/grid balance.${numbers.balance.value}`);
    expect(textOf(document, 'grid.balance')).toContain(balance?.text.neutral);
  });

  it('has no year before its birth', () => {
    const document = composed(newborn);
    const [strip] = figuresOf(document).filter(({ kind }) => kind === 'nineYearCycle');
    expect(JSON.stringify(strip?.data)).toContain('"year":2026,');
    expect(JSON.stringify(strip)).not.toContain('2025');
  });
});

describe('Ages', () => {
  it('give a child scenes of school, friends and home instead of work', () => {
    for (const locale of LOCALES) {
      const [work] = bookFor(locale).entry('year/3 work');
      expect(textOf(composed(child, locale), 'year')).toContain(work?.ages['7-15']?.neutral);
      expect(textOf(composed(child, locale), 'year')).not.toContain(work?.text.neutral);
    }
    expect(textOf(composed(child), 'opening')).toContain('still growing');
    expect(textOf(composed(camille), 'opening')).not.toContain('still growing');
  });

  it('announce the Maturity number before 45, and tell it from then on', () => {
    const { value } = resultOf(camille).numbers.maturity;
    const older: Person = { ...camille, dateOfBirth: '1961-06-15' };
    expect(textOf(composed(camille), 'name.maturity')).toContain(only(`maturity ${value}.before`));
    expect(textOf(composed(older), 'name.maturity')).toContain(
      only(`maturity ${resultOf(older).numbers.maturity.value}.after`),
    );
  });

  it('leave out "this year" past 110, and say why', () => {
    const document = composed(ancestor);
    expect(textOf(document, 'opening')).toContain('year is left out');
    expect(textOf(document, 'year')).toMatch(/left out|that count stops|given none/);
    expect(figuresOf(document).map(({ kind }) => kind)).not.toContain('nineYearCycle');
  });
});

describe('Rare readings', () => {
  it('say that a name without a vowel has no Soul Urge', () => {
    const document = composed(withoutVowel);
    expect(textOf(document, 'overview')).toContain('no vowel');
    expect(textOf(document, 'name.soul-urge')).toContain(only('none soulUrge'));
    expect(sectionOf(document, 'name.soul-urge').children.map(({ type }) => type)).toEqual(['paragraph']);
  });

  it('say that a name without a consonant has no Personality', () => {
    expect(textOf(composed(withoutConsonant), 'name.personality')).toContain(only('none personality'));
  });

  it('describe the weightiest karmic debt once, and any other by what it does at its number', () => {
    const ids = nodesOf(composed(indebted))
      .map(({ id }) => id)
      .filter((id) => id.includes('.debt.'));
    expect(ids).toEqual(['path.debt.text', 'name.expression.debt.here', 'name.personality.debt.here']);
  });

  it('explain one missing value in full and the others in a line', () => {
    expect(resultOf(indebted).grid.lessons).toEqual([2, 4, 8, 9]);
    const ids = nodesOf(composed(indebted)).map(({ id }) => id);
    expect(ids.filter((id) => /^grid\.lessons\.\d$/.test(id))).toHaveLength(1);
    expect(ids).toContain('grid.lessons.others');
  });

  it('tell a single further value in a paragraph, for one bullet lists nothing', () => {
    const further = nodesOf(composed(emma)).find(({ id }) => id === 'grid.lessons.others');
    expect(further?.type).toBe('paragraph');
    expect(textOf(composed(emma), 'grid.lessons')).toContain(only('synthesis/absent 7.line'));
  });

  it('name the planes of a tie', () => {
    expect(strongestPlanes(resultOf(indebted).planes)).toEqual(['mental', 'intuitive']);
    expect(textOf(composed(indebted), 'grid.planes')).toContain('mental and intuitive');
  });

  it('tell of no empty plane where a missing value is told', () => {
    const { planes, grid } = resultOf(withoutVowel);
    expect([planes.physical.count, grid.lessons.length]).toEqual([0, 7]);
    const ids = nodesOf(composed(withoutVowel)).map(({ id }) => id);
    expect(ids).not.toContain('grid.planes.absent');
  });
});

describe('The pinnacles ahead', () => {
  it('say of one number only that it comes again', () => {
    const person = randomPerson(974);
    const document = trialDocument({ person, locale: 'en-US', gender: 'neutral', asOf: '2026-11-29' });
    const values = resultOf(person).cycles.pinnacles.map(({ value }) => value);
    expect(new Set(values).size).toBe(2);
    expect(repeatedSentences(proseOf(document))).toEqual([]);
  });

  it('do not explain again the number of the current one', () => {
    const [, now, next] = resultOf(emma).cycles.pinnacles;
    expect([now?.current, now?.value, next?.value]).toEqual([true, 7, 7]);
    const ahead = textOf(composed(emma), 'cycles.ahead');
    expect(ahead).not.toContain(only('pinnacles/ahead 7'));
    expect(ahead).toContain(only('pinnacles/ahead 9'));
  });
});

describe('The periods of a far future, for parents', () => {
  it('say of a number that stays that it stays', () => {
    const person = {
      name: { firstNames: ['Idriss'], middleNames: ['Karim'], lastNames: ['Belkacem'] },
      dateOfBirth: '2024-03-17',
    };
    const document = trialDocument({ person, locale: 'en-US', gender: 'masculine' });
    const told = nodesOf(document).find(({ id }) => id === 'cycles.later.period-3');
    const stays = english.entry('frames/under7 cycles.samePeriod').map(({ text }) => text.neutral);
    expect(stays.some((sentence) => JSON.stringify(told).includes(sentence))).toBe(true);
  });
});
