import { MODES, type Mode } from '#event-sourcing/core/mode.js';
import type { Principal } from '#platform/auth/authentication.js';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import { invalidRequest, Problem, type FieldError } from '#platform/http/problem.js';
import { toPointer } from '#platform/http/strict-json.js';
import { isLonger } from '#platform/text/is-longer.js';
import { PUBLIC_EVENT_TYPES, type PublicEventType } from '../contracts/event-types.js';
import { NOTICE_TYPES, isNotice } from '../contracts/notice-types.js';
import { LONGEST_VALUE, MOST_HEADERS, headerFaults } from '../domain/headers/custom-headers.js';
import { checkWebhookUrl } from '../domain/url/webhook-url.js';

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
