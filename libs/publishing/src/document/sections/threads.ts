import {
  type Position,
  POSITION_WEIGHTS,
  relationOf,
  type Stage,
  type Thread,
} from '@app/numerology/index.js';
import { type Composer, entryFor } from '../composer.js';
import type { Inline, NumberRef, Section } from '../document.js';
import { numberRef, paragraph, section, sentences } from '../nodes.js';
import { currentPeriod } from './cycles.js';

const POSITIONS = Object.keys(POSITION_WEIGHTS) as readonly Position[];

/** Wider bridges are described as a distance, the others as a difference between neighbours. */
const NEAR_BRIDGE = 2;

const positionTerms = ({ result, catalog, plain }: Composer, root: number): string[] => {
  const held = POSITIONS.filter((position) => result.numbers[position].root === root);
  const isPassion = result.grid.hiddenPassion.some((digit) => digit === root);
  const keys = [...held, ...(isPassion ? (['hiddenPassion'] as const) : [])];
  return keys.map((key) => plain(catalog.synthesis.positions[key]));
};

/** The positions that have a root, in words, heaviest first. */
export const positionsOf = (composer: Composer, root: number): string =>
  composer.list(positionTerms(composer, root));

const argumentsOf = (threads: readonly Thread[], kind: string): string[] | undefined =>
  threads
    .find((thread) => thread.startsWith(`${kind}:`))
    ?.split(':')
    .slice(1);

/** The moment that a thread refers to: the current period, and when it began. */
export const moment = (composer: Composer): { since: string; period: NumberRef } => {
  const { catalog, plain, ordinal } = composer;
  const stage = currentPeriod(composer);
  const { threads: frame } = catalog;
  return {
    since:
      stage.fromAge === 0
        ? plain(frame.sinceBirth)
        : plain(frame.sinceAge, { fromAge: ordinal(stage.fromAge) }),
    period: numberRef(`cycles.periods.${stage.index - 1}`, stage.display),
  };
};

const thread = (id: string, title: string, parts: readonly (readonly Inline[])[]): Section =>
  section(id, 'subsection', title, [paragraph(`${id}.text`, sentences(parts))], ['synthesis.threads']);

const tension = (composer: Composer): Section => {
  const { result, catalog, say, plain, number } = composer;
  const { threads: frame } = catalog;
  const { lifePath, expression, soulUrge, personality } = result.numbers;
  const title = plain(frame.tensionTitle);
  const path = { first: number('lifePath'), second: number('expression'), ...moment(composer) };
  const [pair, bridge] = argumentsOf(result.synthesis.threads, 'tension') ?? [];
  if (pair === undefined) return thread('synthesis.tension', title, [say(frame.tensionNone, path)]);

  const isPath = pair === 'lifePath-expression';
  const [first, second] = isPath ? [lifePath, expression] : [soulUrge, personality];
  const rubs =
    first.root !== null && second.root !== null && relationOf(first.root, second.root) === 'friction';
  const kind = rubs ? 'friction' : Number(bridge) <= NEAR_BRIDGE ? 'near' : 'far';
  const soul = { ...path, first: number('soulUrge'), second: number('personality') };
  return thread('synthesis.tension', title, [
    isPath ? say(frame.tension.path[kind], path) : say(frame.tension.soul[kind], soul),
  ]);
};

const resource = (composer: Composer): Section[] => {
  const { result, catalog, say, plain } = composer;
  const { threads: frame } = catalog;
  const [lesson] = argumentsOf(result.synthesis.threads, 'lesson-in-core') ?? [];
  if (lesson === undefined) return [];
  const values = {
    number: numberRef(`synthesis.weights.${lesson}`, lesson),
    position: positionTerms(composer, Number(lesson))[0] ?? '',
    ...moment(composer),
  };
  return [
    thread('synthesis.resource', plain(frame.resourceTitle), [
      say(frame.resource, values),
      say(entryFor(frame.lesson, Number(lesson))),
    ]),
  ];
};

const threshold = ({ result, catalog, say, plain, ordinal }: Composer): Section[] => {
  const { threads: frame } = catalog;
  const [stageName] = argumentsOf(result.synthesis.threads, 'threshold') ?? [];
  if (stageName === undefined) return [];
  const [kind, index] = stageName.split('-');
  const key = kind === 'period' ? 'periods' : 'pinnacles';
  const stages: readonly Stage[] = result.cycles[key];
  const to = Number(index) - 1;
  const [before, after] = [stages[to - 1], stages[to]];
  if (!before || !after) throw new Error('The result names a threshold it does not have');
  const values = {
    age: ordinal(after.fromAge),
    from: numberRef(`cycles.${key}.${to - 1}`, before.display),
    to: numberRef(`cycles.${key}.${to}`, after.display),
  };
  const when = after.fromAge > result.age ? 'Coming' : 'Begun';
  const text =
    before.value === after.value
      ? frame.threshold.same
      : frame.threshold[`${kind === 'period' ? 'period' : 'pinnacle'}${when}`];
  return [thread('synthesis.threshold', plain(frame.thresholdTitle), [say(text, values)])];
};

const rare = (composer: Composer, dominant: NumberRef): Section[] => {
  const { result, catalog, say, plain } = composer;
  const { rare: frame, rareTitle } = catalog.threads;
  const [what] = argumentsOf(result.synthesis.threads, 'rare') ?? [];
  const message = Object.entries(frame).find(([key]) => key === what)?.[1];
  if (!message) return [];
  return [thread('synthesis.rare', plain(rareTitle), [say(message, { dominant, ...moment(composer) })])];
};

/** The threads of the synthesis after the first, each a subsection; at most one of each kind. */
export const threadSections = (composer: Composer, dominant: NumberRef): Section[] => [
  tension(composer),
  ...resource(composer),
  ...threshold(composer),
  ...rare(composer, dominant),
];
