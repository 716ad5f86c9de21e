import { inclusionGrid } from '../../figures/inclusion-grid.js';
import { planeBars, PLANES, strongestPlanes } from '../../figures/plane-bars.js';
import { type Composer, entryFor } from '../composer.js';
import type { Block, Section } from '../document.js';
import { list, paragraph, section } from '../nodes.js';

const passion = ({ result, catalog, say, plain, list: join, letterCount }: Composer): Section => {
  const { hiddenPassion, counts } = result.grid;
  const { grid: frame } = catalog;
  const [first] = hiddenPassion;
  const count = letterCount(first === undefined ? 0 : counts[first]);
  const intro =
    hiddenPassion.length === 1
      ? say(frame.passionOne, { number: String(first), count })
      : say(frame.passionTie, { numbers: join(hiddenPassion.map(String)), count });
  return section(
    'grid.passion',
    'subsection',
    plain(frame.passionTitle),
    [
      paragraph('grid.passion.intro', intro),
      ...hiddenPassion.map((digit) =>
        paragraph(`grid.passion.${digit}`, say(entryFor(frame.passion, digit))),
      ),
    ],
    ['grid.hiddenPassion'],
  );
};

const lessons = ({ result, catalog, say, plain }: Composer): Section => {
  const { grid: frame } = catalog;
  const missing = result.grid.lessons;
  const intro =
    missing.length === 0 ? frame.lessonsNone : missing.length === 1 ? frame.lessonsOne : frame.lessonsMany;
  const items: Block[] =
    missing.length === 0
      ? []
      : [
          list(
            'grid.lessons.list',
            missing.map((digit) => say(entryFor(frame.lesson, digit))),
          ),
        ];
  return section(
    'grid.lessons',
    'subsection',
    plain(frame.lessonsTitle),
    [paragraph('grid.lessons.intro', say(intro)), ...items],
    ['grid.lessons'],
  );
};

const planes = (composer: Composer): Section => {
  const { result, catalog, say, plain, letterCount } = composer;
  const { planes: frame } = catalog;
  const [strongest, ...tied] = strongestPlanes(result.planes);
  const count = letterCount(result.planes[strongest].count);
  const empty = PLANES.filter((plane) => result.planes[plane].count === 0);
  return section(
    'grid.planes',
    'subsection',
    plain(frame.title),
    [
      paragraph('grid.planes.intro', say(frame.intro)),
      planeBars(composer),
      ...(tied.length > 0 ? [paragraph('grid.planes.tie', say(frame.tie, { count }))] : []),
      paragraph('grid.planes.strongest', say(frame.strongest[strongest])),
      ...empty.slice(0, 1).map((plane) => paragraph('grid.planes.absent', say(frame.absent[plane]))),
    ],
    ['planes'],
  );
};

/** The three minor numbers, with the last part of their content key. */
const SPRINGS = { balance: 'balance', rationalThought: 'rational-thought', subconsciousSelf: 'subconscious' };
const SPRING_KEYS = ['balance', 'rationalThought', 'subconsciousSelf'] as const;

const springs = ({ result, catalog, say, plain, number }: Composer): Section => {
  const { minor: frame } = catalog;
  return section(
    'grid.springs',
    'subsection',
    plain(frame.title),
    [
      paragraph(
        'grid.springs.intro',
        say(frame.intro, {
          balance: number('balance'),
          rationalThought: number('rationalThought'),
          subconsciousSelf: number('subconsciousSelf'),
        }),
      ),
      ...SPRING_KEYS.map((key) =>
        paragraph(`grid.springs.${SPRINGS[key]}`, say(entryFor(frame[key], result.numbers[key].value))),
      ),
    ],
    SPRING_KEYS.map((key) => `numbers.${key}`),
  );
};

export const grid = (composer: Composer): Section => {
  const { result, catalog, say, plain, letterCount } = composer;
  return section(
    'grid',
    'grid',
    plain(catalog.grid.title),
    [
      paragraph(
        'grid.intro',
        say(catalog.grid.intro, { count: letterCount(result.normalization.letterCount) }),
        'lead',
      ),
      inclusionGrid(composer),
      passion(composer),
      lessons(composer),
      planes(composer),
      springs(composer),
    ],
    ['grid.counts'],
  );
};
