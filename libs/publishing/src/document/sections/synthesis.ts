import { relationOf, type Stage } from '#numerology/index.js';
import { dominantKey } from '../truth.js';
import type { Composer } from '../composer.js';
import type { Inline, Paragraph, Section } from '../document.js';
import {
  absentRoots,
  currentPeriod,
  fullAbsent,
  holderOf,
  leadingRoot,
  positionsOf,
  resourceOf,
  stageOfLife,
  strengthOf,
} from '../facts.js';
import { callout, listUnlessEmpty, numberRef, paragraph, section, sentences } from '../nodes.js';
import { stageRef } from './cycles.js';

const rootRef = (root: number) => numberRef(`synthesis.weights.${root}`, String(root));

/** Which number leads, by how much, and where it stands. */
const leading = ({ result, forParents, tell, list: join, position }: Composer): Paragraph => {
  const { dominant } = result.synthesis;
  const root = leadingRoot(result);
  const values = {
    number: rootRef(root),
    numbers: join(dominant.map(String)),
    positions: join(positionsOf(result, root).map(position)),
  };
  const frame = forParents ? 'leading' : dominant.length > 1 ? 'tie' : strengthOf(result);
  return tell('synthesis.leading', `frames/synthesis ${frame}`, values, 'lead');
};

const thread = ({ say, part }: Composer, kind: string, key: string, values = {}): Section => {
  const told = paragraph(`synthesis.${kind}.text`, say(key, values));
  return part(`synthesis.${kind}`, `frames/synthesis ${kind}Title`, [told], ['synthesis.threads']);
};

/** What follows the kind of a thread of the result, e.g. `pinnacle-2` and `30` of `threshold:pinnacle-2:30`. */
const argumentsOf = ({ result }: Composer, kind: string): string[] =>
  result.synthesis.threads
    .find((each) => each.startsWith(`${kind}:`))
    ?.split(':')
    .slice(1) ?? [];

/** Wider bridges are described as a distance, the others as a difference between neighbours. */
const NEAR_BRIDGE = 2;

const tension = (composer: Composer): Section => {
  const { result, number } = composer;
  const { lifePath, expression, soulUrge, personality } = result.numbers;
  const path = { first: number('lifePath'), second: number('expression') };
  const [pair, bridge] = argumentsOf(composer, 'tension');
  if (pair === undefined) return thread(composer, 'tension', 'synthesis/tension none', path);
  const isPath = pair === 'lifePath-expression';
  const [first, second] = isPath ? [lifePath, expression] : [soulUrge, personality];
  const rubs =
    first.root !== null && second.root !== null && relationOf(first.root, second.root) === 'friction';
  const kind = rubs ? 'friction' : Number(bridge) <= NEAR_BRIDGE ? 'near' : 'far';
  const soul = { first: number('soulUrge'), second: number('personality') };
  const key = `synthesis/tension ${isPath ? 'path' : 'soul'}.${kind}.${stageOfLife(result)}`;
  return thread(composer, 'tension', key, isPath ? path : soul);
};

const resource = (composer: Composer): Section[] => {
  const { result, position } = composer;
  const lesson = resourceOf(result);
  const holder = lesson === undefined ? undefined : holderOf(result, lesson);
  if (holder === undefined) return [];
  return [thread(composer, 'resource', `synthesis/resource ${lesson}`, { position: position(holder) })];
};

const threshold = (composer: Composer): Section[] => {
  const { result, ordinal } = composer;
  const [stageName] = argumentsOf(composer, 'threshold');
  if (stageName === undefined) return [];
  const [kind, index] = stageName.split('-');
  const key = kind === 'period' ? 'periods' : 'pinnacles';
  const stages: readonly Stage[] = result.cycles[key];
  const [before, after] = stages.slice(Number(index) - 2);
  if (!before || !after) throw new Error('The result names a threshold it does not have');
  const values = { age: ordinal(after.fromAge), from: stageRef(key, before), to: stageRef(key, after) };
  const when = after.fromAge > result.age ? 'Coming' : 'Begun';
  const text = before.value === after.value ? 'same' : `${kind}${when}`;
  return [thread(composer, 'threshold', `synthesis/threshold ${text}`, values)];
};

const rare = (composer: Composer): Section[] =>
  argumentsOf(composer, 'rare').map((what) => thread(composer, 'rare', `synthesis/rare ${what}`));

/** The traits of which other pages claim both poles, each reconciled. */
const contradictions = ({ plan, tell, part, position }: Composer): Section[] => {
  const found = plan.contradictions;
  if (found.length === 0) return [];
  const intro = `frames/synthesis ${found.length === 1 ? 'bridgesOne' : 'bridgesMany'}`;
  return [
    part('synthesis.bridges', 'frames/synthesis bridgesTitle', [
      tell('synthesis.bridges.intro', intro),
      ...found.map(({ trait, plus, minus }) => {
        const values = { plus: position(plus), minus: position(minus) };
        return tell(`synthesis.bridges.${trait}`, `synthesis/bridges ${trait}`, values);
      }),
    ]),
  ];
};

/** One number that appears nowhere in detail, unless it would clash or the grid has told it, the others in a line each. */
const absent = ({ result, plan, say, part, list: join }: Composer): Section[] => {
  const missing = absentRoots(result);
  if (missing.length === 0) return [];
  const values = { number: String(missing[0]), numbers: join(missing.map(String)) };
  const intro = say(`frames/synthesis ${missing.length === 1 ? 'absentOne' : 'absentMany'}`, values);
  const keyOf = (digit: number) => `synthesis/absent ${digit}.full`;
  const full = missing.find((digit) => digit === fullAbsent(result) && !plan.leftOut.has(keyOf(digit)));
  const told: Inline[][] = full === undefined ? [intro] : [intro, say(keyOf(full))];
  const lines = missing.filter((digit) => digit !== full);
  return [
    part('synthesis.absent', 'frames/synthesis absentTitle', [
      paragraph('synthesis.absent.text', sentences(told)),
      ...listUnlessEmpty(
        'synthesis.absent.others',
        lines.map((digit) => say(`synthesis/absent ${digit}.line`)),
      ),
    ]),
  ];
};

/** The leading number of a child under seven, for the parents. */
const childSynthesis = (composer: Composer): Section => {
  const { result, say, plain, tell } = composer;
  const key = `under7/synthesis ${leadingRoot(result)}`;
  const box = (id: 'help' | 'question', variant: 'practice' | 'question') =>
    callout(`synthesis.${id}`, variant, plain(`frames/synthesis ${id}Title`), say(`${key}.${id}`));
  const children = [
    leading(composer),
    tell('synthesis.dominant', `${key}.dominant`),
    tell('synthesis.parents', `${key}.parents`),
    box('help', 'practice'),
    box('question', 'question'),
    tell('synthesis.keep', 'frames/synthesis keep'),
  ];
  return section('synthesis', 'synthesis', plain('frames/synthesis title'), children, ['synthesis.dominant']);
};

export const synthesis = (composer: Composer): Section => {
  if (composer.forParents) return childSynthesis(composer);
  const { result, say, plain, tell } = composer;
  const root = leadingRoot(result);
  const questions = [1, 2, 3].map((index) => say(`synthesis/questions ${root}.${index}`));
  // What the current period does to the leading number.
  const moment = `synthesis/moment ${root}.${stageOfLife(result)}`;
  const children = [
    leading(composer),
    tell('synthesis.dominant', dominantKey(result, 'open')),
    tell('synthesis.moment', moment, { period: stageRef('periods', currentPeriod(result)) }),
    tell('synthesis.close', dominantKey(result, 'close')),
    tension(composer),
    ...resource(composer),
    ...threshold(composer),
    ...rare(composer),
    ...contradictions(composer),
    ...absent(composer),
    callout('synthesis.question', 'question', plain('frames/synthesis questionTitle'), sentences(questions)),
  ];
  const refs = ['synthesis.dominant', 'synthesis.absent', 'synthesis.threads'];
  return section('synthesis', 'synthesis', plain('frames/synthesis title'), children, refs);
};
