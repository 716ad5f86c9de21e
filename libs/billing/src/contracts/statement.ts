import { Query } from '#platform/cqrs/message.js';
import type { CreditsEvent } from './events.js';
import type { GrantSummary } from './messages.js';

/** How a statement is printed for its customer. */
export interface StatementPrint {
  readonly language: keyof typeof STATEMENT_WORDS;
  readonly paper: 'a4' | 'us-letter';
  /** To print; `null`: only its id is. */
  readonly workspaceName: string | null;
}

/** `none`: nothing is recorded of the month. `busy`: too many statements wait; a moment later there may be time. */
export type PrintedStatement =
  | { readonly outcome: 'printed'; readonly pdf: Uint8Array }
  | { readonly outcome: 'none' }
  | { readonly outcome: 'busy' };

/**
 * Most movements of a month to typeset: its fold takes 1 s of CPU and 30 MB. It is twenty times a month of the largest
 * plan. A busier month of the portal has its CSV file.
 */
export const LONGEST_TYPESET = 20_000;

/**
 * A month's statement as PDF/UA-1 for the workspace itself: the movements of `GetMonthlyStatement`, without the names of
 * operators, the reasons of corrections and the provider's own accounts. A thread typesets it. The portal asks for no
 * month with more than LONGEST_TYPESET movements.
 */
export class TypesetCustomerStatement extends Query<PrintedStatement> {
  constructor(
    readonly workspaceId: string,
    /** `yyyy-mm`, UTC. */
    readonly period: string,
    readonly print: StatementPrint,
  ) {
    super();
  }
}

/** What statements say to customers. Numbers come written out, and a month as “October 2026”. */
const en = {
  locale: 'en-US',
  title: (month: string) => `Credit statement, ${month}`,
  workspace: 'Workspace',
  month: 'Month (UTC)',
  state: 'State',
  closed: 'Closed',
  open: 'Not closed yet',
  opening: 'Available at the start',
  closing: 'Available at the end',
  heldAtEnd: 'Held at the end',
  lastEntry: 'Last entry',
  chain: 'Chain value',
  chainHint:
    'The chain value covers the last entry and all entries before it. The signed seal of a closed month has the same value. This file has no signature of its own.',
  units: 'Credits are whole numbers. Times are UTC.',
  unreadable: 'This entry cannot be read and moves nothing.',
  overview: 'The month at a glance',
  summary: (granted: string, used: string, expired: string, withdrawn: string) =>
    `${granted} credits were granted, readings used ${used}, ${expired} expired, and corrections withdrew ${withdrawn}.`,
  used: 'by readings',
  expired: 'Expired',
  grants: 'Grants',
  grant: 'Grant',
  grantKinds: {
    plan: 'Plan',
    pack: 'Pack',
    adjustment: 'Correction',
    test: 'Test credits',
  } satisfies Record<GrantSummary['kind'], string>,
  price: 'Price',
  atStart: 'At the start',
  granted: 'Granted',
  taken: 'To readings',
  withdrawn: 'Withdrawn',
  left: 'Left',
  movements: 'Movements',
  noMovements: 'Nothing moved in this month.',
  byDay: 'Movements by day',
  tooMany: 'There are too many movements to print one by one. The CSV file has all of them.',
  entry: 'Entry',
  when: 'When',
  day: 'Day',
  movement: 'Movement',
  movementKinds: {
    BookOpened: 'Account opened',
    SubscriptionStarted: 'Plan started',
    SubscriptionChanged: 'Plan changed',
    SubscriptionCancelled: 'Plan cancelled',
    PlanGranted: 'Credits of the plan',
    PackPurchased: 'Credits of a pack',
    CreditsReserved: 'Held for a reading',
    CreditsCaptured: 'Spent on a reading',
    CreditsReleased: 'Given back',
    CreditsAdjusted: 'Correction',
    GrantExpired: 'Expired',
    PeriodCarried: 'Month carried over',
    PeriodClosed: 'Month closed',
  } satisfies Record<CreditsEvent['type'], string>,
  available: 'Available ±',
  held: 'Held ±',
  availableAfter: 'Available',
  heldAfter: 'Held',
  reading: 'reading',
  reference: 'reference',
};

export type StatementWords = typeof en;

const fr: StatementWords = {
  locale: 'fr-FR',
  title: (month) => `Relevé de crédits, ${month}`,
  workspace: 'Espace de travail',
  month: 'Mois (UTC)',
  state: 'État',
  closed: 'Clos',
  open: 'Pas encore clos',
  opening: 'Disponibles au début',
  closing: 'Disponibles à la fin',
  heldAtEnd: 'Retenus à la fin',
  lastEntry: 'Dernière écriture',
  chain: 'Valeur de chaîne',
  chainHint:
    'La valeur de chaîne couvre la dernière écriture et toutes celles qui la précèdent. Le sceau signé d’un mois clos porte la même valeur. Ce fichier n’a pas de signature propre.',
  units: 'Les crédits sont des nombres entiers. Les heures sont en UTC.',
  unreadable: 'Cette écriture est illisible et ne change aucun solde.',
  overview: 'Le mois en bref',
  summary: (granted, used, expired, withdrawn) =>
    `${granted} crédits ont été attribués, les lectures en ont employé ${used}, ${expired} ont expiré, et des corrections en ont retiré ${withdrawn}.`,
  used: 'par des lectures',
  expired: 'Expirés',
  grants: 'Attributions',
  grant: 'Attribution',
  grantKinds: { plan: 'Abonnement', pack: 'Pack', adjustment: 'Rectification', test: 'Crédits de test' },
  price: 'Prix',
  atStart: 'Au début',
  granted: 'Attribués',
  taken: 'Aux lectures',
  withdrawn: 'Retirés',
  left: 'Restants',
  movements: 'Mouvements',
  noMovements: 'Aucun mouvement ce mois-ci.',
  byDay: 'Mouvements par jour',
  tooMany: 'Les mouvements sont trop nombreux pour être imprimés un à un. Le fichier CSV les contient tous.',
  entry: 'Écriture',
  when: 'Date',
  day: 'Jour',
  movement: 'Mouvement',
  movementKinds: {
    BookOpened: 'Compte ouvert',
    SubscriptionStarted: 'Abonnement commencé',
    SubscriptionChanged: 'Abonnement modifié',
    SubscriptionCancelled: 'Abonnement résilié',
    PlanGranted: 'Crédits de l’abonnement',
    PackPurchased: 'Crédits d’un pack',
    CreditsReserved: 'Retenus pour une lecture',
    CreditsCaptured: 'Dépensés pour une lecture',
    CreditsReleased: 'Rendus',
    CreditsAdjusted: 'Rectification',
    GrantExpired: 'Expirés',
    PeriodCarried: 'Mois reporté',
    PeriodClosed: 'Mois clos',
  },
  available: 'Disponibles ±',
  held: 'Retenus ±',
  availableAfter: 'Disponibles',
  heldAfter: 'Retenus',
  reading: 'lecture',
  reference: 'référence',
};

export const STATEMENT_WORDS = { en, fr };
