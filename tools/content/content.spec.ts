import { CONTENT_VERSION } from '#publishing/contracts/content-version.js';
import { describe, expect, it } from '@jest/globals';
import { loadBook, textsOf } from './book-texts.js';
import { brokenRules, keepsAgreement } from './lint.js';

const french = textsOf(loadBook('fr-FR'));
const english = textsOf(loadBook('en-US'));

describe('The content', () => {
  it('has no gap in either language', () => {
    for (const locale of ['fr-FR', 'en-US'] as const) {
      expect(loadBook(locale).flatMap(({ file, gaps }) => gaps.map((path) => `${file} ${path}`))).toEqual([]);
    }
  });

  it('bears a version', () => {
    expect(CONTENT_VERSION).toMatch(/^\d{4}\.\d{2}\.\d+$/);
  });

  it('says nothing alike in both languages', () => {
    const inFrench = new Set(french.map(({ forms }) => forms.neutral));
    expect(english.filter(({ forms: { neutral } }) => neutral.length > 20 && inFrench.has(neutral))).toEqual(
      [],
    );
  });

  it('writes French agreement out, and rewrites the neutral form instead of shortening another', () => {
    const gendered = french.filter(({ forms }) => forms.feminine !== forms.masculine);
    expect(gendered.map(({ at }) => at)).toContain('frames/opening born');
    for (const { forms } of gendered) {
      expect(forms.neutral).not.toBe(forms.feminine);
      expect(forms.neutral).not.toBe(forms.masculine);
    }
  });
});

describe('The lint', () => {
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
    ['agreement with « on vous croit »', 'On vous croyait servi.'],
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
    ['elision before a name', 'Prenons les lettres de Odette Guérin.'],
    ['elision before a name', 'De Odette Guérin, on tire trois sommes.'],
    ['elision before a name', 'Prenons les lettres de Yvonne Dupuis.'],
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

  it('sees a neutral form that keeps a word of another', () => {
    const forms = {
      feminine: 'Prévenue, vous tenez.',
      masculine: 'Prévenu, vous tenez.',
      neutral: 'Prévenu, on tient.',
    };
    expect(keepsAgreement(forms)).toBe(true);
    expect(keepsAgreement({ ...forms, neutral: 'Une fois au courant, on tient.' })).toBe(false);
  });
});
