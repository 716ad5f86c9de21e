import { relationOf, type Stage, type Thread } from '#numerology/index.js';
import type { Composer } from '../composer.js';
import type { Inline, Section } from '../document.js';
import { holderOf, resourceOf, stageOfLife } from '../facts.js';
import { numberRef, paragraph, section } from '../nodes.js';

/** Wider bridges are described as a distance, the others as a difference between neighbours. */
const NEAR_BRIDGE = 2;

const argumentsOf = (threads: readonly Thread[], kind: string): string[] | undefined =>
  threads
    .find((thread) => thread.startsWith(`${kind}:`))
    ?.split(':')
    .slice(1);

const thread = ({ plain }: Composer, kind: string, text: readonly Inline[]): Section =>
  section(
    `synthesis.${kind}`,
    'subsection',
    plain(`frames/synthesis ${kind}Title`),
    [paragraph(`synthesis.${kind}.text`, text)],
    ['synthesis.threads'],
  );

const tension = (composer: Composer): Section => {
  const { result, say, number } = composer;
  const { lifePath, expression, soulUrge, personality } = result.numbers;
  const path = { first: number('lifePath'), second: number('expression') };
  const [pair, bridge] = argumentsOf(result.synthesis.threads, 'tension') ?? [];
  if (pair === undefined) return thread(composer, 'tension', say('synthesis/tension none', path));
  const isPath = pair === 'lifePath-expression';
  const [first, second] = isPath ? [lifePath, expression] : [soulUrge, personality];
  const rubs =
    first.root !== null && second.root !== null && relationOf(first.root, second.root) === 'friction';
  const kind = rubs ? 'friction' : Number(bridge) <= NEAR_BRIDGE ? 'near' : 'far';
  const soul = { first: number('soulUrge'), second: number('personality') };
  const key = `synthesis/tension ${isPath ? 'path' : 'soul'}.${kind}.${stageOfLife(result)}`;
  return thread(composer, 'tension', say(key, isPath ? path : soul));
};

const resource = (composer: Composer): Section[] => {
  const { result, say, position } = composer;
  const lesson = resourceOf(result);
  const holder = lesson === undefined ? undefined : holderOf(result, lesson);
  if (holder === undefined) return [];
  const text = say(`synthesis/resource ${lesson}`, { position: position(holder) });
  return [thread(composer, 'resource', text)];
};

const threshold = (composer: Composer): Section[] => {
  const { result, say, ordinal } = composer;
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
  const text = before.value === after.value ? 'same' : `${kind}${when}`;
  return [thread(composer, 'threshold', say(`synthesis/threshold ${text}`, values))];
};

const rare = (composer: Composer): Section[] => {
  const [what] = argumentsOf(composer.result.synthesis.threads, 'rare') ?? [];
  return what === undefined ? [] : [thread(composer, 'rare', composer.say(`synthesis/rare ${what}`))];
};

/** The threads of the synthesis after the first, each a subsection; at most one of each kind. */
export const threadSections = (composer: Composer): Section[] => [
  tension(composer),
  ...resource(composer),
  ...threshold(composer),
  ...rare(composer),
];
