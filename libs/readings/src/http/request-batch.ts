import { Controller, Get, Headers, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiExtraModels, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { LanesFull, Lines } from '#platform/work/lanes.js';
import { within } from '#platform/async/within.js';
import { Accepts, Caller, requireStanding, type Principal } from '#platform/auth/authentication.js';
import { seesMode } from '#platform/auth/livemode.js';
import { NDJSON, TakesLines } from '#platform/http/json-body.interceptor.js';
import { readIdempotencyKey } from '#platform/http/idempotency-key.js';
import { apiSchema, count, instant, uuid } from '#platform/http/openapi/api-schema.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { ErrorRoom, Problem, problemBody } from '#platform/http/problem.js';
import { Requester } from '#platform/http/requester.js';
import { OwnIdempotency } from '#platform/idempotency/idempotency.interceptor.js';
import { RateLimiter, type RatePolicies } from '#platform/rate-limit/rate-limiter.js';
import {
  RATE_POLICIES,
  rateHeaders,
  RateLimited,
  rateSubject,
} from '#platform/rate-limit/rate-limit.guard.js';
import { CONFIG } from '#platform/tokens.js';
import { type BatchItem, RequestBatch } from '../application/request-batch.js';
import { BATCH_MODES } from '../contracts/events.js';
import { requestedFields } from '../domain/reading-input.js';
import { BatchQuery } from '../read-models/batch.query.js';
import { type Admission, ReadingsInFlight } from '../read-models/in-flight.js';
import type { Config } from '../settings.js';
import {
  type BulkItem,
  checkReadings,
  LARGEST_READING,
  MOST_READINGS,
  readBulk,
  refusalOfAll,
} from './bulk-body.js';
import { POLL_AFTER } from './reading.schemas.js';
import { CreateReadingDto, inputOf, refusedAsAsked, tooManyInFlight, unpaid } from './request-reading.js';

const EXAMPLE_BATCH = '0d9b7c1e-2f64-8a35-9c1d-6e0f4b2a7d18';

const batchId = () => uuid().describe('Names the batch in `/api/v1/batches/{batchId}`');

const itemSchema = z.object({
  index: count().describe('Its place in the request, from 0'),
  line: z.int().min(1).optional().describe('Only for NDJSON: its line, from 1'),
  status: z.enum(['accepted', 'refused']).describe('What became of this reading'),
  readingId: uuid().optional().describe('Only for an accepted reading'),
  problem: z
    .object({
      type: z.string().describe('`urn:problem:` and the code'),
      code: z.string().describe('The cause, from the list of all problems'),
      title: z.string().describe('The cause in words'),
      status: z.int().describe('The status that the reading would have got alone'),
      detail: z.string().optional().describe('What is wrong in this case'),
      errors: z
        .array(
          z.object({
            pointer: z.string().describe('JSON pointer into the reading'),
            code: z.string().describe('What is wrong with the field'),
            detail: z.string().describe('The same in words'),
          }),
        )
        .readonly()
        .optional()
        .describe('The faulty fields'),
      errorsOmitted: z.int().optional().describe('How many more were found than `errors` has room for'),
    })
    .optional()
    .describe('Only for a refused reading'),
});

const batchAnswer = z.object({
  batchId: batchId()
    .nullable()
    .describe('Names the batch in `/api/v1/batches/{batchId}`; null when no reading was accepted'),
  accepted: count().describe('Readings that were accepted'),
  refused: count().describe('Readings that were refused; nothing of them is stored'),
  items: z.array(itemSchema).readonly().describe('Each reading in the order of the request'),
});

type BatchItemView = z.infer<typeof itemSchema>;
export type BatchAnswer = z.infer<typeof batchAnswer>;

const batchAnswerSchema = apiSchema(
  'BatchAnswer',
  batchAnswer,
  'The outcome of a bulk request, reading by reading.',
  {
    batchId: EXAMPLE_BATCH,
    accepted: 1,
    refused: 1,
    items: [
      { index: 0, status: 'accepted', readingId: '7d0c2b5e-3c57-8f27-9d1c-0a3f6e2b9c41' },
      {
        index: 1,
        status: 'refused',
        problem: {
          type: 'urn:problem:validation_failed',
          code: 'validation_failed',
          title: 'Request is invalid',
          status: 400,
          detail: '1 field is invalid',
          errors: [
            { pointer: '/dateOfBirth', code: 'invalid_date', detail: 'must be a calendar date YYYY-MM-DD' },
          ],
        },
      },
    ],
  },
);

const batchSchema = apiSchema(
  'Batch',
  z.object({
    batchId: batchId(),
    livemode: z.boolean().describe('False for a batch of test readings'),
    mode: z.enum(BATCH_MODES).describe('What the request asked for'),
    items: count().describe('Readings in the request'),
    accepted: count().describe('Readings that were accepted'),
    refused: count().describe('Readings that were refused'),
    states: z
      .object({
        queued: count().describe('Readings in state `queued`'),
        processing: count().describe('Readings in state `processing`'),
        completed: count().describe('Readings in state `completed`'),
        failed: count().describe('Readings in state `failed`'),
      })
      .describe('The accepted readings by state'),
    endedAt: instant()
      .nullable()
      .describe(
        'When each accepted reading had ended: published, failed or erased. The notice `batch.ended` follows. null before',
      ),
  }),
  'A batch and the states of its readings.',
  {
    batchId: EXAMPLE_BATCH,
    livemode: true,
    mode: 'available',
    items: 2,
    accepted: 1,
    refused: 1,
    states: { queued: 0, processing: 0, completed: 1, failed: 0 },
    endedAt: '2026-04-04T09:30:00.000Z',
  },
);

const NAMED_BATCH = {
  description: 'The `batchId` from the response to its creation',
  example: EXAMPLE_BATCH,
};

/** Bytes that the errors of all readings take as JSON, at most. */
const LARGEST_BULK_ERRORS = 262_144;
/** How long a bulk waits to be counted (ms). */
const COUNTED_WITHIN_MS = 3_000;
/** Repeats of a workspace in one mode, under way or waiting: as many as the policy `create` lets in at once. */
const MOST_REPEATS = 100;
const READING = { $ref: '#/components/schemas/CreateReading' };
const MODE = { type: 'string' as const, enum: [...BATCH_MODES], examples: ['available'] };

/** Each reading of a batch takes a digest, and a look at its row. */
const COUNT_COST = 5;

/** Accepts many readings in one request, and shows what became of them. */
@Controller('api/v1')
@ApiTags('Readings')
export class BatchesController {
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

  @Post('readings/bulk')
  @Accepts({ apiKey: 'readings:write' })
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
    const byBytes = Math.max(1, Math.ceil((body?.length ?? 0) / LARGEST_READING));
    await this.charge(caller, byBytes - 1, response);
    const { mode, readings } = readBulk(body, isLines, queryMode);
    const { workspaceId } = caller;
    const livemode = caller.mode === 'live';
    // A repeated bulk was admitted before. Its own readings must not keep it from its answer.
    const isRepeated = key !== null && (await this.batches.isRequested(workspaceId, livemode, key));
    const stands = () => requireStanding(request);
    const admissions = isRepeated ? [] : await this.admit(caller, readings.length);
    let accepted: readonly string[] = [];
    const byReadings = Math.max(readings.length - byBytes, 0);
    const giveBack = () => this.count(caller, 1 - byBytes - byReadings, response);
    const answer = async (): Promise<BatchAnswer> => {
      const checked = await checkReadings(readings, CreateReadingDto);
      const items = checked.map((item) => refusedAsAsked(item, caller.mode));
      const refusal = mode === 'all' ? refusalOfAll(items) : null;
      if (refusal) throw refusal;
      const requests = items.map(({ checked: one }) =>
        one instanceof Problem ? null : { ...requestedFields(one), input: inputOf(one) },
      );
      const result = await this.commands
        .execute(new RequestBatch(workspaceId, livemode, mode, requests, key, by, stands))
        .catch(async (error: unknown) => {
          // The readings of a repeat are checked again, whatever becomes of it.
          if (!isRepeated) await giveBack();
          throw error;
        });
      if (result.outcome === 'different_request') throw new Problem('idempotency_key_reused');
      if (result.outcome === 'insufficient_credits' || result.outcome === 'billing_misconfigured')
        throw unpaid(result, 'The readings cost');
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
    try {
      await this.charge(caller, byReadings, response);
      if (!isRepeated) return await answer();
      return await this.repeats.run(`${workspaceId}:${livemode}`, async () => {
        await stands();
        return answer();
      });
    } catch (error) {
      throw error instanceof LanesFull
        ? later('Too many repeated bulk requests of the workspace are waiting: send them one after another')
        : error;
    } finally {
      this.inFlight.ended(workspaceId, livemode, admissions, accepted);
    }
  }

  @Get('batches/:batchId')
  @Accepts({ apiKey: 'readings:read' })
  @RateLimited('read', COUNT_COST)
  @ApiOperation({
    operationId: 'getBatch',
    summary: 'Get the states of the readings of a batch',
    description:
      'Counts its readings by state. `endedAt` is set once each has ended. A reading ends when it is published, failed or erased. Counts as 5 requests of the policy `read`.',
  })
  @Names('batchId', 'batch_not_found', NAMED_BATCH)
  @Answers(200, 'The batch', batchSchema)
  async get(@Param('batchId') batchId: string, @Caller() caller: Principal) {
    const found = await this.batches.find(batchId);
    if (!found) throw new Problem('batch_not_found');
    const { workspaceId, livemode, mode, items, refused, endedAt } = found.batch;
    if (workspaceId !== caller.workspaceId) throw new Problem('wrong_workspace');
    if (!seesMode(caller, livemode)) throw new Problem('batch_not_found');
    return {
      batchId,
      livemode,
      mode,
      items,
      accepted: items - refused.length,
      refused: refused.length,
      states: found.readings,
      endedAt,
    };
  }

  /** A bulk of n counts as n readings in flight, until those that are refused are known. */
  private async admit({ workspaceId, mode }: Principal, wanted: number): Promise<readonly Admission[]> {
    const admissions = await this.inFlight.admit(workspaceId, mode === 'live', wanted);
    if (admissions) return admissions;
    const limit = this.config.READINGS_IN_FLIGHT;
    throw tooManyInFlight(
      `The batch would exceed ${limit} readings that are queued or processing; send a smaller one, or wait`,
    );
  }

  /**
   * Takes the tokens of a bulk beyond its first one, before what they pay for: those of its bytes before it is read, and
   * those of its readings before they are checked. The headers say what is left.
   * @throws Problem when the buckets do not count them: a bulk that nobody counts would be free when they are slowest
   */
  private async charge(caller: Principal, tokens: number, response: Response): Promise<void> {
    if (await this.count(caller, tokens, response)) return;
    throw later('The readings of the bulk could not be counted in time');
  }

  /** @param tokens below 0: gives them back, those of a bulk without an answer, or answered as one at the same time */
  private async count(caller: Principal, tokens: number, response: Response): Promise<boolean> {
    if (tokens === 0) return true;
    const { create } = this.policies;
    const verdict = await within(COUNTED_WITHIN_MS, this.limiter.charge(rateSubject(caller), create, tokens));
    if (verdict) response.set(rateHeaders(create, verdict));
    return verdict !== null;
  }
}

const later = (detail: string): Problem =>
  new Problem('enqueue_unavailable', { detail, headers: { 'Retry-After': '5' }, isLogged: true });

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
        : unpaid(item, 'The readings cost');
  const { instance: _, requestId: __, ...body } = problemBody(problem, by.correlationId, room);
  return { ...place, status: 'refused', problem: body };
};
