import { nineYearCycle } from '../../figures/nine-year-cycle.js';
import { type Composer, entryFor, isBeyond } from '../composer.js';
import type { Section } from '../document.js';
import { callout, numberRef, paragraph, section } from '../nodes.js';

export const year = (composer: Composer): Section => {
  const { result, catalog, say, plain } = composer;
  const { year: frame } = catalog.frames;
  const { now } = result;
  const title = plain(frame.title, { year: String(now.year) });
  if (isBeyond(result)) {
    return section('year', 'year', title, [paragraph('year.beyond', say(frame.beyond))]);
  }
  const prose = entryFor(catalog['personal-year'], now.personalYear);
  const next = entryFor(catalog['personal-year'], now.nextPersonalYear);
  return section(
    'year',
    'year',
    title,
    [
      paragraph(
        'year.intro',
        say(frame.intro, {
          year: String(now.year),
          number: numberRef('now.personalYear', String(now.personalYear)),
        }),
        'lead',
      ),
      nineYearCycle(composer),
      paragraph('year.text', say(prose.text)),
      callout('year.practice', 'practice', plain(frame.practiceTitle), say(prose.practice)),
      section(
        'year.essence',
        'subsection',
        plain(catalog.essence.title),
        [
          paragraph(
            'year.essence.intro',
            say(catalog.essence.intro, {
              number: numberRef('now.essence.value', String(now.essence.value)),
            }),
          ),
          paragraph('year.essence.text', say(entryFor(catalog.essence.text, now.essence.value))),
        ],
        ['now.essence', 'now.transits'],
      ),
      section(
        'year.next',
        'subsection',
        plain(frame.nextTitle, { year: String(now.year + 1) }),
        [paragraph('year.next.text', say(next.next))],
        ['now.nextPersonalYear'],
      ),
    ],
    ['now.personalYear'],
  );
};
