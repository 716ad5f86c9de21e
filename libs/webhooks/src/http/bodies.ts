import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import {
  IsArray,
  IsDefined,
  IsNumber,
  IsObject,
  IsString,
  IsBoolean,
  IsInt,
  Max,
  Min,
  IsIn,
} from 'class-validator';
import { MODES, type Mode } from '#event-sourcing/core/mode.js';
import type { Principal } from '#platform/auth/authentication.js';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import { invalidRequest, Problem, type FieldError } from '#platform/http/problem.js';
import { toPointer } from '#platform/http/strict-json.js';
import { isLonger } from '#platform/text/is-longer.js';
import { IfSent, IfSentAndNotNull, required, stringType, booleanType } from '#platform/http/body-rules.js';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import { parseInstant } from '#platform/http/instant.js';
import {
  PUBLIC_EVENT_TYPES,
  type PublicEventType,
  NOTICE_TYPES,
  isNotice,
  type NoticeType,
} from '../contracts/events.js';
import { LONGEST_VALUE, MOST_HEADERS, headerFaults } from '../domain/custom-headers.js';
import { checkWebhookUrl } from '../domain/webhook-url.js';
import { REPLAYABLE_STATUSES, type ReplayableStatus } from '../contracts/deliveries.js';

const LONGEST_DESCRIPTION = 500;
const HIGHEST_PER_SECOND = 1_000;

export const urlType = { message: 'must be a URL', context: { code: 'invalid_webhook_url' } };
export const arrayType = { message: 'must be an array of event types', context: { code: 'invalid_type' } };
export const oneOf = {
  message: `must be one of ${PUBLIC_EVENT_TYPES.join(', ')}`,
  context: { code: 'unsupported_event_type' },
};

export const URL_SHOWN = {
  format: 'uri',
  maxLength: 2_048,
  description: 'Absolute https URL of a public address, without login or fragment',
  examples: ['https://receiver.example.com/hook'],
};
export const EVENTS_SHOWN = {
  type: 'array' as const,
  minItems: 1,
  items: { type: 'string', enum: [...PUBLIC_EVENT_TYPES] },
  examples: [['reading.completed', 'reading.published']],
};
export const MODES_SHOWN = {
  type: 'array' as const,
  minItems: 1,
  items: { type: 'string', enum: [...MODES] },
  examples: [['live']],
};
export const NOTICES_SHOWN = {
  type: 'array' as const,
  items: { type: 'string', enum: [...NOTICE_TYPES] },
  examples: [['batch.ended']],
};
export const noticesType = { message: 'must be an array of notices', context: { code: 'invalid_type' } };
export const modesType = { message: 'must be an array of modes', context: { code: 'invalid_type' } };
export const DESCRIPTION_SHOWN = {
  type: 'string',
  nullable: true,
  maxLength: LONGEST_DESCRIPTION,
  examples: ['orders'],
} as const;

export const HEADERS_SHOWN = {
  type: 'object',
  nullable: true,
  maxProperties: MOST_HEADERS,
  additionalProperties: { type: 'string', minLength: 1, maxLength: LONGEST_VALUE },
  examples: [{ authorization: 'Bearer 4f7c0de1' }],
} as const;
export const HEADERS_PATCH_SHOWN = {
  type: 'object',
  nullable: true,
  additionalProperties: { type: 'string', nullable: true, minLength: 1, maxLength: LONGEST_VALUE },
  examples: [{ authorization: 'Bearer 4f7c0de1', 'x-tenant': null }],
} as const;
export const MAX_PER_SECOND_SHOWN = {
  type: 'integer',
  nullable: true,
  minimum: 1,
  maximum: HIGHEST_PER_SECOND,
  examples: [20],
} as const;
export const headersType = { message: 'must be an object of strings', context: { code: 'invalid_type' } };
export const maxPerSecondType = { message: 'must be a number', context: { code: 'invalid_type' } };

/** Checks the rules of the text, without those that the operator can relax, so that one answer has all errors. */
const urlErrors = (url: string): FieldError[] => {
  const verdict = checkWebhookUrl(url, { allowHttp: true, allowCidrs: ['0.0.0.0/0', '::/0'] });
  return verdict.ok ? [] : [{ pointer: '/url', code: verdict.code, detail: verdict.detail }];
};

const descriptionErrors = (description: string): FieldError[] =>
  isLonger(description, LONGEST_DESCRIPTION)
    ? [
        {
          pointer: '/description',
          code: 'too_long',
          detail: `must be at most ${LONGEST_DESCRIPTION} characters`,
        },
      ]
    : [];

const eventErrors = (events: readonly unknown[]): FieldError[] => {
  if (events.length === 0)
    return [{ pointer: '/events', code: 'too_short', detail: 'must name at least one event type' }];
  return events.flatMap((type, index) =>
    PUBLIC_EVENT_TYPES.includes(type as PublicEventType)
      ? []
      : [{ pointer: `/events/${index}`, code: 'unsupported_event_type', detail: oneOf.message }],
  );
};

const modeErrors = (modes: readonly unknown[]): FieldError[] => {
  if (modes.length === 0)
    return [{ pointer: '/modes', code: 'too_short', detail: 'must name at least one mode' }];
  return modes.flatMap((mode, index) =>
    MODES.includes(mode as Mode)
      ? []
      : [
          {
            pointer: `/modes/${index}`,
            code: 'invalid_value',
            detail: `must be one of ${MODES.join(', ')}`,
          },
        ],
  );
};

const noticeErrors = (notices: readonly unknown[]): FieldError[] => {
  const detail = `must be one of ${NOTICE_TYPES.join(', ')}`;
  return notices.flatMap((one, index) =>
    typeof one === 'string' && isNotice(one)
      ? []
      : [{ pointer: `/notices/${index}`, code: 'invalid_value', detail }],
  );
};

/**
 * The modes that a caller may give an endpoint: a live key live, or both; a test key test; a bearer token any.
 * @throws Problem validation_failed
 */
export const allowedModes = (modes: readonly Mode[], { mode, sees }: Pick<Principal, 'mode' | 'sees'>) => {
  const isAllowed = sees.length > 1 || (modes.includes(mode) && (mode === 'live' || modes.length === 1));
  const detail =
    mode === 'live' ? 'must include live: you call in live mode' : 'must be test: you call in test mode';
  if (!isAllowed) throw invalidRequest([{ pointer: '/modes', code: 'invalid_value', detail }]);
  return MODES.filter((one) => modes.includes(one));
};

/**
 * Bodies of webhooks hold the workspace's own ids, which a session of the portal sees with persons:read alone. Without it, it
 * chooses no URL that they are sent to.
 * @throws Problem scope_missing
 */
export const mayChooseUrl = ({ authMode, scopes }: Principal): void => {
  if (authMode === 'session' && !scopes.includes(PERSONS_SCOPE))
    throw new Problem('scope_missing', {
      detail: `A session without ${PERSONS_SCOPE} chooses no URL for webhooks`,
      members: { scope: PERSONS_SCOPE },
    });
};

interface Settings {
  readonly url?: string;
  readonly events?: readonly unknown[];
  readonly modes?: readonly unknown[];
  readonly notices?: readonly unknown[];
  readonly description?: string | null;
  readonly headers?: Readonly<Record<string, unknown>> | null;
  readonly maxPerSecond?: number | null;
}

/** Pointers name the header as it was sent; a name is no secret, a value may be one. */
const headersErrors = (headers: Readonly<Record<string, unknown>>, isPatch: boolean): FieldError[] =>
  headerFaults(headers, { isPatch }).map(({ name, code, detail }) => ({
    pointer: name === null ? '/headers' : toPointer(['headers', name]),
    code,
    detail,
  }));

const rateErrors = (maxPerSecond: number): FieldError[] =>
  Number.isInteger(maxPerSecond) && maxPerSecond >= 1 && maxPerSecond <= HIGHEST_PER_SECOND
    ? []
    : [
        {
          pointer: '/maxPerSecond',
          code: 'invalid_value',
          detail: `must be a whole number from 1 to ${HIGHEST_PER_SECOND}, or null`,
        },
      ];

export const settingErrors = (
  { url, events, modes, notices, description, headers, maxPerSecond }: Settings,
  sound: (property: string) => boolean,
  { isPatch = false } = {},
): FieldError[] => [
  ...(url !== undefined && sound('url') ? urlErrors(url) : []),
  ...(events && sound('events') ? eventErrors(events) : []),
  ...(modes && sound('modes') ? modeErrors(modes) : []),
  ...(notices && sound('notices') ? noticeErrors(notices) : []),
  ...(description && sound('description') ? descriptionErrors(description) : []),
  ...(headers && sound('headers') ? headersErrors(headers, isPatch) : []),
  ...(typeof maxPerSecond === 'number' && sound('maxPerSecond') ? rateErrors(maxPerSecond) : []),
];

/** Each type once. */
export const distinct = <T>(types: readonly T[]): readonly T[] => [...new Set(types)];

/** Body of POST /api/v1/webhooks. */
@ApiSchema({ name: 'CreateWebhookEndpoint' })
export class CreateWebhookEndpointDto implements SelfChecking {
  @ApiProperty(URL_SHOWN)
  @IsDefined(required)
  @IsString(urlType)
  url!: string;

  /** Default: all event types. */
  @ApiPropertyOptional({ ...EVENTS_SHOWN, description: 'Default: all four' })
  @IfSent()
  @IsArray(arrayType)
  events?: PublicEventType[];

  @ApiPropertyOptional({
    ...MODES_SHOWN,
    description: 'Of the readings whose events it receives; default: `live`, for a test key `test`',
  })
  @IfSent()
  @IsArray(modesType)
  modes?: Mode[];

  @ApiPropertyOptional({ ...NOTICES_SHOWN, description: 'What it is told besides events; default: nothing' })
  @IfSent()
  @IsArray(noticesType)
  notices?: NoticeType[];

  @ApiPropertyOptional({ ...DESCRIPTION_SHOWN, description: 'For you: the service does not use it' })
  @IfSentAndNotNull()
  @IsString(stringType)
  description?: string | null;

  @ApiPropertyOptional({
    ...HEADERS_SHOWN,
    description:
      'Sent with each delivery, values by name: at most ten. Stored sealed and never shown again; reserved names are refused',
  })
  @IfSentAndNotNull()
  @IsObject(headersType)
  headers?: Record<string, string> | null;

  @ApiPropertyOptional({
    ...MAX_PER_SECOND_SHOWN,
    description: 'Deliveries sent in a second, at most; default: as fast as the endpoint answers',
  })
  @IfSentAndNotNull()
  @IsNumber({}, maxPerSecondType)
  maxPerSecond?: number | null;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return settingErrors(this, sound);
  }
}

/** Body of PATCH /api/v1/webhooks/{endpointId}: a JSON Merge Patch (RFC 7396) of the members that can change. */
@ApiSchema({ name: 'ChangeWebhookEndpoint' })
export class ChangeWebhookEndpointDto implements SelfChecking {
  @ApiPropertyOptional(URL_SHOWN)
  @IfSent()
  @IsString(urlType)
  url?: string;

  @ApiPropertyOptional({ ...EVENTS_SHOWN, description: 'Replaces the whole choice' })
  @IfSent()
  @IsArray(arrayType)
  events?: PublicEventType[];

  @ApiPropertyOptional({ ...MODES_SHOWN, description: 'Replaces the whole choice' })
  @IfSent()
  @IsArray(modesType)
  modes?: Mode[];

  @ApiPropertyOptional({ ...NOTICES_SHOWN, description: 'Replaces the whole choice; `[]` ends it' })
  @IfSent()
  @IsArray(noticesType)
  notices?: NoticeType[];

  @ApiPropertyOptional({ description: 'Whether deliveries are sent', examples: [true] })
  @IfSent()
  @IsBoolean(booleanType)
  enabled?: boolean;

  /** `null` removes it. */
  @ApiPropertyOptional({ ...DESCRIPTION_SHOWN, description: 'null removes it' })
  @IfSentAndNotNull()
  @IsString(stringType)
  description?: string | null;

  @ApiPropertyOptional({
    ...HEADERS_PATCH_SHOWN,
    description:
      'Merged with the custom headers: null removes one, or all. Names each of them when they move to a URL of another scheme, host or port',
  })
  @IfSentAndNotNull()
  @IsObject(headersType)
  headers?: Record<string, string | null> | null;

  @ApiPropertyOptional({
    ...MAX_PER_SECOND_SHOWN,
    description: 'Deliveries sent in a second, at most; null ends the limit',
  })
  @IfSentAndNotNull()
  @IsNumber({}, maxPerSecondType)
  maxPerSecond?: number | null;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return settingErrors(this, sound, { isPatch: true });
  }
}

const LONGEST_OVERLAP_SECONDS = 604_800;
const DAY_SECONDS = 86_400;

const overlap = {
  message: `must be a whole number of seconds from 0 to ${LONGEST_OVERLAP_SECONDS}`,
  context: { code: 'invalid_value' },
};

/** Body of POST …/rotate-secret. */
@ApiSchema({ name: 'RotateSecret' })
export class RotateSecretDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: LONGEST_OVERLAP_SECONDS,
    default: DAY_SECONDS,
    description: 'How long the previous secret still signs, in seconds',
    examples: [3_600],
  })
  @IfSent()
  @IsInt(overlap)
  @Min(0, overlap)
  @Max(LONGEST_OVERLAP_SECONDS, overlap)
  overlapSeconds: number = DAY_SECONDS;
}

/** Body of POST …/test. */
@ApiSchema({ name: 'SendTestEvent' })
export class SendTestEventDto {
  @ApiPropertyOptional({
    enum: PUBLIC_EVENT_TYPES,
    default: 'reading.completed',
    description: 'The type of the event to send',
    examples: ['reading.published'],
  })
  @IfSent()
  @IsIn(PUBLIC_EVENT_TYPES, oneOf)
  type: PublicEventType = 'reading.completed';
}

const instantDetail = 'must be an RFC 3339 instant such as 2026-04-04T09:30:00Z';
const instantType = { message: instantDetail, context: { code: 'invalid_type' } };
const listType = { message: 'must be an array', context: { code: 'invalid_type' } };

const memberErrors = (
  name: string,
  members: readonly unknown[],
  allowed: readonly string[],
  code: string,
): FieldError[] => {
  if (members.length === 0)
    return [{ pointer: `/${name}`, code: 'too_short', detail: 'must not be empty: leave it out for all' }];
  return members.flatMap((member, index) =>
    allowed.includes(member as string)
      ? []
      : [{ pointer: `/${name}/${index}`, code, detail: `must be one of ${allowed.join(', ')}` }],
  );
};

/** Body of POST …/replay. */
@ApiSchema({ name: 'ReplayEvents' })
export class ReplayDto implements SelfChecking {
  /** Sends events from this time on (RFC 3339). */
  @ApiProperty({
    format: 'date-time',
    description: 'Sends events from this time on',
    examples: ['2026-04-01T00:00:00Z'],
  })
  @IsDefined(required)
  @IsString(instantType)
  since!: string;

  /** Sends only events before this time; default: now. */
  @ApiPropertyOptional({
    format: 'date-time',
    description: 'Sends only events before this time; default: now',
    examples: ['2026-04-04T00:00:00Z'],
  })
  @IfSent()
  @IsString(instantType)
  until?: string;

  /** Default: the types that the endpoint subscribes to. */
  @ApiPropertyOptional({
    type: 'array',
    minItems: 1,
    items: { type: 'string', enum: [...PUBLIC_EVENT_TYPES] },
    description: 'Default: the types that the endpoint subscribes to',
    examples: [['reading.completed']],
  })
  @IfSent()
  @IsArray(listType)
  types?: PublicEventType[];

  /** Outcomes of events at this endpoint; default: all but `succeeded`. */
  @ApiPropertyOptional({
    type: 'array',
    minItems: 1,
    items: { type: 'string', enum: [...REPLAYABLE_STATUSES] },
    description: 'Outcomes of events at this endpoint; default: every outcome except a successful delivery',
    examples: [['missing', 'skipped']],
  })
  @IfSent()
  @IsArray(listType)
  statuses?: ReplayableStatus[];

  /** Counts and sends nothing. */
  @ApiPropertyOptional({ default: false, description: 'Counts and sends nothing', examples: [true] })
  @IfSent()
  @IsBoolean(booleanType)
  dryRun: boolean = false;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    const { since, until, types, statuses } = this;
    const instants = { since, until };
    const errors = Object.entries(instants).flatMap(([name, text]) =>
      text === undefined || !sound(name) || parseInstant(text) !== null
        ? []
        : [{ pointer: `/${name}`, code: 'invalid_value', detail: instantDetail }],
    );
    const [from, to] = [since, until].map((text) => (typeof text === 'string' ? parseInstant(text) : null));
    if (from && to && from >= to)
      errors.push({ pointer: '/until', code: 'invalid_value', detail: 'must be after since' });
    return [
      ...errors,
      ...(types && sound('types')
        ? memberErrors('types', types, PUBLIC_EVENT_TYPES, 'unsupported_event_type')
        : []),
      ...(statuses && sound('statuses')
        ? memberErrors('statuses', statuses, REPLAYABLE_STATUSES, 'invalid_value')
        : []),
    ];
  }
}
