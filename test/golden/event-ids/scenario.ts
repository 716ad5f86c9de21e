import { CancelSubscription, PurchasePack, SubscribeToPlan } from '#billing/contracts/index.js';
import { CreditBooks } from '#billing/application/credit-books.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { causedBy, requestedBy } from '#event-sourcing/core/request-context.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { PublishDocumentJob } from '#publishing/application/publish-document.job.js';
import {
  GenerateReadingJob,
  InputUnprocessable,
  ReadingTimers,
} from '#readings/application/generate-reading.js';
import { RequestReading } from '#readings/application/request-reading.js';
import { AbandonReading, EraseReading, readingJobAfter } from '#readings/contracts/index.js';
import { RequestedDeliveries } from '#webhooks/http/deliveries.js';
import { Endpoints, EndpointStreams } from '#webhooks/application/endpoints.js';
import { EnableWebhookEndpoint } from '#webhooks/contracts/index.js';
import { IssueApiKey, OpenWorkspace, RevokeApiKey, RotateApiKey } from '#workspaces/contracts/index.js';
import { adjustment } from '../../../libs/billing/test/adjustment.js';
import type { Service } from './service.js';

const DAY_MS = 86_400_000;
const KEY = {
  label: 'production',
  mode: 'live',
  scopes: ['readings:read'],
  networks: [],
  expiresAt: null,
} as const;

const byOperator = (request: string) => requestedBy('operator:ada', request);
const byOwner = (request: string) => requestedBy('user:owner', request);

const correction = adjustment({
  adjustmentId: 'adj-7',
  amount: -5,
  reason: 'correction',
  approvedBy: 'finance',
});

/** Every use case on every kind of stream, one step each. Add new steps at the end. */
export const scenario = (service: Service): Readonly<Record<string, () => Promise<unknown>>> => {
  const { commands, store, clock, calculation, nest } = service;
  const owner = () => ownRequest('user:owner');
  const operator = () => ownRequest('operator:ada');
  let ws = '';
  let keyId = '';
  let endpointId = '';
  const access = () => ({ workspaceId: ws, sees: ['live', 'test'] as const });
  const endpoints = nest.get(Endpoints);
  const books = nest.get(CreditBooks);
  const readings: string[] = [];
  const orderOf = (key: string) => ({
    productId: 'theme',
    profileId: 'evan',
    locale: 'fr-FR' as const,
    input: {
      name: { firstNames: [key], middleNames: [], lastNames: ['Lefèvre'] },
      dateOfBirth: '1990-04-12',
      grammaticalProfile: { subjectGender: 'feminine' },
    },
  });
  const request = async (key: string): Promise<void> => {
    const result = await commands.execute(
      new RequestReading(ws, true, orderOf(key), key, requestedBy('apiKey:k1', `req_${key}`)),
    );
    if (result.outcome !== 'accepted') throw new Error(`The request was answered ${result.outcome}`);
    readings.push(result.reading.readingId);
  };
  const issue = async (): Promise<void> => {
    const issued = await commands.execute(new IssueApiKey(ws, KEY, owner()));
    if (issued.outcome === 'issued') ({ keyId } = issued);
  };
  /** The job that the last event of this type added. */
  const jobAfter = (type: string) => readingJobAfter(store.log.findLast((event) => event.type === type)!);
  const generate = (after: string) => nest.get(GenerateReadingJob).run(jobAfter(after));
  const generateFailing = async (failure: Error): Promise<void> => {
    calculation.failure = failure;
    await generate('ReadingRequested');
    calculation.failure = null;
  };
  const later = (milliseconds: number): void => {
    clock.at += milliseconds;
  };

  return {
    'a workspace is opened': async () => {
      ({ workspaceId: ws } = await commands.execute(new OpenWorkspace('Atelier', operator())));
    },
    'a key is issued': issue,
    'a pack is bought': () => commands.execute(new PurchasePack(ws, 'sprint', 'INV-7', byOperator('buy'))),
    'a plan is subscribed to': () =>
      commands.execute(new SubscribeToPlan(ws, 'studio', null, byOperator('subscribe'))),
    'the plan is changed': () =>
      commands.execute(new SubscribeToPlan(ws, 'access_local', 'APPROVAL-7', byOperator('change'))),
    'credits are adjusted': () =>
      books.execute(ws, (now) => ({ ...correction, now }), 'adjust:adj-7', byOperator('adjust')),
    'a reading is requested': () => request('one'),
    'a reading is delayed': () => nest.get(ReadingTimers).delay(jobAfter('ReadingRequested')),
    'an attempt fails': () => generateFailing(new Error('failed')),
    'the next attempt completes it, and its credits are captured': async () => {
      later(10_000);
      await generate('ReadingAttemptFailed');
    },
    'it is published': () => nest.get(PublishDocumentJob).run(jobAfter('ReadingCompleted')),
    'it is erased': () => commands.execute(new EraseReading(readings[0]!, ws, owner())),
    'a reading is requested that cannot be processed': () => request('two'),
    'it fails, and its credits are released': () => generateFailing(new InputUnprocessable('hopeless')),
    'a reading is requested that is not generated': () => request('three'),
    'it times out': () => nest.get(ReadingTimers).timeOut(jobAfter('ReadingRequested')),
    'a reading is requested that is completed': () => request('four'),
    'it is completed': () => generate('ReadingRequested'),
    'its key is lost, and it is not published': async () => {
      await nest.get(SubjectKeys).destroy(readings.at(-1)!);
      await nest.get(PublishDocumentJob).run(jobAfter('ReadingCompleted'));
    },
    'an unfinished reading is requested': () => request('five'),
    'it is erased by the operator, and its credits are released': () =>
      commands.execute(new EraseReading(readings.at(-1)!, ws, operator())),
    'a reservation without a reading is abandoned': () =>
      commands.execute(new AbandonReading(RESERVED, ws, RESERVATION, true, 'no reading in time')),
    'a webhook endpoint is created': async () => {
      const created = await endpoints.create(
        { workspaceId: ws },
        { url: 'https://192.0.2.10/', events: null, modes: ['live'], description: 'first' },
        byOwner('req_created'),
      );
      if (created.outcome === 'created') ({ endpointId } = created.endpoint);
    },
    'the endpoint is changed': () =>
      endpoints.change(
        endpointId,
        access(),
        { description: 'second', events: ['reading.published'] },
        null,
        byOwner('req_changed'),
      ),
    'its secret is rotated': () => endpoints.rotate(endpointId, access(), 3_600, byOwner('req_rotated')),
    'it is disabled after a failed delivery': () =>
      nest.get(EndpointStreams).execute(
        endpointId,
        { type: 'DisableEndpoint', reason: 'failing', url: 'https://192.0.2.10/' },
        {
          workspaceId: ws,
          by: causedBy({ correlationId: DELIVERY, causationId: DELIVERY }, 'webhooks.dispatcher'),
          intent: `disable|${DELIVERY}|3`,
        },
      ),
    'it is enabled by the operator': () =>
      commands.execute(new EnableWebhookEndpoint(endpointId, ws, byOperator('req_enabled'))),
    'a delivery that it never had is not sent again': () =>
      nest.get(RequestedDeliveries).sendAgain(endpointId, DELIVERY, { workspaceId: ws, sees: ['live'] }),
    'it is deleted': () => endpoints.delete(endpointId, access(), null, byOwner('req_deleted')),
    'the plan is cancelled': () => commands.execute(new CancelSubscription(ws, byOperator('cancel'))),
    'a month ends, and what is due is recorded': async () => {
      later(70 * DAY_MS);
      const cause = `due:${ws}:later`;
      const by = causedBy({ correlationId: cause, causationId: cause }, 'billing.clock');
      await books.recordDue(ws, by);
    },
    'the key is revoked': () => commands.execute(new RevokeApiKey(keyId, 'leaked', owner(), ws)),
    'another key is issued': issue,
    'it is rotated': async () => {
      const rotated = await commands.execute(new RotateApiKey(keyId, 60, owner(), ws));
      if (rotated.outcome === 'rotated') ({ keyId } = rotated);
    },
    'its successor is rotated without overlap': () =>
      commands.execute(new RotateApiKey(keyId, 0, owner(), ws)),
  };
};

const RESERVED = '5b0c8f9e-6a5d-8c3b-9f2e-1d4c7b6a5e8f';
const RESERVATION = '0e1d2c3b-4a59-5687-9786-a5b4c3d2e1f0';
const DELIVERY = '3c2b1a09-f8e7-4d6c-ab4a-392817061524';
