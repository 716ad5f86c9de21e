import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { GetReadingSummary } from '#readings/contracts/index.js';
import { FindReversible } from '../contracts/corrections.js';
import { DOCUMENT_REFUND, DOCUMENT_REFUND_ACTOR, documentRefund } from '../domain/document-refund.js';
import type { RefundDocument } from '../processes.js';
import { CorrectionBooks, type Asked } from './corrections.js';

/** Reverses the captures of readings without a document, as two operators would. */
@Injectable()
export class DocumentRefunds {
  constructor(
    private readonly queries: QueryBus,
    private readonly books: CorrectionBooks,
  ) {}

  /**
   * Books what operators have not given back yet. Test credits come back with the next fill of their book.
   * @throws Error while the capture is not in the book, or the book refuses: the consumer then tries the event again
   */
  async book({ workspaceId, readingId, failureId, by }: RefundDocument): Promise<void> {
    const reading = await this.queries.execute(new GetReadingSummary(readingId));
    if (!reading) throw new Error(`Reading ${readingId} cannot be found yet`);
    if (!reading.livemode) return;
    const capture = await this.queries.execute(new FindReversible(workspaceId, { readingId }));
    if (!capture) throw new Error(`The credits of reading ${readingId} are not captured yet`);
    const amount = capture.reversible - capture.reversed;
    if (amount === 0) return;
    const entry = documentRefund(readingId, failureId, capture.eventId, amount);
    const asked: Asked = {
      type: 'BookCorrection',
      correctionId: '',
      approvedBy: DOCUMENT_REFUND,
      actor: DOCUMENT_REFUND_ACTOR,
      entries: [{ ...entry, expiresAt: null, grantId: null }],
    };
    const refusal = await this.books.bookOne(workspaceId, asked, by);
    if (refusal !== null) throw new Error(`The credits of reading ${readingId} cannot come back: ${refusal}`);
  }
}
