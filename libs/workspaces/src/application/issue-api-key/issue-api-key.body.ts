import { ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsArray, IsIn, IsString } from 'class-validator';
import { MODES, type Mode } from '#event-sourcing/core/mode.js';
import { API_KEY_SCOPES, WRITABLE_SCOPES } from '#platform/auth/scopes.js';
import { IfSent, IfSentAndNotNull, listType, stringType } from '#platform/http/body-rules.js';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import { parseInstant } from '#platform/http/instant.js';
import type { FieldError } from '#platform/http/problem.js';
import { isLonger } from '#platform/text/is-longer.js';
import { LONGEST_LABEL } from '../../contracts/commands.js';
import { MOST_NETWORKS, networkText, readNetwork } from '../../contracts/networks.js';

/** Longer than any network in CIDR notation. */
const LONGEST_NETWORK = 64;

/** Body of POST /api/v1/keys. */
@ApiSchema({ name: 'IssueApiKey' })
export class IssueApiKeyDto implements SelfChecking {
  /** What the key is for, 1 to 100 characters. */
  @ApiPropertyOptional({
    type: 'string',
    nullable: true,
    minLength: 1,
    maxLength: LONGEST_LABEL,
    description: 'What the key is for',
    examples: ['nightly export'],
  })
  @IfSentAndNotNull()
  @IsString(stringType)
  label?: string | null;

  @ApiPropertyOptional({
    type: 'string',
    enum: [...MODES],
    description:
      'Whether the key makes and sees live or test resources. Default: the mode of the credential that issues it, `live` for a bearer token',
    examples: ['live'],
  })
  @IfSent()
  @IsIn(MODES, { message: `must be one of ${MODES.join(', ')}`, context: { code: 'invalid_value' } })
  mode?: Mode;

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', enum: [...WRITABLE_SCOPES] },
    minItems: 1,
    description:
      'What the key may do. `webhooks:*` stands for both scopes of webhooks. Default: all but `erasure`, `keys:write` and `portal:write`; for a caller with an API key, as many of them as that key has',
    examples: [['readings:read', 'readings:write', 'documents:read']],
  })
  @IfSent()
  @IsArray(listType)
  scopes?: string[];

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', maxLength: LONGEST_NETWORK },
    maxItems: MOST_NETWORKS,
    description:
      'Networks that the key works from, in CIDR notation (IPv4 or IPv6); empty: everywhere. Default: everywhere; for a caller with an API key, the networks of that key',
    examples: [['203.0.113.0/24', '2001:db8::/32']],
  })
  @IfSent()
  @IsArray(listType)
  networks?: string[];

  /** RFC 3339 instant after which the key is refused; left out or null: it does not expire. */
  @ApiPropertyOptional({
    type: 'string',
    nullable: true,
    format: 'date-time',
    description:
      'When the key stops working; null or absent: never, or for a caller with an API key, when that key does',
    examples: ['2027-12-31T00:00:00Z'],
  })
  @IfSentAndNotNull()
  @IsString(stringType)
  expiresAt?: string | null;

  /** The networks as they are stored; `null` when none are asked for. */
  canonicalNetworks(): readonly string[] | null {
    return this.networks ? [...new Set(this.networks.map((text) => networkText(readNetwork(text)!)))] : null;
  }

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return [
      ...(sound('label') ? labelErrors(this.label) : []),
      ...(sound('scopes') ? scopeErrors(this.scopes) : []),
      ...(sound('networks') ? networkErrors(this.networks) : []),
      ...(sound('expiresAt') ? expiryErrors(this.expiresAt) : []),
    ];
  }
}

const labelErrors = (label: string | null | undefined): FieldError[] => {
  if (typeof label !== 'string' || (label !== '' && !isLonger(label, LONGEST_LABEL))) return [];
  const detail = `must have 1 to ${LONGEST_LABEL} characters`;
  return [{ pointer: '/label', code: label === '' ? 'too_short' : 'too_long', detail }];
};

const scopeErrors = (scopes: readonly unknown[] | undefined): FieldError[] => {
  const allowed = `must be one of ${WRITABLE_SCOPES.join(', ')}`;
  if (scopes?.length === 0)
    return [{ pointer: '/scopes', code: 'too_short', detail: 'must name at least one scope' }];
  if (scopes && scopes.length > 2 * API_KEY_SCOPES.length)
    return [{ pointer: '/scopes', code: 'too_long', detail: 'must name each scope once' }];
  return (scopes ?? []).flatMap((scope, index) =>
    (WRITABLE_SCOPES as readonly unknown[]).includes(scope)
      ? []
      : [{ pointer: `/scopes/${index}`, code: 'unknown_scope', detail: allowed }],
  );
};

const networkErrors = (networks: readonly unknown[] | undefined): FieldError[] => {
  if (networks && networks.length > MOST_NETWORKS) {
    const detail = `must have at most ${MOST_NETWORKS} networks`;
    return [{ pointer: '/networks', code: 'too_long', detail }];
  }
  const detail =
    'must be a network such as 203.0.113.0/24 or 2001:db8::/32, without bits set after the prefix';
  return (networks ?? []).flatMap((text, index) =>
    typeof text === 'string' && readNetwork(text)
      ? []
      : [{ pointer: `/networks/${index}`, code: 'invalid_network', detail }],
  );
};

const expiryErrors = (expiresAt: string | null | undefined): FieldError[] =>
  typeof expiresAt === 'string' && parseInstant(expiresAt) === null
    ? [
        {
          pointer: '/expiresAt',
          code: 'invalid_value',
          detail: 'must be an RFC 3339 instant such as 2027-12-31T00:00:00Z',
        },
      ]
    : [];
