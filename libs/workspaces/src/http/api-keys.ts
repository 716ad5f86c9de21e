import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation, ApiSchema, ApiTags } from '@nestjs/swagger';
import { IsArray, IsString } from 'class-validator';
import type { Response } from 'express';
import { z } from 'zod';
import type { Clock } from '#event-sourcing/core/clock.js';
import { type Mode, MODES } from '#event-sourcing/core/request-context.js';
import { Accepts, API_KEY_CHALLENGE, Caller, type Principal } from '#platform/auth/authentication.js';
import {
  API_KEY_SCOPES,
  expandScopes,
  PERSONS_SCOPE,
  SHOW_PERSONS,
  WRITABLE_SCOPES,
} from '#platform/auth/scopes.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import {
  DAY_SECONDS,
  listType,
  MAX_OVERLAP_SECONDS,
  NullableField,
  OneOf,
  OptionalField,
  SecondsField,
  stringType,
} from '#platform/http/body-rules.js';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import { parseInstant } from '#platform/http/instant.js';
import { apiPage, apiSchema, instant, text } from '#platform/http/openapi/api-schema.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { OptionalBody } from '#platform/http/optional-body.pipe.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { type FieldError, invalidRequest, Problem } from '#platform/http/problem.js';
import { RequestSeed } from '#platform/http/request-seed.js';
import { ShownOnce } from '#platform/idempotency/idempotency.interceptor.js';
import { isLonger } from '#platform/text/is-longer.js';
import { CLOCK } from '#platform/tokens.js';
import {
  type ApiKeySummary,
  type BeyondCaller,
  IssueApiKey,
  type KeyManager,
  type KeyRefusal,
  MAX_LABEL_LENGTH,
  RevokeApiKey,
  RotateApiKey,
} from '../contracts/index.js';
import { MAX_NETWORKS, networkText, readNetwork } from '../contracts/networks.js';
import { ApiKeyQuery } from '../read-models/queries.js';

const READS_KEYS = { apiKey: 'keys:write', bearer: 'keys:read' } as const;
const WRITES_KEYS = { apiKey: 'keys:write', bearer: 'keys:write' } as const;

/** What a caller may do with keys. */
const managerOf = ({ authMode, actor, sees, scopes, openedBy }: Principal): KeyManager => ({
  keyId: authMode === 'apiKey' ? actor.slice('apiKey:'.length) : (openedBy ?? null),
  sees,
  ...(authMode === 'session' && {
    scopes,
    hides: scopes.includes(PERSONS_SCOPE) ? [] : SHOW_PERSONS,
  }),
});

const EXAMPLE_ID = 'Ab3dE6gH';

const NAMED_KEY = { description: 'The `keyId` of the key: not a secret', example: EXAMPLE_ID };

const KEY_ID = /^[0-9A-Za-z]{8}$/;
const facts = {
  keyId: text(KEY_ID).describe('Names the key; not a secret'),
  label: z.string().nullable().describe('As given when it was issued'),
  mode: z.enum(MODES).describe('It makes and sees only resources of this mode'),
  // Open for clients: v1 may add scopes.
  scopes: z
    .array(z.string())
    .describe(`What it may do: ${API_KEY_SCOPES.map((one) => `\`${one}\``).join(', ')}`),
  networks: z.array(z.string()).describe('Networks that it works from, in CIDR notation; empty: everywhere'),
  expiresAt: instant()
    .nullable()
    .describe('When it stops working, also after a rotation; null: it does not expire'),
};
const example = {
  keyId: EXAMPLE_ID,
  label: 'nightly export',
  mode: 'live' as const,
  scopes: ['readings:read', 'documents:read'],
  networks: ['203.0.113.0/24'],
  expiresAt: null,
};

const exampleKey = {
  ...example,
  issuedAt: '2026-04-04T09:30:00.000Z',
  revokedAt: null,
  lastUsedAt: '2026-05-12T14:00:00.000Z',
};

const apiKeySchema = apiSchema<ApiKeySummary>(
  'ApiKey',
  z.object({
    ...facts,
    issuedAt: instant().describe('When it was issued'),
    revokedAt: instant().nullable().describe('Since when it is refused; null: it was not revoked'),
    lastUsedAt: instant()
      .nullable()
      .describe('The hour of its last use, recorded within seconds; null: never used'),
  }),
  'An API key, without its secret.',
  exampleKey,
);

const apiKeysSchema = apiPage(
  'ApiKeys',
  apiKeySchema,
  'A page of the keys of the workspace, newest first, including revoked and expired ones.',
  exampleKey,
);

const EXAMPLE_KEY = 'ek_live_Ab3dE6gH_4rT9vXk2LmQ8sYw1ZbN6cD0pF3hJ5kM70a1B2c';
const issuedKey = {
  ...facts,
  apiKey: z
    .string()
    .optional()
    .describe('Shown this once; an answer repeated for an `Idempotency-Key` is without it'),
};

const issuedApiKeySchema = apiSchema('IssuedApiKey', z.object(issuedKey), 'A key that was just issued.', {
  ...example,
  apiKey: EXAMPLE_KEY,
});

const rotatedApiKeySchema = apiSchema(
  'RotatedApiKey',
  z.object({
    ...issuedKey,
    previousKeyId: text(KEY_ID).describe('The key that this one replaces'),
    previousExpiresAt: instant().describe('When the previous key stops working'),
  }),
  'A key that was just issued in place of another.',
  {
    ...example,
    apiKey: EXAMPLE_KEY,
    previousKeyId: 'Zz9yX8wV',
    previousExpiresAt: '2026-05-13T09:30:00.000Z',
  },
);

const unknownKey = (): Problem => new Problem('not_found', { detail: 'There is no such API key' });

/** @throws Problem for text that can be no key's id */
const requireKeyId = (text: string): void => {
  if (!KEY_ID.test(text)) throw unknownKey();
};

/** The problem for a key that the workspace does not have, or not in a mode that the caller sees. */
const absentKey = async (keys: ApiKeyQuery, keyId: string, workspaceId: string): Promise<Problem> => {
  const row = await keys.find(keyId);
  return row && row.workspaceId !== workspaceId ? new Problem('wrong_workspace') : unknownKey();
};

/** The problem for each refusal to issue or rotate a key. */
const problemOf = (refusal: KeyRefusal): Problem => {
  switch (refusal.outcome) {
    case 'unknown_workspace':
      return new Problem('wrong_workspace');
    case 'unknown_key':
      return unknownKey();
    case 'own_key_ended':
      return new Problem('unauthenticated', { headers: { 'WWW-Authenticate': API_KEY_CHALLENGE } });
    case 'key_limit_reached':
      return new Problem('key_limit_reached', {
        detail: `A workspace has at most ${refusal.limit} active keys, and ten times as many with expired ones; revoke some`,
      });
    case 'beyond_caller':
      return beyond(refusal);
  }
};

const beyond = (refusal: BeyondCaller): Problem => {
  if (refusal.term === 'persons')
    return new Problem('scope_missing', {
      detail: `A session without ${PERSONS_SCOPE} gives no key ${SHOW_PERSONS.join(', ')}`,
      members: { scope: PERSONS_SCOPE },
    });
  if (refusal.term !== 'scopes' && refusal.term !== 'never')
    return invalidRequest([OUT_OF_REACH[refusal.term]]);
  const { scope } = refusal;
  return refusal.term === 'never'
    ? new Problem('auth_mode_not_allowed', {
        detail: `This kind of credential gives no key the scope ${scope}`,
      })
    : new Problem('scope_missing', {
        detail: `An API key gives only scopes that it has, and it lacks ${scope}`,
        members: { scope },
      });
};

const notAllowed = (pointer: string, detail: string) => ({ pointer, code: 'not_allowed', detail });

const OUT_OF_REACH = {
  mode: notAllowed('/mode', 'must be the mode of the credential that issues the key'),
  networks: notAllowed('/networks', 'must be within the networks of the key that issues it'),
  expiresAt: notAllowed('/expiresAt', 'must not be after the end of the key that issues it'),
} as const;

/** Longer than any network in CIDR notation. */
const MAX_NETWORK_LENGTH = 64;

/** Body of POST /api/v1/keys. */
@ApiSchema({ name: 'IssueApiKey' })
class IssueApiKeyDto implements SelfChecking {
  @NullableField(IsString(stringType), {
    type: 'string',
    nullable: true,
    minLength: 1,
    maxLength: MAX_LABEL_LENGTH,
    description: 'What the key is for',
    examples: ['nightly export'],
  })
  label?: string | null;

  @OptionalField(OneOf(MODES), {
    type: 'string',
    enum: [...MODES],
    description:
      'Whether the key makes and sees live or test resources. Default: the mode of the credential that issues it, `live` for a bearer token',
    examples: ['live'],
  })
  mode?: Mode;

  @OptionalField(IsArray(listType), {
    type: 'array',
    items: { type: 'string', enum: [...WRITABLE_SCOPES] },
    minItems: 1,
    description:
      'What the key may do. `webhooks:*` stands for both scopes of webhooks. Default: all but `erasure`, `keys:write` and `portal:write`; for a caller with an API key, as many of them as that key has',
    examples: [['readings:read', 'readings:write', 'documents:read']],
  })
  scopes?: string[];

  @OptionalField(IsArray(listType), {
    type: 'array',
    items: { type: 'string', maxLength: MAX_NETWORK_LENGTH },
    maxItems: MAX_NETWORKS,
    description:
      'Networks that the key works from, in CIDR notation (IPv4 or IPv6); empty: everywhere. Default: everywhere; for a caller with an API key, the networks of that key',
    examples: [['203.0.113.0/24', '2001:db8::/32']],
  })
  networks?: string[];

  @NullableField(IsString(stringType), {
    type: 'string',
    nullable: true,
    format: 'date-time',
    description:
      'When the key stops working; null or absent: never, or for a caller with an API key, when that key does',
    examples: ['2027-12-31T00:00:00Z'],
  })
  expiresAt?: string | null;

  /** The networks as they are stored; `null` when none are asked for. */
  canonicalNetworks(): readonly string[] | null {
    return this.networks ? [...new Set(this.networks.map((text) => networkText(readNetwork(text)!)))] : null;
  }

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return [
      ...(sound('label') ? labelErrors(this.label) : []),
      ...(sound('scopes') && this.scopes
        ? scopeErrors(this.scopes, WRITABLE_SCOPES, 2 * API_KEY_SCOPES.length)
        : []),
      ...(sound('networks') ? networkErrors(this.networks) : []),
      ...(sound('expiresAt') ? expiryErrors(this.expiresAt) : []),
    ];
  }
}

const labelErrors = (label: string | null | undefined): FieldError[] => {
  if (typeof label !== 'string' || (label !== '' && !isLonger(label, MAX_LABEL_LENGTH))) return [];
  const detail = `must have 1 to ${MAX_LABEL_LENGTH} characters`;
  return [{ pointer: '/label', code: label === '' ? 'too_short' : 'too_long', detail }];
};

/** @param most a list may name a scope twice, but not hold up the check of each */
export const scopeErrors = (
  scopes: readonly unknown[],
  allowed: readonly unknown[],
  most: number,
): FieldError[] => {
  if (scopes.length === 0)
    return [{ pointer: '/scopes', code: 'too_short', detail: 'must name at least one scope' }];
  if (scopes.length > most)
    return [{ pointer: '/scopes', code: 'too_long', detail: 'must name each scope once' }];
  const detail = `must be one of ${allowed.join(', ')}`;
  return scopes.flatMap((scope, index) =>
    allowed.includes(scope) ? [] : [{ pointer: `/scopes/${index}`, code: 'unknown_scope', detail }],
  );
};

const networkErrors = (networks: readonly unknown[] | undefined): FieldError[] => {
  if (networks && networks.length > MAX_NETWORKS) {
    const detail = `must have at most ${MAX_NETWORKS} networks`;
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

/** Body of POST /api/v1/keys/{keyId}/rotate. */
@ApiSchema({ name: 'RotateApiKey' })
class RotateApiKeyDto {
  @SecondsField({
    minimum: 0,
    maximum: MAX_OVERLAP_SECONDS,
    default: DAY_SECONDS,
    description: 'How long the previous key still works, in seconds; 0 revokes it',
    examples: [3_600],
  })
  overlapSeconds: number = DAY_SECONDS;
}

/** The API keys of a workspace. */
@Controller('api/v1/keys')
@ApiTags('Keys')
export class ApiKeysController {
  constructor(
    private readonly commands: CommandBus,
    private readonly keys: ApiKeyQuery,
    private readonly cursors: PageCursors,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Accepts(READS_KEYS)
  @ApiOperation({
    operationId: 'listApiKeys',
    summary: 'List the API keys of the workspace',
    description:
      'Returns the newest keys first, with revoked and expired keys but without secrets. A caller with an API key sees the keys of its mode.',
  })
  @Answers(200, 'A page of keys', apiKeysSchema)
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Caller() { workspaceId, sees }: Principal,
  ) {
    const scope = ['keys', workspaceId, ...sees] as const;
    const page = this.cursors.read(limit, cursor, ...scope);
    const keys = await this.keys.page(workspaceId, sees, page.limit + 1, page.after);
    return this.cursors.page(keys, page.limit, ({ issuedAt, keyId }) => [issuedAt, keyId], ...scope);
  }

  @Post()
  @Accepts(WRITES_KEYS)
  @HttpCode(201)
  @ShownOnce('apiKey')
  @ApiOperation({
    operationId: 'issueApiKey',
    summary: 'Issue an API key',
    description:
      'Only this response contains the key. The key works at once. A caller with an API key gives no more than that key has, and never `keys:write`.',
  })
  @Answers(201, 'The key', issuedApiKeySchema, ['Location'])
  @Refuses('wrong_workspace', 'key_limit_reached')
  async issue(
    @Body() body: IssueApiKeyDto,
    @Caller() caller: Principal,
    @RequestSeed() seed: Buffer | undefined,
    @Res({ passthrough: true }) response: Response,
  ) {
    const answer = await this.commands.execute(
      new IssueApiKey(
        caller.workspaceId,
        {
          label: body.label ?? null,
          mode: body.mode ?? caller.mode,
          scopes: body.scopes ? expandScopes(body.scopes) : null,
          networks: body.canonicalNetworks(),
          expiresAt: this.future(body.expiresAt ?? null),
        },
        ownRequest(caller.actor, undefined, seed),
        managerOf(caller),
      ),
    );
    if (answer.outcome !== 'issued') throw problemOf(answer);
    const { keyId, apiKey, terms } = answer;
    response.set('Location', `/api/v1/keys/${keyId}`);
    return { keyId, apiKey, ...terms };
  }

  @Post(':keyId/rotate')
  @Accepts(WRITES_KEYS)
  @HttpCode(201)
  @ShownOnce('apiKey')
  @ApiOperation({
    operationId: 'rotateApiKey',
    summary: 'Replace an API key',
    description:
      'Issues a key with the label, mode, scopes, networks and expiry of this one. Only this response contains it. The previous key works for `overlapSeconds` more, and both count as active keys. With 0 it is revoked.',
  })
  @ApiBody({ type: RotateApiKeyDto, required: false })
  @Names('keyId', 'not_found', NAMED_KEY)
  @Answers(201, 'The new key', rotatedApiKeySchema, ['Location'])
  @Refuses('key_limit_reached')
  async rotate(
    @Param('keyId') previousKeyId: string,
    @OptionalBody() { overlapSeconds }: RotateApiKeyDto,
    @Caller() caller: Principal,
    @RequestSeed() seed: Buffer | undefined,
    @Res({ passthrough: true }) response: Response,
  ) {
    requireKeyId(previousKeyId);
    const { workspaceId, actor } = caller;
    const answer = await this.commands.execute(
      new RotateApiKey(
        previousKeyId,
        overlapSeconds,
        ownRequest(actor, undefined, seed),
        workspaceId,
        managerOf(caller),
      ),
    );
    if (answer.outcome === 'unknown_key') throw await absentKey(this.keys, previousKeyId, workspaceId);
    if (answer.outcome !== 'rotated') throw problemOf(answer);
    const { keyId, apiKey, terms, previousExpiresAt } = answer;
    response.set('Location', `/api/v1/keys/${keyId}`);
    return { keyId, apiKey, ...terms, previousKeyId, previousExpiresAt };
  }

  @Delete(':keyId')
  @Accepts(WRITES_KEYS)
  @HttpCode(204)
  @ApiOperation({
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description:
      'Every process refuses the key at once, or within seconds while it cannot reach its database. Revoking it again changes nothing.',
  })
  @Names('keyId', 'not_found', NAMED_KEY)
  @Answers(204, 'The key is revoked')
  async revoke(
    @Param('keyId') keyId: string,
    @Caller() { workspaceId, actor, sees }: Principal,
  ): Promise<void> {
    requireKeyId(keyId);
    const { outcome } = await this.commands.execute(
      new RevokeApiKey(keyId, null, ownRequest(actor), workspaceId, sees),
    );
    if (outcome === 'unknown_key') throw await absentKey(this.keys, keyId, workspaceId);
  }

  private future(expiresAt: string | null): string | null {
    const expires = expiresAt === null ? null : parseInstant(expiresAt);
    if (expires !== null && Date.parse(expires) <= this.clock.now()) {
      throw invalidRequest([
        { pointer: '/expiresAt', code: 'invalid_value', detail: 'must be in the future' },
      ]);
    }
    return expires;
  }
}
