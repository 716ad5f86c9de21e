import { Body, Controller, Headers, HttpCode, Post, Res, UseGuards } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { readIdempotencyKey } from '#platform/http/idempotency-key.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { Problem } from '#platform/http/problem.js';
import { Requester } from '#platform/http/requester.js';
import { OwnIdempotency } from '#platform/idempotency/idempotency.interceptor.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { requestedFields } from '../../domain/reading/requested-fields.js';
import { POLL_AFTER, readingSchema } from '../../http/reading.schemas.js';
import { askedRefusal } from '../../http/asked-refusal.js';
import { InFlightGuard } from './in-flight.guard.js';
import { CreateReadingDto, inputOf } from './request-reading.body.js';
import { RequestReading } from './request-reading.command.js';

/** Accepts readings. */
@Controller('api/v1/readings')
@Accepts({ apiKey: 'readings:write' })
@ApiTags('Readings')
export class RequestReadingController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @HttpCode(202)
  @RateLimited('create')
  @OwnIdempotency()
  @UseGuards(InFlightGuard)
  @ApiOperation({
    operationId: 'createReading',
    summary: 'Create a reading',
    description:
      'Accepts a reading and reserves its credits. They are captured when it completes, and released when it fails. Follow it by polling, by `Prefer: wait`, or by webhooks. The `Idempotency-Key` of a failed reading gets the failed reading: order again under a new key.',
  })
  @Answers(202, 'The reading is accepted', readingSchema, ['Location', 'RetryAfter'])
  @Refuses(
    'unsupported_locale',
    'unknown_product',
    'unknown_profile',
    'insufficient_credits',
    'billing_misconfigured',
    'reading_erased',
  )
  async create(
    @Body() body: CreateReadingDto,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @Caller() caller: Principal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ) {
    const refusal = askedRefusal(body.metadata, caller.mode);
    if (refusal) throw refusal;
    const result = await this.commands.execute(
      new RequestReading(
        caller.workspaceId,
        caller.mode === 'live',
        { ...requestedFields(body), input: inputOf(body) },
        readIdempotencyKey(idempotencyKey),
        by,
      ),
    );
    switch (result.outcome) {
      case 'different_request':
        throw new Problem('idempotency_key_reused');
      case 'erased':
        throw new Problem('reading_erased');
      case 'billing_misconfigured':
        throw new Problem('billing_misconfigured', {
          ...(result.detail !== undefined && { detail: result.detail }),
          headers: { 'Retry-After': '60' },
        });
      case 'insufficient_credits': {
        const { required, available } = result;
        throw new Problem('insufficient_credits', {
          detail: `The reading costs ${required} credits; ${available} are available`,
          members: { required, available },
        });
      }
      case 'accepted':
      case 'replayed':
        response.set('Location', `/api/v1/readings/${result.reading.readingId}`);
        if (result.reading.status !== 'failed') response.set('Retry-After', POLL_AFTER);
        if (result.outcome === 'replayed') response.set('Idempotency-Replayed', 'true');
        return result.reading;
    }
  }
}
