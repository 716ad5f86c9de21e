import { relations } from '@app/numerology/index.js';
import { z } from 'zod';
import { message } from './message.js';
import { perNumber, perRoot } from './shapes.js';

const strings = <T extends z.ZodType>(keys: readonly string[], entry: T) =>
  z.strictObject(Object.fromEntries(keys.map((key) => [key, entry]))) as unknown as z.ZodType<
    Readonly<Record<string, z.infer<T>>>
  >;

const perRelation = <T extends z.ZodType>(entry: T) =>
  z.strictObject({ same: entry, ally: entry, complement: entry, friction: entry });

const perPlane = <T extends z.ZodType>(entry: T) =>
  z.strictObject({ physical: entry, mental: entry, emotional: entry, intuitive: entry });

/** First names and family name, and the strip of letters. */
export const nameParts = z.strictObject({
  title: message(),
  intro: message('active', 'heredity'),
  stripCaption: message(),
  stripAlt: message('letters'),
  active: perNumber(message()),
  heredity: perNumber(message()),
});

export const maturity = z.strictObject({
  title: message(),
  intro: message('number'),
  text: perNumber(message()),
});

const perPair = <T extends z.ZodType>(entry: T) =>
  strings(
    relations.map(({ pair }) => pair.join('-')),
    entry,
  );

/**
 * Life Path with Expression, and Soul Urge with Personality, by unordered pair of roots (`3-4`). A text of `soul` is
 * true whichever of the two numbers is the one that shows; the introduction says which it is.
 */
export const pairs = z.strictObject({
  pathTitle: message(),
  pathIntro: perRelation(message('lifePath', 'expression')),
  path: perPair(message()),
  soulTitle: message(),
  soulIntro: z.strictObject({
    same: message('soulUrge', 'personality'),
    ally: message('soulUrge', 'personality', 'shown', 'wished'),
    complement: message('soulUrge', 'personality', 'shown', 'wished'),
    friction: message('soulUrge', 'personality', 'shown', 'wished'),
  }),
  soul: perPair(message()),
  soulAbsent: message(),
});

export const planes = z.strictObject({
  title: message(),
  intro: message(),
  figureCaption: message(),
  figureAlt: message('physical', 'mental', 'emotional', 'intuitive'),
  names: perPlane(message()),
  tie: message('count'),
  strongest: perPlane(message()),
  absent: perPlane(message()),
});

/** The three numbers with only a few lines of text. */
export const minor = z.strictObject({
  title: message(),
  intro: message('balance', 'rationalThought', 'subconsciousSelf'),
  balance: perRoot(message()),
  rationalThought: perRoot(message()),
  subconsciousSelf: perRoot(message()),
});

/** Texts of a number that an earlier position has already described. */
export const again = z.strictObject({
  link: z.strictObject({
    second: message('number', 'earlier'),
    /** The second pair of positions that share a number. */
    secondMore: message('number', 'earlier'),
    third: message('number'),
    fourth: message('number'),
  }),
  /** Replaces a theme in the table of numbers that two earlier rows already state. */
  sameNumber: message(),
  numbers: perNumber(
    z.strictObject({ archetype: message(), keywords: z.array(message()).length(3), theme: message() }),
  ),
});
