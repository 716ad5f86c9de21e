import { dominantKey } from '../claimants.js';
import type { Composer } from '../composer.js';
import type { Block, Inline, Section } from '../document.js';
import {
  absentRoots,
  currentPeriod,
  fullAbsent,
  leadingRoot,
  positionsOf,
  stageOfLife,
  strengthOf,
} from '../facts.js';
import { callout, listUnlessEmpty, paragraph, section, sentences } from '../nodes.js';
import { periodRef } from './cycles.js';
import { rootRef } from './numbers.js';
import { threadSections } from './threads.js';

/** Which number leads, by how much, and where it stands. */
const leading = ({ result, say, list: join, position }: Composer): Inline[] => {
  const { dominant } = result.synthesis;
  const root = leadingRoot(result);
  if (dominant.length > 1) {
    return say('frames/synthesis tie', { number: rootRef(root), numbers: join(dominant.map(String)) });
  }
  const positions = join(positionsOf(result, root).map(position));
  return say(`frames/synthesis ${strengthOf(result)}`, { number: rootRef(root), positions });
};

/** What the current period does to the leading number. */
const moment = ({ result, say }: Composer): Inline[] =>
  say(`synthesis/moment ${leadingRoot(result)}.${stageOfLife(result)}`, {
    period: periodRef(currentPeriod(result)),
  });

/** The traits of which other pages claim both poles, each reconciled. */
const contradictions = ({ plan, say, plain, position }: Composer): Section[] => {
  const found = plan.contradictions;
  if (found.length === 0) return [];
  return [
    section('synthesis.bridges', 'subsection', plain('frames/synthesis bridgesTitle'), [
      paragraph(
        'synthesis.bridges.intro',
        say(`frames/synthesis ${found.length === 1 ? 'bridgesOne' : 'bridgesMany'}`),
      ),
      ...found.map(({ trait, plus, minus }) =>
        paragraph(
          `synthesis.bridges.${trait}`,
          say(`synthesis/bridges ${trait}`, { plus: position(plus), minus: position(minus) }),
        ),
      ),
    ]),
  ];
};

/** One number that appears nowhere in detail, unless it would clash or the grid has told it, the others in a line each. */
const absent = ({ result, plan, say, plain, list: join }: Composer): Section[] => {
  const missing = absentRoots(result);
  if (missing.length === 0) return [];
  const intro =
    missing.length === 1
      ? say('frames/synthesis absentOne', { number: String(missing[0]) })
      : say('frames/synthesis absentMany', { numbers: join(missing.map(String)) });
  const keyOf = (digit: number) => `synthesis/absent ${digit}.full`;
  const full = missing.find((digit) => digit === fullAbsent(result) && !plan.leftOut.has(keyOf(digit)));
  const lines = missing.filter((digit) => digit !== full);
  const blocks: Block[] = [
    paragraph('synthesis.absent.text', full === undefined ? intro : sentences([intro, say(keyOf(full))])),
    ...listUnlessEmpty(
      'synthesis.absent.others',
      lines.map((digit) => say(`synthesis/absent ${digit}.line`)),
    ),
  ];
  return [section('synthesis.absent', 'subsection', plain('frames/synthesis absentTitle'), blocks)];
};

export const synthesis = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const root = leadingRoot(result);
  const questions = ([1, 2, 3] as const).map((index) => say(`synthesis/questions ${root}.${index}`));
  return section(
    'synthesis',
    'synthesis',
    plain('frames/synthesis title'),
    [
      paragraph('synthesis.leading', leading(composer), 'lead'),
      paragraph('synthesis.dominant', say(dominantKey(result, 'open'))),
      paragraph('synthesis.moment', moment(composer)),
      paragraph('synthesis.close', say(dominantKey(result, 'close'))),
      ...threadSections(composer),
      ...contradictions(composer),
      ...absent(composer),
      callout(
        'synthesis.question',
        'question',
        plain('frames/synthesis questionTitle'),
        sentences(questions),
      ),
    ],
    ['synthesis.dominant', 'synthesis.absent', 'synthesis.threads'],
  );
};
