import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsArray, IsDefined, IsIn, IsInt, IsString, Max, Min } from 'class-validator';
import { SESSION_SCOPES } from '#platform/auth/scopes.js';
import { IfSent, IfSentAndNotNull, listType, required, stringType } from '#platform/http/body-rules.js';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import type { FieldError } from '#platform/http/problem.js';
import {
  LONGEST_SESSION_SECONDS,
  LONGEST_TIME_ZONE,
  PORTAL_LANGUAGES,
  isTimeZone,
  type PortalLanguage,
} from '../../contracts/portal.js';

const SHORTEST_SESSION_SECONDS = 60;
const LONGEST_RETURN_URL = 2_048;
const DEFAULT_SECONDS = 3_600;

const oneOf = (values: readonly string[]) => ({
  message: `must be one of ${values.join(', ')}`,
  context: { code: 'invalid_value' },
});
const lifetime = {
  message: `must be a whole number of seconds from ${SHORTEST_SESSION_SECONDS} to ${LONGEST_SESSION_SECONDS}`,
  context: { code: 'invalid_value' },
};

/** Body of POST /api/v1/portal/sessions. */
@ApiSchema({ name: 'OpenPortalSession' })
export class OpenPortalSessionDto implements SelfChecking {
  @ApiProperty({
    type: 'array',
    items: { type: 'string', enum: [...SESSION_SCOPES] },
    minItems: 1,
    description:
      'What the session may do: scopes that the key has, and `persons:read`, which shows names and birth dates and needs `readings:read`',
    examples: [['readings:read', 'documents:read', 'credits:read']],
  })
  @IsDefined(required)
  @IsArray(listType)
  scopes!: string[];

  @ApiPropertyOptional({
    type: 'string',
    enum: [...PORTAL_LANGUAGES],
    default: 'en',
    description: 'The language of its pages; the person can choose the other',
    examples: ['fr'],
  })
  @IfSent()
  @IsIn(PORTAL_LANGUAGES, oneOf(PORTAL_LANGUAGES))
  language: PortalLanguage = 'en';

  @ApiPropertyOptional({
    type: 'string',
    maxLength: LONGEST_TIME_ZONE,
    default: 'UTC',
    description: 'The time zone of its pages, an IANA name; the person can choose another',
    examples: ['Europe/Paris'],
  })
  @IfSent()
  @IsString(stringType)
  timeZone: string = 'UTC';

  @ApiPropertyOptional({
    type: 'string',
    nullable: true,
    format: 'uri',
    maxLength: LONGEST_RETURN_URL,
    description: 'Where the pages lead back to, an https URL of yours',
    examples: ['https://app.example.com/readings'],
  })
  @IfSentAndNotNull()
  @IsString(stringType)
  returnUrl?: string | null;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: SHORTEST_SESSION_SECONDS,
    maximum: LONGEST_SESSION_SECONDS,
    default: DEFAULT_SECONDS,
    description: 'How long the session lasts once its link is used, in seconds',
    examples: [3_600],
  })
  @IfSent()
  @IsInt(lifetime)
  @Min(SHORTEST_SESSION_SECONDS, lifetime)
  @Max(LONGEST_SESSION_SECONDS, lifetime)
  ttlSeconds: number = DEFAULT_SECONDS;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return [
      ...(sound('scopes') ? scopeErrors(this.scopes) : []),
      ...(sound('timeZone') && !isTimeZone(this.timeZone) ? [unknownZone] : []),
      ...(sound('returnUrl') && this.returnUrl && !isReturnUrl(this.returnUrl) ? [unusableUrl] : []),
    ];
  }
}

const scopeErrors = (scopes: readonly unknown[]): FieldError[] => {
  if (scopes.length === 0)
    return [{ pointer: '/scopes', code: 'too_short', detail: 'must name at least one scope' }];
  if (scopes.length > SESSION_SCOPES.length)
    return [{ pointer: '/scopes', code: 'too_long', detail: 'must name each scope once' }];
  const { message: detail } = oneOf(SESSION_SCOPES);
  return scopes.flatMap((scope, index) =>
    (SESSION_SCOPES as readonly unknown[]).includes(scope)
      ? []
      : [{ pointer: `/scopes/${index}`, code: 'unknown_scope', detail }],
  );
};

const unknownZone: FieldError = {
  pointer: '/timeZone',
  code: 'invalid_value',
  detail: 'must be an IANA time zone such as Europe/Paris',
};

const isReturnUrl = (text: string): boolean => {
  const url = text.length <= LONGEST_RETURN_URL && URL.canParse(text) ? new URL(text) : null;
  const isLocal = url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url !== null && (url.protocol === 'https:' || isLocal) && url.username === '' && url.password === '';
};
const unusableUrl: FieldError = {
  pointer: '/returnUrl',
  code: 'invalid_value',
  detail: 'must be an https URL without login; http only on this machine',
};
