import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import type { CreditsEvent, CreditsEventOf } from '../contracts/events.js';
import { restored, type PackRefund } from '../domain/credits/pack-refunds.js';
import type { UsedCredits } from '../domain/credits/value.js';

/** Since this version, the reversal of a pack's refund says what it restores. */
const SINCE = 4;

interface Followed {
  readonly refund: Omit<PackRefund, 'cents'> & { readonly cents: number | null };
  /** Credits that came back. */
  reversed: number;
}

/**
 * Follows the refunds of packs in a book, and checks what their reversals restore. A refund takes back a pack, or what the
 * reversal of such a refund gave.
 */
export class PackRefunds {
  /** Events that gave credits of a bought pack. */
  private readonly packs = new Set<string>();
  private readonly refunds = new Map<string, Followed>();
  /** Otherwise there may be refunds from before. */
  private isWhole = false;

  /** @param used what the event took from grants @returns whether what it restores follows from the refund */
  see(event: Recorded<CreditsEvent>, used: readonly UsedCredits[]): boolean {
    if (event.type === 'BookOpened') this.isWhole = true;
    if (event.type === 'PackPurchased') this.packs.add(event.id);
    if (event.type !== 'CreditsAdjusted') return true;
    const { amount, reversesEventId, allocations, restores } = event.data;
    const isRight = this.isRight(event);
    if (restores) this.packs.add(event.id);
    if (reversesEventId === null) return isRight;
    const reversed = this.refunds.get(reversesEventId);
    if (reversed) reversed.reversed += amount;
    if (amount < 0 && this.packs.has(reversesEventId)) {
      const grantIds = allocations.map(({ grantId }) => grantId);
      this.refunds.set(event.id, {
        refund: { grantIds, credits: -amount, cents: centsOf(used) },
        reversed: 0,
      });
    }
    return isRight;
  }

  /** The refund that this event is; `null`: none, or of unknown value. */
  of(eventId: string): PackRefund | null {
    const { refund } = this.refunds.get(eventId) ?? {};
    return refund && refund.cents !== null ? { ...refund, cents: refund.cents } : null;
  }

  private isRight({ data, metadata }: Recorded<CreditsEventOf<'CreditsAdjusted'>>): boolean {
    const { amount, reversesEventId, restores } = data;
    if (metadata.schemaVersion < SINCE || reversesEventId === null || amount < 0) return !restores;
    const followed = this.refunds.get(reversesEventId);
    if (!followed) return !restores || !this.isWhole;
    const { grantIds, credits, cents } = followed.refund;
    const priceCents = restores?.priceCents ?? 0;
    const right =
      cents === null
        ? { grantIds, priceCents }
        : restored({ grantIds, credits, cents }, followed.reversed, amount);
    return restores !== undefined && canonicalJson(restores) === canonicalJson(right);
  }
}

const centsOf = (used: readonly UsedCredits[]): number | null =>
  used.reduce<number | null>((sum, { cents }) => (sum === null || cents === null ? null : sum + cents), 0);
