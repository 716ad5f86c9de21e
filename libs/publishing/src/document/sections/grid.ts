import { inclusionGrid, planeBars, PLANES, strongestPlanes } from '../figures.js';
import { lessonKey, toldPassions } from '../truth.js';
import type { Composer } from '../composer.js';
import type { Inline, Section } from '../document.js';
import { absentRoots, fullLesson, holderOf, resourceOf } from '../facts.js';
import { listUnlessEmpty, paragraph, section, sentences } from '../nodes.js';

/**
 * The fullest cells, of which a tie tells two at most, and none whose text would contradict the reading. The page says
 * which it tells, where it names more.
 */
const passions = (composer: Composer): Section => {
  const { result, plan, forParents, say, tell, part, list: join, letterCount } = composer;
  const { hiddenPassion, counts } = result.grid;
  const [first] = hiddenPassion;
  const count = letterCount(first === undefined ? 0 : counts[first]);
  const numbers = join(hiddenPassion.map(String));
  const textKey = (digit: number) => (forParents ? `under7/grid passion.${digit}` : `passion ${digit}`);
  const introOf = (): Inline[] => {
    if (toldPassions(result).length === 0) return say('frames/grid passionEach', { numbers });
    return hiddenPassion.length === 1
      ? say('frames/grid passionOne', { number: String(first), count })
      : say('frames/grid passionTie', { numbers, count });
  };
  const told = toldPassions(result).filter((digit) => !plan.leftOut.has(textKey(digit)));
  const frame = told.length === 1 ? 'passionToldOne' : 'passionToldMany';
  const which = say(`frames/grid ${frame}`, { number: String(told[0]), numbers: join(told.map(String)) });
  const saysWhich = told.length > 0 && told.length < hiddenPassion.length;
  return part(
    'grid.passion',
    'frames/grid passionTitle',
    [
      paragraph('grid.passion.intro', saysWhich ? sentences([introOf(), which]) : introOf()),
      ...told.map((digit) => tell(`grid.passion.${digit}`, textKey(digit))),
    ],
    ['grid.hiddenPassion'],
  );
};

/**
 * The values without a letter: the weightiest in full, the others in a line each, unless the synthesis tells one. Parents
 * read of each.
 */
const lessons = (composer: Composer): Section => {
  const { result, forParents, say, tell, part, position, list: join } = composer;
  const missing = result.grid.lessons;
  const values = { number: String(missing[0]), numbers: join(missing.map(String)) };
  const frame = missing.length === 0 ? 'lessonsNone' : missing.length === 1 ? 'lessonsOne' : 'lessonsMany';
  const full = fullLesson(result);
  const others = missing.filter(
    (digit) => digit !== full && digit !== resourceOf(result) && !absentRoots(result).includes(digit),
  );
  const inFull = (digit: number) => {
    const holder = holderOf(result, digit);
    const key = forParents ? `under7/grid lesson.${digit}` : lessonKey(result, digit);
    return tell(`grid.lessons.${digit}`, key, holder ? { position: position(holder) } : {});
  };
  const lines = others.map((digit) => say(`synthesis/absent ${digit}.line`));
  return part(
    'grid.lessons',
    'frames/grid lessonsTitle',
    [
      tell('grid.lessons.intro', `frames/grid ${frame}`, values),
      ...(forParents ? missing : full === undefined ? [] : [full]).map(inFull),
      ...(forParents ? [] : listUnlessEmpty('grid.lessons.others', lines)),
    ],
    ['grid.lessons'],
  );
};

/** The planes; a tie is told, and the first of its planes gets the text. */
const planes = (composer: Composer): Section => {
  const { result, forParents, plain, tell, part, list: join, letterCount } = composer;
  const strongest = strongestPlanes(result.planes);
  const [first] = strongest;
  const tie = {
    count: letterCount(result.planes[first].count),
    planes: join(strongest.map((plane) => plain(`frames/terms planes.${plane}`).toLowerCase())),
  };
  // An absence is told once: a reader with a lesson in full has read enough of what is missing.
  const empty =
    forParents || fullLesson(result) !== undefined
      ? []
      : PLANES.filter((plane) => result.planes[plane].count === 0).slice(0, 1);
  return part(
    'grid.planes',
    'frames/grid planesTitle',
    [
      tell('grid.planes.intro', 'frames/grid planesIntro'),
      planeBars(composer),
      ...(strongest.length > 1 ? [tell('grid.planes.tie', 'frames/grid planesTie', tie)] : []),
      tell('grid.planes.strongest', forParents ? `under7/grid plane.${first}` : `planes strongest.${first}`),
      ...empty.map((plane) => tell('grid.planes.absent', `planes absent.${plane}`)),
    ],
    ['planes'],
  );
};

/** The three minor numbers, with the last part of their id. */
const SPRINGS = [
  ['balance', 'balance'],
  ['rationalThought', 'rational-thought'],
  ['subconsciousSelf', 'subconscious'],
] as const;

/** Of the minor numbers, parents read only of Balance, as what may calm a child. */
const springs = ({ result, forParents, tell, part, number }: Composer): Section => {
  if (forParents)
    return part(
      'grid.balance',
      'frames/grid balanceTitle',
      [
        tell('grid.balance.intro', 'frames/grid balanceIntro', { number: number('balance') }),
        tell('grid.balance.text', `under7/grid balance.${result.numbers.balance.value}`),
      ],
      ['numbers.balance'],
    );
  const values = Object.fromEntries(SPRINGS.map(([key]) => [key, number(key)]));
  return part(
    'grid.springs',
    'frames/grid springsTitle',
    [
      tell('grid.springs.intro', 'frames/grid springsIntro', values),
      ...SPRINGS.map(([key, id]) =>
        tell(`grid.springs.${id}`, `springs ${key}.${result.numbers[key].value}`),
      ),
    ],
    SPRINGS.map(([key]) => `numbers.${key}`),
  );
};

export const grid = (composer: Composer): Section => {
  const { result, plain, tell, letterCount } = composer;
  const count = letterCount(result.normalization.letterCount);
  const children = [
    tell('grid.intro', 'frames/grid intro', { count }, 'lead'),
    inclusionGrid(composer),
    passions(composer),
    lessons(composer),
    planes(composer),
    springs(composer),
  ];
  return section('grid', 'grid', plain('frames/grid title'), children, ['grid.counts']);
};
