import { Inject } from '@nestjs/common';
import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { setTimeout as delay } from 'node:timers/promises';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import { PrepareTrialReading, type TrialReadingResult } from '../contracts/commands.js';
import { ReadingQuery } from '../read-models/reading.query.js';
import { readingView } from '../read-models/reading-view.js';
import { RequestReading, type ReadingRequest } from './request-reading.js';

/** How long a caller waits for a new test reading, and how often it is looked up (ms). */
const WAIT_MS = 10_000;
const LOOK_AGAIN_MS = 100;

/** Nobody. */
const INVENTED: ReadingRequest = {
  productId: 'theme',
  profileId: 'evan',
  locale: 'en-US',
  input: {
    name: { firstNames: ['Ada'], middleNames: ['May'], lastNames: ['Example'] },
    dateOfBirth: '1990-04-12',
    grammaticalProfile: { subjectGender: 'feminine' },
  },
};

@CommandHandler(PrepareTrialReading)
export class PrepareTrialReadingHandler implements ICommandHandler<PrepareTrialReading> {
  constructor(
    private readonly commands: CommandBus,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly readings: ReadingQuery,
  ) {}

  async execute({ workspaceId, by }: PrepareTrialReading): Promise<TrialReadingResult> {
    const known = await this.newest(workspaceId);
    if (known) return known;
    // Requests at the same time share a reading. One that failed is not asked for again in the next hour.
    const key = `trial-reading:${instant(this.clock.now()).slice(0, 13)}`;
    const request = (idempotencyKey: string | null) =>
      this.commands.execute(new RequestReading(workspaceId, false, INVENTED, idempotencyKey, by));
    let requested = await request(key);
    if (requested.outcome === 'erased' || requested.outcome === 'different_request')
      requested = await request(null);
    if (requested.outcome === 'insufficient_credits') return requested;
    if (requested.outcome === 'billing_misconfigured') return { outcome: 'billing_misconfigured' };
    const givesUpAt = performance.now() + WAIT_MS;
    while (performance.now() < givesUpAt) {
      const made = await this.newest(workspaceId);
      if (made) return made;
      await delay(LOOK_AGAIN_MS);
    }
    return { outcome: 'not_ready' };
  }

  private async newest(workspaceId: string): Promise<TrialReadingResult | null> {
    const row = await this.readings.newestPublishedTest(workspaceId);
    if (!row) return null;
    const { artifactId, version, publishedAt } = readingView(row, null).document;
    return artifactId !== null && version !== null && publishedAt !== null
      ? { outcome: 'ready', readingId: row.reading_id, document: { version, artifactId, publishedAt } }
      : null;
  }
}
