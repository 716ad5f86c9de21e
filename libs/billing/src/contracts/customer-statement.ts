import { Query } from '#platform/cqrs/message.js';
import type { STATEMENT_WORDS } from './statement-words.js';

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
 * plan. A busier month has its CSV file, and the operator's PDF.
 */
export const LONGEST_TYPESET = 20_000;

/**
 * A month's statement as PDF/UA-1 for the workspace itself: the movements of `GetMonthlyStatement`, without the names of
 * operators, the reasons of corrections and the provider's own accounts. A thread typesets it. Who asks makes sure that the
 * month has no more than LONGEST_TYPESET movements.
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
