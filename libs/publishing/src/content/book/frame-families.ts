import { type EntryShape, label, per, prose, type ShapeTree } from './shape.js';

/** A sentence that many readings print: at least three ways to say it. */
const line = (...uses: string[]): EntryShape => ({ ...label(...uses), forms: 3 });
/** A sentence that every reading prints and no number changes: at least five ways. */
const common = (...uses: string[]): EntryShape => ({ ...label(...uses), forms: 5 });

const PLANES = ['physical', 'mental', 'emotional', 'intuitive'] as const;

const TERMS = [
  'lifePath', 'birthday', 'expression', 'soulUrge', 'personality', 'active', 'heredity', 'maturity', 'balance',
  'rationalThought', 'subconsciousSelf', 'personalYear', 'periods', 'period', 'pinnacles', 'pinnacle', 'position',
  'number', 'theme', 'weight', 'letters', 'years', 'reduction', 'word', 'allLetters', 'vowels', 'consonants', 'none',
] as const; // prettier-ignore

/** Names of positions with their article; what a text fills in for {position}, {earlier}, {plus} and {minus}. */
const POSITIONS = [
  'lifePath', 'birthday', 'expression', 'soulUrge', 'personality', 'active', 'heredity', 'maturity', 'passion', 'lesson',
  'debt', 'leading',
] as const; // prettier-ignore

export type PositionTerm = (typeof POSITIONS)[number];

const terms = {
  ...per(TERMS, label()),
  letterCountOne: label(),
  letterCountMany: label('count'),
  onward: label('year'),
  span: label('from', 'to'),
  positions: per(POSITIONS, label()),
  planes: per(PLANES, label()),
};

const opening = {
  documentTitle: label(),
  born: label('date'),
  established: label('date'),
  title: label(),
  greeting: line('name', 'date'),
  use: line(),
  young: label(),
  beyond: label(),
  noticeTitle: label(),
  closingTitle: label(),
  notice: label(),
};

const overview = {
  title: label(),
  lifePath: line('number', 'theme'),
  expression: line('number', 'theme'),
  soulUrge: line('number', 'theme'),
  soulUrgeNone: line(),
  wheelIntro: common(),
  wheelCaption: label(),
  wheelAlt: label('dominant', 'absent'),
  wheelAltComplete: label('dominant'),
};

const path = {
  ...per(
    [
      'title',
      'colourTitle',
      'othersTitle',
      'workTitle',
      'timeTitle',
      'helpTitle',
      'questionTitle',
      'dayTitle',
    ],
    label(),
  ),
  dayIntro: line('day', 'number'),
  debtTitle: label('debt'),
};

const name = {
  ...per(['title', 'expressionTitle', 'soulUrgeTitle', 'personalityTitle', 'partsTitle'], label()),
  ...per(['roadTitle', 'doorTitle', 'maturityTitle', 'stripCaption'], label()),
  intro: common('name'),
  partsIntro: line('active', 'heredity'),
  stripAlt: label('letters'),
  maturityIntro: line('number'),
};

const grid = {
  ...per(['title', 'passionTitle', 'lessonsTitle', 'planesTitle', 'springsTitle'], label()),
  intro: common('count'),
  figureCaption: label(),
  figureAlt: label('passion', 'lessons'),
  figureAltComplete: label('passion'),
  passionOne: line('number', 'count'),
  passionTie: line('numbers', 'count'),
  /** Each value that the name has comes once: none of them is told. */
  passionEach: line('numbers'),
  /** Of a tie that names more than it tells: which of them follow. */
  passionToldOne: line('number'),
  passionToldMany: line('numbers'),
  lessonsNone: line(),
  lessonsOne: line('number'),
  lessonsMany: line('numbers'),
  planesIntro: common(),
  planesCaption: label(),
  planesAlt: label(...PLANES),
  planesTie: line('count', 'planes'),
  springsIntro: line('balance', 'rationalThought', 'subconsciousSelf'),
};

const cycles = {
  title: label(),
  intro: common(),
  timelineCaption: label(),
  timelineAlt: label('period', 'pinnacle'),
  periodTitles: per(['first', 'second', 'third'], label('number')),
  periodFirst: line('toAge', 'toYear'),
  periodSecond: line('fromAge', 'fromYear', 'toAge', 'toYear'),
  periodThird: line('fromAge', 'fromYear'),
  nowTitle: label('number'),
  nowFirst: line('number', 'toAge', 'toYear'),
  nowMiddle: line('number', 'fromAge', 'toAge', 'toYear'),
  nowLast: line('number', 'fromAge', 'fromYear'),
  pastTitle: label(),
  aheadTitle: label(),
  pastFirst: label('number', 'toAge'),
  pastMiddle: label('number', 'fromAge', 'toAge'),
  aheadMiddle: label('number', 'fromAge', 'toAge', 'fromYear'),
  aheadLast: label('number', 'fromAge', 'fromYear'),
  /** In place of the text of a number that the same list has already explained. */
  sameAgain: line('number'),
  challengesTitle: label(),
  challengesIntro: common('number'),
  minorTitles: per(['first', 'second', 'fourth'], label('number')),
};

const year = {
  ...per(['loveTitle', 'workTitle', 'homeTitle', 'innerTitle', 'practiceTitle', 'essenceTitle'], label()),
  title: label('year'),
  intro: line('year', 'number'),
  stripCaption: label(),
  stripAlt: label('from', 'to', 'year', 'number'),
  monthsTitle: label(),
  /** Before January, where the months ahead reach into the next personal year. */
  monthsTurn: line('year', 'number'),
  nextTitle: label('year'),
  /** A letter of the essence that equals an earlier one of the three. */
  ...per(['secondLetter', 'thirdLetter'], label('letter')),
  beyond: line(),
};

const synthesis = {
  ...per(['title', 'tensionTitle', 'resourceTitle', 'thresholdTitle', 'rareTitle'], label()),
  ...per(['bridgesTitle', 'absentTitle', 'questionTitle'], label()),
  ...per(['quiet', 'clear', 'strong'], line('number', 'positions')),
  tie: line('number', 'numbers'),
  bridgesOne: line(),
  bridgesMany: line(),
  absentOne: line('number'),
  absentMany: line('numbers'),
};

const OTHER = ['sum', 'other', 'own'] as const;

/** The page from which a reader redoes the numbers. */
const method = {
  ...per(
    ['title', 'lettersTitle', 'wordsTitle', 'dateTitle', 'chainsTitle', 'mastersTitle', 'gridTitle'],
    label(),
  ),
  ...per(['weightsTitle', 'othersTitle', 'lettersIntro', 'dateIntro', 'chainsNote', 'gridIntro'], label()),
  ...per(['cyclesIntro', 'challengesIntro', 'weightsIntro', 'othersIntro', 'othersNone'], label()),
  ...per(['masters', 'mastersNone', 'debts', 'debtsNone', 'yNone'], label()),
  ...per(['part', 'stage', 'fromAge', 'challenge', 'plane', 'planeLetters', 'counted', 'passion'], label()),
  ...per(['birth', 'essence', 'cyclesTitle'], label()),
  intro: label('method'),
  reduction: label('steps'),
  conventions: { ...label(), forms: 5 },
  words: label('count'),
  ignored: label('words'),
  yReasons: per(
    [
      'startBeforeConsonant',
      'end',
      'betweenConsonants',
      'onlyVowel',
      'startBeforeVowel',
      'afterVowel',
      'laterVowel',
    ],
    label('word'),
  ),
  dateParts: per(['month', 'day', 'year'], label()),
  /** Which names and which part of the date each number is counted from. */
  uses: { ...label(), forms: 6 },
  mastersOwn: label('numbers'),
  debtsOwn: label('numbers'),
  challenges: per(['first', 'second', 'main', 'fourth'], label()),
  yearTitle: label('year'),
  yearIntro: label('age'),
  calendarYear: label('year'),
  monthsIntro: label(),
  transits: per(['physical', 'mental', 'spiritual'], label()),
  /** Another usual method, where it gives this reader another number. */
  others: {
    digits: label(...OTHER),
    whole: label(...OTHER),
    oneSum: label('number', ...OTHER),
    yVowel: label('number', 'other', 'own'),
    yConsonant: label('number', 'other', 'own'),
    no33: label('numbers'),
    periods: label('second', 'third'),
    birthdayYear: label('other', 'own'),
  },
  asOf: label('date', 'method', 'engine', 'content'),
};

/** What replaces a frame for the parents of a child under seven, by the file of that frame, and what only they read. */
const under7 = {
  opening: { greeting: line('name', 'date'), use: line() },
  overview: {
    ...per(['lifePath', 'expression', 'soulUrge'], line('number', 'theme')),
    soulUrgeNone: line(),
  },
  path: per(['title', 'playTitle', 'othersTitle', 'helpTitle', 'dayTitle'], label()),
  name: {
    ...per(['title', 'expressionTitle', 'soulUrgeTitle', 'personalityTitle'], label()),
    ...per(['noSoulUrge', 'noPersonality'], line()),
    intro: line('name'),
    partsIntro: line('active', 'heredity'),
    maturityIntro: line('number'),
  },
  grid: {
    ...per(['title', 'planesTitle', 'balanceTitle'], label()),
    intro: line('count'),
    passionOne: line('number', 'count'),
    passionTie: line('numbers', 'count'),
    lessonsNone: line(),
    lessonsOne: line('number'),
    lessonsMany: line('numbers'),
    planesIntro: line(),
    balanceIntro: line('number'),
  },
  cycles: {
    ...per(['title', 'laterTitle', 'challengesTitle'], label()),
    intro: line(),
    periodFirst: line('toAge', 'toYear'),
    nowFirst: line('number', 'toAge', 'toYear'),
    laterPeriod: label('number', 'fromAge', 'fromYear'),
    laterPinnacle: label('number', 'fromAge', 'fromYear'),
    /** In place of the text of a third period with the number of the second. */
    samePeriod: line(),
    challengesIntro: line('number'),
  },
  year: {
    ...per(['practiceTitle', 'playTitle', 'wordsTitle', 'peopleTitle', 'arrivalTitle'], label()),
    title: label('year'),
    intro: line('year', 'number'),
    monthsTurn: line('year', 'number'),
  },
  synthesis: {
    ...per(['title', 'helpTitle'], label()),
    leading: line('number'),
    keep: prose(60, { forms: 5 }),
  },
};

/** Titles, links, captions and the page of the method: what stands around the texts of the book. */
export const FRAME_FAMILIES: Readonly<Record<string, ShapeTree>> = {
  'frames/terms': terms,
  'frames/opening': opening,
  'frames/overview': overview,
  'frames/path': path,
  'frames/name': name,
  'frames/grid': grid,
  'frames/cycles': cycles,
  'frames/year': year,
  'frames/synthesis': synthesis,
  'frames/method': method,
  'frames/under7': under7,
};
