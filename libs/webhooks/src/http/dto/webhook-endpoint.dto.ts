import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsDefined, IsIn, IsInt, IsString, Max, Min, ValidateIf } from 'class-validator';
import type { SelfChecking } from '@app/platform/http/body.pipe.js';
import type { FieldError } from '@app/platform/http/problem.js';
import { PUBLIC_EVENT_TYPES, type PublicEventType } from '../../contracts/event-types.js';
import { checkWebhookUrl } from '../../domain/url/webhook-url.js';

const LONGEST_DESCRIPTION = 500;
const LONGEST_OVERLAP_SECONDS = 604_800;
const DAY_SECONDS = 86_400;

const required = { message: 'is required', context: { code: 'required' } };
const urlType = { message: 'must be a URL', context: { code: 'invalid_webhook_url' } };
const arrayType = { message: 'must be an array of event types', context: { code: 'invalid_type' } };
const stringType = { message: 'must be a string or null', context: { code: 'invalid_type' } };
const booleanType = { message: 'must be true or false', context: { code: 'invalid_type' } };
const oneOf = {
  message: `must be one of ${PUBLIC_EVENT_TYPES.join(', ')}`,
  context: { code: 'unsupported_event_type' },
};
const overlap = {
  message: `must be a whole number of seconds from 0 to ${LONGEST_OVERLAP_SECONDS}`,
  context: { code: 'invalid_value' },
};

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
const DESCRIPTION_SHOWN = {
  type: 'string',
  nullable: true,
  maxLength: LONGEST_DESCRIPTION,
  examples: ['orders'],
} as const;

/** Unlike IsOptional, lets a member be left out without letting it be null. */
const IfSent = () => ValidateIf((_, value) => value !== undefined);
const IfSentAndNotNull = () => ValidateIf((_, value) => value !== undefined && value !== null);

/** The rules of the text alone, without those the operator can relax; so that all errors of a body come at once. */
const urlErrors = (url: string): FieldError[] => {
  const verdict = checkWebhookUrl(url, { allowHttp: true, allowCidrs: ['0.0.0.0/0', '::/0'] });
  return verdict.ok ? [] : [{ pointer: '/url', code: verdict.code, detail: verdict.detail }];
};

const descriptionErrors = (description: string): FieldError[] =>
  [...description].length <= LONGEST_DESCRIPTION
    ? []
    : [
        {
          pointer: '/description',
          code: 'too_long',
          detail: `must be at most ${LONGEST_DESCRIPTION} characters`,
        },
      ];

const eventErrors = (events: readonly unknown[]): FieldError[] => {
  if (events.length === 0)
    return [{ pointer: '/events', code: 'too_short', detail: 'must name at least one event type' }];
  return events.flatMap((type, index) =>
    PUBLIC_EVENT_TYPES.includes(type as PublicEventType)
      ? []
      : [{ pointer: `/events/${index}`, code: 'unsupported_event_type', detail: oneOf.message }],
  );
};

interface Settings {
  readonly url?: string;
  readonly events?: readonly unknown[];
  readonly description?: string | null;
}

const settingErrors = (
  { url, events, description }: Settings,
  sound: (property: string) => boolean,
): FieldError[] => [
  ...(url !== undefined && sound('url') ? urlErrors(url) : []),
  ...(events && sound('events') ? eventErrors(events) : []),
  ...(description && sound('description') ? descriptionErrors(description) : []),
];

/** Body of POST /api/v1/webhooks. */
@ApiSchema({ name: 'CreateWebhookEndpoint' })
export class CreateWebhookEndpointDto implements SelfChecking {
  @ApiProperty(URL_SHOWN)
  @IsDefined(required)
  @IsString(urlType)
  url!: string;

  /** Left out: all event types. */
  @ApiPropertyOptional({ ...EVENTS_SHOWN, description: 'Left out: all four' })
  @IfSent()
  @IsArray(arrayType)
  events?: PublicEventType[];

  @ApiPropertyOptional(DESCRIPTION_SHOWN)
  @IfSentAndNotNull()
  @IsString(stringType)
  description?: string | null;

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

  @ApiPropertyOptional({ ...EVENTS_SHOWN, description: 'Replaces the choice as a whole' })
  @IfSent()
  @IsArray(arrayType)
  events?: PublicEventType[];

  @ApiPropertyOptional({ examples: [true] })
  @IfSent()
  @IsBoolean(booleanType)
  enabled?: boolean;

  /** `null` removes it. */
  @ApiPropertyOptional({ ...DESCRIPTION_SHOWN, description: 'null removes it' })
  @IfSentAndNotNull()
  @IsString(stringType)
  description?: string | null;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return settingErrors(this, sound);
  }
}

/** Body of POST …/rotate-secret. */
@ApiSchema({ name: 'RotateSecret' })
export class RotateSecretDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: LONGEST_OVERLAP_SECONDS,
    default: DAY_SECONDS,
    description: 'How long the secret before goes on signing, seconds',
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
    examples: ['reading.published'],
  })
  @IfSent()
  @IsIn(PUBLIC_EVENT_TYPES, oneOf)
  type: PublicEventType = 'reading.completed';
}
