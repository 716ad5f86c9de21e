import { Inject, Injectable } from '@nestjs/common';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';

/** An attempt at the delivery of an event. */
export interface AnsweredAttempt {
  readonly deliveryId: string;
  /** From 1. */
  readonly attempt: number;
  /** `null` for a notice. */
  readonly readingId: string | null;
}

/**
 * Seals what receivers answered to failed attempts with the key of the reading. A receiver may repeat the external id, or
 * tell what it knows of the person. So an answer ends with the key, in every table, log and backup.
 */
@Injectable()
export class AnswerVault {
  constructor(@Inject(SubjectKeys) private readonly keys: Pick<SubjectKeys, 'find'>) {}

  /**
   * @returns `null` when the answer cannot be sealed, and so is not stored: it is about a notice, the reading was erased, or
   * its key cannot be had now. No delivery waits for a key.
   */
  async seal(of: AnsweredAttempt, answer: Uint8Array | null): Promise<Buffer | null> {
    if (answer === null || answer.length === 0 || of.readingId === null) return null;
    const key = await this.keys.find(of.readingId).catch(() => null);
    return key?.seal(placeOf(of), answer) ?? null;
  }

  /** @returns `null` when the reading was erased. @throws KeysUnavailable */
  async open(of: AnsweredAttempt, sealed: Uint8Array): Promise<Buffer | null> {
    const key = of.readingId === null ? null : await this.keys.find(of.readingId);
    return key?.open(placeOf(of), sealed) ?? null;
  }
}

const placeOf = ({ deliveryId, attempt }: AnsweredAttempt): string =>
  `webhook-answer|${deliveryId}|${attempt}`;
