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

type Shown = Parameters<typeof ApiPropertyOptional>[0];
const optional = (shown: Shown, ...checks: readonly PropertyDecorator[]) =>
  applyDecorators(ApiPropertyOptional(shown), IfSent(), ...checks);
const nullable = (shown: Shown, ...checks: readonly PropertyDecorator[]) =>
  applyDecorators(ApiPropertyOptional(shown), IfSentAndNotNull(), ...checks);

/** The settings that a creation and a change have in common, each with its own words. */
const URL_SHOWN = {
  format: 'uri',
  maxLength: 2_048,
  description: 'Absolute https URL of a public address, without login or fragment',
  examples: ['https://receiver.example.com/hook'],
};
const listOf = (values: readonly string[]) => ({ type: 'string', enum: [...values] });
const events = (description: string) => {
  const examples = [['reading.completed', 'reading.published']];
  const shown = { type: 'array' as const, minItems: 1, items: listOf(PUBLIC_EVENT_TYPES), examples };
  return optional({ ...shown, description }, IsArray(invalidType('must be an array of event types')));
};
const modes = (description: string) => {
  const shown = { type: 'array' as const, minItems: 1, items: listOf(MODES), examples: [['live']] };
  return optional({ ...shown, description }, IsArray(invalidType('must be an array of modes')));
};
const notices = (description: string) => {
  const shown = { type: 'array' as const, items: listOf(NOTICE_TYPES), examples: [['batch.ended']] };
  return optional({ ...shown, description }, IsArray(invalidType('must be an array of notices')));
};
const description = (said: string) =>
  nullable(
    {
      ...{ type: 'string', nullable: true, maxLength: LONGEST_DESCRIPTION, examples: ['orders'] },
      description: said,
    },
    IsString(stringType),
  );
const headers = (shown: object) =>
  nullable(
    { type: 'object', nullable: true, ...shown } as Shown,
    IsObject(invalidType('must be an object of strings')),
  );
const maxPerSecond = (said: string) =>
  nullable(
    {
      ...{ type: 'integer', nullable: true, minimum: 1, maximum: HIGHEST_PER_SECOND, examples: [20] },
      description: said,
    },
    IsNumber({}, invalidType('must be a number')),
  );
const HEADER_SHOWN = { minLength: 1, maxLength: LONGEST_VALUE };

const fault = (pointer: string, code: string, detail: string): FieldError[] => [{ pointer, code, detail }];

/** Checks each of a list against a closed set. @param ifEmpty the detail when it is empty; without one, it may be */
const listErrors = (
  name: string,
  list: readonly unknown[],
  allowed: readonly string[],
  code: string,
  ifEmpty?: string,
): FieldError[] =>
  list.length === 0 && ifEmpty !== undefined
    ? fault(`/${name}`, 'too_short', ifEmpty)
    : list.flatMap((one, index) =>
        allowed.includes(one as string)
          ? []
          : fault(`/${name}/${index}`, code, `must be one of ${allowed.join(', ')}`),
      );

/** Checks the rules of the text, without those that the operator can relax, so that one response has all errors. */
const urlErrors = (url: string): FieldError[] => {
  const verdict = checkWebhookUrl(url, { allowHttp: true, allowCidrs: ['0.0.0.0/0', '::/0'] });
  return verdict.ok ? [] : fault('/url', verdict.code, verdict.detail);
};

/** Pointers name the header as it was sent; a name is no secret, a value may be one. */
const headersErrors = (headers: Readonly<Record<string, unknown>>, isPatch: boolean): FieldError[] =>
  headerFaults(headers, { isPatch }).map(({ name, code, detail }) => ({
    pointer: name === null ? '/headers' : toPointer(['headers', name]),
    code,
    detail,
  }));

type Settings = Omit<ChangeWebhookEndpointDto, 'fieldErrors'>;

/** The rules of the settings that were sent and have the right shape, in this order. */
const CHECKS: {
  readonly [Name in keyof Settings]?: (value: NonNullable<Settings[Name]>, isPatch: boolean) => FieldError[];
} = {
  url: urlErrors,
  events: (list) => {
    const ifEmpty = 'must name at least one event type';
    return listErrors('events', list, PUBLIC_EVENT_TYPES, 'unsupported_event_type', ifEmpty);
  },
  modes: (list) => listErrors('modes', list, MODES, 'invalid_value', 'must name at least one mode'),
  notices: (list) => listErrors('notices', list, NOTICE_TYPES, 'invalid_value'),
  description: (text) =>
    isLonger(text, LONGEST_DESCRIPTION)
      ? fault('/description', 'too_long', `must be at most ${LONGEST_DESCRIPTION} characters`)
      : [],
  headers: headersErrors,
  maxPerSecond: (rate) =>
    Number.isInteger(rate) && rate >= 1 && rate <= HIGHEST_PER_SECOND
      ? []
      : fault(
          '/maxPerSecond',
          'invalid_value',
          `must be a whole number from 1 to ${HIGHEST_PER_SECOND}, or null`,
        ),
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

  @events('Default: all four')
  events?: PublicEventType[];

  @modes('Of the readings whose events it receives; default: `live`, for a test key `test`')
  modes?: Mode[];

  @notices('What it is told besides events; default: nothing')
  notices?: NoticeType[];

  @description('For you: the service does not use it')
  description?: string | null;

  @headers({
    maxProperties: MOST_HEADERS,
    additionalProperties: { type: 'string', ...HEADER_SHOWN },
    examples: [{ authorization: 'Bearer 4f7c0de1' }],
    description:
      'Sent with each delivery, values by name: at most ten. Stored sealed and never shown again; reserved names are refused',
  })
  headers?: Record<string, string> | null;

  @maxPerSecond('Deliveries sent in a second, at most; default: as fast as the endpoint answers')
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

  @events('Replaces the whole choice')
  events?: PublicEventType[];

  @modes('Replaces the whole choice')
  modes?: Mode[];

  @notices('Replaces the whole choice; `[]` ends it')
  notices?: NoticeType[];

  @optional({ description: 'Whether deliveries are sent', examples: [true] }, IsBoolean(booleanType))
  enabled?: boolean;

  @description('null removes it')
  description?: string | null;

  @headers({
    additionalProperties: { type: 'string', nullable: true, ...HEADER_SHOWN },
    examples: [{ authorization: 'Bearer 4f7c0de1', 'x-tenant': null }],
    description:
      'Merged with the custom headers: null removes one, or all. Names each of them when they move to a URL of another scheme, host or port',
  })
  headers?: Record<string, string | null> | null;

  @maxPerSecond('Deliveries sent in a second, at most; null ends the limit')
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
      items: listOf(PUBLIC_EVENT_TYPES),
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
      items: listOf(REPLAYABLE_STATUSES),
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
        : fault(`/${name}`, 'invalid_value', instantDetail),
    );
    const [from, to] = [since, until].map((text) => (typeof text === 'string' ? parseInstant(text) : null));
    if (from && to && from >= to) errors.push(...fault('/until', 'invalid_value', 'must be after since'));
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
