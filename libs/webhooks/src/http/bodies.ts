import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import {
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsString,
  Max,
  Min,
} from 'class-validator';
import { MODES, type Mode } from '#event-sourcing/core/request-context.js';
import type { Principal } from '#platform/auth/authentication.js';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import { IfSent, IfSentAndNotNull, booleanType, required, stringType } from '#platform/http/body-rules.js';
import { parseInstant } from '#platform/http/instant.js';
import { invalidRequest, Problem, type FieldError } from '#platform/http/problem.js';
import { toPointer } from '#platform/http/strict-json.js';
import { isLonger } from '#platform/text/is-longer.js';
import { REPLAYABLE_STATUSES, type ReplayableStatus } from '../contracts/deliveries.js';
import {
  NOTICE_TYPES,
  PUBLIC_EVENT_TYPES,
  type NoticeType,
  type PublicEventType,
} from '../contracts/events.js';
import { LONGEST_VALUE, MOST_HEADERS, headerFaults } from '../domain/custom-headers.js';
import { checkWebhookUrl } from '../domain/webhook-url.js';

const LONGEST_DESCRIPTION = 500;
const HIGHEST_PER_SECOND = 1_000;

const invalidType = (message: string) => ({ message, context: { code: 'invalid_type' } });
const urlType = { message: 'must be a URL', context: { code: 'invalid_webhook_url' } };
const areEvents = IsArray(invalidType('must be an array of event types'));
const areModes = IsArray(invalidType('must be an array of modes'));
const areNotices = IsArray(invalidType('must be an array of notices'));
const areHeaders = IsObject(invalidType('must be an object of strings'));
const isRate = IsNumber({}, invalidType('must be a number'));

type Shown = Parameters<typeof ApiPropertyOptional>[0];
const optional = (shown: Shown, ...checks: readonly PropertyDecorator[]) =>
  applyDecorators(ApiPropertyOptional(shown), IfSent(), ...checks);
const nullable = (shown: Shown, ...checks: readonly PropertyDecorator[]) =>
  applyDecorators(ApiPropertyOptional(shown), IfSentAndNotNull(), ...checks);

const URL_SHOWN = {
  format: 'uri',
  maxLength: 2_048,
  description: 'Absolute https URL of a public address, without login or fragment',
  examples: ['https://receiver.example.com/hook'],
};
const EVENTS_SHOWN = {
  type: 'array' as const,
  minItems: 1,
  items: { type: 'string', enum: [...PUBLIC_EVENT_TYPES] },
  examples: [['reading.completed', 'reading.published']],
};
const MODES_SHOWN = {
  type: 'array' as const,
  minItems: 1,
  items: { type: 'string', enum: [...MODES] },
  examples: [['live']],
};
const NOTICES_SHOWN = {
  type: 'array' as const,
  items: { type: 'string', enum: [...NOTICE_TYPES] },
  examples: [['batch.ended']],
};
const DESCRIPTION_SHOWN = {
  type: 'string',
  nullable: true,
  maxLength: LONGEST_DESCRIPTION,
  examples: ['orders'],
} as const;
const HEADERS_SHOWN = {
  type: 'object',
  nullable: true,
  maxProperties: MOST_HEADERS,
  additionalProperties: { type: 'string', minLength: 1, maxLength: LONGEST_VALUE },
  examples: [{ authorization: 'Bearer 4f7c0de1' }],
} as const;
const HEADERS_PATCH_SHOWN = {
  type: 'object',
  nullable: true,
  additionalProperties: { type: 'string', nullable: true, minLength: 1, maxLength: LONGEST_VALUE },
  examples: [{ authorization: 'Bearer 4f7c0de1', 'x-tenant': null }],
} as const;
const MAX_PER_SECOND_SHOWN = {
  type: 'integer',
  nullable: true,
  minimum: 1,
  maximum: HIGHEST_PER_SECOND,
  examples: [20],
} as const;

/** Checks each of a list against a closed set. @param ifEmpty the detail when it is empty; without one, it may be */
const listErrors = (
  name: string,
  list: readonly unknown[],
  allowed: readonly string[],
  code: string,
  ifEmpty?: string,
): FieldError[] =>
  list.length === 0 && ifEmpty !== undefined
    ? [{ pointer: `/${name}`, code: 'too_short', detail: ifEmpty }]
    : list.flatMap((one, index) =>
        allowed.includes(one as string)
          ? []
          : [{ pointer: `/${name}/${index}`, code, detail: `must be one of ${allowed.join(', ')}` }],
      );

/** Checks the rules of the text, without those that the operator can relax, so that one response has all errors. */
const urlErrors = (url: string): FieldError[] => {
  const verdict = checkWebhookUrl(url, { allowHttp: true, allowCidrs: ['0.0.0.0/0', '::/0'] });
  return verdict.ok ? [] : [{ pointer: '/url', code: verdict.code, detail: verdict.detail }];
};

const descriptionErrors = (description: string): FieldError[] => {
  const detail = `must be at most ${LONGEST_DESCRIPTION} characters`;
  return isLonger(description, LONGEST_DESCRIPTION)
    ? [{ pointer: '/description', code: 'too_long', detail }]
    : [];
};

/** Pointers name the header as it was sent; a name is no secret, a value may be one. */
const headersErrors = (headers: Readonly<Record<string, unknown>>, isPatch: boolean): FieldError[] =>
  headerFaults(headers, { isPatch }).map(({ name, code, detail }) => ({
    pointer: name === null ? '/headers' : toPointer(['headers', name]),
    code,
    detail,
  }));

const rateErrors = (maxPerSecond: number): FieldError[] => {
  const isSound = Number.isInteger(maxPerSecond) && maxPerSecond >= 1 && maxPerSecond <= HIGHEST_PER_SECOND;
  const detail = `must be a whole number from 1 to ${HIGHEST_PER_SECOND}, or null`;
  return isSound ? [] : [{ pointer: '/maxPerSecond', code: 'invalid_value', detail }];
};

type Settings = Omit<ChangeWebhookEndpointDto, 'fieldErrors'>;

/** The rules of the settings that were sent and have the right shape, in this order. */
const CHECKS: {
  readonly [Name in keyof Settings]?: (value: NonNullable<Settings[Name]>, isPatch: boolean) => FieldError[];
} = {
  url: urlErrors,
  events: (events) =>
    listErrors(
      'events',
      events,
      PUBLIC_EVENT_TYPES,
      'unsupported_event_type',
      'must name at least one event type',
    ),
  modes: (modes) => listErrors('modes', modes, MODES, 'invalid_value', 'must name at least one mode'),
  notices: (notices) => listErrors('notices', notices, NOTICE_TYPES, 'invalid_value'),
  description: descriptionErrors,
  headers: headersErrors,
  maxPerSecond: rateErrors,
};

const settingErrors = (
  settings: Settings,
  sound: (property: string) => boolean,
  isPatch: boolean,
): FieldError[] =>
  Object.entries(CHECKS).flatMap(([name, check]) => {
    const value = settings[name as keyof Settings] ?? null;
    return value === null || !sound(name)
      ? []
      : (check as (...of: unknown[]) => FieldError[])(value, isPatch);
  });

/** Body of POST /api/v1/webhooks. */
@ApiSchema({ name: 'CreateWebhookEndpoint' })
export class CreateWebhookEndpointDto implements SelfChecking {
  @ApiProperty(URL_SHOWN)
  @IsDefined(required)
  @IsString(urlType)
  url!: string;

  @optional({ ...EVENTS_SHOWN, description: 'Default: all four' }, areEvents)
  events?: PublicEventType[];

  @optional(
    {
      ...MODES_SHOWN,
      description: 'Of the readings whose events it receives; default: `live`, for a test key `test`',
    },
    areModes,
  )
  modes?: Mode[];

  @optional({ ...NOTICES_SHOWN, description: 'What it is told besides events; default: nothing' }, areNotices)
  notices?: NoticeType[];

  @nullable(
    { ...DESCRIPTION_SHOWN, description: 'For you: the service does not use it' },
    IsString(stringType),
  )
  description?: string | null;

  @nullable(
    {
      ...HEADERS_SHOWN,
      description:
        'Sent with each delivery, values by name: at most ten. Stored sealed and never shown again; reserved names are refused',
    },
    areHeaders,
  )
  headers?: Record<string, string> | null;

  @nullable(
    {
      ...MAX_PER_SECOND_SHOWN,
      description: 'Deliveries sent in a second, at most; default: as fast as the endpoint answers',
    },
    isRate,
  )
  maxPerSecond?: number | null;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return settingErrors(this, sound, false);
  }
}

/** Body of PATCH /api/v1/webhooks/{endpointId}: a JSON Merge Patch (RFC 7396) of the fields that can change. */
@ApiSchema({ name: 'ChangeWebhookEndpoint' })
export class ChangeWebhookEndpointDto implements SelfChecking {
  @optional(URL_SHOWN, IsString(urlType))
  url?: string;

  @optional({ ...EVENTS_SHOWN, description: 'Replaces the whole choice' }, areEvents)
  events?: PublicEventType[];

  @optional({ ...MODES_SHOWN, description: 'Replaces the whole choice' }, areModes)
  modes?: Mode[];

  @optional({ ...NOTICES_SHOWN, description: 'Replaces the whole choice; `[]` ends it' }, areNotices)
  notices?: NoticeType[];

  @optional({ description: 'Whether deliveries are sent', examples: [true] }, IsBoolean(booleanType))
  enabled?: boolean;

  @nullable({ ...DESCRIPTION_SHOWN, description: 'null removes it' }, IsString(stringType))
  description?: string | null;

  @nullable(
    {
      ...HEADERS_PATCH_SHOWN,
      description:
        'Merged with the custom headers: null removes one, or all. Names each of them when they move to a URL of another scheme, host or port',
    },
    areHeaders,
  )
  headers?: Record<string, string | null> | null;

  @nullable(
    { ...MAX_PER_SECOND_SHOWN, description: 'Deliveries sent in a second, at most; null ends the limit' },
    isRate,
  )
  maxPerSecond?: number | null;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return settingErrors(this, sound, true);
  }
}

/** The modes a caller may give: a live key live, or both; a test key test; a bearer token any. @throws Problem validation_failed */
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

export const distinct = <T>(types: readonly T[]): readonly T[] => [...new Set(types)];

const LONGEST_OVERLAP_SECONDS = 604_800;
const DAY_SECONDS = 86_400;
const overlap = {
  message: `must be a whole number of seconds from 0 to ${LONGEST_OVERLAP_SECONDS}`,
  context: { code: 'invalid_value' },
};

/** Body of POST …/rotate-secret. */
@ApiSchema({ name: 'RotateSecret' })
export class RotateSecretDto {
  @optional(
    {
      type: 'integer',
      minimum: 0,
      maximum: LONGEST_OVERLAP_SECONDS,
      default: DAY_SECONDS,
      description: 'How long the previous secret still signs, in seconds',
      examples: [3_600],
    },
    IsInt(overlap),
    Min(0, overlap),
    Max(LONGEST_OVERLAP_SECONDS, overlap),
  )
  overlapSeconds: number = DAY_SECONDS;
}

/** Body of POST …/test. */
@ApiSchema({ name: 'SendTestEvent' })
export class SendTestEventDto {
  @optional(
    {
      enum: PUBLIC_EVENT_TYPES,
      default: 'reading.completed',
      description: 'The type of the event to send',
      examples: ['reading.published'],
    },
    IsIn(PUBLIC_EVENT_TYPES, {
      message: `must be one of ${PUBLIC_EVENT_TYPES.join(', ')}`,
      context: { code: 'unsupported_event_type' },
    }),
  )
  type: PublicEventType = 'reading.completed';
}

const instantDetail = 'must be an RFC 3339 instant such as 2026-04-04T09:30:00Z';
const isInstant = IsString(invalidType(instantDetail));
const isList = IsArray(invalidType('must be an array'));
const IF_EMPTY = 'must not be empty: leave it out for all';

/** Body of POST …/replay. */
@ApiSchema({ name: 'ReplayEvents' })
export class ReplayDto implements SelfChecking {
  @ApiProperty({
    format: 'date-time',
    description: 'Sends events from this time on',
    examples: ['2026-04-01T00:00:00Z'],
  })
  @IsDefined(required)
  @isInstant
  since!: string;

  @optional(
    {
      format: 'date-time',
      description: 'Sends only events before this time; default: now',
      examples: ['2026-04-04T00:00:00Z'],
    },
    isInstant,
  )
  until?: string;

  @optional(
    {
      type: 'array',
      minItems: 1,
      items: { type: 'string', enum: [...PUBLIC_EVENT_TYPES] },
      description: 'Default: the types that the endpoint subscribes to',
      examples: [['reading.completed']],
    },
    isList,
  )
  types?: PublicEventType[];

  @optional(
    {
      type: 'array',
      minItems: 1,
      items: { type: 'string', enum: [...REPLAYABLE_STATUSES] },
      description: 'Outcomes of events at this endpoint; default: every outcome except a successful delivery',
      examples: [['missing', 'skipped']],
    },
    isList,
  )
  statuses?: ReplayableStatus[];

  @optional(
    { default: false, description: 'Counts and sends nothing', examples: [true] },
    IsBoolean(booleanType),
  )
  dryRun: boolean = false;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    const { since, until, types, statuses } = this;
    const errors = Object.entries({ since, until }).flatMap(([name, text]) =>
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
        ? listErrors('types', types, PUBLIC_EVENT_TYPES, 'unsupported_event_type', IF_EMPTY)
        : []),
      ...(statuses && sound('statuses')
        ? listErrors('statuses', statuses, REPLAYABLE_STATUSES, 'invalid_value', IF_EMPTY)
        : []),
    ];
  }
}
