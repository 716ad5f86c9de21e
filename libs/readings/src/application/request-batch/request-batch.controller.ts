import { Controller, Headers, HttpCode, Inject, Post, Query, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiExtraModels, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { LineFull, Lines } from '#platform/async/lines.js';
import { within } from '#platform/async/within.js';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { NDJSON, TakesLines } from '#platform/http/json-body.interceptor.js';
import { departureOf } from '#platform/http/departure.js';
import { readIdempotencyKey } from '#platform/http/idempotency-key.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { ErrorRoom, Problem, problemBody } from '#platform/http/problem.js';
import { Requester } from '#platform/http/requester.js';
import { OwnIdempotency } from '#platform/idempotency/idempotency.interceptor.js';
import {
  RATE_POLICIES,
  RateLimited,
  rateHeaders,
  rateSubject,
} from '#platform/rate-limit/rate-limit.guard.js';
import type { RatePolicies } from '#platform/rate-limit/policies.js';
import { RateLimiter } from '#platform/rate-limit/rate-limiter.js';
import { CONFIG } from '#platform/tokens.js';
import { BATCH_MODES } from '../../contracts/events.js';
import { requestedFields } from '../../domain/reading/requested-fields.js';
import { refusedAsAsked } from '../../http/asked-refusal.js';
import { batchAnswerSchema, type BatchAnswer, type BatchItemView } from '../../http/batch.schemas.js';
import { POLL_AFTER } from '../../http/reading.schemas.js';
import {
  LARGEST_READING,
  MOST_READINGS,
  checkReadings,
  readBulk,
  refusalOfAll,
  type BulkItem,
} from '../../http/bulk-body.js';
import { BatchQuery } from '../../read-models/batch/batch.query.js';
import { ReadingsInFlight, type Admission } from '../../read-models/reading/in-flight.js';
import type { Config } from '../../settings.js';
import { CreateReadingDto, inputOf } from '../request-reading/request-reading.body.js';
import { RequestBatch, type BatchItem } from './request-batch.command.js';

/** Bytes that the errors of all readings take as JSON, at most. */
const LARGEST_BULK_ERRORS = 262_144;
/** How long a bulk waits to be counted (ms). */
const COUNTED_WITHIN_MS = 3_000;
/** Repeats of a workspace in one mode, under way or waiting: as many as the policy `create` lets in at once. */
const MOST_REPEATS = 100;
const READING = { $ref: '#/components/schemas/CreateReading' };
const MODE = { type: 'string' as const, enum: [...BATCH_MODES], examples: ['available'] };

/** Accepts many readings in one request. */
@Controller('api/v1/readings')
@Accepts({ apiKey: 'readings:write' })
@ApiTags('Readings')
export class RequestBatchController {
  /** No limit of readings in flight bounds repeats: of each workspace and mode, a process checks and answers one at a time. */
  private readonly repeats = new Lines(MOST_REPEATS);

  constructor(
    private readonly commands: CommandBus,
    private readonly batches: BatchQuery,
    private readonly inFlight: ReadingsInFlight,
    private readonly limiter: RateLimiter,
    @Inject(RATE_POLICIES) private readonly policies: RatePolicies,
    @Inject(CONFIG) private readonly config: Pick<Config, 'READINGS_IN_FLIGHT'>,
  ) {}

  @Post('bulk')
  @HttpCode(202)
  @RateLimited('create')
  @OwnIdempotency()
  @TakesLines()
  @ApiExtraModels(CreateReadingDto)
  @ApiOperation({
    operationId: 'createReadings',
    summary: 'Create up to 1,000 readings',
    description:
      'Accepts many readings with one reservation of credits. Mode `all` accepts all of them or none; mode `available` accepts those that are valid and that the credits allow, in their order. A bulk of n counts as n requests of the policy `create`, whatever becomes of its readings, and at least as one for each 16 KiB of its body. One that accepts none leaves no batch: its `batchId` is null. Repeat it with the same Idempotency-Key after a 503: it continues where it stopped.',
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['mode', 'readings'],
            additionalProperties: false,
            properties: {
              mode: { ...MODE, description: 'All readings or none, or as many as possible' },
              readings: {
                type: 'array',
                minItems: 1,
                maxItems: MOST_READINGS,
                items: READING,
                description: 'The readings, each as for `POST /api/v1/readings`',
              },
            },
          },
        },
        [NDJSON]: {
          schema: { type: 'string', description: 'One reading as JSON on each line; needs `?mode=`' },
        },
      },
    },
  })
  @ApiQuery({
    name: 'mode',
    required: false,
    description: 'Required for NDJSON, and only there',
    schema: MODE,
  })
  @Answers(202, 'The outcome of each reading', batchAnswerSchema, ['Location', 'RetryAfter'])
  @Refuses(
    'unsupported_locale',
    'unknown_product',
    'unknown_profile',
    'insufficient_credits',
    'billing_misconfigured',
  )
  async create(
    @Req() request: Request,
    @Query('mode') queryMode: string | undefined,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @Caller() caller: Principal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchAnswer> {
    const key = readIdempotencyKey(idempotencyKey);
    const isLines = request.is(NDJSON) !== false;
    const body = request.body as Buffer | undefined;
    // Before it is read: to tell its readings apart has a cost of its own.
    const byBytes = Math.ceil((body?.length ?? 1) / LARGEST_READING);
    await this.charge(caller, byBytes - 1, response);
    const { mode, readings } = readBulk(body, isLines, queryMode);
    const livemode = caller.mode === 'live';
    // A repeated bulk was admitted before. Its own readings must not keep it from its answer.
    const isRepeated = key !== null && (await this.batches.isRequested(caller.workspaceId, livemode, key));
    const departed = departureOf(response);
    const admissions = isRepeated ? [] : await this.admit(caller, readings.length);
    let accepted: readonly string[] = [];
    const answer = async (): Promise<BatchAnswer> => {
      const checked = await checkReadings(readings, CreateReadingDto, departed);
      const items = checked.map((item) => refusedAsAsked(item, caller.mode));
      const refusal = mode === 'all' ? refusalOfAll(items) : null;
      if (refusal) throw refusal;
      const requests = items.map(({ checked: one }) =>
        one instanceof Problem ? null : { ...requestedFields(one), input: inputOf(one) },
      );
      const result = await this.commands
        .execute(new RequestBatch(caller.workspaceId, livemode, mode, requests, key, by, departed))
        .catch(async (error: unknown) => {
          // The readings of a repeat are checked again, whatever becomes of it.
          if (!isRepeated) await giveBack();
          throw error;
        });
      if (result.outcome === 'different_request') throw new Problem('idempotency_key_reused');
      if (result.outcome === 'insufficient_credits' || result.outcome === 'billing_misconfigured')
        throw problemOf(result);
      const { batchId } = result;
      const room = new ErrorRoom(LARGEST_BULK_ERRORS);
      const shown = result.items.map((item, index) => itemView(item, index, items[index]!, by, room));
      if (batchId !== null)
        response.set({ Location: `/api/v1/batches/${batchId}`, 'Retry-After': POLL_AFTER });
      if (result.outcome === 'replayed') {
        // One that arrived twice at once counts once. To check one that was answered before costs as much as at first.
        if (!isRepeated) await giveBack();
        response.set('Idempotency-Replayed', 'true');
      } else accepted = shown.flatMap(({ readingId }) => readingId ?? []);
      const count = shown.filter(({ status }) => status === 'accepted').length;
      return { batchId, accepted: count, refused: shown.length - count, items: shown };
    };
    const byReadings = Math.max(readings.length - byBytes, 0);
    const giveBack = () => this.giveBack(caller, byBytes - 1 + byReadings, response);
    try {
      await this.charge(caller, byReadings, response);
      if (!isRepeated) return await answer();
      return await this.repeats.run(`${caller.workspaceId}:${livemode}`, answer);
    } catch (error) {
      throw error instanceof LineFull ? tooManyRepeats() : error;
    } finally {
      for (const [index, admission] of admissions.entries()) {
        const readingId = accepted[index];
        if (readingId === undefined) this.inFlight.withdrawn(caller.workspaceId, livemode, admission);
        else admission.readingId = readingId;
      }
    }
  }

  /** A bulk of n counts as n readings in flight, until those that are refused are known. */
  private async admit(caller: Principal, wanted: number): Promise<readonly Admission[]> {
    const { workspaceId, mode } = caller;
    const limit = this.config.READINGS_IN_FLIGHT;
    const admissions = await this.inFlight.admitMany(workspaceId, mode === 'live', limit, wanted);
    if (admissions === null)
      throw new Problem('rate_limited', {
        detail: `The batch would exceed ${limit} readings that are queued or processing; send a smaller one, or wait`,
        headers: { 'Retry-After': '10' },
      });
    return admissions;
  }

  /**
   * Takes the tokens of a bulk beyond its first one, before what they pay for: those of its bytes before it is read, and
   * those of its readings before they are checked. The headers say what is left.
   * @throws Problem when the buckets do not count them: a bulk that nobody counts would be free when they are slowest
   */
  private async charge(caller: Principal, tokens: number, response: Response): Promise<void> {
    if (tokens > 0 && !(await this.count(caller, tokens, response))) throw notCounted();
  }

  /** The tokens of a bulk that has no answer, or the answer to one that arrived at the same time. */
  private async giveBack(caller: Principal, tokens: number, response: Response): Promise<void> {
    if (tokens > 0) await this.count(caller, -tokens, response);
  }

  private async count(caller: Principal, tokens: number, response: Response): Promise<boolean> {
    const { create } = this.policies;
    const verdict = await within(COUNTED_WITHIN_MS, this.limiter.charge(rateSubject(caller), create, tokens));
    if (verdict) response.set(rateHeaders(create, verdict));
    return verdict !== null;
  }
}

type Refusal = Extract<BatchItem, { outcome: 'insufficient_credits' | 'billing_misconfigured' }>;

const problemOf = (refusal: Refusal): Problem => {
  if (refusal.outcome === 'billing_misconfigured')
    return new Problem('billing_misconfigured', {
      ...(refusal.detail !== undefined && { detail: refusal.detail }),
      headers: { 'Retry-After': '60' },
    });
  const { required, available } = refusal;
  return new Problem('insufficient_credits', {
    detail: `The readings cost ${required} credits; ${available} are available`,
    members: { required, available },
  });
};

const notCounted = (): Problem =>
  new Problem('enqueue_unavailable', {
    detail: 'The readings of the bulk could not be counted in time',
    headers: { 'Retry-After': '5' },
    isLogged: true,
  });

const tooManyRepeats = (): Problem =>
  new Problem('enqueue_unavailable', {
    detail: 'Too many repeated bulk requests of the workspace are waiting: send them one after another',
    headers: { 'Retry-After': '5' },
    isLogged: true,
  });

const itemView = (
  item: BatchItem,
  index: number,
  { line, checked }: BulkItem<unknown>,
  by: RequestContext,
  room: ErrorRoom,
): BatchItemView => {
  const place = { index, ...(line !== null && { line }) };
  if (item.outcome === 'accepted') return { ...place, status: 'accepted', readingId: item.readingId };
  const problem =
    item.outcome === 'invalid'
      ? (checked as Problem)
      : item.outcome === 'no_credits'
        ? new Problem('insufficient_credits', { detail: 'The credits went to the readings before it' })
        : problemOf(item);
  const { instance: _, requestId: __, ...body } = problemBody(problem, by.correlationId, room);
  return { ...place, status: 'refused', problem: body };
};
