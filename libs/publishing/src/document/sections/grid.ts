import { inclusionGrid } from '../../figures/inclusion-grid.js';
import { planeBars, PLANES, strongestPlanes } from '../../figures/plane-bars.js';
import { lessonKey, toldPassions } from '../claimants.js';
import type { Composer } from '../composer.js';
import type { Block, Inline, Paragraph, Section } from '../document.js';
import { absentRoots, fullLesson, holderOf, resourceOf } from '../facts.js';
import { listUnlessEmpty, paragraph, section, sentences } from '../nodes.js';

/** The text of a number in the grid, by its key in the book. */
type TextKey = (digit: number) => string;

/**
 * The fullest cells, of which a tie tells two at most, and none whose text would contradict the reading. The page says
 * which it tells, where it names more.
 */
export const passions = (composer: Composer, textKey: TextKey): Section => {
  const { result, plan, say, plain, list: join, letterCount } = composer;
  const { hiddenPassion, counts } = result.grid;
  const [first] = hiddenPassion;
  const count = letterCount(first === undefined ? 0 : counts[first]);
  const numbers = join(hiddenPassion.map(String));
  const introOf = (): Inline[] => {
    if (toldPassions(result).length === 0) return say('frames/grid passionEach', { numbers });
    return hiddenPassion.length === 1
      ? say('frames/grid passionOne', { number: String(first), count })
      : say('frames/grid passionTie', { numbers, count });
  };
  const intro = introOf();
  const told = toldPassions(result).filter((digit) => !plan.leftOut.has(textKey(digit)));
  const frame = told.length === 1 ? 'passionToldOne' : 'passionToldMany';
  const which = say(`frames/grid ${frame}`, { number: String(told[0]), numbers: join(told.map(String)) });
  return section(
    'grid.passion',
    'subsection',
    plain('frames/grid passionTitle'),
    [
      paragraph(
        'grid.passion.intro',
        told.length > 0 && told.length < hiddenPassion.length ? sentences([intro, which]) : intro,
      ),
      ...told.map((digit) => paragraph(`grid.passion.${digit}`, say(textKey(digit)))),
    ],
    ['grid.hiddenPassion'],
  );
};

/** Which values no letter has, as the head of their section. */
export const lessonsIntro = ({ result, say, list: join }: Composer): Paragraph => {
  const missing = result.grid.lessons;
  const values = { number: String(missing[0]), numbers: join(missing.map(String)) };
  const frame = missing.length === 0 ? 'lessonsNone' : missing.length === 1 ? 'lessonsOne' : 'lessonsMany';
  return paragraph('grid.lessons.intro', say(`frames/grid ${frame}`, values));
};

/** The values without a letter: the weightiest in full, the others in a line each, unless the synthesis tells one. */
const lessons = (composer: Composer): Section => {
  const { result, say, plain, position } = composer;
  const full = fullLesson(result);
  const others = result.grid.lessons.filter(
    (digit) => digit !== full && digit !== resourceOf(result) && !absentRoots(result).includes(digit),
  );
  const text = (digit: number): Inline[] => {
    const holder = holderOf(result, digit);
    return say(lessonKey(result, digit), holder ? { position: position(holder) } : {});
  };
  const lines = others.map((digit) => say(`synthesis/absent ${digit}.line`));
  return section(
    'grid.lessons',
    'subsection',
    plain('frames/grid lessonsTitle'),
    [
      lessonsIntro(composer),
      ...(full === undefined ? [] : [paragraph(`grid.lessons.${full}`, text(full))]),
      ...listUnlessEmpty('grid.lessons.others', lines),
    ],
    ['grid.lessons'],
  );
};

/** The head of the planes, with the figure; a tie is told, and the first of its planes gets the text. */
export const planesHead = (composer: Composer): Block[] => {
  const { result, say, plain, list: join, letterCount } = composer;
  const strongest = strongestPlanes(result.planes);
  const count = letterCount(result.planes[strongest[0]].count);
  const planes = join(strongest.map((plane) => plain(`frames/terms planes.${plane}`).toLowerCase()));
  return [
    paragraph('grid.planes.intro', say('frames/grid planesIntro')),
    planeBars(composer),
    ...(strongest.length > 1
      ? [paragraph('grid.planes.tie', say('frames/grid planesTie', { count, planes }))]
      : []),
  ];
};

const planes = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const [strongest] = strongestPlanes(result.planes);
  // An absence is told once: a reader with a lesson in full has read enough of what is missing.
  const empty =
    fullLesson(result) === undefined ? PLANES.filter((plane) => result.planes[plane].count === 0) : [];
  return section(
    'grid.planes',
    'subsection',
    plain('frames/grid planesTitle'),
    [
      ...planesHead(composer),
      paragraph('grid.planes.strongest', say(`planes strongest.${strongest}`)),
      ...empty.slice(0, 1).map((plane) => paragraph('grid.planes.absent', say(`planes absent.${plane}`))),
    ],
    ['planes'],
  );
};

/** The three minor numbers, with the last part of their content key. */
const SPRINGS = { balance: 'balance', rationalThought: 'rational-thought', subconsciousSelf: 'subconscious' };
const SPRING_KEYS = ['balance', 'rationalThought', 'subconsciousSelf'] as const;

const springs = ({ result, say, plain, number }: Composer): Section =>
  section(
    'grid.springs',
    'subsection',
    plain('frames/grid springsTitle'),
    [
      paragraph(
        'grid.springs.intro',
        say('frames/grid springsIntro', {
          balance: number('balance'),
          rationalThought: number('rationalThought'),
          subconsciousSelf: number('subconsciousSelf'),
        }),
      ),
      ...SPRING_KEYS.map((key) =>
        paragraph(`grid.springs.${SPRINGS[key]}`, say(`springs ${key}.${result.numbers[key].value}`)),
      ),
    ],
    SPRING_KEYS.map((key) => `numbers.${key}`),
  );

/** The head of the section, with the figure. */
export const gridHead = (composer: Composer): Block[] => {
  const { result, say, letterCount } = composer;
  const count = letterCount(result.normalization.letterCount);
  return [paragraph('grid.intro', say('frames/grid intro', { count }), 'lead'), inclusionGrid(composer)];
};

export const grid = (composer: Composer): Section => {
  const { plain } = composer;
  return section(
    'grid',
    'grid',
    plain('frames/grid title'),
    [
      ...gridHead(composer),
      passions(composer, (digit) => `passion ${digit}`),
      lessons(composer),
      planes(composer),
      springs(composer),
    ],
    ['grid.counts'],
  );
};
