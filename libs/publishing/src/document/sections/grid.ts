import { inclusionGrid } from '../../figures/inclusion-grid.js';
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
    ],
    ['grid.counts'],
  );
};
