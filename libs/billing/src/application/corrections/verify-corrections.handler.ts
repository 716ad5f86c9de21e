import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { concernsCorrections, CorrectionsVerifier } from '../../audit/corrections/verify-corrections.js';
import { VerifyCorrections, type CorrectionsReport } from '../../contracts/corrections.js';
import { visitLog } from '../audit/read.js';
import { withCauses } from '../audit/signed-for.js';

@QueryHandler(VerifyCorrections)
export class VerifyCorrectionsHandler implements IQueryHandler<VerifyCorrections> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute({ rootKeys, progress }: VerifyCorrections): Promise<CorrectionsReport> {
    const verifier = new CorrectionsVerifier(rootKeys);
    const concerned: StoredEvent[] = [];
    const visit = (event: StoredEvent): void => {
      if (concernsCorrections(event)) concerned.push(event);
    };
    await visitLog(this.store, visit, progress);
    for (const event of await withCauses(this.store, concerned)) verifier.see(event);
    return verifier.report();
  }
}
