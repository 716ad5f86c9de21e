import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CorrectionsVerifier } from '../../audit/corrections/verify-corrections.js';
import { VerifyCorrections, type CorrectionsReport } from '../../contracts/corrections.js';
import { visitLog } from '../audit/read.js';

@QueryHandler(VerifyCorrections)
export class VerifyCorrectionsHandler implements IQueryHandler<VerifyCorrections> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute({ rootKeys, progress }: VerifyCorrections): Promise<CorrectionsReport> {
    const verifier = new CorrectionsVerifier(rootKeys);
    await visitLog(this.store, (event) => verifier.see(event), progress);
    return verifier.report();
  }
}
