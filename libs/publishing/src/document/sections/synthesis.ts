import { type Position, POSITION_WEIGHTS } from '@app/numerology/index.js';
import { type Composer, entryFor, isBeyond, isYoung } from '../composer.js';
import type { Block, Inline, Section } from '../document.js';
import { callout, list, numberRef, paragraph, section, sentences } from '../nodes.js';
import { currentPeriod, currentPinnacle, pinnacleRef } from './cycles.js';
import { moment, positionsOf, threadSections } from './threads.js';

const POSITIONS = Object.keys(POSITION_WEIGHTS) as readonly Position[];

/** The root that the synthesis centres on: the dominant one; on a tie, the one with the heaviest position. */
const leadingRoot = ({ result }: Composer): number => {
  const { dominant } = result.synthesis;
  const held = POSITIONS.map((position) => result.numbers[position].root);
  const leading = held.find((root) => dominant.some((digit) => digit === root)) ?? dominant[0];
  if (leading === undefined || leading === null) throw new Error('The result has no dominant number');
  return leading;
};

const dominantRef = (root: number) => numberRef(`synthesis.weights.${root}`, String(root));

/** The bounds divide readers into thirds: a third has each strength. */
const strengthOf = (weight: number): 'quiet' | 'clear' | 'strong' =>
  weight < 5 ? 'quiet' : weight < 6.5 ? 'clear' : 'strong';

const strength = ({ result }: Composer, root: number) => strengthOf(entryFor(result.synthesis.weights, root));

const weight = (composer: Composer, root: number): Inline[] => {
  const { result, catalog, say } = composer;
  const { dominant } = result.synthesis;
  const { weightOne, weightTie } = catalog.synthesis;
  const values = { number: dominantRef(root), period: moment(composer).period };
  return dominant.length === 1
    ? say(weightOne[strength(composer, root)], { ...values, positions: positionsOf(composer, root) })
    : say(weightTie, { ...values, numbers: composer.list(dominant.map(String)) });
};

/** A sentence on whether the current period agrees with the leading number. */
const weather = (composer: Composer, root: number): Inline[] => {
  const { weightPeriod } = composer.catalog.synthesis;
  const frame = currentPeriod(composer).root === root ? weightPeriod.same : weightPeriod.other;
  return composer.say(frame, { number: dominantRef(root), period: moment(composer).period });
};

/** One absent number in detail, preferably one that the grid lacks too; the others in a line each. */
const absent = (composer: Composer): Block[] => {
  const { result, catalog, say, plain } = composer;
  const { synthesis: frame } = catalog;
  const { period } = moment(composer);
  const missing = result.synthesis.absent;
  const first = missing.find((digit) => result.grid.lessons.includes(digit)) ?? missing[0];
  if (first === undefined) return [paragraph('synthesis.absent.text', say(frame.absentNone, { period }))];
  const theme = plain(entryFor(catalog.numbers, first).theme);
  const intro =
    missing.length === 1
      ? say(frame.absentOne, { number: String(first), theme, period })
      : say(frame.absentMany, { numbers: composer.list(missing.map(String)), period });
  const others = missing.filter((digit) => digit !== first);
  const lines = others.map((digit) => say(entryFor(frame.absent, digit).line));
  return [
    paragraph('synthesis.absent.text', sentences([intro, say(entryFor(frame.absent, first).full)])),
    ...(lines.length > 0 ? [list('synthesis.absent.others', lines)] : []),
  ];
};

const pinnacleNow = (composer: Composer, root: number): Inline[] => {
  const { result, catalog, say, ordinal } = composer;
  const { synthesis: frame } = catalog;
  const stage = currentPinnacle(composer);
  const values = { dominant: dominantRef(root), pinnacle: pinnacleRef(stage) };
  if (stage.toAge === null) {
    const last = isBeyond(result) ? frame.momentBeyond : frame.momentLast;
    return say(last, { ...values, fromAge: ordinal(stage.fromAge) });
  }
  const until = stage.fromAge === 0 ? frame.momentFirst : frame.momentUntil;
  return say(until, { ...values, toAge: ordinal(stage.toAge) });
};

export const synthesis = (composer: Composer): Section => {
  const { result, catalog, say, plain } = composer;
  const { synthesis: frame } = catalog;
  const root = leadingRoot(composer);
  const texts = entryFor(frame.dominant, root)[isYoung(result) ? 'young' : strength(composer, root)];
  const [opening = [], closing = []] = texts.map((text) => say(text));
  return section(
    'synthesis',
    'synthesis',
    plain(frame.title),
    [
      paragraph('synthesis.weight', weight(composer, root), 'lead'),
      paragraph('synthesis.dominant', sentences([opening, weather(composer, root)])),
      paragraph('synthesis.moment', sentences([closing, pinnacleNow(composer, root)])),
      ...threadSections(composer, dominantRef(root)),
      section('synthesis.absent', 'subsection', plain(frame.absentTitle), absent(composer)),
      callout(
        'synthesis.question',
        'question',
        plain(frame.questionTitle),
        sentences(entryFor(frame.question, root).map((question) => say(question))),
      ),
    ],
    ['synthesis.dominant', 'synthesis.absent', 'synthesis.threads'],
  );
};
