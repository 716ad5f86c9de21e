import { Body, Controller, Headers, HttpCode, Inject, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation, ApiProperty, ApiPropertyOptional, ApiSchema, ApiTags } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import { IsArray, IsDefined, IsIn, IsObject, isObject, IsString, ValidateNested } from 'class-validator';
import type { Response } from 'express';
import type { Mode, RequestContext } from '#event-sourcing/core/request-context.js';
import {
  canonicalGender,
  checkDateOfBirth,
  checkName,
  GENDER_SPELLINGS,
  type Locale,
  MAX_ELEMENTS,
} from '#numerology/index.js';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { IfSentAndNotNull, required, stringType } from '#platform/http/body-rules.js';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import { readIdempotencyKey } from '#platform/http/idempotency-key.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { type FieldError, invalidRequest, Problem } from '#platform/http/problem.js';
import { Requester } from '#platform/http/requester.js';
import { toPointer } from '#platform/http/strict-json.js';
import { OwnIdempotency } from '#platform/idempotency/idempotency.interceptor.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { isLonger } from '#platform/text/is-longer.js';
import { printable } from '#platform/text/printable.js';
import { CONFIG } from '#platform/tokens.js';
import { RequestReading, type RequestReadingResult, type Unpaid } from '../application/request-reading.js';
import { type ReadingInput, requestedFields } from '../domain/reading-input.js';
import {
  type AskedRefusal,
  TEST_OUTCOME,
  TEST_OUTCOMES_ALLOWED,
  testOutcomeOf,
} from '../domain/test-outcome.js';
import { ReadingsInFlight } from '../read-models/in-flight.js';
import type { ReadingView } from '../projections.js';
import type { Config } from '../settings.js';
import type { BulkItem } from './bulk-body.js';
import { POLL_AFTER, readingSchema } from './reading.schemas.js';

/** Characters are Unicode code points. */
export const LONGEST_EXTERNAL_ID = 200;
const MOST_METADATA_PAIRS = 20;
const LONGEST_METADATA_KEY = 40;
const LONGEST_METADATA_VALUE = 500;
/** Bytes of all keys and values in UTF-8. */
const LARGEST_METADATA_BYTES = 4_096;

type Rule = Omit<FieldError, 'pointer'>;

/** The rule of external ids that a text breaks; `null`: none. */
export const externalIdFault = (text: string): Rule | null => {
  const detail = `must have 1 to ${LONGEST_EXTERNAL_ID} characters`;
  if (text === '') return { code: 'too_short', detail };
  if (isLonger(text, LONGEST_EXTERNAL_ID)) return { code: 'too_long', detail };
  return printable(text) === text
    ? null
    : { code: 'invalid_character', detail: 'must have only printable characters' };
};

/** Every fault of `metadata`, an object. A pointer names a member only when its name is a valid key. */
const metadataErrors = (metadata: object): FieldError[] => {
  const pairs = Object.entries(metadata) as [string, unknown][];
  const errors = pairs.flatMap(([key, value]) => pairErrors(key, value));
  if (pairs.length > MOST_METADATA_PAIRS) {
    const detail = `must have at most ${MOST_METADATA_PAIRS} members`;
    errors.push({ pointer: '/metadata', code: 'too_many', detail });
  }
  const texts = pairs.flat().filter((text) => typeof text === 'string');
  if (texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) > LARGEST_METADATA_BYTES) {
    const detail = `must be at most ${LARGEST_METADATA_BYTES} bytes, keys and values in UTF-8`;
    errors.push({ pointer: '/metadata', code: 'too_large', detail });
  }
  return errors;
};

const pairErrors = (key: string, value: unknown): FieldError[] => {
  if (key === '' || isLonger(key, LONGEST_METADATA_KEY) || printable(key) !== key) {
    const detail = `must have keys of 1 to ${LONGEST_METADATA_KEY} printable characters`;
    return [{ pointer: '/metadata', code: 'invalid_key', detail }];
  }
  const pointer = toPointer(['metadata', key]);
  if (typeof value !== 'string') return [{ pointer, code: 'invalid_type', detail: 'must be a string' }];
  return isLonger(value, LONGEST_METADATA_VALUE)
    ? [{ pointer, code: 'too_long', detail: `must have at most ${LONGEST_METADATA_VALUE} characters` }]
    : [];
};

const array = { message: 'must be an array of strings', context: { code: 'invalid_type' } };
const object = { message: 'must be an object', context: { code: 'invalid_type' } };

const NAME = {
  type: 'array',
  maxItems: 8,
  items: { type: 'string', minLength: 1, maxLength: 100 },
} as const;

/** The rules of names: libs/numerology. At most 300 letters in all. */
@ApiSchema({ name: 'Name' })
class NameDto {
  @ApiProperty({ ...NAME, minItems: 1, description: 'Given names', examples: [['Zoé']] })
  @IsDefined(required)
  @IsArray(array)
  firstNames!: string[];

  @ApiProperty({ ...NAME, description: 'Middle names; may be empty', examples: [['Marie']] })
  @IsDefined(required)
  @IsArray(array)
  middleNames!: string[];

  @ApiProperty({ ...NAME, minItems: 1, description: 'Family names at birth', examples: [['Lefèvre']] })
  @IsDefined(required)
  @IsArray(array)
  lastNames!: string[];
}

@ApiSchema({ name: 'GrammaticalProfile' })
class GrammaticalProfileDto {
  @ApiProperty({
    description: `Governs grammatical agreement alone. One of ${Object.values(GENDER_SPELLINGS).flat().join(', ')}; letter case does not matter`,
    examples: ['feminine'],
  })
  @IsDefined(required)
  @IsString({ message: 'must be a string', context: { code: 'invalid_type' } })
  subjectGender!: string;
}

/** Body of POST /api/v1/readings. The shape is declared here; the rules of names and dates are the calculation's own. */
@ApiSchema({ name: 'CreateReading' })
export class CreateReadingDto implements SelfChecking {
  @ApiProperty({ enum: ['theme'], description: 'What to compute: a numerology theme', examples: ['theme'] })
  @IsDefined(required)
  @IsIn(['theme'], { message: 'must be theme', context: { code: 'unknown_product' } })
  productId!: string;

  @ApiProperty({ enum: ['evan'], description: 'The rules of the calculation', examples: ['evan'] })
  @IsDefined(required)
  @IsIn(['evan'], { message: 'must be evan', context: { code: 'unknown_profile' } })
  profileId!: string;

  @ApiProperty({ enum: ['fr-FR', 'en-US'], description: 'Language of the texts', examples: ['fr-FR'] })
  @IsDefined(required)
  @IsIn(['fr-FR', 'en-US'], {
    message: 'must be one of fr-FR, en-US',
    context: { code: 'unsupported_locale' },
  })
  locale!: Locale;

  @ApiProperty({ description: 'The name at birth, as it was given' })
  @IsDefined(required)
  @IsObject(object)
  @ValidateNested()
  @Type(() => NameDto)
  name!: NameDto;

  @ApiProperty({
    description: 'A real day from 1583-01-01 to today',
    format: 'date',
    pattern: String.raw`^\d{4}-\d{2}-\d{2}$`,
    examples: ['1990-04-12'],
  })
  @IsDefined(required)
  @IsString({ message: 'must be a calendar date YYYY-MM-DD', context: { code: 'invalid_date' } })
  dateOfBirth!: string;

  @ApiProperty({ description: 'How texts speak of the person' })
  @IsDefined(required)
  @IsObject(object)
  @ValidateNested()
  @Type(() => GrammaticalProfileDto)
  grammaticalProfile!: GrammaticalProfileDto;

  @ApiPropertyOptional({
    type: 'string',
    nullable: true,
    minLength: 1,
    maxLength: LONGEST_EXTERNAL_ID,
    description:
      'Your own id for the reading, such as an order number: printable characters. Lists find it. It is sealed and erased with the reading',
    examples: ['order-4711'],
  })
  @IfSentAndNotNull()
  @IsString(stringType)
  externalId?: string | null;

  @ApiPropertyOptional({
    type: 'object',
    nullable: true,
    maxProperties: MOST_METADATA_PAIRS,
    additionalProperties: { type: 'string', maxLength: LONGEST_METADATA_VALUE },
    description: `Your own notes on the reading: keys of 1 to ${LONGEST_METADATA_KEY} printable characters, at most 4 KiB in all. They are sealed and erased with the reading`,
    examples: [{ shop: 'paris', gift: 'yes' }],
  })
  @IfSentAndNotNull()
  @IsObject({ message: 'must be an object or null', context: { code: 'invalid_type' } })
  // Taken as it is: the mapping would drop keys such as `toString`.
  @Transform(({ obj }: { obj: { metadata?: unknown } }) => obj.metadata)
  metadata?: Readonly<Record<string, string>> | null;

  /** @param now milliseconds since the epoch */
  fieldErrors(sound: (property: string) => boolean, now: number): FieldError[] {
    const errors: FieldError[] = [];
    if (isObject(this.name)) errors.push(...nameErrors(this.name));
    const dateProblem = sound('dateOfBirth') ? checkDateOfBirth(this.dateOfBirth, earliestToday(now)) : null;
    if (dateProblem)
      errors.push({ pointer: '/dateOfBirth', code: dateProblem.code, detail: dateProblem.detail });
    if (sound('grammaticalProfile') && canonicalGender(this.grammaticalProfile.subjectGender) === null) {
      errors.push({
        pointer: toPointer(['grammaticalProfile', 'subjectGender']),
        code: 'invalid_value',
        detail: `must be one of ${Object.values(GENDER_SPELLINGS).flat().join(', ')}`,
      });
    }
    const { externalId, metadata } = this;
    const fault = typeof externalId === 'string' ? externalIdFault(externalId) : null;
    if (fault) errors.push({ pointer: '/externalId', ...fault });
    if (metadata && sound('metadata')) errors.push(...metadataErrors(metadata));
    return errors;
  }
}

const NAME_PARTS = ['firstNames', 'middleNames', 'lastNames'] as const;

/** In the place of what is no string: it breaks no rule of names. */
const SOUND = 'A';

/** Points at each part that is no string, and at what breaks the rules of names in the others. */
const nameErrors = (name: NameDto): FieldError[] => {
  const errors: FieldError[] = [];
  const partsOf = (list: (typeof NAME_PARTS)[number]): string[] => {
    const parts: unknown = name[list];
    // The shape of the list itself is checked before.
    if (!Array.isArray(parts)) return [SOUND];
    // One more than there may be, so that the list is found too long.
    return parts.slice(0, MAX_ELEMENTS + 1).map((part: unknown, place) => {
      if (typeof part === 'string') return part;
      errors.push({
        pointer: toPointer(['name', list, place]),
        code: 'invalid_type',
        detail: 'must be a string',
      });
      return SOUND;
    });
  };
  const [firstNames = [], middleNames = [], lastNames = []] = NAME_PARTS.map(partsOf);
  for (const { pointer, code, detail } of checkName({ firstNames, middleNames, lastNames }))
    errors.push({ pointer: `/name${pointer}`, code, detail });
  return errors;
};

/** What is sealed of a request: all that it says about the person, and the caller's references. */
export const inputOf = (body: CreateReadingDto): ReadingInput => {
  const { dateOfBirth, grammaticalProfile, externalId, metadata } = body;
  const { firstNames, middleNames, lastNames } = body.name;
  return {
    name: { firstNames, middleNames, lastNames },
    dateOfBirth,
    grammaticalProfile: { subjectGender: grammaticalProfile.subjectGender },
    ...(typeof externalId === 'string' && { externalId }),
    ...(metadata && { metadata }),
  };
};

const FOURTEEN_HOURS_MS = 14 * 3_600_000;

/** Today's date where it begins first (UTC+14): nobody is born after it. */
const earliestToday = (now: number): string => new Date(now + FOURTEEN_HOURS_MS).toISOString().slice(0, 10);

/** Each as the real refusal answers, with figures of its own. */
const PROBLEMS: Readonly<Record<AskedRefusal, () => Problem>> = {
  insufficient_credits: () => refused('insufficient_credits', { members: { required: 20, available: 0 } }),
  rate_limited: () => refused('rate_limited', { headers: { 'Retry-After': '1' } }),
  unavailable: () => refused('enqueue_unavailable', { headers: { 'Retry-After': '5' } }),
  billing_misconfigured: () => refused('billing_misconfigured', { headers: { 'Retry-After': '60' } }),
};

const refused = (code: Problem['code'], options: Problem['options']): Problem =>
  new Problem(code, {
    detail: 'You asked for this refusal by metadata.test_outcome',
    ...options,
    isAsked: true,
  });

/**
 * The refusal that a request asks for by its metadata; `null` when it is to be accepted.
 * @throws Problem validation_failed in live mode, and for an unknown outcome
 */
export const askedRefusal = (
  metadata: Readonly<Record<string, string>> | null | undefined,
  mode: Mode,
): Problem | null => {
  const value = metadata?.[TEST_OUTCOME];
  if (value === undefined) return null;
  const outcome = mode === 'test' ? testOutcomeOf(value) : null;
  if (outcome) return outcome.kind === 'refused' ? PROBLEMS[outcome.refusal]() : null;
  const detail = mode === 'test' ? `must be one of ${TEST_OUTCOMES_ALLOWED}` : 'is for test keys alone';
  throw invalidRequest([{ pointer: `/metadata/${TEST_OUTCOME}`, code: 'invalid_value', detail }]);
};

/** A reading of a bulk: invalid, too, when it asks for a refusal. It then gets that one. */
export const refusedAsAsked = <T extends { readonly metadata?: Readonly<Record<string, string>> | null }>(
  item: BulkItem<T>,
  mode: Mode,
): BulkItem<T> => {
  if (item.checked instanceof Problem) return item;
  try {
    const refusal = askedRefusal(item.checked.metadata, mode);
    return refusal ? { ...item, checked: refusal } : item;
  } catch (error) {
    if (error instanceof Problem) return { ...item, checked: error };
    throw error;
  }
};

/** Too many readings of the workspace are unfinished. Ten seconds later, some of them will have ended. */
export const tooManyInFlight = (detail: string): Problem =>
  new Problem('rate_limited', { detail, headers: { 'Retry-After': '10' } });

/** The problem of what cannot be paid. @param costs its subject, as `The reading costs` */
export const unpaid = (refusal: Unpaid, costs: string): Problem => {
  if (refusal.outcome === 'billing_misconfigured')
    return new Problem('billing_misconfigured', {
      ...(refusal.detail !== undefined && { detail: refusal.detail }),
      headers: { 'Retry-After': '60' },
    });
  const { required, available } = refusal;
  return new Problem('insufficient_credits', {
    detail: `${costs} ${required} credits; ${available} are available`,
    members: { required, available },
  });
};

/** Accepts readings. */
@Controller('api/v1/readings')
@Accepts({ apiKey: 'readings:write' })
@ApiTags('Readings')
export class RequestReadingController {
  constructor(
    private readonly commands: CommandBus,
    private readonly inFlight: ReadingsInFlight,
    @Inject(CONFIG) private readonly config: Pick<Config, 'READINGS_IN_FLIGHT'>,
  ) {}

  @Post()
  @HttpCode(202)
  @RateLimited('create')
  @OwnIdempotency()
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
    const { workspaceId, mode } = caller;
    const livemode = mode === 'live';
    const key = readIdempotencyKey(idempotencyKey);
    const admissions = await this.inFlight.admit(workspaceId, livemode, 1);
    if (!admissions) {
      const limit = this.config.READINGS_IN_FLIGHT;
      throw tooManyInFlight(
        `${limit} readings are queued or processing; more are accepted when some have ended`,
      );
    }
    const accepted: string[] = [];
    try {
      const requested = { ...requestedFields(body), input: inputOf(body) };
      const request = new RequestReading(workspaceId, livemode, requested, key, by);
      const result = await this.commands.execute(request);
      if (result.outcome === 'accepted') accepted.push(result.reading.readingId);
      return answerOf(result, response);
    } finally {
      this.inFlight.ended(workspaceId, livemode, admissions, accepted);
    }
  }
}

const answerOf = (result: RequestReadingResult, response: Response): ReadingView => {
  switch (result.outcome) {
    case 'different_request':
      throw new Problem('idempotency_key_reused');
    case 'erased':
      throw new Problem('reading_erased');
    case 'billing_misconfigured':
    case 'insufficient_credits':
      throw unpaid(result, 'The reading costs');
    case 'accepted':
    case 'replayed':
      response.set('Location', `/api/v1/readings/${result.reading.readingId}`);
      if (result.reading.status !== 'failed') response.set('Retry-After', POLL_AFTER);
      if (result.outcome === 'replayed') response.set('Idempotency-Replayed', 'true');
      return result.reading;
  }
};
