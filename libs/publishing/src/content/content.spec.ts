import { describe, expect, it } from '@jest/globals';
import type { Catalog } from './catalog-schema.js';
import { catalogFor } from './catalog.js';
import { brokenRules, lintCatalog, messagesOf } from './lint.js';
import { CONTENT_VERSION } from './version.js';

const french = messagesOf(catalogFor('fr-FR'));
const english = messagesOf(catalogFor('en-US'));

describe('The content', () => {
  it('has the same keys in both languages', () => {
    expect(english.map(([path]) => path).sort()).toEqual(french.map(([path]) => path).sort());
    expect(french.length).toBeGreaterThan(250);
  });

  it('bears a version', () => {
    expect(CONTENT_VERSION).toMatch(/^\d{4}\.\d{2}\.\d+$/);
  });

  it('says nothing twice', () => {
    for (const messages of [french, english]) {
      const long = messages.map(([, forms]) => forms.neutral).filter((form) => form.length > 40);
      expect(long.filter((form, index) => long.indexOf(form) !== index)).toEqual([]);
    }
  });

  it('says nothing alike in both languages', () => {
    const inFrench = new Set(french.map(([, forms]) => forms.neutral));
    expect(english.filter(([, { neutral }]) => neutral.length > 20 && inFrench.has(neutral))).toEqual([]);
  });

  it('needs no agreement in English', () => {
    expect(english.filter(([, forms]) => forms.feminine !== forms.masculine)).toEqual([]);
  });
});

describe('The length of a text', () => {
  const words = (text: string): number => text.match(/[\p{L}\p{N}]+(?:[’'-][\p{L}\p{N}]+)*/gu)?.length ?? 0;
  const lengths = (prefix: string, locale: 'fr-FR' | 'en-US') =>
    messagesOf(catalogFor(locale))
      .filter(([path]) => path.startsWith(prefix) && !path.endsWith('.young'))
      .map(([path, { neutral }]) => ({ path, count: words(neutral) }));

  // prettier-ignore
  it.each([
    ['life-path.3.', 'whole', 420, 700], ['life-path.7.', 'whole', 420, 700], ['life-path.11.', 'whole', 420, 700],
    ['expression.5.', 'whole', 250, 415],
    ['pairs.soul.', 'each', 50, 115], ['pairs.path.', 'each', 30, 115],
    ['synthesis.dominant.', 'each', 45, 105], ['threads.tension.', 'each', 60, 125], ['threads.threshold.', 'each', 60, 125],
  ] as const)('of %s (%s) is from %i to %i words', (prefix, unit, least, most) => {
    for (const locale of ['fr-FR', 'en-US'] as const) {
      const parts = lengths(prefix, locale);
      const whole = [{ path: prefix, count: parts.reduce((sum, { count }) => sum + count, 0) }];
      const measured = unit === 'whole' ? whole : parts;
      expect(measured.filter(({ count }) => count < least || count > most)).toEqual([]);
      expect(parts.length).toBeGreaterThan(0);
    }
  });
});

describe('French agreement', () => {
  const gendered = french.filter(([, forms]) => forms.feminine !== forms.masculine);
  const words = (text: string): string[] => text.split(/[\s\u00A0\u202F]+/);

  it('is written out where a sentence agrees with its reader', () => {
    expect(gendered.map(([path]) => path)).toContain('frames.born');
    expect(gendered.length).toBeGreaterThan(10);
  });

  it('rewrites the neutral form instead of shortening another', () => {
    for (const [, forms] of gendered) {
      expect(forms.neutral).not.toBe(forms.feminine);
      expect(forms.neutral).not.toBe(forms.masculine);
    }
  });

  it('changes nothing but the words that agree', () => {
    // The archetypes are nouns with their article; a noun may change its ending (bâtisseuse, bâtisseur).
    for (const [path, { feminine, masculine }] of gendered) {
      const [left, right] = [words(feminine), words(masculine)];
      expect([path, left.length]).toEqual([path, right.length]);
      left.forEach((word, index) => {
        const other = right[index] ?? '';
        expect(word[0]?.toLowerCase()).toBe(other[0]?.toLowerCase());
      });
    }
  });
});

describe('The lint', () => {
  it.each(['fr-FR', 'en-US'] as const)('finds no fault in %s', (locale) => {
    expect(lintCatalog(locale, catalogFor(locale))).toEqual([]);
  });

  it.each([
    ['health', 'On y voit une dépression.'],
    ['money or law', 'Il faut investir.'],
    ['death', 'La mort rôde.'],
    ['promise', 'Vous rencontrerez quelqu’un.'],
    ['religion or origin', 'C’est votre karma.'],
    ['jargon', 'Une belle énergie vous porte.'],
    ['change of name', 'Il faudrait changer de nom.'],
    ['exclamation', 'Bravo\u202F!'],
    ['space before ; ? !', 'Vraiment?'],
    ['space before :', 'Voici : cela.'],
    ['space inside « »', '«Bonjour»'],
    ['straight quote or three points', "L'air"],
    ['œ', 'Un coeur large.'],
    ['agreement after a verb of state', 'Vous êtes prudent.'],
    ['agreement after a verb of state', 'Vous restez plus attentif que les autres.'],
    ['agreement after a verb of state', 'Vous êtes seul.'],
    ['agreement with « vous » as an object', 'Ce qui vous a formé reste.'],
    ['agreement of « vous rend »', 'Cela vous rend précieux.'],
    ['agreement after a verb of state', 'Vous paraissez toujours très sûr.'],
    ['agreement after a verb of state', 'Vous passez pour prudent.'],
    ['agreement with « on vous croit »', 'On vous croit distant.'],
    ['agreement of « vous rend »', 'Ce silence vous laisse inquiet.'],
    ['agreement of an infinitive', 'Vous parlez sans être compris.'],
    ['agreement of an infinitive', 'Il suffit d’avoir l’air d’être pressé.'],
    ['agreement at the head of a clause', 'Né un 15 juin, vous aimez l’été.'],
    ['agreement at the head of a clause', 'C’est ainsi\u00A0: curieux et patient, vous cherchez.'],
    ['noun for the reader', 'Cela fait de vous un bâtisseur.'],
    ['noun for the reader', 'Vous êtes la première.'],
    ['« vous seul »', 'Cela dépend de vous seule.'],
    ['two genders in one word', 'Vous êtes né(e).'],
    ['English', 'Voici the question.'],
    ['« tu »', 'Et toi, que veux-tu\u202F?'],
    ['health', 'Un remède existe.'],
    ['money or law', 'Passez chez le notaire.'],
    ['death', 'Le deuil viendra.'],
    ['promise', 'Vous obtiendrez ce poste.'],
    ['promise', 'En 2027, un ami viendra et vous partirez.'],
    ['what others intend', 'Un proche vous trompe.'],
    ['religion or origin', 'Dans une vie passée, c’était vrai.'],
    ['quotes of another language', 'Il dit “oui”.'],
    ['œ', 'Une manoeuvre, un noeud.'],
    ['space after a number', 'À 32 ans, on recommence.'],
    ['ordinal', 'Le 2ème jour.'],
    ['ordinal', 'Le 1 janvier.'],
    ['dash without spaces', 'Un détour—long.'],
    ['elision', 'Demandez si il vient.'],
    ['elision', 'Ce que on voit.'],
    ['word twice', 'Il y a de de la place.'],
  ])('names the fault in French: %s', (rule, text) => {
    expect(brokenRules('fr-FR', text)).toContain(rule);
  });

  it.each([
    ['health', 'It heals.'],
    ['money or law', 'You should invest.'],
    ['death', 'Someone dies.'],
    ['promise', 'You will meet someone.'],
    ['religion or origin', 'It is your karma.'],
    ['jargon', 'A high vibration.'],
    ['change of name', 'You should change your name.'],
    ['exclamation', 'Well done!'],
    ['space before punctuation', 'Well , yes.'],
    ['foreign or straight quote, three points', "It's"],
    ['punctuation outside the quote', 'He said “no”.'],
    ['French', 'It is très chic, dans the air.'],
    ['health', 'There is a remedy.'],
    ['money or law', 'Take out a loan.'],
    ['death', 'You go dead quiet.'],
    ['promise', 'You’ll get what you want.'],
    ['promise', 'In 2027 you will move.'],
    ['what others intend', 'Somebody may betray you.'],
    ['religion or origin', 'It comes from a former life.'],
    ['dash with spaces', 'A detour — long.'],
    ['digit at the head of a sentence', 'One waits. 3 is a number.'],
    ['word twice', 'It is the the one.'],
    ['British spelling', 'A neighbour in the centre.'],
    ['British spelling', 'You organise everything.'],
  ])('names the fault in English: %s', (rule, text) => {
    expect(brokenRules('en-US', text)).toContain(rule);
  });

  it('lets a reader be sensible, calm or free without a form for each gender', () => {
    expect(brokenRules('fr-FR', 'Vous êtes libre et vous restez calme.')).toEqual([]);
  });

  it.each([
    'Au fond, vous voulez choisir.',
    'On vous croit dans la lune, et vous savez qui appeler.',
    'Ce qui compte pour vous vous suit.',
    'Demandez « et toi, que veux-tu\u202F?\u00A0»',
    'On aime tenir parole, on vous sait habile.',
  ])('lets a sentence agree with nobody: %s', (text) => {
    expect(brokenRules('fr-FR', text.replace('« ', '«\u00A0'))).toEqual([]);
  });

  it('sees a neutral form that takes its word from the name of an archetype', () => {
    const archetype = { feminine: 'La bâtisseuse', masculine: 'Le bâtisseur', neutral: 'L’art de bâtir' };
    const message = {
      feminine: 'Prévenue, elle.',
      masculine: 'Prévenu, lui.',
      neutral: 'On bâtit en bâtisseur.',
    };
    const catalog = { numbers: { archetype }, terms: { number: message } } as unknown as Catalog;
    expect(lintCatalog('fr-FR', catalog)).toEqual([
      { path: 'terms.number', rule: 'neutral form keeps an agreeing word', text: message.neutral },
    ]);
  });

  it('also checks the texts for young readers', () => {
    const forms = { feminine: 'Calme.', masculine: 'Calme.', neutral: 'Calme.' };
    const young = { feminine: 'Bravo\u202F!', masculine: 'Bravo\u202F!', neutral: 'Bravo\u202F!' };
    const catalog = { terms: { number: { ...forms, young } } } as unknown as Catalog;
    expect(lintCatalog('fr-FR', catalog).map(({ path, rule }) => [path, rule])).toEqual([
      ['terms.number.young', 'exclamation'],
    ]);
  });

  it('sees a neutral form that keeps a word of another', () => {
    const message = {
      feminine: 'Prévenue, vous tenez.',
      masculine: 'Prévenu, vous tenez.',
      neutral: 'Prévenu, on tient.',
    };
    const catalog = { terms: { number: message } } as unknown as Catalog;
    expect(lintCatalog('fr-FR', catalog).map(({ path }) => path)).toEqual(['terms.number']);
  });
});
