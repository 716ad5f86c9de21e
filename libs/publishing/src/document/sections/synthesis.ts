import { type Position, POSITION_WEIGHTS } from '@app/numerology/index.js';
import { type Composer, entryFor } from '../composer.js';
import type { Inline, Section } from '../document.js';
import { callout, numberRef, paragraph, section, sentences } from '../nodes.js';
import { currentPinnacle, pinnacleRef } from './cycles.js';
import { positionsOf, threadSections } from './threads.js';

const POSITIONS = Object.keys(POSITION_WEIGHTS) as readonly Position[];

/** The root the synthesis is built around; of several that weigh the same, the one with the heaviest position. */
const leadingRoot = ({ result }: Composer): number => {
  const { dominant } = result.synthesis;
  const held = POSITIONS.map((position) => result.numbers[position].root);
  const leading = held.find((root) => dominant.some((digit) => digit === root)) ?? dominant[0];
  if (leading === undefined || leading === null) throw new Error('The result has no dominant number');
  return leading;
};

const dominantRef = (root: number) => numberRef(`synthesis.weights.${root}`, String(root));

const weight = (composer: Composer, root: number): Inline[] => {
  const { result, catalog, say, list } = composer;
  const { dominant } = result.synthesis;
  return dominant.length === 1
    ? say(catalog.synthesis.weightOne, { number: dominantRef(root), positions: positionsOf(composer, root) })
    : say(catalog.synthesis.weightTie, { numbers: list(dominant.map(String)), number: dominantRef(root) });
};

const absent = ({ result, catalog, say, plain, list }: Composer): Inline[][] => {
  const { synthesis: frame } = catalog;
  const missing = result.synthesis.absent;
  const [first] = missing;
  if (first === undefined) return [say(frame.absentNone)];
  const intro =
    missing.length === 1
      ? say(frame.absentOne, { number: String(first), theme: plain(entryFor(catalog.numbers, first).theme) })
      : say(frame.absentMany, { numbers: list(missing.map(String)) });
  return [intro, ...missing.map((digit) => say(entryFor(frame.absent, digit)))];
};

const moment = (composer: Composer, root: number): Inline[] => {
  const { catalog, say, ordinal } = composer;
  const { synthesis: frame } = catalog;
  const stage = currentPinnacle(composer);
  const values = { dominant: dominantRef(root), pinnacle: pinnacleRef(stage) };
  if (stage.toAge === null) return say(frame.momentLast, { ...values, fromAge: ordinal(stage.fromAge) });
  const until = stage.fromAge === 0 ? frame.momentFirst : frame.momentUntil;
  return say(until, { ...values, toAge: ordinal(stage.toAge) });
};

export const synthesis = (composer: Composer): Section => {
  const { catalog, say, plain } = composer;
  const { synthesis: frame } = catalog;
  const root = leadingRoot(composer);
  return section(
    'synthesis',
    'synthesis',
    plain(frame.title),
    [
      paragraph('synthesis.weight', weight(composer, root), 'lead'),
      paragraph('synthesis.dominant', say(entryFor(frame.dominant, root))),
      paragraph('synthesis.moment', moment(composer, root)),
      ...threadSections(composer, dominantRef(root)),
      section('synthesis.absent', 'subsection', plain(frame.absentTitle), [
        paragraph('synthesis.absent.text', sentences(absent(composer))),
      ]),
      callout(
        'synthesis.question',
        'question',
        plain(frame.questionTitle),
        say(entryFor(frame.question, root)),
      ),
    ],
    ['synthesis.dominant', 'synthesis.absent', 'synthesis.threads'],
  );
};
